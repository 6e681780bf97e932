# SPDX-License-Identifier: BSD-3-Clause
"""`stretto simulate`, machine files, and timelines."""

import json
import math
from types import SimpleNamespace

import pytest
import stretto
from commands import json_of, on_terminal, refuse, succeed
from commands import stretto as run
from figures import words_of
from programs import installed, stretto_run
from stretto import simulation
from stretto.machine import machine_named, shipped_machines
from stretto.plot.simulation import draw

HUGE = "9" * 400  # digits of an integer that no float holds
PLAIN = """\
stretto-machine = 1
[machine]
name = "plain"
[network]
alpha = 1e-6
beta = 1e-9
[reduction]
gamma = 1e-10
sum.f64 = 5e-11
"""


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN, encoding="utf-8")
    return path


def row_of(found: dict, algorithm: str, parameters: str = "") -> dict:
    (row,) = [
        row
        for row in found["rows"]
        if (row["algorithm"], row["parameters"]) == (algorithm, parameters)
    ]
    return row


def test_all_algorithms_are_compared(plain):
    found = json_of("simulate", "allreduce", "-p", 8, "--bytes", "1M", "--machine", plain)
    suitable = {a.id for a in stretto.all_algorithms() if a.id.startswith("allreduce/")}
    assert {row["algorithm"] for row in found["rows"]} == suitable
    times = [row["seconds"] for row in found["rows"]]
    assert times == sorted(times)
    assert found["rows"][0]["behind"] == 0
    assert row_of(found, "allreduce/recursive_multiplying", "radix=8")
    assert row_of(found, "allreduce/ring", "segment=256K")["segment"] == 256 << 10
    for row in found["rows"]:
        parts = sum(row[part] for part in ("latency", "bandwidth", "reduction", "waiting"))
        assert math.isclose(parts, row["seconds"])
    ring = row_of(found, "allreduce/ring")
    wanted = 14e-6 + (14 / 8) * (1 << 20) * 1e-9 + (7 / 8) * (1 << 20) * 1e-10
    assert math.isclose(ring["seconds"], wanted)
    assert ring["simulated_ranks"] == 8


def test_table():
    lines = succeed("simulate", "bcast", "-p", 16, "--bytes", "64K").splitlines()
    assert lines[0].strip() == "bcast, 16 ranks on 16 nodes, 64K bytes, machine flat"
    assert lines[1].split()[:3] == ["algorithm", "parameters", "time"]
    assert lines[2].split()[-1] == "best"
    assert len(lines) == 2 + sum(a.id.startswith("bcast/") for a in stretto.all_algorithms())
    everything = succeed("simulate", "bcast", "-p", 16, "--bytes", "64K", "--all").splitlines()
    assert len(everything) > len(lines)


def test_long_times_are_not_in_microseconds():
    words = ("simulate", "bcast", "-p", 16, "--algorithms", "linear", "--machine")
    for size, unit in (("8", "µs"), ("1M", "ms"), ("64M", "s")):
        line = succeed(*words, "gigabit-ethernet", "--bytes", size).splitlines()[2]
        assert line.split()[3] == unit, line


def test_options_change_the_prediction(plain):
    def ring(*options: object) -> float:
        arguments = ("--bytes", "1M", "--machine", plain, "--algorithms", "ring", *options)
        found = json_of("simulate", "allreduce", "-p", 8, *arguments)
        return row_of(found, "allreduce/ring")["seconds"]

    assert ring("--operation", "sum.f64") < ring("--operation", "max.f64") == ring()
    not_commutative = json_of("simulate", "allreduce", "-p", 8, "--not-commutative")
    assert "allreduce/ring" not in {row["algorithm"] for row in not_commutative["rows"]}


def test_levels():
    words = ("simulate", "allreduce", "-p", 32, "--bytes", "1K", "--machine", "gigabit-ethernet")
    apart = json_of(*words)["rows"][0]["seconds"]
    together = json_of(*words, "--nodes", "1x32")["rows"][0]["seconds"]
    four = json_of(*words, "--nodes", "4x8")
    assert together < four["rows"][0]["seconds"] < apart
    assert four["ranks_per_node"] == 8
    assert json_of(*words, "--ranks-per-node", 8)["rows"] == four["rows"]


