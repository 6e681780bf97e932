# SPDX-License-Identifier: BSD-3-Clause
"""The command as a whole, `list` and `check`."""

import signal
import subprocess
import sys

import pytest
from commands import json_of, on_terminal, refuse, stretto, succeed
from stretto.cli.terminal import say

COMMANDS = (
    "list", "show", "check", "explain", "run", "compare", "env", "bench", "report", "doctor",
)  # fmt: skip


def test_help_names_every_command():
    text = succeed("--help")
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    assert succeed(name, "--help").startswith(f"Usage: stretto {name} ")


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom stretto.cli.group import cli\n"
        "try: cli.main(['--help'], prog_name='stretto')\n"
        "except SystemExit: pass\n"
        "heavy = {'matplotlib', 'rich', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_version():
    import stretto as package

    assert succeed("--version") == f"stretto {package.__version__}\n"


def test_without_arguments_it_is_help():
    assert succeed() == succeed("--help")
    for group in ("rules", "topology"):
        assert succeed(group) == succeed(group, "--help")


def test_names_as_mpi_writes_them():
    assert json_of("list", "MPI_Allgatherv") == json_of("list", "allgatherv")
    assert json_of("list", "BCAST/Binomial") == json_of("list", "bcast/binomial")
    assert json_of("list", "ALLREDUCE") == json_of("list", "allreduce")
    assert succeed("show", "MPI_Bcast/binomial", "-p", 2) == succeed(
        "show", "bcast/binomial", "-p", 2
    )
    for command in ("simulate", "explain"):
        words = ("-p", 4, "--bytes", 64)
        assert succeed(command, "MPI_Allreduce", *words) == succeed(command, "allreduce", *words)
    assert "did you mean allreduce" in refuse("explain", "alreduce", "-p", 4)
    assert "did you mean allreduce" in refuse("explain", "alreduce")
    assert "int stretto_bcast(" in succeed("generate", "MPI_Bcast/binomial", "-p", 2)
    assert "did you mean allreduce" in refuse("bench", "--collectives", "MPI_Allredcue")


def test_unknown_command_names_the_nearest():
    assert "did you mean show?" in refuse("shw")


def test_unknown_option():
    assert "--nonsense" in refuse("list", "--nonsense")


def test_list_shows_every_algorithm():
    from stretto import all_algorithms

    text = succeed("list", "--ranks", 8)
    for algorithm in all_algorithms():
        assert algorithm.id in text
        assert algorithm.source in text


def test_names_between_colons_are_no_emoji(capsys):
    say("64:100:64")
    assert "64:100:64" in capsys.readouterr().err


def test_list_on_a_narrow_terminal():
    from stretto import all_algorithms

    text = on_terminal(80, "list")
    assert all(len(line) <= 80 for line in text.splitlines()[:-1])
    assert all(f"\n{algorithm.id} " in text for algorithm in all_algorithms())
    assert "\nallreduce/ring                     14 / 24    1.75 / 1.85  commutative" in text
    assert "source" not in text.splitlines()[1]
    wide = on_terminal(300, "list", "allreduce/ring")
    assert "source" in wide.splitlines()[0]
    assert "Patarasuk" in wide


def test_list_json():
    rows = {row["algorithm"]: row for row in json_of("list", "--ranks", "8,13", "allreduce")}
    assert {row["collective"] for row in rows.values()} == {"allreduce"}
    ring = rows["allreduce/ring"]
    assert ring["at"][0] == {"ranks": 8, "rounds": 14, "blocks": 8, "sent": 14, "combined": 7}
    assert ring["at"][1]["rounds"] == 24
    assert ring["needs"]["commutative"] is True
    assert ring["functions"] == ["allreduce"]
    assert ring["parameter"] is ring["list"] is None


def test_list_by_function():
    from stretto import all_algorithms

    named = {row["algorithm"]: row for row in json_of("list", "allgatherv")}
    assert named.keys() == {a.id for a in all_algorithms() if a.id.startswith("allgather/")}
    assert named["allgather/ring"]["functions"] == ["allgather", "allgatherv"]
    assert named["allgather/circulant"]["list"] == "skips"


