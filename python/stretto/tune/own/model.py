# SPDX-License-Identifier: BSD-3-Clause
"""The machine's parameters, from measured calls of algorithms whose schedules are simple.

All parameters are fitted at once: those with which the simulator's times of these calls are, in
ratio, nearest to what was measured. So the error that is reported is that of predictions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from typing import Any

from ... import _core
from ...errors import Error
from ...measure.driver import Ratios
from .journal import Measured
from .points import Point, parsed

SIZES = (8, 512, 4096, 32 << 10, 256 << 10, 2 << 20)
# What is measured: messages of both ranks at once, of one, in rounds one after the other, and with
# reductions.
CALLS = {
    "barrier": ("linear",),
    "allgather": ("linear",),
    "alltoall": ("linear",),
    "bcast": ("linear",),
    "reduce": ("linear",),
    "allreduce": ("linear", "reduce_bcast", "slices"),
    "scan": ("linear",),
}
CORNERS = (64, 1024, 8 << 10, 64 << 10, 512 << 10)  # bytes where a message's seconds bend
STEP = 0.02  # share of a logarithm: less would not leave a corner of the longest chain
USUAL = 0.03  # of the logarithm of a ratio: what is off by more counts for less
INSIDE = 1e-3  # of a bound, at which a fit may not begin
MOST = 60  # steps
WORTH = 1.15  # reductions that differ by less are not told apart
NO_END = 1e30  # of a number without bounds


@dataclass(frozen=True)
class Parameters:
    """Of one level, in seconds and seconds per byte; the slopes between the corners."""

    alpha: float = 5e-7
    slopes: tuple[float, ...] = (2e-10,) * (len(CORNERS) + 1)
    f_alpha: float = 1.0
    f_beta: float = 1.0
    overhead: float = 0.0  # of the sender for each message
    gamma: float = 1e-10
    copy: float = 1e-10
    contention: tuple[tuple[int, float], ...] = ()  # by ranks of a node
    wait: float = 0.0

    def message(self) -> list[tuple[float, float]]:
        points = [(0.0, self.alpha)]
        corners = [*CORNERS, 4 * CORNERS[-1]]
        for corner, slope in zip(corners, self.slopes, strict=True):
            at, seconds = points[-1]
            points.append((float(corner), seconds + (corner - at) * slope))
        return points

    def crowd(self) -> list[tuple[float, float]]:
        if not self.contention:
            return []
        return [(1.0, 1.0), (2.0, 1.0), *((float(n), f) for n, f in self.contention)]

    def machine(self, cores: int, network: bool) -> _core.Machine:
        link = _core.Link(
            message=self.message(), f_alpha=self.f_alpha, f_beta=self.f_beta,
            send_overhead=self.overhead, contention=[] if network else self.crowd(),
        )  # fmt: skip
        return _core.Machine(
            node=link, network=link, gamma=self.gamma, copy=self.copy, cores=cores, wait=self.wait
        )


def calibration(ranks: int) -> list[tuple[Point, list[str]]]:
    """The plan whose times the model is fitted to."""
    return [
        (Point(name, ranks, size), list(words))
        for name, words in CALLS.items()
        for size in (SIZES if name != "barrier" else (0,))
    ]


@dataclass(frozen=True)
class Sample:
    """A measured call, ready to be predicted."""

    simulator: _core.Simulator
    load: _core.Load
    seconds: float

    def predicted(self, machine: _core.Machine) -> float:
        return max(self.simulator.run(self.load, machine).seconds, 1e-12)

    def ratio(self, machine: _core.Machine) -> float:
        """Predicted over measured."""
        return self.predicted(machine) / self.seconds


def samples_of(measured: list[Measured], placement: _core.Placement) -> list[Sample]:
    found = []
    for one in measured:
        call = one.point.call(placement)
        for entry in one.entries:
            choice = parsed(one.point, entry.words)
            if choice.algorithm is None or entry.algorithm != choice.id or not entry.counts:
                continue
            simulator = call.simulator(choice.algorithm, choice.params)
            load = _core.Load(
                call.bytes, choice.params.segment, choice.params.depth, call.operation
            )
            found.append(Sample(simulator, load, entry.us * 1e-6))
    return found


def _free(parameters: Parameters, name: str) -> list[float]:
    """Its numbers; of a contention only the last: those of fewer ranks were found before."""
    value = getattr(parameters, name)
    return list(value) if name == "slopes" else [value[-1][1] if name == "contention" else value]


def _with(parameters: Parameters, name: str, numbers: list[float]) -> Parameters:
    value: Any = tuple(numbers) if name == "slopes" else numbers[0]
    if name == "contention":
        *before, (ranks, _) = parameters.contention
        value = (*before, (ranks, value))
    return replace(parameters, **{name: value})


def _bounds(parameters: Parameters, name: str) -> tuple[float, float]:
    """Shares are at most 1, and more ranks are no help."""
    if name == "contention":
        before = [1.0, *(factor for _, factor in parameters.contention[:-1])]
        return before[-1], NO_END
    return (0.05, 1.0) if name in ("f_alpha", "f_beta") else (1 / NO_END, NO_END)


def fitted(
    start: Parameters,
    names: list[str],
    samples: list[Sample],
    machine_of: Callable[[Parameters], _core.Machine],
) -> Parameters:
    """With those numbers of `names` whose predictions are nearest to the samples, in ratio."""
    import numpy
    from scipy.optimize import least_squares

    if not names:
        return start
    free = {name: _free(start, name) for name in names}
    bounds = numpy.array([_bounds(start, name) for name, own in free.items() for _ in own])
    low, high = numpy.log(bounds.T)
    first = numpy.log(numpy.concatenate([*free.values()]))

    def of(logs: numpy.ndarray) -> Parameters:
        found, left = start, iter(numpy.clip(numpy.exp(logs), *bounds.T).tolist())
        for name, own in free.items():
            found = _with(found, name, list(islice(left, len(own))))
        return found

    def off(logs: numpy.ndarray) -> list[float]:
        machine = machine_of(of(logs))
        return [math.log(one.ratio(machine)) for one in samples]

    found = least_squares(
        off, numpy.clip(first, low + INSIDE, high - INSIDE), bounds=(low, high),
        loss="soft_l1", f_scale=USUAL, diff_step=STEP, max_nfev=MOST,
    )  # fmt: skip
    return of(found.x)


def fit_pair(
    samples: list[Sample], cores: int, network: bool, start: Parameters = Parameters()
) -> Parameters:
    """From two ranks: all but what ranks do to each other, and what `start` says of overheads."""
    if not samples:
        raise Error("no call of two ranks was measured", "give it a longer --budget")
    names = ["alpha", "slopes", "f_alpha", "f_beta", "gamma", "copy"]
    return fitted(start, names, samples, lambda own: own.machine(cores, network))


def fit_crowd(
    parameters: Parameters, ranks: int, samples: list[Sample], cores: int, network: bool
) -> Parameters:
    """From more ranks: how they slow each other down, and what waiting for a core costs."""
    last = parameters.contention[-1][1] if parameters.contention else 1.0
    names = [] if network else ["contention"]
    start = replace(parameters, contention=(*parameters.contention, (ranks, 1.3 * last)))
    if ranks > cores:
        names.append("wait")
        start = replace(start, wait=start.wait or 1e-5)
    return fitted(start, names, samples, lambda own: own.machine(cores, network))


@dataclass(frozen=True)
class Quality:
    """Of predictions: each the larger of predicted over measured and its inverse."""

    median: float
    usual: float  # nine of ten are better
    worst: float
    calls: int


def quality(samples: list[Sample], machine: _core.Machine) -> Quality:
    factors = sorted(math.exp(abs(math.log(one.ratio(machine)))) for one in samples)
    usual = factors[math.ceil(0.9 * len(factors)) - 1]
    return Quality(median(factors), usual, factors[-1], len(factors))


def reduction_lines(ratios: Ratios, gamma: float) -> list[str]:
    """For a machine file whose `gamma` is that of the sum of doubles: a line for each operator."""
    of_operator: dict[str, list[str]] = {}
    for (name, kind), ratio in ratios.items():
        if max(ratio, 1 / ratio) > WORTH:
            of_operator.setdefault(name, []).append(f"{kind} = {gamma * ratio:.4g}")
    return [f"{name} = {{ {', '.join(kinds)} }}" for name, kinds in of_operator.items()]


NUMBER = "{:.4g}".format


def messages_of(parameters: Parameters, network: bool) -> list[str]:
    """A section of a machine file: messages within a node, or between nodes."""
    points = ", ".join(f"[{at:.0f}, {NUMBER(value)}]" for at, value in parameters.message())
    lines = [
        "", "[network]" if network else "[node]", f"message = [{points}]",
        f"f_alpha = {NUMBER(parameters.f_alpha)}", f"f_beta = {NUMBER(parameters.f_beta)}",
    ]  # fmt: skip
    if parameters.contention and not network:
        crowd = ", ".join(f"[{at:.0f}, {NUMBER(factor)}]" for at, factor in parameters.crowd())
        lines.append(f"contention = [{crowd}]")
    return lines


def to_toml(
    of_messages: dict[bool, Parameters], title: str, cores: int, found: dict[int, Quality],
    reductions: Ratios,
) -> str:  # fmt: skip
    """A machine file (docs/simulation.md). `of_messages`: between nodes (True), within one, or of
    both; what ranks do by themselves is as within a node, if that is there."""
    of_ranks = of_messages.get(False) or of_messages[True]
    lines = ["stretto-machine = 1", "", "# By `stretto tune`. Predicted against measured:"]
    lines += [
        f"# {ranks} ranks, {one.calls} calls: median {one.median:.2f}x, nine of ten within "
        f"{one.usual:.2f}x, worst {one.worst:.2f}x"
        for ranks, one in sorted(found.items())
    ]
    quoted = title.replace("\\", "/").replace('"', "'")
    lines += ["", "[machine]", f'name = "{quoted}"', f'fingerprint = "{quoted}"']
    for network, parameters in sorted(of_messages.items()):
        lines += messages_of(parameters, network)
    lines += [
        "", "[processor]", f"cores = {cores}", f"copy = {NUMBER(of_ranks.copy)}",
        f"wait = {NUMBER(of_ranks.wait)}", "", "[reduction]",
        f"gamma = {NUMBER(of_ranks.gamma)}", *reduction_lines(reductions, of_ranks.gamma),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
