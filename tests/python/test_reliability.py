# SPDX-License-Identifier: BSD-3-Clause
"""Failed ranks, wrong arguments, strange systems: all ends as it does natively."""

import subprocess
from pathlib import Path

import pytest
from programs import (
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
)
from stretto.launch import library_of

pytestmark = pytest.mark.each_value

MPIS = ["mpich", "openmpi"]
ALL_MPIS = [*MPIS, "intel"]
SHARED = ("-shared", "-fPIC")


def with_faults(program: list, nodes: str) -> Finished:
    """Open MPI goes on when ranks fail only if its launcher is told so."""
    mpi = installed("openmpi")
    variables = {"LD_PRELOAD": str(library_of(mpi.flavour)), "STRETTO_LOG": "summary"}
    if nodes:
        variables["STRETTO_NODES"] = nodes
    mpiexec, *words = mpi.command(4, [str(word) for word in program], variables)
    return finish([mpiexec, "--with-ft", "ulfm", *words], mpi.environment(), 40)


@pytest.mark.parametrize("nodes", ["", "2x2"])
@pytest.mark.parametrize(
    "where", ["world", "dup", "counted", "nonblocking", "persistent", "handled"]
)
def test_failed_rank(built, where, nodes):
    done = with_faults([built("failed_rank.c", "openmpi"), where], nodes)
    assert "all right" in done.succeeded().out
    assert done.served("allreduce") >= 20 + 20 + 2  # before, after, and with the others
    assert said(done) == []


@pytest.mark.parametrize("nodes", ["", "2x2"])
def test_rank_that_fails_before_the_first_collective(built, nodes):
    done = with_faults([built("failed_rank.c", "openmpi"), "first"], nodes)
    assert "all right" in done.succeeded().out
    assert done.served("allreduce") >= 20


@pytest.mark.parametrize("nodes", ["", "2x2"])
def test_revoked_communicator(built, nodes):
    done = with_faults([built("revoked.c", "openmpi")], nodes)
    assert "all right" in done.succeeded().out
    assert done.served("barrier") >= 20
    assert done.served("allreduce") == 40
    assert said(done) == []


@pytest.mark.parametrize("name", MPIS)
def test_first_collective_without_a_rank(built, name):
    """Without `stretto run`, which sets the world up in MPI_Init."""
    done = preloaded(mpi_of(name), 3, [built("missing_rank.c", name), 0], STRETTO_DEADLINE="2")
    assert done.code != 0
    assert "came to the end" not in done.out
    says = "hangs in MPI_Allreduce, the first collective on this communicator, after 2 s"
    assert sum(says in line for line in done.err.splitlines()) == 2  # both ranks that wait
    assert done.said("hint: ")


@pytest.mark.parametrize("name", MPIS)
def test_deadline_of_native_calls(built, name):
    variables = {"STRETTO_DEADLINE": "2", "STRETTO_ALLREDUCE": "native"}
    done = stretto_run(3, [built("missing_rank.c", name), 1], mpi=mpi_of(name), **variables)
    assert done.code != 0
    assert "came to the end" not in done.out
    says = "hangs in the native MPI_Allreduce (reason: rules), after 2 s"
    assert any(says in line for line in done.err.splitlines())
    assert done.said("hint: ")


@pytest.mark.parametrize("name", MPIS)
def test_deadline_where_one_rank_is_disabled(built, name):
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    program = f'test "{rank}" = 1 && export STRETTO_DISABLE=1; exec "$0" 1'
    words = ["sh", "-c", program, built("missing_rank.c", name)]
    done = preloaded(mpi_of(name), 3, words, STRETTO_DEADLINE="2")
    assert done.code != 0
    assert "came to the end" not in done.out
    assert done.said("rank 1 of 3 hangs in the native MPI_Allreduce (reason: disabled), after 2 s")
    for others in (0, 2):
        assert done.said(f"rank {others} of 3 hangs in MPI_Allreduce, the first collective")


@pytest.mark.parametrize("name", MPIS)
def test_deadline_of_threads_that_wait_in_turns(built, name):
    program = built("waiting_threads.c", name, "-pthread")
    done = stretto_run(3, [program], mpi=mpi_of(name), STRETTO_DEADLINE="2")
    assert done.code != 0
    assert "came to the end" not in done.out
    assert sum("hangs in MPI_Iallreduce" in line for line in done.err.splitlines()) >= 2


@pytest.mark.parametrize("name", MPIS)
def test_ranks_that_wait_for_each_other_say_so(built, name):
    program = built("crossed_barriers.c", name)

    def crossed(seconds: int, after: str, **variables: str) -> Finished:
        variables["STRETTO_STANDSTILL"] = after
        done = preloaded(mpi_of(name), 3, [program, "crossed", seconds], **variables)
        assert done.code != 0
        return done

    done = crossed(5, "1")
    for rank in range(3):
        assert done.said(f"rank {rank} of 3 has waited for 1 s in MPI_Barrier (call 2) on ")
    assert done.err.count("and so have all that it waits for") == 3
    # Between nodes none knows of all others: the first one of each asks, much later.
    done = crossed(6, "0.2", STRETTO_NODES="2x2")
    assert done.err.count(" has waited for 2 s in MPI_Barrier (call 2) on ") == 2
    assert done.said("hint: is another rank busy for so long?")
    assert "has waited" not in crossed(2, "0").err


