# SPDX-License-Identifier: BSD-3-Clause
"""Topologies are discovered: on simulated networks with noise; the driver that moves messages."""

import random

import programs
import pytest
import stretto
from commands import refuse, succeed
from commands import stretto as run_command
from simulated_network import SimulatedNetwork
from stretto.measure.probe import machines_of, probing
from stretto.topology.discover import Machine, discover

TWO, LINE = [-1, 0], [-1, 0, 1]
CASES = {
    "4 + 4 by turns": (TWO, [0, 1] * 4, {}),
    "3 + 5": (TWO, [0] * 3 + [1] * 5, {}),
    "three in a line": (LINE, [0, 1, 2] * 3, {}),
    "a slow link": (TWO, [0, 1] * 4, {"switch_rates": {1: 6e6}}),
    "a slow machine": (TWO, [0, 1] * 4, {"machine_rates": {3: 2.5e6}}),
    "a switch without machines": ([-1, 0, 0, 0], [1, 2, 3, 3, 2, 1], {}),
    "one switch": ([-1], [0] * 8, {}),
    "two machines": ([-1], [0] * 2, {}),
    "64 machines": ([-1, 0, 0, 0, 0], [1 + i % 4 for i in range(64)], {}),
}


def found_on(network: SimulatedNetwork):
    return discover(network, [Machine(f"n{m}", [m]) for m in range(len(network.machines))])


def sides_of(found) -> set[frozenset[int]]:
    return {switch.link.side for switch in found.switches if switch.link}


@pytest.mark.parametrize("case", CASES)
def test_trees_with_noise(case):
    parents, machines, rates = CASES[case]
    for seed in range(2 if len(machines) > 9 else 6):
        network = SimulatedNetwork(parents, machines, seed=seed, **rates)
        assert sides_of(found_on(network)) == network.sides()
        assert network.seconds < 600


def test_random_trees():
    draw = random.Random(7)
    seen = 0
    for seed in range(25):
        parents = [-1] + [draw.randrange(at) for at in range(1, 1 + draw.randrange(7))]
        machines = [draw.randrange(len(parents)) for _ in range(4 + draw.randrange(16))]
        network = SimulatedNetwork(parents, machines, seed=seed)
        assert sides_of(found_on(network)) == network.sides(), (parents, machines)
        seen += len(network.sides())
    assert seen > 25  # else the trees would show nothing


def test_the_file_is_read_by_other_commands(tmp_path):
    network = SimulatedNetwork(TWO, [0, 1] * 4, switch_rates={1: 6e6}, machine_rates={3: 2.5e6})
    found = found_on(network)
    found.machines[0].caches = ["0-3", "4-7"]
    file = tmp_path / "net.toml"
    file.write_text(found.toml(["a head"]))
    tree = stretto.read_topology(str(file))
    assert tree.ranks == 8 and tree.ring == [0, 1, 3, 5, 7, 2, 4, 6]
    speeds = {vertex.name: vertex.bandwidth for vertex in tree.vertices}
    assert speeds["n0"] == pytest.approx(12.5e6, rel=0.1)
    assert speeds["n3"] == pytest.approx(2.5e6, rel=0.1)
    assert speeds["s1"] == pytest.approx(6e6, rel=0.1)
    text = file.read_text()
    assert text.count("confidence = 0.") == 9
    shown = succeed("show", "--topology", file)
    assert "contention-free ring: order=0:1:3:5:7:2:4:6" in shown


@pytest.mark.parametrize("limit", [65480, 1 << 18])
def test_the_size_from_which_messages_wait_for_an_answer(limit):
    network = SimulatedNetwork(TWO, [0, 1] * 2, rendezvous=limit, busy=0)
    found = found_on(network)
    assert limit <= found.rendezvous < limit + 64
    assert stretto.parse_topology(found.toml()).rendezvous == found.rendezvous
    assert found_on(SimulatedNetwork(TWO, [0, 1] * 2, busy=0)).rendezvous == 0
    busy = SimulatedNetwork(TWO, [0, 1] * 2, rendezvous=1, busy=0)
    assert found_on(busy).rendezvous == 0, "where not even short messages seem to leave"


