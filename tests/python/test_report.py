# SPDX-License-Identifier: BSD-3-Clause
"""`stretto report`, and the commands of docs/profile.md."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from browser import seen_by_a_browser
from commands import refuse, stretto
from programs import installed
from stretto import Error
from stretto.report.cells import seconds
from stretto.report.page import page as page_from
from stretto.report.read import read

ROOT = Path(__file__).resolve().parents[2]


def spread(low: float, high: float) -> dict:
    return {"min": low, "median": (low + high) / 2, "max": high}


def record(function: str, size: int, algorithm: str, calls: int, seconds: float, **more) -> dict:
    return {
        "communicator": 0, "function": function, "bytes_from": size, "algorithm": algorithm,
        "ranks": 2, "calls": spread(calls, calls), "bytes": spread(calls * size, calls * size),
        "seconds": spread(seconds / 2, seconds), "seconds_of_ranks": 1.5 * seconds,
        "waiting": None, "waiting_of_ranks": None, "timed": 1, **more,
    }  # fmt: skip


def pending(function: str, form: str, calls: int, seconds: float) -> dict:
    """A record of calls that do not block: a fifth of the time is spent in posting them."""
    times = {"posting": 0.2, "completing": 0.8, "under_way": 2.0, "overlapped": 1.0}
    more = {f"{key}_of_ranks": 1.5 * seconds * share for key, share in times.items()}
    return record(function, 64, f"{function}/linear", calls, seconds, form=form, **more)


def document() -> dict:
    waits = {"waiting": spread(0, 0.75), "waiting_of_ranks": 0.75}
    return {
        "format": "stretto profile", "version": 1, "stretto": "0.1.0", "program": "<app & co>",
        "date": "2026-01-02T03:04:05Z", "mpi": "Some MPI 1.0", "ranks": 2,
        "wall_seconds": spread(4, 4), "nodes": ["host"],
        "by_rank": [
            {"node": 0, "wall_seconds": 4, "calls": 1010, "seconds": 1.3, "waiting": 0.7},
            {"node": 0, "wall_seconds": 4, "calls": 1010, "seconds": 0.7, "waiting": 0.05},
        ],
        "communicators": [{"name": "MPI_COMM_WORLD", "world_ranks": "0-1", "how_many": 1}],
        "records": [
            record("allreduce", 8, "allreduce/linear", 1000, 1.0, **waits),
            record("bcast", 1 << 20, "native", 10, 0.3, reason="rules"),
        ],
    }  # fmt: skip


# Of the first record, or of the communicator.
DAMAGE = [
    {"ranks": 0}, {"bytes_from": math.inf}, {"bytes_from": -1}, {"calls": {"max": 10**400}},
    {"calls": {"max": math.nan}}, {"how_many": math.inf}, {"how_many": None},
]  # fmt: skip


def damaged(change: dict) -> dict:
    """A document in which that is said; what is None is left out."""
    found = document()
    part = found["communicators" if "how_many" in change else "records"][0]
    part |= change
    for name in [name for name, value in change.items() if value is None]:
        del part[name]
    return found


@pytest.fixture
def profile(tmp_path):
    def write(content: object) -> Path:
        path = tmp_path / "profile.json"
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


class Texts(HTMLParser):
    """The cells of the tables; every tag that is opened must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def page_of(path: Path) -> str:
    target = path.parent / "page.html"
    done = stretto("report", path, "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"wrote {target}\n"
    return target.read_text(encoding="utf-8")


def test_page(profile):
    page = page_of(profile(document()))
    rows = Texts(page).rows
    assert "&lt;app &amp; co&gt;" in page and "<app" not in page
    # 1.95 of 8 seconds; 0.75 of 1.5 waiting; 1000 of 1010 calls served
    for value in ("24.4 %", "50.0 %", "99.0 %"):
        assert f"<b>{value}</b>" in page
    assert ["allreduce", "1,000", "750 ms", "18.8 %", "76.9 %", "50.0 %", "100.0 %"] in rows
    assert ["bcast", "10", "225 ms", "5.6 %", "23.1 %", "–", "0.0 %"] in rows
    assert any(row[:3] == ["bcast", "1M …", "native (rules)"] for row in rows)
    assert "Rank 1 waits least (50 ms; 375 ms on average)" in page
    assert page.count("<svg ") == 3
    assert "currentColor" in page
    axis = [float(text) for text in re.findall(r">(\d+\.\d+)</text>", page.split("</svg>")[0])]
    steps = {round(b - a, 9) for a, b in pairwise(axis)}
    assert len(axis) > 3 and len(steps) == 1  # labels are not cut short
    # It fetches nothing.
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # of XML, not places
    assert set(re.findall(r"""["'(](https?://[^"')]*)""", page)) <= names
    assert not re.search(r"<(link|img|iframe)\b|<script [^>]*src|@import|url\((?!#)", page)


def test_page_of_calls_that_do_not_block(profile):
    content = document()
    content["records"] += [
        pending("allreduce", "nonblocking", 100, 0.1), pending("bcast", "persistent", 10, 0.05)
    ]  # fmt: skip
    page = page_of(profile(content))
    rows = Texts(page).rows
    names = {row[0] for row in rows}
    assert {"allreduce", "allreduce, nonblocking", "bcast, persistent"} <= names
    # 0.15 s of 200 calls
    line = ["allreduce, nonblocking", "100", "150 µs", "600 µs", "1.5 ms", "50.0 %"]
    assert line in rows
    assert ["bcast, persistent", "10", "750 µs", "3 ms", "7.5 ms", "50.0 %"] in rows
    assert "Nonblocking and persistent calls" in page and "waits and tests" in page
    assert "Nonblocking and persistent calls" not in page_from(read(profile(document())))


def learned() -> list[dict]:
    """A class whose native function was slow, and one of which little is known."""

    def tried(choice: str, us: float | None, timed: int, calls: int) -> dict:
        seconds = None if us is None else 1e-6 * us
        return {"choice": choice, "seconds": seconds, "timed": timed, "calls": calls}

    small, large = "allreduce ranks=2 bytes>=8 bytes<16", "bcast ranks=2 bytes>=1M bytes<2M"
    return [
        {"class": large, "form": "blocking", "choice": "native", "settled": False,
         "spent_seconds": 0.002, "tried": [tried("native", 300, 0, 400), tried("ring", None, 0, 0),
                                           tried("linear", 500, 4, 0)]},
        {"class": small, "form": "nonblocking", "choice": "linear", "settled": True,
         "spent_seconds": 0.001, "tried": [tried("linear", 2, 80, 100_000),
                                           tried("native", 5, 40, 2000)]},
    ]  # fmt: skip


def test_page_of_a_program_that_learned(profile, tmp_path):
    page = page_from(read(profile(document() | {"learned": learned()})))
    rows = Texts(page).rows
    small = ["allreduce ranks=2 bytes>=8 bytes<16, nonblocking", "102,000", "linear", "2.50×"]
    # 100 000 calls of 3 µs less
    assert [*small, "299 ms", "linear 2 µs, native 5 µs"] in rows
    large = ["bcast ranks=2 bytes>=1M bytes<2M", "400", "native (so far)", "1.00×", "−2 ms"]
    assert [*large, "native 300 µs, linear 500 µs; 1 not tried"] in rows
    assert "Of 2 classes of calls 1 is served best by something else" in page
    assert "saved about 297 ms of each rank" in page and "the 3 ms that trying took" in page
    assert "What it learned" not in page_from(read(profile(document())))
    assert page.count("What was tried against the native function") == 1
    assert ">allreduce bytes&gt;=8 nonblocking<" in page

    clicks = """<script>
      window.onerror = (message) => { document.title = "error: " + message; };
      const heads = [...document.querySelectorAll("h2")];
      const heading = heads.find((one) => /learned/.test(one.textContent));
      let table = heading;
      while (!table.querySelector("table")) table = table.nextElementSibling;
      table = table.querySelector("table");
      const names = () => [...table.tBodies[0].rows].map((row) => row.cells[2].textContent).join();
      const button = table.querySelectorAll("button")[4];
      button.click(); const falling = names(); button.click();
      document.title = falling + " / " + names();
    </script></body>"""
    target = tmp_path / "clicked.html"
    target.write_text(page.replace("</body>", clicks), encoding="utf-8")
    shown = "linear,native (so far) / native (so far),linear"
    assert f"<title>{shown}</title>" in seen_by_a_browser(target)


def test_picture_of_what_was_learned(profile, tmp_path):
    picture = tmp_path / "learned.svg"
    source = profile(document() | {"learned": learned()})
    assert stretto("report", source, "--plot", picture).returncode == 0
    texts = re.findall(r">([^<>]+)</text>", picture.read_text(encoding="utf-8"))
    assert {"allreduce bytes&gt;=8 nonblocking", "linear", "tried", "chosen", "0.5"} <= {*texts}
    assert texts.index("linear") < texts.index("native")  # what saved most stands above
    only_native = [{**learned()[0], "choice": "ring"}]  # which was never timed
    for told in (document(), document() | {"learned": only_native}):
        said = refuse("report", profile(told), "--plot", picture)
        assert "nothing was compared with the native function" in said and "--learn" in said


def test_page_of_a_program_without_collectives(profile):
    empty = document() | {"records": [], "communicators": []}
    assert "has called no collective function" in page_from(read(profile(empty)))


@pytest.mark.parametrize(
    ("content", "says", "hint"),
    [
        ("allreduce 8 bytes", "it is not JSON", "STRETTO_PROFILE=FILE"),
        ([1, 2], "is no profile", "STRETTO_PROFILE=FILE"),
        ({"format": "something else"}, "is no profile", "STRETTO_PROFILE=FILE"),
        ({"traceEvents": []}, "is a trace, not a profile", "Perfetto"),
        (document() | {"version": 2}, "is a profile of version 2", "the Stretto that wrote it"),
        (document() | {"records": [{}]}, "is damaged", "STRETTO_PROFILE=FILE"),
        (document() | {"learned": [{}]}, "is damaged", "STRETTO_PROFILE=FILE"),
        (document() | {"by_rank": []}, "is damaged", "STRETTO_PROFILE=FILE"),
        *((damaged(change), "is damaged", "STRETTO_PROFILE=FILE") for change in DAMAGE),
    ],
)
def test_other_files_are_refused(profile, content, says, hint):
    with pytest.raises(Error, match=says) as raised:
        read(profile(content))
    assert hint in raised.value.hint


def test_times_are_rounded_into_their_unit():
    assert [seconds(us * 1e-6).text for us in (999.4, 999.7)] == ["999 µs", "1 ms"]


def test_command_says_what_is_wrong(profile):
    assert "/nowhere/profile.json" in refuse("report", "/nowhere/profile.json")
    assert "is a trace" in refuse("report", profile({"traceEvents": []}))


def test_page_in_a_browser(profile, tmp_path):
    """The script sorts a table, and reports no error."""
    clicks = """<script>
      window.onerror = (message) => { document.title = "error: " + message; };
      const first = document.querySelector("table"), button = first.querySelectorAll("button")[1];
      const names = () => [...first.tBodies[0].rows].map((row) => row.cells[0].textContent).join();
      button.click(); const falling = names(); button.click();
      document.title = falling + " / " + names();
    </script></body>"""
    page = page_from(read(profile(document()))).replace("</body>", clicks)
    target = tmp_path / "clicked.html"
    target.write_text(page, encoding="utf-8")
    assert "<title>allreduce,bcast / bcast,allreduce</title>" in seen_by_a_browser(target)


def test_commands_of_the_page(built, tmp_path):
    text = (ROOT / "docs" / "profile.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    installed("openmpi")
    shutil.copy(built("profiled.c", "openmpi"), tmp_path / "app")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path, env={**os.environ, "PATH": path}, timeout=120, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all right\n" * 2
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"app", "profile.json", "report.html", "trace.json"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert any(row and row[0] == "allreduce" for row in Texts(page).rows)
