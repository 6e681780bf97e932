# SPDX-License-Identifier: BSD-3-Clause
"""Plans in MSCCL++'s JSON.

    {"name", "collective", "protocol", "inplace", "gpus": [{"id", "input_chunks", "output_chunks",
      "scratch_chunks", "channels", "remote_buffers", "semaphores",
      "threadblocks": [{"id", "channels", "remote_buffer_refs", "ops": [{"name", …}]}]}]}

Thread blocks write into the memory of other GPUs (put), read it (get), and say with signals that
they have; a packet says so itself. A transfer becomes a message at the moment at which it is made.
What the operations do is in mscclpp_steps.py.
"""

from math import lcm

from .json_part import Part, read_json
from .mscclpp_steps import Block, Gpu, Machine
from .nodes import COLLECTIVES, Plan, chunks_of
from .values import Layout

LOOPS = 2  # so often a pipeline is run


def _all_ops(part: Part) -> list[Part]:
    found = []
    for op in part.parts("ops"):
        found += [op, *_all_ops(op)]
    return found


def _finer(root: Part) -> int:
    """Into how many parts a chunk is cut: groups of thread blocks and loops have parts of it."""
    sizes, loops = {1}, 1
    for gpu in root.parts("gpus"):
        for block in gpu.parts("threadblocks"):
            for op in _all_ops(block):
                if "tbg_info" in op.value:
                    sizes.add(max(1, op.part("tbg_info").number("tbg_size", most=64)))
                if op.word("name") == "pipeline":
                    loops = LOOPS
    return lcm(*sizes) * loops


def _empty(root: Part, gpus: list[Part], finer: int) -> Plan:
    word = root.word("collective")
    collective = COLLECTIVES.get(word.replace("_", "").lower())
    if collective is None:
        raise root.error(f"collective '{word}' is no collective of MPI")
    if not gpus or [one.number("id") for one in gpus] != list(range(len(gpus))):
        raise root.error("the gpus are not numbered 0, 1, … in their order")
    in_place = root.flag("inplace")
    sizes = [(one.number("input_chunks"), one.number("output_chunks")) for one in gpus]
    chunks = chunks_of(collective, len(gpus), sizes, root.error)
    return Plan(root.path, "MSCCL++", root.word("name", ""), collective, len(gpus),
                chunks * finer, in_place, not in_place, 0, finer)  # fmt: skip


def _channels(gpu: Part) -> dict[str, list[int]]:
    """The peers of the channels of each type."""
    found: dict[str, list[int]] = {"memory": [], "port": []}
    for channel in gpu.parts("channels"):
        kind = channel.word("channel_type")
        if kind in found:  # those of a switch are refused where they are used
            found[kind] += channel.numbers("connected_to")
    return found


def _block(part: Part, gpu: Gpu) -> Block:
    block = Block(part.number("id"), {"memory": [], "port": []}, {"memory": [], "port": []})
    for channel in part.parts("channels"):
        kind = channel.word("channel_type")
        if kind not in block.channels:
            continue
        for one in channel.numbers("channel_ids"):
            if one >= len(gpu.channels[kind]):
                raise channel.error(f"gpu {gpu.number} has no {kind} channel {one}")
            block.channels[kind].append(one)
    for refs in part.parts("remote_buffer_refs"):
        kind = refs.word("access_channel_type")
        for one in refs.numbers("remote_buffer_ids"):
            if one >= len(gpu.remote):
                raise refs.error(f"gpu {gpu.number} has no remote buffer {one}")
            block.buffers.setdefault(kind, []).append(gpu.remote[one])
    return block


def read_mscclpp(text: str, path: str) -> Plan:
    """Raises Error that names the place in the file, RefutedError where steps do not fit."""
    root = read_json(text, path)
    gpus = root.parts("gpus")
    finer = _finer(root)
    plan = _empty(root, gpus, finer)
    sizes = dict(zip("io", Layout(plan).sizes, strict=True))
    machine = Machine(plan, finer, LOOPS)
    for number, part in enumerate(gpus):
        own = {**sizes, "s": part.number("scratch_chunks") * finer}
        remote = [(one.number("rank", most=plan.ranks - 1), one.word("type"))
                  for one in part.parts("remote_buffers")]  # fmt: skip
        starts = [one.number("init_value", 0) for one in part.parts("semaphores")]
        machine.gpus.append(Gpu(number, own, _channels(part), remote, starts))
    for number, part in enumerate(gpus):
        seen = set()
        for one in part.parts("threadblocks"):
            block = _block(one, machine.gpus[number])
            if block.number in seen:
                raise one.error(f"gpu {number} has two thread blocks {block.number}")
            seen.add(block.number)
            machine.run(machine.gpus[number], block, one.parts("ops"))
    machine.finish()
    return plan
