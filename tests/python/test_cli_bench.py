# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench` and `stretto doctor`: with a pretended driver and with every MPI here."""

import json
import os
import subprocess
import sys

import pytest
import stretto.measure.driver as driver_module
from commands import json_of, refuse, stretto, succeed
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from stretto import Error, all_functions, diagnosis, facts
from stretto.cli.bench_ import _print_tables as print_race
from stretto.cli.bench_overlap import _print as print_overlap
from stretto.diagnosis import smoke
from stretto.launch import all_mpis, choose_mpi
from stretto.launch.library import installed_flavours
from stretto.measure.driver import Results, drive, run_benchmark
from stretto.measure.overlap import overlap_of
from stretto.measure.points import FORMS, parse_sizes
from stretto.plot.heat import draw as heat_map
from stretto.plot.race import draw
from stretto.user_algorithm import Race

pytestmark = pytest.mark.each_value

CELL = {
    "cell": "allreduce", "function": "allreduce", "bytes": 8, "ranks": 2,
    "native_us": 2.0, "stretto_us": 1.0, "ratio": 2.0,
    "algorithm": "allreduce/ring", "reason": "r", "correct": True, "repetitions": 9,
}  # fmt: skip
MPIS = [mpi for mpi in all_mpis() if mpi.flavour in installed_flavours()]
every_mpi = pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.title)


@pytest.fixture
def driver(fake_mpi, monkeypatch):
    """Races against a driver that is a piece of Python."""
    mpi = choose_mpi(str(fake_mpi("mpich")))

    def race(code: str, budget: float = 0.01):
        command = [sys.executable, "-c", f"import json, sys, time\n{code}"]
        monkeypatch.setattr(driver_module, "driver_command", lambda *_: command)
        steps: list[tuple[int, int]] = []
        result = run_benchmark(mpi, 2, ["allreduce"], [8], budget, lambda *at: steps.append(at))
        return result, steps

    return race


def test_sizes():
    assert parse_sizes("8-64") == [8, 16, 32, 64]
    assert parse_sizes("1K,8,8-16") == [8, 16, 1024]
    for text in ("", "x", "8-", "64-8", "0", "-4"):
        with pytest.raises(Error, match="is not a range of sizes"):
            parse_sizes(text)


def test_race_reads_what_the_driver_says(driver):
    slow = CELL | {"bytes": 16, "ratio": 0.5}
    lines = [{"machine": {"cpu": "c"}}, CELL, {"progress": 1, "of": 2}, slow]
    code = "".join(f"print({json.dumps(json.dumps(line))})\n" for line in lines)
    race, steps = driver(code + "print('words of the MPI')")
    assert race.machine == {"cpu": "c"}
    assert race.cells == [CELL, slow]
    assert race.ratio == pytest.approx(1.0)
    assert steps == [(1, 2)]


def test_driver_that_fails(driver):
    with pytest.raises(Error, match="ended with exit code 3"):
        driver("sys.exit(3)")


def test_driver_that_hangs_is_ended(driver, monkeypatch):
    monkeypatch.setattr(driver_module, "PATIENCE", 0.5)
    with pytest.raises(Error, match="said nothing"):
        driver("time.sleep(600)")


def test_wrong_result_is_kept_though_the_driver_fails(driver):
    wrong = CELL | {"correct": False}
    race, _ = driver(f"print({json.dumps(json.dumps(wrong))})\nsys.exit(1)")
    assert race.wrong == [wrong]


def test_plot_of_cells():
    cells = [CELL | {"bytes": n, "ratio": n / 32, "cell": name}
             for name in ("allreduce", "bcast") for n in (8, 64, 512)]  # fmt: skip
    figure = draw([*cells, CELL | {"cell": "barrier", "bytes": 0}], "title")
    titles = [axes.get_title(loc="left") for part in figure.subfigs for axes in part.axes]
    assert [title for title in titles if title] == ["allreduce", "bcast", "barrier"]


