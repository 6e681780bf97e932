# SPDX-License-Identifier: BSD-3-Clause
"""Plans for GPUs: written in both forms, those of MSCCL read, and the commands."""

import json
import re

import pytest
import stretto
from commands import json_of, refuse, succeed
from plans import pair_reduction, proved, refuted, run_by_chance, step, unreadable, xml
from stretto import facts
from stretto.errors import Error
from stretto.plans.file import write_plan
from stretto.plans.msccl import read_msccl
from stretto.plans.pieces import EXPRESSIBLE
from stretto.schedule_files import read_algorithm

ALGORITHMS = list(stretto.all_algorithms())
FORMS = ("msccl", "mscclpp")
ROOTED = ("bcast", "reduce", "gather", "scatter")


def schedules_of(algorithm, ranks: int, root: int = 0):
    root = root if facts(algorithm.collective).name in ROOTED else 0
    shape = stretto.Shape(ranks, root, [1] * ranks if algorithm.needs.counts else [])
    function = next(
        f for f in stretto.all_functions() if facts(f).collective == algorithm.collective
    )
    if stretto.unsuitable(algorithm, function, shape):
        return None
    return [stretto.build_schedule(algorithm, shape, rank) for rank in range(ranks)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ranks", [1, 4, 5])
def test_what_is_written_is_read_back_and_proved(form, ranks):
    written = 0
    for algorithm in ALGORITHMS:
        name = facts(algorithm.collective).name
        schedules = schedules_of(algorithm, ranks, ranks // 2)
        if schedules is None:
            continue
        if name not in EXPRESSIBLE:
            with pytest.raises(Error, match="cannot be a plan: the form"):
                write_plan(form, schedules)
            continue
        found = proved(write_plan(form, schedules))
        plan = found.plan
        assert (plan.collective, plan.ranks, plan.root) == (name, ranks, schedules[0].root)
        assert found.algorithm.needs.commutative <= algorithm.needs.commutative, algorithm.id
        written += 1
    assert written > 30


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name",
    [
        "allreduce/recursive_doubling",
        "reduce_scatter/butterfly",
        "alltoall/bruck",
        "bcast/scatter_ring",
        "reduce/binomial",
        "gather/binomial",
        "scatter/binomial",
    ],
)
def test_a_proved_plan_is_right_in_any_order_of_its_thread_blocks(form, name):
    plan = proved(write_plan(form, schedules_of(stretto.algorithm_named(name), 5, 3))).plan
    assert all(run_by_chance(plan, seed) for seed in range(10))


@pytest.mark.parametrize("form", FORMS)
def test_a_step_whose_chunks_were_combined_in_different_orders_is_split(form):
    algorithm = stretto.algorithm_named("allreduce/circulant")
    plan = proved(write_plan(form, schedules_of(algorithm, 13))).plan
    assert all(run_by_chance(plan, seed) for seed in range(3))


def test_a_race_can_spoil_the_result():
    plan = read_msccl(xml(pair_reduction(wait=None)), "plan")
    results = {run_by_chance(plan, seed) for seed in range(50)}
    assert results == {True, False}


def test_rounds_of_a_ring_stay_rounds():
    algorithm = stretto.algorithm_named("allreduce/ring")
    for form in FORMS:
        measured = proved(write_plan(form, schedules_of(algorithm, 6))).proof(6).measured
        assert (measured.rounds, measured.sent, measured.messages) == (10, 10, 60)


def test_a_root_follows_from_the_steps():
    """A broadcast whose root is GPU 2; a reduce of two GPUs that both hold the sum is for GPU 0."""
    slot = ("i", 0)
    gpus = [
        [(-1, 2, [step("r", slot, ("o", 0))])],
        [(-1, 2, [step("r", slot, ("o", 0))])],
        [(0, -1, [step("s", slot, slot)]), (1, -1, [step("s", slot, slot)])],
    ]
    own = [(-1, -1, [step("cpy", slot, ("o", 0))])]
    assert "gpu 2: wrong result: o[0] holds nothing" in refuted(xml(gpus, "broadcast", 1, 0))
    gpus[2] += own
    found = proved(xml(gpus, "broadcast", 1, 0))
    assert (found.cases, found.proof(3).measured.rounds) == ([[3, 2]], 1)
    assert proved(xml(pair_reduction(), "reduce")).plan.root == 0
    assert "without rank" in refuted(xml([own, own], "reduce", 1, 0))


def test_parts_of_different_numbers_of_blocks_cannot_be_a_plan():
    schedules = schedules_of(stretto.algorithm_named("allgather/ring"), 3)
    for one in schedules:
        one.parts = stretto.Parts([0, 0, 1, 3])
    with pytest.raises(Error, match="different numbers of blocks"):
        write_plan("msccl", schedules)


# --- MSCCL


def ring(gpus: int, chunks: int = 1):
    """Every GPU passes on what it gets, with steps that receive and send at once."""
    found = []
    for me in range(gpus):
        before = [("o", (me - k) % gpus * chunks) for k in range(gpus)]
        steps = [step("s", before[0], before[0], chunks)]
        steps += [step("rcs", one, one, chunks) for one in before[1:-1]]
        steps += [step("r", before[-1], before[-1], chunks)]
        found.append([((me + 1) % gpus, (me - 1) % gpus, steps)])
    return found


@pytest.mark.parametrize("chunks", [1, 3])
def test_fused_steps_of_a_ring(chunks):
    text = xml(ring(4, chunks), "allgather", chunks, 1, 0, 4 * chunks)
    measured = proved(text).proof(4).measured
    assert (measured.rounds, measured.messages) == (3, 12)


def test_reductions_that_are_passed_on():
    """rrs keeps nothing of what it sends, rrcs does."""
    slot = ("i", 0)
    gpus = [
        [(1, 2, [step("s", slot, slot), step("rcs", slot, slot)])],
        [(2, 0, [step("rrs", slot, slot), step("r", slot, slot)])],
        [(0, 1, [step("rrcs", slot, slot)])],
    ]
    found = proved(xml(gpus, chunks=1))
    assert found.proof(3).measured.rounds == 4
    assert not found.algorithm.needs.commutative  # it happens to keep the order
    assert "scratch" in found.text()


def test_a_send_that_waits_for_another_thread_block():
    assert proved(xml(pair_reduction())).proof(2).measured.rounds == 2


@pytest.mark.parametrize(
    "gpus, words",
    [
        (
            pair_reduction(wait=None),
            "race: it writes i\\[1\\], which gpu 0, thread block 1, step 0",
        ),
        (pair_reduction(awaited=0), "deadlock: waits for step 0 .*no step .* has hasdep=1"),
    ],
)
def test_planted_errors_name_gpu_thread_block_and_step(gpus, words):
    why = refuted(xml(gpus))
    assert re.search(r"^plan:\d+: gpu 0, thread block \d, step \d: " + words, why), why


def test_a_chunk_in_the_wrong_place():
    gpus = ring(3)
    gpus[0][0][2][-1] = step("r", ("o", 1), ("o", 0))
    why = refuted(xml(gpus, "allgather", 1, 1, 0, 3))
    assert "step 2: wrong result: o[0] holds chunk 1 of the vector in the end, not chunk 0" in why
    gpus[0][0][2][-1] = step("r", ("o", 1), ("s", 0))
    why = refuted(xml(gpus, "allgather", 1, 1, 1, 3))
    assert "gpu 0: wrong result: o[1] holds nothing in the end, not chunk 1" in why
    gpus[0][0][2][0] = step("s", ("s", 0), ("s", 0))
    why = refuted(xml(gpus, "allgather", 1, 1, 1, 3))
    assert "step 0: never written: sends s[0], which holds nothing" in why


def test_steps_that_wait_for_each_other():
    slot = ("i", 0)
    gpus = [[(1, 1, [step("r", slot, slot), step("s", slot, slot)])],
            [(0, 0, [step("r", slot, slot), step("s", slot, slot)])]]  # fmt: skip
    why = refuted(xml(gpus, chunks=1))
    assert "deadlock: waits for itself (gpu 0, thread block 0, step 0, which waits for" in why


def test_messages_without_a_counterpart():
    slot = ("i", 0)
    gpus = [[(1, -1, [step("s", slot, slot)] * 2)], [(-1, 0, [step("rrc", slot, slot)])]]
    text = xml(gpus, chunks=1)
    assert "step 1: unmatched: sends what is not received: channel 0 from gpu 0" in refuted(text)
    text = xml([gpus[0], [(-1, 0, [step("r", slot, slot, 2)] * 2)]])
    assert "unmatched: receives 2 chunks where gpu 0, thread block 0, step 0 sends 1" in refuted(
        text
    )


def test_what_the_checker_says_names_the_step_too():
    """A contribution twice; and sums in another order on each GPU, hence other bits."""
    slot, both = ("i", 0), []
    for other in (1, 0):
        steps = [step("s", slot, slot)] * 2 + [step("rrc", slot, slot)] * 2
        both.append([(other, other, steps)])
    why = refuted(xml(both, chunks=1))
    assert why.startswith("plan:") and "step 3: double counting" in why
    order = ((1, 2), (2, 0), (0, 1))  # whose each GPU adds first
    gpus = []
    for others in order:
        blocks = [(one, -1, [step("s", slot, slot)]) for one in others]
        blocks += [
            (-1, one, [step("r", ("s", i), ("s", i), awaited=1)]) for i, one in enumerate(others)
        ]
        local = [step("re", ("s", i), ("o", 0), wait=(2 + i, 0)) for i in range(2)]
        gpus.append([*blocks, (-1, -1, [step("cpy", slot, ("o", 0)), *local])])
    why = refuted(xml(gpus, chunks=1, inplace=0))
    assert "thread block 4, step 2: different expression: output[0] is" in why


def test_an_alltoall_whose_pairs_have_two_chunks():
    gpus = []
    for me in range(2):
        steps = [step("cpy", ("i", 2 * me), ("o", 2 * me), 2)]
        gpus.append([
            (1 - me, -1, [step("s", ("i", 2 - 2 * me), ("o", 0), 2)]),
            (-1, 1 - me, [step("r", ("o", 0), ("o", 2 - 2 * me), 2)]),
            (-1, -1, steps),
        ])  # fmt: skip
    found = proved(xml(gpus, "alltoall", 4, 0))
    assert found.others == [] and found.proof(2).measured.messages == 2
    gpus[0][0][2][0] = step("s", ("i", 1), ("o", 0), 2)
    assert "holds chunk" in refuted(xml(gpus, "alltoall", 4, 0))


def test_a_plan_that_spoils_its_input_saves_it_for_calls_in_place():
    """It reads the input again after it wrote the output, which in place is the same."""
    gpus = []
    for me in range(2):
        takes = [step("r", ("o", 0), ("o", 0), awaited=1)]
        gives = [step("s", ("i", 0), ("i", 0), wait=(2, 0))]
        local = [step("nop", awaited=0), step("re", ("i", 0), ("o", 0), wait=(0, 0))]
        first = [step("cpy", ("i", 0), ("s", 0), awaited=1)]
        gpus.append([(-1, 1 - me, takes), (1 - me, -1, gives), (-1, -1, first), (-1, -1, local)])
    text = proved(xml(gpus, chunks=1, inplace=0)).text()
    assert "copy scratch[0] = input[0]" in text


@pytest.mark.parametrize(
    "change, words",
    [
        (("</algo>", ""), "plan:23: no XML"),
        (('coll="allreduce"', 'coll="custom"'), "plan:1: coll='custom' is no collective of MPI"),
        (('type="rrc"', 'type="magic"'), "plan:4: step type 'magic' is not known"),
        (('srcoff="0"', 'srcoff="7"'), "is beyond the 2 chunks of gpu 0"),
        (('cnt="1"', 'cnt="many"'), "cnt='many' is no number"),
        (('recv="1"', 'recv="9"'), "plan:3: recv=9 is not within -1 to 1"),
        (('<gpu id="1"', '<gpu id="0"'), "plan:1: 2 <gpu> elements, not one for each"),
        (('deps="0"', 'deps="5"'), "waits for step 5 of thread block 0, which gpu 0"),
        (("<algo", "<!DOCTYPE algo [<!ENTITY a 'b'>]>\n<algo"), "a document type is not read"),
    ],
)
def test_xml_that_cannot_be_read_names_the_line(change, words):
    text = xml(pair_reduction())
    assert change[0] in text
    assert words in unreadable(text.replace(*change, 1))


# --- the commands


def test_commands_take_plans_as_they_take_schedules(tmp_path):
    plan_, other, schedules = (tmp_path / name for name in ("a.xml", "a.json", "a.stretto"))
    succeed("generate", "allreduce/ring", "--ranks", 4, "--form", "msccl", "-o", plan_)
    assert "proved: allreduce on 4 ranks, 6 rounds" in succeed("check", "--file", plan_)
    assert "4 ranks: 6 rounds, 4 blocks" in succeed("show", "--file", plan_)
    rows = json_of("simulate", "--file", plan_, "--ranks", 4)
    assert "a.xml" in json.dumps(rows)
    other.write_text(succeed("generate", "--file", plan_, "--form", "mscclpp"), "utf-8")
    assert json_of("check", "--file", other)["form"] == "MSCCL++"
    schedules.write_text(succeed("show", "--file", other, "--text"), "utf-8")
    assert "proved: allreduce on 4 ranks" in succeed("check", "--file", schedules)
    assert read_algorithm(schedules).algorithm.needs.commutative
    assert "it holds 4" in refuse("show", "--file", plan_, "--ranks", 5)
    succeed("generate", "scatter/binomial", "--ranks", 4, "--root", 3, "--form", "msccl",
            "-o", plan_)  # fmt: skip
    assert json_of("check", "--file", plan_)["root"] == 3
    assert "a race is for root 0, but this is for root 3" in refuse(
        "bench", "--file", plan_, "-n", 4
    )
    assert "none for root 1 of 4 ranks" in refuse("show", "--file", plan_, "--root", 1)
    with pytest.raises(Error, match="a plan in XML or JSON, not schedules"):
        stretto.AlgorithmFile(plan_.read_text("utf-8"), "a.xml")


def test_a_wrong_plan_is_refused_by_the_command(tmp_path):
    path = tmp_path / "wrong.xml"
    path.write_text(xml(pair_reduction(wait=None)), "utf-8")
    why = refuse("check", "--file", path, code=1)
    assert "thread block 0, step 1: race: it writes i[1]" in why
    assert "race" in refuse("show", "--file", path, code=1)
    assert "says itself" in refuse("check", "--file", path, "--commutative")


def test_what_cannot_be_written_says_why(tmp_path):
    ring = ("--ranks", 4, "--form", "msccl")
    assert "the form has no word for it" in refuse("generate", "scan/chain", *ring)
    assert "all parts are of one size" in refuse("generate", "allgatherv/ring", *ring)
    assert "not cut into segments" in refuse("generate", "allreduce/ring,segment=4K", *ring)
    assert "written as a plan only" in refuse("generate", "--file", tmp_path)
    assert "which function?" in refuse("generate")
