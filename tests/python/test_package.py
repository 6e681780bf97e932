# SPDX-License-Identifier: BSD-3-Clause
"""The package: its names, its stub, and schedules built in Python."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import stretto
from stretto import Builder, Question, Range, Shape, Side, blocks

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "python" / "stretto" / "_core.pyi"
HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n# Made by `python tests/python/test_package.py`.\n"


def generated_stub(folder: Path) -> str:
    file = folder / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "stretto._core", "-o", file]
    subprocess.run(command, check=True, timeout=120)
    return HEAD + file.read_text(encoding="utf-8")


def test_stub_is_fresh(tmp_path):
    assert STUB.read_text(encoding="utf-8") == generated_stub(tmp_path)


def test_public_names_are_those_of_all():
    def public(name: str) -> bool:
        hidden = name.startswith("_") or isinstance(getattr(stretto, name), ModuleType)
        return not hidden or name in ("__version__", "blocks")

    # `version` is what __version__ is made from.
    assert {name for name in vars(stretto) if public(name)} == set(stretto.__all__) | {"version"}


def test_version_is_that_of_the_project():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(rf"project\(stretto VERSION {re.escape(stretto.__version__)}\b", text)


def test_typed():
    assert (Path(stretto.__file__).parent / "py.typed").exists()


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
    for rank in range(5):
        text = str(stretto.build_schedule(algorithm, Shape(5), rank))
        (again,) = stretto.parse_schedules(text)
        assert str(again) == text


def test_errors_of_the_core_have_hints():
    with pytest.raises(stretto.Error, match=r"broken\.txt:1: ") as caught:
        stretto.parse_schedules("nonsense", "broken.txt")
    assert caught.value.hint
    with pytest.raises(stretto.Error, match="root 4 is not one of the 4 ranks"):
        Shape(4, 4)
    with pytest.raises(stretto.Error, match="rank 4"):
        stretto.build_schedule(stretto.algorithm_named("allreduce/ring"), Shape(4), 4)


def test_shipped_rules_answer_every_collective():
    rules = stretto.shipped_rules()
    for collective in stretto.all_collectives():
        choice = stretto.choose(rules, stretto.Call(collective, Shape(4), 1024))
        assert choice.reason
        assert choice.algorithm is None or choice.algorithm.collective == collective


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        STUB.write_text(generated_stub(Path(name)), encoding="utf-8")
