# SPDX-License-Identifier: BSD-3-Clause
"""How Linux divides the cores, by files of /proc and /sys as it writes them."""

from pathlib import Path

import pytest
from stretto.launch import cores


@pytest.fixture
def linux(monkeypatch, tmp_path):
    """One with such memberships and, in its tree of control groups, such files."""

    def make(
        memberships: str, files: dict[str, str] | None = None, autogroups: str = "1\n"
    ) -> Path:
        (tmp_path / "memberships").write_text(memberships)
        (tmp_path / "autogroups").write_text(autogroups)
        for name, text in (files or {}).items():
            file = tmp_path / "groups" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for name in ("memberships", "autogroups", "groups"):
            monkeypatch.setattr(cores, name.upper(), tmp_path / name)
        return tmp_path / "groups"

    return make


OLD = "5:cpu,cpuacct:{}\n4:memory:/job\n1:name=systemd:/job\n"


@pytest.mark.parametrize(
    ("memberships", "files", "divided"),
    [
        pytest.param("0::/\n", {"cpu.max": "max 100000"}, True, id="the root has no share"),
        pytest.param("0::/job/step\n", {"job/step/io.stat": ""}, True, id="no controller of cores"),
        pytest.param(
            "0::/job/step\n", {"job/cpu.weight": "100"}, False, id="an outer group's share"
        ),
        pytest.param(OLD.format("/"), {}, True, id="version 1, the root"),
        pytest.param(OLD.format("/job"), {}, False, id="version 1"),
        pytest.param(
            OLD.format("/") + "0::/job\n", {"job/cpu.weight": ""}, False, id="both versions"
        ),
        pytest.param("", {}, True, id="no control groups"),
        pytest.param("what is this?\n", {}, False, id="who cannot tell leaves all as it is"),
    ],
)
def test_sessions_have_shares_where_no_control_group_has(linux, memberships, files, divided):
    linux(memberships, files)
    assert cores.autogroups() == divided
    linux(memberships, files, "0\n")
    assert not cores.autogroups()


def test_linux_without_autogroups(linux):
    (linux("0::/\n").parent / "autogroups").unlink()
    assert not cores.autogroups()


def test_the_least_quota_counts(linux):
    limits = {"job/step/cpu.max": "300000 100000", "job/cpu.max": "150000 100000"}
    groups = linux("0::/job/step\n", {**limits, "cpu.max": "max 100000"})
    assert cores.quota() == (1.5, groups / "job")


@pytest.mark.parametrize(
    "memberships", ["0::/elsewhere\n", "0::/../../job\n", OLD.format("/job"), "?"]
)
def test_no_quota(linux, memberships):
    linux(memberships)
    assert cores.quota() is None
