# SPDX-License-Identifier: BSD-3-Clause
"""Comparing all algorithms of a function under a machine's model."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

from . import _core
from .errors import Error
from .portfolio import sample_shape
from .topology.lists import list_for
from .topology.predict import OnTree
from .units import size_in_words

LEAST_SEGMENT = 8 << 10
SEGMENTS = (4, 16)  # into so many a vector is cut, for the candidates
FEW_ROUNDS = (2, 3)
LONGEST = 120.0  # seconds for the schedules of an algorithm
LEAST_SHARE = 1.0  # seconds that each algorithm has, however many there are
PROBE = 1 << 16  # ranks, of which a schedule takes no time
LEAST_PROBE = 0.004  # seconds: twice as many say what more ranks take
MOST_SEGMENT_ROUNDS = 1 << 19  # more would take a second for each candidate


@dataclass(frozen=True)
class Call:
    """What is compared."""

    function: _core.Function
    ranks: int
    bytes: int
    root: int = 0
    commutative: bool = True
    placement: _core.Placement = field(default_factory=_core.Placement)
    operation: _core.Operation = field(default_factory=_core.Operation)
    graph: str = ""  # of a neighbourhood collective; "": the default

    @property
    def where(self) -> str:
        nodes = -(-self.ranks // self.placement.ranks_per_node)
        return f"{self.ranks} ranks on {nodes} node{'s' * (nodes > 1)}"

    def shape(self, algorithm: _core.Algorithm) -> _core.Shape:
        counts = sample_shape(algorithm, self.ranks).counts
        return _core.Shape(self.ranks, self.root, counts, graph=self.graph)

    def why_not(self, algorithm: _core.Algorithm) -> str:
        """Why it cannot serve the call with its defaults; "" if it can."""
        shape = self.shape(algorithm)
        return _core.unsuitable(algorithm, self.function, shape, self.commutative, _core.Params())

    def simulator(
        self, algorithm: _core.Algorithm, params: _core.Params, seconds: float = LONGEST
    ) -> _core.Simulator:
        """Raises Error where its schedules take more `seconds` to build."""
        if (first := self._first_schedule(algorithm, params)) > seconds:
            raise Error(
                f"{algorithm.id} on {self.ranks} ranks is too large to simulate: to build one "
                f"schedule would take some {first:.0f} s",
                "take fewer ranks, or an algorithm of fewer rounds",
            )
        return self._simulator(algorithm, params, seconds)

    def _simulator(
        self, algorithm: _core.Algorithm, params: _core.Params, seconds: float
    ) -> _core.Simulator:
        return _core.Simulator(
            algorithm, self.shape(algorithm), params, self.placement,
            function=self.function, most_seconds=seconds,
        )  # fmt: skip

    def _first_schedule(self, algorithm: _core.Algorithm, params: _core.Params) -> float:
        """Seconds, told from fewer ranks: nothing stops it once it has begun."""
        times = self.ranks // PROBE
        if times < 2:
            return 0.0
        few = replace(self, ranks=self.ranks // times, root=0)
        if _core.unsuitable(algorithm, few.shape(algorithm), params):
            return 0.0
        begin = time.thread_time()
        with suppress(Error):
            few._simulator(algorithm, params, LEAST_PROBE)
        took = time.thread_time() - begin
        return took * times if took > 2 * LEAST_PROBE else 0.0


def suitable(
    call: Call, algorithms: Iterable[_core.Algorithm] | None = None
) -> list[_core.Algorithm]:
    """Those of `algorithms`, or of all, that can serve the call with their defaults."""
    wanted = _core.facts(call.function).collective  # first, for a shape may have a graph to build
    every = _core.all_algorithms() if algorithms is None else algorithms
    return [one for one in every if one.collective == wanted and not call.why_not(one)]


def values(call: Call, algorithm: _core.Algorithm) -> list[int]:
    """Of its parameter: the default first, then its halves and doubles, and the ranks of a node; of
    a radix also the smallest for few rounds."""
    own = algorithm.parameter
    if not own:
        return [0]
    shape = call.shape(algorithm)
    default = own.default(shape)
    tried = [default, default // 2, default * 2, default * 4, default * 8]
    tried.append(call.placement.ranks_per_node)
    if own.name == "radix":  # the smallest with which so many rounds reach all ranks
        tried += [next(r for r in itertools.count(2) if r**n >= call.ranks) for n in FEW_ROUNDS]
    found = []
    for value in dict.fromkeys(tried):
        params = _core.Params(value=value)
        fits = own.least <= value <= min(own.most, max(call.ranks, default * 8))
        if fits and not _core.unsuitable(algorithm, shape, params):
            found.append(value)
    return found


def words_of(
    algorithm: _core.Algorithm, value: int, segment: int, order: Sequence[int] = ()
) -> str:
    """ "radix=4,segment=64K"; `order` is the algorithm's list."""
    words = [f"{algorithm.parameter.name}={value}"] if algorithm.parameter else []
    if order:
        words.append(f"{algorithm.list}=" + ":".join(map(str, order)))
    if segment:
        words.append(f"segment={size_in_words(segment)}")
    return ",".join(words)


def takes_segments(call: Call, algorithm: _core.Algorithm) -> bool:
    return not _core.unsuitable(algorithm, call.shape(algorithm), _core.Params(segment=1))


