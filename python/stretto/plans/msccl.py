# SPDX-License-Identifier: BSD-3-Clause
"""Plans in MSCCL's XML.

    <algo name ngpus coll proto nchannels nchunksperloop inplace outofplace>
      <gpu id i_chunks o_chunks s_chunks>
        <tb id send recv chan>
          <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>

The steps of a thread block follow each other. A step waits for step `deps` of thread block `depid`;
one that another waits for has hasdep=1. `nop` has nothing but such a wait, for the step behind it.
"""

from dataclasses import dataclass, field
from itertools import zip_longest
from xml.parsers import expat

from ..errors import Error
from .nodes import COLLECTIVES, HINT, Kind, Node, Place, Plan, chunks_of
from .values import Layout

# What a step does: receives, how it combines or stores, sends.
KINDS = {
    "s": (Kind.SEND,),
    "r": (Kind.RECEIVE,),
    "rcs": (Kind.RECEIVE, Kind.SEND),
    "rrs": (Kind.RECEIVE_REDUCE, Kind.SEND),
    "rrc": (Kind.RECEIVE_REDUCE,),
    "rrcs": (Kind.RECEIVE_REDUCE, Kind.SEND),
    "cpy": (Kind.COPY,),
    "re": (Kind.REDUCE,),
    "nop": (Kind.WAIT,),
}
CHUNKS_MOST = 1 << 20


@dataclass
class Element:
    """An XML element: where it stands and what is in it."""

    name: str
    line: int
    path: str
    given: dict[str, str]
    children: list["Element"] = field(default_factory=list)

    def error(self, why: str) -> Error:
        return Error(f"{self.path}:{self.line}: {why}", HINT)

    def word(self, name: str) -> str:
        if name not in self.given:
            raise self.error(f"<{self.name}> has no {name}=")
        return self.given[name]

    def number(self, name: str, least: int = 0, most: int = CHUNKS_MOST) -> int:
        word = self.word(name)
        try:
            value = int(word)
        except ValueError:
            raise self.error(f"{name}='{word}' is no number") from None
        if not least <= value <= most:
            raise self.error(f"{name}={value} is not within {least} to {most}")
        return value


def _parse(text: str, path: str) -> Element:
    parser = expat.ParserCreate()
    stack = [Element("", 0, path, {})]

    def start(name: str, given: dict[str, str]) -> None:
        one = Element(name, parser.CurrentLineNumber, path, given)
        stack[-1].children.append(one)
        stack.append(one)

    def doctype(*_: object) -> None:
        raise Error(f"{path}:{parser.CurrentLineNumber}: a document type is not read", HINT)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.StartDoctypeDeclHandler = doctype  # nor entities, which may grow without end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise Error(f"{path}:{error.lineno}: no XML: {why}", HINT) from None
    return stack[0].children[0]


