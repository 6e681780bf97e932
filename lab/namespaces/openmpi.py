# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI on a cluster of namespaces: TCP between hosts, its shared memory inside of one."""

import dataclasses
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster
from stretto.errors import Error
from stretto.launch import Mpi

COMMAND = Path(__file__).resolve().parents[1] / "netcluster"


@dataclass(frozen=True, kw_only=True)
class OnCluster(Mpi):
    """An Open MPI whose ranks are started on the hosts in `placement`, one after the other."""

    cluster: Cluster
    placement: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        # The agent is started by the MPI's launcher, and needs the same package and cluster.
        return {**super().environment(), "PYTHON": sys.executable, "NETCLUSTER": self.cluster.name}

    def command(self, ranks: int, program: list[str], variables: dict[str, str]) -> list[str]:
        """Raises Error if there are not as many ranks as places."""
        if ranks != len(self.placement):
            raise Error(f"{ranks} ranks in {len(self.placement)} places", "give each rank a host")
        mpiexec, _, _, *rest = super().command(1, program, variables)  # the hosts say how many
        old = int(self.version.partition(".")[0]) < 5
        agent = ["--mca", "plm_rsh_agent"] if old else ["--prtemca", "plm_ssh_agent"]
        launch = [
            *agent, f"{COMMAND} agent",
            "--map-by", "seq", "--bind-to", "none", "--host", ",".join(self.placement),
            "--mca", "pml", "ob1", "--mca", "btl", f"tcp,self,{'vader' if old else 'sm'}",
            # Each host believes that all cores are its own.
            "--mca", "mpi_yield_when_idle", "1",
        ]  # fmt: skip
        return self.cluster.inside(self.placement[0], [mpiexec, *launch, *rest])


def on_cluster(mpi: Mpi, cluster: Cluster, placement: list[str]) -> OnCluster:
    """Raises Error for what cannot run there."""
    if mpi.name != "Open MPI":
        raise Error(f"{mpi.title} is not Open MPI", "name one: --mpi /usr/bin/mpirun.openmpi")
    if not _has_tcp(mpi):
        raise Error(
            f"{mpi.title} at {mpi.mpiexec} was built without TCP (btl tcp)",
            "name another: --mpi /usr/bin/mpirun.openmpi",
        )
    own = {one.name: getattr(mpi, one.name) for one in dataclasses.fields(mpi)}
    return OnCluster(**own, cluster=cluster, placement=tuple(placement))


def _has_tcp(mpi: Mpi) -> bool:
    """What its ompi_info says; where there is none, the launcher will."""
    info = mpi.mpiexec.absolute().parent / "ompi_info"
    if not info.exists():
        return True
    said = subprocess.run([info, "--parsable"], capture_output=True, text=True, check=False)
    return said.returncode != 0 or "mca:btl:tcp:" in said.stdout
