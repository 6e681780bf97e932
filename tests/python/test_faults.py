# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory in bad times: many communicators, killed ranks, too little memory, threads."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from programs import (
    COLLECTIVES,
    PATIENT,
    Finished,
    all_right,
    finish,
    installed,
    launch,
    mpi_of,
    preloaded,
    said,
    stretto_run,
    stretto_words,
)

pytestmark = pytest.mark.each_value

MPIS = ["mpich", "openmpi"]
OWN_NAMESPACE = (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"])
SHM = Path("/dev/shm")
# Of few ranks on several nodes the shipped rules leave much to the native functions, these nothing.
SERVING = {"STRETTO_RULES": str(Path(__file__).parents[2] / "rules" / "papers.rules")}


def growth(out: str) -> dict[str, int]:
    """By what the program calls it."""
    found: dict[str, int] = {}
    for line in out.splitlines():
        title, _, rest = line.partition(": ")
        for n, unit in re.findall(r"(-?\d+) (?:KiB )?(\w+)", rest):
            found[f"{title}: {unit}"] = int(n)
    return found


def test_memory_on_a_full_node(built):
    """The pages that a rank has of 63 others', the library and its tables."""
    program = built("resident.c", "mpich")

    def resident(done: Finished) -> int:
        kib = int(re.fullmatch(r"resident: (\d+) KiB\n", done.out)[1])
        assert kib > 0
        return kib

    natively = resident(launch(installed("mpich"), 64, [program]).succeeded())
    served = preloaded(installed("mpich"), 64, [program]).succeeded()
    for function in ("barrier", "allreduce", "bcast"):
        assert served.served(function) >= 20
    assert resident(served) - natively <= 4 * 1024


@pytest.mark.parametrize("name", MPIS)
@pytest.mark.parametrize(
    ("threads", "in_a_row", "at_once", "memory"),
    [
        ("single", 10_000, 1_500, "64M"),
        ("multiple", 500, 100, "64M"),
        ("multiple", 100, 1_500, "4M"),
    ],
)
def test_many_communicators(built, name, threads, in_a_row, at_once, memory):
    program = built("many_communicators.c", name)
    done = all_right(
        stretto_run(
            2, [program, threads, in_a_row, at_once], mpi=mpi_of(name), STRETTO_SHM_MEMORY=memory
        )
    )
    grown = growth(done.out)
    for title in ("in a row", "again"):
        assert grown[f"{title}: descriptors"] == 0
        assert grown[f"{title}: resident"] <= 2048
        assert grown[f"{title}: shared"] == 0
    # MPICH has some 2000, of which each that uses the MPI's messages takes two.
    assert grown["at once: kept"] > min(at_once, 1_300) - 1
    assert grown["in all: shared"] <= 6144
    assert done.served("allreduce") > in_a_row + at_once
    if memory == "64M":
        assert said(done) == []
        return
    line, *others = said(done)
    assert "STRETTO_SHM_MEMORY is used up" in line
    # Stretto must not make one for its messages while threads make others.
    left = "with MPI_THREAD_MULTIPLE, Open MPI's communicators"
    assert [one.startswith(f"stretto: {left}") for one in others] == [True] * (name == "openmpi")


def processes_of(program: Path) -> set[int]:
    program = program.resolve()
    found = set()
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            if link.readlink() == program:
                found.add(int(link.parent.name))
        except OSError:
            continue  # it has ended, or is not ours
    return found


def own_shm(size: str) -> list[str] | None:
    """Begins a command that has a /dev/shm of its own, and lists at last what is left there."""
    mount = f"mount -t tmpfs -o size={size} tmpfs {SHM}"
    script = f'{mount} && "$@"; code=$?; ls -A {SHM} | sed "s/^/left: /"; exit $code'
    for words in OWN_NAMESPACE:
        command = [*words, "sh", "-c", script, "sh"]
        try:
            if subprocess.run([*command, "true"], capture_output=True, timeout=10).returncode == 0:
                return command
        except OSError:
            continue
    return None


def left_over(done: Finished) -> set[str]:
    """The kinds of files that a job left: names without their numbers."""
    return {
        re.sub(r"[0-9a-f]*\d[0-9a-f]*", "N", name)
        for name in re.findall(r"^left: (.*)", done.out, re.M)
    }


@pytest.mark.parametrize("name", MPIS)
def test_killed_rank(built, name):
    program = built("killed_rank.c", name)
    # Without one nothing is listed: other jobs of this machine come and go in /dev/shm.
    command = [*(own_shm("64m") or []), *stretto_words(3, [program], mpi_of(name))]
    environment = {**os.environ, **PATIENT}
    native = finish(command, {**environment, "STRETTO_DISABLE": "1"}, 60)
    begin = time.monotonic()
    done = finish(command, environment, 60)
    assert time.monotonic() - begin < 30
    assert "under way" in done.err
    assert "came to the end" not in done.out
    assert done.code == native.code != 0
    assert left_over(done) <= left_over(native)
    for _ in range(50):
        if not processes_of(program):
            return
        time.sleep(0.1)
    pytest.fail(f"still there: {processes_of(program)}")


@pytest.mark.parametrize(
    ("name", "size"),
    # With 1 MiB MPICH itself ends by a bus error.
    [("mpich", "64m"), ("openmpi", "64m"), ("openmpi", "1m")],
)
def test_small_dev_shm(built, name, size):
    command = own_shm(size)
    if command is None:
        pytest.skip("mount namespaces are not permitted here")
    command += stretto_words(3, [built("collectives.c", name)], mpi_of(name))
    environment = {**os.environ, **PATIENT, "STRETTO_LOG": "summary"}
    done = all_right(finish(command, environment, 60))
    done.err = done.err.replace("\0", "")  # Open MPI's warning ends with one
    assert said(done) == []
    assert all(done.served(collective) > 0 for collective in COLLECTIVES)


FILES = "the limit on the size of files"


@pytest.mark.parametrize(
    ("name", "which", "lacking", "why"),
    [
        ("mpich", "first", "files", FILES),
        ("mpich", "last", "files", FILES),
        ("mpich", "all", "files", FILES),
        ("openmpi", "last", "files", FILES),
        # MPICH's own messages want more descriptors as well.
        ("openmpi", "first", "descriptors", "/proc/sys/kernel/random/boot_id: Too many open files"),
    ],
)
def test_ranks_that_cannot_share_memory(built, name, which, lacking, why):
    program = [built("no_shared_memory.c", name, "-ldl"), which, lacking]
    done = all_right(stretto_run(3, program, mpi=mpi_of(name), **SERVING))
    (line,) = said(done)
    assert re.match(
        rf"stretto: no memory can be shared (on this node|by this process) \({why}", line
    )
    assert line.endswith("messages go through the MPI")
    assert (done.served("allreduce"), done.served("allgather")) == (21, 20)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *(("mpich", what) for what in ("forks", "orders", "left", "atexit")),
        *(("openmpi", what) for what in ("forks", "orders", "atexit")),
    ],
)
def test_endings(built, name, what):
    done = all_right(stretto_run(3, [built("endings.c", name), what], mpi=mpi_of(name)))
    assert done.served("allreduce") > 20
    assert done.passed("allreduce") == {}


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    ("name", "how"), [("mpich", "together"), ("openmpi", "first"), ("openmpi", "together")]
)
def test_threads(built, name, how, ranks):
    done = all_right(
        stretto_run(ranks, [built("threads.c", name, "-pthread"), how], mpi=mpi_of(name))
    )
    assert said(done) == []
    for collective in ("allreduce", "bcast", "alltoall", "barrier"):
        assert done.served(collective) >= 3 * 4 * 106 + 100
        assert done.passed(collective) == {}


