# SPDX-License-Identifier: BSD-3-Clause
"""The fit of `stretto tune`."""

import stretto
from stretto.tune.own.model import Parameters, descend, to_toml


def test_more_ranks_never_slow_each_other_down_less():
    """Where ranks share cores, more of them may have been measured to be quicker."""
    start = Parameters(contention=((4, 2.0), (8, 2.6)))
    found = descend(start, ["contention"], lambda parameters: parameters.contention[-1][1])
    assert found.contention == ((4, 2.0), (8, 2.0))
    stretto.parse_machine(to_toml(found, "made up", 2, False, {}, {}))
