# SPDX-License-Identifier: BSD-3-Clause
"""Programs that learn which algorithms serve their calls best, and what is kept of it."""

import re
from pathlib import Path

import pytest
import stretto
from commands import succeed
from programs import ROOT, Finished, all_right, installed, mpi_of, said, stretto_run
from stretto.launch.mpi import cores
from stretto.learned import read_learned

pytestmark = [pytest.mark.each_value, pytest.mark.alone]

FLAVOURS = ["mpich", "openmpi"]
ENOUGH = (1000, 4000, 16000)  # on a quiet machine, on a busy one, with very bad luck
LOG = {"STRETTO_LOG": "select,summary"}


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    """The folder that programs of this test keep files in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "stretto"


def file_of(config: Path, name: str) -> Path:
    here = stretto.this_machine(installed(name).title)
    return Path(stretto.learned_rules_path(str(config), here))


def learn(built, name: str, ranks: int, *words: object, **variables: str) -> Finished:
    """Into the file of this machine, unless `variables` name another."""
    program = [built("learning.c", name, "-lpthread"), *words]
    return all_right(
        stretto_run(ranks, program, mpi=mpi_of(name), **{"STRETTO_LEARN": "1", **LOG, **variables})
    )


def learn_something(built, name: str, folder: Path, *words: str, **variables: str) -> Finished:
    """What serves at first is so much slower than all else that a few pairs of calls tell it, on a
    machine that is busy with other things as well."""
    slow = folder / "slow.rules"
    slow.write_text("stretto-rules 2\nallreduce -> linear segment=64\n")
    for calls in ENOUGH:
        done = learn(built, name, 2, calls, "large", *words, STRETTO_RULES=str(slow), **variables)
        if re.search(r"select: learned: .* instead of ", done.err):
            break
    return done


def refused(done: Finished) -> list[str]:
    """What Stretto says beside its choices."""
    return [line for line in said(done) if "stretto: select: " not in line]


@pytest.mark.parametrize("name", FLAVOURS)
def test_a_program_learns_and_the_next_one_knows(built, config, tmp_path, name):
    done = learn_something(built, name, tmp_path)
    path = file_of(config, name)
    assert f"stretto: select: learned 1 choice, kept in {path}" in done.err
    assert "stretto: select: learning: allreduce ranks=2 nodes=1" in done.err
    assert re.search(
        r"select: learned: allreduce .* ratio \d\.\d+ by \d+ pairs? of turns", done.err
    )
    assert refused(done) == []
    [kept] = read_learned(path)
    assert kept.conditions.endswith("operator=predefined bytes>=4K bytes<8K")
    assert kept.us > 0 and kept.pairs > 0

    # Without learning: the same choice for all calls, by that line.
    done = learn(built, name, 2, 300, "large", STRETTO_LEARN="")
    assert f"select: by the rules of {path}" in done.err
    assert f"-> {kept.choice} ({path}:{kept.line})" in done.err
    if kept.choice == "native":
        assert done.passed("allreduce") == {"rules": 300}
    else:
        assert done.served("allreduce") == 300


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ((), ""),
        pytest.param(("persistent",), "; by a persistent request", marks=pytest.mark.thorough),
    ],
)
def test_the_choice_is_refined(built, tmp_path, words, form):
    """By what differs from it a little, after all else has been compared."""
    also = rf"learning: allreduce .* bytes>=16K bytes<32K: also ([^;]*){form}$"
    for calls in (20000, 80000, 320000):
        path = tmp_path / f"{calls}.rules"  # what is known is not compared
        done = learn(built, "mpich", 2, calls, "long", *words, STRETTO_LEARN=str(path))
        assert refused(done) == []
        found = re.search(also, done.err, re.MULTILINE)
        if found and any(f"{one} (" in done.err for one in found[1].split(", ")):  # had their turns
            return
    if re.search(r"learned: allreduce .*: native \(.*settled after", done.err):
        pytest.skip("the native function is the fastest here")
    raise AssertionError(done.err)


@pytest.mark.parametrize(
    "words",
    [
        ("apart",), ("mixed",), ("split",), ("pending",), ("freed",), ("either",),
        ("nonblocking", "apart", "mixed", "split"), ("nonblocking", "freed"), ("several",),
        ("persistent", "apart"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("nodes", ["", "2x2"])
@pytest.mark.parametrize("name", FLAVOURS)
def test_results_are_right_while_ranks_learn(built, tmp_path, name, nodes, words):
    ranks = 4 if nodes else min(cores(), 3)  # on one node with a core each
    variables = {"STRETTO_LEARN": str(tmp_path / "l.rules"), "STRETTO_NODES": nodes}
    done = learn(built, name, ranks, 1200, *words, **variables)
    assert refused(done) == []
    assert "select: learning: allreduce" in done.err


def test_nonblocking_calls_take_turns(built, config, tmp_path):
    done = learn_something(built, "mpich", tmp_path, "nonblocking")
    assert refused(done) == []
    assert re.search(r"learning: allreduce .* at first linear .*; by nonblocking calls", done.err)
    assert re.search(r"select: learned: allreduce .* by \d+ pairs? of turns", done.err)
    [kept] = read_learned(file_of(config, "mpich"))
    assert kept.us > 0 and kept.pairs > 0


def test_calls_that_block_between_others(built, tmp_path):
    """Those that take turns are counted, and serve the others as well."""
    done = learn_something(built, "mpich", tmp_path, "either", STRETTO_LEARN=str(tmp_path / "l"))
    assert refused(done) == []
    assert re.search(r"learning: allreduce .*; by nonblocking calls", done.err)
    assert re.search(r"select: learned: allreduce .* instead of linear", done.err)


def test_a_copy_of_the_shipped_rules(built, tmp_path):
    """To all ranks it is no file of the user's, whose choice would be tried at once."""
    variables = {
        "STRETTO_LEARN": str(tmp_path / "l.rules"),
        "STRETTO_RULES": str(tmp_path / "copy"),
    }
    (tmp_path / "copy").write_bytes((ROOT / "rules" / "default.rules").read_bytes())
    done = learn(built, "mpich", 2, 600, "mixed", **variables)
    assert refused(done) == []
    assert "select: by the shipped rules" in done.err