@pytest.mark.parametrize("variables", [{}, {"STRETTO_SHM": "0"}, {"STRETTO_NODES": "2x2"}])
@pytest.mark.parametrize("name", MPIS)
def test_ranks_that_wait_for_one_that_is_busy_say_nothing(built, name, variables):
    program = built("crossed_barriers.c", name)
    words = [program, "chain", 4]
    done = all_right(preloaded(mpi_of(name), 3, words, STRETTO_STANDSTILL="1", **variables))
    assert "has waited" not in done.err


def errors(done: Finished) -> dict[str, str]:
    lines = [line.split(": ") for line in done.succeeded().out.splitlines() if ": " in line]
    return dict(lines)


@pytest.mark.parametrize(
    "collective", ["gather", "scatter", "scatterv", "gatherv", "gatherv of another"]
)
@pytest.mark.parametrize("name", MPIS)
def test_root_that_receives_too_little(built, name, collective):
    # What does not fit has come through ways of other communicators, too, if it came as a part.
    on = [] if collective.startswith("gatherv") else [0]
    done = preloaded(installed(name), 4, [built("mismatched.c", name), collective, *on])
    assert errors(done) == {f"rank {r}": "truncated" if r == 1 else "none" for r in range(4)}
    assert ("goes on" in done.out) == bool(on)
    assert done.served(collective.split()[0]) == 1


@pytest.mark.parametrize("name", MPIS)
def test_ranks_with_different_thread_levels(built, name):
    done = preloaded(installed(name), 3, [built("mixed_levels.c", name)], STRETTO_DEADLINE="20")
    assert "all right" in done.out, done.err


@pytest.mark.parametrize("name", MPIS)
def test_calls_that_fail_again_and_again_between_nodes(built, name):
    """What each leaves in shared memory is used again, and messages that nobody received do no
    harm at the end."""
    words = [built("mismatched.c", name), "gather of another", 100]
    done = preloaded(installed(name), 4, words, STRETTO_NODES="2x2")
    assert "goes on" in done.succeeded().out, done.err


@pytest.mark.parametrize("collective", ["allgather", "alltoall"])
@pytest.mark.parametrize("name", MPIS)
def test_rank_that_receives_too_little(built, name, collective):
    """Its neighbours may fail with it; nobody may hang."""
    done = preloaded(installed(name), 4, [built("mismatched.c", name), collective])
    found = errors(done)
    assert found["rank 1"] == "truncated"
    assert set(found.values()) <= {"truncated", "none"}
    assert done.served(collective) == 1


@pytest.mark.parametrize("before", [0, 10])
@pytest.mark.parametrize("name", ALL_MPIS)
def test_same_buffer_twice(built, name, before):
    done = preloaded(installed(name), 3, [built("aliased.c", name), before])
    found = errors(done)
    assert len(found) == 14
    if name == "openmpi":  # forbids it in these two
        assert found.pop("allreduce") == "buffer"
        assert found.pop("reduce") == "another"
        assert set(found.values()) == {"none"}
    else:
        assert set(found.values()) == {"buffer"}
    wrong_and_right = 3
    assert done.served("allreduce") == before + wrong_and_right + 14
    assert done.served("scan") == before + wrong_and_right
    assert said(done) == []


@pytest.mark.parametrize("name", ALL_MPIS)
def test_same_buffer_twice_is_fatal(built, name):
    done = preloaded(installed(name), 3, [built("aliased.c", name), 0, "fatal"])
    assert done.code != 0
    assert done.said("stretto: fatal error in MPI_Allreduce on rank")


@pytest.mark.parametrize("name", ALL_MPIS)
def test_same_buffer_twice_in_calls_that_do_not_block(built, name):
    done = preloaded(installed(name), 3, [built("aliased_requests.c", name)])
    found = errors(done)
    expected = dict.fromkeys(
        ["iallreduce", "ialltoall", "allreduce_init", "alltoall_init"], "buffer"
    )
    if name == "openmpi":
        expected |= {"ialltoall": "none", "alltoall_init": "none"}
    assert found == expected
    assert done.served("allreduce") >= 4 and done.served("alltoall") >= 4
    assert said(done) == []


@pytest.mark.parametrize("name", ["openmpi", "intel"])  # MPICH natively dies of some
def test_arguments_that_all_ranks_have_wrong(built, name):
    program = [built("refused.c", name)]
    native = errors(launch(installed(name), 3, program))
    assert len(native) == 8 + (name == "openmpi")
    assert all(words.endswith("then right") for words in native.values())
    done = stretto_run(3, program, mpi=mpi_of(name))
    assert errors(done) == native
    assert done.served("allreduce") == len(native)


