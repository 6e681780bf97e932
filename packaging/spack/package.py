# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe: copy it to packages/stretto/ of a repository of yours, then in a checkout
`spack dev-build stretto@0.3.30`."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Stretto(PythonPackage):
    """Fast collective operations for any MPI program, without recompiling it: a library that takes
    the place of MPI's collectives when it is preloaded or linked, and its tools."""

    homepage = "https://pypi.org/project/stretto"
    pypi = "stretto/stretto-0.3.30.tar.gz"

    license("BSD-3-Clause")

    version("0.3.30")

    variant("plot", default=True, description="Pictures")

    depends_on("cxx", type="build")
    depends_on("mpi")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-pip@23:", type="build")
    depends_on("py-scikit-build-core@1.1.2", type="build")
    depends_on("py-nanobind@3.1.0", type="build")
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-matplotlib@3.8:", when="+plot", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-tomli@2:", when="^python@:3.10", type=("build", "run"))

    def setup_build_environment(self, env):
        # For the MPI of the specification, and for the standard ABI where that MPI has it.
        env.set("STRETTO_MPICC", self.spec["mpi"].mpicc)
