# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking and persistent collectives, and their requests among those of the MPI itself."""

import re
from collections.abc import Collection

import pytest
from programs import (
    ABI,
    COLLECTIVES,
    DEBIAN,
    PREFIXES,
    Finished,
    all_right,
    installed,
    preloaded,
    stretto_run,
)

pytestmark = pytest.mark.each_value

LIMIT = 100  # seconds for each run: the ranks may be more than the cores
# What one start of a program tries, one after the other.
ORDERS = [["crossed", "reversed", "ahead", "blocking", "sitting"], ["freed", "fresh"], ["types"]]
PERSISTENT = [["every"], ["order", "mixed", "inactive", "freed"]]
STATES = ["held", "truncated", "many", "at-once"]
MISUSES = [
    "start-active", "startall-active", "start-nonblocking", "startall-nonblocking",
    "free-active", "free-active-persistent", "cancel", "cancel-persistent",
]  # fmt: skip
GONE = ["free-complete", "free-twice", "start-freed", "startall-freed"]

RULES_BY_SIZE = """\
stretto-rules 2
alltoallv  bytes>=16K -> pairwise
alltoallw  bytes>=16K -> pairwise
gatherv    bytes>=16K -> linear
scatterv   bytes>=16K -> linear
allgatherv bytes>=1K -> linear
"""

every_mpi = pytest.mark.parametrize("name", PREFIXES)
some_ranks = pytest.mark.parametrize("ranks", [2, 4])


def run(
    built, source: str, name: str, ranks: int, *arguments: object, **variables: str
) -> Finished:
    program = [built(source, name), *arguments]
    return stretto_run(ranks, program, mpi=installed(name), timeout=LIMIT, **variables)


def counts(done: Finished) -> dict[str, list[int]]:
    """By function: how often rank 0 called it, made it persistent, and started that."""
    lines = re.findall(r"^(\w+): called (\d+), made (\d+), started (\d+)$", done.out, re.MULTILINE)
    found = {key: [int(n) for n in numbers] for key, *numbers in lines}
    assert found.keys() == COLLECTIVES
    return found


def may_pass_on(name: str, *reasons: str) -> set[str]:
    """Why calls may be left to the MPI of this name, apart from these reasons."""
    # Operators of the program's own, where the MPI cannot be asked to move calls on.
    cannot = ("intel", "debian-mpich", *ABI)
    return {*reasons, *(["progress"] if name in cannot else [])}


def served_all(
    done: Finished, calls: dict[str, int] | None = None, passed: Collection[str] = ()
) -> Finished:
    """All right, and Stretto served rank 0's calls, as many as `calls` says, and passed none on.

    Nonblocking calls and starts of persistent ones count as calls of the blocking function. For
    the reasons in `passed` calls may be passed on.
    """
    lines = all_right(done).summary
    reasons = {reason for line in lines.values() for reason in line.passed}
    assert reasons <= set(passed), done.err
    for key, n in (calls or {}).items():
        assert done.served(key) + sum(done.passed(key).values()) == n, f"{key}: {n}\n{done.err}"
        assert n == 0 or done.served(key) > 0, f"{key}\n{done.err}"
    return done


def served_some(done: Finished, *functions: str, passed: Collection[str] = ()) -> Finished:
    """The same of a program that does not say how often it calls these."""
    for function in functions:
        assert served_all(done, passed=passed).served(function) > 0, function
    return done


@every_mpi
@some_ranks
@pytest.mark.each_value(together=("cases", "name"))
@pytest.mark.parametrize("cases", ORDERS, ids=" ".join)
def test_every_legal_order_ends(built, cases, ranks, name):
    done = run(built, "nonblocking_order.c", name, ranks, *cases)
    functions = ["bcast"]
    if cases != ["types"]:
        functions += ["allreduce", "alltoall"]
    elif not may_pass_on(name):
        functions += ["allreduce"]  # with operators of its own
    # Where no blocking collective was called on a communicator before.
    unready = ["MPI or communicator not ready"] * ("fresh" in cases)
    served_some(done, *functions, passed=may_pass_on(name, *unready))


