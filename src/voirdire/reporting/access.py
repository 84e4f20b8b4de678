"""Reading a profile: one row by its place, the cells that a report shows, the names in their order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import polars as pl

PLACE = ("params", "question", "pool", "pool_b", "judge", "condition", "slice")
ALL = "*"
PAIRWISE, NOMINAL = "pairwise", "nominal"
VARIANT = re.compile(r"\b(control|form|fit|unit|pairing|thing|ties)=")
COUNTED = re.compile(r"(?<=[(,])(?:df|judges)=\d+(?:,|(?=\)))")
TURNING = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"


class ProfileLike(Protocol):
    """What the report reads of a profile: its tables and its meta data."""

    @property
    def estimates(self) -> pl.DataFrame: ...  # noqa: D102
    @property
    def meta(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def distributions(self) -> pl.DataFrame: ...  # noqa: D102
    @property
    def items(self) -> pl.DataFrame: ...  # noqa: D102
    @property
    def specifications(self) -> pl.DataFrame: ...  # noqa: D102


class Row(NamedTuple):
    """One estimate as it stands in the estimates table."""

    statistic: str
    params: str
    question: str
    pool: str
    pool_b: str
    judge: str
    condition: str
    slice: str
    value: float | None
    label: str | None
    undefined: str | None
    low: float | None
    high: float | None
    n: int | None
    excluded: str
    signature: str

    @property
    def definition(self) -> str:
        """Name, parameters and definition: what two numbers of one column must share.

        Degrees of freedom and the number of judges follow from the data of a row and define nothing.
        """
        return COUNTED.sub("", self.signature.split("|on(", 1)[0])


class Cell(NamedTuple):
    """A judge under a condition (``*`` for all conditions together)."""

    judge: str
    condition: str


class View:
    r"""A profile, indexed by statistic when a statistic is first asked for.

    >>> View.clean("a\x1b[31mb")
    'a�[31mb'
    """

    def __init__(self, profile: ProfileLike) -> None:
        self.profile = profile
        self.meta = profile.meta
        self._index: dict[str, dict[tuple[str, ...], Row]] = {}
        self._groups: dict[tuple[str, tuple[str, ...]], dict[tuple[str, ...], list[Row]]] = {}
        self._parts: dict[str, pl.DataFrame] = {
            str(key[0]): part for key, part in profile.estimates.partition_by("statistic", as_dict=True).items()
        }

    @staticmethod
    def clean(value: Any) -> str:
        """Text without control characters (a terminal or a page would obey them)."""
        said = str(value)
        return said if said.isprintable() else "".join("\ufffd" if _forbidden(char) else char for char in said)

    def row(self, statistic: str, **place: str) -> Row | None:
        """The estimate at a place (empty parts left out, slice ``all``), or None when it was not computed.

        Without params the plain estimate is meant, also where its params name a setting (``folds=10``).
        """
        place.setdefault("slice", "all")
        return self._of(statistic).get(tuple(place.get(part, "") for part in PLACE))

    def rows(self, statistic: str, **place: str) -> Iterator[Row]:
        """Every estimate of a statistic that agrees with the given parts of the place."""
        names = tuple(sorted(place))
        yield from self._grouped(statistic, names).get(tuple(place[name] for name in names), ())

    def variants(self, statistic: str, **place: str) -> list[str]:
        """The different params of a statistic at the given parts of the place, in the order of the estimates."""
        return list(dict.fromkeys(row.params for row in self.rows(statistic, **place)))

    def has(self, statistic: str, **place: str) -> bool:
        """Whether any estimate of this statistic exists there."""
        return next(self.rows(statistic, **place), None) is not None

    def _of(self, statistic: str) -> dict[tuple[str, ...], Row]:
        if statistic not in self._index:
            part = self._parts.get(statistic)
            rows = [] if part is None else [Row(*line) for line in part.select(Row._fields).iter_rows()]
            index = {tuple(getattr(row, name) for name in PLACE): row for row in rows}
            for row in rows:
                if row.params and not VARIANT.search(row.params):
                    index.setdefault(("", *(getattr(row, name) for name in PLACE[1:])), row)
            self._index[statistic] = index
        return self._index[statistic]

    def _grouped(self, statistic: str, names: tuple[str, ...]) -> dict[tuple[str, ...], list[Row]]:
        """The estimates of a statistic by some parts of the place; grouped when it is first asked for by these."""
        if (statistic, names) not in self._groups:
            groups: dict[tuple[str, ...], list[Row]] = {}
            for key, row in self._of(statistic).items():
                if key[0] == row.params:
                    groups.setdefault(tuple(getattr(row, name) for name in names), []).append(row)
            self._groups[statistic, names] = groups
        return self._groups[statistic, names]

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The questions of the profile, the judged ones first."""
        judged = self.judged
        return sorted(self.meta.get("questions", []), key=lambda question: question["id"] not in judged)

    def votes(self, question: str) -> bool:
        """Whether a question asks for votes between two things."""
        return self._level(question) == PAIRWISE

    def labels(self, question: str) -> bool:
        """Whether the answers to a question are labels without order, which nothing rounds."""
        return self._level(question) in (PAIRWISE, NOMINAL)

    def _level(self, question: str) -> str | None:
        levels = {entry["id"]: entry.get("level") for entry in self.meta.get("questions", [])}
        return levels.get(question)

    def width(self, question: str) -> float | None:
        """How wide the question's scale is, for rounding; 1 for shares of labels, None when unknown."""
        for entry in self.meta.get("questions", []):
            if entry["id"] == question:
                low, high = entry.get("low"), entry.get("high")
                return float(high) - float(low) if low is not None and high is not None else 1.0
        return None

    @property
    def judged(self) -> list[str]:
        """Ids of the questions that judges answered."""
        return list(self.meta.get("judged_questions") or [])

    @property
    def pools(self) -> list[str]:
        """Names of the pools in the order of the corpus."""
        return [pool["name"] for pool in self.meta.get("pools", [])]

    def pools_of(self, question: str) -> list[str]:
        """Pools that have an estimate for this question."""
        present = {row.pool for row in self.rows("n_items", question=question)}
        return [pool for pool in self.pools if pool in present] or self.pools

    @property
    def many_pools(self) -> bool:
        """Whether there are too many pools to show every pair in full."""
        return len(self.pools) > 3

    def pairs(self, question: str) -> list[tuple[str, str]]:
        """The pairs shown in full: all of them, or the chosen ones when there are more than three pools."""
        chosen = (self.meta.get("detail_pairs_by_question") or {}).get(question) or self.meta.get("detail_pairs")
        known = set(self.pools_of(question))
        return [(a, b) for a, b in chosen or self.meta.get("pairs", []) if a in known and b in known]

    @property
    def judges(self) -> list[str]:
        """Names of the judges in the order of the judgments."""
        return list(self.meta.get("judges") or [])

    def full_cells(self) -> list[Cell]:
        """Every judge under every condition that occurs."""
        return [Cell(cell["judge"], cell["condition"]) for cell in self.meta.get("cells", [])]

    def main_cells(self) -> list[Cell]:
        """A row for each judge: over all conditions, or its only condition."""
        by_judge: dict[str, list[Cell]] = {judge: [] for judge in self.judges}
        for cell in self.full_cells():
            by_judge.setdefault(cell.judge, []).append(cell)
        chosen: list[Cell] = []
        for judge, cells in by_judge.items():
            over_all = Cell(judge, ALL)
            if len(cells) > 1 and self._measured(over_all):
                chosen.append(over_all)
            else:
                chosen.extend(cells or [over_all])
        return chosen

    def detail_cells(self) -> list[Cell]:
        """The full cells when the main rows do not show them already."""
        shown = set(self.main_cells())
        cells = self.full_cells()
        return [] if all(cell in shown for cell in cells) else cells

    def _measured(self, cell: Cell) -> bool:
        return any(self.has(name, judge=cell.judge, condition=cell.condition) for name in ("mean_rating", "mae"))

    def controls(self, question: str) -> list[Cell]:
        """The control judges that were scored on this question, in the order of the estimates."""
        found: dict[Cell, None] = {}
        for name in ("mae", "delta"):
            for row in self.rows(name, question=question, slice="all"):
                if row.judge.startswith("control:"):
                    found.setdefault(Cell(row.judge, row.condition))
        return list(found)

    def pair_controls(self, question: str, pair: tuple[str, str]) -> list[Cell]:
        """The control judges that say something of a pair: not the copies and mid-points of other pools."""
        a, b = pair
        own = {f"copy_{a}", f"copy_{b}", f"midpoint_{a}_{b}", f"midpoint_{b}_{a}"}
        found = []
        for cell in self.controls(question):
            name = cell.judge.removeprefix("control:")
            if not name.startswith(("copy_", "midpoint_")) or name.removesuffix("_rounded") in own:
                found.append(cell)
        return found

    def design(self, question: str) -> dict[str, Any]:
        """What the columns of a question's run mean (persona, language, blocks); empty where nobody says."""
        return dict((self.meta.get("designs") or {}).get(question) or {})

    def cultures(self, question: str, statistic: str = "tilt") -> list[str]:
        """The slices of one level of the items' culture that have estimates."""
        names = [name for name in self.slices if name.startswith("culture=") and "&" not in name]
        return [name for name in names if self.has(statistic, question=question, slice=name)]

    @property
    def slices(self) -> list[str]:
        """Slices other than the whole corpus, in their declared order."""
        return [name for name in self.meta.get("slices", []) if name != "all"]


def _forbidden(char: str) -> bool:
    return (unicodedata.category(char) in {"Cc", "Cs", "Co", "Cn"} and char not in "\n\t") or char in TURNING
