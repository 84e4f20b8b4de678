"""Ids that a user made of an item, a condition and so on, taken apart by a pattern: ``{item}|{condition}``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from voirdire.errors import UsageError
from voirdire.exchange.importers.contract import ImportOptions
from voirdire.exchange.importers.records import Record

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class CustomIds:
    """A pattern, and the names in it.

    ``item``, ``judge``, ``condition``, ``question`` and ``repeat`` are what they say, ``skip`` is passed over; any
    other name is a factor of the condition.
    """

    KNOWN: ClassVar[tuple[str, ...]] = ("item", "judge", "condition", "question", "repeat", "skip")

    pattern: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, options: ImportOptions) -> CustomIds:
        """The pattern of ``--set custom_id``; ``{item}`` without it. Raises UsageError for one that cannot be read.

        >>> CustomIds.of(ImportOptions(settings={"custom_id": "{item}|{persona}"})).names
        ('item', 'persona')
        """
        pattern = options.setting("custom_id", default="{item}") or "{item}"
        names = tuple(_HOLE.findall(pattern))
        rest = _HOLE.sub("\0", pattern)
        if "item" not in names or len({*names}) < len(names) or "\0\0" in rest or "{" in rest or "}" in rest:
            raise UsageError("openai_batch.pattern", value=pattern)
        return cls(pattern, names)

    def parts(self, record: Record) -> dict[str, str]:
        """Name -> part of the id of a record.

        Raises InputError for an id that does not fit, that fits in two ways, and for a repeat that is no number.
        """
        name = str(record.value["custom_id"])
        first, last = (self._regex(lazy).fullmatch(name) for lazy in ("?", ""))
        if first is None or last is None:
            raise record.error("openai_batch.no_fit", "custom_id", name, pattern=self.pattern)
        if first.groupdict() != last.groupdict():
            raise record.error("openai_batch.two_fits", "custom_id", name, pattern=self.pattern)
        found = first.groupdict()
        if not re.fullmatch(r"[0-9]{1,9}", found.get("repeat", "1")):
            raise record.error("openai_batch.no_fit", "custom_id", name, pattern=self.pattern)
        return found

    def _regex(self, lazy: str) -> re.Pattern[str]:
        parts = _HOLE.split(self.pattern)
        made = [f"(?P<{part}>.+{lazy})" if n % 2 else re.escape(part) for n, part in enumerate(parts)]
        return re.compile("".join(made), re.DOTALL)
