# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms by name, with help for those who mistype."""

import difflib

from . import _core
from .errors import Error


def near(word: str, known: list[str]) -> str:
    """A hint with the names nearest to `word`, or with all of them."""
    nearest = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if nearest:
        return "did you mean " + " or ".join(nearest) + "?"
    return "use one of " + ", ".join(known)


def algorithm_named(name: str) -> _core.Algorithm:
    """The algorithm of this id; raises Error that names the nearest ids."""
    found = _core.find_algorithm(name)
    if found is not None:
        return found
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
    params = _core.parse_algorithm_spec(function, f"{algorithm.name},{rest}").params
    if (params.segment, params.depth) != (0, 2):
        raise Error(
            "a schedule does not depend on segment and depth",
            "all segments of a call run the same one; leave them out",
        )
    return algorithm, params


def title_of(algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params) -> str:
    """The algorithm with its parameters, as options take it."""
    words = _core.to_text(_core.Variant(shape, params), algorithm)
    return f"{algorithm.id},{words}" if words else algorithm.id


def functions_of(algorithm: _core.Algorithm) -> list[_core.Function]:
    """The functions of MPI that it can serve."""
    own = [f for f in _core.all_functions() if _core.facts(f).collective == algorithm.collective]
    return [f for f in own if _core.facts(f).irregular or not algorithm.needs.irregular]


def algorithms_matching(names: list[str]) -> list[_core.Algorithm]:
    """By id, collective or function of MPI, each once, in the list's order; all for no names."""
    everything = _core.all_algorithms()
    if not names:
        return everything
    wanted: set[str] = set()
    collectives = {_core.facts(c).name for c in _core.all_collectives()}
    functions = {_core.facts(f).name: f for f in _core.all_functions()}
    for name in names:
        if name in collectives:
            wanted |= {a.id for a in everything if a.id.startswith(name + "/")}
        elif name in functions:
            wanted |= {a.id for a in everything if functions[name] in functions_of(a)}
        else:
            wanted.add(algorithm_named(name).id)
    return [a for a in everything if a.id in wanted]
