# SPDX-License-Identifier: BSD-3-Clause
"""How much of a nonblocking call a computation hides, as the OSU benchmarks and IMB-NBC ask."""

from dataclasses import asdict, dataclass
from statistics import median

LIBRARIES = ("native", "stretto")
ENOUGH = 9  # rounds that nothing interrupted; with fewer all rounds count

Parts = list[list[tuple[float, int]]]  # call, computation, both: µs of rounds, whether disturbed


@dataclass(frozen=True)
class Overlap:
    """Medians of the slowest rank, µs: I… + MPI_Wait, a computation of that length, and both."""

    call_us: float
    computation_us: float
    both_us: float
    clear: bool  # no other program got a rank's core

    @property
    def share(self) -> float:
        """Of the call, that the computation hides: 0 to 1."""
        share = 1 - (self.both_us - self.computation_us) / self.call_us
        return min(max(share, 0.0), 1.0)

    def as_row(self) -> dict:
        return {**asdict(self), "overlap": self.share}


def overlap_of(parts: Parts) -> Overlap:
    """From the rounds of one library, as the driver prints them."""
    rounds = list(zip(*parts, strict=True))
    calm = [one for one in rounds if not any(disturbed for _, disturbed in one)]
    chosen = calm if len(calm) >= ENOUGH else rounds
    call, computation, both = (median(us for us, _ in part) for part in zip(*chosen, strict=True))
    return Overlap(call, computation, both, clear=chosen is calm)
