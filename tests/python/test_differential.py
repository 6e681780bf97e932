# SPDX-License-Identifier: BSD-3-Clause
"""Random collective calls, natively and with Stretto in one process, leave the same bytes.

They are blocking, nonblocking and persistent, up to 16 of them under way, and completed by all
kinds of waits and tests. The driver is tests/mpi/differential; a difference is reported with the
seed that repeats it.
"""

import json
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from programs import ROOT, Finished, from_environment, installed, launch
from stretto import all_algorithms, all_functions, facts, variants

# For each number of ranks, how many calls are drawn and how many must at least be compared: a call
# is made on all parts of a split world, and some are made several times.
# More ranks than cores take long for a call, and so do sanitizers: most calls are plain ones of two
# ranks. Each of the settings gets its turn on any number of ranks.
CALLS = {
    "plain": {
        2: (80000, 70000),
        3: (14400, 14200),
        4: (4000, 4000),
        7: (2600, 2000),
        8: (2600, 1600),
    },
    "sanitized": {
        2: (10800, 9300),
        3: (5400, 5400),
        4: (2000, 2000),
        8: (2600, 1600),
    },
}
# The flavours have the same sources: sanitizers need not see both.
DRAWS = [
    (name, build, ranks)
    for name in ("mpich", "openmpi")
    for build, of in CALLS.items()
    for ranks in of
    if build == "plain" or name == "mpich"
]
# Those of every run of the tests, some with fewer calls; the others are thorough ones. Few
# ranks of MPICH, whose native calls spin: seven on two cores took ten times as long as Open MPI's.
USUAL = {("openmpi", "plain", 4), ("mpich", "plain", 3)}
INTEL_CALLS = {3: (1500, 700), 8: (1200, 700)}
# The standard ABI has its own handles and functions, and the rest of the sources.
ABI_CALLS = {"mpich-abi": (1500, 700), "intel-abi": (1000, 400)}
DISTRUSTED = ("intel", *ABI_CALLS)  # their own nonblocking and persistent collectives
# No draw with an allgatherv of 64K from one rank in segments of 100 bytes, as messages: they arrive
# early by the thousand, the MPI looks through all of them for each, and that call takes 17 seconds.
SEEDS = {2: 32, 3: 33, 4: 37, 7: 77, 8: 38}
INTEL_SEEDS = {3: 43, 8: 18}
WANTED = 200_000
BUILDS = {"plain": "STRETTO_TEST_BUILD", "sanitized": "STRETTO_TEST_SANITIZED_BUILD"}
PARAMETERS = ["", ",segment=4K,depth=3", ",segment=100,depth=7"]
# How messages go: all through shared memory, some (between pretended nodes), none.
WAYS = [{}, {"nodes": "2x2"}, {"shm": "0"}]
WAY_SETTINGS = {key for way in WAYS for key in way}
ROWS = 35  # settings: enough for four of most algorithms
NAMES = [facts(f).name for f in all_functions()]
# Choices that change with sizes of which no rank knows all. None is native: not all of these calls
# can be made natively.
BY_SIZE = """stretto-rules 2
gatherv bytes<64 -> linear
gatherv bytes<2K -> knomial
gatherv -> ordered_tree
scatterv bytes<64 -> binomial
scatterv bytes<2K -> knomial
scatterv -> ordered_tree
alltoallv bytes<64 -> bruck
alltoallv bytes<2K -> padded_bruck
alltoallv -> pairwise
alltoallw part<64 -> windowed
alltoallw -> linear
"""


def test_enough_calls():
    least = sum(CALLS[build][ranks][1] for _, build, ranks in DRAWS)
    assert least + sum(number for _, number in INTEL_CALLS.values()) >= WANTED


@cache
def choices(function, ranks: int) -> list[list[str]]:
    """Of every algorithm, the values of STRETTO_<FUNCTION>: itself with each set of parameters."""
    found = []
    for a in all_algorithms():
        if a.collective != facts(function).collective:
            continue
        if a.needs.irregular and not facts(function).irregular:
            continue
        values = []
        for variant in variants(a, ranks):
            value = a.id.partition("/")[2]
            if a.parameter and variant.params.value:
                value += f",{a.parameter.name}={variant.params.value}"
            if a.list and variant.params.list:
                value += f",{a.list}={':'.join(map(str, variant.params.list))}"
            values.append(value)
        if values:
            found.append(list(dict.fromkeys(values)))
    return found


