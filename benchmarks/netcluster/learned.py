# SPDX-License-Identifier: BSD-3-Clause
"""Long calls on two switches of four hosts, ranks by turns: discovered, predicted, learned."""

import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from discovery import discover
from openmpi import on_cluster
from paired import NAME, Lab, as_program, lab, options
from stretto.algorithms import function_named
from stretto.errors import Error
from stretto.launch import choose_mpi, preload
from stretto.tune.own.points import Point, in_parts
from stretto.units import size_in_words
from tree import Tree

FUNCTIONS = ("allreduce", "bcast", "allgather", "alltoall")
REPLAY = Path(__file__).resolve().parents[1] / "learning" / "replay.c"
PATIENCE = 1800  # seconds for a run
MACHINE = "gigabit-ethernet"  # what the model knows but for the tree
CALLS = 4  # of a launch that is timed

Variables = dict[str, str] | None  # None: without Stretto


def started(words: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if done.returncode:
        raise Error(f"{' '.join(words[:6])} … failed: {done.stderr.strip()[-800:]}", "")
    return done.stdout


@dataclass
class Program:
    """Calls of the functions in turns, or of one of them."""

    here: Lab
    folder: Path
    bytes: int

    def __post_init__(self) -> None:
        compiler = self.here.mpi.mpiexec.with_name("mpicc.openmpi")
        if not compiler.exists():
            compiler = compiler.with_name("mpicc")
        if not compiler.exists():
            raise Error(f"there is no {compiler}", "name an Open MPI that has one: --mpi PATH")
        started([str(compiler), "-O2", "-o", str(self.folder / "replay"), str(REPLAY)])

    def seconds(self, functions: tuple[str, ...], calls: int, rules: Variables) -> float:
        """Of all calls, on the slowest rank."""
        lines = "".join(f"{function} blocking {self.bytes}\n" for function in functions)
        (self.folder / "calls").write_text(lines, encoding="utf-8")
        variables = {}
        if rules is not None:
            variables = {"LD_PRELOAD": preload(self.here.mpi.flavour), **rules}
        mpi = on_cluster(self.here.mpi, self.here.cluster, self.here.placement)
        words = [str(self.folder / "replay"), str(calls), str(self.folder / "calls")]
        return float(started(mpi.command(self.here.ranks, words, variables), mpi.environment()))


def learned(program: Program, calls: int) -> dict[str, Variables]:
    """Discovers the tree, predicts rules for it and learns in one run; what later runs go by."""
    tree, predicted = program.folder / "found.toml", program.folder / "predicted.rules"
    kept = program.folder / "learned.rules"
    begun = time.monotonic()
    discover(NAME, program.here.mpi, tree)
    words = ["tune", "--predict", MACHINE, "--topology", str(tree), "-o", str(predicted)]
    words += ["--collectives", ",".join(FUNCTIONS)]
    started([sys.executable, "-m", "stretto", *words])
    print(f"discovered and predicted in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    rules = {"STRETTO_RULES": str(predicted)}
    learns = {**rules, "STRETTO_LEARN": str(kept)}
    seconds = program.seconds(FUNCTIONS, len(FUNCTIONS) * calls, learns)
    print(f"learned in {seconds:.0f} s", *choices(kept), sep="\n", file=sys.stderr)
    return {"predicted": rules, "learned": learns}


def choices(rules: Path) -> list[str]:
    """None where all that the predicted rules chose has stayed."""
    lines = rules.read_text(encoding="utf-8").splitlines() if rules.exists() else []
    return [line for line in lines if "->" in line]


def table(here: Lab, size: int, times: dict[tuple[str, str], list[float]]) -> str:
    kinds = list(dict.fromkeys(kind for _, kind in times))
    lines = [f"| call | bound | {' | '.join(kinds)} |", "|---" * (len(kinds) + 2) + "|"]
    for function in dict.fromkeys(function for function, _ in times):
        part = size // here.ranks if in_parts(function_named(function)) else size
        cells = [f"{1e3 * here.bound(Point(function, here.ranks, part)):.0f}"]
        for kind in kinds:
            own = [1e3 * one for one in times[function, kind]]
            cells.append(f"{median(own):.0f} ({min(own):.0f} to {max(own):.0f})")
        lines.append(f"| {function} {size_in_words(size)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = options("learned", __doc__, "of the vector, or of all ranks' parts")
    parser.add_argument("--calls", type=int, default=80, help="of each function, while learning")
    parser.add_argument("--launches", type=int, default=3, help="of each kind afterwards")
    wish = parser.parse_args()
    tree = Tree((4, 4), None, wish.mbit / 8 * 1e6, 0.0)
    with lab(choose_mpi(wish.mpi), tree, "alternating") as here, TemporaryDirectory() as folder:
        program = Program(here, Path(folder), wish.bytes)
        kinds: dict[str, Variables] = {
            "native": None,
            "shipped": {"STRETTO_RULES": "shipped"},
            **learned(program, wish.calls),
        }
        times: dict[tuple[str, str], list[float]] = {}
        for _, function, (kind, own) in product(range(wish.launches), FUNCTIONS, kinds.items()):
            taken = program.seconds((function,), CALLS, own) / CALLS
            times.setdefault((function, kind), []).append(taken)
        print(table(here, wish.bytes, times))


if __name__ == "__main__":
    as_program(main)
