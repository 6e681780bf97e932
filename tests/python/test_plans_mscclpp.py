# SPDX-License-Identifier: BSD-3-Clause
"""Plans for GPUs in MSCCL++'s JSON: read, proved or refuted."""

import json

import pytest
from plans import gpu, packets, plan, proved, refuted, unreadable


def chunk(kind, index=0, size=1):
    return {"type": kind, "index": index, "size": size}


def far(index=0, size=1):
    return {"buffer_id": 0, "index": index, "size": size}


def op(name, source=(), target=(), **more):
    return {"name": name, "src_buff": list(source), "dst_buff": list(target),
            "channel_type": "memory", **more}  # fmt: skip


def signal(name="signal", kind="memory"):
    return {"name": name, "channel_ids": [0], "channel_type": kind}


def twice(ops, **more):
    """The same on two GPUs, whose remote buffer is the other's scratch."""
    return json.dumps(plan([gpu(me, ops, [1 - me], [(1 - me, "s")], 1, 1, **more)
                            for me in range(2)]))  # fmt: skip


PUT = op("put", [chunk("i")], [far()], channel_ids=[0])
ADD = op("re", [chunk("i"), chunk("s")], [chunk("i")])


def test_a_put_and_its_signal():
    assert proved(twice([[PUT, signal(), signal("wait"), ADD]])).proof(2).measured.rounds == 1
    assert "race" in refuted(twice([[PUT, ADD]]))
    assert "race" in refuted(twice([[signal(), PUT, signal("wait"), ADD]]))
    assert "deadlock: waits for signal 0 of gpu" in refuted(twice([[PUT, signal("wait"), ADD]]))


def test_a_port_writes_by_and_by():
    """Its signal comes behind what it writes; only a flush says that the source is free."""
    put = {**PUT, "channel_type": "port"}
    ops = [put, signal("signal", "port"), signal("wait", "port"), ADD]
    why = refuted(twice([ops], kind="port"))
    assert "step 3: race: it writes i[0], which gpu 0, thread block 0, step 0 sends" in why
    ops.insert(2, signal("flush", "port"))
    assert proved(twice([ops], kind="port")).proof(2).measured.messages == 2
    ops[:3] = [{**put, "name": "pwsf"}]
    assert proved(twice([ops], kind="port")).proof(2).measured.messages == 2


def test_memory_of_others_is_read():
    ready = [op("copy", [chunk("i")], [chunk("s")]), signal(), signal("wait")]
    get = [*ready, op("rre", [chunk("i"), far()], [chunk("i")])]
    assert proved(twice([get])).proof(2).measured.messages == 2
    assert "in the memory of gpu" in refuted(twice([[ready[0], get[-1]]]))


def test_packets_say_that_they_have_come():
    assert proved(packets()).proof(2).measured.messages == 2
    text = json.loads(packets())
    del text["gpus"][0]["threadblocks"][0]["ops"][0]
    assert "deadlock: waits for a packet in s[0], which nobody writes" in refuted(json.dumps(text))


def test_thread_blocks_of_a_gpu_wait_for_each_other():
    """By a barrier, or by a semaphore."""
    barrier = {"name": "barrier", "barrier_id": 0, "num_threadblocks": 2}
    take = [signal("wait")]
    text = twice([[PUT, signal(), barrier, ADD], [*take, barrier]])
    assert proved(text).proof(2).measured.rounds == 1
    text = twice([[PUT, signal(), barrier, ADD], take])
    assert "deadlock: a barrier of 2 thread blocks, of which 1 come to it" in refuted(text)
    acquire, release = (
        {"name": f"sem_{one}", "semaphore_ids": [0]} for one in ("acquire", "release")
    )
    text = twice([[PUT, signal(), acquire, ADD], [*take, release]], semaphores=[0])
    assert proved(text).proof(2).measured.rounds == 1
    text = twice([[PUT, signal(), acquire, ADD], [*take, release]], semaphores=[1])
    assert "race" in refuted(text)


def test_groups_and_loops_do_parts_of_a_chunk():
    def half(one, which):
        return {**one, "tbg_info": {"tb_id": which, "tbg_size": 2}}

    def blocks(*halves):
        return [[half(PUT, a), signal(), signal("wait"), half(ADD, b)] for a, b in halves]

    channels = [[1, 1], [0, 0]]
    whole = json.loads(twice(blocks((0, 0), (1, 1))))
    for one, peers in zip(whole["gpus"], channels, strict=True):
        one["channels"][0]["connected_to"] = peers
        for number, block in enumerate(one["threadblocks"]):
            block["channels"][0]["channel_ids"] = [number]
    assert proved(json.dumps(whole)).plan.finer == 2
    for one in whole["gpus"]:  # each now adds what the other thread block has waited for
        one["threadblocks"][0]["ops"][3]["tbg_info"]["tb_id"] = 1
        one["threadblocks"][1]["ops"][3]["tbg_info"]["tb_id"] = 0
    assert "(part " in refuted(json.dumps(whole))
    loop = {"name": "pipeline", "iter_context": {"unit_size": 1, "num_chunks": 1},
            "ops": [PUT, signal(), signal("wait"), ADD]}  # fmt: skip
    assert proved(twice([[loop]])).plan.finer == 2


def test_what_is_wrong_names_the_line():
    """In which the operation begins, or the object that cannot be read."""
    lines = json.dumps(json.loads(twice([[PUT, ADD]])), indent=1).splitlines()
    begin = next(i for i, line in enumerate(lines) if '"name": "re"' in line)
    why = refuted("\n".join(lines))
    assert why.startswith(f"plan:{begin}: gpu 0, thread block 0, step 1: race: "), why
    lines[begin] = lines[begin].replace('"re"', '"magic"')
    where = f"plan:{begin}: gpus[0].threadblocks[0].ops[1]: operation 'magic' is not known"
    assert unreadable("\n".join(lines)).startswith(where)


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "plan:1: no JSON"),
        (packets(collective="sendrecv"), "plan:1: collective 'sendrecv' is no collective of MPI"),
        (packets(gpus=3), 'plan:1: "gpus" is not a list'),
        (twice([[{"name": "magic"}]]), "ops[0]: operation 'magic' is not known"),
        (twice([[op("glres")]]), "'glres' goes through the switch's multicast"),
        (twice([[op("put", [chunk("i", 4)], [far()])]]), "i[4] is beyond the 1 chunks of gpu 0"),
        (twice([[op("put", [chunk("x")], [far()])]]), "'x' is no buffer"),
        (twice([[op("put", [chunk("i")], [{"index": 0, "size": 1}])]]), 'no "buffer_id"'),
        (twice([[signal(kind="port")]]), "has no such port channel"),
    ],
)
def test_json_that_cannot_be_expressed_names_the_place(text, words):
    assert words in unreadable(text)