@pytest.mark.parametrize("before", [0, 10])
@pytest.mark.parametrize(
    "name", ["mpich", "intel"]
)  # Open MPI reads and writes there, natively too
def test_null_buffers(built, name, before):
    """They crashed, though MPICH reports them."""
    found = errors(preloaded(installed(name), 3, [built("null_buffers.c", name), before]))
    assert found.pop("null") == "right"
    assert len(found) == 17 + 8 and set(found.values()) == {"buffer"}


def permitted(*words: str) -> list[str]:
    try:
        done = subprocess.run([*words, "true"], capture_output=True, timeout=10)
    except OSError:
        done = None
    if done is None or done.returncode != 0:
        pytest.skip(f"{' '.join(words)} is not permitted here")
    return [*words]


@pytest.mark.parametrize("rules", ["papers", "own"])
@pytest.mark.parametrize("where", ["all", "rank 1", "PID"])
def test_namespaces(built, tmp_path, where, rules):
    words = permitted(*(["unshare", "-p", "-f"] if where == "PID" else ["unshare", "-U", "-r"]))
    if where == "rank 1":
        script = f'[ "$PMI_RANK" = 1 ] && exec {" ".join(words)} "$@"; exec "$@"'
        words = ["/bin/sh", "-c", script, "sh"]
    # The shipped ones leave short calls of few nodes to the native functions.
    variables = {"STRETTO_RULES": str(Path(__file__).parents[2] / "rules" / "papers.rules")}
    if rules == "own":  # too long for one message, of which MPICH may not read the other's memory
        lines = [f"allreduce bytes>{5000 - i} -> ring" for i in range(3000)]
        path = tmp_path / "long.rules"
        path.write_text("\n".join(["stretto-rules 1", *lines, "allreduce -> recursive_doubling"]))
        variables["STRETTO_RULES"] = str(path)
    program = [*words, built("no_shared_memory.c", "mpich", "-ldl"), "all", "nothing"]
    done = all_right(stretto_run(3, program, mpi=mpi_of("mpich"), timeout=30, **variables))
    assert done.served("allreduce") == 21
    if rules == "own":
        assert done.summary["allreduce"].served == {"recursive_doubling": 21}
    if where == "PID":  # the ranks are on nodes of their own
        assert said(done) == []
        return
    (line,) = said(done)
    assert line.startswith("stretto: a communicator cannot use shared memory (/proc/")
    assert line.endswith("Permission denied); its messages go through the MPI")


@pytest.mark.parametrize("name", MPIS)
def test_interrupted_provision(built, name):
    signals = built("interrupted.c", name, *SHARED)
    done = all_right(preloaded(installed(name), 3, [built("collectives.c", name)], signals))
    assert sum(line.startswith("interrupted ") for line in done.err.splitlines()) == 3
    assert "interrupted 0 times" not in done.err
    assert done.served("allreduce") == 6
    assert said(done) == []


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("name", MPIS)
def test_memory_of_the_segment(built, name, locked):
    program = [built("segment_memory.c", name), *(["locked"] if locked else [])]
    done = preloaded(installed(name), 2, program).succeeded()
    if "skipped: " in done.out:
        pytest.skip(done.out.strip().splitlines()[-1])
    lines = done.out.strip().splitlines()
    assert len(lines) == 2
    for line in lines:
        kib, mappings, dumped = (int(word) for word in line.split() if word.isdigit())
        assert 0 < kib <= (16384 if locked else 256)
        assert (mappings, dumped) == (2, 0)  # its own and the other's
    assert done.served("allreduce") == 1


@pytest.mark.parametrize("threads", ["single", "multiple"])
@pytest.mark.parametrize("name", MPIS)
def test_no_communicators_of_its_own_on_one_node(built, name, threads):
    mpi, program = installed(name), [built("numbers.c", name), threads]
    native = launch(mpi, 3, program).succeeded()
    done = preloaded(mpi, 3, program).succeeded()
    assert len(native.out.split()) == 3
    assert done.out == native.out
    assert done.served("barrier") == 3
    assert done.served("allreduce") == 2


@pytest.mark.parametrize("name", MPIS)
def test_ranks_without_stretto(built, name):
    """They and the others make no collective together but those that make communicators."""
    mpi = installed(name)
    variables = {"LD_PRELOAD": str(library_of(name)), "STRETTO_LOG": "summary"}
    given = []
    for key, value in variables.items():
        given += ["-env", key, value] if name == "mpich" else ["-x", f"{key}={value}"]
    begin = [mpi.mpiexec] if name == "mpich" else [mpi.mpiexec, "--map-by", ":OVERSUBSCRIBE"]
    with_it, without = ["-n", 1, *given], ["-n", 1]
    program = built("partial.c", name)
    words = [*begin, *with_it, program, ":", *without, program, ":", *with_it, program]
    done = all_right(finish(words, {**mpi.environment(), **PATIENT}, 30))
    assert done.served("allreduce") == 20
    assert said(done) == []
