# SPDX-License-Identifier: BSD-3-Clause
"""`stretto generate`: the C files are compiled and test themselves against the functions of an MPI.

Most are linked into one program for each number of ranks: it starts once.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import refuse, succeed
from programs import compile_for, installed, launch
from stretto import (
    Algorithm,
    Error,
    Function,
    Shape,
    all_algorithms,
    all_functions,
    facts,
    unsuitable,
)
from stretto.generate import FUNCTIONS, RINGS, generate

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
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
# MPICH's own collectives, of which only results matter here, do not spin then on shared cores.
MESSAGES_ONLY = {"MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD": "1000000000"}
SEVERAL = """\
#include <mpi.h>
#include <stdio.h>
{declarations}
int main(int argc, char** argv) {{
  int wrong = 0;
  MPI_Init(&argc, &argv);
{calls}
  MPI_Finalize();
  return wrong;
}}
"""
# Before a file that becomes a part of a program.
PART = """\
#include <mpi.h>
#include <stdio.h>
int main_{name}(int, char**);
#define main main_{name}
#define {function} function_{name}
#define MPI_Init(argc, argv) ((void)(argc), (void)(argv))
#define MPI_Finalize() ((void)0)
"""


@pytest.fixture
def tree(tmp_path) -> Path:
    path = tmp_path / "tree.toml"
    path.write_text(TREE, encoding="utf-8")
    return path


def compiled(mpi: str, source: Path, *flags: str) -> Path:
    target = source.with_suffix(f".{mpi}")
    compile_for(mpi, source, target, (*STRICT, *flags))
    return target


def together(mpi: str, ranks: int, files: dict[str, str], folder: Path) -> None:
    """Runs the tests of all files, each of which has a name."""
    found = installed(mpi)
    parts = folder / f"{mpi}-{ranks}"
    parts.mkdir()
    for name, text in files.items():
        function = re.search(r"^int ((?:tree|stretto)_\w+)\(", text, re.MULTILINE)[1]
        before = PART.format(name=name, function=function)
        (parts / f"{name}.c").write_text(before + text, encoding="utf-8")
    main = folder / f"{mpi}-{ranks}.c"
    main.write_text(
        SEVERAL.format(
            declarations="\n".join(f"int main_{name}(int, char**);" for name in files),
            calls="\n".join(f"  wrong |= main_{name}(argc, argv);" for name in files),
        ),
        encoding="utf-8",
    )
    names = list(files)

    def compile_some(number: int) -> Path:
        sources = [parts / f"{name}.c" for name in names[number::2]]
        target = parts / f"{number}.so"
        compile_for(mpi, sources[0], target, (*STRICT, "-shared", "-fPIC", *map(str, sources[1:])))
        return target

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(compile_some, range(min(2, len(names)))))
    program = compiled(mpi, main, *map(str, done))
    finished = launch(found, ranks, [program], **MESSAGES_ONLY).succeeded()
    assert finished.out.splitlines() == [f"right on {ranks} ranks"] * len(files)


def order_in(text: str) -> list[int]:
    numbers = re.search(r"order\[RANKS\] = \{([^}]*)\}", text)[1]
    return [int(number) for number in numbers.split(",")]


def serves(function: Function, algorithm: Algorithm) -> bool:
    """Not if ranks would have to know the sizes of others' parts."""
    what = FUNCTIONS[facts(function).name]
    needs_sizes = algorithm.forwards or algorithm.needs.counts
    return not (what.irregular and (algorithm.padded or (needs_sizes and not what.segments)))


def of_all_ranks() -> list[Algorithm]:
    """Those that can be written in C: not those of neighbourhoods, which go by a graph."""
    return [one for one in all_algorithms() if not facts(one.collective).neighbourhood]


def written(ranks: int, which: int) -> dict[str, str]:
    """All algorithms, for the first or last of their functions, by a name for C."""
    files = {}
    functions = [one for one in all_functions() if facts(one).name in FUNCTIONS]
    for algorithm in of_all_ranks():
        if unsuitable(algorithm, Shape(ranks, 0, [1] * ranks if algorithm.needs.counts else [])):
            continue
        own = [one for one in functions if facts(one).collective == algorithm.collective]
        name = facts([one for one in own if serves(one, algorithm)][which]).name
        text = generate(f"{name}/{algorithm.name}", ranks, None, None, "")
        # The long vectors are for segments, of which there are none here.
        files[f"{name}_{algorithm.name}"] = text.replace(", 1000, 20011}", ", 100}")
    return files


@pytest.mark.thorough
def test_every_algorithm_on_five_ranks(tmp_path):
    files = written(5, 0)
    assert len(files) == len(of_all_ranks()) - 4  # those that need an even number
    together("mpich", 5, files, tmp_path)


def test_every_algorithm_on_four_ranks(tmp_path):
    files = written(4, -1)
    assert len(files) == len(of_all_ranks())
    assert {"gatherv_linear", "allgatherv_bruck", "reduce_scatter_halving"} < set(files)
    together("mpich", 4, files, tmp_path)