def test_list_names_needs_and_parameters():
    lines = {line.split()[0]: line for line in succeed("list", "alltoall").splitlines()}
    assert "7 / –" in lines["alltoall/pairwise_xor"]
    assert "2^k ranks" in lines["alltoall/pairwise_xor"]
    assert "radix=2 (from 2)" in lines["alltoall/bruck"]
    assert "alltoall, alltoallv, alltoallw" in lines["alltoall/bruck"]
    (row,) = json_of("list", "alltoall/pairwise_xor", "--ranks", 6)
    assert row["at"] == [{"ranks": 6, "unsuitable": "6 ranks are not a power of two"}]


def test_list_one_algorithm():
    assert [row["algorithm"] for row in json_of("list", "bcast/binomial")] == ["bcast/binomial"]


def test_unknown_algorithm_names_the_nearest():
    assert "did you mean allreduce/ring" in refuse("list", "allreduce/rign")
    assert "allgather/ring or allreduce/ring" in refuse("check", "ring")


@pytest.mark.parametrize("ranks", ["0", "x", "5-3", "1-", "", "1,,2", "1-999999999", "9" * 5000])
def test_bad_ranks(ranks):
    assert "write 8, 1-70 or 2,4,8-16" in refuse("check", "--ranks", ranks)


def test_check_proves_the_portfolio():
    from stretto import all_algorithms

    result = json_of("check", "--ranks", "1-17,24,32-33")
    assert result["refused"] == []
    ranks = {*range(1, 18), 24, 32, 33}
    skipped = {row["algorithm"]: set(row["ranks"]) for row in result["skipped"]}
    proved: dict[str, list[dict]] = {}
    for row in result["proved"]:
        proved.setdefault(row["algorithm"], []).append(row)
    for algorithm in all_algorithms():
        left_out = skipped.get(algorithm.id, set())
        assert {row["ranks"] for row in proved[algorithm.id]} == ranks - left_out
    roots = {(row["ranks"], row["root"]) for row in proved["bcast/binomial"]}
    assert {root for p, root in roots if p == 16} == set(range(16))
    assert {root for p, root in roots if p == 33} == {0, 1, 11, 16, 32}


def test_check_tries_parameters_lists_and_counts():
    def variants(*names: str) -> set[str]:
        rows = json_of("check", *names, "--ranks", "9")["proved"]
        return {row["variant"] for row in rows}

    assert variants("alltoall/bruck") >= {"", "radix=3", "radix=8"}
    skips = variants("allgather/circulant") - {""}
    assert skips and all(text.startswith("skips=") and text.endswith(":1") for text in skips)
    assert any(text.startswith("radices=") for text in variants("allreduce/recursive_multiplying"))
    assert all(",counts=" in "," + text for text in variants("allgather/pipelined_ring"))
    # The parameters of rooted algorithms are tried from root p/3.
    rows = json_of("check", "gather/knomial", "--ranks", "30")["proved"]
    assert {row["root"] for row in rows if row["variant"]} == {10}


def test_check_table():
    text = succeed("check", "allreduce/ring", "alltoall/pairwise_xor", "--ranks", "1-9")
    lines = {line.split()[0]: line.split(maxsplit=5) for line in text.splitlines()}
    assert lines["allreduce/ring"][1:3] == ["1-9", "9"]
    assert lines["allreduce/ring"][4:] == ["proved"]
    assert lines["alltoall/pairwise_xor"][1] == "1-2,4,8"
    assert lines["alltoall/pairwise_xor"][4:] == ["proved", "5: needs 2^k ranks"]


def test_check_of_nothing_but_skipped_ranks():
    result = json_of("check", "alltoall/pairwise_xor", "--ranks", "6-7")
    assert result["proved"] == result["refused"] == []
    assert result["skipped"][0]["ranks"] == [6, 7]


def test_check_all_roots():
    rows = json_of("check", "bcast/binomial", "--ranks", "20", "--root", "all")["proved"]
    assert [row["root"] for row in rows] == list(range(20))


@pytest.fixture
def ring(tmp_path):
    file = tmp_path / "ring.txt"
    file.write_text(succeed("show", "allreduce/ring", "-p", 4, "--text"), encoding="utf-8")
    return file


