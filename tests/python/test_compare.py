# SPDX-License-Identifier: BSD-3-Clause
"""`stretto compare`, with programs that run, fail, hang, and have nothing to compare."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from browser import seen_by_a_browser
from commands import refuse, stretto, succeed
from programs import PATIENT, finish, installed, stretto_run
from stretto.compare.runs import NATIVE, Comparison, Wish
from stretto.compare.statistics import ratio_of
from stretto.launch.job import job_of
from stretto.launch.library import library_of
from test_report import Texts

THREE = ("--repeat", 3, "-n", 2)


@pytest.fixture(scope="module")
def openmpi():
    return installed("openmpi")


@pytest.fixture
def program(built):
    return built("compared.c", "openmpi")


def compare(*arguments: object, **variables: str):
    return stretto("compare", *THREE, *arguments, **{**PATIENT, **variables})


@pytest.mark.alone
def test_a_program_that_is_served(program, tmp_path):
    page = tmp_path / "page.html"
    done = compare("--json", "--same-output", "-o", page, "--", program, "sums", 2000)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["comparisons"]
    assert (one["ranks"], one["repeat"], one["job"]) == (2, 3, f"{program.name} sums 2000")
    assert one["mpi"].startswith("Open MPI 5")
    order = [run["side"] for run in one["runs"]]
    assert order == ["native", "stretto", "stretto", "native", "native", "stretto"]
    assert all(run["seconds"] > run["collectives"] > 0 for run in one["runs"])
    parts = {part["name"]: part for part in one["functions"]}
    assert parts.keys() == {"allreduce", "bcast"}
    assert parts["allreduce"]["calls"] == 2000 and parts["bcast"]["calls"] == 200
    assert all(part["native"] > 0 and part["stretto"] > 0 for part in parts.values())
    assert not any("native" in name for name in parts["allreduce"]["algorithms"])
    together = one["collectives"]["native"]
    assert together <= 1.5 * sum(part["native"] for part in parts.values())
    assert together < one["program"]["native"]
    seconds = {side: [run["seconds"] for run in one["runs"] if run["side"] == side]
               for side in ("native", "stretto")}  # fmt: skip
    ratio = one["program"]["ratio"]
    assert ratio == pytest.approx(vars(ratio_of(*seconds.values())))
    assert one["verdict"] == one["said"][0]
    assert all(20 < ns < 20_000 for ns in one["timing_ns"].values())
    assert all(0 < share < 0.5 for share in one["measuring"].values())
    assert 0 < one["start"] < one["program"]["native"]
    assert one["output"] == {"same": True, "words": "the same, byte for byte"}
    text = page.read_text(encoding="utf-8")
    rows = Texts(text).rows
    assert any(row[:1] == ["allreduce"] for row in rows) and text.count("<svg ") == 2
    assert one["verdict"].replace("'", "&#39;") in text
    seen = seen_by_a_browser(page)
    assert one["verdict"] in seen and seen.count("<svg ") == 2


def test_the_table(program, openmpi):
    """And a launcher of the user's, which says how many ranks there are."""
    words = ["--mpi", "openmpi", "--", openmpi.mpiexec, "-n", 2, program]
    prefix = openmpi.mpiexec.parent.parent
    environment = {"PATH": f"{prefix}/bin:{os.environ['PATH']}"}
    done = stretto("compare", "--repeat", 3, *words, **environment)
    assert done.returncode == 0, done.stderr
    head, columns, whole, *_ = done.stdout.splitlines()
    assert head.startswith(f"# {program.name}, 2 ranks, Open MPI 5")
    assert head.endswith(": 3 runs without Stretto and 3 with it, in turn")
    assert columns.split() == ["without", "with", "ratio", "95", "%", "interval", "calls",
                               "algorithms"]  # fmt: skip
    assert whole.startswith("whole program")
    assert "in collectives, per rank" in done.stdout and "\n  allreduce" in done.stdout
    assert "\nThe program " in done.stdout and "Timing every call takes" in done.stdout
    refused = refuse("compare", "-n", 2, *words, **environment)
    assert "mpiexec says how many ranks there are" in refused


