# SPDX-License-Identifier: BSD-3-Clause
"""Candidates of one point against each other, as `stretto tune` has the driver time them."""

import pytest
import stretto
from programs import installed
from stretto.measure.points import MODES
from stretto.tune.own.paired_benchmark import measure
from stretto.tune.own.points import points_of


@pytest.mark.alone
def test_paired_benchmarks_have_right_results_of_every_function(tmp_path):
    functions = [stretto.facts(function) for function in stretto.all_functions()]
    names = [one.name for one in functions if not stretto.facts(one.collective).neighbourhood]
    points = points_of([*names, "scan-ordered"], 3, [512])
    plan = [(point, MODES[i % 2], ["native", "linear"]) for i, point in enumerate(points)]
    heard: list[dict] = []
    silent = measure(installed("mpich"), 3, plan, 0.02, tmp_path, heard.append)
    assert not silent
    assert [(said["cell"], said.get("mode")) for said in heard] == [
        (point.name, mode) for point, mode, _ in plan
    ]
    for said in heard:
        served = {one["words"]: (one["algorithm"], one["correct"]) for one in said["candidates"]}
        collective = stretto.facts(stretto.function_named(said["function"])).collective.name
        assert served == {"native": ("native", True), "linear": (f"{collective}/linear", True)}


@pytest.mark.alone
def test_a_native_function_far_behind_has_a_time_of_its_own(tmp_path):
    """Not that of its first call, to which a peer may come milliseconds late."""
    points = points_of(["reduce_scatter", "reduce_scatter_block", "exscan"], 2, [1 << 16, 3 << 16])
    plan = [(point, mode, ["native", "linear"]) for point in points for mode in MODES * 2]
    heard: list[dict] = []
    assert not measure(installed("mpich"), 2, plan, 0.05, tmp_path, heard.append)
    native = [one["us"] for said in heard for one in said["candidates"] if one["words"] == "native"]
    assert len(native) == 24
    assert sum(us > 1000 for us in native) <= 7, native  # on a busy machine a few
