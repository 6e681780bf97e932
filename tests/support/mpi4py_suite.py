# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own tests on this rank: mpi4py_suite.py TESTS OUTCOMES EXPECTED ARRAYS MODULE…

TESTS is the folder `test` of mpi4py's source distribution. Writes a file for each rank into the
folder OUTCOMES: what became of every test. If EXPECTED is such a folder too, a test that goes wrong
against it ends the program: the other ranks would wait for this one. ARRAYS: "all" kinds of buffers
that mpi4py takes from the memory of this machine, or NumPy's: "numpy".
"""

import json
import sys
import unittest
from pathlib import Path


class Recorder(unittest.TestResult):
    """Keeps one word for each test; what went wrong goes to stderr."""

    def __init__(self, expected: dict[str, str] | None) -> None:
        super().__init__()
        self.expected = expected
        self.outcomes: dict[str, str] = {}

    def startTest(self, test):  # noqa: N802
        super().startTest(test)
        self.outcomes[test.id()] = "passed"

    def addSkip(self, test, reason):  # noqa: N802
        super().addSkip(test, reason)
        self.outcomes[test.id()] = "skipped"

    def addFailure(self, test, err):  # noqa: N802
        self.went_wrong(test, "failed", err)

    def addError(self, test, err):  # noqa: N802
        self.went_wrong(test, "error", err)

    def went_wrong(self, test, outcome, err):
        self.outcomes[test.id()] = outcome
        print(f"{outcome}: {test.id()}: {err[0].__name__}: {err[1]}", file=sys.stderr, flush=True)
        if self.expected is not None and self.expected.get(test.id()) != outcome:
            from mpi4py import MPI

            MPI.COMM_WORLD.Abort(1)


def main() -> None:
    tests, outcomes, expected, arrays, *modules = sys.argv[1:]
    # As mpi4py's own runner does if told to. Arrays of Python meet the same calls as NumPy's.
    for other in ("cupy", "numba", "array"):
        sys.modules[other] = None
    sys.path.insert(0, tests)
    import arrayimpl
    from mpi4py import MPI

    if arrays == "numpy":
        arrayimpl.ArrayBackends[:] = [arrayimpl.ArrayNumPy]
    name = f"{MPI.COMM_WORLD.Get_rank()}.json"
    before = Path(expected) / name
    wanted = json.loads(before.read_text(encoding="utf-8")) if before.exists() else None
    result = Recorder(wanted)
    unittest.defaultTestLoader.loadTestsFromNames(modules).run(result)
    text = json.dumps(result.outcomes, indent=1, sort_keys=True)
    (Path(outcomes) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