def test_a_program_that_goes_to_another_folder(built, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    files = {"STRETTO_LEARN": "l.rules", "STRETTO_PROFILE": "p.json"}
    learn_something(built, "mpich", tmp_path, "elsewhere", **files)
    assert {one.name for one in tmp_path.iterdir()} >= {"l.rules", "p.json"}
    assert list((tmp_path / "other").iterdir()) == []


@pytest.mark.parametrize("name", FLAVOURS)
def test_starts_of_a_request_take_turns(built, tmp_path, name):
    path = tmp_path / "l.rules"
    done = learn(built, name, 2, 2000, "large", "persistent", STRETTO_LEARN=str(path))
    assert refused(done) == []
    for function in ("allreduce", "bcast"):
        assert re.search(rf"learning: {function} .* at first native; by a persistent", done.err)
    assert sum(done.passed("bcast").values()) + done.served("bcast") == 2000


@pytest.mark.parametrize("words", [("mixed",), ("mixed", "nonblocking"), ("persistent",)])
@pytest.mark.parametrize("name", FLAVOURS)
def test_on_several_nodes(built, tmp_path, name, words):
    """Whose clocks have nothing in common, as far as the ranks know."""
    path = tmp_path / "l.rules"
    done = learn(built, name, 4, 800, *words, STRETTO_LEARN=str(path), STRETTO_NODES="2x2")
    assert refused(done) == []
    assert "allreduce ranks=4 per-node=2 nodes=even" in done.err


@pytest.mark.parametrize("words", [(), ("nonblocking",)])
def test_threads(built, tmp_path, words):
    path = str(tmp_path / "l.rules")
    done = learn(built, "mpich", 2, 800, "threads", *words, STRETTO_LEARN=path)
    assert refused(done) == []
    assert "select: learning: allreduce" in done.err


def test_a_communicator_takes_over_what_another_one_found(built, tmp_path):
    """Where other programs take the cores the first one may find nothing."""
    files = ({"STRETTO_LEARN": str(tmp_path / f"{run}.rules")} for run in range(5))
    runs = (learn(built, "mpich", 2, 60000, "freed", **file) for file in files)
    assert any(", as on another communicator" in done.err for done in runs)


def test_ranks_of_one_node_that_share_its_cores_learn_nothing(built, tmp_path):
    file = tmp_path / "l.rules"
    done = learn(built, "mpich", cores() + 1, 600, "mixed", STRETTO_LEARN=str(file))
    [line] = refused(done)
    assert line.startswith("stretto: nothing is learned on ranks of one node that share its cores")
    assert "select: learning" not in done.err
    assert not file.exists()


def test_off_unless_asked_for(built, config):
    done = learn(built, "mpich", 2, 300, STRETTO_LEARN="0")
    assert "learn" not in "\n".join(said(done))
    assert not config.exists()


def test_overrides_are_obeyed(built, tmp_path):
    path = tmp_path / "l.rules"
    variables = {"STRETTO_ALLREDUCE": "ring", "STRETTO_LEARN": str(path)}
    done = learn(built, "mpich", 2, 300, **variables)
    assert done.summary["allreduce"].served == {"ring": 300}
    assert not path.exists()


@pytest.mark.parametrize("measured", [False, True])
def test_rules_that_were_not_measured_are_compared(built, tmp_path, measured):
    rules = tmp_path / "mine.rules"
    machine = f"machine {stretto.this_machine(installed('mpich').title)}\n" if measured else ""
    rules.write_text(f"stretto-rules 2\n{machine}allreduce -> ring\n")
    variables = {"STRETTO_RULES": str(rules), "STRETTO_LEARN": str(tmp_path / "l.rules")}
    done = learn(built, "mpich", 2, 300, "large", **variables)
    assert re.search(r"learning: allreduce .*; at first ring", done.err)
    # Where another one is much faster, it is soon taken.
    assert (done.summary["allreduce"].served["ring"] == 300) is measured


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense\n", ":1: this is not a rules file"),
        ("stretto-rules 2\nmachine a PDP-11\notherwise\n", ":2: it is for 'a PDP-11'"),
    ],
)
def test_a_damaged_or_foreign_file_is_named_and_left(built, tmp_path, text, says):
    path = tmp_path / "l.rules"
    path.write_text(text)
    done = learn_something(built, "mpich", tmp_path, STRETTO_LEARN=str(path))
    for line in refused(done):
        assert line.startswith(f"stretto: {path}{says}")
    assert refused(done)
    assert path.read_text() == text


