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

class Parts:
    """How a vector that has a part for each rank is cut into blocks."""

    def __init__(self, first: Sequence[int] = []) -> None: ...

    @property
    def first(self) -> list[int]:
        """
        The first block of each rank's part, and the end; empty: one block each.
        """

    def begin(self, rank: int) -> int: ...

    def end(self, rank: int) -> int: ...

    def owner(self, block: int) -> int: ...

    def __eq__(self, arg: Parts, /) -> bool: ...

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
    def parts(self) -> Parts:
        """Of collectives whose vector has a part for each rank."""

    @parts.setter
    def parts(self, arg: Parts, /) -> None: ...

    @property
    def scratch(self) -> list[int]:
        """For every scratch slot, the block of the vector whose size it has."""

    @property
    def rounds(self) -> list[Round]: ...

    def __str__(self) -> str: ...

@overload
def to_text(schedule: Schedule) -> str:
    """The one text form of a schedule; `parse_schedules` reads it back."""

@overload
def to_text(variant: Variant, algorithm: Algorithm) -> str:
    """"radix=3", "skips=4:2:1"; empty for the default."""

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
    """What is to be achieved, whatever the sizes of the blocks."""

    barrier = 0

    bcast = 1

    gather = 2

    scatter = 3

    allgather = 4

    alltoall = 5

    reduce = 6

    allreduce = 7

    reduce_scatter = 8

    scan = 9

    exscan = 10

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
        """The vector has a part for each rank, given by the call."""

    @property
    def pairwise(self) -> bool:
        """A block belongs to a pair of ranks, as in an alltoall."""

    @property
    def prefix(self) -> bool:
        """A rank's result is made of what the ranks up to it gave."""

def all_collectives() -> list[Collective]: ...

@overload
def facts(collective: Collective) -> CollectiveFacts: ...

@overload
def facts(function: Function) -> FunctionFacts: ...

def collective_named(name: str) -> Collective:
    """Raises stretto.Error if there is none of that name."""