@every_mpi
@some_ranks
@pytest.mark.each_value(together=("case", "name"))
@pytest.mark.parametrize("case", ["crossed", "freed", "sitting"])
def test_orders_of_all_forms_and_with_neighbours(built, case, ranks, name, tmp_path):
    done = run(built, "nonblocking_places.c", name, ranks, tmp_path / "file", case)
    served_some(done, "neighbor_alltoall", "allgather", "allreduce", passed=may_pass_on(name))


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize(
    ("source", "cases"),
    [
        ("nonblocking_order.c", ["crossed", "reversed", "ahead", "blocking", "sitting"]),
        ("nonblocking_places.c", ["crossed", "freed", "sitting"]),
        ("request_arrays.c", []),
    ],
)
def test_orders_between_nodes(built, source, cases, name, tmp_path):
    """With what moves calls on there unless a thread is asked for."""
    file = [tmp_path / "file"] * (source == "nonblocking_places.c")
    done = run(built, source, name, 4, *file, *cases, STRETTO_NODES="2x2")
    served_some(done, "allreduce")


@every_mpi
@some_ranks
@pytest.mark.parametrize("seed", [1, 2])
def test_all_nonblocking_collectives(built, seed, ranks, name):
    done = run(built, "nonblocking_all.c", name, ranks, seed, 20)
    calls = {key: called for key, (called, _, _) in counts(done).items()}
    assert min(calls.values()) > 0
    served_all(done, calls, may_pass_on(name))


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_arrays_that_live_no_longer_than_the_function(built, name):
    served_all(run(built, "nonblocking_all.c", name, 3, 1, 20, "converts"))
    served_all(run(built, "persistent_collectives.c", name, 3, "every", "converts"))


def test_calls_that_are_decided_late(built, tmp_path):
    """When all ranks know the size: some are then the MPI's own, with the arrays of their start.

    Others are its own at once, whose arrays Open MPI 5.0.11 reads until they are complete.
    """
    name = "mpich"
    rules = tmp_path / "sizes.rules"
    rules.write_text(RULES_BY_SIZE, encoding="utf-8")
    program = [built("nonblocking_all.c", name), 1, 20, "converts"]
    done = stretto_run(3, program, mpi=installed(name), timeout=LIMIT, STRETTO_RULES=str(rules))
    for line in RULES_BY_SIZE.splitlines()[1:]:
        function = line.split()[0]
        served_some(done, function, passed=["rules"])
        assert done.passed(function).keys() == {"rules"}


def test_calls_that_nobody_could_decide_late(built, tmp_path):
    """Where a thread moves calls on that may not call the MPI, they are the MPI's at once."""
    name = "intel"
    rules = tmp_path / "sizes.rules"
    rules.write_text(RULES_BY_SIZE, encoding="utf-8")
    program = [built("nonblocking_all.c", name), 1, 20]
    done = stretto_run(3, program, mpi=installed(name), timeout=LIMIT, STRETTO_RULES=str(rules))
    for function in ("alltoallv", "alltoallw", "gatherv", "scatterv"):
        assert all_right(done).passed(function).keys() == {"progress"}
    served_some(done, "allgatherv", passed=["rules", "progress"])  # all ranks know its size


NATIVE_BY_SIZE = "alltoallv bytes>=16K -> pairwise\n"
NATIVE_ABOVE = "alltoallv bytes<16K -> pairwise\nalltoallv -> native\n"
NATIVE_BEHIND = """\
alltoallv bytes<16K -> linear
alltoallv -> pairwise
gatherv   -> native
allreduce -> native
"""


