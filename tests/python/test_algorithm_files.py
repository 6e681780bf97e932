# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms in Python and files of schedules: proved, drawn, and run in real programs."""

import ast
import json
import re
from pathlib import Path

import pytest
import stretto
from commands import json_of, refuse, succeed
from commands import stretto as command
from programs import (
    PREFIXES,
    ROOT,
    all_right,
    compile_for,
    from_environment,
    installed,
    launch,
    mpi_of,
    stretto_run,
)
from stretto import facts
from stretto.blocks import output
from test_differential import Driver
from user_algorithms import ALL, gather_chain, pipeline, two_rings

EXAMPLES = ROOT / "examples"


def example(name: str) -> dict:
    """What one of the examples defines."""
    path = EXAMPLES / "algorithms" / f"{name}.py"
    found: dict = {"__name__": "example"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), found)
    return found


RING = example("ring_allgather")["ring"]
RING_ALLREDUCE = example("ring_allreduce")["ring"]
WRONG = example("wrong_allgather")["short_ring"]


@pytest.fixture
def ring(tmp_path) -> Path:
    path = tmp_path / "ring.stretto"
    RING.save(path, ranks=range(2, 6))
    return path


@pytest.fixture
def wrong(tmp_path) -> Path:
    path = tmp_path / "wrong.stretto"
    WRONG.save(path, ranks=range(2, 6))
    return path


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.facts.name)
def test_an_algorithm_for_every_collective_is_proved_and_read_back(one, tmp_path):
    assert one.check(ranks=range(1, 10))
    path = tmp_path / "one.stretto"
    one.save(path, ranks=[1, 2, 5])
    text = path.read_text(encoding="utf-8")
    assert stretto.AlgorithmFile(text, "one").text() == text
    cases = json_of("check", "--file", path)
    assert {case["ranks"] for case in cases} == {1, 2, 5}
    assert len(cases) == (8 if one.facts.rooted else 3)
    assert all(case["refused"] is None for case in cases)


def test_examples():
    assert repr(RING.check()) == "allgather/ring is proved for 1-70 ranks, 70 cases"
    assert RING_ALLREDUCE.check()
    said = repr(WRONG.check(ranks=[4]))
    assert said == (
        "allgather/short_ring is refused: wrong result: on 4 ranks, rank 3 ends with nothing in "
        "output[0], not the contribution of rank 0, after round 3, its last"
    )


def test_schedule_without_a_name_is_read_back():
    builder = stretto.Builder(0, 2, 1)
    builder.send(1, [])
    text = str(builder.finish())
    assert text.startswith("schedule - ranks=2 ")
    assert [str(one) for one in stretto.parse_schedules(text)] == [text]


def test_version_of_the_form():
    whole = succeed("show", "allreduce/ring", "-p", 2, "--text")
    assert whole.startswith("stretto-schedules 1\ncommutative\nschedule allreduce/ring ")
    read = stretto.parse_schedule_file(whole)
    assert stretto.schedules_to_text(read.schedules, read.commutative) == whole
    with pytest.raises(stretto.Error, match=r"f:1: unknown version '2'"):
        stretto.parse_schedules("stretto-schedules 2\n", "f")
    with pytest.raises(stretto.Error, match=r"f:3: 'stretto-schedules' stands behind"):
        stretto.parse_schedules(whole.split("round")[0].replace("stretto-schedules 1\n", "", 1)
                                + "stretto-schedules 1\n", "f")  # fmt: skip


def test_pictures_and_times(tmp_path):
    picture = RING.show(ranks=4)
    assert repr(picture).startswith("allgather/python:ring on 4 ranks: 3 rounds, 4 blocks")
    picture.save(tmp_path / "ring.svg")
    assert (tmp_path / "ring.svg").read_text(encoding="utf-8") == picture._repr_svg_()
    times = RING_ALLREDUCE.simulate(ranks=8, size="4M")
    seconds = {row["algorithm"]: row["seconds"] for row in times.rows}
    assert seconds["allreduce/python:ring"] == pytest.approx(seconds["allreduce/ring"])
    with pytest.raises(stretto.Error, match="after round 3, its last"):
        WRONG.show(ranks=4)
    with pytest.raises(stretto.Error, match="after round 3, its last"):
        WRONG.simulate(ranks=4)


def test_misuse():
    with pytest.raises(stretto.Error, match="no collective is called 'allgahter'"):
        stretto.algorithm(collective="allgahter")
    with pytest.raises(stretto.Error, match="goes by a graph"):
        stretto.algorithm(collective="neighbor_alltoall")(print)
    with pytest.raises(stretto.Error, match="no collective of 0 ranks"):
        RING.check(ranks=[0])
    with pytest.raises(stretto.Error, match="root 4 is not one"):
        pipeline.schedules(4, root=4)

    @stretto.algorithm(collective="allgather")
    def outside(b):
        b.send(b.ranks, output(0))

    assert "sends to rank 3 of 3" in repr(outside.check(ranks=[3]))


def test_commands_take_files(ring, wrong, tmp_path):
    assert succeed("check", "--file", ring) == f"{ring}: proved: allgather on 2-5 ranks\n"
    said = refuse("check", "--file", wrong, code=1)
    of_rank_1 = wrong.read_text(encoding="utf-8").splitlines()[4:6]  # its only round on 2 ranks
    assert of_rank_1 == [
        "schedule allgather/python:short_ring ranks=2 rank=1 root=0 blocks=2",
        "round",
    ]
    assert f"{wrong}:6: wrong result: on 2 ranks, rank 1 ends with nothing in output[0]" in said
    shown = succeed("show", "--file", ring, "-p", 4)
    assert shown.startswith(f"allgather/file:{ring} on 4 ranks: 3 rounds")
    text = succeed("show", "--file", ring, "-p", 4, "--text")
    assert text.count("schedule allgather/python:ring ranks=4 ") == 4
    assert "it holds 2-5" in refuse("show", "--file", ring, "-p", 8)
    assert "its last" in refuse("show", "--file", wrong, "-p", 4, code=1)
    rows = json_of("simulate", "--file", ring, "-p", 4)["rows"]
    assert {row["algorithm"] for row in rows} == {f"allgather/file:{ring}"}
    rows = json_of("simulate", "allgather", "--file", ring, "-p", 4)["rows"]
    assert len({row["algorithm"] for row in rows}) > 5
    assert "no allreduce but allgather" in refuse("simulate", "allreduce", "--file", ring, "-p", 4)
    assert "which function?" in refuse("simulate", "-p", 4)
    picture = tmp_path / "ring.svg"
    succeed("show", "--file", ring, "-p", 3, "-o", picture)
    assert picture.stat().st_size > 5000


def test_what_is_wrong_with_a_file_is_said_with_its_line(ring, tmp_path):
    text = ring.read_text(encoding="utf-8")
    bad = tmp_path / "bad.stretto"
    bad.write_text(text.replace("allgather/", "allgahter/"), encoding="utf-8")
    assert f"{bad}:2: 'allgahter/python:ring' does not begin" in refuse("show", "--file", bad)
    lines = text.splitlines(keepends=True)
    second = [i for i, line in enumerate(lines) if line.startswith("schedule")][1]
    bad.write_text("".join(lines[:1] + lines[second:]), encoding="utf-8")
    assert f"{bad}:2: rank 1 of 2 where rank 0 is awaited" in refuse("show", "--file", bad)
    missing = [line for line in lines if line != "  send 1 output[0]\n"]
    bad.write_text("".join(missing), encoding="utf-8")
    said = refuse("show", "--file", bad, code=1)
    assert "rank 1, round 2: awaits a message that rank 0 never sends" in said
    bad.write_text(text.replace("send 1", "send one", 1), encoding="utf-8")
    assert f"{bad}:6: expected a number, found 'one'" in refuse("show", "--file", bad)
    twice = text + "".join(lines[1:second])
    bad.write_text(twice, encoding="utf-8")
    assert f"{bad}:{len(lines) + 1}: rank 0 of 2" in refuse("show", "--file", bad)


def variables(**paths: Path) -> dict[str, str]:
    return {f"STRETTO_{name.upper()}": f"file:{path}" for name, path in paths.items()}


@pytest.fixture(params=["mpich", "openmpi"])
def mpi(request):
    return request.param


def compiled(mpi: str, source: str, folder: Path) -> Path:
    target = folder / source.replace(".", "-")
    compile_for(mpi, EXAMPLES / "programs" / source, target, ())
    return target


@pytest.mark.parametrize("ways", [{}, {"STRETTO_NODES": "2x2"}, {"STRETTO_SHM": "0"}])
def test_a_file_serves_a_program(mpi, ways, ring, tmp_path):
    reduce = tmp_path / "reduce.stretto"
    RING_ALLREDUCE.save(reduce, ranks=[4])
    program = compiled(mpi, "totals.c", tmp_path)
    of_files = variables(allgather=ring, allreduce=reduce)
    done = all_right(stretto_run(4, [program], mpi=mpi_of(mpi), **of_files, **ways))
    assert done.summary["allgather"].served == {f"file:{ring}": 1}
    assert done.summary["allreduce"].served == {f"file:{reduce}": 1}


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_a_file_serves_a_fortran_program(name, ring, tmp_path):
    program = compiled(name, "totals.F90", tmp_path)
    done = all_right(stretto_run(4, [program], mpi=mpi_of(name), **variables(allgather=ring)))
    assert done.summary["allgather"].served == {f"file:{ring}": 1}


def test_a_file_serves_an_mpi4py_program(mpi, ring):
    python = from_environment(PREFIXES[mpi]) / "bin" / "python"
    program = [python, EXAMPLES / "programs" / "totals.py"]
    done = all_right(stretto_run(2, program, mpi=mpi_of(mpi), **variables(allgather=ring)))
    assert done.summary["allgather"].served == {f"file:{ring}": 1}


def test_a_wrong_file_is_refused_in_one_line(mpi, wrong, tmp_path):
    program = compiled(mpi, "totals.c", tmp_path)
    done = all_right(stretto_run(4, [program], mpi=mpi_of(mpi), **variables(allgather=wrong)))
    refusals = [line for line in done.err.splitlines() if "its last" in line]
    assert len(refusals) == 1, done.err
    assert refusals[0].startswith(f"stretto: STRETTO_ALLGATHER=file:{wrong}: refused: {wrong}:")
    assert refusals[0].endswith(
        "wrong result: on 4 ranks, rank 3 ends with nothing in output[0], not the contribution of "
        "rank 0, after round 3, its last; the rules decide"
    )
    assert "file" not in str(done.summary["allgather"].served)


def test_what_a_file_does_not_hold_goes_to_the_rules(ring, tmp_path):
    program = compiled("mpich", "totals.c", tmp_path)
    of_files = variables(allgather=ring, allreduce=ring)
    done = all_right(
        stretto_run(7, [program], mpi=mpi_of("mpich"), STRETTO_LOG="select", **of_files)
    )
    assert done.said(f"not STRETTO_ALLGATHER=file:{ring}: it holds no schedules for 7 ranks, but")
    assert done.said(f"STRETTO_ALLREDUCE=file:{ring}: that is a file of allgather; the rules")


def test_rank_0_reads_for_all_and_communicators_choose_by_their_ranks(mpi, tmp_path):
    """The other ranks have no such file; halves of the world use the schedules for two ranks."""
    RING.save(tmp_path / "ring.stretto", ranks=[2, 4])
    program = tmp_path / "halves"
    compile_for(mpi, ROOT / "tests" / "mpi" / "programs" / "halves.c", program, ())
    (tmp_path / "elsewhere").mkdir()
    words = (
        'case "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" in 0) cd "$0" ;; *) cd "$0/elsewhere" ;; esac; '
        'exec "$0/halves"'
    )
    done = all_right(
        stretto_run(4, ["/bin/sh", "-c", words, tmp_path], mpi=mpi_of(mpi),
                    STRETTO_ALLGATHER="file:ring.stretto")
    )  # fmt: skip
    assert done.summary["allgather"].served == {"file:ring.stretto": 20}


@pytest.mark.parametrize("ranks", [3, 4])
def test_random_calls_by_files_give_what_the_mpi_gives(ranks, tmp_path):
    """Every function but neighbourhoods', with parts of all sizes, in all kinds of calls."""
    of_functions = {}
    for one in ALL:
        path = tmp_path / f"{one.name}.stretto"
        one.save(path, ranks=range(1, ranks + 1))
        of_functions |= {facts(f).name: f"file:{path}" for f in one.functions}
    driver = Driver("mpich", "plain", tmp_path)
    ways = [{}, {"nodes": "2x2"}, {"shm": "0"}]
    lines = [driver.library(i, of_functions | way) for i, way in enumerate(ways)]
    (tmp_path / "libraries").write_text("\n".join(lines) + "\n", encoding="utf-8")
    mpi = installed("mpich")
    program = from_environment("STRETTO_TEST_BUILD") / f"stretto-differential-{mpi.flavour}"
    words = [program, "--mpi-library", mpi.library, "--stretto-libraries", tmp_path / "libraries"]
    words += ["--calls", 4800 // ranks**2, "--seed", 5, "--most-bytes", 1 << 14]
    of_so_many_libraries = {"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=65536"}
    done = launch(
        mpi, ranks, words, timeout=120, STRETTO_DEADLINE="30", **of_so_many_libraries
    ).succeeded()
    by = json.loads(done.out.splitlines()[-1])["by"]
    served = {key.removesuffix("/file") for key in by if key.endswith("/file")}
    assert served >= of_functions.keys() - {"barrier"}, by  # where all ranks' parts are compared
    assert sum(n for key, n in by.items() if key.endswith("/file")) > 1000 // ranks**2


def test_race(ring):
    cells = json_of(
        "bench", "--file", ring, "--mpi", installed("mpich").mpiexec, "--sizes", "64",
        "--time-per-size", 0.02,
    )["cells"]  # fmt: skip
    assert [cell["algorithm"] for cell in cells] == [f"allgather/file:{ring}"]
    assert all(cell["correct"] for cell in cells)
    race = RING.race(ranks=2, sizes="64", mpi=str(installed("mpich").mpiexec), seconds=0.02)
    assert "64" in repr(race).splitlines()[-1]
    assert "it holds 2-5" in refuse("bench", "--file", ring, "-n", 6)


def test_explain_knows_files(ring):
    done = command(
        "explain", "allgather", "--ranks", 4, "--bytes", "64K", **variables(allgather=ring)
    )
    assert f"file:{ring}" in done.stdout, (done.stdout, done.stderr)


def test_forwarding_is_known():
    """Ranks of a gatherv do not know the sizes of what they pass on: it is found out first."""
    assert gather_chain.record(4).forwards
    assert not RING.record(4).forwards
    assert two_rings.record(3).blocks(stretto.Shape(3)) == 6


def blocks_of(page: str) -> list[tuple[str, str]]:
    """The page's blocks between fences: what stands behind the fence, and the block."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_guide(tmp_path, monkeypatch):
    """All its code but the race runs, and says what the page says."""
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of((ROOT / "docs" / "algorithms-in-python.md").read_text(encoding="utf-8"))
    names: dict = {}
    compared = 0
    for (kind, code), (next_kind, said) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind != "python":
            continue
        tree = ast.parse(code)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "guide", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "guide", "eval"), names) if last else None
        if next_kind == "" and value is not None:
            assert repr(value).strip() == said.strip()
            compared += 1
    assert compared == 4
    assert succeed("check", "--file", "ring.stretto").endswith("allgather on 2-16 ranks\n")