def test_plot_of_one_function_has_room_for_its_title():
    figure = draw([CELL, CELL | {"bytes": 64}], "Intel MPI 2021.18.0, 2 ranks")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (title,) = figure.texts
    box = title.get_window_extent(canvas.get_renderer())
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_heat_map_says_what_its_axis_and_colours_are():
    cells = [{"ranks": 2, "mode": "back-to-back", "cell": "bcast", "asked": 8 << i, "status": "ok",
              "ratio": 1.5} for i in range(4)]  # fmt: skip
    cells.append(cells[0] | {"cell": "barrier", "asked": 0})
    (axes,) = heat_map(cells, 2, "back-to-back").axes
    (title,) = (text for text in axes.findobj(Text) if "back to back" in text.get_text())
    assert title.get_fontsize() > 5
    assert "bytes of the vector" in axes.get_xlabel() and "Stretto is faster" in axes.get_xlabel()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--collectives", "allredcue"], "did you mean allreduce"),
        (["--sizes", "x"], "write 8-1M"),
        (["--plot", "x.gif"], ".svg, .png or .pdf"),
        (["--mpi", "/no/such"], "there is no /no/such"),
        (["--ranks", "2,4"], "one number of ranks"),
        (["--rounds", "2"], "goes only with --peers"),
        (["--plot", "x.svg", "--peers"], "does not go with --peers"),
        (["--cells", "allgatherv-spkie", "--peers"], "did you mean allgatherv-spike"),
        (["--peers", "mpihc"], "did you mean mpich"),
        (["--mode", "slow", "--peers"], "slow"),
        (["--ranks", "1", "--peers"], "2 ranks or more"),
        (["--mode", "both", "--plot", "x.svg"], "one picture shows one mode"),
        (["--mode", "both", "--guidelines"], "does not go with --guidelines"),
        (["--form", "all", "--plot", "x.svg"], "one picture shows one form"),
        (["--form", "immediate"], "immediate"),
        (["--overlap", "--form", "persistent"], "does not go with --overlap"),
        (["--overlap", "--peers"], "does not go with --peers"),
        (["--graph", "random=2", "--overlap"], "does not go with --overlap"),
        (["--graph", "random=2", "--collectives", "bcast"], "none of these functions has one"),
        (["--graph", "torus=3x3", "-n", "4"], "it does not have 4 ranks"),
    ],
)
def test_misuse(arguments, words):
    assert words in refuse("bench", *arguments)


@every_mpi
def test_bench(mpi, tmp_path):
    plot = tmp_path / "race.svg"
    options = ["--mpi", mpi.mpiexec, "--collectives", "allreduce,barrier", "--sizes", "8,4K"]
    result = json_of("bench", *options, "--time-per-size", 0.02, "--plot", plot)
    cells = [(cell["function"], cell["bytes"]) for cell in result["cells"]]
    assert cells == [("allreduce", 8), ("allreduce", 4096), ("barrier", 0)]
    for cell in result["cells"]:
        assert cell["correct"] is True
        assert cell["ratio"] == pytest.approx(cell["native_us"] / cell["stretto_us"], rel=0.02)
        assert cell["algorithm"].startswith(cell["function"] + "/")
    assert result["mpi"] == mpi.title
    assert plot.stat().st_size > 5000


@every_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_bench_of_all_functions(mpi, ranks):
    options = ["--mpi", mpi.mpiexec, "-n", ranks, "--sizes", "8,1K", "--time-per-size", 0.005]
    cells = json_of("bench", *options)["cells"]
    assert {cell["function"] for cell in cells} == {facts(f).name for f in all_functions()}
    assert all(cell["correct"] for cell in cells)
    # Parts of reductions are at least an element for each rank.
    assert all(cell["bytes"] % 8 == 0 for cell in cells)


@every_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_bench_of_special_uses(mpi, ranks):
    options = ["--mpi", mpi.mpiexec, "-n", ranks, "--sizes", "8,1K", "--time-per-size", 0.005]
    cells = json_of("bench", *options, "--collectives", ",".join(driver_module.VARIANTS))["cells"]
    assert [cell["cell"] for cell in cells[::2]] == list(driver_module.VARIANTS)
    assert [cell["function"] for cell in cells[::2]] == ["allreduce", "allgatherv", "allgatherv"]
    assert [cell["bytes"] for cell in cells] == [16, 1024, 8, 1024, 8, 1024]
    assert all(cell["correct"] for cell in cells)


@every_mpi
@pytest.mark.parametrize("graph", ["random=2", "grid=2x2"])
def test_bench_on_a_graph(mpi, graph):
    if graph == "random=2" and mpi.title.startswith("MPICH 4.0"):
        pytest.skip("its own functions mix up parts for the same rank")
    functions = [f for f in all_functions() if facts(facts(f).collective).neighbourhood]
    names = ",".join(facts(f).name for f in functions)
    options = ["--mpi", mpi.mpiexec, "-n", 4, "--sizes", "8,1K", "--time-per-size", 0.005]
    result = json_of("bench", *options, "--collectives", names, "--graph", graph)
    assert result["graph"] == graph
    assert len(result["cells"]) == 2 * len(functions)
    assert all(cell["correct"] for cell in result["cells"])
    lines = succeed("bench", *options, "--collectives", "bcast,neighbor_alltoall", "--graph", graph)
    heads = [line for line in lines.splitlines() if line.startswith("# ")]
    assert [graph in head for head in heads] == [False, True]