@every_mpi
@pytest.mark.each_value(together=("case", "name"))
@pytest.mark.parametrize(
    ("case", "lines", "native"),
    [
        ("kept", NATIVE_BY_SIZE, ()),
        ("queued", NATIVE_BEHIND, ("gatherv", "allreduce")),
        ("made", NATIVE_ABOVE, ()),
    ],
    ids=["kept", "queued", "made"],
)
def test_choices_that_follow_others(built, case, lines, native, name, tmp_path):
    """All ranks choose alike, whatever plans each has kept, and the MPI gets its calls in order."""
    rules = tmp_path / "some.rules"
    rules.write_text("stretto-rules 2\n" + lines, encoding="utf-8")
    done = run(built, "late_choices.c", name, 3, case, STRETTO_RULES=str(rules))
    all_right(done)
    if (case, name) != ("made", "intel"):  # which then are native at once
        served_some(done, "alltoallv", passed=may_pass_on(name, "rules"))
    for function in native:
        assert done.passed(function).keys() == {"rules"}
        assert done.served(function) == 0


@every_mpi
@some_ranks
@pytest.mark.parametrize("cases", PERSISTENT, ids=" ".join)
def test_persistent_collectives(built, cases, ranks, name):
    done = run(built, "persistent_collectives.c", name, ranks, *cases)
    numbers = counts(done)
    if cases == ["every"]:
        assert all(made > 0 and started == 5 * made for _, made, started in numbers.values())
    # What is left to the MPI is so when it is made: its starts are not Stretto's to count.
    calls = {key: called + started for key, (called, _, started) in numbers.items()}
    served_all(done, None if may_pass_on(name) else calls, may_pass_on(name))


@every_mpi
def test_communicators_that_go_before_their_persistent_collectives(built, name):
    served_all(run(built, "freed_early.c", name, 3))


@every_mpi
@some_ranks
def test_arrays_of_all_kinds_of_requests(built, ranks, name):
    done = run(built, "request_arrays.c", name, ranks)
    served_some(done, "allreduce", "bcast", "alltoall", "barrier")


@every_mpi
@some_ranks
def test_states_of_requests(built, ranks, name):
    served_some(run(built, "request_states.c", name, ranks, *STATES), "allreduce")


FEW_TAGS = {"STRETTO_NODES": "2x1", "STRETTO_ALLTOALLV": "pairwise"}
LIMITS = [(["ring", "threads"], {}), (["queue"], {}), (["inits"], {"STRETTO_ALLREDUCE": "native"}),
          (["tags", "threads"], FEW_TAGS), (["looks"], {}), (["lost"], {}),
          (["uncommitted"], {})]  # fmt: skip


@every_mpi
@pytest.mark.parametrize(("cases", "variables"), LIMITS, ids=[cases[0] for cases, _ in LIMITS])
def test_what_runs_out_and_what_is_gone(built, cases, variables, name):
    words = [built("requests_at_limits.c", name), *cases]
    ranks = 4 if "tags" in cases else 2
    all_right(stretto_run(ranks, words, mpi=installed(name), timeout=LIMIT, **variables))


def test_handles_that_come_again_after_the_end(built):
    """Under MPICH: Open MPI itself crashes in a session that begins after MPI_Finalize."""
    all_right(run(built, "session_after_world.c", "mpich", 1))


@every_mpi
def test_misuse_is_reported(built, name):
    done = served_some(run(built, "request_misuse.c", name, 2, *MISUSES), "allreduce")
    for case in MISUSES:
        assert f"{case}: MPI_ERR_REQUEST" in done.out


@every_mpi
def test_handles_of_requests_that_are_gone(built, name):
    done = served_some(run(built, "request_misuse.c", name, 2, *GONE), "allreduce")
    for case in GONE:  # each rank, beside others and alone
        assert done.out.count(f"{case}: MPI_ERR_REQUEST") == 2 * 2


