# SPDX-License-Identifier: BSD-3-Clause
"""What algorithms do on a tree: contention by step, and time against the lower bound."""

from collections.abc import Iterable
from dataclasses import dataclass

from .. import _core
from ..errors import Error
from ..simulation import Call
from .lists import list_for

NAMED = 6  # messages of a step that are named


@dataclass(frozen=True)
class Contention:
    """Of one schedule."""

    topology: _core.Topology
    messages: _core.Messages
    traffic: _core.Traffic

    def as_json(self) -> dict:
        steps = []
        for number, step in enumerate(self.traffic.steps, 1):
            found = {
                "step": number, "messages": step.messages, "shared_links": step.shared,
                "most": step.most, "link": None, "sharing": [],
            }  # fmt: skip
            if step.shared:
                found["link"] = self.topology.name_of(step.where)
                found["sharing"] = self.sharing(number)
            steps.append(found)
        return {"contention_free": self.traffic.contention_free, "steps": steps}

    def sharing(self, step: int) -> list[list[int]]:
        """[from, to] of the messages on the link that most of the step use."""
        where = self.traffic.steps[step - 1].where
        found = _core.sharing(self.topology, self.messages, step, where)
        return [[t.from_rank, t.to_rank] for t in found]


def contention(
    topology: _core.Topology, algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params
) -> Contention:
    messages = _core.Messages(algorithm, shape, params)
    return Contention(topology, messages, _core.traffic(topology, messages))


def lines_of(found: Contention) -> list[str]:
    """Contention in words; steps that look alike stand in one line."""
    if found.traffic.contention_free:
        steps = len(found.traffic.steps)
        return [f"contention-free: no link has two messages in any of {steps} steps"]
    lines: list[tuple[int, int, str]] = []
    for step in found.as_json()["steps"]:
        text = "contention-free"
        if step["shared_links"]:
            named = [f"{a}→{b}" for a, b in step["sharing"][:NAMED]]
            more = "" if step["most"] <= NAMED else f" and {step['most'] - NAMED} more"
            count = step["shared_links"]
            text = (
                f"{count} link{'s' * (count > 1)} shared, the most by {step['most']} messages, "
                f"{step['link']}: {' '.join(named)}{more}"
            )
        number = step["step"]
        if lines and lines[-1][2] == text:
            lines[-1] = (lines[-1][0], number, text)
        else:
            lines.append((number, number, text))
    head = [("step" if a == b else "steps") + f" {a}" + f"-{b}" * (a != b) for a, b, _ in lines]
    width = max(map(len, head))
    return [f"{name:{width}}  {text}" for name, (_, _, text) in zip(head, lines, strict=True)]


def against_bound(
    topology: _core.Topology,
    call: Call,
    candidates: Iterable[tuple[_core.Algorithm, _core.Shape, _core.Params]],
) -> tuple[_core.Bound, list[dict], dict[str, str]]:
    """The bound; each algorithm with its default parameters or those given, and in the order of the
    ring where it takes one, the nearest to the bound first; and why some are not there."""
    collective = _core.facts(call.function).collective
    bound = _core.lower_bound(topology, collective, call.root, call.bytes)
    rows, refused = [], {}
    for algorithm, shape, params in candidates:
        tried = [(params, "")]
        own = list_for(algorithm, topology, call.ranks) if not params.list else []
        if own:
            words = f"in the {algorithm.list} of the tree"
            tried.append((_core.Params(value=params.value, list=own), words))
        for one, words in tried:
            try:
                traffic = _core.traffic(topology, _core.Messages(algorithm, shape, one))
                time = _core.time_on_tree(traffic, algorithm.blocks(shape, one), call.bytes)
            except Error as error:
                refused[algorithm.id] = str(error)
                continue
            row = {
                "algorithm": algorithm.id,
                "order": words,
                "list": one.list,
                "seconds": time.seconds,
                "segments": time.segments,
                "times_bound": time.seconds / bound.seconds if bound.seconds else None,
                "most": max(traffic.most, default=0),
                "contention_free": traffic.contention_free,
            }
            rows.append(row)
    rows.sort(key=lambda row: (row["seconds"], row["algorithm"], row["order"]))
    return bound, rows, refused
