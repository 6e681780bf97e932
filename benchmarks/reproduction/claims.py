# SPDX-License-Identifier: BSD-3-Clause
"""What a claim is, and what claims are checked with: the simulator on a paper's machine."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import stretto

MACHINES = Path(__file__).parent / "machines"
HOLDS, PARTLY, FAILS, OPEN = "holds", "holds in part", "does not hold", "not compared"
LATENCIES = (0.5, 2.0)  # times the assumed one: does the verdict hang on it?


@dataclass(frozen=True)
class Finding:
    """What was found, and what that says of the claim; `why`, where it does not simply hold."""

    measured: str
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A result of a paper, in the words of the docstring of `check`. That takes a Model, or a Smpi
    where SimGrid is to say it."""

    figure: str
    by: str  # the machine, or "SimGrid"
    check: Callable[[Any], Finding]
    slow: bool = False  # seconds, not milliseconds

    @property
    def name(self) -> str:
        return self.check.__name__

    @property
    def words(self) -> str:
        return " ".join((self.check.__doc__ or "").split())

    @property
    def ours(self) -> bool:
        """The paper does not say so."""
        return self.words.startswith("Not in the paper")

    @property
    def simgrid(self) -> bool:
        return self.by.startswith("SimGrid")


def collector(claims: list[Claim]) -> Callable:
    """A decorator that adds what it decorates to `claims`."""

    def claim(figure: str, by: str, slow: bool = False) -> Callable:
        def add(check: Callable[[Any], Finding]) -> Callable[[Any], Finding]:
            claims.append(Claim(figure, by, check, slow))
            return check

        return add

    return claim


def judged(measured: str, holds: bool, why: str = "") -> Finding:
    return Finding(measured, HOLDS if holds else FAILS, "" if holds else why)


def _later(link: stretto.Link, times: float) -> stretto.Link:
    """The same link with another latency, overheads included."""
    more = (times - 1) * (link.message[0][1] if link.message else 0)
    return stretto.Link(
        alpha=link.alpha * times,
        beta=link.beta,
        f_alpha=link.f_alpha,
        f_beta=link.f_beta,
        message=[(size, seconds + more) for size, seconds in link.message],
        send_overhead=link.send_overhead * times,
        receive_overhead=link.receive_overhead * times,
        contention=link.contention,
    )


@functools.cache
def _simulator(
    name: str,
    ranks: int,
    value: int,
    per_node: int,
    counts: tuple[int, ...],
    order: tuple[int, ...],
) -> stretto.Simulator:
    return stretto.Simulator(
        stretto.algorithm_named(name),
        stretto.Shape(ranks, counts=counts),
        stretto.Params(value=value, list=order),
        stretto.Placement(per_node),
    )


@dataclass(frozen=True)
class Model:
    """The simulator, on machines whose latencies are `latency` times what their files say."""

    latency: float = 1.0
    _machines: dict[str, stretto.Machine] = field(default_factory=dict)

    def machine(self, name: str) -> stretto.Machine:
        if name not in self._machines:
            file = MACHINES / f"{name}.toml"
            own = stretto.machine_named(str(file) if file.exists() else name)
            self._machines[name] = stretto.Machine(
                name=name,
                node=_later(own.node, self.latency),
                network=_later(own.network, self.latency),
                gamma=own.gamma,
                copy=own.copy,
                cores=own.cores,
                wait=own.wait,
                in_turn=own.in_turn,
            )
        return self._machines[name]

    def seconds(
        self,
        name: str,
        ranks: int,
        size: int,
        machine: str,
        *,
        value: int = 0,
        per_node: int = 1,
        counts: Sequence[int] = (),
        order: Sequence[int] = (),
    ) -> float:
        """Of a call with a vector of `size` bytes, all parts together."""
        simulator = _simulator(name, ranks, value, per_node, tuple(counts), tuple(order))
        return simulator.run(stretto.Load(size), self.machine(machine)).seconds

    def sending(
        self, name: str, counts: Sequence[int], machine: str, per_node: int, value: int = 0
    ) -> float:
        """The mean share of the whole time that a rank sends."""
        simulator = _simulator(name, len(counts), value, per_node, tuple(counts), ())
        load, own = stretto.Load(sum(counts)), self.machine(machine)
        events = simulator.trace(load, own)
        sent = sum(event.seconds for event in events if event.activity == "send")
        return sent / len(counts) / simulator.run(load, own).seconds


def crossing(first: Callable[[int], float], second: Callable[[int], float], most: int) -> int:
    """The smallest size from which `second` is no slower than `first`, up to `most`, where it is
    not: -1 if that is everywhere. Both are taken to cross once."""
    low, high = 0, most
    if second(high) > first(high):
        return -1
    while high - low > max(1, low // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if second(middle) <= first(middle) else (middle, high)
    return high


def times(ratio: float) -> str:
    """ "3.1x"."""
    return (
        f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.1f}x" if ratio >= 9.95 else f"{ratio:.2f}x"
    )


def span(ratios: Sequence[float]) -> str:
    """ "1.2x to 3.1x"."""
    low, high = times(min(ratios)), times(max(ratios))
    return low if low == high else f"{low} to {high}"


def in_bytes(size: float) -> str:
    """ "13.4K"."""
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size / unit:.3g}{letter}"
    return f"{size:.0f}"


def off(measured: float, stated: float) -> str:
    """How far two numbers are apart: "within 4%" or "3.1 times as much"."""
    ratio = measured / stated
    if ratio == 1:
        return "exactly"
    if 0.5 < ratio < 1.5:
        return f"within {abs(ratio - 1):.0%}"
    return f"{ratio:.2g} times the paper's"


def cutoff(measured: float, stated: float, words: str, why: str) -> Finding:
    """Of a size from which something holds: as stated, or within four times of it."""
    ratio = measured / stated
    verdict = HOLDS if 1 / 1.5 <= ratio <= 1.5 else PARTLY if 0.25 <= ratio <= 4 else FAILS
    return Finding(words, verdict, off(measured, stated) + ("" if verdict == HOLDS else f"; {why}"))


def powers(first: int, last: int) -> list[int]:
    """Powers of two, both included."""
    return [1 << e for e in range(first.bit_length() - 1, last.bit_length())]
