# SPDX-License-Identifier: BSD-3-Clause
"""How commands end: Ctrl-C at any moment, full disks, readers that go away; never a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import stretto, succeed
from programs import installed
from stretto import interrupt
from stretto.interrupt import Interrupt, held
from stretto.launch import cores
from stretto.launch.library import session_library
from stretto.measure.process import _family, ended, start, stop

PRINTING = (
    ("--help",), ("--version",), ("list",), ("list", "--help"), ("list", "--json"), ("env",),
    ("show", "allreduce/ring"), ("show", "allreduce/ring", "--text"),
    ("check", "allreduce/ring", "--ranks", "4"), ("simulate", "bcast", "-p", "4"),
    ("explain", "bcast", "-p", "4"), ("generate", "bcast", "--topology", "2x2"),
)  # fmt: skip


def finished(*arguments: str, stdout: object, **more) -> tuple[int, str]:
    """Exit status and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "stretto", *arguments], stdout=stdout, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True, timeout=120, check=False, **more,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_below_stdout(arguments):
    with Path("/dev/full").open("w") as full:
        status, err = finished(*arguments, stdout=full)
    *_, last, hint = err.splitlines()
    assert last == "error: standard output: no space left on device"
    assert hint == "hint: free some space, or write elsewhere"
    assert status == 1 and "Traceback" not in err and "ignored" not in err


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_nobody_reads(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    status, err = finished(*arguments, stdout=writing)
    os.close(writing)
    assert status == 128 + signal.SIGPIPE
    assert "error" not in err.lower() and "Traceback" not in err


def test_closed_descriptors():
    status, err = finished("list", stdout=None, preexec_fn=lambda: os.close(1))
    assert (status, err.splitlines()[0]) == (1, "error: standard output: bad file descriptor")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "stretto", "no-such"], stderr=full, timeout=60, check=False
        )
    assert done.returncode == 2


def test_letters_that_the_terminal_does_not_have():
    assert "allreduce/ring" in succeed("list", PYTHONIOENCODING="ascii")
    assert "rank 0" in succeed("show", "allreduce/ring", PYTHONIOENCODING="latin-1")


# --- Ctrl-C

# Sends the signal in the midst of importing the module that it is told.
HOOK = """\
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), int(os.environ["NUMBER"]))
sys.meta_path.insert(0, Finder())
"""
IMPORTED = (
    "stretto.cli.process", "stretto._core", "stretto.errors", "click", "stretto.cli.show_",
    "numpy", "matplotlib.figure", "stretto.plot.schedule",
)  # fmt: skip


def default_signals() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one of nohup that


@pytest.mark.parametrize("module", IMPORTED)
def test_interrupted_while_importing(module, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "AT": module, "NUMBER": "2"}
    arguments = ["show", "allreduce/ring", "-o", str(tmp_path / "ring.svg")]
    status, err = finished(*arguments, stdout=None, env=environment, preexec_fn=default_signals)
    assert (status, err) == (130, "error: interrupted\n")
    assert not (tmp_path / "ring.svg").exists()


# Sends it while the compiled core is made, which would abort if that failed.
IN_CORE = """\
import enum, os
made = enum.EnumMeta.__new__
def make(meta, name, *rest, **more):
    if name == "Collective":
        os.kill(os.getpid(), 2)
    return made(meta, name, *rest, **more)
enum.EnumMeta.__new__ = make
"""


