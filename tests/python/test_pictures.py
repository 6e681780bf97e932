# SPDX-License-Identifier: BSD-3-Clause
"""Pictures can be read: no words are cut, titles and keys stand apart, curves differ."""

from types import SimpleNamespace

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from stretto import Params, Shape, algorithm_named, function_named
from stretto.explain import Question, deciders, lines_of, map_of
from stretto.machine import machine_named
from stretto.plot import explain, heat, race, rounds, schedule, simulation, timeline, topology
from stretto.simulation import Call
from stretto.symbolic_run import symbolic_run
from stretto.timeline import Event
from stretto.topology import read_topology
from stretto.topology.study import contention

LONG = "neighbor_allgatherv, 4096 ranks on 256 nodes, graph cartesian:16x16x16, machine of-the-lab"
SIZES = [8 << i for i in range(20)]


def words_in(figure: Figure) -> list[str]:
    return [one.get_text() for one in figure.findobj(Text) if one.get_text().strip()]


def cut(figure: Figure) -> list[str]:
    """Words that reach beyond the edge."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ticks = {one for axes in figure.findobj(Axes) for one in axes.get_xticklabels()}
    found = []
    for one in set(figure.findobj(Text)) - ticks:  # of some the places are beyond the axis
        box = one.get_window_extent(canvas.get_renderer())
        inside = box.x0 >= -1 and box.x1 <= figure.bbox.width + 1
        if one.get_text().strip() and one.get_visible() and not inside:
            found.append(one.get_text())
    return found


def simulated() -> Figure:
    curves = {f"allreduce/algorithm_{i}": [1.0 + i + s for s in SIZES] for i in range(20)}
    return simulation.draw(curves, SIZES, LONG)


def explained() -> Figure:
    question = Question(Call(function_named("allreduce"), 5, 1 << 10))
    who, machine = deciders(question.call.function, lambda: "no MPI"), machine_named("flat")
    lines, winners = lines_of(who, question, machine), map_of(who, question, machine)
    return explain.draw(question, lines, winners, "of-the-lab-" * 6)


def mapped() -> Figure:
    cells = [{"ranks": 8, "mode": "synchronised", "cell": "reduce_scatter_block", "asked": 8,
              "status": "ok", "ratio": 1.5}]  # fmt: skip
    return heat.draw(cells, 8, "synchronised")


def raced() -> Figure:
    row = {"cell": "bcast", "bytes": 8, "native_us": 2.0, "stretto_us": 1.0, "ratio": 2.0}
    return race.draw([row, row | {"bytes": 64}], "Intel MPI 2021.18.0, 2 ranks, nonblocking")


def run_of(ranks: int):
    order = [rank * 5 % ranks for rank in range(ranks)]
    return symbolic_run(algorithm_named("allgather/logical_ring"), Shape(ranks), Params(list=order))


def on_a_tree() -> Figure:
    tree = read_topology("3x2", None, None)
    algorithm, params = algorithm_named("allreduce/logical_ring"), Params(list=[0, 2, 4, 1, 3, 5])
    found = contention(tree, algorithm, Shape(6), params)
    return topology.draw(tree, found.traffic, f"allreduce/logical_ring on {LONG}, 6 ranks")


def traced() -> Figure:
    return timeline.draw([Event(0, "send", 0.0, 1.0, {})], "allreduce/reduce_bcast")


PICTURES = {
    "simulate": simulated, "explain": explained, "heat map": mapped, "race": raced,
    "boxes": lambda: schedule.draw(run_of(12)), "matrices": lambda: rounds.draw(run_of(24)),
    "tree": on_a_tree, "timeline": traced,
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_no_words_are_cut(name):
    assert cut(PICTURES[name]()) == []


@pytest.mark.parametrize("name", ["simulate", "explain"])
def test_the_title_ends_before_the_key(name):
    figure = PICTURES[name]()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    (key,) = figure.legends
    title = next(one for one in figure.axes[0].findobj(Text) if "machine" in one.get_text())
    assert title.get_window_extent(renderer).x1 <= key.get_window_extent(renderer).x0


def test_curves_differ_and_show_where_they_lie_on_each_other():
    lines = simulated().axes[0].get_lines()
    looks = [(one.get_color(), one.get_linestyle(), one.get_marker()) for one in lines]
    assert len(set(looks)) == len(lines) == 20
    assert len({one.get_markevery() for one in lines}) == simulation.EVERY
    for axes in explained().axes[:1]:
        curves = [one for one in axes.get_lines() if len(one.get_xdata()) > 2][:-1]
        looks = {(one.get_color(), one.get_linestyle(), one.get_marker()) for one in curves}
        assert len(looks) == len(curves) > 8


def test_colours_can_be_told_apart():
    """Of all that a map may have side by side; by a distance in CIELAB."""
    names = [f"a/{i}" for i in range(16)]
    winners = SimpleNamespace(fastest=[[name] * (16 - i) for i, name in enumerate(names)])
    colours = explain._colours(SimpleNamespace(by_algorithm={}), winners)
    found = [in_lab(colour) for colour in colours.values()]
    assert min(distance(a, b) for i, a in enumerate(found) for b in found[:i]) > 14


def in_lab(colour: tuple[float, ...]) -> tuple[float, ...]:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    parts = [
        sum(a * b for a, b in zip(row, linear, strict=True)) / w
        for row, w in zip(rows, white, strict=True)
    ]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5


def test_explain_has_a_key_for_all_that_it_draws():
    figure = explained()
    (key,) = figure.legends
    words = " ".join(one.get_text() for one in key.get_texts()).replace("\n", " ")
    assert {"circulant", "linear", "slices"} <= set(words.split())
    for mark in ("the rules' choice", "white: the rules choose", "bytes of this call"):
        assert mark in words
    assert figure.axes[0].get_ylabel() == "predicted time of a call"
    assert {axes.get_xlabel() for axes in figure.axes} == {"bytes of the vector", "ranks"}


def test_lists_stay_in_the_title():
    order = ":".join(map(str, run_of(12).params.list))
    words = words_in(schedule.draw(run_of(12))) + words_in(rounds.draw(run_of(12)))
    assert words.count(f"allgather/logical_ring,order={order} on 12 ranks") == 2


def test_a_tree_says_what_its_colours_mean():
    words = words_in(on_a_tree())
    assert "messages of one step on a link, at most:" in words
    assert "■ 2 or 3" in words


def test_a_key_names_only_what_is_drawn():
    halving = symbolic_run(algorithm_named("reduce_scatter/halving"), Shape(4))
    both = symbolic_run(algorithm_named("allreduce/ring"), Shape(4))
    for draw, mark in ((schedule.draw, ""), (rounds.draw, "■ ")):
        assert f"{mark}stored" not in words_in(draw(halving))
        assert {f"{mark}stored", f"{mark}combined with its own"} <= set(words_in(draw(both)))


def test_boxes_of_eight_ranks_fit_on_a_page():
    """One of 12 inches would be shown at 60 %, with letters of 4 points."""
    run = symbolic_run(algorithm_named("reduce_scatter/halving"), Shape(8))
    assert schedule.draw(run).get_figwidth() < 9


def test_a_timeline_names_its_axes():
    (axes,) = traced().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time from the first event on", "rank")
