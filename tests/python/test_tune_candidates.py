# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto tune` may measure of a point."""

from stretto import _core
from stretto.tune.own.points import Point, parsed, portfolio, ways_to_copy


def test_candidates_that_do_the_same_are_measured_once():
    words = [one.words for one in portfolio(Point("bcast", 2, 64))]
    assert "linear" in words
    assert not {"binomial", "knomial", "knomial,radix=2", "chain"} & set(words)
    assert len(words) < len({one.words for one in portfolio(Point("bcast", 8, 64))})
    cut = [one.params.segment for one in portfolio(Point("bcast", 2, 1 << 20), depths=(2,))]
    assert {0, 16 << 10, 256 << 10} <= set(cut)
    ordered = {one.id for one in portfolio(Point("allreduce-ordered", 4, 64))}
    assert "allreduce/ring" not in ordered and "allreduce/linear" in ordered


def test_long_messages_are_also_copied_by_the_kernel():
    short, long = Point("bcast", 2, 8 << 10), Point("bcast", 2, 2 << 20)
    measured = ways_to_copy(2, 2)
    assert portfolio(short, copies=measured) == portfolio(short)
    found = portfolio(long, depths=(2,))
    assert not any(one.params.copy == _core.Copy.measured for one in found)
    both = portfolio(long, depths=(2,), copies=measured)
    copies = [one for one in both if one.params.copy == _core.Copy.measured]
    assert {one.words for one in copies} >= {"linear,copy=measured"}
    assert {one.params.segment for one in copies} == {0, 1 << 20}
    assert {one.id for one in copies} == {one.id for one in found}
    assert all(parsed(long, one.words).params.copy == _core.Copy.measured for one in copies)


def test_ranks_that_share_cores_may_lend_all_long_messages():
    long = Point("alltoall", 4, 2 << 20)
    words = {one.words for one in portfolio(long, depths=(2,), copies=ways_to_copy(4, 2))}
    assert {"linear", "linear,copy=measured", "linear,copy=kernel"} <= words
    own = {one.words for one in portfolio(long, depths=(2,), copies=ways_to_copy(4, 4))}
    assert "linear,copy=measured" in own and "linear,copy=kernel" not in own