def settings(ranks: int) -> list[dict[str, str]]:
    """The rules' choice, then every algorithm in turn, with other parameters for other ranks, each
    time on another way."""
    every: list[dict[str, str]] = [{}]
    for i in range(ROWS):
        every.append({})
        for f in all_functions():
            algorithms = choices(f, ranks)
            near = facts(facts(f).collective).neighbourhood
            # Of neighbourhoods each on every way: all ranks know the graph where they are on nodes.
            turn = i // len(WAYS) if near else i
            values = algorithms[turn % len(algorithms)]
            chosen = values[(i // len(algorithms) + 3 * ranks) % len(values)]
            whole = near or chosen.startswith("contention_free")  # these take no segments
            cut = "" if whole else PARAMETERS[(i + ranks) % len(PARAMETERS)]
            every[-1][facts(f).name] = chosen + cut
        every[-1] |= WAYS[(i + i // len(WAYS)) % len(WAYS)]
    return every


@dataclass
class Driver:
    """The differential driver of one MPI and build."""

    name: str
    build: str
    folder: Path  # for copies of the library, each with settings of its own
    progress: str = ""  # that of half of them

    def library(self, number: int, forced: dict[str, str]) -> str:
        flavour = installed(self.name).flavour
        original = from_environment(BUILDS[self.build]) / f"libstretto-{flavour}.so"
        copy = self.folder / f"{number}-{original.name}"
        shutil.copyfile(original, copy)
        return " ".join([str(copy), *(f"STRETTO_{f.upper()}={v}" for f, v in forced.items())])

    def run(self, ranks: int, calls: int, *options: object) -> Finished:
        mpi = installed(self.name)
        build = from_environment(BUILDS[self.build])
        words = [build / f"stretto-differential-{mpi.flavour}", "--mpi-library", mpi.library]
        listed = self.folder / "libraries"
        rules = self.folder / "by_size.rules"
        near = ("linear", "direct")
        others = (f"{name} -> {near[name.startswith('neighbor')]}\n" for name in NAMES)
        rules.write_text(BY_SIZE + "".join(others), encoding="utf-8")
        served = self.folder / "served.rules"  # what is shipped, of which nothing is native
        shipped = (ROOT / "rules" / "default.rules").read_text(encoding="utf-8")
        kept = [line for line in shipped.splitlines() if not line.endswith("-> native")]
        served.write_text("\n".join(kept) + "\n", encoding="utf-8")
        every = [{"rules": str(served)} | one for one in settings(ranks)]
        every.append({"rules": str(rules)})
        if self.progress:
            for one in every[::2]:
                one["progress"] = self.progress
            if self.name == "openmpi":  # between nodes it serves them itself, which not all allow
                every = [{k: v for k, v in one.items() if k not in WAY_SETTINGS} for one in every]
        lines = [self.library(number, forced) for number, forced in enumerate(every)]
        listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words += ["--stretto-libraries", listed, "--calls", calls, *options]
        variables = {
            "STRETTO_DEADLINE": "60",
            "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=65536",  # of so many libraries
        }
        if self.name in DISTRUSTED:
            # Intel's own persistent collectives, which some are left to, move stale data, and
            # MPICH 5.0.2's MPI_Testall refuses its own in both ABIs, without Stretto too:
            # MPI_Allgather_init, MPI_Start, MPI_Testall(1, …) is an invalid request.
            words += ["--distrust-native", "--kinds", "blocking,nonblocking"]
        if self.name == "openmpi":
            # Its AVX operators saturate sums of small integers, where C and the other MPIs wrap.
            variables["OMPI_MCA_op"] = "^avx"
        if self.build == "sanitized":
            # The MPIs leak, and MPICH's datatype engine mixes allocators on purpose.
            variables["ASAN_OPTIONS"] = "detect_leaks=0:detect_odr_violation=0"
        return launch(mpi, ranks, words, timeout=240, **variables)

    def compared(self, ranks: int, calls: int, *options: object) -> dict[str, int]:
        """Calls by function and algorithm; all of them must have been equal."""
        done = self.run(ranks, calls, *options).succeeded()
        result = json.loads(done.out.splitlines()[-1])
        assert result["calls"] == sum(result["by"].values())
        assert result["calls"] == sum(result["kinds"].values())
        # Read in place, where other ranks' buffers are not.
        assert result["shared"] > 0
        # Most results are compared with the native library's, or the test would test itself.
        # Open MPI 5.0.11 now and then unpacks a long double wrongly where a message was cut.
        assert result["native_wrong"] <= result["calls"] / 200, done.err
        if self.name not in DISTRUSTED:
            assert result["computed"] < result["calls"] / 2
        return result["by"]


def in_all_kinds(name: str) -> list[str]:
    """A function's name, and as the keys of "by" have it where it is nonblocking or persistent."""
    return [name, f"i{name}", f"{name}_init"]


def check_served(by: dict[str, int], ranks: int) -> None:
    for function in all_functions():
        names = in_all_kinds(facts(function).name)
        forced = [values[0].partition(",")[0] for values in choices(function, ranks)]
        for algorithm in forced:
            calls = sum(by.get(f"{name}/{algorithm}", 0) for name in names)
            assert calls > 0, f"{names[0]}/{algorithm} was forced and served no call: {by}"
        for name in names:
            calls = sum(by.get(f"{name}/{algorithm}", 0) for algorithm in forced)
            assert calls > 0, f"no algorithm served {name}: {by}"


@pytest.fixture
def part(request) -> int:
    """Of the calls of a thorough run, one in so many."""
    return 1 if request.config.getoption("--thorough") else 4


@pytest.mark.parametrize(
    ("name", "build", "ranks"),
    [pytest.param(*one, marks=() if one in USUAL else pytest.mark.thorough) for one in DRAWS],
)
def test_random_calls(name, build, ranks, tmp_path, part):
    drawn, least = CALLS[build][ranks]
    if drawn > 3000:  # of fewer some algorithms would get none
        few = max(drawn // part, 2000)
        drawn, least = few, least * few // drawn
    options = ["--seed", SEEDS[ranks], "--most-bytes", 1 << 16]
    by = Driver(name, build, tmp_path).compared(ranks, drawn, *options)
    assert sum(by.values()) >= least
    check_served(by, ranks)


@pytest.mark.parametrize("ranks", [3, pytest.param(8, marks=pytest.mark.thorough)])
def test_random_calls_under_intel_mpi(ranks, tmp_path):
    drawn, least = INTEL_CALLS[ranks]
    by = Driver("intel", "plain", tmp_path).compared(ranks, drawn, "--seed", INTEL_SEEDS[ranks])
    assert sum(by.values()) >= least


@pytest.mark.parametrize(
    ("name", "progress", "kinds"),
    [
        pytest.param(
            "mpich", "calls", "blocking,nonblocking,persistent", marks=pytest.mark.thorough
        ),
        # Some persistent ones are left to MPICH then, whose MPI_Testall refuses its own.
        ("mpich", "thread", "blocking,nonblocking"),
        ("openmpi", "thread", "blocking,nonblocking,persistent"),
    ],
)
def test_random_calls_with_threads(name, progress, kinds, tmp_path, part):
    """With MPI_THREAD_MULTIPLE, and libraries that have a thread which moves calls on."""
    options = ["--seed", 63, "--most-bytes", 1 << 16, "--threads", "--kinds", kinds]
    by = Driver(name, "plain", tmp_path, progress).compared(3, 2000 // part, *options)
    assert sum(by.values()) >= 1700 // part


@pytest.mark.parametrize("name", ABI_CALLS)
def test_random_calls_of_the_standard_abi(name, tmp_path):
    drawn, least = ABI_CALLS[name]
    by = Driver(name, "plain", tmp_path).compared(3, drawn, "--seed", 53, "--most-bytes", 1 << 14)
    assert sum(by.values()) >= least


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_long_vectors(name, tmp_path):
    by = Driver(name, "plain", tmp_path).compared(3, 600, "--seed", 20, "--most-bytes", 4 << 20)
    called = {key.partition("/")[0] for key in by}
    assert all(called.intersection(in_all_kinds(name)) for name in NAMES)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_planted_error_is_found(name, tmp_path):
    done = Driver(name, "plain", tmp_path).run(3, 200, "--seed", 77, "--plant")
    assert done.code != 0
    assert done.said("difference: seed 77, call 1")  # at or after half of the calls
    assert done.said("should be 0x")
    assert done.said("served by")