@pytest.mark.parametrize(
    ("name", "ranks", "nodes"),
    [
        *(("mpich", *case) for case in ((4, "2x2"), (3, "2x2"), (3, "2x1"), (4, "2x3"))),
        *(("openmpi", *case) for case in ((4, "2x2"), (3, "2x2"))),
    ],
)
def test_pretended_nodes(built, name, ranks, nodes):
    program = [built("collectives.c", name)]
    variables = {"STRETTO_NODES": nodes, **SERVING}
    done = all_right(stretto_run(ranks, program, mpi=mpi_of(name), **variables))
    assert said(done) == []
    for collective in COLLECTIVES:
        assert done.served(collective) > 0
        assert done.passed(collective) == ({"arguments": 1} if collective == "bcast" else {})


@pytest.mark.parametrize("name", MPIS)
def test_waiting_leaves_the_cores_to_others(built, name):
    done = stretto_run(4, [built("late_rank.c", name)], mpi=mpi_of(name)).succeeded()
    assert done.served("barrier") == 11
    percent = float(done.out.split()[0])
    assert percent < 20


@pytest.mark.parametrize("name", MPIS)
@pytest.mark.parametrize("nodes", ["", "2x2"])
def test_messages_of_the_program_go_on(built, name, nodes):
    variables = {"STRETTO_NODES": nodes} if nodes else {}
    done = all_right(stretto_run(3, [built("progress.c", name)], mpi=mpi_of(name), **variables))
    assert done.served("barrier") > 0