def test_interrupted_while_the_core_loads(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(IN_CORE, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    arguments = ["check", "--ranks", "500"]  # long enough for the signal to come again
    status, err = finished(*arguments, stdout=None, env=environment, preexec_fn=default_signals)
    assert (status, err) == (130, "error: interrupted\n")


# The signal comes while compiled code works, which then ends with an error of its own.
IN_COMPILED_CODE = """\
import signal, time
from stretto import Error, Shape, _core, algorithm_named, interrupt
signal.signal(signal.SIGALRM, interrupt._came)
ring, shape = algorithm_named("allgather/ring"), Shape(1 << 20)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    _core.Simulator(ring, shape, most_seconds=0.1)
except Error:
    print("caught", flush=True)
    time.sleep(10)
"""


def test_interrupted_while_compiled_code_raises():
    done = subprocess.run([sys.executable, "-c", IN_COMPILED_CODE], capture_output=True, text=True,
                          timeout=60, check=False)  # fmt: skip
    last = done.stderr.strip().splitlines()[-1]
    assert done.stdout == "caught\n"
    assert last == "stretto.interrupt.Interrupt: SIGALRM", done.stderr


def test_a_module_that_raises_keyboard_interrupt(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    done = stretto("show", "allreduce/ring", "-o", tmp_path / "a.svg", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize(("number", "word"), [(15, "terminated"), (1, "hung up")])
def test_other_signals(number, word, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "AT": "click", "NUMBER": str(number)}
    status, err = finished("list", stdout=None, env=environment, preexec_fn=default_signals)
    assert (status, err) == (128 + number, f"error: {word}\n")


@pytest.fixture
def taken_over():
    before = {number: signal.getsignal(number) for number in interrupt.SIGNALS}
    hook = sys.unraisablehook
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt.take_over()
    yield
    sys.unraisablehook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_is_held_is_done_first(taken_over):
    done = []
    with pytest.raises(Interrupt), held():
        with held():
            signal.raise_signal(signal.SIGINT)
            done.append(1)
        signal.raise_signal(signal.SIGINT)
        done.append(2)
    assert done == [1, 2]


def test_an_interrupt_that_a_destructor_swallows_comes_again(taken_over):
    class Late:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupt):
        Late()
        time.sleep(60)


LAUNCHER = """\
#!/bin/sh
if [ "$1" = --version ]; then echo 'HYDRA build details:'; echo '    Version: 9.8.7'; exit 0; fi
{trap}
setsid sleep 600 &
echo $$ $! > {pids}.new; mv {pids}.new {pids}
wait; wait
"""


@pytest.fixture
def hanging(fake_mpi, fake_libraries, tmp_path):
    """An MPI whose launcher forgets its ranks, in sessions of their own; or hears no SIGTERM."""

    def make(deaf: bool):
        from stretto.launch import choose_mpi

        prefix, pids = fake_mpi("mpich"), tmp_path / "pids"
        trap = "trap '' TERM" if deaf else "trap 'exit' TERM"
        launcher = prefix / "bin" / "mpiexec"
        launcher.write_text(LAUNCHER.format(trap=trap, pids=pids), encoding="utf-8")
        return choose_mpi(str(prefix)), pids

    return make


def wait_for(path: Path) -> list[int]:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [int(word) for word in path.read_text().split()]


def gone(pid: int) -> bool:
    """Or only its parent has not asked yet how it ended; what is killed may take a moment."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("deaf", [False, True])
def test_nothing_is_left_of_what_was_launched(hanging, deaf):
    mpi, pids = hanging(deaf)
    with pytest.raises(KeyboardInterrupt), ended(start(mpi, [str(mpi.mpiexec)])):
        left = wait_for(pids)
        raise KeyboardInterrupt
    assert len(left) == 2 and all(map(gone, left))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["bench", "doctor", "tune"])
def test_a_command_interrupted_while_ranks_run(hanging, tmp_path, command, number):
    from stretto.launch.library import installed_flavours

    if "mpich" not in installed_flavours():
        pytest.skip("built without the MPICH flavour")
    mpi, pids = hanging(False)
    arguments = [] if command == "doctor" else ["--mpi", str(mpi.mpiexec)]
    path = f"{mpi.mpiexec.parent}:/usr/bin:/bin"
    environment = {**os.environ, "PATH": path, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    # This Python's own MPI would come first.
    code = "import sys; sys.prefix = '/usr'; from stretto.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, command, *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=default_signals,
    ) as process:  # fmt: skip
        left = wait_for(pids)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err.splitlines()[-1] == f"error: {'interrupted' if number == 2 else 'terminated'}"
    assert out == "" and all(map(gone, left))


def test_descendants_are_found():
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE,
                          text=True, start_new_session=True) as process:  # fmt: skip
        child = int(process.stdout.readline())
        family = _family(process.pid)
        stop(process)
    assert list(family) == [process.pid, child]
    assert all(map(gone, family))


RANK = """
import os, time
mine = os.environ.get("LD_PRELOAD", "")
print(os.getsid(0), os.getpgrp() == os.getpid(), "stretto" in mine, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(session_library() is None, reason="built without what keeps ranks in a session")
def test_ranks_of_mpich_that_share_a_session_and_cores_end_together(monkeypatch, tmp_path):
    (tmp_path / "enabled").write_text("1\n")
    monkeypatch.setattr(cores, "AUTOGROUPS", tmp_path / "enabled")
    (tmp_path / "memberships").write_text("")
    monkeypatch.setattr(cores, "MEMBERSHIPS", tmp_path / "memberships")
    mpi, ranks = installed("mpich"), cores.cores() + 1
    command = mpi.command(ranks, [sys.executable, "-c", RANK], {})
    with ended(start(mpi, command)) as process:
        said = {process.stdout.readline() for _ in range(ranks)}
        family = _family(process.pid)
        stop(process)
    assert len(said) == 1, said
    session, leads_a_group, has_ours = said.pop().split()
    assert int(session) in family
    assert (leads_a_group, has_ours) == ("True", "False")
    assert len(family) > ranks
    assert all(map(gone, family))
