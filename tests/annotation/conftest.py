from __future__ import annotations

from tests.annotation.fixtures import db, template

__all__ = ["db", "template"]
