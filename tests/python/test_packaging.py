# SPDX-License-Identifier: BSD-3-Clause
"""What is beside the library: linking to it, modules, completion, recipes, one version in all."""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stretto as package
from commands import refuse, stretto, succeed
from programs import ROOT, finish, from_environment, installed, launch
from stretto.launch import folder_of

# Calls MPI, and is linked to Stretto or not.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int mine = 1, all = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  if (mine == 0) puts(all == ranks ? "all right" : "wrong");
  return MPI_Finalize();
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(linked C)
find_package(stretto 0.3 REQUIRED COMPONENTS mpich)
add_executable(app app.c)
target_link_libraries(app PRIVATE stretto::mpich)
"""


def environment(**variables: object) -> dict[str, str]:
    return {**os.environ, **{name: str(value) for name, value in variables.items()}}


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "app.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def serves(name: str, app: Path) -> None:
    """The program, started without preloading anything, has Stretto in it."""
    done = launch(installed(name), 2, [app], STRETTO_LOG="summary").succeeded()
    assert done.out == "all right\n"
    assert done.served("allreduce") == 1


def mpicc(name: str = "mpicc") -> Path:
    return from_environment("STRETTO_TEST_MPICH") / "bin" / name


@pytest.mark.parametrize(("compiler", "wish", "mpi"), [
    ("mpicc", "mpich", "mpich"), ("mpicc_abi", "abi", "mpich-abi"),
])  # fmt: skip
def test_linked_by_flags(source, compiler, wish, mpi):
    prefix = from_environment("STRETTO_TEST_MPICH")
    path = f"{prefix}/bin:{os.environ['PATH']}"
    flags = succeed("env", "--link", "--mpi", wish, PATH=path).split()
    assert flags[-1] == "-lstretto-" + installed(mpi).flavour
    app = source.parent / "app"
    finish([mpicc(compiler), source, *flags, "-o", app], environment(), 60).succeeded()
    serves(mpi, app)


def test_linked_by_pkg_config(source):
    tool = shutil.which("pkg-config")
    if tool is None:
        pytest.skip("there is no pkg-config")
    folder = succeed("env", "--folder", "pkgconfig").strip()
    found = environment(PKG_CONFIG_PATH=folder)
    said = finish([tool, "--modversion", "stretto-mpich"], found, 60).succeeded()
    assert said.out.strip() == package.__version__
    flags = finish([tool, "--libs", "stretto-mpich"], found, 60).succeeded().out.split()
    app = source.parent / "app"
    finish([mpicc(), source, *flags, "-o", app], environment(), 60).succeeded()
    serves("mpich", app)


def test_linked_by_cmake(source):
    tool = shutil.which("cmake")
    if tool is None:
        pytest.skip("there is no cmake")
    folder = source.parent
    (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    options = [
        f"-DCMAKE_C_COMPILER={mpicc()}",
        f"-Dstretto_DIR={succeed('env', '--folder', 'cmake').strip()}",
    ]
    build = folder / "build"
    finish([tool, "-S", folder, "-B", build, *options], environment(), 120).succeeded()
    finish([tool, "--build", build], environment(), 120).succeeded()
    serves("mpich", build / "app")
    wanted = PROJECT.replace("COMPONENTS mpich", "COMPONENTS nonsense")
    (folder / "CMakeLists.txt").write_text(wanted, encoding="utf-8")
    refused = finish([tool, "-S", folder, "-B", folder / "other", *options], environment(), 120)
    assert refused.code != 0
    assert "Stretto was not built for nonsense" in refused.err


def test_env_prints_one_thing():
    assert Path(succeed("env", "--folder", "lib").strip()) == folder_of("lib")
    assert "exclude each other" in refuse("env", "--link", "--json")


# The commands of environment modules, as far as the file uses them.
MODULES = """
foreach name {conflict setenv prepend-path module-whatis} {
  proc $name args "puts \\[list $name {*}\\$args\\]"
}
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
ModulesHelp
"""


def test_environment_module():
    tool = shutil.which("tclsh")
    if tool is None:
        pytest.skip("there is no tclsh")
    modulefiles = folder_of("modulefiles")
    path = modulefiles / "stretto" / package.__version__
    assert path.read_text(encoding="utf-8").startswith("#%Module1.0\n")
    done = subprocess.run(
        [tool, "-", path], input=MODULES.replace("[lindex $argv 0]", str(path)),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, package.__version__ in done.stderr) == (0, True), done.stderr
    lines = done.stdout.splitlines()
    library = folder_of("lib")
    assert f"setenv STRETTO_ROOT {library}" in lines
    assert f"prepend-path PKG_CONFIG_PATH {library}/pkgconfig" in lines
    assert f"prepend-path PATH {sys.prefix}/bin" in lines


def completed(words: str) -> list[str]:
    """What a shell would offer for the last of these words."""
    number = len(words.split(" ")) - 1
    done = stretto(_STRETTO_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(number))
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_completion_of_names():
    found = completed("stretto check all")
    assert {"allreduce", "allgather", "allreduce/ring", "alltoallv"} <= set(found)
    assert all(name.startswith("all") for name in found)
    assert completed("stretto show allreduce/ri") == ["allreduce/ring"]
    assert completed("stretto bench --collectives bcast,exs") == ["bcast,exscan"]
    assert completed("stretto run --mpi op") == ["openmpi"]
    assert "simulate" in completed("stretto si")


def test_pictures_without_matplotlib(tmp_path):
    """As after an installation without the extra: refused before the work, in one line."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['matplotlib'] = None\n", encoding="utf-8"
    )
    for words in (
        ["show", "allreduce/ring", "-o", tmp_path / "a.svg"],
        ["report", "profile"],
        ["compare", "-o", tmp_path / "a.html", "--", "true"],
    ):
        said = refuse(*words, PYTHONPATH=str(tmp_path))
        assert "pictures are drawn by matplotlib, which is not installed" in said
        assert f"{sys.executable} -m pip install matplotlib" in said  # no index has Stretto
    assert "rank 0" in succeed("show", "allreduce/ring", PYTHONPATH=str(tmp_path))