def test_check_file(ring):
    assert "proved: allreduce on 4 ranks, 6 rounds" in succeed(
        "check", "--file", ring, "--commutative"
    )
    assert json_of("check", "--file", ring, "--commutative")["refused"] is None


def test_check_file_against_the_record(ring):
    assert "proved" in succeed("check", "--file", ring)
    text = ring.read_text(encoding="utf-8")
    # Right as it is, but with more rounds than that algorithm's record allows.
    ring.write_text(text.replace("allreduce/ring ", "allreduce/bine "), encoding="utf-8")
    assert "wrong cost" in refuse("check", "--file", ring, code=1)


def test_check_file_keeps_rank_order_unless_told(ring):
    assert "wrong order" in refuse("check", "--file", ring, "--collective", "allreduce", code=1)


def test_planted_error_is_refused(ring):
    lines = ring.read_text(encoding="utf-8").splitlines(keepends=True)
    first_send = next(i for i, line in enumerate(lines) if line.lstrip().startswith("send"))
    del lines[first_send]
    ring.write_text("".join(lines), encoding="utf-8")
    assert "rank" in refuse("check", "--file", ring, "--commutative", code=1)
    done = stretto("check", "--file", ring, "--commutative", "--json")
    assert done.returncode == 1
    assert '"refused": "' in done.stdout


def test_check_file_of_an_algorithm_with_parameters(tmp_path):
    file = tmp_path / "bruck.txt"
    file.write_text(succeed("show", "alltoall/bruck,radix=3", "-p", 7, "--text"), encoding="utf-8")
    # Rounds and volume depend on the radix, which the file does not say.
    assert "proved: alltoall on 7 ranks, 4 rounds" in succeed("check", "--file", file)


def test_check_file_that_is_none(tmp_path):
    assert refuse("check", "--file", tmp_path / "missing.txt")
    file = tmp_path / "bad.txt"
    file.write_text("nonsense\n", encoding="utf-8")
    assert f"{file}:1: " in refuse("check", "--file", file)
    file.write_bytes(b"\xff\xfe")
    assert refuse("check", "--file", file)


def test_check_file_that_is_a_pipe(ring):
    """Which can be read once only: of an algorithm that is known, of another one, and of a plan."""
    text = ring.read_text(encoding="utf-8")
    other = text.replace("schedule allreduce/ring ", "schedule allreduce/other ")
    plan = succeed("generate", "allreduce/ring", "--ranks", 4, "--form", "msccl")
    command = [sys.executable, "-m", "stretto", "check", "--file", "/dev/stdin"]
    for piped in (text, other, plan):
        done = subprocess.run(command, input=piped, capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("/dev/stdin: proved: allreduce on 4 ranks"), done.stderr


def test_check_file_has_its_own_ranks_and_roots(ring):
    for words in (["--ranks", 4], ["--root", 0]):
        message = refuse("check", "--file", ring, "--commutative", *words)
        assert f"--file and {words[0]} exclude each other" in message
    assert "--file and names exclude" in refuse("check", "allreduce/ring", "--file", ring)


def test_check_file_of_a_python_program(tmp_path):
    """The algorithm as its author wrote it is not read, and what to do instead is said."""
    file = tmp_path / "ring.py"
    file.write_text("# SPDX\nimport stretto\n", encoding="utf-8")
    for command in (["check"], ["simulate", "-p", 4]):
        message = refuse(*command, "--file", file)
        assert f"{file}: a Python program" in message
        assert f"`python {file}`" in message and ".save(" in message


def test_check_file_with_a_rank_missing(ring):
    text = ring.read_text(encoding="utf-8")
    ring.write_text(text[: text.rindex("schedule ")], encoding="utf-8")
    assert "holds 3 schedules" in refuse("check", "--file", ring)
    ring.write_text(text.replace("ranks=4", "ranks=2147483647"), encoding="utf-8")
    message = refuse("check", "--file", ring)
    assert "holds 4 schedules, not one for each of the 2147483647 ranks" in message


def test_file_options_need_a_file():
    assert "--file" in refuse("check", "--commutative")


def test_reader_that_goes_away():
    command = [sys.executable, "-m", "stretto", "show", "allreduce/ring", "-p", "40", "--text"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE
