# SPDX-License-Identifier: BSD-3-Clause
"""What the STRETTO_ variables do to a running program, and what happens when things go wrong."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from programs import (
    COLLECTIVES,
    Finished,
    finish,
    from_environment,
    installed,
    launch,
    mpi_of,
    ranks_in_log,
    stretto_run,
)

FLAVOURS = ["mpich", "openmpi"]


@pytest.fixture(params=FLAVOURS)
def run(request, built):
    """Runs collectives.c with these variables."""
    program = built("collectives.c", request.param)

    def run_with(ranks: int = 2, **variables: str) -> Finished:
        done = stretto_run(ranks, [program], mpi=mpi_of(request.param), **variables).succeeded()
        assert done.out.strip() == "all right"
        return done

    return run_with


def complaint(done: Finished, beginning: str) -> str:
    """The one line that Stretto says of it, on one rank only; a hint must follow."""
    lines = done.err.splitlines()
    found = [i for i, line in enumerate(lines) if line.startswith("stretto: " + beginning)]
    assert len(found) == 1, done.err
    assert lines[found[0] + 1].startswith("hint: "), done.err
    return lines[found[0]]


def test_disabled(run):
    done = run(STRETTO_DISABLE="1")
    assert done.summary.keys() == COLLECTIVES
    for name in COLLECTIVES:
        assert done.served(name) == 0
        assert done.passed(name).keys() == {"disabled"}


def test_silent_unless_asked(run):
    assert "summary" not in run(STRETTO_LOG="").err
    assert "stretto: select" not in run(STRETTO_LOG="").err


def test_log_of_choices(run):
    done = run(3, STRETTO_LOG="select,summary")
    lines = [line for line in done.err.splitlines() if line.startswith("stretto: select: ")]
    begin = "stretto: select: "
    ranks = ranks_in_log(3)
    pattern = begin + f"barrier 0 bytes, {ranks} -> linear" + r" \(shipped rules:\d+\)"
    assert sum(re.fullmatch(pattern, line) is not None for line in lines) == 1
    assert any(x.startswith(f"{begin}allreduce 34568 bytes, {ranks} -> slices") for x in lines)
    # Two reductions of this kind are one choice.
    assert sum(x.startswith(f"{begin}reduce 34568 bytes") for x in lines) == 1
    assert done.served("allreduce") == 6


def test_forced_algorithm(run):
    done = run(3, STRETTO_ALLREDUCE="reduce_bcast,segment=1K,depth=3", STRETTO_BCAST="native")
    assert done.summary["allreduce"].served == {"reduce_bcast": 6}
    assert done.passed("bcast") == {"rules": 2, "arguments": 1}
    assert done.served("reduce") == 2


def test_forced_algorithm_that_cannot_serve(run):
    done = run(3, STRETTO_ALLREDUCE="ring", STRETTO_LOG="select,summary")
    assert done.summary["allreduce"].served == {"ring": 5, "linear": 1}
    reasons = [line for line in done.err.splitlines() if "not STRETTO_ALLREDUCE=ring: " in line]
    assert len(reasons) == 1
    begin = f"stretto: select: allreduce 8 bytes, {ranks_in_log(3)} -> linear"
    assert reasons[0].startswith(begin)
    assert reasons[0].endswith("; not STRETTO_ALLREDUCE=ring: the operator does not commute)")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("STRETTO_ALLREDUCE", "rong", "STRETTO_ALLREDUCE: unknown algorithm 'rong'"),
        ("STRETTO_ALLREDUCE", "ring,depht=3", "STRETTO_ALLREDUCE: wrong parameter 'depht=3'"),
        ("STRETTO_ALLREDUCE", "circulant,skips=1:2", "STRETTO_ALLREDUCE: 'circulant skips=1:2'"),
        ("STRETTO_DISABLE", "maybe", "STRETTO_DISABLE: unknown value 'maybe'"),
        ("STRETTO_DEADLINE", "soon", "STRETTO_DEADLINE: 'soon'"),
        ("STRETTO_DEADLINE", "inf", "STRETTO_DEADLINE: 'inf'"),
        ("STRETTO_STANDSTILL", "-1", "STRETTO_STANDSTILL: '-1'"),
        ("STRETTO_NODES", "99999999999x99999999999", "STRETTO_NODES: '99999999999x9999"),
        ("STRETTO_NODES", "2x", "STRETTO_NODES: '2x' is not understood"),
        ("STRETTO_SHM_MEMORY", "4611686018427387904", "STRETTO_SHM_MEMORY: '4611686018427387904'"),
        ("STRETTO_TRACE_EVENTS", "1G", "STRETTO_TRACE_EVENTS: '1G'"),
        ("STRETTO_PROFILE_CALLS", "none", "STRETTO_PROFILE_CALLS: unknown value 'none'"),
        ("STRETTO_RULES", "/nowhere/to/be.found", "cannot read a rules file /nowhere/to/be"),
    ],
)
def test_wrong_variable(run, variable, value, says):
    done = run(**{variable: value})
    complaint(done, says)
    assert done.served("allreduce") == 6


@pytest.mark.parametrize("kind", ["FIFO", "directory", "device"])
def test_rules_that_are_no_file(run, tmp_path, kind):
    path = tmp_path / "my.rules"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    done = run(STRETTO_RULES=str(path))
    complaint(done, f"{path} is a {kind}, not a rules file; the shipped rules decide")
    assert done.served("allreduce") == 6


def test_wrong_word_in_log(run):
    done = run(STRETTO_LOG="sumary,summary")
    complaint(done, "STRETTO_LOG: unknown word 'sumary'")
    assert done.served("allreduce") == 6


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stretto-rules 1\nallreduce -> rng\n", ":2: unknown algorithm 'rng'"),
        ("stretto-rules 1\n\nallreduce bites<3 -> ring\n", ":3: unknown condition 'bites<3'"),
        ("stretto-rules 9\n", ":1: unknown version '9'"),
        ("stretto-rules 2\nmachine a PDP-11\n", ":2: it is for 'a PDP-11', and this is '"),
        ("", ":1: the file is empty"),
    ],
)
def test_wrong_rules_file(run, tmp_path, text, says):
    rules = tmp_path / "my.rules"
    rules.write_text(text)
    done = run(STRETTO_RULES=str(rules))
    assert complaint(done, str(rules) + says).endswith("; the shipped rules decide")
    assert done.served("allreduce") == 6


def test_own_rules_file(run, tmp_path):
    rules = tmp_path / "my.rules"
    rules.write_text("stretto-rules 1\nallreduce bytes>100 -> ring\nallreduce -> native\n")
    done = run(3, STRETTO_RULES=str(rules))
    # Of the six: one of 34 568 bytes; the others are small.
    assert done.summary["allreduce"].served == {"ring": 1}
    assert done.passed("allreduce") == {"rules": 5}
    assert done.passed("bcast") == {"rules": 2, "arguments": 1}


def on_rank_1(setting: str, program) -> list[str]:
    """A command line that makes a setting on one rank only."""
    script = 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ]; then export "$1"; fi; exec "$0"'
    return ["/bin/sh", "-c", script, program, setting]


@pytest.mark.parametrize("name", FLAVOURS)
def test_ranks_with_different_settings(built, name):
    command = on_rank_1("STRETTO_ALLREDUCE=ring", built("collectives.c", name))
    done = stretto_run(3, command, mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "all right"
    says = "the ranks of a communicator have different STRETTO_ variables"
    found = [line for line in done.err.splitlines() if line.startswith("stretto: " + says)]
    assert 1 <= len(found) <= 3  # one for each communicator with rank 1 and another in it
    assert done.passed("barrier") == {"communicator": 1}
    assert done.served("allreduce") == 2  # alone, and on the even ranks


@pytest.mark.parametrize("name", FLAVOURS)
def test_hang_is_reported(built, name):
    program = built("missing_rank.c", name)
    mpi = mpi_of(name)
    done = stretto_run(3, [program, 1], mpi=mpi, STRETTO_DEADLINE="4")
    assert done.code != 0
    assert "came to the end" not in done.out
    says = "hangs in MPI_Allreduce (call 2 on this communicator, after 4 s)"
    found = [line for line in done.err.splitlines() if says in line]
    assert len(found) == 2  # both ranks that wait
    assert all("algorithm allreduce/linear" in line for line in found)
    assert "stretto: rank 0 of 3 " in done.err and "stretto: rank 1 of 3 " in done.err
    pattern = r"  segment 0, round \d of \d, waits to receive 4 bytes from rank \d"
    assert any(re.match(pattern, line) for line in done.err.splitlines())
    assert "the schedule:" in done.err
    assert done.said("hint: ")


@pytest.mark.parametrize("name", [*FLAVOURS, "intel"])
def test_library_of_the_wrong_flavour(built, name):
    wrong = "openmpi" if name != "openmpi" else "mpich"
    build = from_environment("STRETTO_TEST_BUILD")
    program = built("collectives.c", name)
    preload = str(build / f"libstretto-{wrong}.so")
    done = launch(installed(name), 2, [program], LD_PRELOAD=preload)
    assert done.code != 0
    assert "all right" not in done.out
    assert done.said(f"stretto: this is the {wrong} build of Stretto, but the program runs on ")
    assert done.said("hint: start the program with `stretto run`")


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    "command",
    [
        ["/bin/true"],
        [shutil.which("bash") or "/bin/sh", "-c", "echo $((6 * 7)) | cat"],
        [sys.executable, "-c", "print(6 * 7)"],
        [sys.executable, "-c", "import subprocess as s; s.run(['echo', '42'], check=True)"],
    ],
    ids=["true", "shell", "python", "children"],
)
def test_programs_without_mpi_are_left_alone(flavour, command):
    library = from_environment("STRETTO_TEST_BUILD") / f"libstretto-{flavour}.so"
    environment = {**os.environ, "LD_PRELOAD": str(library), "STRETTO_LOG": "select,summary"}
    for bind_now in ("", "1"):
        done = finish(command, {**environment, "LD_BIND_NOW": bind_now}, 20).succeeded()
        assert done.err == ""
        assert done.out.strip() == ("" if command == ["/bin/true"] else "42")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_library_needs_no_mpi_and_little_else(flavour):
    library = from_environment("STRETTO_TEST_BUILD") / f"libstretto-{flavour}.so"
    listed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].rpartition("/")[2].partition(".so")[0] for line in listed.splitlines()}
    assert names <= {"linux-vdso", "libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64",
                     "libdl", "libpthread"}  # fmt: skip


@pytest.mark.parametrize("library", ["mpich", "openmpi", "heap", "session"])
def test_library_defines_its_own_names_only(library):
    """Instances of templates, say, would take the place of the program's own."""
    path = from_environment("STRETTO_TEST_BUILD") / f"libstretto-{library}.so"
    listed = subprocess.run(
        ["nm", "--dynamic", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout
    names = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    allocator = "malloc calloc realloc free memalign aligned_alloc posix_memalign valloc pvalloc"
    others = {name for name in names if not re.match("P?MPI_|stretto_", name)}
    own = {"heap": {*allocator.split(), "malloc_usable_size"}, "session": {"setsid"}}
    assert others == own.get(library, set())
    assert library in own or {"MPI_Allreduce", "MPI_Init"} <= names
