# SPDX-License-Identifier: BSD-3-Clause
# Made by `python tests/python/test_package.py`.
"""Stretto's core: schedules, algorithms, the checker and the rules."""

from collections.abc import Callable, Sequence
import enum
from typing import overload


def version() -> str: ...

def compiler() -> str:
    """The compiler that this module was built with."""

class Buffer(enum.Enum):
    """Where a block lies."""

    input = 0

    output = 1

    scratch = 2

class Side(enum.Enum):
    """Which side of the operator the arriving (or source) operand takes."""

    left = 0

    right = 1

class ActionKind(enum.Enum):
    """What an action of a round does."""

    receive = 0

    receive_reduce = 1

    copy = 2

    reduce = 3

class Range:
    """Slots first … first+count-1 of one buffer."""

    def __init__(self, buffer: Buffer, first: int, count: int = 1) -> None: ...

    @property
    def buffer(self) -> Buffer: ...

    @property
    def first(self) -> int: ...

    @property
    def count(self) -> int: ...

    def __eq__(self, arg: Range, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Send:
    """A message that leaves at the beginning of its round."""

    @property
    def peer(self) -> int: ...

    @property
    def blocks(self) -> list[Range]: ...

class Action:
    """One item of a round's ordered list; `peer` is -1 unless it receives."""

    @property
    def kind(self) -> ActionKind: ...

    @property
    def side(self) -> Side: ...

    @property
    def peer(self) -> int: ...

    @property
    def target(self) -> list[Range]: ...

    @property
    def source(self) -> list[Range]: ...

    @property
    def operand(self) -> list[Range]: ...

class Round:
    """All sends first, then the actions in their order."""

    @property
    def sends(self) -> list[Send]: ...

    @property
    def actions(self) -> list[Action]: ...

class Schedule:
    """
    What one rank does in a collective, as data; it speaks of blocks, never of bytes.
    """

    @property
    def algorithm(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def rank(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def blocks(self) -> int: ...

    @property
    def scratch(self) -> list[int]:
        """For every scratch slot, the block of the vector whose size it has."""

    @property
    def rounds(self) -> list[Round]: ...

    def __str__(self) -> str: ...

def to_text(schedule: Schedule) -> str:
    """The one text form of a schedule; `parse_schedules` reads it back."""

def parse_schedules(text: str, file: str = '<text>') -> list[Schedule]:
    """
    Read any number of schedules; raises stretto.Error naming `file` and the line.
    """

def input(first: int, count: int = 1) -> list[Range]:
    """A range of input blocks."""

def output(first: int, count: int = 1) -> list[Range]:
    """A range of output blocks."""

def scratch(first: int, count: int = 1) -> list[Range]:
    """A range of scratch slots."""

def wrapped(buffer: Buffer, first: int, count: int, modulus: int) -> list[Range]:
    """
    `count` blocks from `first` on, counted modulo `modulus`: one range or two.
    """

class Builder:
    """Writes one rank's schedule round by round."""

    def __init__(self, rank: int, ranks: int, blocks: int) -> None: ...

    @property
    def rank(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    @property
    def blocks(self) -> int: ...

    def round(self) -> None:
        """End the round and begin the next."""

    def send(self, peer: int, blocks: Sequence[Range]) -> None: ...

    def receive(self, peer: int, target: Sequence[Range]) -> None: ...

    @overload
    def receive_reduce(self, peer: int, target: Sequence[Range], message: Side, operand: Sequence[Range]) -> None: ...

    @overload
    def receive_reduce(self, peer: int, target: Sequence[Range], message: Side) -> None: ...

    def copy(self, source: Sequence[Range], target: Sequence[Range]) -> None: ...

    def reduce(self, source: Sequence[Range], target: Sequence[Range], side: Side, operand: Sequence[Range]) -> None: ...

    def new_scratch(self, first: int, count: int) -> int:
        """
        New scratch slots as large as these blocks of the vector; returns the first slot.
        """

    def in_group(self, members: Sequence[int], body: Callable) -> None:
        """Run `body(builder)` in the group of `members`, if I am one of them."""

    def in_blocks(self, first: int, body: Callable) -> None:
        """Run `body(builder)` with its block 0 standing for block `first`."""

    def finish(self) -> Schedule: ...

class Collective(enum.Enum):
    """A collective operation of MPI."""

    barrier = 0

    bcast = 1

    reduce = 2

    allreduce = 3

    allgather = 4

    reduce_scatter_block = 5

class CollectiveFacts:
    """What holds of a collective whatever the algorithm."""

    @property
    def name(self) -> str: ...

    @property
    def rooted(self) -> bool: ...

    @property
    def reduces(self) -> bool: ...

    @property
    def per_rank(self) -> bool:
        """One block per rank, given by the call."""

class Shape:
    """Ranks and root of a call."""

    def __init__(self, ranks: int, root: int = 0) -> None: ...

    @property
    def ranks(self) -> int: ...

    @property
    def root(self) -> int: ...

class Content:
    """What stands in one slot before or after a collective."""

    class Kind(enum.Enum):
        nothing = 0

        contribution = 1

        reduction = 2

    @property
    def kind(self) -> Content.Kind: ...

    @property
    def from_rank(self) -> int: ...

def all_collectives() -> list[Collective]: ...

def facts(collective: Collective) -> CollectiveFacts: ...

def collective_named(name: str) -> Collective:
    """Raises stretto.Error if there is none of that name."""

def content_before(collective: Collective, shape: Shape, rank: int, buffer: Buffer, block: int) -> Content:
    """The precondition of one slot."""

def content_after(collective: Collective, shape: Shape, rank: int, block: int) -> Content:
    """The postcondition of one slot of the output; nothing: no demand."""

def may_alias(collective: Collective) -> bool:
    """May a rank's input be its output (MPI_IN_PLACE)?"""

class Params:
    """What the chooser may vary."""

    def __init__(self, segment: int = 0, depth: int = 2) -> None: ...

    @property
    def segment(self) -> int:
        """Segments of so many bytes of the vector; 0: not cut."""

    @segment.setter
    def segment(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int:
        """Segments in flight."""

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    def __eq__(self, arg: Params, /) -> bool: ...

class Algorithm:
    """
    The record of an algorithm; rounds and blocks along the longest chain of rounds.
    """

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def volume(self) -> str: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def needs_commutative(self) -> bool: ...

    def blocks(self, shape: Shape) -> int: ...

    def rounds(self, shape: Shape) -> int: ...

    def sent(self, shape: Shape) -> int: ...

    def combined(self, shape: Shape) -> int: ...

    def __repr__(self) -> str: ...

def all_algorithms() -> list[Algorithm]:
    """Every algorithm, sorted by id."""

def find_algorithm(id: str) -> Algorithm | None:
    """None if there is none of that id."""

def unsuitable(algorithm: Algorithm, commutative: bool) -> str:
    """Why the algorithm cannot serve a call, in words; empty if it can."""

def build_schedule(algorithm: Algorithm, shape: Shape, rank: int, params: Params = ...) -> Schedule:
    """One rank's schedule."""

class Refusal(enum.Enum):
    """Why a set of schedules is refused."""

    malformed = 0

    unmatched_message = 1

    misordered_message = 2

    deadlock = 3

    never_written = 4

    overlapping_send = 5

    overlapping_receive = 6

    double_counting = 7

    wrong_order = 8

    different_expression = 9

    wrong_result = 10

    wrong_cost = 11

class Refused:
    """A refusal and its message, which names rank, round and block."""

    @property
    def why(self) -> Refusal: ...

    @property
    def name(self) -> str:
        """In words: "double counting"."""

    @property
    def message(self) -> str: ...

class Measured:
    """
    Counted in the schedules, along the longest chain of rounds that wait for each other.
    """

    @property
    def rounds(self) -> int: ...

    @property
    def sent(self) -> int: ...

    @property
    def combined(self) -> int: ...

    @property
    def messages(self) -> int:
        """In all, not along a chain."""

class Checked:
    """What the checker found."""

    @property
    def refused(self) -> Refused | None:
        """None if all was proved."""

    @property
    def measured(self) -> Measured: ...

    @property
    def round_ends(self) -> list[list[int]]:
        """For rank and round: the step at whose end it ended, from 1."""

class Question:
    """What is to be proved of a set of schedules."""

    def __init__(self, collective: Collective, shape: Shape, commutative: bool = False, in_place: bool = False) -> None: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def commutative(self) -> bool: ...

    @property
    def in_place(self) -> bool: ...

def check_schedules(schedules: Sequence[Schedule], question: Question) -> Checked:
    """Prove `question` of all ranks' schedules, in the order of the ranks."""

def check_algorithm(algorithm: Algorithm, shape: Shape, params: Params = ...) -> Checked:
    """
    Build all schedules and prove them, in place too where allowed, and hold rounds and volume to the record.
    """

def check_against_record(schedules: Sequence[Schedule], algorithm: Algorithm, shape: Shape) -> Checked:
    """
    The same for given schedules instead of those that the algorithm builds.
    """

class Call:
    """What a choice may depend on: values that are equal on all ranks."""

    def __init__(self, collective: Collective, shape: Shape, bytes: int, commutative: bool = True, predefined: bool = True) -> None: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def bytes(self) -> int:
        """
        Of the whole vector: of all ranks, for allgather and reduce_scatter_block.
        """

    @property
    def commutative(self) -> bool: ...

    @property
    def predefined(self) -> bool: ...

class Choice:
    """What was chosen for a call, and why."""

    @property
    def algorithm(self) -> Algorithm | None:
        """None: the native library."""

    @property
    def params(self) -> Params: ...

    @property
    def reason(self) -> str: ...

class Forced:
    """What the user's word for an algorithm says."""

    @property
    def algorithm(self) -> Algorithm | None:
        """None: the native library."""

    @property
    def params(self) -> Params: ...

class RanksAre(enum.Enum):
    """A rule's condition on the number of ranks."""

    any = 0

    power_of_two = 1

    not_power_of_two = 2

class OperatorIs(enum.Enum):
    """A rule's condition on the operator."""

    any = 0

    commutative = 1

    not_commutative = 2

    predefined = 3

    user = 4

class Between:
    """A closed range of numbers."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...

    def holds(self, n: int) -> bool: ...

class Rule:
    """One line of a rules file."""

    @property
    def collective(self) -> Collective: ...

    @property
    def bytes(self) -> Between: ...

    @property
    def ranks(self) -> Between: ...

    @property
    def ranks_are(self) -> RanksAre: ...

    @property
    def operator_is(self) -> OperatorIs: ...

    @property
    def algorithm(self) -> Algorithm | None:
        """None: the native library."""

    @property
    def params(self) -> Params: ...

    @property
    def line(self) -> int: ...

class Rules:
    """The rules of one file, in their order."""

    @property
    def file(self) -> str: ...

    @property
    def rules(self) -> list[Rule]: ...

def parse_rules(text: str, file: str = '<text>') -> Rules:
    """Raises stretto.Error that names `file` and the line."""

def read_rules(path: str) -> Rules: ...

def shipped_rules() -> Rules:
    """The rules that are part of the library."""

def parse_size(text: str) -> int | None:
    """"64K", "2M", "100" to bytes; None if it is no size."""

def choose(rules: Rules, call: Call) -> Choice:
    """The algorithm of the first rule that fits."""

def parse_forced(collective: Collective, value: str) -> Forced:
    """Read "ring,segment=64K,depth=4" or "native"; raises stretto.Error."""