class Shape:
    """
    Ranks and root of a call; the sizes of the ranks' parts, and where the ranks are.
    """

    def __init__(self, ranks: int, root: int = 0, counts: Sequence[int] = [], nodes: Sequence[int] = []) -> None: ...

    @property
    def ranks(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def counts(self) -> list[int]:
        """
        Of each rank's part: elements, bytes where nothing is combined; empty: not given.
        """

    @property
    def nodes(self) -> list[int]:
        """
        Levels x ranks: the node of each rank; then, for each further level, the group of each rank's node; empty: unknown.
        """

    def __eq__(self, arg: Shape, /) -> bool: ...

class Content:
    """What stands in one slot before or after a collective."""

    class Kind(enum.Enum):
        nothing = 0

        contribution = 1

        reduction = 2

    @property
    def kind(self) -> Content.Kind: ...

    @property
    def from_rank(self) -> int:
        """Of a contribution; the first rank of a reduction."""

    @property
    def to_rank(self) -> int:
        """The last rank of a reduction."""

def block_of(collective: Collective, shape: Shape, rank: int, buffer: Buffer, slot: int) -> int:
    """
    Which block a slot of the input or output holds: slot b block b, but for alltoall.
    """

def slot_exists(collective: Collective, shape: Shape, parts: Parts, rank: int, buffer: Buffer, slot: int) -> bool:
    """Does the call give the rank this slot?"""

def content_before(collective: Collective, shape: Shape, parts: Parts, rank: int, buffer: Buffer, slot: int) -> Content:
    """The precondition of one slot."""

def content_after(collective: Collective, shape: Shape, parts: Parts, rank: int, slot: int) -> Content:
    """The postcondition of one slot of the output; nothing: no demand."""

def may_alias(collective: Collective) -> bool:
    """May a rank's input be its output (MPI_IN_PLACE)?"""

class Function(enum.Enum):
    """A function of MPI that Stretto takes the place of."""

    barrier = 0

    bcast = 1

    gather = 2

    gatherv = 3

    scatter = 4

    scatterv = 5

    allgather = 6

    allgatherv = 7

    alltoall = 8

    alltoallv = 9

    alltoallw = 10

    reduce = 11

    allreduce = 12

    reduce_scatter_block = 13

    reduce_scatter = 14

    scan = 15

    exscan = 16

class FunctionFacts:
    """What holds of an MPI function."""

    @property
    def name(self) -> str: ...

    @property
    def collective(self) -> Collective:
        """What it asks for."""

    @property
    def irregular(self) -> bool:
        """The parts of the ranks may differ in size."""

    @property
    def bytes_known(self) -> bool:
        """To all ranks; else a choice goes by what they told each other of late."""

def all_functions() -> list[Function]: ...

def function_named(name: str) -> Function:
    """
    "reduce_scatter_block"; raises stretto.Error if there is none of that name.
    """

class Params:
    """What the chooser may vary."""

    def __init__(self, segment: int = 0, depth: int = 2, value: int = 0, list: Sequence[int] = []) -> None: ...

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

    @property
    def value(self) -> int:
        """Of the algorithm's own parameter; 0: its default."""

    @value.setter
    def value(self, arg: int, /) -> None: ...

    @property
    def list(self) -> Sequence[int]:
        """The algorithm's own list; empty: its default."""

    @list.setter
    def list(self, arg: Sequence[int], /) -> None: ...

    def __eq__(self, arg: Params, /) -> bool: ...

class Parameter:
    """A number that an algorithm leaves open, such as the radix of a tree."""

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> int:
        """The smallest value."""

    @property
    def most(self) -> int:
        """The largest value."""

    def default(self, shape: Shape) -> int:
        """The value if none is given."""

class RanksNeeded(enum.Enum):
    """Which numbers of ranks an algorithm is for."""

    any = 0

    even = 1

    power_of_two = 2

class Needs:
    """What must hold of a call."""

    @property
    def commutative(self) -> bool:
        """The operator must commute; if not, rank order is kept."""

    @property
    def ranks(self) -> RanksNeeded: ...

    @property
    def irregular(self) -> bool:
        """For the functions whose parts differ in size."""

    @property
    def counts(self) -> bool:
        """The schedule depends on Shape.counts."""

class Algorithm:
    """
    The record of an algorithm; rounds and blocks along the longest chain of rounds. Where a number of ranks or a parameter does not suit it, stretto.Error is raised.
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
    def needs(self) -> Needs: ...

    @property
    def parameter(self) -> Parameter | None:
        """The number that it leaves open."""

    @property
    def list(self) -> str | None:
        """Name of the list that it takes: "skips"."""

    @property
    def padded(self) -> bool:
        """Blocks of different sizes travel as if all had the largest one's."""

    @property
    def forwards(self) -> bool:
        """Ranks pass blocks of others on, whose sizes they may not know."""

    def blocks(self, shape: Shape, params: Params = ...) -> int: ...

    def rounds(self, shape: Shape, params: Params = ...) -> int: ...

    def sent(self, shape: Shape, params: Params = ...) -> int: ...

    def combined(self, shape: Shape, params: Params = ...) -> int: ...

    def at_most(self, shape: Shape, params: Params = ...) -> bool:
        """Are rounds, sent and combined bounds?"""

    def __repr__(self) -> str: ...

def all_algorithms() -> list[Algorithm]:
    """Every algorithm, sorted by id."""

def find_algorithm(id: str) -> Algorithm | None:
    """None if there is none of that id."""

def resolved(algorithm: Algorithm, shape: Shape, params: Params = ...) -> Params:
    """The parameters with the default of what they leave open."""

@overload
def unsuitable(algorithm: Algorithm, shape: Shape, params: Params = ...) -> str:
    """
    Why the algorithm cannot be built with such ranks and parameters, in words; empty if it can.
    """

@overload
def unsuitable(algorithm: Algorithm, function: Function, shape: Shape, commutative: bool = True, params: Params = ...) -> str:
    """The same for a call."""

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

class Passed:
    """A message as the checker saw it pass."""

    @property
    def step(self) -> int:
        """Both its ends had come to it, from 1."""

    @property
    def from_rank(self) -> int: ...

    @property
    def to_rank(self) -> int: ...

    @property
    def sent_in(self) -> int:
        """The sender's round, from 0."""

    @property
    def taken_in(self) -> int:
        """The receiver's round, from 0."""

    @property
    def combined(self) -> bool:
        """By its receive, or by another action of the same step."""

class Held:
    """What stands somewhere of a block."""

    @property
    def block(self) -> int: ...

    @property
    def result(self) -> bool:
        """It is in the output."""

    @property
    def contributions(self) -> list[int]:
        """Ranks, in the order of the operands."""

class Holding:
    """What a rank holds when a round has ended."""

    @property
    def step(self) -> int:
        """At whose end that was; 0: before the first."""

    @property
    def held(self) -> list[Held]:
        """Slots in the order in which they were first written."""

class Record:
    """All that ranks do."""

    @property
    def messages(self) -> list[Passed]:
        """
        Those that rank 0 takes, in that order, then those of rank 1, and so on.
        """

    def blocks_of(self, message: Passed) -> list[int]: ...

    @property
    def holdings(self) -> list[list[Holding]]:
        """Of each rank, the first before all rounds."""

def record(algorithm: Algorithm, shape: Shape, params: Params = ...) -> Record:
    """What an algorithm does that check_algorithm() has proved."""

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

def check_against_record(schedules: Sequence[Schedule], algorithm: Algorithm, shape: Shape, params: Params = ...) -> Checked:
    """
    The same for given schedules instead of those that the algorithm builds.
    """

class Variant:
    """Shape and parameters that an algorithm is tried with."""

    def __init__(self, shape: Shape, params: Params = ...) -> None: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def params(self) -> Params: ...

def variants(algorithm: Algorithm, ranks: int, root: int = 0) -> list[Variant]:
    """
    The default first, then other parameters, lists and counts, the same ones at every call; none if the algorithm is not for so many ranks.
    """

class Call:
    """What a choice may depend on: values that are equal on all ranks."""

    def __init__(self, function: Function, shape: Shape, bytes: int, commutative: bool = True, predefined: bool = True, per_node: int = 1, even_nodes: bool = True, oversubscribed: bool = False) -> None: ...

    @property
    def function(self) -> Function: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def bytes(self) -> int:
        """
        The whole vector: all parts together; of late, where not all ranks know it.
        """

    @property
    def commutative(self) -> bool: ...

    @property
    def predefined(self) -> bool: ...

    @property
    def per_node(self) -> int:
        """The most ranks that share a node's memory."""

    @property
    def even_nodes(self) -> bool:
        """Has each node as many?"""

    @property
    def oversubscribed(self) -> bool:
        """Has a node of these ranks more of the job's ranks than cores?"""

    @property
    def one_node(self) -> bool:
        """Do all ranks share memory?"""

class Choice:
    """What was chosen for a call, and why."""

    @property
    def algorithm(self) -> Algorithm | None:
        """None: the native library."""

    @property
    def params(self) -> Params: ...

    @property
    def reason(self) -> str: ...

    @property
    def line(self) -> int:
        """Of the rule that decided; 0: a wish did, or no rule fits."""

class AlgorithmSpec:
    """What the user's word for an algorithm says."""

    @property
    def algorithm(self) -> Algorithm | None:
        """None: the native library."""

    @property
    def params(self) -> Params: ...

class Override:
    """
    A choice that stands above the rules, where its algorithm can serve the call.
    """

    def __init__(self, spec: AlgorithmSpec, text: str) -> None: ...

    @property
    def spec(self) -> AlgorithmSpec: ...

    @property
    def text(self) -> str:
        """For people: "STRETTO_ALLREDUCE=ring"."""

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

class NodesAre(enum.Enum):
    """A rule's condition on the nodes of the ranks."""

    any = 0

    one = 1

    several = 2

    even = 3

class CoresAre(enum.Enum):
    """A rule's condition on the cores of the ranks."""

    any = 0

    own = 1

    shared = 2

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
    def function(self) -> Function: ...

    @property
    def bytes(self) -> Between: ...

    @property
    def part(self) -> Between:
        """Bytes of each rank's part, on average."""

    @property
    def ranks(self) -> Between: ...

    @property
    def per_node(self) -> Between:
        """Ranks of the fullest node."""

    @property
    def balanced(self) -> bool:
        """Demands blocks_balanced()."""

    @property
    def ranks_are(self) -> RanksAre: ...

    @property
    def operator_is(self) -> OperatorIs: ...

    @property
    def nodes_are(self) -> NodesAre: ...

    @property
    def cores_are(self) -> CoresAre: ...

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
    def machine(self) -> str:
        """The only one that they are for; empty: any."""

    @property
    def rules(self) -> list[Rule]: ...

def blocks_balanced(ranks: int, bytes: int) -> bool:
    """
    Do binary blocks of the ranks differ so little in size that reducing one into the other pays?
    """

def parse_rules(text: str, file: str = '<text>') -> Rules:
    """Raises stretto.Error that names `file` and the line."""

def read_rules(path: str) -> Rules: ...

def shipped_rules() -> Rules:
    """The rules that are part of the library."""

def parse_size(text: str) -> int | None:
    """"64K", "2M", "100" to bytes; None if it is no size."""

def choose(rules: Rules, call: Call, overrides: Sequence[Override] = []) -> Choice:
    """
    The algorithm of the first wish that can be granted, else of the first rule that fits.
    """

def chosen_alike(rules: Rules, call: Call) -> Between:
    """The numbers of bytes for which the rules choose as for this call."""

def written(algorithm: Algorithm | None, params: Params) -> str:
    """
    "ring segment=64K depth=4": an algorithm and parameters as they stand in a rule.
    """

def parse_algorithm_spec(function: Function, value: str) -> AlgorithmSpec:
    """
    Read "ring,segment=64K,depth=4", "kring,group=2" or "native"; raises stretto.Error.
    """

shipped_word: str = 'shipped'

class FoundRules:
    """Rules as text, and the sources above them that cannot be used."""

    @property
    def file(self) -> str:
        """A path, or "shipped rules"."""

    @property
    def text(self) -> str: ...

    @property
    def refused(self) -> list[tuple[str, str]]:
        """(message, hint) of each; the message says what decides instead."""

def find_rules(named: str, mpi: Callable[[], str]) -> FoundRules:
    """
    The rules that decide on this machine. `named` is the value of STRETTO_RULES, or empty; `mpi` is asked for the MPI's title if a file names a machine.
    """

def mpi_title(library_version: str) -> str:
    """"MPICH 5.0.2", "Open MPI 5.0.11": the MPI that says so of itself."""

def this_machine(mpi: str) -> str:
    """
    What stands in a machine line: model and number of this node's cores, and the MPI's title.
    """

def shipped_rules_text() -> str:
    """The file that is part of the library, word for word."""

def tuned_rules_path() -> str:
    """
    Where the rules tuned for this machine are looked for; empty if the environment names no folder.
    """

class Link:
    """
    What the messages of one level cost: α-β, or seconds by bytes. Times in seconds.
    """

    def __init__(self, *, alpha: float = 0.0, beta: float = 0.0, f_alpha: float = 1.0, f_beta: float = 1.0, message: Sequence[tuple[float, float]] = [], send_overhead: float = 0.0, receive_overhead: float = 0.0, contention: Sequence[tuple[float, float]] = []) -> None: ...

    @property
    def alpha(self) -> float:
        """Of a message, while both ranks send to each other."""

    @property
    def beta(self) -> float:
        """Per byte, likewise."""

    @property
    def f_alpha(self) -> float:
        """Share of α in a round that only sends or only receives."""

    @property
    def f_beta(self) -> float:
        """The same of β."""

    @property
    def message(self) -> list[tuple[float, float]]:
        """Seconds by bytes, instead of α and β."""

    @property
    def send_overhead(self) -> float:
        """Of the sender for each message, beside α."""

    @property
    def receive_overhead(self) -> float: ...

    @property
    def contention(self) -> list[tuple[float, float]]:
        """By ranks of a node that use the level at once: so many times slower."""

    def latency(self) -> float:
        """Of an empty message."""

    def transfer(self, bytes: float) -> float:
        """What a message takes longer than an empty one."""

    def slowdown(self, ranks: float) -> float: ...

    def __eq__(self, arg: Link, /) -> bool: ...

class Operation:
    """What combines: "sum" of "f64". Empty: any."""

    def __init__(self, name: str = '', type: str = '') -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

class Speed:
    """Seconds per byte of an operation."""

    def __init__(self, operation: Operation, gamma: float) -> None: ...

    @property
    def operation(self) -> Operation: ...

    @property
    def gamma(self) -> float: ...

class Placement:
    """Where the ranks are: node n has ranks n·k … n·k + k-1."""

    def __init__(self, ranks_per_node: int = 1) -> None: ...

    @property
    def ranks_per_node(self) -> int: ...

class Machine:
    """
    What messages and reductions cost. Raises stretto.Error if that makes no sense.
    """

    def __init__(self, *, name: str = '', fingerprint: str = '', node: Link = ..., network: Link = ..., gamma: float = 0.0, speeds: Sequence[Speed] = [], copy: float = 0.0, cores: int = 0, wait: float = 0.0, in_turn: bool = False) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Of the machine that was measured; empty: of none."""

    @property
    def node(self) -> Link: ...

    @property
    def network(self) -> Link: ...

    @property
    def gamma(self) -> float:
        """Seconds per byte that is combined."""

    @property
    def speeds(self) -> list[Speed]:
        """Of operations that differ from that."""

    @property
    def copy(self) -> float:
        """Seconds per byte that is copied within a rank."""

    @property
    def cores(self) -> int:
        """Of a node; 0: one for every rank."""

    @property
    def wait(self) -> float:
        """Of a rank for a message, where a core has to serve two ranks."""

    @property
    def in_turn(self) -> bool:
        """Messages of a round leave one after the other."""

    def gamma_of(self, operation: Operation) -> float: ...

def oversubscribed(machine: Machine, ranks_per_node: int) -> bool:
    """Do ranks share a core?"""

class Prediction:
    """The seconds of a call, and what of them goes to what."""

    @property
    def seconds(self) -> float: ...

    @property
    def latency(self) -> float:
        """α, and the overheads of messages."""

    @property
    def bandwidth(self) -> float:
        """Bytes on their way or copied."""

    @property
    def reduction(self) -> float: ...

    @property
    def waiting(self) -> float:
        """For a port, a core or a wire that others use."""

class Load:
    """What is to be done with an algorithm."""

    def __init__(self, bytes: int, segment: int = 0, depth: int = 2, operation: Operation = ...) -> None: ...

    @property
    def bytes(self) -> int:
        """The whole vector: all parts together."""

    @property
    def segment(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def operation(self) -> Operation: ...

def formula(algorithm: Algorithm, shape: Shape, params: Params, load: Load, machine: Machine, placement: Placement = ...) -> Prediction:
    """rounds·α + bytes sent·β + bytes combined·γ, by the algorithm's record."""

def formula_misses(algorithm: Algorithm, shape: Shape, load: Load, machine: Machine, placement: Placement = ..., params: Params = ...) -> str:
    """Why the formula is not what the simulation gives; empty if it is."""

class TraceEvent:
    """Something that one rank does for a while."""

    @property
    def activity(self) -> str: ...

    @property
    def rank(self) -> int: ...

    @property
    def peer(self) -> int:
        """-1 if there is none."""

    @property
    def start(self) -> float:
        """Seconds."""

    @property
    def seconds(self) -> float: ...

    @property
    def bytes(self) -> float: ...

    @property
    def round(self) -> int: ...

    @property
    def segment(self) -> int: ...

class Simulator:
    """
    The schedules of an algorithm, reduced to what time depends on. Raises stretto.Error where there would be too much to do.
    """

    def __init__(self, algorithm: Algorithm, shape: Shape, params: Params = ..., placement: Placement = ..., all_ranks: bool = False, function: Function | None = None) -> None: ...

    def run(self, load: Load, machine: Machine) -> Prediction:
        """The time of a call."""

    def trace(self, load: Load, machine: Machine) -> list[TraceEvent]:
        """What every rank does, in the order of ranks and time."""

    @property
    def simulated_ranks(self) -> int:
        """
        Fewer than all where ranks do the same but for a rotation of their numbers.
        """

    @property
    def rounds(self) -> int:
        """Of all simulated ranks."""

def predict(algorithm: Algorithm, shape: Shape, params: Params, bytes: int, machine: Machine, placement: Placement = ..., operation: Operation = ...) -> Prediction:
    """The time of a call: by the formula where it holds, else by simulation."""

class Vertex:
    """A switch or a machine, with its link to the switch above."""

    def __init__(self, name: str, above: int = -1, machine: bool = False, bandwidth: float = 0.0, latency: float = 0.0) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def above(self) -> int:
        """Which of the vertices; -1: it is on top."""

    @property
    def machine(self) -> bool: ...

    @property
    def bandwidth(self) -> float:
        """Of the link: bytes per second in each direction; 0: unlimited."""

    @property
    def latency(self) -> float:
        """Of the link, in seconds."""

class Topology:
    """
    A tree of switches with ranks on its machines. Raises stretto.Error if it is none.
    """

    def __init__(self, vertices: Sequence[Vertex], machine_of_rank: Sequence[int]) -> None: ...

    @property
    def vertices(self) -> list[Vertex]: ...

    @property
    def below(self) -> list[list[int]]:
        """Of each vertex, those of lower ranks first."""

    @property
    def top(self) -> int: ...

    @property
    def ranks(self) -> int: ...

    @property
    def ring(self) -> list[int]:
        """The ranks as a depth-first walk meets them: a ring without contention."""

    @property
    def ways(self) -> int:
        """Directed links: two of each vertex, then two of each rank."""

    def machine_of(self, rank: int) -> int: ...

    def name_of(self, way: int) -> str:
        """"s1 to s0"."""

    def latency(self, from_rank: int, to_rank: int) -> float: ...

def two_levels(nodes: Sequence[int], bandwidth: float = 0.0, latency: float = 0.0) -> Topology:
    """Nodes on one switch; `nodes` says for every rank on which it is."""

class Transfer:
    """A message of a schedule, in a step as the checker counts them."""

    @property
    def step(self) -> int: ...

    @property
    def from_rank(self) -> int: ...

    @property
    def to_rank(self) -> int: ...

    @property
    def blocks(self) -> int: ...

class Messages:
    """All messages of an algorithm, sorted by step."""

    def __init__(self, algorithm: Algorithm, shape: Shape, params: Params = ...) -> None:
        """Raises stretto.Error where there are too many."""

    def __len__(self) -> int: ...

    def of_step(self, step: int) -> list[Transfer]:
        """Steps count from 1."""

class StepTraffic:
    """The messages of one step, on the tree."""

    @property
    def messages(self) -> int: ...

    @property
    def shared(self) -> int:
        """Ways that several messages use: 0 if it is contention-free."""

    @property
    def most(self) -> int:
        """Messages on one way."""

    @property
    def where(self) -> int:
        """That way."""

    @property
    def latency(self) -> float:
        """Of the longest path."""

    @property
    def per_block(self) -> float:
        """Seconds of the slowest way, for every byte of a block."""

class Traffic:
    """What all messages of a schedule do on a tree."""

    @property
    def steps(self) -> list[StepTraffic]: ...

    @property
    def most(self) -> list[int]:
        """Messages of one step, by way."""

    @property
    def blocks(self) -> list[int]:
        """Of all steps, by way."""

    @property
    def latency(self) -> float: ...

    @property
    def per_block(self) -> float: ...

    @property
    def busiest(self) -> float:
        """Seconds of the most used way, for every byte of a block."""

    @property
    def contention_free(self) -> bool: ...

class TreeTime:
    """The time of a call on a tree, and in how many segments."""

    @property
    def seconds(self) -> float: ...

    @property
    def segments(self) -> int: ...

def time_on_tree(traffic: Traffic, blocks: int, bytes: int) -> TreeTime:
    """
    Step by step, or in segments that follow each other as closely as the busiest way lets them.
    """

class Bound:
    """What a collective takes at least, and why."""

    @property
    def seconds(self) -> float: ...

    @property
    def reason(self) -> str: ...

def lower_bound(topology: Topology, collective: Collective, root: int, bytes: int) -> Bound:
    """What a collective of so many bytes takes at least on the tree."""

def traffic(topology: Topology, messages: Messages) -> Traffic:
    """Which messages of a step share links."""

def sharing(topology: Topology, messages: Messages, step: int, way: int) -> list[Transfer]:
    """The messages of a step that use a way."""
