# SPDX-License-Identifier: BSD-3-Clause
"""STRETTO_PROFILE and STRETTO_TRACE: what programs write about their calls."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from programs import finish, installed, stretto_run, stretto_words

ROOT = Path(__file__).resolve().parents[2]
MPIS = ["mpich", "openmpi"]
CATEGORIES = {"call", "send", "receive", "reduce", "copy", "wait"}


@pytest.fixture(params=MPIS)
def run(request, built, tmp_path):
    """Runs profiled.c in a folder of its own."""
    program = built("profiled.c", request.param)

    def run_with(ranks: int, **variables: str):
        mpi = installed(request.param)
        done = stretto_run(ranks, [program], mpi=mpi, cwd=tmp_path, **variables).succeeded()
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


def test_profile(run, tmp_path):
    done = run(3, STRETTO_PROFILE="profile.json", STRETTO_REDUCE="native")
    document = profile_in(tmp_path)
    assert document["program"].startswith("profiled")
    assert document["ranks"] == len(document["by_rank"]) == 3
    assert len(document["nodes"]) == 1
    assert "MPI" in document["mpi"]
    made = {(c["name"], c["world_ranks"]): c["how_many"] for c in document["communicators"]}
    assert made == {
        ("MPI_COMM_WORLD", "0-2"): 1, ("copy", "0-2"): 5, ("half", "0,2"): 1, ("half", "itself"): 1
    }  # fmt: skip

    (small,) = records(document, "allreduce", "MPI_COMM_WORLD", 8)
    assert small["algorithm"] == "allreduce/linear"
    assert small["calls"] == {"min": 3000, "median": 3000, "max": 3000}
    assert small["bytes"]["median"] == 3000 * 8
    assert 0.1 < small["seconds"]["median"]  # the nap of the last rank, however few are timed
    assert 0.08 < small["waiting"]["median"] <= small["seconds"]["median"]
    large = records(document, "allreduce", "half", 524288)
    assert sum(record["ranks"] for record in large) == 3
    assert all(record["calls"]["max"] == 20 and record["timed"] == 1 for record in large)
    (copies,) = records(document, "barrier", "copy", 0)
    assert copies["calls"]["max"] == 5

    (late,) = records(document, "barrier", "MPI_COMM_WORLD", 0)
    assert late["waiting"]["max"] > 0.15  # of the punctual ranks, and less of the late one
    assert late["waiting"]["min"] < 0.1
    (native,) = records(document, "reduce", "MPI_COMM_WORLD", 8)
    assert (native["algorithm"], native["reason"]) == ("native", "rules")
    assert native["calls"]["min"] == 7
    assert native["waiting"] is None
    assert native["seconds"]["min"] > 0
    # The summary counts the same calls.
    assert done.served("allreduce") == 3020
    assert done.passed("reduce") == {"rules": 7}


def test_calls_of_a_disabled_library_are_profiled(run, tmp_path):
    run(2, STRETTO_PROFILE="profile.json", STRETTO_DISABLE="1")
    document = profile_in(tmp_path)
    assert {record["reason"] for record in document["records"]} == {"disabled"}
    (small,) = records(document, "allreduce", "MPI_COMM_WORLD", 8)
    assert small["calls"]["median"] == 3000
    assert small["seconds"]["median"] > 0.05


def test_nothing_is_written_unless_asked(run, tmp_path):
    run(2)
    assert list(tmp_path.glob("*.json")) == []


@pytest.mark.parametrize("variable", ["STRETTO_PROFILE", "STRETTO_TRACE"])
def test_file_that_cannot_be_written(run, variable, tmp_path):
    other = "STRETTO_TRACE" if variable == "STRETTO_PROFILE" else "STRETTO_PROFILE"
    done = run(2, **{variable: "/nowhere/to/be/found", other: "other.json"})
    lines = [line for line in done.err.splitlines() if variable in line]
    assert lines == [f"stretto: {variable}: cannot write /nowhere/to/be/found: "
                     "No such file or directory"]  # fmt: skip
    assert done.said("hint: ")
    assert json.loads((tmp_path / "other.json").read_text(encoding="utf-8"))


def test_ranks_that_disagree_write_nothing(built, tmp_path):
    mpi = installed("mpich")
    program = [built("profiled.c", "mpich")]
    words = stretto_words(1, program, mpi)
    one = finish([*words[:3], "run", "-n", "1", "--dry-run", *words[6:]], {}, 30)
    library = re.search(r"LD_PRELOAD (\S+)", one.out)[1]
    file = str(tmp_path / "profile.json")
    command = [mpi.mpiexec, "-genv", "LD_PRELOAD", library, "-n", 1, "-env", "STRETTO_PROFILE",
               file, program[0], ":", "-n", 1, program[0]]  # fmt: skip
    done = finish(command, mpi.environment(), 40).succeeded()
    assert done.said("no profile or trace is written")
    assert not Path(file).exists()


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
    calls = Counter(e["tid"] for e in events if e["cat"] == "call" and e["name"] == "allreduce")
    assert calls == {0: 3020, 1: 3020, 2: 3020}
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
    assert max(e["dur"] for e in barriers if e["tid"] == 0) > 150e3
    assert max(e["dur"] for e in events if e["cat"] == "wait") > 150e3


def test_trace_across_nodes_has_one_clock(run, tmp_path):
    run(4, STRETTO_TRACE="trace.json", STRETTO_TRACE_EVENTS="1M", STRETTO_NODES="2x2")
    _, events = trace_in(tmp_path)
    ends = [e["ts"] + e["dur"] for e in events if e["name"] == "barrier" and e["dur"] > 150e3]
    assert len(ends) >= 3
    assert max(ends) - min(ends) < 50e3  # the barrier that all leave together


def test_trace_keeps_the_last_events(run, tmp_path):
    run(2, STRETTO_TRACE="trace.json", STRETTO_TRACE_EVENTS="1K")
    document, events = trace_in(tmp_path)
    per_rank = Counter(event["tid"] for event in events)
    assert per_rank == {0: 1024, 1: 1024}
    assert document["otherData"]["dropped"] == sum(document["otherData"]["dropped_by_rank"]) > 1000
    assert any(event["name"] == "reduce" and event["cat"] == "call" for event in events)


def test_threads(built, tmp_path):
    program = [built("threads.c", "mpich", "-pthread"), "together"]
    variables = {"STRETTO_PROFILE": "profile.json", "STRETTO_TRACE": "trace.json"}
    done = stretto_run(2, program, mpi=installed("mpich"), cwd=tmp_path, timeout=90, **variables)
    done.succeeded()
    document = profile_in(tmp_path)
    allreduces = sum(
        record["calls"]["max"] * record["ranks"]
        for record in document["records"]
        if record["function"] == "allreduce"
    )
    assert allreduces == 2 * done.served("allreduce")
    trace, events = trace_in(tmp_path)
    check_nesting(events)
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {"rank 0", "rank 1, thread 1"} <= names
    assert len(names) <= 2 * 5  # a hundred threads one after the other share timelines


def test_wrong_number_of_events(run):
    done = run(2, STRETTO_TRACE_EVENTS="many")
    assert done.said("stretto: STRETTO_TRACE_EVENTS: 'many' is no number of events, ignored")