@pytest.mark.alone
@every_mpi
def test_blocks_last(mpi):
    options = ["--mpi", mpi.mpiexec, "--collectives", "allreduce", "--sizes", "8"]
    [cell] = json_of("bench", *options, "--time-per-size", 0.2)["cells"]
    for side in ("native", "stretto"):
        # Blocks of 5 ms, as far as the calibration could know.
        assert cell[f"{side}_calls"] >= 20 or cell[f"{side}_us"] > 20
    assert cell["repetitions"] >= 3


@every_mpi
def test_bench_table(mpi):
    options = ["--mpi", mpi.mpiexec, "--collectives", "bcast", "--sizes", "8-32"]
    lines = succeed("bench", *options, "--time-per-size", 0.02).splitlines()
    assert lines[0] == f"# bcast, 2 ranks, {mpi.title}"
    assert [line.split()[0] for line in lines[2:5]] == ["8", "16", "32"]


def test_long_times_are_not_in_microseconds(capsys):
    """From 10 ms on in ms, from 1 s on in s: in all tables of what was measured."""
    cell = CELL | {"native_us": 2.5e6, "stretto_us": 12.5e3, "ratio": 200.0}
    race = Results(cells=[cell])
    print_race(race, "MPICH 9.8.7", 2)
    sides = {
        side: {"call_us": cell[f"{side}_us"], "overlap": 0.5, "clear": True}
        for side in ("native", "stretto")
    }
    print_overlap([cell | sides], "MPICH 9.8.7", 2)
    raced, overlapped = (line for line in capsys.readouterr().out.split("\n") if " s " in line)
    assert raced.split()[1:5] == ["2.50", "s", "12.50", "ms"]
    assert overlapped.split()[1:7] == ["2.50", "s", "50", "%", "12.50", "ms"]
    assert repr(Race("title", race)).split("\n")[2].split()[1:5] == ["2.50", "s", "12.50", "ms"]


@pytest.mark.alone
@every_mpi
def test_bench_in_both_modes(mpi):
    options = ["--mpi", mpi.mpiexec, "--collectives", "bcast", "--sizes", "8,64K", "--mode", "both"]
    cells = json_of("bench", *options, "--time-per-size", 0.02)["cells"]
    assert [cell["mode"] for cell in cells] == ["back-to-back", "synchronised"] * 2
    assert [cell["bytes"] for cell in cells] == [8, 8, 65536, 65536]
    assert all(cell["correct"] and cell["native_us"] > 0 for cell in cells)
    lines = succeed("bench", *options, "--time-per-size", 0.02).splitlines()
    assert f"# bcast, 2 ranks, {mpi.title}, synchronised" in lines


@every_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_bench_of_all_forms(mpi, ranks):
    options = ["--mpi", mpi.mpiexec, "-n", ranks, "--sizes", "1K", "--form", "all"]
    cells = json_of("bench", *options, "--time-per-size", 0.003)["cells"]
    functions = [facts(f).name for f in all_functions()]
    forms = FORMS[:2] if mpi.title.startswith("Open MPI 4") else FORMS  # no persistent ones
    assert [(cell["function"], cell["form"]) for cell in cells] == [
        (function, form) for function in functions for form in forms
    ]
    for cell in cells:
        assert cell["correct"] is True
        assert "/" in cell["algorithm"]  # none was passed on
        assert cell["native_us"] > 0
        assert cell["stretto_us"] > 0
        # Those of MPICH 4.0 give wrong results.
        compared = cell["form"] == "persistent" and mpi.title.startswith(("Intel", "MPICH 4.0"))
        assert cell.get("native_form") == ("blocking" if compared else None)


@every_mpi
def test_forms_have_tables_of_their_own(mpi):
    options = ["--mpi", mpi.mpiexec, "--collectives", "bcast", "--sizes", "8", "--form"]
    lines = succeed("bench", *options, "all", "--time-per-size", 0.01).splitlines()
    plain = f"# bcast, 2 ranks, {mpi.title}"
    assert [line for line in lines if line.startswith("#")][:2] == [plain, f"{plain}, nonblocking"]


def test_an_mpi_without_persistent_collectives():
    old = [mpi for mpi in MPIS if mpi.title.startswith("Open MPI 4")]
    if not old:
        pytest.skip("Open MPI 4 is not here")
    options = ["--collectives", "bcast", "--sizes", "8", "--form", "persistent"]
    assert "ended with exit code 2" in refuse("bench", "--mpi", old[0].mpiexec, *options)