class Reader:
    """Turns the elements into nodes."""

    def __init__(self, algo: Element) -> None:
        self.algo = algo
        self.plan = _empty(algo)
        self.last: dict[tuple[int, int, int], int] = {}  # the node that ends a step
        self.posts: dict[tuple[int, int], list[int]] = {}  # steps with hasdep of a thread block
        self.waits: list[tuple[int, Element, int, int]] = []
        self.ends: dict[tuple[str, int, int, int], list[tuple[int, Element]]] = {}
        self.owner: dict[tuple[str, int, int, int], int] = {}

    def read(self) -> Plan:
        gpus = [one for one in self.algo.children if one.name == "gpu"]
        numbers = [one.number("id", 0, self.plan.ranks - 1) for one in gpus]
        if sorted(numbers) != list(range(self.plan.ranks)):
            raise self.algo.error(f"{len(gpus)} <gpu> elements, not one for each of the "
                                  f"{self.plan.ranks}")  # fmt: skip
        for gpu, number in zip(gpus, numbers, strict=True):
            self._gpu(gpu, number)
        self._resolve_waits()
        self._match()
        return self.plan

    def _gpu(self, gpu: Element, number: int) -> None:
        scratch = gpu.number("s_chunks")
        seen = set()
        for block in gpu.children:
            if block.name != "tb":
                continue
            name = block.number("id")
            if name in seen:
                raise block.error(f"gpu {number} has two thread blocks {name}")
            seen.add(name)
            self._block(block, number, name, scratch)

    def _block(self, block: Element, gpu: int, name: int, scratch: int) -> None:
        peers = {}
        for way in ("send", "recv"):
            peers[way] = block.number(way, -1, self.plan.ranks - 1)
            key = (way, gpu, peers[way], block.number("chan"))
            if peers[way] == gpu:
                raise block.error(f"gpu {gpu} is its own peer")
            if peers[way] >= 0 and self.owner.setdefault(key, name) != name:
                raise block.error(f"thread blocks {self.owner[key]} and {name} of gpu {gpu} share "
                                  f"channel {key[3]} to gpu {peers[way]}")  # fmt: skip
        before: list[int] = []
        for index, step in enumerate(one for one in block.children if one.name == "step"):
            if step.number("s") != index:
                raise step.error(f"step {step.word('s')} where step {index} is awaited")
            before = self._step(step, block, Place(gpu, name, index, step.line), before, scratch)

    def _step(
        self, step: Element, block: Element, place: Place, before: list[int], scratch: int
    ) -> list[int]:
        word = step.word("type")
        if word not in KINDS:
            raise step.error(f"step type '{word}' is not known: it has to be {', '.join(KINDS)}")
        kinds = KINDS[word]
        source = target = ()
        if word not in ("r", "rcs", "nop"):
            source = self._slots(step, "src", place, scratch)
        if word not in ("s", "rrs", "nop"):
            target = self._slots(step, "dst", place, scratch)
        if word == "rrs":  # what is passed on is not kept
            target = tuple(
                ("t", len(self.plan.nodes) * CHUNKS_MOST + i) for i in range(len(source))
            )
        for kind in kinds:
            node = Node(kind, place, list(before))
            number = len(self.plan.nodes)
            if kind == Kind.SEND:
                node.source = source if word == "s" else target
            elif kind == Kind.RECEIVE_REDUCE:
                node.operand, node.target = source, target
            elif kind == Kind.REDUCE:
                node.source, node.operand, node.target = source, target, target
            elif kind != Kind.WAIT:
                node.source, node.target = source, target
            if kind == Kind.RECEIVE:
                node.source = ()
            self.plan.nodes.append(node)
            self._end_of_message(kind, step, block, place, number)
            before = [number]
        self._note_order(step, place, before[0])
        return before

    def _note_order(self, step: Element, place: Place, number: int) -> None:
        self.last[place.gpu, place.block, place.step] = number
        if step.number("hasdep", 0, 1) and step.word("type") != "nop":
            self.posts.setdefault((place.gpu, place.block), []).append(place.step)
        other = step.number("depid", -1)
        if other >= 0:
            first = number - len(KINDS[step.word("type")]) + 1
            self.waits.append((first, step, other, step.number("deps")))

    def _slots(self, step: Element, way: str, place: Place, scratch: int) -> tuple:
        buffer, first = step.word(way + "buf"), step.number(way + "off")
        count = step.number("cnt")
        if buffer not in ("i", "o", "s"):
            raise step.error(f"{way}buf='{buffer}' is no buffer: it has to be i, o or s")
        inputs, outputs = Layout(self.plan).sizes
        size = {"i": inputs, "o": outputs, "s": scratch}[buffer]
        if first + count > size:
            raise step.error(f"{buffer}[{first + count - 1}] is beyond the {size} chunks of gpu "
                             f"{place.gpu}")  # fmt: skip
        return tuple((buffer, first + i) for i in range(count))

    def _end_of_message(
        self, kind: str, step: Element, block: Element, place: Place, number: int
    ) -> None:
        if kind not in (Kind.SEND, Kind.RECEIVE, Kind.RECEIVE_REDUCE):
            return
        way = "send" if kind == Kind.SEND else "recv"
        peer = int(block.word(way))
        if peer < 0:
            raise step.error(f"a step '{step.word('type')}' in a thread block with {way}=-1")
        pair = (place.gpu, peer) if kind == Kind.SEND else (peer, place.gpu)
        self.ends.setdefault((way, *pair, int(block.word("chan"))), []).append((number, step))

    def _resolve_waits(self) -> None:
        """A step waits until the other thread block has said that it is so far."""
        for number, step, other, deps in self.waits:
            node = self.plan.nodes[number]
            steps = self.posts.get((node.gpu, other), [])
            reached = next((one for one in steps if one >= deps), None)
            if (node.gpu, other, deps) not in self.last:
                raise step.error(f"waits for step {deps} of thread block {other}, which gpu "
                                 f"{node.gpu} does not have")  # fmt: skip
            if reached is None:
                why = f"waits for step {deps} of thread block {other}, in which no step from there"
                raise self.plan.refute(node.place, "deadlock", f"{why} on has hasdep=1")
            node.before.append(self.last[node.gpu, other, reached])

    def _match(self) -> None:
        """Messages of a channel match in their order."""
        channels = {key[1:] for key in self.ends}
        for key in sorted(channels):
            sends, receives = self.ends.get(("send", *key), []), self.ends.get(("recv", *key), [])
            for send, receive in zip_longest(sends, receives):
                if not send or not receive:
                    verb = "sends what is not received" if send else "receives what is not sent"
                    channel = f"channel {key[2]} from gpu {key[0]} to gpu {key[1]}"
                    why = f"{verb}: {channel} has {len(sends)} sends and {len(receives)} receives"
                    place = self.plan.nodes[(send or receive)[0]].place
                    raise self.plan.refute(place, "unmatched", why)
                (a, step), (b, other) = send, receive
                one, two = self.plan.nodes[a], self.plan.nodes[b]
                one.partner, two.partner = b, a
                sent, received = step.word("cnt"), other.word("cnt")
                if sent != received:
                    why = f"receives {received} chunks where {one.place} sends {sent}"
                    raise self.plan.refute(two.place, "unmatched", why)


def _empty(algo: Element) -> Plan:
    if algo.name != "algo":
        raise algo.error(f"<{algo.name}> is no plan of MSCCL's, which is an <algo>")
    word = algo.word("coll")
    if word.replace("_", "") not in COLLECTIVES:
        raise algo.error(f"coll='{word}' is no collective of MPI")
    collective = COLLECTIVES[word.replace("_", "")]
    ranks = algo.number("ngpus", 1, 1 << 12)
    in_place = bool(algo.number("inplace", 0, 1)) if "inplace" in algo.given else False
    out = bool(algo.number("outofplace", 0, 1)) if "outofplace" in algo.given else not in_place
    sizes = [(one.number("i_chunks"), one.number("o_chunks"))
             for one in algo.children if one.name == "gpu"]  # fmt: skip
    chunks = chunks_of(collective, ranks, sizes, algo.error)
    return Plan(algo.path, "MSCCL", algo.given.get("name", ""), collective, ranks, chunks,
                in_place, out or not in_place)  # fmt: skip


def read_msccl(text: str, path: str) -> Plan:
    """Raises Error that names file and line, RefutedError where steps do not fit together."""
    return Reader(_parse(text, path)).read()
