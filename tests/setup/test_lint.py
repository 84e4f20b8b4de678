"""The checks that have a program of their own, run as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"


def passes(root: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff(root: Path) -> None:
    passes(root, "-m", "ruff", "check", ".")


def test_mypy(root: Path) -> None:
    passes(root, "-m", "mypy")


def test_import_layers(root: Path) -> None:
    passes(root, "-c", IMPORTS)
