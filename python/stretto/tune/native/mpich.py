# SPDX-License-Identifier: BSD-3-Clause
"""MPICH: JSON decision trees, one for algorithms and one for what chooses before them.

Sources: its reader csel.c and the parameters in csel_container.c; what was tried with 5.0.2 is in
docs/native-tuning.md. A file must be complete: it is the tree built into the library, taken out of
it, with what was measured put in.
"""

import json
import re
from functools import cached_property
from pathlib import Path

from ...errors import Error
from ...files import write_text
from .target import Rule, Table, Target

# Sizes that the reader defines and that all ranks know: of the vector or a part; of all parts.
AVERAGE = ("allreduce", "alltoall", "bcast", "reduce")
TOTAL = ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block")
PARTS = ("allgather", "allgatherv")  # whose size in the driver is that of one
LARGEST = 2**31 - 1  # read by atoi

NEAR = "topo_overhead=0 topo_diff_groups=0 topo_diff_switches=0 topo_same_switches=0"
EXCHANGE = "k=2 single_phase_recv=0"
# The library's name, with what tells several of ours apart, and its parameters: all must be named.
ALGORITHMS: dict[str, dict[str, str]] = {
    "allgather": {
        **dict.fromkeys(("recursive_doubling", "brucks", "ring"), ""),
        "k_brucks,k=4": "k=4",
        "recexch_doubling": EXCHANGE,
        "recexch_halving": EXCHANGE,
    },
    "allgatherv": dict.fromkeys(("recursive_doubling", "brucks", "ring"), ""),
    "allreduce": {
        **dict.fromkeys(("recursive_doubling", "reduce_scatter_allgather", "ring"), ""),
        "recursive_multiplying,k=4": "k=4",
        "recexch": EXCHANGE,
        "tree,chunk=64K": f"tree_type=knomial_1 k=2 chunk_size=65536 buffer_per_child=0 {NEAR}",
    },
    "alltoall": {"brucks": "", "k_brucks,k=4": "k=4", "pairwise": "", "scattered": ""},
    "barrier": {
        "k_dissemination,k=2": "k=2",
        "k_dissemination,k=4": "k=4",
        "recexch,k=2": EXCHANGE,
    },
    "bcast": {
        "binomial": "",
        "scatter_recursive_doubling_allgather": "",
        "scatter_ring_allgather": "",
        "tree,k=4": f"tree_type=kary k=4 is_non_blocking=0 {NEAR}",
        "pipelined_tree,chunk=8K": "tree_type=kary k=1 is_non_blocking=1 chunk_size=8192 "
        "recv_pre_posted=0",
    },
    "reduce": {"binomial": "", "reduce_scatter_gather": ""},
    "reduce_scatter": dict.fromkeys(("pairwise", "recursive_doubling", "recursive_halving"), ""),
    "reduce_scatter_block": dict.fromkeys(
        ("pairwise", "recursive_doubling", "recursive_halving"), ""
    ),
    "scan": {"recursive_doubling": ""},
}
POWERS = (
    ("allgather", "recursive_doubling"),
    ("allgatherv", "recursive_doubling"),
    ("bcast", "scatter_recursive_doubling_allgather"),
)  # which serve powers of two only
# What a call must be for an algorithm to be put in; all others go where they went.
GUARDS = {
    "allreduce": ("is_commutative", "is_op_built_in"),
    "reduce": ("is_commutative", "is_op_built_in"),
    "reduce_scatter": ("is_commutative",),
    "reduce_scatter_block": ("is_commutative",),
}
AT_LEAST_RANKS = ("reduce_scatter_allgather", "reduce_scatter_gather")  # elements
# The composition that goes to the algorithms of the first file, where another may come before.
STRAIGHT = {
    "allgather": "beta", "allreduce": "beta", "alltoall": "beta", "barrier": "beta",
    "bcast": "gamma", "reduce": "gamma", "scan": "beta",
}  # fmt: skip
OF_CALLS = ("avg_msg_size", "total_msg_size", "count", "is_commutative", "is_op_built_in",
            "is_sendbuf_inplace", "is_block_regular", "is_multi_threaded", "algorithm=",
            "composition=")  # fmt: skip
FILES = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "mpich-algorithms.json",
         "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": "mpich-compositions.json"}  # fmt: skip