@pytest.mark.parametrize("value", ['"64 apples"', "-1", "true", "[]"])
def test_a_wrong_rendezvous_is_refused(value):
    text = f'stretto-topology = 1\nrendezvous = {value}\n[switch.s]\nmachines = ["a"]\n'
    with pytest.raises(stretto.Error, match=r"net.toml:2: .* is no number of bytes"):
        stretto.parse_topology(text, "net.toml")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("confidence = 2", "'2' is no confidence"),
        ("caches = 3", "'caches' is no list"),
    ],
)
def test_wrong_keys_are_refused(key, said):
    text = f'stretto-topology = 1\n[switch.s]\nmachines = ["a"]\n[machine.a]\n{key}\n'
    with pytest.raises(stretto.Error, match=said) as caught:
        stretto.parse_topology(text, "net.toml")
    assert "net.toml:5" in str(caught.value)


def test_what_cannot_be_told_apart_is_said():
    assert "one machine" in found_on(SimulatedNetwork([-1], [0])).remarks[0]
    few = found_on(SimulatedNetwork(TWO, [0, 0, 1]))
    assert "cannot be told apart with fewer than 4" in few.remarks[0]
    # Two pairs fit on the link between the switches, four do not.
    fat = SimulatedNetwork(TWO, [0] * 6 + [1] * 6, switch_rates={1: 2.2 * 12.5e6}, noise=0, busy=0)
    found = found_on(fat)
    assert sides_of(found) == set()
    assert found.remarks and "not told apart: together these were slow" in found.remarks[0]


def test_ranks_become_machines():
    one = {"host": "a", "boot": "1", "sockets": ["0-1"], "caches": []}
    machines = machines_of([one, {**one, "boot": "2"}, one, {**one, "host": "b"}])
    assert [(m.name, m.ranks) for m in machines] == [("a", [0, 2]), ("a-2", [1]), ("b", [3])]


@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_the_driver_moves_and_says_where_ranks_are(kind):
    mpi = programs.installed(kind)
    with probing(mpi, 3, 60) as probe:
        assert [machine.ranks for machine in probe.machines] == [[0, 1, 2]]
        assert probe.machines[0].sockets and probe.machines[0].caches
        probe.machines = [Machine(str(rank), [rank]) for rank in range(3)]
        moved = probe.move([(0, 1, 100_000), (1, 2, 5), (2, 0, 70_000)], 3, 0.0)
        assert len(moved) == 3
        assert all(seconds > 0 for seconds in moved)
        assert len(probe.move([(2, 1, 1000)], 5, 60.0)) == 1
        assert 0 < probe.ping((1, 2), 10) < 1
        assert probe.eager((0, 1), 8, 5)
        assert not probe.eager((2, 1), 64 << 20, 2)


def test_a_driver_that_ends_is_an_error():
    mpi = programs.installed("mpich")
    with pytest.raises(stretto.Error, match="ended with exit code"), probing(mpi, 2, 60) as probe:
        probe._answer("fly 1 0:1", "moved")


def test_the_command_on_one_machine(tmp_path):
    mpi = programs.installed("mpich")
    file = tmp_path / "net.toml"
    done = run_command("topology", "discover", "-n", 2, "--mpi", mpi.mpiexec, "-o", file)
    assert done.returncode == 0 and "there is no network to look at" in done.stderr, done.stderr
    assert stretto.read_topology(str(file)).ranks == 2
    done = run_command("topology", "discover", "-n", 2, "--mpi", mpi.mpiexec, "-o", "/dev/full")
    assert done.returncode == 1 and "/dev/full: no space left" in done.stderr
    assert stretto.parse_topology(done.stdout).ranks == 2  # what took long is not lost
    assert "neither ranks nor a launcher" in refuse("topology", "discover")
