# SPDX-License-Identifier: BSD-3-Clause
"""The package: its names, its stub, and schedules built in Python."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import stretto
from stretto import Builder, Params, Question, Range, Shape, Side, _core, blocks

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(_core.__file__).parent / "_core.pyi"  # written by the build


def named_in_stub() -> set[str]:
    stub = ast.parse(STUB.read_text(encoding="utf-8")).body
    names = {one.name for one in stub if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    return names | {one.target.id for one in stub if isinstance(one, ast.AnnAssign)}


def test_public_names_are_those_of_all():
    tree = ast.parse(Path(stretto.__file__).read_text(encoding="utf-8"))
    [shown] = [one for one in tree.body if isinstance(one, ast.If)]  # what type checkers see
    imports = [one for one in shown.body if isinstance(one, ast.ImportFrom)]
    names = {alias.name for one in imports for alias in one.names} - {"*"}
    assert names | {"__version__"} == set(stretto.__all__) - named_in_stub()
    assert all(getattr(stretto, name) for name in stretto.__all__)
    assert set(stretto.__all__) <= set(dir(stretto))
    with pytest.raises(AttributeError, match="no attribute 'allreduce'"):
        _ = stretto.allreduce


def test_importing_the_package_imports_nothing_else():
    """Nor does the command's module: Ctrl-C in such an import would be a traceback."""
    code = "import sys; before = {*sys.modules}; import stretto.cli; print({*sys.modules} - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert ast.literal_eval(done.stdout) == {"stretto", "stretto.cli"}


def test_version_is_that_of_the_project():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(rf"project\(stretto VERSION {re.escape(stretto.__version__)}\b", text)


def test_typed():
    """Type checkers find the package's own annotations, and a stub that names all of the core."""
    assert (Path(stretto.__file__).parent / "py.typed").exists()
    assert {name for name in vars(_core) if not name.startswith("_")} <= named_in_stub()


def exchange(rank: int, wrong: bool = False) -> stretto.Schedule:
    """An allreduce for two ranks, in Python."""
    builder = Builder(rank, 2, 1)
    side = Side.right if rank == 0 and not wrong else Side.left
    builder.send(1 - rank, blocks.input(0))
    builder.receive_reduce(1 - rank, blocks.output(0), side, blocks.input(0))
    return builder.finish()


def question() -> Question:
    return Question(stretto.collective_named("allreduce"), Shape(2))


def test_algorithm_written_in_python_is_proved():
    checked = stretto.check_schedules([exchange(0), exchange(1)], question())
    assert checked.refused is None
    assert (checked.measured.rounds, checked.measured.messages) == (1, 2)


def test_wrong_order_is_refused():
    checked = stretto.check_schedules([exchange(0, wrong=True), exchange(1)], question())
    assert checked.refused.name == "wrong order"
    assert "rank 0" in checked.refused.message


def test_group_and_blocks_of_a_builder():
    builder = Builder(2, 4, 4)
    builder.in_group([2, 3], lambda group: group.send(1 - group.rank, blocks.input(0)))
    builder.in_group([0, 1], lambda group: pytest.fail("rank 2 is not in it"))
    builder.in_blocks(2, lambda part: part.receive(3, blocks.output(1)))
    (only,) = builder.finish().rounds
    assert [send.peer for send in only.sends] == [3]
    assert only.actions[0].target == [Range(stretto.Buffer.output, 3)]


@pytest.mark.parametrize("algorithm", stretto.all_algorithms(), ids=lambda a: a.id)
def test_text_form_is_read_back(algorithm):
    for ranks in (5, 8):
        for variant in stretto.variants(algorithm, ranks):
            for rank in range(ranks):
                text = str(stretto.build_schedule(algorithm, variant.shape, rank, variant.params))
                (again,) = stretto.parse_schedules(text)
                assert str(again) == text


def test_functions_ask_for_collectives():
    functions = stretto.all_functions()
    assert len(functions) == 17 + 5  # of neighbourhoods
    assert {stretto.facts(f).collective for f in functions} == set(stretto.all_collectives())
    assert stretto.function_named("reduce_scatter_block") == stretto.Function.reduce_scatter_block
    facts = stretto.facts(stretto.Function.alltoallw)
    assert (facts.name, facts.collective) == ("alltoallw", stretto.Collective.alltoall)
    assert facts.irregular and not facts.bytes_known
    with pytest.raises(stretto.Error, match="no function of MPI is called 'alltoalx'"):
        stretto.function_named("alltoalx")


