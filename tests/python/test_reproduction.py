# SPDX-License-Identifier: BSD-3-Clause
"""docs/results/reproduction.md says what benchmarks/reproduction finds: its rows are the claims."""

import re
import sys
from pathlib import Path

import pytest
import stretto
from figures import DOCS, assert_same
from stretto.plot.files import save

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "lab" / "simgrid"), str(ROOT / "benchmarks" / "reproduction")]

import claims  # noqa: E402
import distributions  # noqa: E402
import page  # noqa: E402
import pictures  # noqa: E402

TEXT = (DOCS / "results" / "reproduction.md").read_text(encoding="utf-8")
CLAIMS = [claim for own in page.PAPERS.values() for claim in own]
HOW = "run: benchmarks/reproduction/run"
TAKES_SECONDS = ("eight_on_a_node", "spike_by_block", "decreasing_by_block", "best_block")
ETHERNET = re.compile(".*_on_96")
BY_MODEL = [
    claim
    for claim in CLAIMS
    if not (claim.simgrid or claim.slow or claim.name in TAKES_SECONDS)
    and not ETHERNET.fullmatch(claim.name)
]


def test_rows_are_the_claims():
    rows = [line.split(" | ") for line in TEXT.splitlines() if re.search(r" \| `\w+` \|$", line)]
    assert [cells[-1].strip(" |`") for cells in rows] == [claim.name for claim in CLAIMS], HOW
    assert [cells[0].strip("| ") for cells in rows] == [claim.figure for claim in CLAIMS], HOW
    assert [cells[1] for cells in rows] == [claim.words for claim in CLAIMS], HOW
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


def test_every_figure_of_the_papers_has_a_row():
    found = {
        paper: {figure for claim in own for figure in claim.figure.split(", ")}
        for paper, own in page.PAPERS.items()
    }
    assert found == {
        "thakur2005": {"3", "4", "5", "6", "8", "10", "11", "14", "15", "16", "17", "18"},
        "patarasuk_yuan": {"5", "6", "8"},
        "traff": {"4", "5", "6", "7", "9", "10"},
    }


def test_all_was_run():
    assert "Not all was run" not in TEXT and page.NOT_RUN not in TEXT.replace("| not run |", "")


@pytest.mark.parametrize("claim", BY_MODEL, ids=lambda claim: claim.name)
def test_row_is_current(claim):
    assert page.line(page.row(claim)) in TEXT.splitlines(), HOW


def test_machines_are_current():
    assert page.machines() in TEXT, HOW


def test_winners_are_drawn_as_kept(tmp_path):
    save(pictures.winners(claims.Model()), str(tmp_path / "drawn.svg"))
    kept = DOCS / "results" / "figures" / "reproduction-winners.svg"
    assert_same(tmp_path / "drawn.svg", kept, HOW)


def test_without_simgrid_rows_say_so(capsys):
    (one,) = (claim for claim in CLAIMS if claim.name == "ethernet_1")
    ((_, finding, _),) = page.checked([one], True, None)
    assert finding.verdict == page.NOT_RUN
    assert "SimGrid was left out" in page.left_out(True, None)
    assert "not run" in capsys.readouterr().err


@pytest.mark.parametrize("block", [1 << 40, 32 << 10, 3000])
@pytest.mark.parametrize("name", ["spike", "decreasing", "geometric"])
def test_large_rings_take_what_the_simulator_says(name, block):
    model, machine = claims.Model(), "blue-gene-p"
    counts = tuple(max(1, count) for count in getattr(distributions, name)(96, 1 << 16))
    algorithm, value = "allgather/pipelined_ring", block
    if block > max(counts):
        algorithm, value = "allgather/ring", 0
    simulated = model.seconds(algorithm, 96, sum(counts), machine, counts=counts, value=value)
    found = distributions.ring_seconds(counts, block, model.machine(machine).network)
    assert found == pytest.approx(simulated, rel=1e-9)


def test_an_empty_part_is_refused():
    with pytest.raises(ValueError, match="empty"):
        distributions.ring_seconds((3, 0), 2, stretto.Link(alpha=1e-6))


@pytest.mark.parametrize("one", distributions.DISTRIBUTIONS, ids=lambda one: one.__name__)
def test_distributions_gather_what_the_paper_says(one):
    counts = one(96, 96_000)
    once = one in (distributions.broadcast, distributions.spike)
    assert sum(counts) == pytest.approx(96_000 * (1 if once else 96), rel=0.05)


@pytest.mark.parametrize(
    ("measured", "verdict", "why"),
    [
        (100, claims.HOLDS, "exactly"),
        (90, claims.HOLDS, "within 10%"),
        (300, claims.PARTLY, "3 times the paper's; because"),
        (1000, claims.FAILS, "10 times the paper's; because"),
    ],
)
def test_cutoffs_are_judged_by_their_distance(measured, verdict, why):
    assert claims.cutoff(measured, 100, "", "because") == claims.Finding("", verdict, why)


def test_crossing_is_found():
    assert claims.crossing(lambda size: 100 + 3 * size, lambda size: 500 + size, 1 << 20) == 200
    assert claims.crossing(lambda size: 100 + size, lambda size: 500 + size, 1 << 20) == -1


def test_latency_is_scaled():
    whole, half = claims.Model(), claims.Model(0.5)
    for name in ("myrinet-2000", "gigabit-96"):
        one, two = whole.machine(name).network, half.machine(name).network
        assert two.latency() == pytest.approx(one.latency() / 2)
        assert two.receive_overhead == one.receive_overhead / 2
        assert two.transfer(1 << 20) == pytest.approx(one.transfer(1 << 20))