def test_irregular_functions_have_their_own_algorithms():
    found = json_of("simulate", "allgatherv", "-p", 6, "--bytes", "6K")
    assert "allgather/pipelined_ring" in {row["algorithm"] for row in found["rows"]}
    found = json_of("simulate", "allgather", "-p", 6, "--bytes", "6K")
    assert "allgather/pipelined_ring" not in {row["algorithm"] for row in found["rows"]}


def test_thousands_of_ranks():
    found = json_of(
        "simulate", "allreduce", "-p", 4096, "--bytes", "64M",
        "--algorithms", "ring,circulant,reduce_bcast",
    )  # fmt: skip
    assert row_of(found, "allreduce/ring")["simulated_ranks"] == 1
    assert row_of(found, "allreduce/reduce_bcast")["simulated_ranks"] == 4096


def test_too_large_is_said_plainly():
    words = ("simulate", "bcast", "-p", 1 << 20, "--algorithms", "scatter_ring")
    message = refuse(*words)
    assert "bcast/scatter_ring on 1048576 ranks is too large to simulate" in message


def test_plot(tmp_path):
    for ending, head in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        path = tmp_path / f"plot.{ending}"
        succeed("simulate", "reduce", "-p", 16, "--plot", path)
        assert path.read_bytes().startswith(head)
    words = words_of(tmp_path / "plot.svg")
    assert "reduce, 16 ranks on 16 nodes, machine flat" in words  # its sizes are the axis
    assert any("binomial" in line for line in words)


def test_lines_that_would_hide_each_other_are_one():
    curves = {"a/one": [1.0, 2.0], "a/two": [1.001, 2.001], "a/three": [0.5, 4.0]}
    (axes,) = draw(curves, [8, 16], "title").axes
    assert [line.get_label() for line in axes.get_lines()] == ["three *", "two, one *"]


def test_names_are_whole_on_a_narrow_terminal():
    text = on_terminal(80, "simulate", "allreduce", "-p", 13, "--bytes", "1M")
    lines = text[text.index("allreduce, 13 ranks") :].splitlines()
    assert all(len(line) <= 80 for line in lines)
    own = [a for a in stretto.all_algorithms() if a.id.startswith("allreduce/")]
    shown = {line.split()[0] for line in lines[3:]}
    needed = {a.name for a in own if not stretto.unsuitable(a, stretto.Shape(13))}
    assert needed <= shown


def test_many_ranks_within_a_budget():
    """Messages of as many ranges as ranks once took minutes to find out what is alike."""
    words = ("simulate", "allreduce", "-p", 1 << 20, "--algorithms", "circulant,ring")
    done = run(*words, "--budget", 1)
    assert done.returncode == 0, done.stderr
    assert "1048576 ranks take up to 1 s" in done.stderr
    assert "left out: allreduce/ring" in done.stderr
    assert "\ncirculant " in done.stdout


def test_a_schedule_that_takes_longer_is_not_begun():
    """Of 2^23 ranks that of a ring takes 4 GB, and nothing stops it before it is there."""
    words = ("simulate", "allreduce", "-p", 1 << 23, "--algorithms", "circulant,ring,linear")
    done = run(*words, "--budget", 2)
    assert done.returncode == 0, done.stderr
    left_out = "left out: allreduce/{} on 8388608 ranks is too large to simulate: to build"
    assert f"{left_out.format('ring')} one schedule would take some" in done.stderr
    assert left_out.format("linear") in done.stderr  # its schedule takes a third of the time
    assert "\ncirculant " in done.stdout


