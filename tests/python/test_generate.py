# SPDX-License-Identifier: BSD-3-Clause
"""`stretto generate`: the C files are compiled and test themselves, under two MPIs."""

import re
from pathlib import Path

import pytest
from commands import refuse, succeed
from programs import compile_for, installed, launch
from stretto.generate import FUNCTIONS

STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror")
TREE = """\
stretto-topology = 1
ranks = ["n0", "n2", "n1", "n3", "n0"]
[switch.s0]
machines = "n[0-1]"
switches = "s1"
[switch.s1]
machines = "n[2-3]"
"""
RING = [0, 4, 1, 3, 2]


@pytest.fixture
def tree(tmp_path) -> Path:
    path = tmp_path / "tree.toml"
    path.write_text(TREE, encoding="utf-8")
    return path


def compiled(mpi: str, source: Path, *flags: str) -> Path:
    target = source.with_suffix(f".{mpi}")
    compile_for(mpi, source, target, (*STRICT, *flags))
    return target


def order_in(text: str) -> list[int]:
    numbers = re.search(r"order\[RANKS\] = \{([^}]*)\}", text)[1]
    return [int(number) for number in numbers.split(",")]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_generated_routines_are_right(mpi, function, tree, tmp_path):
    found = installed(mpi)
    source = tmp_path / f"{function}.c"
    for ranks in (1, 2, 5):
        succeed("generate", function, "--topology", tree, "--ranks", ranks, "-o", source)
        assert order_in(source.read_text("utf-8")) == [rank for rank in RING if rank < ranks]
        done = launch(found, ranks, [compiled(mpi, source)]).succeeded()
        assert done.out.strip() == f"right on {ranks} ranks"
    other = launch(found, 2, [source.with_suffix(f".{mpi}")])
    assert other.code != 0
    assert other.said("this is for 5 ranks, not for 2")


# What is broken in each, so that the self-test must notice.
BROKEN = {
    "allreduce": ("count_of(in, count), type, op", "count_of(in, count) / 2, type, op"),
    "reduce_scatter": ("t == 1 ? at", "t <= 2 ? at"),
    "allgather": ("(MPI_Aint)in *", "(MPI_Aint)(in + 1) % RANKS *"),
    "allgatherv": ("done < counts[part]; done += segment", "done < 1; done += segment"),
    "bcast": ("least(segment, count - done)", "least(1, count - done)"),
    "reduce": ("CHECKED(MPI_Reduce_local", "if (done == 0) CHECKED(MPI_Reduce_local"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_self_test_notices_mistakes(function, tree, tmp_path):
    found = installed("mpich")
    text = succeed("generate", function, "--topology", tree)
    right, wrong = BROKEN[function]
    assert right in text
    source = tmp_path / "broken.c"
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    done = launch(found, 5, [compiled("mpich", source)])
    # What the rank says may be lost when the launcher ends the others.
    assert done.code == 1, done.err
    assert "right on" not in done.out


def test_a_routine_for_use_in_programs(tree, tmp_path):
    source = tmp_path / "allreduce.c"
    source.write_text(succeed("generate", "allreduce", "--hosts", hosts_in(tmp_path)), "utf-8")
    compiled("mpich", source, "-DTREE_WITHOUT_MAIN", "-c")
    text = source.read_text("utf-8")
    assert order_in(text) == [0, 2, 1]
    assert f"Made by: stretto generate allreduce --hosts {tmp_path}/hosts\n" in text


def hosts_in(folder: Path) -> Path:
    path = folder / "hosts"
    path.write_text("a\nb\na\n", encoding="utf-8")
    return path


def test_refusals(tree):
    assert "no ring serves 'alltoall'" in refuse("generate", "alltoall", "--topology", tree)
    assert "neither a topology nor hosts" in refuse("generate", "bcast")
    assert "rank 5 has no machine" in refuse("generate", "bcast", "--topology", tree, "-p", 6)