def test_a_program_that_fails_with_stretto_alone(program):
    done = compare("--", program, "fails")
    assert done.returncode == 1
    assert f"error: {program.name} fails: exit code 7 with Stretto, exit code 0 without" in (
        done.stderr
    )
    without, _, served = done.stderr.partition("--- with Stretto: exit code 7")
    assert "--- without Stretto: exit code 0" in without
    assert "  it is served" in served and "it is served" not in without
    assert "  1000 sums" in without and "  1000 sums" in served


def test_a_program_that_fails_always(program):
    done = compare("--", program, "fails-always")
    assert done.returncode == 1 and done.stdout == ""
    assert "fails alike with Stretto and without: exit code 3" in done.stderr


@pytest.mark.alone
def test_a_program_that_hangs_with_stretto(program):
    done = compare("--limit", 4, "--", program, "hangs")
    assert done.returncode == 1
    assert "no end within 4 s with Stretto, exit code 0 without" in done.stderr
    assert "hint: --limit SECONDS gives it more time" in done.stderr


def test_nothing_to_compare(program):
    done = compare("--json", "--", program, "silent")
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["comparisons"]
    assert one["runs"] == [] and one["repeat"] == 0
    assert one["verdict"].startswith("The program calls no collective function")
    assert "uses no MPI" in refuse("compare", "--", "true")
    assert "called no MPI_Finalize" in refuse("compare", "--", "sh", "-c", "true")
    assert "STRETTO_DISABLE is set" in refuse("compare", "--", "true", STRETTO_DISABLE="1")


def test_plain_natively_what_is_preloaded_serves_nothing(program):
    variables = {"LD_PRELOAD": str(library_of("openmpi"))}
    done = compare("--plain", "--same-output", "--", program, "differs", 10, **variables)
    assert "line 2 is 'one word', without Stretto 'another word'" in done.stdout


@pytest.mark.alone
def test_times_are_no_multiples_of_how_often_one_looks(openmpi, tmp_path, monkeypatch):
    """Python's wait with a limit looks every 50 ms, at last."""
    monkeypatch.setattr(sys, "stdin", None)
    job = job_of(["sleep", "0.22"], None, str(openmpi.mpiexec), "env")
    comparison = Comparison(job, Wish(limit=60), tmp_path)
    assert 0.22 < min(comparison._run(NATIVE).seconds for _ in range(5)) < 0.25


