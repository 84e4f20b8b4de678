from __future__ import annotations

from tests.annotation.fixtures import db

__all__ = ["db"]
