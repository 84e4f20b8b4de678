"""The pages of docs/start as programs: files that they show are written, ``console`` blocks are run."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from voirdire.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "start"
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$|^<!-- (\w+) -->$", flags=re.S | re.M)
OPINIONS: Mapping[str, Mapping[str, str]] = {
    "us": {
        "congee": "212", "dough-stick": "343", "cold-noodles": "121", "tea-egg": "333",
        "cereal": "454", "pancakes": "554", "cold-pizza": "232", "toast": "445",
    },
    "cn": {
        "congee": "545", "dough-stick": "554", "cold-noodles": "434", "tea-egg": "454",
        "cereal": "223", "pancakes": "323", "cold-pizza": "112", "toast": "343",
    },
}  # fmt: skip
"""What the three raters of each pool say of the breakfasts."""


@dataclass(frozen=True)
class Step:
    """What a page does next: ``kind`` is file, command or mark; ``told`` is a file's text, or what a command prints."""

    kind: str
    name: str
    told: str


def steps(page: Path) -> Iterator[Step]:
    """The steps of a page in their order. A command may go on behind a backslash at the end of a line."""
    for language, title, body, mark in FENCE.findall(page.read_text(encoding="utf-8")):
        if mark:
            yield Step("mark", mark, "")
        elif title:
            yield Step("file", title, body)
        elif language == "console":
            for part in re.split(r"^\$ ", body.replace("\\\n", ""), flags=re.M)[1:]:
                command, _, printed = part.partition("\n")
                yield Step("command", command, printed)


def printed(command: str) -> str:
    """What a command prints: ``voirdire ...``, ``cat FILE`` or ``head -n N FILE``."""
    words = shlex.split(command)
    if words[0] == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    if words[:2] == ["head", "-n"]:
        return "".join(Path(words[3]).read_text(encoding="utf-8-sig").splitlines(keepends=True)[: int(words[2])])
    assert words[0] == "voirdire", command
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        run(words[1:])
    return told.getvalue()


def rated(table: Path) -> None:
    """The service makes its first batch, and three people of each pool join and answer."""
    from voirdire.annotation.answers import save
    from voirdire.annotation.assignments import assign, finish, work
    from voirdire.annotation.database import Database
    from voirdire.annotation.invitations import invite
    from voirdire.annotation.nouns import Given
    from voirdire.annotation.raters import join
    from voirdire.web.serving import prepare
    from voirdire.web.settings import Settings, default_database

    now, keys = time.time(), count()
    settings = Settings(str(table), default_database(table))
    prepare(settings, now)
    database = Database.open(settings.database)
    try:
        for pool, language in (("us", "en"), ("cn", "zh")):
            link, _ = invite(database, 1, pool, now=now)
            for place in range(3):
                rater = join(database, link, language=language, attributes={}, passed=True, now=now)
                assign(database, rater.id, now + 1)
                for one in work(database, rater.id):
                    said = OPINIONS[pool][one.item_id][place]
                    given = Given(f"key-{next(keys):020d}", one.id, "q1", said, language=language, seconds=8.0)
                    save(database, rater.id, given, now + 60)
                finish(database, rater.id, now + 90)
    finally:
        database.dispose()