def test_budget_holds_for_pictures(monkeypatch):
    """A simulation of a second is half a minute for a curve."""
    now = {"work": 0.0}

    def busy(load, machine):
        now["work"] += 1
        return SimpleNamespace(seconds=1.0)

    clocks = SimpleNamespace(monotonic=lambda: now["work"], thread_time=lambda: now["work"])
    monkeypatch.setattr(simulation, "time", clocks)
    monkeypatch.setattr(simulation.Call, "simulator", lambda *_: SimpleNamespace(run=busy))
    four = stretto.all_algorithms()[:4]
    call = simulation.Call(stretto.Function.allreduce, 8, 1024)
    told = []
    found, refused = simulation.curves(
        call, four, machine_named("flat"), [8] * 8, lambda *words: told.append(words[2]), 16
    )
    assert (len(found), len(refused)) == (0, 4) and now["work"] <= 16 + 4
    assert told == [f"drawing {one.id}" for one in four]
    assert str(refused[0]).endswith("takes longer than its share of the time, 4 s")


def test_budget_holds_where_others_have_the_core(monkeypatch):
    """Half of a core: what takes a second of work takes two by the clock."""
    now = {"clock": 0.0, "work": 0.0}

    def busy(call, algorithm, machine, value, order, tree, seconds):
        now["work"] += seconds
        now["clock"] += 2 * seconds
        return [{"algorithm": algorithm.id, "seconds": 1.0}]

    clocks = SimpleNamespace(monotonic=lambda: now["clock"], thread_time=lambda: now["work"])
    monkeypatch.setattr(simulation, "time", clocks)
    monkeypatch.setattr(simulation, "compare_one", busy)
    names = ("ring", "linear", "recursive_doubling", "halving_doubling")
    four = [a for a in stretto.all_algorithms() if a.id in {f"allreduce/{n}" for n in names}]
    call = simulation.Call(stretto.Function.allreduce, 8, 1024)
    rows, _ = simulation.compare(call, four, machine_named("flat"), budget=16)
    assert len(rows) == 4
    assert now["clock"] <= 16 + 2 * simulation.LEAST_SHARE


def test_timeline_is_written_and_drawn(tmp_path, plain):
    path = tmp_path / "trace.json"
    words = ("simulate", "allreduce", "-p", 4, "--bytes", 64, "--machine", plain)
    succeed(*words, "--algorithms", "reduce_bcast", "--timeline", path)
    events = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
    assert {event["cat"] for event in events} == {"send", "receive", "reduce", "wait"}
    assert {event["tid"] for event in events} == {0, 1, 2, 3}
    sends = [e for e in events if e["cat"] == "send"]
    assert [e["args"]["bytes"] for e in sends] == [64] * 6
    assert all(e["args"]["algorithm"] == "allreduce/reduce_bcast" for e in sends)
    end = max(e["ts"] + e["dur"] for e in events)
    seconds = json_of(*words, "--algorithms", "reduce_bcast")["rows"][0]["seconds"]
    assert math.isclose(end, seconds * 1e6)
    picture = tmp_path / "trace.svg"
    succeed("show", "--timeline", path, "-o", picture)
    text = picture.read_text(encoding="utf-8")
    assert "allreduce/reduce_bcast" in text
    assert "receive" in text


