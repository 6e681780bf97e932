# SPDX-License-Identifier: BSD-3-Clause
"""The commands for files of what programs have learned."""

from pathlib import Path

import pytest
import stretto
from commands import json_of, refuse, succeed
from programs import ROOT, installed
from stretto.learned import differences, forget, from_shipped, parse_learned, read_learned


@pytest.fixture
def kept(tmp_path, monkeypatch) -> Path:
    """A file as programs write it, where they keep it."""
    config = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    here = stretto.this_machine(installed("mpich").title)
    path = Path(stretto.learned_rules_path(str(config / "stretto"), here))
    path.parent.mkdir(parents=True)
    path.write_text(
        f"stretto-rules 2\nmachine {here}\n"
        "allreduce ranks=4 nodes=1 cores=own operator=predefined bytes>=4K bytes<8K "
        "-> ring segment=1K depth=2  # 2.00 us, native 5.00 us, 30 pairs\n"
        "bcast ranks=4 nodes=1 cores=own bytes>=8 bytes<16 -> native  # 1.00 us, 12 pairs\n"
        "otherwise\n"
    )
    return path


def test_rules_are_listed_and_shown(kept):
    [found] = json_of("rules", "list")
    assert found["path"] == str(kept)
    assert (found["kind"], found["owner"], found["rules"]) == ("learned", "user", 2)
    mpi = installed("mpich").mpiexec
    shown = succeed("rules", "show", "--mpi", mpi)
    assert "ring segment=1K depth=2" in shown and " 2.00 µs " in shown
    first, second = json_of("rules", "show", kept)["rules"]
    assert (first["us"], first["native_us"], first["pairs"], first["line"]) == (2.0, 5.0, 30, 3)
    assert (second["choice"], second["native_us"]) == ("native", None)
    kept.write_text("nonsense\n")
    assert ":1: this is not a rules file" in succeed("rules", "list").replace("\n", "")
    assert ":1: this is not a rules file" in refuse("rules", "show", kept, code=2)


def test_rules_are_compared(kept, tmp_path):
    assert [each["one"] for each in json_of("rules", "diff", kept)] == [
        "ring segment=1K depth=2",
        "native",
    ]
    other = tmp_path / "other.rules"
    other.write_text(kept.read_text().replace("-> native", "-> linear"))
    [found] = json_of("rules", "diff", kept, other)
    assert (found["one"], found["other"]) == ("native", "linear")
    assert "alike" in succeed("rules", "diff", kept, kept)


@pytest.mark.parametrize(
    ("rules", "classes"),
    [
        ("allreduce ranks=4 -> ring\nallreduce ranks=4 -> linear", {"allreduce ranks=4": "ring"}),
        ("allreduce -> ring\nallreduce ranks=4 -> linear", {"allreduce": "ring"}),
        ("# \x0c \x85 \u2028\nallreduce -> ring", {"allreduce": "ring"}),
        ("allreduce ranks>=9999999999 -> ring", {}),
        ("allgather part>4611686018427387903 ranks=9 -> ring", {}),
        ("bcast per-node>=4 nodes>1 -> linear", {"bcast per-node>=4 nodes>1": "linear"}),
        ("allgather part>=64K ranks!=2^k -> bruck", {"allgather part>=64K ranks!=2^k": "bruck"}),
        ("allreduce -> ring  # 1.2.3 us, " + "9" * 5000 + " pairs", {"allreduce": "ring"}),
    ],
)
def test_what_differs_from_the_shipped_rules_is_what_a_file_decides(rules, classes, tmp_path):
    file = tmp_path / "my.rules"
    file.write_text(f"stretto-rules 2\n{rules}\n", encoding="utf-8")
    assert {each.conditions: each.one for each in from_shipped(file)} == classes


def test_of_rules_of_one_class_the_first_is_compared():
    first, second = (f"stretto-rules 2\nbcast -> {name}\n" for name in ("linear", "binomial"))
    both = parse_learned(first + "bcast -> binomial\n", "both")
    assert differences(both, parse_learned(first, "one")) == []
    [found] = differences(both, parse_learned(second, "other"))
    assert (found.one, found.other) == ("linear", "binomial")


def test_an_error_while_a_file_is_locked_names_the_file(kept, tmp_path, monkeypatch):
    for words in ((), ("--collectives", "bcast")):
        assert f"{tmp_path}: this is not a file" in refuse("rules", "forget", tmp_path, *words)
    assert not tmp_path.with_name(f"{tmp_path.name}.lock").exists()

    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("stretto.learned.write_text", full)
    with pytest.raises(OSError, match="No space left") as caught:
        forget(kept, lambda one: one.function == "bcast")
    assert caught.value.filename == str(kept)


def test_rules_are_forgotten(kept):
    assert "1 class forgotten" in succeed("rules", "forget", kept, "--collectives", "bcast")
    assert [each.function for each in read_learned(kept)] == ["allreduce"]
    assert kept.read_text().endswith("pairs\notherwise\n")
    assert stretto.read_rules(str(kept)).otherwise
    assert "is gone" in succeed("rules", "forget", kept)
    assert not kept.exists()
    assert "no such file" in refuse("rules", "forget", kept)


def test_only_rules_are_forgotten(kept, tmp_path):
    """A file of another kind is not deleted; a damaged one where rules are kept is."""
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n", encoding="utf-8")
    journal = kept.with_suffix(".jsonl")
    journal.write_text("{}\n", encoding="utf-8")
    for other in (notes, journal):
        assert f"{other}: this is no rules file" in refuse("rules", "forget", other)
        assert other.exists() and not other.with_name(f"{other.name}.lock").exists()
    kept.write_bytes(b"\xff\x00")
    assert "is gone" in succeed("rules", "forget", kept)


def test_explain_knows_what_was_learned(kept):
    mpi = installed("mpich").mpiexec
    words = ("explain", "allreduce", "-p", 4, "--one-node", "--cores", 4, "--mpi", mpi)
    found = json_of(*words, "--bytes", "5000")
    assert found["choice"].startswith("ring")
    assert (found["decided_by"]["file"], found["decided_by"]["line"]) == (str(kept), 3)
    found = json_of(*words, "--bytes", "1M")
    assert found["decided_by"]["file"] == "rules/default.rules"
    line = (
        (ROOT / "rules" / "default.rules").read_text().splitlines()[found["decided_by"]["line"] - 1]
    )
    assert " ".join(line.split()) == found["decided_by"]["rule"]
