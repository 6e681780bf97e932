# SPDX-License-Identifier: BSD-3-Clause
"""What is to be written."""

from dataclasses import dataclass

from .. import _core
from ..algorithms import title_of


@dataclass(frozen=True)
class Wanted:
    """A function, its algorithm and for whom."""

    function: str
    algorithm: _core.Algorithm
    params: _core.Params
    ranks: int
    roots: list[int]
    command: str  # behind `stretto generate`
    topology: _core.Topology | None = None

    def shape(self, root: int) -> _core.Shape:
        """Where the schedule goes by the sizes of the parts: that of equal ones."""
        counts = [1] * self.ranks if self.algorithm.needs.counts else []
        return _core.Shape(self.ranks, root, counts)

    def schedule(self, root: int, rank: int) -> _core.Schedule:
        return _core.build_schedule(self.algorithm, self.shape(root), rank, self.params)

    @property
    def prefix(self) -> str:
        return "tree" if self.topology is not None else "stretto"

    @property
    def name(self) -> str:
        return f"{self.prefix}_{self.function}"

    @property
    def title(self) -> str:
        """The algorithm and its parameters, as options take them."""
        return title_of(self.algorithm, self.shape(self.roots[0]), self.params)

    @property
    def order(self) -> list[int]:
        """As the ranks follow each other."""
        given = self.algorithm.list == "order" and self.params.list
        return list(self.params.list) if given else list(range(self.ranks))

    @property
    def reduces(self) -> bool:
        return _core.facts(self.algorithm.collective).reduces