def test_the_timeline_of_a_real_run_is_drawn(built, tmp_path):
    trace, picture = tmp_path / "trace.json", tmp_path / "trace.svg"
    program = [built("compared.c", "mpich"), "sums", 20]
    stretto_run(2, program, mpi=installed("mpich"), STRETTO_TRACE=str(trace)).succeeded()
    succeed("show", "--timeline", trace, "-o", picture)
    assert "receive" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ("{", "no JSON"),
        ("3", "no list of events"),
        ("[]", "no events"),
        ('[{"ph": "X", "cat": "send"}]', "event 1 is no X event of a rank"),
        ('[{"cat": "send", "tid": Infinity, "ts": 0, "dur": 1}]', "event 1 is no X event"),
        ('[{"cat": "call", "tid": 0, "ts": 0, "dur": 1}]', "no events"),
        ('[{"cat": "nap", "tid": 0, "ts": 0, "dur": 1}]', "event 1 is a 'nap'"),
    ],
)
def test_traces_that_are_none(tmp_path, trace, message):
    path = tmp_path / "trace.json"
    path.write_text(trace, encoding="utf-8")
    assert f"{path}: {message}" in refuse("show", "--timeline", path, "-o", tmp_path / "x.svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["allreduce", "-p", "8", "--machine", "flatt"], "no machine is called 'flatt'"),
        (["allreduce", "-p", "8", "--machine", "./none.toml"], "none.toml: no such file"),
        (["allreduces", "-p", "8"], "no function of MPI is called 'allreduces'"),
        (["allreduce", "-p", "8", "--bytes", "many"], "--bytes: 'many' is no size"),
        (["allreduce", "-p", "8", "--nodes", "3x3"], "--nodes: '3x3' are not 8 ranks"),
        (
            ["allreduce", "-p", "8", "--nodes", "2x4", "--ranks-per-node", "4"],
            "both --nodes and --ranks-per-node",
        ),
        (["allreduce", "-p", "8", "--operation", "sum.f65"], "does not define 'sum' on the type"),
        (["allreduce", "-p", "8", "--operation", "summ.f64"], "did you mean sum?"),
        (["bcast", "-p", "8", "--operation", "sum"], "bcast has no operator"),
        (["bcast", "-p", "8", "--root", "8"], "bcast on 8 ranks has no root 8"),
        (["allreduce", "-p", "8", "--root", "1"], "allreduce on 8 ranks has no root 1"),
        (["allreduce", "-p", "7", "--algorithms", "swing"], "none of these algorithms"),
        (["allreduce", "-p", "8", "--algorithms", "bcast/chain"], "bcast/chain is no allreduce"),
        (["allreduce", "-p", "8", "--algorithms", ","], "--algorithms: no algorithm"),
        (["allreduce", "-p", "8", "--plot", "x.doc"], "no picture format ends in '.doc'"),
        (["allreduce", "-p", "8", "--timeline", "none/x.json"], "none/x.json: no such file"),
    ],
)
def test_refused(words, message):
    assert message in refuse("simulate", *words)


def test_show_wants_one_thing():
    assert "either an ALGORITHM or a --timeline" in refuse("show")
    assert "--timeline needs -o FILE" in refuse("show", "--timeline", "x.json")


def test_shipped_machines():
    assert shipped_machines() == ["cluster", "flat", "gigabit-ethernet"]
    for name in shipped_machines():
        assert stretto.machine_named(name).name == name
    flat = stretto.machine_named("flat")
    assert flat.node == flat.network
    help_text = run("simulate", "--help").stdout
    assert all(name in help_text for name in shipped_machines())


def test_machine_of_a_file(plain):
    machine = stretto.machine_named(str(plain))
    assert machine.network.alpha == 1e-6
    assert machine.node == machine.network  # only one level is given
    assert machine.gamma_of(stretto.Operation("sum", "f64")) == 5e-11
    assert machine.gamma_of(stretto.Operation("sum", "f32")) == 1e-10