@pytest.mark.parametrize("words", ["gatherv/binomial", "scatterv/ordered_tree", "alltoallv/bruck"])
def test_unknown_sizes(words):
    with pytest.raises(Error, match="passes on parts whose sizes the ranks"):
        generate(words, 4, None, None, "")


def test_segments_roots_and_lists(tmp_path):
    given = {
        "chain": ("bcast/chain,segment=8K,depth=3", 2),
        "tree": ("reduce/binary_tree,segment=16K", None),
        "ring": ("allreduce/ring,segment=4K,depth=5", None),
        "parts": ("allgatherv/ring,segment=8K", None),
        "blocks": ("reduce_scatter/halving,segment=8K", None),
        "prefixes": ("exscan/chain,segment=1K", None),
        "skips": ("allgather/circulant,skips=3:2:1", None),
        "order": ("allreduce/logical_ring,order=2:0:1:4:3", None),
        "nodes": ("allreduce/leaders,nodes=0:1:0:1:1", None),
        "one_root": ("gather/binomial", 3),
    }
    files = {name: generate(one, 5, root, None, "") for name, (one, root) in given.items()}
    assert "DEPTH = 3" in files["chain"]
    assert order_in(files["order"]) == [2, 0, 1, 4, 3]
    together("mpich", 5, files, tmp_path)


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_rings_of_a_tree(mpi, tree, tmp_path):
    for ranks in (1, 2, 5):
        files = {}
        for function in RINGS:
            files[function] = succeed("generate", function, "--topology", tree, "--ranks", ranks)
            assert order_in(files[function]) == [rank for rank in RING if rank < ranks]
        together(mpi, ranks, files, tmp_path)


def test_another_number_of_ranks(tree, tmp_path):
    source = tmp_path / "bcast.c"
    succeed("generate", "bcast", "--topology", tree, "-o", source)
    mpi = installed("mpich")
    program = compiled("mpich", source)
    assert launch(mpi, 5, [program]).succeeded().out.strip() == "right on 5 ranks"
    other = launch(mpi, 2, [program])
    assert other.code != 0
    assert other.said("this is for 5 ranks, not for 2")


def test_what_a_file_says(tmp_path):
    text = succeed("generate", "allreduce/ring", "-p", 8)
    assert len(text.splitlines()) <= 300
    head = " ".join(text.partition("*/")[0].replace(" *", "").split())
    assert "stretto_allreduce: MPI_Allreduce for 8 ranks and commutative operators" in head
    assert "Algorithm: allreduce/ring" in head
    assert (
        "14 rounds, 14 blocks sent, 7 combined; the vector has 8. Messages of all ranks: 112."
        in head
    )
    assert "Made by: stretto generate allreduce/ring --ranks 8" in head
    # Two loops, for all ranks.
    assert text.count("const int t = ") == 2
    assert text.count("static int program_") == 1
    assert "any operator" in succeed("generate", "scan/chain", "-p", 3)


# What is broken in each, so that the self-test must notice.
HALF = ("into.at, target.count, target.type", "into.at, target.count / 2, target.type")
TURNED = ("part * all", "(part + 1) % RANKS * all")
BROKEN = {
    "allreduce/ring": HALF,
    "reduce_scatter/ring": HALF,
    "scan/chain": HALF,
    "exscan/chain": HALF,
    "allgather/ring": TURNED,
    "gather/binomial": TURNED,
    "scatter/linear": TURNED,
    "alltoall/pairwise": TURNED,
    "allgatherv/bruck": ("side->displs[part] :", "side->displs[part] + (part == 1) :"),
    "bcast/chain,segment=64K": ("s->begin += DEPTH * s->elements", "s->begin += all"),
    "reduce/binomial": HALF,
    "barrier/dissemination": ("MPI_Waitall(s->pending", "MPI_Waitall(0 * s->pending"),
}


@pytest.mark.parametrize("words", BROKEN)
def test_the_self_test_notices_mistakes(words, tmp_path):
    found = installed("mpich")
    text = generate(
        words.replace("reduce_scatter/ring", "reduce_scatter/pairwise"), 5, None, None, ""
    )
    right, wrong = BROKEN[words]
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
    few = hosts_in(tree.parent)
    assert f"{few}:3: rank 3 has no machine" in refuse("generate", "bcast", "--hosts", few, "-p", 9)
    assert "for how many ranks?" in refuse("generate", "bcast/chain")
    assert "'alltoallw' cannot be written" in refuse("generate", "alltoallw/linear", "-p", 4)
    assert "no algorithm is called" in refuse("generate", "bcast/chian", "-p", 4)
    assert "not a power of two" in refuse("generate", "alltoall/pairwise_xor", "-p", 5)
    assert "has no root 4" in refuse("generate", "bcast/chain", "-p", 4, "--root", 4)
    assert "has no root 0" in refuse("generate", "scan/chain", "-p", 4, "--root", 0)
    assert "not cut into segments" in refuse("generate", "gather/linear,segment=4K", "-p", 4)
    assert "passes on parts" in refuse("generate", "gatherv/binomial", "-p", 4)
    assert "too large to write out" in refuse("generate", "alltoall/linear", "-p", 2000)