@every_mpi
def test_mismatched_order_of_persistent_calls(built, name):
    done = all_right(run(built, "request_misuse.c", name, 2, "order-of-kinds"))
    assert done.out.count("order-of-kinds: MPI_ERR_TRUNCATE") == 2 * 2
    # A deadline ends calls that wait for what nobody sends.
    program = [built("request_misuse.c", name), "order-of-roots"]
    done = stretto_run(2, program, mpi=installed(name), timeout=LIMIT, STRETTO_DEADLINE="1")
    assert done.code != 0
    assert sum("hangs in a start of MPI_Bcast_init" in line for line in done.err.splitlines()) == 2
    # Without one, each says so while it goes on waiting.
    within = ["timeout", "6", *program]
    done = stretto_run(2, within, mpi=installed(name), timeout=LIMIT, STRETTO_STANDSTILL="1")
    assert done.code != 0
    says = "has waited for 1 s in a start of MPI_Bcast_init on MPI_COMM_WORLD, and so have all"
    assert done.err.count(says) == 2
    assert done.said(
        "hint: do all ranks call in the same order? STRETTO_DEADLINE=60 ends such a job"
    )
    if name == "intel":  # between nodes it makes the calls itself
        return
    # Between nodes no rank knows whether another one is busy: each asks after ten times as long.
    between_nodes = {"STRETTO_STANDSTILL": "0.2", "STRETTO_NODES": "2x1", "STRETTO_BCAST": "linear"}
    done = stretto_run(2, within, mpi=installed(name), timeout=LIMIT, **between_nodes)
    assert done.code != 0
    assert done.err.count("has waited for 2 s in a start of MPI_Bcast_init on MPI_COMM_WORLD") == 2


@pytest.mark.parametrize("interface", ["", "-DUSE_MPI", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_requests_in_fortran(built, name, interface):
    # Open MPI 4 has no persistent collectives.
    persistent = name == "debian-mpich"
    program = built(
        "nonblocking.F90", name, *filter(None, [interface, "-DPERSISTENT" * persistent])
    )
    calls = {"barrier": 2, "bcast": 4, "allreduce": 5 + 8 * persistent, "alltoallv": 1}
    served_all(stretto_run(3, [program], timeout=LIMIT), calls)


@pytest.mark.parametrize("interface", ["", "-DUSE_MPI", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_all_collectives_in_fortran(built, name, interface):
    persistent = name == "debian-mpich"
    program = built(
        "nonblocking_all.F90", name, *filter(None, [interface, "-DPERSISTENT" * persistent])
    )
    calls = dict.fromkeys(COLLECTIVES, 1 + 2 * persistent)
    calls["barrier"] += 1
    served_all(stretto_run(3, [program], timeout=LIMIT), calls)


@pytest.mark.parametrize("name", ABI)
def test_requests_of_the_standard_abi(built, name):
    """Its statuses, handles and large counts; the rest is the other flavours' code."""
    passed = may_pass_on(name)
    served_some(run(built, "request_arrays.c", name, 2), "allreduce", "alltoall", "barrier")
    served_some(run(built, "request_states.c", name, 2, "many"), "allreduce")
    done = run(built, "nonblocking_all.c", name, 2, 1, 20)
    served_all(done, {key: called for key, (called, _, _) in counts(done).items()}, passed)
    served_all(run(built, "persistent_collectives.c", name, 2, "mixed"), None, passed)
    done = served_some(run(built, "request_misuse.c", name, 2, "start-active"), "allreduce")
    assert "start-active: MPI_ERR_REQUEST" in done.out


@every_mpi
@some_ranks
def test_a_program_without_blocking_calls_is_served(built, ranks, name):
    """Its communicators are set up when they are made."""
    served_some(run(built, "nonblocking_only.c", name, ranks), "allreduce", "reduce")


@every_mpi
def test_without_stretto_run_the_world_may_have_ranks_that_have_no_stretto(built, name):
    """Then nonblocking calls wait for a blocking one, which may be waited for."""
    done = all_right(preloaded(installed(name), 4, [built("nonblocking_only.c", name)]))
    assert done.passed("reduce") == {"MPI or communicator not ready": 1}
    assert done.served("allreduce") == 0