def test_machine_files_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text("\ufeff" + PLAIN, encoding="utf-8")
    assert stretto.machine_named(str(path)).network.alpha == 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("stretto-machine = 1", "stretto-machine = 2"), "1: not a machine file of version 1"),
        (("stretto-machine = 1", "# nothing"), "1: not a machine file of version 1"),
        (("alpha = 1e-6", "alpha = "), "5: invalid value"),
        (("alpha = 1e-6", "alpah = 1e-6"), "5: [network] has no 'alpah'"),
        (("alpha = 1e-6", "alpha = 'fast'"), "5: 'alpha' is no number"),
        (("alpha = 1e-6", "alpha = -1.0"), "5: network.alpha is no time"),
        (("alpha = 1e-6", "message = [[0, 1]]"), "5: both 'message' and 'alpha' or 'beta'"),
        (("alpha = 1e-6", "contention = [1, 2]"), "5: 'contention' is no list of points"),
        (("alpha = 1e-6", "contention = [[1, 0.5]]"), "5: network.contention: a point is out"),
        (("alpha = 1e-6", "f_alpha = 2.0"), "4: network: f_alpha and f_beta are shares"),
        (("[network]", "[netwerk]"), "4: unknown 'netwerk'"),
        (("gamma = 1e-10", "gamma = -1.0"), "8: 'gamma' is negative"),
        (("sum.f64 = 5e-11", "sum.f64 = true"), "9: 'sum' is no time"),
        (("sum.f64 = 5e-11", "sum.f65 = 5e-11"), "9: MPI does not define 'sum' on the type 'f65'"),
        (("sum.f64 = 5e-11", "summ = 5e-11"), "9: no operator of MPI is called 'summ'"),
        (("[reduction]", "[processor]\ncores = 1.5\n[reduction]"), "8: 'cores' is not a whole"),
        (("[reduction]", "[processor]\nin_turn = 1\n[reduction]"), "8: 'in_turn' is not true or"),
        (("[reduction]", "[processor]\nwait = -1.0\n[reduction]"), "8: 'wait' is negative"),
        (("alpha = 1e-6", f"alpha = {HUGE}"), "5: 'alpha' is no number"),
        (("alpha = 1e-6", f"contention = [[1, {HUGE}]]"), "5: 'contention' is no list of points"),
        (("alpha = 1e-6", f"alpha = {'9' * 5000}"), "5: a number of too many digits"),
        (("alpha = 1e-6", f"alpha = {'[' * 5000}"), "5: it is nested too deeply"),
        (("gamma = 1e-10", "gamma = nan"), "8: 'gamma' is no number"),
        (("sum.f64 = 5e-11", f"sum.f64 = {HUGE}"), "9: 'sum' is no time"),
        (("sum.f64 = 5e-11", "sum.f64 = inf"), "9: 'sum' is no time"),
        (("[reduction]", "[processor]\ncopy = inf\n[reduction]"), "8: 'copy' is no number"),
        (("[reduction]", "[processor]\ncores = true\n[reduction]"), "8: 'cores' is not a whole"),
        (("[reduction]", "[processor]\ncores = 9999999999\n[reduction]"), "8: 'cores' is more"),
        (('name = "plain"', "name = 3"), "3: 'name' is no text"),
    ],
)
def test_machine_files_that_are_wrong(change, message):
    old, new = change
    assert old in PLAIN
    with pytest.raises(stretto.Error) as caught:
        stretto.parse_machine(PLAIN.replace(old, new), "my.toml")
    assert str(caught.value).startswith(f"my.toml:{message}"), str(caught.value)
    assert caught.value.hint


def test_predict_from_python():
    ring = stretto.algorithm_named("allreduce/ring")
    machine = stretto.machine_named("flat")
    shape, load = stretto.Shape(12), stretto.Load(1 << 20)
    by_formula = stretto.formula(ring, shape, stretto.Params(), load, machine)
    assert stretto.formula_misses(ring, shape, load, machine) == ""
    found = stretto.predict(ring, shape, stretto.Params(), 1 << 20, machine)
    assert found.seconds == by_formula.seconds
    in_segments = stretto.Params(segment=1 << 17, depth=4)
    assert stretto.predict(ring, shape, in_segments, 1 << 20, machine).waiting > 0
    with pytest.raises(stretto.Error, match="cannot be built"):
        stretto.predict(
            stretto.algorithm_named("allreduce/swing"),
            stretto.Shape(7),
            stretto.Params(),
            8,
            machine,
        )


def test_neighbourhoods():
    words = ["simulate", "neighbor_alltoall", "-p", 16, "--bytes", 64]
    grid = json_of(*words, "--graph", "torus=4x4")
    suitable = {a.id for a in stretto.all_algorithms() if a.id.startswith("neighbor_alltoall/")}
    assert {row["algorithm"] for row in grid["rows"]} == suitable
    random = json_of(*words, "--graph", "random=3")
    assert {row["algorithm"] for row in random["rows"]} == suitable
    assert row_of(random, "neighbor_alltoall/direct")["seconds"] > 0
    assert "does not have 16 ranks" in refuse(*words, "--graph", "torus=3x4")
