# SPDX-License-Identifier: BSD-3-Clause
"""Transfers on a tree of switches in simulated time, with max-min fair shares and with noise."""

import random

BURST = 65536  # bytes that links let pass at once


class SimulatedNetwork:
    """`parents` of the switches, the first has -1; the switch of each machine; bytes per second of
    links that differ: of a switch to its parent, of a machine. A time is longer by some `noise`,
    and in the share `busy` of times by much."""

    def __init__(
        self, parents: list[int], machines: list[int], *, switch_rates: dict | None = None,
        machine_rates: dict | None = None, rate: float = 12.5e6, noise: float = 0.03,
        busy: float = 0.3, seed: int = 1, rendezvous: int = 0,
    ) -> None:  # fmt: skip
        self.parents, self.machines = parents, machines
        self.rates: dict[tuple, float] = {}
        for kind, count, own in (
            ("m", len(machines), machine_rates or {}), ("s", len(parents), switch_rates or {}),
        ):  # fmt: skip
            for one in range(count):
                self.rates |= dict.fromkeys([(kind, one, 0), (kind, one, 1)], own.get(one, rate))
        self.noise, self.busy, self.random = noise, busy, random.Random(seed)
        self.rendezvous = rendezvous
        self.seconds = 0.0  # that all measurements took

    def _up(self, switch: int) -> list[int]:
        return [switch, *(self._up(self.parents[switch]) if self.parents[switch] >= 0 else [])]

    def path(self, a: int, b: int) -> list[tuple]:
        one, other = self._up(self.machines[a]), self._up(self.machines[b])
        up = [("s", switch, 0) for switch in one if switch not in other]
        down = [("s", switch, 1) for switch in other if switch not in one]
        return [("m", a, 0), *up, *down, ("m", b, 1)]

    def _shares(self, paths: dict[int, list[tuple]]) -> dict[int, float]:
        """Bytes per second of each transfer: the fullest link divides what it has left."""
        left, open_, found = dict(self.rates), set(paths), {}
        while open_:
            users: dict[tuple, list[int]] = {}
            for one in open_:
                for link in paths[one]:
                    users.setdefault(link, []).append(one)
            link = min(users, key=lambda link: left[link] / len(users[link]))
            share = left[link] / len(users[link])
            for one in users[link]:
                found[one] = share
                open_.discard(one)
                for other in paths[one]:
                    left[other] -= share
        return found

    def _ideal(self, transfers: list[tuple[int, int, int]]) -> list[float]:
        paths = {i: self.path(a, b) for i, (a, b, _) in enumerate(transfers)}
        rest = {i: max(1.0, size - BURST) for i, (_, _, size) in enumerate(transfers)}
        ends, now = [0.0] * len(transfers), 0.0
        while rest:
            shares = self._shares({i: paths[i] for i in rest})
            step = min(rest[i] / shares[i] for i in rest)
            now += step
            for i in list(rest):
                rest[i] -= shares[i] * step
                if rest[i] < 1:
                    del rest[i]
                    ends[i] = now
        return ends

    def move(
        self, transfers: list[tuple[int, int, int]], repeats: int, enough: float
    ) -> list[float]:
        ends, found = self._ideal(transfers), []
        while len(found) < repeats and (not found or found[-1] > enough):
            longer = 1 + abs(self.random.gauss(0, self.noise))
            if self.random.random() < self.busy:
                longer *= 1 + self.random.expovariate(1)
            found.append(max(ends) * longer + 5e-4)
            self.seconds += found[-1] + 2e-3
        return found

    def ping(self, pair: tuple[int, int], times: int) -> float:
        return 25e-6 * len(self.path(*pair))

    def eager(self, pair: tuple[int, int], size: int, tries: int) -> bool:
        seen = any(self.random.random() >= self.busy for _ in range(tries))
        self.seconds += 0.04 * tries
        return seen and not 0 < self.rendezvous <= size

    def sides(self) -> set[frozenset[int]]:
        """Of the links between switches that can be seen: those without machine 0."""
        everyone = frozenset(range(len(self.machines)))
        found = set()
        for switch in range(1, len(self.parents)):
            behind = {m for m, at in enumerate(self.machines) if switch in self._up(at)}
            side = everyone - behind if 0 in behind else frozenset(behind)
            if 2 <= len(side) <= len(everyone) - 2:
                found.add(side)
        return found