def test_ranks_of_another_launcher_are_not_taken_for_others(openmpi, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for launcher, known in ((None, True), ("env", False)):
        job = job_of(["sleep", "0.2"], None, str(openmpi.mpiexec), launcher)
        load = Comparison(job, Wish(limit=60), tmp_path)._run(NATIVE).load
        assert (load is not None) is known


@pytest.mark.alone
def test_plain(program):
    done = compare("--plain", "--json", "--", program)
    (one,) = json.loads(done.stdout)["comparisons"]
    assert (one["ranks"], one["repeat"], one["collectives"]) == (2, 3, None)
    assert one["program"]["ratio"]["value"] > 0 and one["functions"] == []


@pytest.mark.parametrize(
    ("way", "code", "words"),
    [
        ("differs", 1, "line 2 is 'one word', without Stretto 'another word'"),
        ("rounds", 0, "numbers that differ by up to"),
        ("varies", 0, "but for what differs from run to run natively as well"),
    ],
)
def test_output(program, way, code, words):
    done = compare("--same-output", "--", program, way, 10)
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    assert (f"error: standard output differs with Stretto: {words}" in done.stderr) == (code == 1)


def test_input(program, tmp_path):
    """Every run reads the file from its beginning."""
    path = tmp_path / "input"
    path.write_text("word\n", encoding="utf-8")
    words = [sys.executable, "-m", "stretto", "compare", *THREE, "--same-output", "--", program]
    with path.open() as file:
        done = subprocess.run(
            [*map(str, words), "reads"], stdin=file, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    assert "Standard output: the same, byte for byte" in done.stdout


def test_interrupted(program):
    """The program does not outlive the command."""
    words = [sys.executable, "-m", "stretto", "compare", "--", program, "sums", 2_000_000_000]
    process = subprocess.Popen(
        [*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    end = time.monotonic() + 60
    while not ranks_of(program) and time.monotonic() < end:
        time.sleep(0.1)
    assert ranks_of(program)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "error: interrupted" in err
    end = time.monotonic() + 30
    while ranks_of(program) and time.monotonic() < end:
        time.sleep(0.1)
    assert ranks_of(program) == []


def ranks_of(program: Path) -> list[str]:
    """Processes that run it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "exe").resolve() == program.resolve():
                found.append(process.name)
    return found


SCRIPT = (
    "from mpi4py import MPI; import sys; MPI.COMM_WORLD.allreduce(1); "
    "print(MPI.Get_library_version()[:8]); sys.stdout.flush()"
)


def test_mpi4py_loads_the_mpi_that_is_wished_for(openmpi):
    """Though another one is beside its Python."""
    installed("mpich")
    done = stretto_run(2, [sys.executable, "-c", SCRIPT], mpi=openmpi).succeeded()
    assert done.out.split("\n")[:2] == ["Open MPI"] * 2
    assert done.served("bcast") > 0  # by which mpi4py tells all ranks the sum


def test_several_mpis(openmpi):
    prefix = openmpi.mpiexec.parent.parent
    wishes = f"{sys.prefix},{prefix},/no/such"
    installed("mpich")
    words = ["--json", "--mpi", wishes, "--", sys.executable, "-c", SCRIPT]
    done = stretto("compare", "-n", 1, "--repeat", 3, *words)
    assert done.returncode == 0, done.stderr
    found = [one["mpi"] for one in json.loads(done.stdout)["comparisons"]]
    assert [name.rpartition(" ")[0] for name in found] == ["MPICH", "Open MPI"]
    assert "stretto: /no/such is left out" in done.stderr


def test_launchers_and_their_programs(program, openmpi, tmp_path):
    wish = str(openmpi.mpiexec)
    job = job_of(["srun", "-n", "4", str(program), "-x"], None, wish)
    words = job.command({"A": "b"})
    assert words == ["srun", "-n", "4", "env", "A=b", str(program), "-x"]
    two = [wish, "-n", "1", str(program), "a", ":", "-n", "2", str(program), "b"]
    assert job_of(two, None, "auto").command({"A": "b"}) == [
        wish, "-n", "1", "env", "A=b", str(program), "a",
        ":", "-n", "2", "env", "A=b", str(program), "b",
    ]  # fmt: skip
    assert "no program was found in" in refuse("compare", "--", "srun", "-n", 2, "no-such-program")
    # Partitions and the like may have names of programs; what has no value is told from that.
    for options in (["srun", "-p", "test", "-n", "4"], ["srun", "-q", "test"], ["mpirun", "-q"],
                    ["mpirun", "--map-by", "node"]):  # fmt: skip
        assert job_of([*options, str(program)], None, wish).program == [str(program)]
    flux = tmp_path / "flux"  # a program of that name
    flux.symlink_to(program)
    assert job_of([str(flux), "in.dat"], None, wish).program == [str(flux), "in.dat"]
    assert "no program was found behind mpiexec" in refuse("run", "--", "mpiexec")


def test_run_takes_a_launcher_in_front(program, openmpi):
    shown = succeed("run", "--dry-run", "--", openmpi.mpiexec, "-n", 3, program, "sums", 5)
    front = f"{openmpi.mpiexec} -n 3 env LD_PRELOAD={library_of('openmpi')} "
    assert shown.startswith(front) and shown.endswith(f"{program} sums 5\n")
    assert "leave -n out" in refuse("run", "-n", 2, "--", openmpi.mpiexec, "-n", 3, program)


def test_run_says_that_there_is_no_mpi(program, openmpi):
    done = stretto("run", "--mpi", openmpi.mpiexec, "-n", 1, "--", "ls")
    assert done.returncode == 0 and "ls is linked to no MPI" in done.stderr
    done = stretto("run", "--mpi", openmpi.mpiexec, "-n", 1, "--", "sh", "-c", "true")
    assert "linked to no MPI" not in done.stderr
    done = finish([sys.executable, "-m", "stretto", "run", "-n", 1, "--", program, "sums", 1],
                  dict(os.environ), 60)  # fmt: skip
    assert "linked to no MPI" not in done.succeeded().err
