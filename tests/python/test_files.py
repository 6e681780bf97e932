# SPDX-License-Identifier: BSD-3-Clause
"""Files that cannot be read or written, and surroundings that lack much: one line says it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import refuse
from stretto import Error, files


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", "bcast", "--topology", "2x2", "-o"),
        ("show", "allreduce/ring", "--svg"),
        ("simulate", "bcast", "-p", "4", "--timeline"),
    ],
)
def test_a_full_disk_names_the_file(arguments, tmp_path):
    full = tmp_path / "full.svg"
    full.symlink_to("/dev/full")
    said = refuse(*arguments, full, code=1)
    assert f"error: {full}: no space left on device" in said


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "rules"
    files.write_text(file, "old")
    file.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(file)
    files.write_text(link, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
    assert link.is_symlink()

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as opened:
            opened.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as caught:
        files.write_text(file, "newer")
    assert caught.value.filename == str(file)
    assert file.read_text() == "new"
    assert {one.name for one in tmp_path.iterdir()} == {"rules", "link"}


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 200000, b"[1]", b'{"format": 1}'])
def test_files_that_are_none(text, tmp_path):
    file = tmp_path / "some.file"
    file.write_bytes(text)
    for arguments in (
        ("report", file), ("check", "--file", file), ("show", "--topology", file),
        ("show", "--timeline", file, "-o", tmp_path / "a.svg"),
        ("simulate", "bcast", "-p", 4, "--machine", file),
    ):  # fmt: skip
        assert str(file) in refuse(*arguments)


def test_a_folder_for_a_file_and_a_home_that_nobody_knows(tmp_path):
    for arguments in (
        ("report", tmp_path), ("run", "--", tmp_path), ("show", "--topology", tmp_path),
        ("generate", "bcast", "--topology", "2x2", "-o", tmp_path),
    ):  # fmt: skip
        assert f"{tmp_path}" in refuse(*arguments)
    assert "is not known" in refuse("env", "--mpi", "~nobody-of-that-name/bin")
    assert "--launcher: no closing quotation" in refuse("run", "--launcher", "a 'b", "--", "true")
    with pytest.raises(Error, match="not a text file"):
        (tmp_path / "bytes").write_bytes(b"\xff")
        files.read_text(tmp_path / "bytes", "")


def test_where_nothing_can_be_written_is_known_before_the_work(tmp_path):
    files.refuse_unwritable(tmp_path / "new")
    files.refuse_unwritable("/dev/full")
    (tmp_path / "file").write_text("")
    files.refuse_unwritable(tmp_path / "file")
    for path in (tmp_path, tmp_path / "none" / "new", tmp_path / "file" / "new"):
        with pytest.raises(OSError) as caught:
            files.refuse_unwritable(path)
        assert caught.value.filename == str(path)
    missing = tmp_path / "none" / "my.rules"
    assert f"{missing}: no such file" in refuse("tune", "--predict", "cluster", "-o", missing)
    assert not missing.parent.exists()
    asked = ("topology", "discover", "-n", 2, "--mpi", "none", "-o", missing)
    assert f"{missing}: no such file" in refuse(*asked)  # and not that there is no such MPI
    held = tmp_path / "out" / "peers.json"
    held.mkdir(parents=True)
    asked = ("bench", "--peers", "mpich", "--environments", missing, "--output", held.parent)
    assert f"{held}: is a directory" in refuse(*asked)
    assert not missing.exists()


def test_no_home_no_path(tmp_path):
    nowhere = {**os.environ, "HOME": "/proc/none", "XDG_CONFIG_HOME": "/proc/none", "PATH": ""}
    command = [sys.executable, "-m", "stretto"]
    # Not /bin/true: mpiexec may still be writing to a program that has ended already.
    program = ["/bin/sleep", "0.2"]
    for arguments, status in ((["list"], 0), (["run", "--", *program], 0), (["tune"], 2)):
        done = subprocess.run(
            [*command, *arguments], env=nowhere, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
