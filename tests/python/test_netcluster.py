# SPDX-License-Identifier: BSD-3-Clause
"""lab/netcluster: placements and files; hosts, links and Open MPI, where a cluster can be made."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import programs
import pytest
import stretto
from commands import stretto as run_command
from stretto.launch.mpi import inspect
from stretto.measure.driver import Results, drive

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "lab" / "namespaces"), str(ROOT / "lab" / "simgrid")]

import cluster as clusters  # noqa: E402
import openmpi  # noqa: E402
from tree import Tree  # noqa: E402

NAME = f"test{os.getpid()}"
BANDWIDTH = 12.5e6  # bytes a second
TWO = clusters.Cluster(NAME, Tree((2, 0, 2), (0, 1)))


def lab(*words: object) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHON": sys.executable, "NETCLUSTER": NAME}
    return subprocess.run(
        [ROOT / "lab" / "netcluster", *map(str, words)],
        capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def left() -> list[str]:
    """What is there of the test's cluster."""
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    files = [*clusters.FILES.glob(f"{NAME}-*"), *clusters.STATES.glob(NAME)]
    return [line for line in namespaces.splitlines() if NAME in line] + [str(f) for f in files]


@pytest.fixture(scope="module")
def possible():
    """Skips where the kernel or the user may not make what a cluster is of."""
    try:
        clusters.require()
    except stretto.Error as error:
        pytest.skip(f"{error}: {error.hint}")
    probe = f"{NAME}probe"
    veth = f"ip -n {probe} link add name va type veth peer name vb"
    tbf = f"tc -n {probe} qdisc add dev va root tbf rate 1mbit burst 64kb limit 1mb"
    for command in (f"ip netns add {probe}", veth, tbf):
        done = subprocess.run(command.split(), capture_output=True, text=True)
        if done.returncode:
            subprocess.run(["ip", "netns", "del", probe], capture_output=True)
            pytest.skip(f"{command}: {done.stderr.strip()}")
    subprocess.run(["ip", "netns", "del", probe], check=True)


@pytest.fixture
def cluster(possible):
    """Two hosts on two switches; nothing is left of them afterwards."""
    try:
        done = lab("up", "1,1", "--mbit", 8 * BANDWIDTH / 1e6)
        assert done.returncode == 0, done.stderr
        yield clusters.current(NAME)
    finally:
        clusters.down(NAME)
        assert left() == []


@pytest.fixture
def mpi():
    debian = shutil.which("mpirun.openmpi")
    if not debian and not os.environ.get("STRETTO_TEST_OPENMPI"):
        pytest.skip("there is no Open MPI: apt-get install openmpi-bin")
    return inspect(Path(debian), "tests") if debian else programs.installed("openmpi")


def test_placements():
    assert TWO.placed("by-host", 2) == ["h0", "h0", "h1", "h1", "h2", "h2", "h3", "h3"]
    assert TWO.placed("alternating") == ["h0", "h2", "h1", "h3"]
    assert TWO.placed("h3,h0,h3") == ["h3", "h0", "h3"]


def test_topology_file_has_the_switches_and_the_ranks():
    tree = stretto.parse_topology(TWO.topology(TWO.placed("alternating", 2)))
    assert [v.name for v in tree.vertices if v.name.startswith("s")] == ["s0", "s1", "s2"]
    assert [tree.vertices[tree.machine_of(r)].name for r in (0, 1, 2)] == ["h0", "h0", "h2"]
    assert tree.ring == [0, 1, 2, 3, 6, 7, 4, 5]  # once to the other switches and back


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["exec", "h0", "true"], f"no cluster '{NAME}' is up"),
        (["run", "true"], f"no cluster '{NAME}' is up"),
        (["up", "4,x"], "'4,x' are no numbers"),
        (["up", "4", "--mbit", "0"], "bandwidth above 0"),
        (["up", "2,2", "--parents=-,1"], "the parent of switch 1 is 1"),
    ],
)
def test_bad_words_are_refused(words, said):
    done = lab(*words)
    assert done.returncode == 2
    assert said in done.stderr and "hint: " in done.stderr


def test_bad_places_are_refused():
    for place, per_host in (("h0,h4", 1), ("by-turns", 1), ("by-host", 0)):
        with pytest.raises(stretto.Error):
            TWO.placed(place, per_host)


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(stretto.Error, match="need root"):
        clusters.require()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(stretto.Error, match="there is no command 'ip'"):
        clusters.require()
    monkeypatch.setenv("NETCLUSTER", "No name")
    with pytest.raises(stretto.Error, match="'No name' is no name"):
        clusters.cluster_name()


def test_other_mpis_are_refused(fake_mpi):
    def refused(kind: str) -> str:
        fake = inspect(fake_mpi(kind) / "bin" / "mpiexec", "tests")
        info = fake.mpiexec.parent / "ompi_info"
        info.write_text('#!/bin/sh\necho "mca:btl:vader:version"\n')
        info.chmod(0o755)
        with pytest.raises(stretto.Error) as caught:
            openmpi.on_cluster(fake, TWO, ["h0"])
        return str(caught.value)

    assert "is not Open MPI" in refused("mpich")
    assert "built without TCP" in refused("openmpi4")


