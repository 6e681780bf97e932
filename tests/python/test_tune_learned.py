# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune` begins with what programs learned, and overrules it by measurements alone."""

from pathlib import Path

import pytest
import stretto
from stretto.learned import read_learned
from stretto.measure.points import BACK_TO_BACK
from stretto.tune.own.choice import SHIPPED, Choice, Times
from stretto.tune.own.journal import Journal
from stretto.tune.own.learned import Learned, learned_here, overruled, take_out
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.points import Candidate, Point, shipped
from stretto.tune.own.residual_correction import ResidualCorrection
from stretto.tune.own.search import MOST, Search

MACHINE = "made-up processor, 8 cores, MPICH 5.0.2"
PLACES = {4: Place(4, 1, 8, MACHINE)}
SMALL = Point("allreduce", 4, 4096)
LARGE = Point("allreduce", 4, 1 << 20)
OTHER = Point("bcast", 4, 4096)


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = Path(stretto.learned_rules_path(str(tmp_path / "stretto"), MACHINE))
    path.parent.mkdir(parents=True)
    head = "ranks=4 nodes=1 cores=own"
    path.write_text(
        f"stretto-rules 2\nmachine {MACHINE}\n"
        f"allreduce {head} operator=predefined bytes>=4K bytes<8K -> reduce_bcast  # 2.00 us\n"
        f"bcast {head} bytes>=4K bytes<8K -> native  # 1.00 us, 12 pairs\n"
        "otherwise\n"
    )
    return path


def known(said: list[str] | None = None) -> Learned:
    points = [SMALL, LARGE, OTHER]
    return learned_here(MACHINE, points, PLACES, (said if said is not None else []).append)


def test_points_of_learned_classes_are_known(file):
    learned = known()
    assert learned.path == file and set(learned.classes) == {SMALL, OTHER}
    assert learned.classes[SMALL].choice.words == "reduce_bcast"
    assert learned.classes[OTHER].choice.words == "native"
    assert learned.candidate(LARGE) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense\n", ":1: this is not a rules file"),
        ("stretto-rules 2\nmachine a PDP-11\notherwise\n", "it is for 'a PDP-11'"),
    ],
)
def test_a_damaged_or_foreign_file_is_named_and_ignored(file, text, says):
    file.write_text(text)
    said: list[str] = []
    assert known(said) == Learned()
    assert len(said) == 1 and str(file) in said[0] and says in said[0]
    file.unlink()
    assert known(said) == Learned() and len(said) == 1


class Slow:
    """A model for which what was learned is hopeless."""

    def seconds(self, point: Point, one: Candidate) -> float:
        return 1.0 if one.id == "allreduce/reduce_bcast" else 1e-6 * (1 + len(one.words))


def test_what_was_learned_is_measured_first(file, tmp_path):
    own = {point: shipped(point, 4, 8) for point in (SMALL, LARGE, OTHER)}
    correction = ResidualCorrection(lambda ranks: Slow(), [])
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    without = Search(journal, correction, own)
    search = Search(journal, correction, own, learned=known().candidate)
    plan = search.first(SMALL, BACK_TO_BACK)
    assert "reduce_bcast" not in without.first(SMALL, BACK_TO_BACK)
    assert "reduce_bcast" in plan[1:3]  # behind the native function and the shipped choice
    assert len(plan) <= MOST + 2
    for point in (LARGE, OTHER):  # of the native function nothing more need be tried
        assert search.first(point, BACK_TO_BACK) == without.first(point, BACK_TO_BACK)


def choice(point: Point, words: str) -> Choice:
    return Choice(point, words, 1.0, None, None)


def test_a_faster_choice_overrules_and_the_line_goes(file):
    learned = known()
    times = {SMALL: Times({"reduce_bcast": 2.0, "ring": 1.0, "linear": 1.99}, "linear")}
    [conditions] = overruled(learned, [choice(SMALL, "ring")], times, [])
    assert conditions.startswith("allreduce ranks=4")
    kept = [choice(SMALL, "reduce_bcast")], [choice(SMALL, SHIPPED)]
    for same in kept:  # it stays, or the gain is too small for a rule
        assert overruled(learned, same, times, []) == {}
    assert overruled(learned, [choice(SMALL, "ring")], times, [SMALL]) == {}, "within noise"
    assert overruled(learned, [choice(SMALL, "ring")], {}, []) == {}, "it was not timed"
    take_out(learned, [conditions])
    assert [one.function for one in read_learned(file)] == ["bcast"]
    assert stretto.read_rules(str(file)).otherwise
