# SPDX-License-Identifier: BSD-3-Clause
"""How long reductions take by operator and type, beside the sum of doubles."""

from ...launch.mpi import Mpi
from ...measure.driver import Ratios, Results, drive
from .paired_benchmark import PATIENCE

WORTH = 1.15  # what takes less than so many times as long, or as short, is not told apart


def measured_reductions(mpi: Mpi) -> Ratios:
    """On the core of rank 0; raises Error if the driver fails."""
    results = Results()
    drive(mpi, 1, ["--reductions"], 0.0, PATIENCE, results)
    return results.reductions


def reduction_lines(ratios: Ratios, gamma: float) -> list[str]:
    """For a machine file whose `gamma` is that of the sum of doubles: a line for each operator."""
    of_operator: dict[str, list[str]] = {}
    for (name, kind), ratio in ratios.items():
        if max(ratio, 1 / ratio) > WORTH:
            of_operator.setdefault(name, []).append(f"{kind} = {gamma * ratio:.4g}")
    return [f"{name} = {{ {', '.join(kinds)} }}" for name, kinds in of_operator.items()]