def _segments(call: Call, algorithm: _core.Algorithm, rounds: int) -> list[int]:
    """Sizes of segments to try, beside the whole vector."""
    if not takes_segments(call, algorithm):
        return []
    few = [parts for parts in SEGMENTS if rounds * parts <= MOST_SEGMENT_ROUNDS]
    sizes = dict.fromkeys(1 << max(0, call.bytes // parts - 1).bit_length() for parts in few)
    return [size for size in sizes if LEAST_SEGMENT <= size < call.bytes]


def predicted_row(
    call: Call,
    algorithm: _core.Algorithm,
    params: _core.Params,
    words: str,
    machine: _core.Machine,
    simulator: _core.Simulator,
    tree: OnTree | None = None,
) -> dict:
    """What the simulator says of parameters, `words` as people write them; on a tree no less than
    that does, where more is waiting for links that others use."""
    load = _core.Load(call.bytes, params.segment, params.depth, call.operation)
    found = simulator.run(load, machine)
    parts = {
        part: getattr(found, part) for part in ("latency", "bandwidth", "reduction", "waiting")
    }
    seconds = found.seconds
    if tree:
        seconds = max(seconds, tree.seconds(algorithm, call.shape(algorithm), params, call.bytes))
        parts["waiting"] += seconds - found.seconds
    return {
        "algorithm": algorithm.id,
        "parameters": words,
        "value": params.value,
        "list": params.list,
        "segment": params.segment,
        "depth": params.depth,
        "seconds": seconds,
        **parts,
        "simulated_ranks": simulator.simulated_ranks,
    }


def compare_one(
    call: Call,
    algorithm: _core.Algorithm,
    machine: _core.Machine,
    value: int,
    order: Sequence[int] = (),
    tree: OnTree | None = None,
    seconds: float = LONGEST,
) -> list[dict]:
    """One row for each size of segments. Raises Error where its schedules take more `seconds`."""
    params = _core.Params(value=value, list=list(order))
    simulator = call.simulator(algorithm, params, seconds)
    rows = []
    for segment in [0, *_segments(call, algorithm, simulator.rounds)]:
        given = _core.Params(segment=segment, value=value, list=list(order))
        words = words_of(algorithm, value, segment, order)
        rows.append(predicted_row(call, algorithm, given, words, machine, simulator, tree))
    return rows


def _in_turn(
    algorithms: list[_core.Algorithm], budget: float, advance: Callable[..., None], doing: str
) -> Iterator[tuple[_core.Algorithm, float]]:
    """Each with its share of the budget in seconds, the larger the less those before it took. The
    user waits by the clock; each has LEAST_SHARE, so that a short wait refuses nobody."""
    end = time.monotonic() + budget
    for done, algorithm in enumerate(algorithms):
        advance(done, None, f"{doing} {algorithm.id}")
        share = (end - time.monotonic()) / (len(algorithms) - done)
        yield algorithm, max(share, LEAST_SHARE)


def compare(
    call: Call,
    algorithms: list[_core.Algorithm],
    machine: _core.Machine,
    advance: Callable[..., None] = lambda *_: None,
    topology: _core.Topology | None = None,
    budget: float = inf,
) -> tuple[list[dict], dict[str, Error]]:
    """All rows, the fastest first, and why some algorithms have none. On a topology algorithms
    that take a list of where the ranks are get it, beside. Each has its share of `budget`."""
    rows: list[dict] = []
    refused: dict[str, Error] = {}
    tree = OnTree(topology) if topology else None
    for algorithm, share in _in_turn(algorithms, budget, advance, "simulating"):
        end = time.thread_time() + share
        lists = [[], list_for(algorithm, topology, call.ranks)] if topology else [[]]
        tried = itertools.product(values(call, algorithm), lists if any(lists) else [[]])
        for value, order in tried:
            seconds = min(end - time.thread_time(), LONGEST)
            try:
                if seconds <= 0:
                    some = any(row["algorithm"] == algorithm.id for row in rows)
                    other = " with other parameters" if some else ""
                    raise Error(f"{algorithm.id}{other}: its time was up")
                rows += compare_one(call, algorithm, machine, value, order, tree, seconds)
            except Error as error:
                refused.setdefault(algorithm.id, error)
    advance(len(algorithms))
    if not rows:
        raise next(iter(refused.values()))
    return ranked(rows), refused


def ranked(rows: list[dict]) -> list[dict]:
    """The fastest first, each with how far it is behind."""
    rows = sorted(rows, key=lambda row: (row["seconds"], row["algorithm"]))
    best = rows[0]["seconds"]
    return [{**row, "behind": row["seconds"] / best - 1 if best > 0 else 0.0} for row in rows]


def best_of_each(rows: list[dict]) -> list[dict]:
    """The first row of every algorithm."""
    seen: dict[str, dict] = {}
    for row in rows:
        seen.setdefault(row["algorithm"], row)
    return list(seen.values())


def curves(
    call: Call, algorithms: list[_core.Algorithm], machine: _core.Machine, sizes: list[int],
    advance: Callable[..., None] = lambda *_: None, budget: float = inf,
) -> tuple[dict[str, list[float]], list[Error]]:  # fmt: skip
    """Seconds for each of the sizes, by the ids of algorithms, with default parameters, and why
    some have none; each has its share of `budget`, which is in seconds."""
    found: dict[str, list[float]] = {}
    refused: list[Error] = []
    for algorithm, share in _in_turn(algorithms, budget, advance, "drawing"):
        end = time.thread_time() + share
        times: list[float] = []
        try:
            simulator = call.simulator(algorithm, _core.Params(), min(share, LONGEST))
            for size in sizes:
                if time.thread_time() > end:
                    what = f"takes longer than its share of the time, {share:.0f} s"
                    raise Error(f"{algorithm.id} {what}")
                times.append(simulator.run(_core.Load(size, 0, 2, call.operation), machine).seconds)
            found[algorithm.id] = times
        except Error as error:
            refused.append(error)
    return found, refused
