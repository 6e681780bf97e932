# SPDX-License-Identifier: BSD-3-Clause
"""Where the choice of an algorithm comes from: variables, info keys, files, the shipped rules."""

import os
import re
from pathlib import Path

import pytest
import stretto
from programs import (
    DEBIAN,
    PREFIXES,
    Finished,
    installed,
    mpi_of,
    needed,
    ranks_in_log,
    stretto_run,
)

HEAD = "stretto-rules 2\n"
RULES = "allreduce -> reduce_bcast segment=4K depth=3\n"


def machine_of(name: str) -> str:
    return f"machine {stretto.this_machine(installed(name).title)}\n"


@pytest.fixture
def tuned(tmp_path, monkeypatch) -> Path:
    """Where earlier versions kept the rules tuned for this machine, for one MPI."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "stretto" / "tuned.rules"
    path.parent.mkdir()
    return path


def selected(done: Finished, begin: str) -> list[str]:
    begin = "stretto: select: " + begin
    return [line for line in done.err.splitlines() if line.startswith(begin)]


def refusals(done: Finished, path: Path) -> list[str]:
    return [line for line in done.err.splitlines() if line.startswith(f"stretto: {path}:")]


@pytest.mark.parametrize("name", PREFIXES)
def test_tuned_rules_are_found_and_named(built, name, tuned):
    tuned.write_text(HEAD + machine_of(name) + RULES)
    done = stretto_run(
        3, [built("collectives.c", name)], mpi=mpi_of(name), STRETTO_LOG="select,summary"
    ).succeeded()
    assert done.summary["allreduce"].served == {"reduce_bcast": 6}
    assert done.passed("barrier") == {"rules": 1}
    assert selected(done, "by the ") == [f"stretto: select: by the rules of {tuned}"]
    chosen = selected(done, "allreduce 34568 bytes")
    says = f"{ranks_in_log(3)} -> reduce_bcast segment=4K depth=3 ({tuned}:3)"
    assert chosen == [f"stretto: select: allreduce 34568 bytes, {says}"]


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("stretto-rules 1\n", ":1: it does not say for which machine it was tuned"),
        (HEAD + "machine a PDP-11\n", ":2: it is for 'a PDP-11', and this is '"),
        ("stretto-rules 9\n", ":1: unknown version '9'"),
    ],
)
def test_unusable_tuned_rules(built, tuned, head, says):
    tuned.write_text(head + RULES)
    done = stretto_run(3, [built("collectives.c", "mpich")], mpi=mpi_of("mpich")).succeeded()
    assert done.passed("barrier") == {}
    (line,) = refusals(done, tuned)
    assert line.startswith(f"stretto: {tuned}{says}")
    assert line.endswith("; the shipped rules decide")
    assert done.said("hint: ")


def test_order_of_the_files(built, tuned, tmp_path):
    tuned.write_text(HEAD + machine_of("mpich") + RULES)
    named = tmp_path / "my.rules"

    def served(**variables: str) -> Finished:
        program = [built("collectives.c", "mpich")]
        return stretto_run(2, program, mpi=mpi_of("mpich"), **variables).succeeded()

    named.write_text("stretto-rules 1\nallreduce -> ring\nallreduce -> linear\n")
    by_name = served(STRETTO_RULES=str(named))
    assert by_name.summary["allreduce"].served == {"ring": 5, "linear": 1}
    assert refusals(by_name, tuned) == []
    named.write_text("stretto-rules 1\nallreduce -> rng\n")
    other = served(STRETTO_RULES=str(named))
    assert other.summary["allreduce"].served == {"reduce_bcast": 6}
    assert refusals(other, named)[0].endswith(f"; the rules of {tuned} decide")
    shipped = served(STRETTO_RULES="shipped")
    assert "reduce_bcast" not in shipped.summary["allreduce"].served
    assert shipped.passed("barrier") == {}


ONE_HAS_IT = """
if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ]; then export XDG_CONFIG_HOME="$1"; fi
exec "$0"
"""


@pytest.mark.parametrize(
    ("name", "variables"),
    [("mpich", {}), ("mpich", {"STRETTO_NODES": "2x2"}), ("openmpi", {"STRETTO_NODES": "2x2"})],
)
def test_one_rank_reads_the_rules_for_all(built, name, tuned, monkeypatch, variables):
    """The other ranks neither have the file nor need it, on communicators without rank 0 either."""
    tuned.write_text(HEAD + machine_of(name) + RULES)
    config = os.environ["XDG_CONFIG_HOME"]
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    command = ["/bin/sh", "-c", ONE_HAS_IT, built("collectives.c", name), config]
    done = stretto_run(4, command, mpi=mpi_of(name), STRETTO_LOG="select,summary", **variables)
    assert done.succeeded().out.strip() == "all right"
    assert done.summary["allreduce"].served == {"reduce_bcast": 6}
    assert {line.rpartition(" ")[2] for line in selected(done, "allreduce ")} == {f"({tuned}:3)"}


@pytest.mark.parametrize(
    ("nodes", "algorithm"), [("4x1", "slices"), ("2x2", "recursive_doubling"), ("2x3", "linear")]
)
def test_rules_may_ask_for_the_ranks_of_a_node(built, tmp_path, nodes, algorithm):
    rules = tmp_path / "my.rules"
    rules.write_text(
        "stretto-rules 2\nallreduce ranks=4 per-node<2 -> slices\n"
        "allreduce ranks=4 per-node<3 -> recursive_doubling\nallreduce ranks=4 -> linear\n"
    )
    command = [built("collectives.c", "mpich")]
    done = stretto_run(
        4, command, mpi=mpi_of("mpich"), STRETTO_RULES=str(rules), STRETTO_NODES=nodes,
        STRETTO_LOG="summary",
    )  # fmt: skip
    assert done.succeeded().out.strip() == "all right"
    assert list(done.summary["allreduce"].served) == [algorithm]


BY_SIZE = """stretto-rules 2
scatterv bytes<2K -> linear
scatterv -> binomial
gatherv part<100 -> knomial
gatherv -> linear
alltoallv bytes<100 -> padded_bruck
alltoallv bytes<1M -> linear
alltoallv -> native
"""


@pytest.mark.parametrize(
    ("name", "nodes"), [("mpich", ""), ("mpich", "2x2"), ("openmpi", ""), ("openmpi", "2x2")]
)
def test_rules_may_ask_for_bytes_that_no_rank_knows(built, tmp_path, name, nodes):
    """20 calls of some bytes, 70 of more than 1 MiB (in alltoallv a little less), 20 of some bytes.

    All agree in the first call, in the 17th, in the 81st and from then on in each until they are
    short again; what the last large one began ends with the first of the short ones. Of 40 that
    alternate, the first 16 go by the very first. What is much larger than the calls that it was
    chosen for is not padded.
    """
    rules = tmp_path / "my.rules"
    rules.write_text(BY_SIZE)
    done = stretto_run(
        3, [built("changing_sizes.c", name)], mpi=mpi_of(name), STRETTO_RULES=str(rules),
        STRETTO_NODES=nodes, STRETTO_LOG="summary",
    )  # fmt: skip
    assert done.succeeded().out.strip() == "all right"
    assert done.summary["scatterv"].served == {"linear": 80 + 20 + 16, "binomial": 10 + 24}
    assert done.summary["gatherv"].served == {"knomial": 80 + 20, "linear": 10}
    assert done.summary["alltoallv"].served == {"padded_bruck": 20 + 20 + 3, "linear": 70 + 1}


PINNED = 'shift $((PMI_RANK % 2)); exec taskset -c "$1" "$0"'


@pytest.mark.parametrize(
    ("ranks", "cores", "nodes", "says"),
    [
        (4, 1, "", {4: "4 ranks sharing cores -> ring", 2: "2 ranks sharing cores -> ring"}),
        (4, 2, "2x2", {4: "4 ranks sharing cores -> ring", 2: "2 ranks sharing cores -> ring"}),
        (2, 2, "", {2: "2 ranks -> linear"}),
        (2, 1, "", {2: "2 ranks sharing cores -> ring"}),
    ],
)
def test_rules_may_ask_for_cores(built, tmp_path, ranks, cores, nodes, says):
    """Also of a few ranks of a job that has more than cores."""
    needed("taskset")
    allowed = sorted(os.sched_getaffinity(0))
    if cores > len(allowed):
        pytest.skip(f"there are no {cores} cores")
    rules = tmp_path / "my.rules"
    rules.write_text(HEAD + "allreduce cores=own -> linear\nallreduce cores=shared -> ring\n")
    variables = {"STRETTO_RULES": str(rules), "STRETTO_LOG": "select"}
    variables |= {"STRETTO_NODES": nodes} if nodes else {}
    command = [
        "/bin/sh",
        "-c",
        PINNED,
        built("collectives.c", "mpich"),
        allowed[0],
        allowed[cores - 1],
    ]
    done = stretto_run(ranks, command, mpi=mpi_of("mpich"), **variables).succeeded()
    for many, words in says.items():
        lines = selected(done, f"allreduce 4 bytes, {many} ranks")
        assert lines
        assert all(words in line for line in lines), lines


@pytest.mark.parametrize("name", PREFIXES)
def test_info_keys(built, name, tmp_path):
    rules = tmp_path / "my.rules"
    rules.write_text("stretto-rules 1\nallreduce -> reduce_bcast\n")
    program = [built("hints.c", name, "-ldl")]
    done = stretto_run(
        4, program, mpi=mpi_of(name), STRETTO_RULES=str(rules), STRETTO_LOG="select"
    ).succeeded()
    assert done.out.strip() == "all right"
    says = [line.removeprefix("stretto: ") for line in done.err.splitlines() if "ignored" in line]
    assert says == [
        "info key stretto_allreduce: unknown algorithm 'rong' for allreduce (communicator 'rows'), "
        "ignored",
        "unknown info key stretto_alreduce (communicator 'rows'), ignored",
        *["info key stretto_allreduce has different values on the ranks (communicator 'rows'), "
          "ignored"] * 2,
    ]  # fmt: skip
    assert done.said("hint: is stretto_allreduce meant?")
    chosen = selected(
        done, f"allreduce 12000 bytes, {ranks_in_log(4)} -> ring segment=4K depth=2 ("
    )
    assert chosen[0].endswith("(info key stretto_allreduce=ring,segment=4K)")


def test_variables_stand_above_info_keys(built):
    mpi = mpi_of("mpich")
    program = [built("hints.c", "mpich", "-ldl"), "allreduce/recursive_doubling"]
    done = stretto_run(4, program, mpi=mpi, STRETTO_ALLREDUCE="recursive_doubling")
    assert done.succeeded().out.strip() == "all right"
    # Where the variable's algorithm cannot serve, the key's does.
    program[1] = "allreduce/ring"
    unable = "circulant,skips=5:3:2:1"
    done = stretto_run(
        4, program, mpi=mpi, STRETTO_ALLREDUCE=unable, STRETTO_LOG="select"
    ).succeeded()
    (line,) = selected(done, f"allreduce 12000 bytes, {ranks_in_log(4)} -> ring")
    reason = rf"\(info key stretto_allreduce=ring; not STRETTO_ALLREDUCE={unable}: .*\)"
    assert re.search(reason, line)


def test_misspelt_variables_are_named_once(built):
    hints = {
        "STRETTO_ALREDUCE": "is STRETTO_ALLREDUCE meant?",
        "STRETTO_RULE": "is STRETTO_RULES meant?",
        "STRETTO_COLOUR": "the variables are STRETTO_ALLGATHER, ",
    }
    others = {
        "STRETTO_MPICC": "x",
        "STRETTO_ROOT": "x",
        "STRETTO_TEST_BUILD": "x",
    }  # of the package
    variables = {**dict.fromkeys(hints, "x"), **others}
    done = stretto_run(3, [built("collectives.c", "mpich")], mpi=mpi_of("mpich"), **variables)
    lines = done.succeeded().err.splitlines()
    assert sum("unknown variable" in line for line in lines) == len(hints)
    for name, hint in hints.items():
        at = lines.index(f"stretto: {name}: unknown variable, ignored")
        assert lines[at + 1].startswith("hint: " + hint)


@pytest.mark.parametrize("interface", ["", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_info_keys_in_fortran(built, name, interface):
    done = stretto_run(3, [built("hints.F90", name, *filter(None, [interface]))])
    assert done.succeeded().out.strip() == "all right"
    served = done.summary["allreduce"].served
    assert served == {"ring": 1, "circulant": 1, "linear": 1}
