# SPDX-License-Identifier: BSD-3-Clause
"""Replays the collective calls of a program: natively, learning, by what was learned, and by the
shipped and tuned rules, in turns. benchmarks/learning/replay starts it."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

from stretto.launch.mpi import Mpi, inspect
from stretto.units import time_in_words

HERE = Path(__file__).resolve().parent
MELT = HERE.parent / "applications" / "melt.lammps"
LIMIT = 300  # seconds for a run
RANKS = 2

# A solver by conjugate gradients makes no other calls: a scalar product in each step, and two at
# once that are nonblocking, for they go on beside the preconditioner.
GRADIENTS = [("allreduce", "blocking", 8), ("allreduce", "nonblocking", 16)]


def started(words: list[object], environment: dict[str, str]) -> str:
    """Its stdout; ends this program if it fails."""
    done = subprocess.run(
        [str(word) for word in words], env={**os.environ, **environment}, timeout=LIMIT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stderr}")
    return done.stdout


def run_words(mpi: Mpi, *options: str) -> list[object]:
    words = [sys.executable, "-m", "stretto", "run", *options]
    return [*words, "--mpi", mpi.mpiexec, "-n", RANKS, "--"]


def calls_of_lammps(folder: Path) -> list[tuple[str, str, int]]:
    """As rank 0 makes them in a short run of Debian's LAMMPS, which has Debian's Open MPI."""
    program, launcher = shutil.which("lmp"), shutil.which("mpiexec.openmpi")
    mpi = inspect(Path(launcher), "PATH") if launcher else None
    if not program or not mpi:
        sys.exit("there is no LAMMPS to trace (apt-get install lammps): name the calls by --calls")
    trace = folder / "trace.json"
    words = [*run_words(mpi), program, "-in", MELT, "-log", "none"]
    started(words, {"STRETTO_TRACE": str(trace), "STRETTO_TRACE_EVENTS": "1M"})
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    own = [one for one in events if one.get("cat") == "call" and one["tid"] == 0]
    return [
        (one["name"], "blocking", int(one["args"].get("bytes", 0)))
        for one in sorted(own, key=lambda one: one["ts"])
    ]


def read_calls(path: Path) -> list[tuple[str, str, int]]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            function, form, size = line.split()
            found.append((function, form, int(size)))
        except ValueError:
            sys.exit(f"{path}:{number}: this is not FUNCTION FORM BYTES: {line}")
    return found


def tune(mpi: Mpi, calls: list[tuple[str, str, int]], config: Path, budget: str) -> None:
    names = ",".join(sorted({function for function, _, _ in calls}))
    sizes = ",".join(str(size) for size in sorted({max(size, 8) for _, _, size in calls}))
    words = [sys.executable, "-m", "stretto", "tune", "--mpi", mpi.mpiexec, "--ranks", RANKS]
    words += ["--collectives", names, "--sizes", sizes, "--budget", budget]
    started(words, {"XDG_CONFIG_HOME": str(config)})


class Replay:
    """The kinds of runs, each with rules of its own."""

    def __init__(self, prefix: Path, mpi: Mpi, folder: Path, calls: int) -> None:
        self.mpi, self.folder, self.calls = mpi, folder, calls
        self.program, self.list = folder / "replay", folder / "calls"
        compiler = [prefix / "bin" / "mpicc", "-O2", "-o", self.program, HERE / "replay.c"]
        started([*compiler], {})

    def seconds(self, kind: str) -> float:
        if kind == "learning, first run":
            shutil.rmtree(self.folder / "learned", ignore_errors=True)
        config = {"second run": "learned", "learning, first run": "learned"}.get(kind, kind)
        environment = {"XDG_CONFIG_HOME": str(self.folder / config), "STRETTO_LEARN": ""}
        program = [str(self.program), str(self.calls), str(self.list)]
        if kind == "native":
            words: list[object] = [*self.mpi.command(RANKS, program, {})]
            return float(started(words, self.mpi.environment()))
        learns = ["--learn"] if kind == "learning, first run" else []
        if learns:
            del environment["STRETTO_LEARN"]
        return float(started([*run_words(self.mpi, *learns), *program], environment))


def table(times: dict[str, list[float]]) -> str:
    """Each kind beside the native run of its turn."""
    lines = [f"{'':22}{'total':>10}  of native, median (least to most)"]
    for kind, seconds in times.items():
        ratios = [one / native for one, native in zip(seconds, times["native"], strict=True)]
        spread = f"{median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        lines.append(f"{kind:22}{time_in_words(median(seconds), 3):>10}  {spread}")
    if "tuned" in times:
        pairs = zip(times["second run"], times["tuned"], strict=True)
        lines.append(
            f"second run of tuned, median of the turns: {median(a / b for a, b in pairs):.3f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/learning/replay")
    parser.add_argument("prefix", type=Path, help="has bin/mpiexec and bin/mpicc")
    parser.add_argument("--calls", type=Path, help="lines FUNCTION FORM BYTES; 'cg' for a solver's")
    parser.add_argument("--number", type=int, default=100_000, help="of calls in a run")
    parser.add_argument("--repeat", type=int, default=7, help="turns")
    parser.add_argument("--tune", metavar="BUDGET", help="also by the rules of stretto tune")
    asked = parser.parse_args()
    mpi = inspect(asked.prefix / "bin" / "mpiexec", "benchmark")
    if mpi is None:
        sys.exit(f"{asked.prefix}/bin/mpiexec is no MPI that Stretto knows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.calls == Path("cg"):
            calls = GRADIENTS
        else:
            calls = read_calls(asked.calls) if asked.calls else calls_of_lammps(folder)
        replay = Replay(asked.prefix, mpi, folder, asked.number)
        lines = (f"{function} {form} {size}\n" for function, form, size in calls)
        replay.list.write_text("".join(lines), encoding="utf-8")
        functions = Counter(f"{function} {form}" for function, form, _ in calls)
        print(f"{mpi.title}, {RANKS} ranks, {asked.number} calls; of {len(calls)}: " +
              ", ".join(f"{count} {what}" for what, count in functions.most_common()))  # fmt: skip
        kinds = ["native", "learning, first run", "second run", "shipped"]
        if asked.tune:
            tune(mpi, calls, folder / "tuned", asked.tune)
            kinds.append("tuned")
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(asked.repeat):
            for kind in kinds:
                times[kind].append(replay.seconds(kind))
        print(table(times))


if __name__ == "__main__":
    main()
