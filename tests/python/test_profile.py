# SPDX-License-Identifier: BSD-3-Clause
"""STRETTO_PROFILE and STRETTO_TRACE: what programs write about their calls."""

import json
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from programs import all_right, finish, installed, stretto_run
from stretto.launch import preload

CATEGORIES = {"call", "send", "receive", "reduce", "copy", "wait"}


@pytest.fixture
def run(built, tmp_path):
    """Runs profiled.c in a folder of its own. Open MPI is quick with more ranks than cores."""

    def run_with(ranks: int, mpi: str = "openmpi", source: str = "profiled.c", **variables: str):
        program = built(source, mpi)
        found = installed(mpi)
        done = stretto_run(ranks, [program], mpi=found, cwd=tmp_path, **variables).succeeded()
        assert done.out.strip() == "all right"
        return done

    return run_with


def profile_in(folder: Path) -> dict:
    document = json.loads((folder / "profile.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("stretto profile", 1)
    return document


def records(document: dict, function: str, communicator: str, bytes_from: int) -> list[dict]:
    names = [one["name"] for one in document["communicators"]]
    return [
        record
        for record in document["records"]
        if (record["function"], names[record["communicator"]], record["bytes_from"])
        == (function, communicator, bytes_from)
    ]


@pytest.mark.parametrize(("mpi", "ranks"), [("mpich", 2), ("openmpi", 3)])
def test_profile(run, tmp_path, mpi, ranks):
    done = run(ranks, mpi, STRETTO_PROFILE="profile.json", STRETTO_REDUCE="native")
    document = profile_in(tmp_path)
    assert document["program"].startswith("profiled")
    assert document["ranks"] == len(document["by_rank"]) == ranks
    assert len(document["nodes"]) == 1
    assert "MPI" in document["mpi"]
    made = {(c["name"], c["world_ranks"]): c["how_many"] for c in document["communicators"]}
    world = f"0-{ranks - 1}"
    halves = {("half", "0,2"): 1} if ranks == 3 else {}
    assert made == {
        ("MPI_COMM_WORLD", world): 1, ("copy", world): 5, ("half", "itself"): 1, **halves
    }  # fmt: skip

    (small,) = records(document, "allreduce", "MPI_COMM_WORLD", 8)
    assert small["algorithm"] == "allreduce/linear"
    assert small["calls"] == {"min": 3000, "median": 3000, "max": 3000}
    assert small["bytes"]["median"] == 3000 * 8
    # The nap of the last rank, however few of the calls are timed.
    assert 0.1 < small["waiting"]["max"] <= small["seconds"]["max"]
    assert small["timed"] <= 1
    large = records(document, "allreduce", "half", 524288)
    assert sum(record["ranks"] for record in large) == ranks
    assert all(record["calls"]["max"] == 20 for record in large)
    (copies,) = records(document, "barrier", "copy", 0)
    assert copies["calls"]["max"] == 5

    (late,) = records(document, "barrier", "MPI_COMM_WORLD", 0)
    assert late["waiting"]["max"] > 0.1  # of a punctual rank, and less of the late one
    assert late["waiting"]["min"] < late["waiting"]["max"] - 0.05
    (native,) = records(document, "reduce", "MPI_COMM_WORLD", 8)
    assert (native["algorithm"], native["reason"]) == ("native", "rules")
    assert native["calls"]["min"] == 7
    assert native["waiting"] is None
    assert native["seconds"]["min"] > 0
    # The summary counts the same calls.
    assert done.served("allreduce") == 3020
    assert done.passed("reduce") == {"rules": 7}


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_every_call_is_timed(run, tmp_path, disabled):
    """With Stretto and without, and what that takes is said."""
    measured = {"STRETTO_PROFILE": "profile.json", "STRETTO_PROFILE_CALLS": "all"}
    done = run(2, "mpich", STRETTO_DISABLE=disabled, **measured)
    document = profile_in(tmp_path)
    assert all(record["timed"] == 1 for record in document["records"])
    calls = [one["calls"]["max"] for one in document["records"] if one["function"] == "allreduce"]
    assert sum(calls) == 3020
    native = {record["algorithm"] == "native" for record in document["records"]}
    assert native == {disabled == "1"}
    assert (done.served("allreduce") > 0) == (disabled == "0")
    assert all(10 < ns < 100_000 for ns in document["timing_ns"].values())
    for rank in document["by_rank"]:
        assert 0 < rank["before_first_call"] < rank["wall_seconds"] - 0.4  # of its naps


PENDING = "profiled_nonblocking.c"


def of_form(document: dict, form: str) -> dict[tuple[str, str, int], dict]:
    """By the communicator's name, the function and the bytes. All ranks have made these calls."""
    names = [one["name"] for one in document["communicators"]]
    found = {}
    for record in document["records"]:
        if record["form"] == form:
            assert record["ranks"] == document["ranks"]
            key = names[record["communicator"]], record["function"], record["bytes_from"]
            # Those of before a communicator's set-up are apart.
            assert key not in found or "reason" in found[key]
            found[key] = record
    return found


def calls_of(document: dict, form: str) -> dict[tuple[str, str, int], float]:
    found = of_form(document, form)
    assert all(one["calls"]["min"] == one["calls"]["max"] for one in found.values())
    return {key: record["calls"]["max"] for key, record in found.items()}


def check_times(record: dict) -> None:
    if record["form"] == "blocking":
        assert [record[key] for key in TIMES] == [None] * len(TIMES)
        return
    assert record["waiting"] is None
    parts = record["posting_of_ranks"] + record["completing_of_ranks"]
    assert record["seconds_of_ranks"] == pytest.approx(parts, rel=1e-6)
    assert record["posting"]["min"] > 0
    assert 0 <= record["overlapped"]["max"] <= record["under_way"]["max"]
    assert record["timed"] == 1


TIMES = ("posting", "completing", "under_way", "overlapped")
WORLD = "MPI_COMM_WORLD"


@pytest.mark.alone
@pytest.mark.parametrize(("mpi", "ranks"), [("mpich", 2), ("openmpi", 3)])
def test_profile_of_calls_that_do_not_block(run, tmp_path, mpi, ranks):
    done = run(ranks, mpi, PENDING, STRETTO_PROFILE="profile.json", STRETTO_REDUCE="native")
    document = profile_in(tmp_path)
    for record in document["records"]:
        check_times(record)
    assert calls_of(document, "nonblocking") == {
        ("fresh", "barrier", 0): 1, (WORLD, "allreduce", 8): 100, (WORLD, "allreduce", 16): 1,
        (WORLD, "allreduce", 65536): 4, (WORLD, "reduce", 8): 7,
        ("ring", "neighbor_allgather", 256): 3,
    }  # fmt: skip
    assert calls_of(document, "persistent") == {
        (WORLD, "allreduce", 32): 10, (WORLD, "reduce", 32): 10,
        ("ring", "neighbor_alltoall", 256): 1,
    }  # fmt: skip
    assert calls_of(document, "blocking") == {
        (WORLD, "barrier", 0): 1, ("fresh", "barrier", 0): 1,
        ("ring", "neighbor_allgather", 256): 1,
    }  # fmt: skip
    early = [one for one in document["records"] if "not ready" in one.get("reason", "")]
    assert [one["calls"]["max"] for one in early] == [5]
    assert {(c["name"], c["how_many"]) for c in document["communicators"]} == {
        (WORLD, 1), ("fresh", 1), ("ring", 1)
    }  # fmt: skip

    found = of_form(document, "nonblocking")
    apart = found[WORLD, "allreduce", 16]  # while the program naps
    assert apart["overlapped"]["max"] > 0.15
    assert apart["seconds"]["max"] < apart["under_way"]["max"] - 0.15
    late = found[WORLD, "allreduce", 65536]  # four, awaited in one call
    assert 0.15 < late["completing"]["max"] < 0.5 * late["under_way"]["max"]
    assert late["completing"]["min"] < 0.1
    assert late["overlapped"]["max"] < 0.1
    assert late["algorithm"].startswith("allreduce/")
    assert found[WORLD, "reduce", 8]["reason"] == "rules"
    assert done.served("allreduce") == 115
    assert done.passed("barrier") == {"MPI or communicator not ready": 5}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_native_calls_that_do_not_block_are_profiled(run, tmp_path, mpi):
    run(2, mpi, PENDING, STRETTO_PROFILE="profile.json", STRETTO_DISABLE="1")
    document = profile_in(tmp_path)
    assert {record["reason"] for record in document["records"]} == {"disabled"}
    for record in document["records"]:
        check_times(record)
    calls = {**calls_of(document, "nonblocking"), **calls_of(document, "persistent")}
    assert calls[WORLD, "allreduce", 8] == 100
    assert calls[WORLD, "allreduce", 32] == calls[WORLD, "reduce", 32] == 10
    assert calls["fresh", "barrier", 0] == 6
    late = of_form(document, "nonblocking")[WORLD, "allreduce", 65536]
    assert late["completing"]["max"] > 0.15


def test_calls_of_a_disabled_library_are_profiled(run, tmp_path):
    run(2, STRETTO_PROFILE="profile.json", STRETTO_DISABLE="1")
    document = profile_in(tmp_path)
    assert {record["reason"] for record in document["records"]} == {"disabled"}
    (small,) = records(document, "allreduce", "MPI_COMM_WORLD", 8)
    assert small["calls"]["median"] == 3000
    assert small["seconds"]["max"] > 0.1


def test_ranks_that_disagree_write_nothing(built, tmp_path):
    mpi = installed("mpich")
    program = built("profiled.c", "mpich")
    file = tmp_path / "profile.json"
    words = [mpi.mpiexec, "-genv", "LD_PRELOAD", preload("mpich"), "-n", 1, "-env",
             "STRETTO_PROFILE", file, program, ":", "-n", 1, program]  # fmt: skip
    done = finish(words, mpi.environment(), 60, tmp_path).succeeded()
    assert done.said("no profile or trace is written")
    assert list(tmp_path.iterdir()) == []


def trace_in(folder: Path) -> tuple[dict, list[dict]]:
    document = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
    other = document["otherData"]
    assert (other["format"], other["version"]) == ("stretto trace", 1)
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert {event["cat"] for event in events} <= CATEGORIES
    for event in events:
        assert event["pid"] == 0
        assert event["ts"] >= 0 and event["dur"] >= 0
        assert event["args"]["algorithm"]
    return document, events


def check_nesting(events: list[dict]) -> None:
    """What a thread does lies within its calls and never overlaps."""
    for thread in {event["tid"] for event in events}:
        of_thread = [event for event in events if event["tid"] == thread]
        calls = sorted(
            (e["ts"], e["ts"] + e["dur"]) for e in of_thread if e["cat"] == "call"
        )  # fmt: skip
        end = 0.0
        for begin, after in calls:
            assert begin >= end - 0.002
            end = after
        inner = sorted((e["ts"], e["dur"]) for e in of_thread if e["cat"] != "call")
        end = 0.0
        for begin, length in inner:
            assert begin >= end - 0.002
            end = begin + length


def test_trace(run, tmp_path):
    run(3, STRETTO_TRACE="trace.json", STRETTO_TRACE_EVENTS="256K")
    document, events = trace_in(tmp_path)
    assert document["otherData"]["dropped"] == 0
    names = {e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"}
    assert names == {"rank 0", "rank 1", "rank 2"}
    check_nesting(events)
    assert CATEGORIES - {"copy"} <= {event["cat"] for event in events}
    allreduces = [e for e in events if e["cat"] == "call" and e["name"] == "allreduce"]
    assert Counter(e["tid"] for e in allreduces) == {0: 3020, 1: 3020, 2: 3020}
    assert all(e["args"]["bytes"] > 0 for e in allreduces)  # also before a plan is kept
    # Of each message both ends are there, with the other's rank in the world.
    sent = [e for e in events if e["cat"] == "send"]
    bytes_sent = Counter()
    for event in sent:
        bytes_sent[event["tid"], event["args"]["peer"]] += event["args"]["bytes"]
    bytes_got = Counter()
    for event in events:
        if event["cat"] in ("receive", "reduce") and "peer" in event["args"]:
            bytes_got[event["args"]["peer"], event["tid"]] += event["args"]["bytes"]
    assert bytes_sent == bytes_got
    assert bytes_sent[0, 2] > 0
    # The last rank is late for its last barrier, in which the others wait.
    barriers = [e for e in events if e["name"] == "barrier"]
    assert max(e["dur"] for e in barriers if e["tid"] == 0) > 100e3
    assert max(e["dur"] for e in events if e["cat"] == "wait") > 100e3


@pytest.mark.alone
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_trace_of_calls_that_do_not_block(run, tmp_path, mpi):
    run(2, mpi, PENDING, STRETTO_TRACE="trace.json")
    text = (tmp_path / "trace.json").read_text(encoding="utf-8")
    events = [event for event in json.loads(text)["traceEvents"] if event["pid"] == 1]
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    spans = [event for event in events if event["ph"] == "X"]
    assert named == {event["tid"] for event in spans} == set(range(2 * 4))
    calls = Counter((e["tid"] % 2, e["cat"], e["name"]) for e in spans)
    for rank in range(2):
        assert calls[rank, "nonblocking", "allreduce"] == 105
        assert calls[rank, "persistent", "allreduce"] == 10
        assert calls[rank, "nonblocking", "neighbor_allgather"] == 3
    for line in named:
        of_line = sorted((e["ts"], e["dur"]) for e in spans if e["tid"] == line)
        for (begin, length), (after, _) in pairwise(of_line):
            assert begin + length <= after + 0.002
    apart = [e for e in spans if e["args"]["bytes"] == 16]
    assert max(e["dur"] for e in apart) > 150e3
    assert all(e["args"]["posting"] < 100e3 for e in apart)


@pytest.mark.alone
def test_trace_across_nodes_has_one_clock(run, tmp_path):
    run(4, STRETTO_TRACE="trace.json", STRETTO_TRACE_EVENTS="1M", STRETTO_NODES="2x2")
    _, events = trace_in(tmp_path)
    ends = [e["ts"] + e["dur"] for e in events if e["name"] == "barrier" and e["dur"] > 100e3]
    assert len(ends) >= 3
    assert max(ends) - min(ends) < 50e3  # the barrier that all leave together


def test_trace_keeps_the_last_events_and_a_lost_profile_takes_nothing_along(run, tmp_path):
    missing = "/nowhere/to/be/found"
    done = run(
        2, STRETTO_PROFILE=missing, STRETTO_TRACE="trace.json", STRETTO_TRACE_EVENTS="1K"
    )  # fmt: skip
    lines = [line for line in done.err.splitlines() if "STRETTO_PROFILE" in line]
    assert lines == [f"stretto: STRETTO_PROFILE: cannot write {missing}: No such file or directory"]
    assert done.said("hint: name a file")
    document, events = trace_in(tmp_path)
    assert Counter(event["tid"] for event in events) == {0: 1024, 1: 1024}
    other = document["otherData"]
    assert other["dropped"] == sum(other["dropped_by_rank"]) > 1000
    assert any(event["name"] == "reduce" and event["cat"] == "call" for event in events)


def test_trace_that_cannot_be_written(run, tmp_path):
    done = run(
        2, STRETTO_PROFILE="profile.json", STRETTO_TRACE=str(tmp_path), STRETTO_TRACE_EVENTS="many"
    )  # fmt: skip
    said = f"stretto: STRETTO_TRACE: cannot write {tmp_path}: it is a directory"
    assert done.err.splitlines().count(said) == 1
    assert done.said("stretto: STRETTO_TRACE_EVENTS: 'many' is no number of events up to 16M, ")
    assert profile_in(tmp_path)["records"]


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_what_would_block_or_end_the_program_is_not_written(built, tmp_path, mpi):
    os.mkfifo(tmp_path / "fifo")
    done = stretto_run(
        2, [built("limited.c", mpi)], mpi=installed(mpi), cwd=tmp_path,
        STRETTO_PROFILE="fifo", STRETTO_TRACE="trace.json",
    )  # fmt: skip
    all_right(done)
    lines = [line for line in done.err.splitlines() if ": cannot write " in line]
    assert lines == [
        "stretto: STRETTO_PROFILE: cannot write fifo: it is a FIFO",
        "stretto: STRETTO_TRACE: cannot write trace.json: File too large",
    ]


def test_variable_on_some_ranks_only(built, tmp_path):
    script = 'test "$PMI_RANK" != 1 || unset STRETTO_PROFILE; exec "$0"'
    program = ["sh", "-c", script, built("profiled.c", "mpich")]
    done = stretto_run(
        2, program, mpi=installed("mpich"), cwd=tmp_path, STRETTO_PROFILE="profile.json"
    )
    assert done.succeeded().out.strip() == "all right"
    assert done.said("stretto: no profile or trace is written: not all ranks have STRETTO_PROFILE")
    assert not (tmp_path / "profile.json").exists()


def test_calls_whose_arguments_change_are_counted_all_and_timed_in_part(built, tmp_path):
    program = [built("changed.c", "mpich")]
    mpi = installed("mpich")
    stretto_run(2, program, mpi=mpi, cwd=tmp_path, STRETTO_PROFILE="profile.json").succeeded()
    found = [one for one in profile_in(tmp_path)["records"] if one["function"] == "alltoallv"]
    # Each rank makes 450 with the other one, and 150 alone.
    of_both = [one for one in found if one["communicator"] == found[0]["communicator"]]
    assert sum(one["calls"]["median"] * one["ranks"] for one in found) == 2 * 600
    assert {sum(one["calls"]["median"] * one["ranks"] for one in of_both)} <= {2 * 450, 2 * 150}
    assert all(one["seconds"]["max"] > 0 for one in found)
    assert min(one["timed"] for one in found) < 0.5


def test_threads(built, tmp_path):
    program = [built("threads.c", "mpich", "-pthread"), "together"]
    variables = {"STRETTO_PROFILE": "profile.json", "STRETTO_TRACE": "trace.json"}
    done = stretto_run(2, program, mpi=installed("mpich"), cwd=tmp_path, timeout=90, **variables)
    done.succeeded()
    found = [one for one in profile_in(tmp_path)["records"] if one["function"] == "allreduce"]
    allreduces = sum(one["calls"]["max"] * one["ranks"] for one in found)
    assert allreduces == 2 * done.served("allreduce")
    trace, events = trace_in(tmp_path)
    check_nesting(events)
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {"rank 0", "rank 1, thread 1"} <= names
    assert len(names) <= 2 * 5  # a hundred threads one after the other share timelines


@pytest.mark.parametrize("disabled", ["0", "1"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_calls_of_threads_that_do_not_block(built, tmp_path, mpi, disabled):
    program = [built("profiled_threads.c", mpi, "-pthread")]
    variables = {"STRETTO_PROFILE": "profile.json", "STRETTO_TRACE": "trace.json"}
    all_right(
        stretto_run(
            2, program, mpi=installed(mpi), cwd=tmp_path, STRETTO_DISABLE=disabled, **variables
        )
    )
    counted = [one for one in profile_in(tmp_path)["records"] if one["function"] == "allreduce"]
    assert sorted(one["calls"]["median"] for one in counted) == [64, 4 * 200 * 8]
