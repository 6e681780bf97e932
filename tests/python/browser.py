# SPDX-License-Identifier: BSD-3-Clause
"""Pages in a real browser, without a window."""

import os
import shutil
from pathlib import Path

import pytest
from programs import finish


def seen_by_a_browser(page: Path) -> str:
    """The document as its scripts have left it; skips the test where there is no browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", f"--user-data-dir={page.parent / 'browser-of-the-test'}",
             "--dump-dom", page.as_uri()]  # fmt: skip
    return finish(words, dict(os.environ), 120).succeeded().out
