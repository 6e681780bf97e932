# SPDX-License-Identifier: BSD-3-Clause
"""A plan as an algorithm's file: proved, drawn, simulated and run like one of Stretto's form."""

import re
from dataclasses import dataclass, replace

from .. import _core
from .msccl import read_msccl
from .mscclpp import read_mscclpp
from .nodes import Place, Plan, RefutedError
from .schedules import AllRanks, Analysed, Form, Where, analysed
from .write_msccl import msccl
from .write_mscclpp import mscclpp


@dataclass(frozen=True)
class PlanChecked:
    """As a Checked, in the plan's terms."""

    measured: _core.Measured
    refused: RefutedError | None


@dataclass(frozen=True)
class Try:
    """One way to write a plan as schedules, and what the checker says of it."""

    form: Form
    ranks: AllRanks
    schedules: list[_core.Schedule]
    commutative: bool
    checked: _core.Checked

    @property
    def cost(self) -> tuple[int, int]:
        return self.checked.measured.sent, self.checked.measured.rounds


def _try(found: Analysed, form: Form) -> Try:
    """Operators need not commute where the plan happens to keep the order, and the input is saved
    where a plan that is not for calls in place would spoil it there."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", found.plan.name) or "plan"
    ranks = AllRanks(found, f"{found.plan.collective}/{name}", form)
    schedules = ranks.schedules()
    for commutative in (False, True):  # plans are for operators that commute
        file = _core.AlgorithmFile(ranks.id, commutative, schedules)
        checked = file.proof(found.plan.ranks, found.plan.root)
        if not checked.refused or checked.refused.name != "wrong order":
            break
    if checked.refused and checked.refused.message.endswith("(in place)") and not form.save:
        return _try(found, replace(form, save=True))
    return Try(form, ranks, schedules, commutative, checked)


class PlanFile(_core.AlgorithmFile):
    """The schedules of a plan, which holds for one number of GPUs: in the form that sends least
    along the longest chain, then with the fewest rounds."""

    def __init__(self, plan: Plan) -> None:
        found = analysed(plan)
        lanes = plan.chunks if plan.collective == "alltoall" else None
        best = _try(found, Form(lane=lanes and 0))
        if not best.checked.refused and found.rounds(True) != found.rounds(False):
            other = _try(found, Form(True, lane=lanes and 0))
            if not other.checked.refused and other.cost < best.cost:
                best = other
        further = [
            AllRanks(found, best.ranks.id, replace(best.form, lane=lane)).schedules()
            for lane in range(1, lanes or 1)
        ]
        texts = {_core.schedules_to_text(one, False) for one in [best.schedules, *further]}
        super().__init__(f"{plan.collective}/file:{plan.path}", best.commutative, best.schedules)
        self.plan = plan
        self.places = best.ranks.places  # of each rank's rounds
        # Of further chunks of a pair that go other ways.
        self.others = further if len(texts) > 1 else []
        # The step that wrote a block of the output, by GPU.
        self.results = best.ranks.results()

    def proof(self, ranks: int, root: int | None = None) -> PlanChecked:
        """Of all its parts; a refusal names the step. The root is the plan's if not given."""
        root = self.plan.root if root is None else root
        checked = super().proof(ranks, root)
        why = checked.refused
        for other in self.others:
            if not why:
                file = _core.AlgorithmFile(self.algorithm.id, False, other)
                why = file.proof(ranks, root).refused
        return PlanChecked(checked.measured, why and self._refuted(why))

    def _refuted(self, why: _core.Refused) -> RefutedError:
        """With the step that the refusal speaks of: for a result, that which wrote it last."""
        where, message = self.plan.path, why.message.partition(", after round ")[0]
        if found := re.search(r"rank (\d+), round (\d+)", message):
            rank, round_ = map(int, found.groups())
            if place := self._step(rank, round_ - 1, message):
                where = self.plan.at(place)
        elif found := re.search(r"output\[(\d+)\]", message):
            rank = int(re.findall(r"rank (\d+)", message)[-1 if "different" in why.name else 0])
            if place := self.results.get((rank, int(found[1]))):
                where = self.plan.at(place)
        return RefutedError(self.plan, where, why.name, message)

    def _step(self, rank: int, round_: int, message: str) -> Place | None:
        """The last step of a round that writes, or sends, the block that the message names."""
        steps = self.places[rank][round_] if 0 <= round_ < len(self.places[rank]) else []
        found = [place for place, slots in steps if any(_name(one) in message for one in slots)]
        return found[-1] if found else steps[0][0] if steps else None


def _name(where: Where) -> str:
    """As the checker names a block."""
    return f"{where[0].name}[{where[1]}]"


def read_plan(text: str, path: str) -> PlanFile:
    """Raises Error for what cannot be read or expressed, RefutedError for what is wrong."""
    read = read_msccl if text.lstrip().startswith("<") else read_mscclpp
    return PlanFile(read(text, path))


def write_plan(form: str, schedules: list[_core.Schedule]) -> str:
    """Of all ranks, proved; raises Error for what no plan can say."""
    return msccl(schedules) if form == "msccl" else mscclpp(schedules)
