# SPDX-License-Identifier: BSD-3-Clause
"""Random collective calls, natively and with Stretto in one process, leave the same bytes.

The driver is tests/mpi/differential; a difference is reported with the seed that repeats it.
"""

import json
from dataclasses import dataclass

import pytest
from programs import Finished, from_environment, installed, launch
from stretto import all_algorithms, all_collectives, facts

# For each number of ranks, how many calls are drawn and how many must at least be compared: a call
# is made on all parts of a split world. These are 20 000 for each MPI and build.
CALLS = {2: (7800, 8500), 3: (3400, 4500), 4: (2200, 3000), 7: (1200, 2000), 8: (1300, 2000)}
BUILDS = {"plain": "STRETTO_TEST_BUILD", "sanitized": "STRETTO_TEST_SANITIZED_BUILD"}
PARAMETERS = ["", ",segment=4K,depth=3", ",segment=100,depth=7"]
NAMES = {facts(c).name for c in all_collectives()}


@dataclass
class Driver:
    """The differential driver of one MPI and build."""

    name: str
    build: str

    def run(self, ranks: int, calls: int, *options: str, **variables: str) -> Finished:
        mpi = installed(self.name)
        build = from_environment(BUILDS[self.build])
        words = [
            *(build / f"stretto-differential-{mpi.flavour}", "--calls", calls),
            *("--stretto-library", build / f"libstretto-{mpi.flavour}.so"),
            *("--mpi-library", mpi.library),
            *options,
        ]
        if self.name == "intel":
            words.append("--distrust-native")
        if self.name == "openmpi":
            # Its AVX operators saturate sums of small integers, where C and the other MPIs wrap.
            variables["OMPI_MCA_op"] = "^avx"
        if self.build == "sanitized":
            # The MPIs leak, and MPICH's datatype engine mixes allocators on purpose.
            variables["ASAN_OPTIONS"] = "detect_leaks=0"
            words += ["--most-bytes", 1 << 16]
        variables.setdefault("STRETTO_DEADLINE", "60")
        return launch(mpi, ranks, words, timeout=240, **variables)

    def compared(self, ranks: int, calls: int, *options: str, **variables: str) -> dict:
        """What was compared; all of it must have been equal."""
        done = self.run(ranks, calls, *options, **variables).succeeded()
        result = json.loads(done.out.splitlines()[-1])
        assert result["calls"] == sum(result["by"].values())
        # Most results are compared with the native library's, or the test would test itself.
        # Open MPI 5.0.11 now and then unpacks a long double wrongly where a message was cut.
        assert result["native_wrong"] <= result["calls"] / 200, done.err
        if self.name != "intel":
            assert result["computed"] < result["calls"] / 2
        return result


@pytest.mark.parametrize("ranks", CALLS)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_random_calls(name, build, ranks):
    drawn, least = CALLS[ranks]
    result = Driver(name, build).compared(ranks, drawn, "--seed", str(ranks))
    assert result["calls"] >= least
    by = result["by"]
    served = {key.partition("/")[0] for key in by if not key.endswith("/native")}
    assert served == NAMES


@pytest.mark.parametrize("ranks", [3, 8])
def test_random_calls_under_intel_mpi(ranks):
    by = Driver("intel", "plain").compared(ranks, 1500, "--seed", str(10 + ranks))["by"]
    served = {key.partition("/")[0] for key in by if not key.endswith("/native")}
    assert served == NAMES


def forced(which: int, shift: int) -> dict[str, str]:
    """For each collective its algorithm number `which`, with parameters that shift with it."""
    choice = {}
    for name in NAMES:
        ids = [a.id for a in all_algorithms() if a.id.startswith(name + "/")]
        chosen = ids[which % len(ids)].partition("/")[2]
        choice[name] = chosen + PARAMETERS[(which + shift) % len(PARAMETERS)]
    return choice


@pytest.mark.parametrize(
    ("build", "ranks"), [*(("plain", ranks) for ranks in CALLS), ("sanitized", 3), ("sanitized", 8)]
)
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_every_algorithm_forced(name, build, ranks):
    longest = max(sum(a.id.startswith(n + "/") for a in all_algorithms()) for n in NAMES)
    for which in range(longest):
        choice = forced(which, list(CALLS).index(ranks))
        variables = {f"STRETTO_{key.upper()}": value for key, value in choice.items()}
        options = ["--seed", str(100 + which), "--most-bytes", str(1 << 15)]
        by = Driver(name, build).compared(ranks, 150, *options, **variables)["by"]
        for key, value in choice.items():
            algorithm = f"{key}/{value.partition(',')[0]}"
            assert by.get(algorithm, 0) > 0, f"{algorithm} was forced and served no call: {by}"


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_planted_error_is_found(name):
    done = Driver(name, "plain").run(3, 200, "--seed", "77", "--plant")
    assert done.code != 0
    assert done.said("difference: seed 77, call 1")  # at or after half of the calls
    assert done.said("should be 0x")
    assert done.said("served by")