@pytest.mark.alone
def test_overlap():
    title = choose_mpi().title
    options = ["--overlap", "--sizes", "64K", "--time-per-size", 0.02, "--collectives"]
    [cell] = json_of("bench", *options, "allreduce")["cells"]
    assert cell["correct"] is True
    assert cell["form"] == "nonblocking"
    assert cell["algorithm"].startswith("allreduce/")
    for side in (cell["native"], cell["stretto"]):
        assert 0 <= side["overlap"] <= 1
        assert min(side["call_us"], side["computation_us"]) > 0
        # The computation stands in what takes both.
        if side["clear"]:
            assert side["both_us"] > 0.9 * side["computation_us"]
    lines = succeed("bench", *options, "neighbor_alltoall").splitlines()
    assert lines[0] == f"# neighbor_alltoall, 2 ranks, {title}, overlap"


def test_overlap_is_a_share():
    def share(call, computation, both, **other):
        parts = [[(us, 0)] * 9 for us in (call, computation, both)]
        return overlap_of(other.get("parts", parts)).share

    assert share(10, 10, 10) == 1
    assert share(10, 10, 20) == 0
    assert share(10, 10, 15) == 0.5
    assert share(10, 10, 9) == 1  # not more
    assert share(10, 10, 30) == 0  # not less
    rounds = [[(10, 0)] * 9 + [(99, 1)] * 20, [(10, 0)] * 29, [(15, 0)] * 29]
    calm = overlap_of(rounds)
    assert (calm.call_us, calm.share, calm.clear) == (10, 0.5, True)
    disturbed = overlap_of([[(10, 1)] * 9, [(10, 0)] * 9, [(15, 0)] * 9])
    assert (disturbed.share, disturbed.clear) == (0.5, False)


@pytest.mark.parametrize("one", ["native", "stretto"])
def test_one_of_the_two_alone(one):
    arguments = ["--cells", "allreduce:1K,reduce:64:nonblocking", f"--{one}-only"]
    done = drive(MPIS[0], 2, arguments, 0.01, 60, Results())
    assert len(done.cells) == 2
    for cell in done.cells:
        assert cell["correct"] and cell[f"{one}_us"] > 0
        assert ("native_us" in cell, "stretto_us" in cell) == (one == "native", one == "stretto")


@every_mpi
def test_doctor_runs_two_ranks(mpi):
    finding = smoke(mpi)
    assert finding.good, finding.words


@pytest.mark.parametrize("kind", ["mpich", "intel"])
def test_doctor_names_autogroups_where_they_matter(fake_mpi, monkeypatch, kind):
    mpi = choose_mpi(str(fake_mpi(kind)))
    monkeypatch.setattr(diagnosis, "all_mpis", lambda: [mpi])
    monkeypatch.setattr(diagnosis, "smoke", lambda mpi: diagnosis.Finding(mpi.title, True, ""))
    for on in (True, False):
        monkeypatch.setattr(diagnosis, "autogroups", lambda on=on: on)
        found, works = diagnosis.diagnose()
        assert works
        named = [one for one in found if one.topic == "autogroups"]
        assert len(named) == (on and kind == "mpich")
        assert all("sched_autogroup_enabled=0" in one.hint for one in named)


def test_smoke_that_hangs(fake_mpi, fake_libraries):
    driver = fake_libraries / "stretto-race-mpich"
    driver.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    driver.chmod(0o755)
    finding = smoke(choose_mpi(str(fake_mpi("mpich"))), limit=0.5)
    assert finding.good is False
    assert "did not end within" in finding.words
    assert finding.hint


def test_smoke_that_fails_says_the_last_words(fake_mpi, fake_libraries):
    driver = fake_libraries / "stretto-race-mpich"
    driver.write_text("#!/bin/sh\necho cannot do it >&2\nexit 4\n", encoding="utf-8")
    driver.chmod(0o755)
    finding = smoke(choose_mpi(str(fake_mpi("mpich"))))
    assert "exit code 4: cannot do it" in finding.words


def test_doctor_without_any_mpi(tmp_path):
    code = (
        "import os, sys; sys.prefix = os.environ['PATH'] = os.environ['NOWHERE']\n"
        "sys.argv = ['stretto', 'doctor', '--json']\n"
        "from stretto.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
        env={**os.environ, "NOWHERE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["works"] is False
    assert {"topic", "good", "words", "hint"} == set(result["findings"][0])
    assert any("pip install" in finding["hint"] for finding in result["findings"])


def test_doctor_agrees_with_the_mpis_found():
    done = stretto("doctor", "--json", timeout=300)
    result = json.loads(done.stdout)
    assert result["works"] is (done.returncode == 0)
    topics = [finding["topic"] for finding in result["findings"]]
    assert {mpi.title for mpi in all_mpis()} <= set(topics)
    assert "/dev/shm" in topics
