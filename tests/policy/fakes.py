"""A small profile for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.policy.test_policy import META, SCHEMA, judged, row

from voirdire.analysis.profile import Profile


def profile() -> Profile:
    rows = [
        row("gate", pool="us", label="pass"),
        row("gate", pool="cn", label="fail"),
        judged("mae", 0.4, 0.5, pool="us"),
        judged("mae", 0.7, 0.9, pool="cn"),
        row("missing_share", judge="a", condition="*", value=0.03),
    ]
    empty = pl.DataFrame(schema={"question": pl.String})
    return Profile(pl.DataFrame(rows, schema=SCHEMA), META, empty, empty)


def policy(folder: Path, text: str) -> Path:
    file = folder / "policy.toml"
    file.write_text(text, encoding="utf-8")
    return file
