# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of network namespaces: hosts on switches (bridges), links (veth) limited by tbf."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from stretto.errors import Error
from tree import Tree

STATES = Path("/run/netcluster")
FILES = Path("/etc/netns")  # `ip netns exec` lays what is here over /etc
NETWORK = "10.77.0"
MOST_HOSTS = 254
LONGEST_NAME = 32
BURST, QUEUE = "64kb", "4mb"  # what a link sends at once, and what waits before it drops packets
PATIENCE = 3.0  # seconds for processes to end


def cluster_name() -> str:
    """Of the cluster that is meant; several can be up."""
    name = os.environ.get("NETCLUSTER") or "netcluster"
    if not re.fullmatch(rf"[a-z][a-z0-9]{{0,{LONGEST_NAME - 1}}}", name):
        raise Error(f"NETCLUSTER: '{name}' is no name", "take small letters and digits: second")
    return name


def require() -> None:
    """Raises Error where no cluster can be made."""
    if os.geteuid() != 0:
        raise Error("network namespaces need root", "sudo lab/netcluster …")
    for command, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if not shutil.which(command):
            raise Error(f"there is no command '{command}'", f"apt-get install {package}")


def _done(*words: object) -> str:
    """What a command prints; raises Error with what it complains of."""
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Error(
            f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}",
            "the kernel must allow network namespaces and have veth, bridge and sch_tbf",
        )
    return done.stdout


@dataclass(frozen=True)
class Cluster:
    """Hosts h0, h1, …, numbered switch by switch. The tree's bandwidth is that of every link."""

    name: str
    tree: Tree
    slow: dict[str, float] = field(default_factory=dict)  # bytes a second of links that differ

    @property
    def hosts(self) -> list[str]:
        return [f"h{i}" for i in range(len(self.tree.switches))]

    def namespace(self, host: str) -> str:
        if host not in self.hosts:
            raise Error(f"there is no host '{host}'", f"there are h0 to {self.hosts[-1]}")
        return f"{self.name}-{host}"

    def inside(self, host: str, command: list[str]) -> list[str]:
        """The command line that runs a command on a host, which has its own hostname."""
        named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host]
        return ["ip", "netns", "exec", self.namespace(host), *named, *command]

    def placed(self, place: str, per_host: int = 1) -> list[str]:
        """The host of every rank: "by-host", "alternating" from switch to switch, or a list of
        hosts; each host `per_host` times in a row."""
        if per_host < 1:
            raise Error(f"{per_host} ranks on a host", "give --per-host 1 or more")
        if place == "by-host":
            hosts = self.hosts
        elif place == "alternating":
            own = [
                [h for h, at in zip(self.hosts, self.tree.switches, strict=True) if at == switch]
                for switch in range(len(self.tree.hosts))
            ]
            hosts = [h for some in zip_longest(*own) for h in some if h]
        else:
            hosts = [one.strip() for one in place.split(",")]
        for host in hosts:
            self.namespace(host)
        return [host for host in hosts for _ in range(per_host)]

    def topology(self, ranks: list[str]) -> str:
        """The file that `stretto show --topology` reads, with these ranks' hosts."""
        lines = [
            "stretto-topology = 1",
            f"ranks = {json.dumps(ranks)}",
            "",
            "[link]",
            f"bandwidth = {self.tree.bandwidth:.0f}  # bytes a second, each direction",
        ]
        for switch in range(len(self.tree.hosts)):
            own = zip(self.hosts, self.tree.switches, strict=True)
            machines = [host for host, at in own if at == switch]
            below = [f"s{i}" for i, up in enumerate(self.tree.upward, 1) if up == switch]
            lines += ["", f"[switch.s{switch}]"]
            lines += [f"machines = {json.dumps(machines)}"] if machines else []
            lines += [f"switches = {json.dumps(below)}"] if below else []
            lines += self._slow(f"s{switch}")
        for host in self.hosts:
            if host in self.slow:
                lines += ["", f"[machine.{host}]", *self._slow(host)]
        return "\n".join(lines) + "\n"

    def _slow(self, link: str) -> list[str]:
        return [f"bandwidth = {self.slow[link]:.0f}"] if link in self.slow else []


def slow_link(words: str) -> tuple[str, float]:
    """Of "h3=20": the link, and its bytes per second."""
    found = re.fullmatch(r"([hs]\d+)=(\d+(?:\.\d+)?)", words)
    if not found or float(found[2]) <= 0:
        raise Error(f"--slow: '{words}' is no link and its Mbit/s", "write h3=20 or s1=20")
    return found[1], float(found[2]) * 1e6 / 8


