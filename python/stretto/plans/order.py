# SPDX-License-Identifier: BSD-3-Clause
"""Does a plan come to its end, and does the order of its steps not depend on chance?

Thread blocks run side by side; only what a plan says orders their steps. A send is taken to leave
at once, as channels have buffers.
"""

from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from .nodes import Kind, Node, Plan, Slot


def predecessors(plan: Plan, number: int) -> Iterator[int]:
    """What a node waits for: a message too."""
    node = plan.nodes[number]
    yield from node.before
    if node.receives:
        yield node.partner


def in_order(plan: Plan) -> list[int]:
    """The nodes, each behind those that it waits for; raises RefutedError if some wait for ever."""
    sorter = TopologicalSorter(dict.fromkeys(range(len(plan.nodes)), ()))
    for number in range(len(plan.nodes)):
        sorter.add(number, *predecessors(plan, number))
    try:
        return list(sorter.static_order())
    except CycleError as error:
        circle = [plan.nodes[one].place for one in error.args[1][:0:-1]]
    places = list(dict.fromkeys(str(place) for place in circle))
    shown = ", which waits for ".join(places[:4]) + (", …" if len(places) > 4 else "")
    raise plan.refute(circle[0], "deadlock", f"waits for itself ({shown})")


class Conflicts:
    """Pairs of nodes of one GPU that touch the same slot, where one of them writes it."""

    def __init__(self, plan: Plan, order: list[int], same: list[dict[Slot, Slot]]) -> None:
        """`same` names the slot that a slot of a buffer is another name of, for each GPU."""
        self.same = same
        self.pairs: list[tuple[int, int, Slot]] = []
        writer: dict[tuple[int, Slot], int] = {}
        readers: dict[tuple[int, Slot], list[int]] = defaultdict(list)
        for number in order:
            node = plan.nodes[number]
            gpu = node.gpu
            alias = same[gpu]
            for slot in _slots(node.reads, alias):
                if (gpu, slot) in writer:
                    self._add(writer[gpu, slot], number, slot)
                readers[gpu, slot].append(number)
            for slot in _slots(node.target, alias):
                for earlier in readers.pop((gpu, slot), ()):
                    self._add(earlier, number, slot)
                if (gpu, slot) in writer:
                    self._add(writer[gpu, slot], number, slot)
                writer[gpu, slot] = number

    def _add(self, earlier: int, later: int, slot: Slot) -> None:
        if earlier != later:
            self.pairs.append((earlier, later, slot))


def _slots(slots: tuple[Slot, ...], alias: dict[Slot, Slot]) -> list[Slot]:
    return [alias.get(slot, slot) for slot in dict.fromkeys(slots)]


def refute_races(plan: Plan, order: list[int], conflicts: Conflicts) -> None:
    """Raises RefutedError if two steps touch a slot and nothing says which comes first."""
    by_gpu: dict[int, list[tuple[int, int, Slot]]] = defaultdict(list)
    for pair in conflicts.pairs:
        by_gpu[plan.nodes[pair[0]].gpu].append(pair)
    for gpu, pairs in sorted(by_gpu.items()):
        for everywhere in (False, True):  # what goes by other GPUs takes long to find
            known, place = _ordered_before(plan, order, gpu, everywhere)
            pairs = [pair for pair in pairs if not known[pair[1]] >> place[pair[0]] & 1]
            if not pairs:
                break
        if pairs:
            _refute_race(plan, conflicts.same[gpu], *min(pairs))


def _ordered_before(
    plan: Plan, order: list[int], gpu: int, everywhere: bool
) -> tuple[dict[int, int], dict[int, int]]:
    """For each node, as bits, the nodes of `gpu` that have ended when it begins; and the bits'
    places."""
    own = [number for number in order if plan.nodes[number].gpu == gpu]
    place = {number: bit for bit, number in enumerate(own)}
    known: dict[int, int] = {}
    for number in order if everywhere else own:
        bits = 0
        for earlier in predecessors(plan, number):
            if earlier in known:
                bits |= known[earlier]
                if earlier in place:
                    bits |= 1 << place[earlier]
        known[number] = bits
    return known, place


def _touches(node: Node, slot: Slot, alias: dict[Slot, Slot]) -> tuple[str, Slot]:
    """What a node does with a slot, and the name by which it does."""
    for own in node.target:
        if alias.get(own, own) == slot:
            return "writes", own
    verb = "sends" if node.kind == Kind.SEND and not node.place.far else "reads"
    return verb, next(own for own in node.reads if alias.get(own, own) == slot)


def _refute_race(plan: Plan, alias: dict[Slot, Slot], first: int, second: int, slot: Slot) -> None:
    one, two = plan.nodes[first], plan.nodes[second]
    verb, name = _touches(two, slot, alias)
    why = f"it {verb} {plan.slot(name)}, which {one.place} {_touches(one, slot, alias)[0]}, and"
    raise plan.refute(two.place, "race", f"{why} nothing says which comes first")
