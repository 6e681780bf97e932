# SPDX-License-Identifier: BSD-3-Clause
"""The rules that `stretto tune` writes."""

from types import SimpleNamespace

from stretto import _core
from stretto.cli.tune_own import _report
from stretto.measure.points import BACK_TO_BACK
from stretto.tune.own.choice import SHIPPED, Choice, Times, choices, gain_in_words
from stretto.tune.own.journal import Entry, Journal, Measured
from stretto.tune.own.learned import Learned
from stretto.tune.own.points import Point, chosen_words
from stretto.tune.own.rules import to_text


def test_ranks_that_the_best_cannot_serve_get_the_best_that_can():
    """pairwise_xor is for powers of two; the rules of 4 ranks are those of 3 and 5, too."""
    times = {
        Point("alltoall", ranks, 4096): Times(
            {"pairwise_xor": 1.0, "pairwise": 1.2, "linear": 2.0}, "linear", 9.0
        )
        for ranks in (2, 4, 8)
    }
    text = to_text(choices(times), "made up, 2 cores", [])
    rules = _core.parse_rules(text, "tuned")
    found = {p: chosen_words(rules, Point("alltoall", p, 4096), p) for p in range(2, 9)}
    assert found == {p: "pairwise_xor" if p in (2, 4, 8) else "pairwise" for p in found}
    own = text.partition("the shipped rules.\n")[0]
    assert "4 x 4K: 1.2 µs (9, 2)" in own, "with the time of what is chosen there"


def test_where_the_shipped_choice_is_the_best_that_can_there_is_no_rule():
    point = Point("alltoall", 4, 4096)
    other = Point("alltoall", 16, 4096)
    times = {
        one: Times({"pairwise_xor": 1.0, "pairwise": 3.0, "linear": 2.0}, "linear", 9.0)
        for one in (point, other)
    }
    text = to_text(choices(times), "made up, 2 cores", [])
    assert "-> pairwise\n" not in text.partition("the shipped rules.\n")[0]


def test_the_last_line_says_what_the_choices_are_worth():
    same = Choice(Point("bcast", 2, 64), SHIPPED, 1.0, 2.0, 1.0)
    twice = Choice(Point("bcast", 2, 1 << 16), "linear", 1.0, 9.0, 2.0)
    eight = Choice(Point("scan", 4, 1 << 20), "chain", 1.0, 9.0, 8.0)
    assert gain_in_words([same]) == "the shipped choice stays everywhere (1 point)"
    assert gain_in_words([same, twice, eight]) == (
        "another choice than the shipped one at 2 of 3 points: 4.00x as fast in the geometric "
        "mean, 8.00x at most (scan, 4 ranks, 1M)"
    )


def test_the_command_ends_with_that_line(tmp_path, capsys):
    point, machine = Point("bcast", 2, 1 << 20), "made-up processor, 8 cores, MPICH 5.0.2"
    journal = Journal(tmp_path / "tuned.jsonl", machine)
    times = {"native": 9.0, "linear": 3.0, "chain": 1.0}
    entries = [Entry(words, "x", us, 0.1, 12, True) for words, us in times.items()]
    for _ in range(2):
        journal.add(Measured(point, "search", 0.1, entries))
    session = SimpleNamespace(
        journal=journal, shipped=lambda: {point: "linear"}, model=None, modes=[BACK_TO_BACK],
        request=SimpleNamespace(ranks=[2]), points=lambda ranks: [point], apart=[], cores=8,
        learned=Learned(), qualities={},
    )  # fmt: skip
    rules = tmp_path / "tuned.rules"
    _report(session, rules, machine, {}, None, False, False)
    *_, wrote, last = capsys.readouterr().out.splitlines()
    assert wrote == f"wrote {rules}"
    assert last.startswith("another choice than the shipped one at 1 of 1 point: 3.00x as fast")


def test_rules_say_whether_ranks_shared_cores():
    """A number between two that were measured belongs to the nearer one of its kind."""
    best = {2: "pairwise", 4: "pairwise", 8: "bruck"}
    times = {
        Point("alltoall", ranks, 4096): Times({words: 1.0, "linear": 2.0}, "linear", 9.0)
        for ranks, words in best.items()
    }
    for cores, first_shared in ((2, 4), (4, 8), (7, 8), (8, None)):
        text = to_text(choices(times), "made up", [], cores=cores)
        rules = _core.parse_rules(text, "tuned")
        found = {p: chosen_words(rules, Point("alltoall", p, 4096), p, cores) for p in range(2, 9)}
        end = 6 if cores in (2, 8) else cores + 1  # 6 > √(4·8)
        assert found == {p: "pairwise" if p < end else "bruck" for p in found}, cores
        own = text.partition("the shipped rules.\n")[0]
        assert own.count("cores=own") == {2: 1, 4: 1, 7: 1, 8: 2}[cores]
        assert ("cores=shared" in own) == (first_shared is not None)
    text = to_text(choices(times), "made up", []).partition("the shipped rules.\n")[0]
    assert "cores" not in text


def test_ranks_on_one_node_and_on_several_have_rules_of_their_own():
    """Of two nodes with four cores a launcher may give two ranks one, and eight both."""
    best = {2: "pairwise", 8: "bruck"}
    times = {
        Point("alltoall", ranks, 4096): Times({words: 1.0, "linear": 2.0}, "linear", 9.0)
        for ranks, words in best.items()
    }
    text = to_text(choices(times), "made up", [], cores=4, apart=[8])
    rules = _core.parse_rules(text, "tuned")
    found = {p: chosen_words(rules, Point("alltoall", p, 4096), min(p, 4), 4) for p in best}
    assert found == best
    own = text.partition("the shipped rules.\n")[0]
    assert own.count("nodes=1 cores=own ranks=2 ") == own.count("nodes>1 ranks=8 ") == 1