def cpu_seconds(work) -> float:
    """Of a child that `work` runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("words", [["--help"], ["list"], ["show", "allreduce/ring"]])
def test_commands_are_there_at_once(words):
    """With four times the work of importing what reads arguments and sets tables."""
    imports = [sys.executable, "-c", "import click, rich.table"]
    ratios = []  # of one right after the other: the speed of a machine changes
    while len(ratios) < 20 and not any(ratio < 4 for ratio in ratios):
        importing = cpu_seconds(lambda: subprocess.run(imports, check=True, timeout=60))
        ratios.append(cpu_seconds(lambda: succeed(*words)) / importing)
    assert min(ratios) < 4


# Where the version stands beside CMakeLists.txt, which has the say.
VERSIONS = {
    "CHANGELOG.md": r"^## (\S+)",
    "CITATION.cff": r"^version: (\S+)$",
    "README.md": r"`STRETTO_CHILDREN=(\S+)`",
    "packaging/conda/recipe.yaml": r'^  version: "(\S+)"$',
    "packaging/spack/package.py": r'^    version\("(\S+)"',
}


@pytest.mark.parametrize("name", VERSIONS)
def test_version_stands_everywhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.search(VERSIONS[name], text, re.MULTILINE)
    assert found and found[1] == package.__version__


def test_citation_is_valid():
    cffconvert = Path(sys.executable).parent / "cffconvert"
    if not cffconvert.exists():
        pytest.skip("cffconvert comes with the extra 'lint'")
    command = [cffconvert, "--validate", "-i", ROOT / "CITATION.cff"]
    assert "valid" in finish(command, environment(), 60).succeeded().out


def test_conda_recipe_is_read_by_its_tool():
    tool = pytest.importorskip("rattler_build", reason="it comes with the extra 'lint'")
    recipe = tool.Stage0Recipe.from_file(ROOT / "packaging" / "conda" / "recipe.yaml")
    (rendered,) = recipe.render(tool.VariantConfig())
    package_of = rendered.recipe.package
    assert (str(package_of.name), str(package_of.version)) == ("stretto", package.__version__)
