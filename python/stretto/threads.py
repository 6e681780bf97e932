# SPDX-License-Identifier: BSD-3-Clause
"""Threads for calls of the core, which lets go of the interpreter's lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@contextmanager
def pool() -> "Iterator[ThreadPoolExecutor]":
    """One for each core. After Ctrl-C nobody waits for what they were still to do."""
    from concurrent.futures import ThreadPoolExecutor

    from .launch.cores import cores

    threads = ThreadPoolExecutor(max_workers=cores())
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