def test_a_home_that_cannot_be_written(built, tmp_path):
    """The folder would have to be made where a file is: also root cannot do that."""
    (tmp_path / "file").write_text("")
    done = learn_something(built, "mpich", tmp_path, XDG_CONFIG_HOME=str(tmp_path / "file"))
    for line in refused(done):
        assert line.startswith("stretto: what was learned is not kept: cannot write ")
    assert len(refused(done)) == 1


def test_run_learn_sets_the_variable(built, config):
    program = built("learning.c", "mpich", "-lpthread")
    words = ["run", "--learn", "--dry-run", "--mpi", installed("mpich").mpiexec, "-n", 2]
    assert "STRETTO_LEARN 1" in succeed(*words, "--", program)
    assert "STRETTO_LEARN my.rules" in succeed(*words, "--", program, STRETTO_LEARN="my.rules")


def test_each_mpi_has_its_own_tuned_rules(built, config):
    for name, algorithm in (("mpich", "ring"), ("openmpi", "reduce_bcast")):
        here = stretto.this_machine(installed(name).title)
        path = Path(stretto.tuned_rules_path(str(config), here))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"stretto-rules 2\nmachine {here}\nallreduce -> {algorithm}\n")
    for name, algorithm in (("mpich", "ring"), ("openmpi", "reduce_bcast")):
        done = learn(built, name, 2, 20, STRETTO_LEARN="")
        assert done.summary["allreduce"].served == {algorithm: 20}
        assert refused(done) == []
