# SPDX-License-Identifier: BSD-3-Clause
"""python training.py INPUTS HIDDEN STEPS: a network with one hidden layer learns, data-parallel.

Every rank has samples of its own; in every step the gradients of all ranks are summed by an
allreduce of (INPUTS + OUTPUTS) × HIDDEN numbers of 4 bytes.
"""

import sys

import numpy as np
from mpi4py import MPI

OUTPUTS, BATCH, RATE = 16, 16, 12.8
world = MPI.COMM_WORLD


def main(inputs: int, hidden: int, steps: int) -> None:
    parameters = np.empty((inputs + OUTPUTS) * hidden, np.float32)
    if world.rank == 0:
        parameters[:] = np.random.default_rng(1).standard_normal(parameters.size, np.float32)
        parameters /= np.sqrt(inputs)
    world.Bcast(parameters)
    below = parameters[: inputs * hidden].reshape(inputs, hidden)
    above = parameters[inputs * hidden :].reshape(hidden, OUTPUTS)
    gradient = np.empty_like(parameters)
    below_gradient = gradient[: below.size].reshape(below.shape)
    above_gradient = gradient[below.size :].reshape(above.shape)
    own = np.random.default_rng(2 + world.rank)
    x = own.standard_normal((BATCH, inputs), np.float32)
    wanted = np.tanh(x[:, :OUTPUTS])
    losses = []
    for _ in range(steps):
        middle = np.tanh(x @ below)
        error = middle @ above - wanted
        losses.append(float((error * error).mean()))
        np.matmul(middle.T, error, out=above_gradient)
        np.matmul(x.T, (error @ above.T) * (1 - middle * middle), out=below_gradient)
        world.Allreduce(MPI.IN_PLACE, gradient)
        parameters -= RATE / (hidden * BATCH * world.size) * gradient
    first, last = (world.allreduce(loss) / world.size for loss in (losses[0], losses[-1]))
    if world.rank == 0:
        print(f"loss {first:.4f}, then {last:.4f}")
    sys.exit(not last < first)


main(*map(int, sys.argv[1:4]))