def test_parameters_are_resolved():
    bruck = stretto.algorithm_named("alltoall/bruck")
    shape = Shape(9)
    assert (bruck.parameter.name, bruck.parameter.least) == ("radix", 2)
    usual = bruck.parameter.default(shape)
    assert stretto.resolved(bruck, shape).value == usual
    assert bruck.rounds(shape) == bruck.rounds(shape, Params(value=usual))
    assert bruck.rounds(shape, Params(value=3)) == 4
    assert stretto.check_algorithm(bruck, shape, Params(value=3)).measured.rounds == 4
    assert stretto.algorithm_named("allreduce/ring").parameter is None


def test_variants_are_the_same_each_time():
    circulant = stretto.algorithm_named("allgather/circulant")
    first, second = (stretto.variants(circulant, 20) for _ in range(2))
    assert [(v.shape, v.params) for v in first] == [(v.shape, v.params) for v in second]
    texts = [stretto.to_text(v, circulant) for v in first]
    assert texts[0] == "" and len(set(texts)) == len(texts) > 1
    skips = texts[1].removeprefix("skips=").split(":")
    assert list(first[1].params.list) == list(map(int, skips))
    assert stretto.variants(stretto.algorithm_named("alltoall/pairwise_xor"), 6) == []


def test_why_an_algorithm_is_unsuitable():
    unsuitable, function = stretto.unsuitable, stretto.Function
    ring, circulant, power = map(
        stretto.algorithm_named, ("allreduce/ring", "allgather/circulant", "alltoall/pairwise_xor")
    )
    assert unsuitable(ring, Shape(7)) == unsuitable(ring, function.allreduce, Shape(7)) == ""
    assert unsuitable(ring, function.allreduce, Shape(7), False) == "the operator does not commute"
    assert unsuitable(ring, function.reduce, Shape(7)) == "it is no reduce"
    assert unsuitable(ring, Shape(7), Params(value=2)) == "it takes no parameter of its own"
    assert unsuitable(power, Shape(6)) == "6 ranks are not a power of two"
    assert unsuitable(circulant, Shape(9), Params(list=[5, 3, 2, 1])) == ""
    assert unsuitable(circulant, Shape(9), Params(list=[2, 1])) != ""
    for call in (power.rounds, lambda shape: stretto.check_algorithm(power, shape)):
        with pytest.raises(stretto.Error, match="cannot be built: 6 ranks are not"):
            call(Shape(6))


def test_counts_are_asked_for():
    ring = stretto.algorithm_named("allgather/pipelined_ring")
    assert ring.needs.counts
    for call in (ring.rounds, lambda shape: stretto.build_schedule(ring, shape, 0)):
        with pytest.raises(stretto.Error, match="goes by the sizes of the ranks' parts"):
            call(Shape(3))
    schedule = stretto.build_schedule(ring, Shape(3, counts=[4, 0, 3]), 0, Params(value=2))
    assert schedule.parts.first == [0, 2, 2, 4]
    assert [schedule.parts.owner(block) for block in range(4)] == [0, 0, 2, 2]
    with pytest.raises(stretto.Error, match="2 counts for 3 ranks"):
        Shape(3, counts=[1, 2])
    with pytest.raises(stretto.Error, match="a count is negative"):
        Shape(1, counts=[-1])


def test_blocks_of_an_alltoall():
    alltoall = stretto.Collective.alltoall
    assert stretto.block_of(alltoall, Shape(4), 1, stretto.Buffer.input, 3) == 7
    assert stretto.block_of(alltoall, Shape(4), 3, stretto.Buffer.output, 1) == 7
    assert stretto.block_of(stretto.Collective.gather, Shape(4), 1, stretto.Buffer.input, 1) == 1


def test_errors_of_the_core_have_hints():
    with pytest.raises(stretto.Error, match=r"broken\.txt:1: ") as caught:
        stretto.parse_schedules("nonsense", "broken.txt")
    assert caught.value.hint
    with pytest.raises(stretto.Error, match="root 4 is not one of the 4 ranks"):
        Shape(4, 4)
    with pytest.raises(stretto.Error, match="rank 4"):
        stretto.build_schedule(stretto.algorithm_named("allreduce/ring"), Shape(4), 4)


def test_shipped_rules_answer_every_function():
    rules = stretto.shipped_rules()
    for function in stretto.all_functions():
        choice = stretto.choose(rules, stretto.Call(function, Shape(4), 1024))
        assert choice.reason
        wanted = stretto.facts(function).collective
        assert choice.algorithm is None or choice.algorithm.collective == wanted