def test_hosts_and_the_end_of_them(cluster):
    assert lab("exec", "h1", "hostname").stdout == "h1\n"
    assert lab("agent", "h0", "hostname;", "exit 7").returncode == 7
    assert "10.77.0.2" in lab("exec", "h0", "getent", "hosts", "h1").stdout
    done = lab("up", "2")
    assert done.returncode == 2 and "already up" in done.stderr
    sleeper = subprocess.Popen(cluster.inside("h0", ["sleep", "60"]))
    time.sleep(0.3)
    shutil.rmtree(clusters.STATES / NAME)  # as after a crash
    assert [lab("down").returncode for _ in range(2)] == [0, 0]
    assert left() == []
    assert sleeper.wait(timeout=5) != 0


def test_a_cluster_that_cannot_be_made_leaves_nothing(possible, monkeypatch):
    monkeypatch.setattr(clusters, "QUEUE", "nonsense")
    with pytest.raises(stretto.Error, match="tbf"):
        clusters.up(NAME, Tree((2,)))
    assert left() == []


def test_collectives_over_tcp(cluster, mpi, tmp_path):
    """Results are right, hosts are nodes, links have their rate, and the rules choose."""
    placement = cluster.placed("by-host", 2)
    order = ":".join(map(str, stretto.parse_topology(cluster.topology(placement)).ring))
    rules = tmp_path / "ring.rules"
    rules.write_text(f"stretto-rules 2\nallreduce -> logical_ring order={order} segment=128K\n")
    race = Results()
    cells = "allreduce:512K,bcast:512K,allgatherv:16K,alltoall:4K,scan:8,barrier:0"
    drive(
        openmpi.on_cluster(mpi, cluster, placement), 4, ["--cells", cells], 0.05, 30.0, race,
        variables={"STRETTO_RULES": str(rules), "STRETTO_DEADLINE": "20"},
    )  # fmt: skip
    assert race.wrong == []
    assert (race.machine["ranks"], race.machine["nodes"]) == (4, 2)
    allreduce, bcast, *_ = race.cells
    assert allreduce["algorithm"] == "allreduce/logical_ring"
    assert len(race.cells) == 6
    for cell in (allreduce, bcast):  # a vector at least must leave each node; a burst is free
        least = 1e6 * (cell["bytes"] - (64 << 10)) / BANDWIDTH
        assert min(cell["stretto_us"], cell["native_us"]) > 0.9 * least


def test_programs_run_with_stretto_in_them(cluster, mpi):
    program = ["sh", "-c", "echo $OMPI_COMM_WORLD_RANK $(hostname) $LD_PRELOAD"]
    done = lab("run", "--place", "h1,h0,h1", "--mpi", mpi.mpiexec, "--", *program)
    assert done.returncode == 0, done.stderr
    said = sorted(line.split() for line in done.stdout.splitlines())
    assert [words[:2] for words in said] == [["0", "h1"], ["1", "h0"], ["2", "h1"]]
    assert all("libstretto-openmpi.so" in words[2] for words in said)


def test_the_topology_is_discovered(possible, mpi, tmp_path):
    """Two and two hosts by turns, one of them on a slow link: as the lab built them."""
    file = tmp_path / "net.toml"
    try:
        assert lab("up", "2,2", "--mbit", 160, "--slow", "h3=40").returncode == 0
        launcher = [ROOT / "lab" / "netcluster", "run", "--plain", "--place", "alternating"]
        words = ["topology", "discover", "--mpi", mpi.mpiexec, "-o", file, "--", *launcher]
        done = run_command(
            *words, "--mpi", mpi.mpiexec, "--", timeout=150, PYTHON=sys.executable, NETCLUSTER=NAME
        )
        assert done.returncode == 0, done.stderr
        real = stretto.parse_topology(lab("topology", "--place", "alternating").stdout)
    finally:
        clusters.down(NAME)
    found = stretto.read_topology(str(file))
    assert found.ring == real.ring
    by_switch = [
        {
            frozenset(
                tree.vertices[machine].name
                for machine in tree.below[v]
                if tree.vertices[machine].machine
            )
            for v in range(len(tree.vertices))
            if not tree.vertices[v].machine
        }
        for tree in (found, real)
    ]
    assert by_switch[0] == by_switch[1]
    speeds = {vertex.name: vertex.bandwidth for vertex in found.vertices}
    assert speeds["h0"] == pytest.approx(20e6, rel=0.2)
    assert speeds["h3"] == pytest.approx(5e6, rel=0.2)


def test_slow_links(possible):
    for words, said in (("h9=10", "there is no link 'h9'"), ("h1=x", "is no link and its Mbit/s")):
        done = lab("up", "1,1", "--slow", words)
        assert done.returncode == 2 and said in done.stderr
    assert left() == []
