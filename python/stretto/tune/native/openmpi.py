# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI: rules files of its component `tuned`.

Sources: its reader coll_tuned_dynamic_file.c and, for what the sizes mean,
coll_tuned_decision_dynamic.c; what was tried with 5.0.11 is in docs/native-tuning.md.
"""

import json
import re
from functools import cached_property
from pathlib import Path

from ... import _core
from ...errors import Error
from ...files import write_text
from ...launch.ask import ask
from ...launch.mpi import Mpi
from ...units import size_in_words
from .target import Rule, Table, Target

IDS = {
    "allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "alltoallv": 4, "barrier": 6,
    "bcast": 7, "exscan": 8, "gather": 9, "reduce": 11, "reduce_scatter": 12,
    "reduce_scatter_block": 13, "scan": 14, "scatter": 15,
}  # fmt: skip
# What a size in a rule is, in sizes of the driver: the whole of all ranks' parts.
WHOLE = ("allgather", "alltoall")
# Whose rule is looked up by a size that not all ranks know, or by none.
UNSIZED = ("alltoallv", "barrier", "exscan", "gather", "scan", "scatter")
# Wrong results with operators that do not commute, and no check for that.
UNORDERED = {
    "allreduce": ("ring", "segmented_ring"),
    "reduce": ("chain", "pipeline", "binary", "binomial", "knomial"),
    "reduce_scatter": ("recursive_halving", "ring"),
    "reduce_scatter_block": ("recursive_halving",),
}
# Fan-out and bytes of segments to try, beside none, where an algorithm can use them.
PARAMETERS = {
    ("allreduce", "segmented_ring"): [(0, 1 << 16), (0, 1 << 20)],
    ("bcast", "chain"): [(4, 1 << 16)],
    ("bcast", "pipeline"): [(0, 1 << 13), (0, 1 << 16)],
    ("bcast", "split_binary_tree"): [(0, 1 << 16)],
    ("bcast", "binary_tree"): [(0, 1 << 16)],
    ("reduce", "chain"): [(4, 1 << 16)],
    ("reduce", "pipeline"): [(0, 1 << 13), (0, 1 << 16)],
    ("reduce", "binary"): [(0, 1 << 15)],
    ("reduce", "binomial"): [(0, 0), (0, 1 << 15)],
    ("reduce", "in-order_binary"): [(0, 0), (0, 1 << 15)],
}
NAME = re.compile(r"([\w-]+)(?:,fanout=(\d+))?(?:,segment=(\w+))?")
VARIABLES = "OMPI_MCA_"  # what the names of parameters begin with in the environment


def _written(name: str, fanout: int, segment: int) -> str:
    size = f",segment={size_in_words(segment)}" if segment else ""
    return name + (f",fanout={fanout}" if fanout else "") + size


def _read(text: str) -> tuple[str, int, int]:
    match = NAME.fullmatch(text)
    assert match, text
    return match[1], int(match[2] or 0), _core.parse_size(match[3] or "0") or 0


class OpenMpi(Target):
    title = "Open MPI"

    def __init__(self, mpi: Mpi, commutative: bool = False) -> None:
        super().__init__(mpi, commutative)
        self.json = int(mpi.version.partition(".")[0]) >= 6

    @cached_property
    def numbers(self) -> dict[str, dict[str, int]]:
        """By function and name, as this very installation counts its algorithms."""
        program = self.mpi.mpiexec.parent / "ompi_info"
        done = ask([program, "--param", "coll", "tuned", "--level", "9", "--parsable"], 60)
        pattern = r"coll_tuned_(\w+)_algorithm:enumerator:value:([1-9]\d*):(\S+)$"
        found: dict[str, dict[str, int]] = {}
        for function, number, name in re.findall(
            pattern, done.stdout if done else "", re.MULTILINE
        ):
            found.setdefault(function, {})[name] = int(number)
        if not found:
            raise Error(f"{program} names no algorithms", "does this Open MPI have coll/tuned?")
        return found

    def algorithms(self, function: str, ranks: int) -> list[str]:
        if function not in IDS:
            return []
        refused = [] if self.commutative else list(UNORDERED.get(function, ()))
        if ranks != 2:
            refused.append("two_proc")
        if ranks % 2:
            refused.append("neighbor")
        return [
            _written(name, *parameters)
            for name in self.numbers.get(function, {})
            if name not in refused
            for parameters in PARAMETERS.get((function, name), [(0, 0)])
        ]

    def sized(self, function: str) -> bool:
        return function not in UNSIZED

    def _path(self, folder: Path) -> Path:
        return folder / ("tuned.json" if self.json else "tuned.rules")

    def write(self, table: Table, folder: Path) -> list[Path]:
        path = self._path(folder)
        write_text(path, self._json(table) if self.json else self._classic(table))
        return [path]

    def _by_function(self, table: Table) -> dict[str, dict[int, list[Rule]]]:
        """Sizes as the library counts them."""
        found: dict[str, dict[int, list[Rule]]] = {}
        for (function, ranks), rules in sorted(table.items()):
            factor = ranks if function in WHOLE else 1
            own = [Rule(rule.least * factor, rule.algorithm) for rule in rules]
            found.setdefault(function, {})[ranks] = own
        return found

    def _number(self, function: str, rule: Rule) -> tuple[int, int, int]:
        """Of the algorithm, 0 for the library's own choice; fan-out and segments."""
        if rule.algorithm is None:
            return 0, 0, 0
        name, fanout, segment = _read(rule.algorithm)
        return self.numbers[function][name], fanout, segment

    def _classic(self, table: Table) -> str:
        """An entry of a number of ranks holds up to the next, and the first for fewer too.

        Hence entries that leave all to the library around those that were measured. There is no
        version line: releases before 5.0.7 would not read it, and later ones do without.
        """
        functions = self._by_function(table)
        lines = [f"{len(functions)}  # collectives"]
        for function, by_ranks in functions.items():
            around = (1, *(ranks + 1 for ranks in by_ranks))
            entries = {ranks: [Rule(0, None)] for ranks in around} | by_ranks
            lines.append(f"{IDS[function]}  # {function}")
            lines.append(f"{len(entries)}  # numbers of ranks")
            for ranks, rules in sorted(entries.items()):
                lines += [f"{ranks}  # ranks", f"{len(rules)}  # sizes"]
                for rule in rules:
                    words = " ".join(map(str, self._number(function, rule)))
                    lines.append(f"{rule.least} {words}  # {rule.algorithm or 'as built in'}")
        return "\n".join(lines) + "\n"

    def _json(self, table: Table) -> str:
        """Since 6.0: bounds are inclusive, and what no rule matches is left to the library."""
        collectives = {}
        for function, by_ranks in self._by_function(table).items():
            entries = []
            for ranks, rules in by_ranks.items():
                ends = [*(rule.least - 1 for rule in rules[1:]), "inf"]
                own = []
                for rule, end in zip(rules, ends, strict=True):
                    if rule.algorithm is None:
                        continue
                    name, fanout, segment = _read(rule.algorithm)
                    said = {"msg_size_min": rule.least, "msg_size_max": end, "alg": name}
                    own.append({**said, "faninout": fanout, "seg_size": segment})
                entries.append({"comm_size_min": ranks, "comm_size_max": ranks, "rules": own})
            collectives[function] = entries
        return json.dumps(
            {"rule_file_version": 3, "module": "tuned", "collectives": collectives}, indent=1
        )

    def variables(self, table: Table, folder: Path, ranks: int) -> dict[str, str]:
        return {
            f"{VARIABLES}coll_tuned_use_dynamic_rules": "1",
            f"{VARIABLES}coll_tuned_dynamic_rules_filename": str(self._path(folder).absolute()),
        }

    def option(self, name: str, value: str) -> str:
        return f"--mca {name.removeprefix(VARIABLES)} {value}"
