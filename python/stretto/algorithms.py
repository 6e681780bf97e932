# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms by name, with help for those who mistype."""

import difflib

from . import _core
from .errors import Error

CALL_PARAMETERS = ("segment", "depth", "copy")  # of how a call runs a schedule


def near(word: str, known: list[str]) -> str:
    """A hint with the names nearest to `word`, or with all of them."""
    nearest = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if nearest:
        return "did you mean " + " or ".join(nearest) + "?"
    return "use one of " + ", ".join(known)


def plain(name: str) -> str:
    """A name as Stretto writes it: "MPI_Allreduce" and "ALLREDUCE" are "allreduce"."""
    return name.strip().lower().removeprefix("mpi_")


def function_named(name: str) -> _core.Function:
    """The function of MPI, in whatever letters; raises Error that names the nearest ones."""
    found = _core.find_function(plain(name))
    if found is None:
        names = [_core.facts(function).name for function in _core.all_functions()]
        raise Error(f"no function of MPI is called '{name}'", near(plain(name), names))
    return found


def algorithm_named(name: str) -> _core.Algorithm:
    """The algorithm of this id; raises Error that names the nearest ids, or those of a collective
    or function."""
    found = _core.find_algorithm(plain(name))
    if found is not None:
        return found
    if own := _of_one_name(plain(name)):
        hint = "take one of its algorithms: " + ", ".join(one.id for one in own)
        raise Error(f"'{name}' is a collective, not an algorithm", hint)
    name = plain(name)
    ids = [algorithm.id for algorithm in _core.all_algorithms()]
    same_name = [known for known in ids if known.partition("/")[2] == name]
    hint = "did you mean " + " or ".join(same_name) + "?" if same_name else near(name, ids)
    if "did you mean" not in hint:
        hint = "`stretto list` shows all algorithms"
    raise Error(f"no algorithm is called '{name}'", hint)


def algorithm_and_params(words: str) -> tuple[_core.Algorithm, _core.Params]:
    """Reads "allgather/circulant,skips=3:1", the form of the STRETTO_ variables; raises Error."""
    name, comma, rest = words.partition(",")
    algorithm = algorithm_named(name)
    if not comma:
        return algorithm, _core.Params()
    function = functions_of(algorithm)[0]
    given = {word.partition("=")[0] for word in rest.split(",")}
    if given & set(CALL_PARAMETERS):
        raise Error(
            "a schedule does not depend on segment, depth and copy",
            "all segments of a call run the same one; leave them out",
        )
    try:
        return algorithm, _core.parse_algorithm_spec(function, f"{algorithm.name},{rest}").params
    except Error as error:  # the core's hint names parameters that have no place here
        wrong = str(error).startswith("wrong parameter")
        raise Error(str(error), _own_parameters(algorithm) if wrong else error.hint) from None


def _own_parameters(algorithm: _core.Algorithm) -> str:
    """A hint: what a schedule depends on."""
    own = algorithm.parameter
    words = [f"{own.name}={own.least}…{own.most}"] if own else []
    words += [f"{algorithm.list}=A:B:C"] if algorithm.list else []
    return f"{algorithm.id} takes " + " and ".join(words or ["no parameters"])


def title_of(algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params) -> str:
    """The algorithm with its parameters, as options take it."""
    words = _core.to_text(_core.Variant(shape, params), algorithm)
    return f"{algorithm.id},{words}" if words else algorithm.id


def functions_of(algorithm: _core.Algorithm) -> list[_core.Function]:
    """The functions of MPI that it can serve."""
    own = [f for f in _core.all_functions() if _core.facts(f).collective == algorithm.collective]
    return [f for f in own if _core.facts(f).irregular or not algorithm.needs.irregular]


def _of_one_name(name: str) -> list[_core.Algorithm]:
    """Of a collective, or else of a function of MPI; none if it is neither."""
    everything = _core.all_algorithms()
    if name in {_core.facts(c).name for c in _core.all_collectives()}:
        return [a for a in everything if a.id.startswith(name + "/")]
    function = _core.find_function(name)
    return [a for a in everything if function is not None and function in functions_of(a)]


def algorithms_matching(names: list[str]) -> list[_core.Algorithm]:
    """By id, collective or function of MPI, each once, in the list's order; all for no names."""
    everything = _core.all_algorithms()
    if not names:
        return everything
    wanted: set[str] = set()
    for name in names:
        own = _of_one_name(plain(name)) or [algorithm_named(name)]
        wanted |= {algorithm.id for algorithm in own}
    return [a for a in everything if a.id in wanted]
