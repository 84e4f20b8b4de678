"""Chromium for tests, where it and Playwright are there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def missing() -> str:
    """Why there is no browser; empty where there is one."""
    if find_spec("playwright") is None:
        return "Playwright is not installed"
    return "" if _program() else "Chromium is not installed"


@contextmanager
def running_chromium() -> Iterator[Any]:
    """The browser. Playwright holds an event loop of the thread as long as it is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=_program(), args=list(ARGUMENTS))
        yield chromium
        chromium.close()


def _program() -> str | None:
    return os.environ.get("VOIRDIRE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
