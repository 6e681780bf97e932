# SPDX-License-Identifier: BSD-3-Clause
"""Checks all claims and writes the page."""

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path

import patarasuk_yuan
import pictures
import thakur2005
import thakur2005_allreduce
import traff
from claims import FAILS, HOLDS, LATENCIES, MACHINES, OPEN, PARTLY, Claim, Finding, Model
from clusters import CLUSTERS, Smpi
from stretto.errors import run_script
from stretto.machine import machine_named

PAPERS = {
    "thakur2005": [*thakur2005.CLAIMS, *thakur2005_allreduce.CLAIMS],
    "patarasuk_yuan": patarasuk_yuan.CLAIMS,
    "traff": traff.CLAIMS,
}
TITLES = ("Thakur et al. 2005", "Patarasuk and Yuan 2007", "Träff et al.")
HEAD = "| figure | claim | here | verdict | latency | by | name |\n|---|---|---|---|---|---|---|"
NOT_RUN = "not run"
PAGE = Path(__file__).with_name("page.md")
Row = tuple[Claim, Finding, str]


def latency(claim: Claim, finding: Finding) -> str:
    """Whether the verdict is the same with other latencies."""
    if claim.simgrid or claim.slow or claim.by.startswith("the tree") or finding.verdict == OPEN:
        return "–"
    other = {times: claim.check(Model(times)).verdict for times in LATENCIES}
    words = [
        f"{times:g}x: {verdict}" for times, verdict in other.items() if verdict != finding.verdict
    ]
    return ", ".join(words) or "same"


def row(claim: Claim) -> Row:
    """A claim of the cost model, checked."""
    finding = claim.check(Model())
    return claim, finding, latency(claim, finding)


def line(one: Row) -> str:
    claim, finding, other = one
    why = f": {finding.why}" if finding.why else ""
    cells = (
        claim.figure,
        claim.words,
        finding.measured,
        f"**{finding.verdict}**{why}",
        other,
        claim.by,
        f"`{claim.name}`",
    )
    return f"| {' | '.join(cells)} |"


def checked(claims: list[Claim], quick: bool, smpi: Smpi | None) -> list[Row]:
    rows = []
    for claim in claims:
        if (claim.simgrid and not smpi) or (claim.slow and quick):
            rows.append((claim, Finding("–", NOT_RUN), "–"))
        elif claim.simgrid:
            rows.append((claim, claim.check(smpi), "–"))
        else:
            rows.append(row(claim))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def summary(papers: list[list[Row]]) -> str:
    verdicts = (HOLDS, PARTLY, FAILS, OPEN, NOT_RUN)
    lines = [f"| paper | {' | '.join(verdicts)} |", "|---" * (len(verdicts) + 1) + "|"]
    for title, rows in zip(TITLES, papers, strict=True):
        found = Counter(finding.verdict for claim, finding, _ in rows if not claim.ours)
        lines.append(f"| {title} | {' | '.join(str(found[verdict]) for verdict in verdicts)} |")
    return "\n".join(lines)


def _comment(file: Path) -> str:
    """What a machine's file says of it."""
    lines = file.read_text(encoding="utf-8").splitlines()[2:]
    words = [line.lstrip("# ") for line in lines if line.startswith("#")]
    return " ".join(words)


def machines() -> str:
    lines = [
        "| machine | α + overheads, µs | MB/s | γ, ns per byte | what it is |",
        "|---|---|---|---|---|",
    ]
    for file in sorted(MACHINES.glob("*.toml")):
        machine = machine_named(str(file))
        link = machine.network
        alpha = link.latency() + link.send_overhead + link.receive_overhead
        speed = 1 / (link.transfer(2 << 20) - link.transfer(1 << 20)) * (1 << 20) / 1e6
        lines.append(
            f"| `{file.stem}` | {alpha * 1e6:g} | {speed:.0f} | {machine.gamma * 1e9:g} | "
            f"{_comment(file)} |"
        )
    for name, one in CLUSTERS.items():
        tree = one.tree
        hosts = (
            f"{sum(tree.hosts)} nodes of {tree.cores}"
            if tree.cores > 1
            else f"{sum(tree.hosts)} machines"
        )
        links = 2 if len(tree.hosts) == 1 else 1
        what = "two links" if links == 2 else "each link"
        lines.append(
            f"| `{name}` (SimGrid) | {tree.latency * links * 1e6:g} ({what}) | "
            f"{tree.bandwidth / 1e6:g} | 0 | {hosts} |"
        )
    return "\n".join(lines)


def left_out(quick: bool, smpi: Smpi | None) -> str:
    words = []
    if not smpi:
        words.append("SimGrid was left out" if quick else "SimGrid is not installed here")
    if quick:
        words.append("the rings of thousands of processes were left out")
    return f"**Not all was run: {', and '.join(words)}.**\n\n" if words else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--quick", action="store_true", help="without SimGrid and the largest rings"
    )
    options = parser.parse_args()
    smpi = None if options.quick or not shutil.which("smpirun") else Smpi()
    papers = {name: checked(claims, options.quick, smpi) for name, claims in PAPERS.items()}
    text = PAGE.read_text(encoding="utf-8").format(
        arguments="".join(f" {one}" for one in sys.argv[2:]),
        summary=summary(list(papers.values())),
        left_out=left_out(options.quick, smpi),
        machines=machines(),
        **{name: "\n".join([HEAD, *map(line, rows)]) for name, rows in papers.items()},
    )
    options.page.write_text(text, encoding="utf-8")
    pictures.draw(options.page.parent / "figures", smpi)


if __name__ == "__main__":
    run_script(main)
