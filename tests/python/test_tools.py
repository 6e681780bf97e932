# SPDX-License-Identifier: BSD-3-Clause
"""Profiling tools before Stretto and behind it see what they see natively, and it serves them."""

import os
import re
from pathlib import Path

import pytest
from programs import (
    COLLECTIVES,
    DEBIAN,
    PREFIXES,
    PROGRAMS,
    Finished,
    finish,
    from_environment,
    launch,
    mpi_of,
    needed,
    stretto_run,
)
from stretto.launch import Mpi, library_of
from stretto.launch.mpi import inspect

pytestmark = pytest.mark.each_value

SHARED = ("-shared", "-fPIC")
ORDERS = ["preloaded before", "preloaded behind", "linked", "compiled in"]


def mpi_called(name: str) -> Mpi:
    if name not in DEBIAN:
        return mpi_of(name)
    return inspect(Path(needed(f"mpiexec.{DEBIAN[name]}")), "tests")


def seen_by_tool(done: Finished) -> dict[str, int]:
    """Calls of rank 0."""
    lines = re.findall(r"^tool: (\w+) (\d+)$", done.out, re.MULTILINE)
    assert len(dict(lines)) == len(lines), done.out
    return {name: int(calls) for name, calls in lines}


def with_tool(mpi: Mpi, program: list, *preloaded, ranks: int = 3) -> Finished:
    """These libraries preloaded, in this order."""
    variables = {"STRETTO_LOG": "summary"}
    if preloaded:
        variables["LD_PRELOAD"] = ":".join(map(str, preloaded))
    return launch(mpi, ranks, program, **variables).succeeded()


def preloads(order: str, tool, mpi: Mpi) -> tuple[list, list]:
    """What is preloaded without Stretto and with it."""
    stretto = library_of(mpi.flavour)
    return {
        "preloaded before": ([tool], [tool, stretto]),
        "preloaded behind": ([tool], [stretto, tool]),
    }.get(order, ([], [stretto]))


def compare(mpi: Mpi, program: list, order: str, tool) -> Finished:
    """The tool sees what it sees natively; Stretto serves most calls of what the tool has seen."""
    without, with_stretto = preloads(order, tool, mpi)
    expected = seen_by_tool(with_tool(mpi, program, *without))
    done = with_tool(mpi, program, *with_stretto)
    assert "all right" in done.out
    assert seen_by_tool(done) == expected
    assert expected["Finalize"] == 1
    assert not done.said("past Stretto")
    return done


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", [*PREFIXES, *DEBIAN])
def test_calls_that_a_tool_sees(built, name, order):
    mpi = mpi_called(name)
    tool = built("tool.c", name, *SHARED)
    flags = {"linked": [str(tool)], "compiled in": [str(PROGRAMS / "tool.c"), "-ldl"]}
    program = built("collectives.c", name, *flags.get(order, []))
    done = compare(mpi, [program], order, tool)
    seen = seen_by_tool(done)
    assert {function.lower() for function in seen} >= COLLECTIVES | {
        "init", "comm_free", "comm_disconnect", "comm_set_info", "comm_dup_with_info",
        "comm_split_type",
    }  # fmt: skip
    for function in COLLECTIVES:
        line = done.summary[function]
        assert line.passed == ({"arguments": 1} if function == "bcast" else {})
        assert done.served(function) + sum(line.passed.values()) == seen[function.capitalize()]


@pytest.mark.parametrize("order", ["preloaded before", "preloaded behind"])
@pytest.mark.parametrize("name", PREFIXES)
def test_tool_under_mpi4py(built, name, order):
    mpi = mpi_called(name)
    python = from_environment(PREFIXES[name]) / "bin" / "python"
    # Its own MPI: Python has none in its global scope.
    tool = built("tool.c", name, *SHARED, "-Wl,--no-as-needed", str(mpi.library))
    done = compare(mpi, [python, PROGRAMS / "collectives.py"], order, tool)
    seen = {function.removesuffix("_c").lower() for function in seen_by_tool(done)}
    assert seen >= COLLECTIVES
    assert done.summary.keys() == COLLECTIVES
    for function in COLLECTIVES:
        assert done.served(function) > 0
        assert done.passed(function) == {}


