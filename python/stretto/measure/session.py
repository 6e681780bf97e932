# SPDX-License-Identifier: BSD-3-Clause
"""What measures as long as its time lasts."""

import time
from collections.abc import Callable
from dataclasses import dataclass

Advance = Callable[..., None]  # (done, of=None, what=""): a progress bar's


def unseen(done: float, of: float | None = None, what: str = "") -> None:
    """Nobody watches."""


@dataclass
class Request:
    """What is to be measured, in so many seconds."""

    ranks: list[int]
    names: list[str]
    sizes: list[int]
    budget: float
    limit: float = 30.0  # that a point may take


class Session:
    """Its clock begins when it is made."""

    def __init__(self) -> None:
        self.begin(unseen)

    def begin(self, advance: Advance) -> None:
        """The clock, anew."""
        self._begun = time.monotonic()
        self._advance = advance

    def elapsed(self) -> float:
        return time.monotonic() - self._begun


class TuningSession(Session):
    """One with a budget."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request

    def say(self, what: str) -> None:
        budget = self.request.budget
        self._advance(min(self.elapsed(), budget), budget, what)

    def left(self, share: float = 1.0) -> float:
        """Seconds of that share of the budget."""
        return share * self.request.budget - self.elapsed()
