# SPDX-License-Identifier: BSD-3-Clause
"""Small plans for GPUs, as tests need them."""

import json
import random

import pytest
from stretto.errors import Error
from stretto.plans.file import read_plan
from stretto.plans.nodes import RefutedError
from stretto.plans.order import predecessors
from stretto.plans.values import Layout, aliases


def step(kind, source=None, target=None, count=1, wait=None, awaited=0):
    """A step of a thread block: source and target as ("i", 3), `wait` as (thread block, step)."""
    return kind, source, target, count, wait, awaited


def xml(gpus, coll="allreduce", chunks=2, inplace=1, scratch=2, outputs=None):
    """A plan in MSCCL's form: for each GPU, thread blocks of (send, recv, steps)."""
    outputs = chunks if outputs is None else outputs
    lines = [
        f'<algo name="a test" ngpus="{len(gpus)}" coll="{coll}" inplace="{inplace}" proto="LL">'
    ]
    for number, blocks in enumerate(gpus):
        lines.append(
            f'<gpu id="{number}" i_chunks="{chunks}" o_chunks="{outputs}" s_chunks="{scratch}">'
        )
        for name, (send, recv, steps) in enumerate(blocks):
            lines.append(f'<tb id="{name}" send="{send}" recv="{recv}" chan="0">')
            for i, (kind, source, target, count, wait, awaited) in enumerate(steps):
                (a, b), (c, d) = source or target or ("i", -1), target or source or ("o", -1)
                block, other = wait or (-1, -1)
                lines.append(
                    f'<step s="{i}" type="{kind}" srcbuf="{a}" srcoff="{b}" dstbuf="{c}" '
                    f'dstoff="{d}" cnt="{count}" depid="{block}" deps="{other}" '
                    f'hasdep="{awaited}"/>'
                )
            lines.append("</tb>")
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>", ""])


def pair_reduction(awaited=1, wait=(0, 0), target=("i", 0)):
    """Two GPUs: each sends half of its vector, combines the other half, and sends that back. The
    send waits for the receive, which is another thread block's."""
    gpus = []
    for me in range(2):
        other, mine, theirs = 1 - me, ("i", me), ("i", 1 - me)
        takes = [
            step("rrc", mine, mine, awaited=awaited),
            step("r", theirs, theirs if me else (target[0], 1 - target[1])),
        ]
        gives = [step("s", theirs, theirs), step("s", mine, mine, wait=wait)]
        gpus.append([(-1, other, takes), (other, -1, gives)])
    return gpus


def packets(**changes):
    """Two GPUs in MSCCL++'s form: each puts its vector as packets into the other's scratch, and
    adds what comes."""
    gpus = []
    for me in range(2):
        local = {"type": "i", "index": 0, "size": 1}
        put = {
            "name": "ppkt", "src_buff": [local], "channel_type": "memory",
            "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}],
        }  # fmt: skip
        scratch = {"type": "s", "index": 0, "size": 1}
        add = {"name": "repkt", "src_buff": [local, scratch], "dst_buff": [local]}
        gpus.append(gpu(me, [[put, add]], [1 - me], [(1 - me, "s")], chunks=1, scratch=1))
    return json.dumps(plan(gpus) | changes)


def plan(gpus, collective="allreduce", inplace=True):
    return {
        "name": "a test", "collective": collective, "protocol": "Simple", "inplace": inplace,
        "gpus": gpus,
    }  # fmt: skip


def gpu(number, blocks, peers, buffers, chunks=2, scratch=2, kind="memory", semaphores=()):
    """One GPU, whose thread blocks may use all its channels and buffers."""
    channels = [{"channel_type": kind, "channel_ids": list(range(len(peers)))}]
    refs = [{"access_channel_type": kind, "remote_buffer_ids": list(range(len(buffers)))}]
    return {
        "id": number, "input_chunks": chunks, "output_chunks": chunks, "scratch_chunks": scratch,
        "channels": [{"channel_type": kind, "connected_to": peers}],
        "remote_buffers": [{"rank": a, "type": b, "access_channel_types": [kind]}
                           for a, b in buffers],
        "semaphores": [{"init_value": one} for one in semaphores],
        "threadblocks": [
            {"id": i, "ops": ops, "channels": channels, "remote_buffer_refs": refs}
            for i, ops in enumerate(blocks)
        ],
    }  # fmt: skip


def proved(text: str):
    """The plan, which must be right."""
    found = read_plan(text, "plan")
    checked = found.proof(found.plan.ranks)
    assert checked.refused is None, checked.refused.message
    return found


def refuted(text: str) -> str:
    """Why a plan is wrong."""
    try:
        found = read_plan(text, "plan")
    except RefutedError as error:
        assert error.name in str(error)
        return str(error)
    why = found.proof(found.plan.ranks).refused
    assert why is not None
    return why.message


def unreadable(text: str) -> str:
    with pytest.raises(Error) as caught:
        read_plan(text, "plan")
    assert not isinstance(caught.value, RefutedError)
    return str(caught.value)


def run_by_chance(plan, seed: int) -> bool:
    """Runs the thread blocks in a random order, on sets of contributions: is the result right?"""
    chance, layout = random.Random(seed), Layout(plan)
    same = aliases(plan, plan.in_place)
    held = [{same[gpu].get(s, s): (block, frozenset([gpu]))
             for s, block in layout.given(gpu).items()} for gpu in range(plan.ranks)]  # fmt: skip
    left, messages = set(range(len(plan.nodes))), {}
    while left:
        ready = [one for one in sorted(left) if not left.intersection(predecessors(plan, one))]
        number = chance.choice(ready)
        left.remove(number)
        node = plan.nodes[number]

        def read(slots, gpu=node.gpu):
            return [held[gpu].get(same[gpu].get(slot, slot), (None, frozenset())) for slot in slots]

        values, operands = read(node.source), read(node.operand)
        if node.kind == "send":
            messages[number] = values
        elif node.kind.startswith("receive"):
            values = messages[node.partner]
        if operands:
            values = [(a, x | y) for (a, x), (_, y) in zip(values, operands, strict=True)]
        for slot, value in zip(node.target, values, strict=False):
            held[node.gpu][same[node.gpu].get(slot, slot)] = value
    everyone = frozenset(range(plan.ranks))
    return all(
        held[gpu].get(same[gpu].get(slot, slot), (None, None))[0] == block
        and (plan.collective not in ("allreduce", "reduce_scatter", "reduce")
             or held[gpu][same[gpu].get(slot, slot)][1] == everyone)
        for gpu in range(plan.ranks)
        for slot, block in layout.wanted(gpu).items()
    )  # fmt: skip