@pytest.mark.parametrize("order", ["preloaded before", "preloaded behind"])
@pytest.mark.parametrize("interface", ["", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_tool_under_fortran(built, name, interface, order):
    """Open MPI's interfaces call PMPI functions, MPICH's mpi_f08 some: tools in C miss these."""
    mpi = mpi_called(name)
    tool = built("tool.c", name, *SHARED)
    program = built("collectives.F90", name, *filter(None, [interface]))
    without, with_stretto = preloads(order, tool, mpi)
    expected = seen_by_tool(with_tool(mpi, [program], *without))
    done = with_tool(mpi, [program], *with_stretto)
    assert seen_by_tool(done) == expected
    assert bool(expected) == (name == "debian-mpich" and interface == "")
    assert all(done.served(function) > 0 for function in COLLECTIVES)


@pytest.mark.parametrize("order", ORDERS[:3])
@pytest.mark.parametrize("name", PREFIXES)
def test_tool_that_calls_what_comes_next(built, name, order):
    """By RTLD_NEXT: Stretto if that is behind the tool, else the MPI, past Stretto."""
    mpi = mpi_called(name)
    tool = built("tool.c", name, *SHARED, "-DBY_NEXT")
    program = built("collectives.c", name, *([str(tool)] if order == "linked" else []))
    without, with_stretto = preloads(order, tool, mpi)
    done = with_tool(mpi, [program], *with_stretto)
    assert seen_by_tool(done) == seen_by_tool(with_tool(mpi, [program], *without))
    served = order == "preloaded before"
    assert (done.summary.keys() == COLLECTIVES) == served
    assert done.err.count("past Stretto") == (not served)


@pytest.mark.parametrize("name", PREFIXES)
def test_tool_that_calls_the_mpi_itself(built, name):
    mpi = mpi_called(name)
    tool = built("tool.c", name, *SHARED, "-DPAST")
    program = built("collectives.c", name)
    done = with_tool(mpi, [program], library_of(mpi.flavour), tool)
    assert seen_by_tool(done) == seen_by_tool(with_tool(mpi, [program], tool))
    assert done.summary == {}
    said = [line for line in done.err.splitlines() if line.startswith("stretto:")]
    assert said == [
        f"stretto: MPI_Bcast of {tool} calls the MPI past Stretto, which serves no such calls"
    ]


@pytest.mark.parametrize("name", PREFIXES)
def test_tool_that_calls_back_by_the_same_name(built, name):
    """Natively it would call itself for ever."""
    mpi = mpi_called(name)
    tool = built("tool.c", name, *SHARED, "-DAGAIN")
    program = built("collectives.c", name)
    done = with_tool(mpi, [program], library_of(mpi.flavour), tool)
    plain = with_tool(mpi, [program], built("tool.c", name, *SHARED))
    assert seen_by_tool(done) == seen_by_tool(plain)
    assert done.summary.keys() == COLLECTIVES


def test_tool_of_a_run(built, tmp_path):
    """`stretto run` with a tool in LD_PRELOAD, which need not call PMPI functions."""
    tool = built("tool.c", "mpich", *SHARED, "-DBY_NEXT")
    program = built("collectives.c", "mpich")
    done = stretto_run(2, [program], mpi=mpi_of("mpich"), LD_PRELOAD=str(tool)).succeeded()
    assert seen_by_tool(done)["Allreduce"] == done.served("allreduce") == 6


@pytest.mark.parametrize("order", ORDERS[:2])
def test_ompitrace(built, order):
    """Open MPI's own example: a line for each call."""
    tool = Path("/usr/lib/x86_64-linux-gnu/openmpi/lib/libompitrace.so")
    if not tool.exists():
        pytest.skip("there is no libompitrace.so: apt-get install libopenmpi3")
    mpi = mpi_called("debian-openmpi")
    program = built("collectives.c", "debian-openmpi")
    without, with_stretto = preloads(order, tool, mpi)

    def seen(done: Finished) -> list[str]:
        lines = re.findall(r"^(MPI_\w+)\[0\]", done.err, re.MULTILINE | re.IGNORECASE)
        return [name.lower() for name in lines]

    expected = seen(with_tool(mpi, [program], *without))
    done = with_tool(mpi, [program], *with_stretto)
    assert seen(done) == expected
    assert expected.count("mpi_allreduce") == done.served("allreduce") == 6


@pytest.mark.parametrize("name", DEBIAN)
def test_eztrace(built, tmp_path, name):
    """It calls what comes next in the order of libraries, and puts itself first."""
    mpi = mpi_called(name)
    program = built("collectives.c", name)

    def seen(done: Finished, folder: Path) -> list[str]:
        events = next(folder.rglob("*.otf2"))
        listed = finish([needed("otf2-print"), events], dict(os.environ), 60).succeeded().out
        return re.findall(r'^ENTER +0 +\d+ +Region: "(\w+)"', listed, re.MULTILINE)

    words = [needed("eztrace"), "-t", DEBIAN[name], "-o"]
    expected = seen(with_tool(mpi, [*words, tmp_path / "native", program]), tmp_path / "native")
    command = [*words, tmp_path / "served", program]
    done = with_tool(mpi, command, library_of(mpi.flavour))
    assert seen(done, tmp_path / "served") == expected
    assert expected.count("MPI_Allreduce") == done.served("allreduce") == 6
