# SPDX-License-Identifier: BSD-3-Clause
"""The machine file of a simulated network, from calls of at most 16 ranks on it."""

from dataclasses import dataclass, field, replace

from smpi import Network, Time
from stretto import _core
from stretto.errors import Error
from stretto.tune.own import model
from stretto.tune.own.journal import FEW, Entry, Measured
from stretto.tune.own.points import Point

RANKS = (2, 4, 8, 16)
SMALL = 8  # bytes
MANY = 1 << 20  # cores of a host: computing takes no time there


@dataclass
class Fitted:
    """Switches are the model's nodes, where there are several."""

    machine: _core.Machine
    found: dict[str, model.Quality] = field(default_factory=dict)
    calls: int = 0


def point_of(one: Time) -> Point:
    return Point(one.cell, one.ranks, one.asked)


def measured(times: list[Time], stage: str = "model") -> list[Measured]:
    """As the tuner's journal has it; a simulated time needs no repetition."""
    by_point: dict[Point, list[Entry]] = {}
    for one in times:
        entry = Entry(one.words, one.algorithm, one.us, 0.0, FEW, one.correct)
        by_point.setdefault(point_of(one), []).append(entry)
    return [Measured(point, stage, 0.0, entries) for point, entries in by_point.items()]


def _samples(network: Network, hosts: list[str], per_switch: int) -> list[model.Sample]:
    plan = [
        (f"{point.name}:{point.asked}", words) for point, words in model.calibration(len(hosts))
    ]
    times = list(network.run(hosts, plan))
    return model.samples_of(measured(times), _core.Placement(per_switch))


def _port(network: Network, hosts: list[str], point: str) -> float:
    """What a message takes of its port: as much longer is a flat call of one rank more."""
    us = [
        one.us
        for count in (2, len(hosts))
        for one in network.run(hosts[:count], [(point, ["linear"])])
    ]
    return (us[1] - us[0]) / (len(hosts) - 2) * 1e-6


@dataclass(frozen=True)
class Parameters(model.Parameters):
    """A small message's time is nearly all latency: what it takes of its port is measured apart."""

    small: float = 0.0  # seconds of SMALL bytes, beside those of an empty message

    def message(self) -> list[tuple[float, float]]:
        first, second, *rest = super().message()
        return [first, (SMALL, min(first[1] + self.small, second[1])), second, *rest]


def _start(network: Network, hosts: list[str]) -> Parameters:
    """By calls in which each of the hosts has many small messages."""
    empty = _port(network, hosts, "barrier:0")
    small = _port(network, hosts, f"alltoall:{SMALL}")
    return Parameters(overhead=empty, small=small - empty)


def spread(network: Network, ranks: int, switches: int) -> list[str]:
    """Hosts for so many ranks, equally many on each of the first switches, one after the other."""
    by_switch: dict[int, list[str]] = {}
    for i, switch in enumerate(network.tree.switches):
        by_switch.setdefault(switch, []).append(f"n{i}")
    groups = list(by_switch.values())[:switches]
    each = ranks // switches
    if len(groups) < switches or each * switches != ranks or min(map(len, groups)) < each:
        raise Error(
            f"{ranks} ranks do not fit on {switches} switches", "switches need equally many hosts"
        )
    return [host for group in groups for host in group[:each]]


def levels(network: Network) -> int:
    """Switches with hosts."""
    return len(set(network.tree.switches))


def fitted(network: Network) -> Fitted:
    return _one_switch(network) if levels(network) == 1 else _several(network)


def _quality(found: Fitted, name: str, samples: list[model.Sample]) -> None:
    found.found[name] = model.quality(samples, found.machine)
    found.calls += len(samples)


def near(network: Network) -> _core.Machine:
    """What messages cost between hosts of one switch; the rest is for the topology to say."""
    most = min(count for count in network.tree.hosts if count)
    own = [one for p in RANKS if p <= most for one in _samples(network, spread(network, p, 1), 1)]
    return model.fit_pair(own, MANY, True).machine(MANY, True)


def _one_switch(network: Network) -> Fitted:
    samples = {ranks: _samples(network, spread(network, ranks, 1), 1) for ranks in RANKS}
    everything = [one for own in samples.values() for one in own]
    start = _start(network, spread(network, RANKS[-1], 1))
    found = Fitted(model.fit_pair(everything, MANY, True, start).machine(MANY, True))
    for ranks, own in samples.items():
        _quality(found, f"{ranks} ranks", own)
    return found


def _several(network: Network) -> Fitted:
    """What is on one switch, what is not, and what ranks share of their switch's way out."""
    switches = levels(network)
    near = [
        one for ranks in RANKS[:3] for one in _samples(network, spread(network, ranks, 1), ranks)
    ]
    apart = [ranks for ranks in RANKS[:3] if ranks <= switches]
    far = [one for ranks in apart for one in _samples(network, spread(network, ranks, ranks), 1)]
    each = RANKS[-1] // 2
    crowd = _samples(network, spread(network, RANKS[-1], 2), each)
    start = _start(network, spread(network, RANKS[2], 1))
    node = model.fit_pair(near, MANY, False, start).machine(MANY, False)
    alone = model.fit_pair(far, MANY, True, start)

    def machine(parameters: model.Parameters) -> _core.Machine:
        link = _core.Link(
            message=parameters.message(), f_alpha=parameters.f_alpha, f_beta=parameters.f_beta,
            send_overhead=parameters.overhead,
            contention=[(1.0, 1.0), *((float(n), f) for n, f in parameters.contention)],
        )  # fmt: skip
        return _core.Machine(node=node.node, network=link, copy=parameters.copy, cores=MANY)

    start = replace(alone, contention=((each, float(each)),))
    found = Fitted(machine(model.fitted(start, ["contention"], crowd, machine)))
    for name, own in (("one switch", near), ("a rank on each", far), ("two switches", crowd)):
        _quality(found, name, own)
    return found
