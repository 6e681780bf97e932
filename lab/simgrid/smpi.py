# SPDX-License-Identifier: BSD-3-Clause
"""Runs collectives in the simulated time of SimGrid's MPI, SMPI."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import tree as trees
from stretto import _core
from stretto.errors import Error

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "smpi"
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")  # imitations of other MPIs' choices
# Algorithms of SMPI 3.32 for an allreduce, but its selectors.
ALLREDUCES = (
    "default", "lr", "mvapich2_rs", "mvapich2_two_level", "ompi_ring_segmented", "rab", "rab1",
    "rab2", "rab_rdb", "rdb", "redbcast", "smp_binomial", "smp_binomial_pipeline", "smp_rdb",
    "smp_rsag", "smp_rsag_lr", "smp_rsag_rab",
)  # fmt: skip
PATIENCE = 60.0  # seconds of real time for one call
# Nothing is computed in simulated time: what this machine is busy with must not be in the results.
SETTINGS = ("--cfg=smpi/simulate-computation:no", "--log=root.thres:error")

Plan = list[tuple[str, list[str]]]  # "allreduce:64K" and candidates, as in STRETTO_ALLREDUCE


def smpirun() -> str:
    """The launcher; raises Error where SimGrid is missing."""
    found = shutil.which("smpirun")
    if not found:
        raise Error(
            "SimGrid is not installed: there is no smpirun", "apt-get install libsimgrid-dev"
        )
    return found


def built(folder: Path = BUILD, core: Path | None = None) -> Path:
    """The driver, after a build; `core` is the libstretto_core.a of another build. The program
    stretto-learner is beside it."""
    if given := os.environ.get("STRETTO_SMPI_DRIVER"):
        return Path(given)
    smpirun()
    own = ["--preset", "smpi"]
    alone = ["-S", "lab/simgrid", "-B", folder, f"-DSTRETTO_CORE={core}", "-G", "Ninja"]
    build = ["--build", folder, "--target", "stretto-smpi", "stretto-learner"]
    for arguments in (alone if core else own, build):
        command = ["cmake", *map(str, arguments)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError:
            raise Error(
                "there is no cmake to build the driver", "pip install cmake ninja"
            ) from None
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise Error(f"the driver was not built:\n{said}", f"{' '.join(command)}, in {ROOT}")
    return folder / "stretto-smpi" if core else folder / "lab" / "simgrid" / "stretto-smpi"


@dataclass(frozen=True)
class Time:
    """Of one call, from the moment when all ranks began to that when the last was ready."""

    cell: str
    ranks: int
    asked: int
    words: str
    algorithm: str
    us: float  # infinite: given up
    correct: bool = True
    checked: bool = True  # false: too large to be looked at


@dataclass
class Network:
    """A simulated one."""

    tree: trees.Tree
    driver: Path = field(default_factory=built)
    settings: tuple[str, ...] = ()  # of SimGrid: "smpi/lat-factor:0:1"

    def run(
        self,
        hosts: list[str],
        plan: Plan,
        selector: str = "",
        patience: float = PATIENCE,
        nodes: Iterable[int] = (),
        graph: str = "",
    ) -> Iterator[Time]:
        """A rank on each of `hosts`, where a host may stand several times. What takes longer than
        `patience` has an infinite time. `nodes` tells algorithms that go by them where ranks are,
        `graph` who are neighbours.
        """
        told = ":".join(map(str, nodes))
        left = [(cell, list(words)) for cell, words in plan if words]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            platform, hostfile = trees.write(self.tree, folder, "network", hosts)
            while left:
                text = "".join(f"{cell} {' '.join(words)}\n" for cell, words in left)
                (folder / "plan").write_text(text, encoding="utf-8")
                command = [
                    smpirun(), "-no-privatize", "-np", str(len(hosts)), "-platform", str(platform),
                    "-hostfile", str(hostfile), *SETTINGS,
                    *([f"--cfg=smpi/{_setting(selector)}"] if selector else []),
                    *(f"--cfg={one}" for one in self.settings),
                    str(self.driver), str(folder / "plan"), *filter(None, [told, graph]),
                ]  # fmt: skip
                for line in _lines(command, patience):
                    yield Time(**json.loads(line))
                    _begun(left)
                if left:
                    cell, words = left[0]
                    function, _, size = cell.partition(":")
                    yield Time(
                        function, len(hosts), _bytes(size), words[0], "", float("inf"), False, False
                    )
                    _begun(left)


def _setting(selector: str) -> str:
    """Of one of the four, or "allreduce:lr", an algorithm of SMPI's own."""
    return selector if ":" in selector else f"coll-selector:{selector}"


def _begun(left: Plan) -> None:
    left[0][1].pop(0)
    if not left[0][1]:
        left.pop(0)


def _bytes(size: str) -> int:
    return _core.parse_size(size) or 0


def _lines(command: list[str], patience: float) -> Iterator[str]:
    """What the driver writes, until it ends or is silent for too long; raises Error if it fails."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout
        os.set_blocking(process.stdout.fileno(), False)
        kept = b""
        try:
            while _said_something(process.stdout, patience):
                part = process.stdout.read()
                if not part:  # the end
                    process.wait()
                    break
                *lines, kept = (kept + part).split(b"\n")
                yield from (line.decode() for line in lines if line.startswith(b"{"))
            silent = process.poll() is None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if not silent and process.returncode:
            errors.seek(0)
            raise _failure(errors.read().decode(errors="replace"))


def _said_something(stream: IO[bytes], patience: float) -> bool:
    """Within so many seconds, not counting those for which this process was stopped."""
    return any(select.select([stream], [], [], 1.0)[0] for _ in range(max(1, round(patience))))


def _failure(said: str) -> Error:
    """The driver's own words, or the end of what SimGrid wrote."""
    own = re.search(r"^error: (.*)\nhint: (.*)$", said, re.MULTILINE)
    if own:
        return Error(own[1], own[2])
    return Error(f"the simulation ended early:\n{said.strip()[-1500:]}", "is there enough memory?")