def _chosen(function: str, algorithm: str, leaf: dict, otherwise: dict) -> dict:
    """The leaf for the calls that the algorithm serves, for others what was there."""
    if algorithm in AT_LEAST_RANKS:
        leaf = {"count<pow2": otherwise, "count=any": leaf}
    for question in GUARDS.get(function, ()):
        leaf = {f"{question}=yes": leaf, f"{question}=no": otherwise}
    if function == "alltoall":
        leaf = {"is_sendbuf_inplace=yes": otherwise, "is_sendbuf_inplace=no": leaf}
    return leaf


class Mpich(Target):
    title = "MPICH"

    @cached_property
    def _bytes(self) -> bytes:
        return self.mpi.library.read_bytes() if self.mpi.library else b""

    @cached_property
    def _leaves(self) -> set[bytes]:
        """The algorithms that the library has, as its trees name them."""
        return set(re.findall(rb"(algorithm=MPIR_\w+)\0", self._bytes))

    @cached_property
    def _trees(self) -> list[bytes]:
        return re.findall(rb'\{"collective=[^\0]*', self._bytes)

    def _built_in(self, leaf: str) -> dict:
        """The tree in the library whose leaves begin so."""
        for text in self._trees:
            if f'"{leaf}'.encode() in text:
                return json.loads(text)
        raise Error(
            f"{self.mpi.library} has no decision tree of MPICH 4 or 5 in it",
            "other versions need an exporter of their own",
        )

    def algorithms(self, function: str, ranks: int) -> list[str]:
        return [
            name
            for name in ALGORITHMS.get(function, {})
            if self._leaf(function, name).encode() in self._leaves
            and not ((function, name) in POWERS and ranks & (ranks - 1))
        ]

    @staticmethod
    def _leaf(function: str, name: str) -> str:
        return f"algorithm=MPIR_{function.capitalize()}_intra_{name.partition(',')[0]}"

    def sized(self, function: str) -> bool:
        return function in AVERAGE + TOTAL

    def write(self, table: Table, folder: Path) -> list[Path]:
        def algorithm(function: str, name: str) -> dict:
            parameters = ALGORITHMS[function][name].split()
            return {self._leaf(function, name): {one: {} for one in parameters}}

        def straight(function: str, _: str) -> dict:
            return {f"composition=MPIDI_{function.capitalize()}_intra_composition_"
                    f"{STRAIGHT.get(function, 'alpha')}": {}}  # fmt: skip

        paths = []
        for path, leaves, make in zip(
            FILES.values(), ("algorithm=MPIR_", "composition="), (algorithm, straight), strict=True
        ):
            tree = self._built_in(leaves)
            for function in {function for function, _ in table}:
                self._put_in(tree, function, table, make)
            paths.append(folder / path)
            write_text(paths[-1], json.dumps(tree, indent=1))
        return paths

    def _put_in(self, tree: dict, function: str, table: Table, make) -> None:
        """Into the tree's part for this function, and there for intracommunicators."""
        key = f"collective={function}"
        part = tree[key]
        own = part.get("comm_type=intra", part)
        branches: dict = {}
        for (other, ranks), rules in sorted(table.items()):
            if other == function:
                branches.setdefault(f"comm_size<={ranks - 1}", own)
                branches[f"comm_size<={ranks}"] = self._overlay(own, function, ranks, rules, make)
        branches["comm_size=any"] = own
        tree[key] = {**part, "comm_type=intra": branches} if own is not part else branches

    def _overlay(self, node: dict, function: str, ranks: int, rules: list[Rule], make) -> dict:
        # What asks about the communicator must come before what asks about a call.
        if not next(iter(node)).startswith(OF_CALLS):
            return {
                key: self._overlay(below, function, ranks, rules, make)
                for key, below in node.items()
            }
        choices = [
            _chosen(function, rule.algorithm, make(function, rule.algorithm), node)
            if rule.algorithm
            else node
            for rule in rules
        ]
        word = "avg_msg_size" if function in AVERAGE else "total_msg_size"
        factor = ranks if function in PARTS else 1
        chain = {}
        for rule, choice in zip(rules[1:], choices, strict=False):
            if rule.least * factor <= LARGEST:
                chain[f"{word}<{rule.least * factor}"] = choice
        return {**chain, f"{word}=any": choices[len(chain)]} if chain else choices[0]

    def variables(self, table: Table, folder: Path, ranks: int) -> dict[str, str]:
        return {name: str((folder / path).absolute()) for name, path in FILES.items()}
