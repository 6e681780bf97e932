# SPDX-License-Identifier: BSD-3-Clause
"""Proved schedules as C files that need nothing but an MPI (docs/topology.md).

programs.py finds what the schedules of all ranks have in common, text.py writes it, functions.py
and routine.c are what every file has around it. For a tree, as the routine generator of Patarasuk
and Yuan (2007, section 4): its ring, or a chain along it.
"""

from .. import _core
from ..algorithms import algorithm_named, function_named, functions_of, near, plain
from ..errors import Error
from ..portfolio import refuse
from ..schedule_files import case_in, proved, read_algorithm
from ..topology.lists import list_for
from .file import write
from .functions import FUNCTIONS
from .tables import Wanted

# For a tree.
RINGS = {
    "allreduce": "logical_ring",
    "reduce_scatter": "logical_ring",
    "allgather": "logical_ring",
    "allgatherv": "logical_ring,segment=64K",
    "bcast": "logical_chain,segment=64K",
    "reduce": "logical_chain,segment=64K",
}
MOST_MESSAGES = 200_000  # some ten seconds


def _choice(words: str, has_tree: bool) -> tuple[str, str]:
    """The function, and the algorithm with its parameters."""
    name, slash, algorithm = words.partition("/")
    name = plain(name)
    if slash:
        if name not in FUNCTIONS:
            raise Error(f"'{name}' cannot be written in C", near(name, list(FUNCTIONS)))
        return name, algorithm
    if name not in RINGS:
        raise Error(f"no ring serves '{name}'", near(name, list(RINGS)) + f", or {name}/ALGORITHM")
    if not has_tree:
        raise Error(
            "neither a topology nor hosts",
            f"give --topology or --hosts for their ring, or {name}/ALGORITHM and --ranks",
        )
    return name, RINGS[name]


def _read(function: str, words: str) -> tuple[_core.Algorithm, _core.Params]:
    """As "ring,segment=64K"; also those that MPI has a use for only where parts differ in size."""
    collective = _core.facts(_core.facts(function_named(function)).collective).name
    algorithm = algorithm_named(f"{collective}/{words.partition(',')[0]}")
    return algorithm, _core.parse_algorithm_spec(functions_of(algorithm)[0], words).params


def _refuse(function: str, algorithm: _core.Algorithm, params: _core.Params) -> None:
    """What the C cannot do."""
    what = FUNCTIONS[function]
    if what.irregular and not what.segments and (algorithm.forwards or algorithm.needs.counts):
        raise Error(
            f"{algorithm.id} passes on parts whose sizes the ranks of {function} do not know",
            f"take one that does not, or {algorithm.id}",
        )
    if what.irregular and algorithm.padded:
        raise Error(f"{algorithm.id} needs to know the largest part first", f"write {algorithm.id}")
    if params.segment and not what.segments:
        raise Error(f"a {function} is not cut into segments", "leave segment out")


def _checked(wanted: Wanted) -> _core.Measured:
    """What all ranks do, for each root; raises Error unless it is proved."""
    measured = None
    for root in wanted.roots:
        shape = wanted.shape(root)
        checked = _core.check_algorithm(wanted.algorithm, shape, wanted.params)
        refuse(wanted.algorithm, checked)
        measured = measured or checked.measured
    return measured


def _refuse_what_takes_long(wanted: Wanted) -> None:
    ranks = wanted.ranks
    sample = dict.fromkeys((wanted.roots[0], (wanted.roots[0] + 1) % ranks, ranks // 2), 0)
    for rank in sample:
        schedule = wanted.schedule(wanted.roots[0], rank)
        sample[rank] = sum(len(one.sends) + len(one.actions) for one in schedule.rounds)
    messages = sum(sample.values()) / len(sample) * ranks * len(wanted.roots)
    if messages > MOST_MESSAGES:
        raise Error(
            f"{wanted.algorithm.id} on {ranks} ranks is too large to write out: some "
            f"{messages / 1e6:.3g} million messages and other things to do",
            "take fewer ranks" + ", or one --root" * (len(wanted.roots) > 1),
        )


def _wanted(
    words: str, ranks: int | None, root: int | None, topology: _core.Topology | None, options: str
) -> Wanted:
    """What "allreduce/ring" is, or a function's ring on a tree; raises Error."""
    function, name = _choice(words, topology is not None)
    algorithm, params = _read(function, name)
    if topology is not None:
        ranks = topology.ranks
        if ranks == 0:
            raise Error("the topology has no ranks", "give --ranks")
        if not params.list:
            params.list = list_for(algorithm, topology, ranks)
    if ranks is None:
        raise Error(f"{function}/{algorithm.name} for how many ranks?", "give --ranks")
    rooted = _core.facts(algorithm.collective).rooted
    if root is not None and not (rooted and root < ranks):
        raise Error(f"{function} on {ranks} ranks has no root {root}", "leave --root out")
    roots = [root] if root is not None else list(range(ranks)) if rooted else [0]
    return Wanted(function, algorithm, params, ranks, roots, f"{words} {options}".strip(), topology)


def generate(
    words: str, ranks: int | None, root: int | None, topology: _core.Topology | None, options: str
) -> str:
    """The C file of "allreduce/ring", or of a function's ring on a tree, which names the options
    that it was made with; raises Error for what cannot be written."""
    wanted = _wanted(words, ranks, root, topology, options)
    _refuse(wanted.function, wanted.algorithm, wanted.params)
    _refuse_what_takes_long(wanted)
    return write(wanted, _checked(wanted))


def generate_plan(
    form: str, words: str, ranks: int | None, root: int | None, topology: _core.Topology | None
) -> str:
    """The same as a plan for GPUs (docs/plans.md): `form` is "msccl" or "mscclpp"."""
    from ..plans.file import write_plan

    wanted = _wanted(words, ranks, root, topology, "")
    if wanted.params.segment:
        raise Error("a plan is not cut into segments", "leave segment out")
    if wanted.function.endswith("v"):
        raise Error(f"in a plan all parts are of one size, unlike in {wanted.function}",
                    f"write {wanted.algorithm.id}")  # fmt: skip
    _refuse_what_takes_long(wanted)
    _checked(wanted)
    first = wanted.roots[0]
    return write_plan(form, [wanted.schedule(first, one) for one in range(wanted.ranks)])


def plan_of_file(form: str, file: str, ranks: int | None, root: int | None) -> str:
    """The schedules of a file, or of another plan, as a plan for GPUs; raises Error."""
    from ..plans.file import write_plan

    held = read_algorithm(file)
    shape = case_in(held, file, ranks, root)
    proved(held, shape)
    return write_plan(form, held.schedules(shape.ranks, shape.root))
