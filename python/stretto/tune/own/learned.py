# SPDX-License-Identifier: BSD-3-Clause
"""What programs learned on this machine: where tuning begins, and what it may overrule."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ... import _core
from ...errors import Error
from ...files import read_text
from ...learned import HINT, forget, parse_learned
from .choice import GAIN, Choice, Times
from .paired_benchmark import Place
from .points import Candidate, Point, candidate, chosen, does, parsed


@dataclass(frozen=True)
class Class:
    """Of calls, of which a point is one."""

    conditions: str
    choice: Candidate


@dataclass(frozen=True)
class Learned:
    """Of points that are to be tuned, those of which something was learned."""

    path: Path | None = None
    classes: Mapping[Point, Class] = field(default_factory=dict)

    def candidate(self, point: Point) -> Candidate | None:
        known = self.classes.get(point)
        return known.choice if known else None


def learned_here(
    machine: str, points: Iterable[Point], places: Mapping[int, Place], say: Callable[[str], None]
) -> Learned:
    """Of the user's file for `machine`; a file that cannot be read is named by `say`, and left."""
    folder, _ = _core.config_folders()
    path = Path(_core.learned_rules_path(folder, machine)) if folder else None
    if path is None or not path.exists():
        return Learned()
    try:
        text = read_text(path, HINT)
        rules, lines = _core.parse_rules(text, str(path)), parse_learned(text, str(path))
    except Error as error:
        say(f"{error}; it is ignored")
        return Learned()
    if rules.machine != machine:
        say(f"{path}: it is for '{rules.machine}', and this is '{machine}'; it is ignored")
        return Learned()
    conditions = {one.line: one.conditions for one in lines}
    found = {}
    for point in points:
        place = places[point.ranks]
        choice = chosen(rules, point, place.placement.ranks_per_node, place.cores)
        if choice.line in conditions:
            own = candidate(choice.algorithm, choice.params)
            found[point] = Class(conditions[choice.line], own)
    return Learned(path, found)


def overruled(
    learned: Learned,
    chosen_now: Iterable[Choice],
    times: Mapping[Point, Times],
    doubtful: Collection[Point],
) -> dict[str, Choice]:
    """The classes, by their conditions, of which a choice was measured that is faster by more than
    a rule is worth. `times` are of all that was timed, confirmed or not."""
    found: dict[str, Choice] = {}
    for one in chosen_now:
        known, own = learned.classes.get(one.point), times.get(one.point)
        if not known or not own or one.point in doubtful:
            continue
        words = one.words or own.shipped
        if does(one.point, parsed(one.point, words)) == does(one.point, known.choice):
            continue
        now, before = own.us.get(words), own.us.get(known.choice.words)
        if now and before and math.log(before / now) > GAIN:
            found[known.conditions] = one
    return found


def take_out(learned: Learned, conditions: Collection[str]) -> None:
    """These classes out of the file, for it decides before what was tuned."""
    if learned.path and conditions:
        forget(learned.path, lambda one: one.conditions in conditions)