def up(name: str, tree: Tree, slow: dict[str, float] | None = None) -> Cluster:
    """Makes a cluster; nothing is left of one that cannot be made. `slow` has the bytes per second
    of links that differ: of a host (h3), of a switch to its parent (s1)."""
    require()
    cluster = Cluster(name, tree, slow or {})
    links = {*cluster.hosts, *(f"s{i}" for i in range(1, len(tree.hosts)))}
    for link in cluster.slow:
        if link not in links:
            raise Error(f"there is no link '{link}'", f"there are {', '.join(sorted(links))}")
    if len(cluster.hosts) > MOST_HOSTS:
        raise Error(f"{len(cluster.hosts)} hosts", f"{MOST_HOSTS} are the most")
    STATES.mkdir(exist_ok=True)
    try:
        (STATES / name).mkdir()
    except FileExistsError:
        raise Error(
            f"the cluster '{name}' is already up",
            "lab/netcluster down ends it; NETCLUSTER=second is another one",
        ) from None
    try:
        _build(cluster)
        known = {
            "hosts": tree.hosts, "parents": tree.parents, "bandwidth": tree.bandwidth,
            "slow": cluster.slow,
        }  # fmt: skip
        (STATES / name / "cluster.json").write_text(json.dumps(known), encoding="utf-8")
    except BaseException:
        down(name)
        raise
    return cluster


def current(name: str) -> Cluster:
    """The cluster that is up; raises Error if there is none."""
    try:
        text = (STATES / name / "cluster.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Error(f"no cluster '{name}' is up", "lab/netcluster up 4,4 --mbit 100") from None
    known = json.loads(text)
    parents = known["parents"]
    tree = Tree(tuple(known["hosts"]), parents and tuple(parents), known["bandwidth"], 0.0)
    return Cluster(name, tree, known["slow"])


def down(name: str) -> None:
    """Ends what runs on the cluster and removes it, also what is left of half a one."""
    require()
    own = _namespaces(name)
    for number in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + PATIENCE
        for process in (found := _processes(own)):
            with suppress(ProcessLookupError):
                os.kill(process, number)
        while found and (found := _processes(own)) and time.monotonic() < end:
            time.sleep(0.05)
    for namespace in own:
        _done("ip", "netns", "del", namespace)
    for folder in FILES.glob(f"{name}-h*"):
        if re.fullmatch(rf"{name}-h\d+", folder.name):
            shutil.rmtree(folder)
    with suppress(OSError):  # others are in use, or there was none
        FILES.rmdir()
    shutil.rmtree(STATES / name, ignore_errors=True)
    with suppress(OSError):
        STATES.rmdir()


def _namespaces(name: str) -> list[str]:
    listed = _done("ip", "netns", "list")
    return re.findall(rf"^({name}-(?:h\d+|switches))\b", listed, re.MULTILINE)


def _processes(namespaces: list[str]) -> list[int]:
    return [int(pid) for one in namespaces for pid in _done("ip", "netns", "pids", one).split()]


def _build(cluster: Cluster) -> None:
    tree = cluster.tree
    switches = f"{cluster.name}-switches"
    _done("ip", "netns", "add", switches)
    for switch in range(len(tree.hosts)):
        _done("ip", "-n", switches, "link", "add", f"br{switch}", "up", "type", "bridge")
    for switch, parent in enumerate(tree.upward, 1):
        above, below = f"up{switch}", f"down{switch}"
        _done("ip", "-n", switches, "link", "add", above, "type", "veth", "peer", "name", below)
        _plug(cluster, switches, above, switch, f"s{switch}")
        _plug(cluster, switches, below, parent, f"s{switch}")
    names = "".join(f"{NETWORK}.{i} {host}\n" for i, host in enumerate(cluster.hosts, 1))
    for i, (host, switch) in enumerate(zip(cluster.hosts, tree.switches, strict=True), 1):
        namespace, port = cluster.namespace(host), f"port{i}"
        files = FILES / namespace
        files.mkdir(parents=True)
        (files / "hosts").write_text(f"127.0.0.1 localhost\n{names}", encoding="utf-8")
        _done("ip", "netns", "add", namespace)
        _done(
            "ip", "link", "add", "eth0", "netns", namespace,
            "type", "veth", "peer", "name", port, "netns", switches,
        )  # fmt: skip
        _done("ip", "-n", namespace, "address", "add", f"{NETWORK}.{i}/24", "dev", "eth0")
        _done("ip", "-n", namespace, "link", "set", "lo", "up")
        _done("ip", "-n", namespace, "link", "set", "eth0", "up")
        _limit(cluster, namespace, "eth0", host)
        _plug(cluster, switches, port, switch, host)


def _plug(cluster: Cluster, switches: str, port: str, switch: int, link: str) -> None:
    _done("ip", "-n", switches, "link", "set", port, "master", f"br{switch}", "up")
    _limit(cluster, switches, port, link)


def _limit(cluster: Cluster, namespace: str, device: str, link: str) -> None:
    """What leaves by a device; the other end of the link limits the other direction."""
    rate = f"{8 * cluster.slow.get(link, cluster.tree.bandwidth):.0f}bit"
    _done(
        "tc", "-n", namespace, "qdisc", "add", "dev", device,
        "root", "tbf", "rate", rate, "burst", BURST, "limit", QUEUE,
    )  # fmt: skip
