"""The profile: every estimate of a corpus and its judges, for every pool."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from voirdire import plugins
from voirdire.analysis.exhibits import DISTRIBUTIONS
from voirdire.analysis.item_tables import ItemTables, remove_tables
from voirdire.analysis.rows import COLUMNS, estimate_of
from voirdire.analysis.specifications import SPECIFICATIONS
from voirdire.errors import InputError, NotFoundError
from voirdire.estimate import Estimate

FORMAT = 1
ESTIMATES, PROFILE = "estimates.csv", "profile.json"
MOST_NAMED = 20


@dataclass(frozen=True)
class Profile:
    """All estimates with what is needed to read them.

    estimates : one row an estimate (see the reference page of the table)
    meta : what was read, computed and chosen; JSON-able
    distributions : question, kind (pool | judge), name, condition, level, share, count
    items : the items that split the pools most, with texts, consensuses and judges' ratings
    specifications : T, W and delta of each judge under every definition of the specification curve, with the choices;
        empty without judges and in a profile of an older version
    compared : what was compared item by item, where the profile was just made and the tables are wanted; written beside
        profile.json, which does not hold it, and None in a profile that was loaded
    """

    estimates: pl.DataFrame
    meta: Mapping[str, Any]
    distributions: pl.DataFrame
    items: pl.DataFrame
    specifications: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SPECIFICATIONS))
    compared: ItemTables | None = field(default=None, compare=False, repr=False)

    def get(
        self,
        statistic: str,
        *,
        params: str = "",
        question: str | None = None,
        pool: str = "",
        pool_b: str = "",
        judge: str = "",
        condition: str = "",
        slice: str = "all",  # noqa: A002
    ) -> Estimate:
        """One estimate. ``question`` may be left out when the profile has one question with this row.

        ``params`` may be left out when there is one row without, or only one at all (``alpha`` has ``level=...``).
        Raises NotFoundError (a KeyError) when there is no such row or more than one.
        """
        place = {"pool": pool, "pool_b": pool_b, "judge": judge, "condition": condition, "slice": slice}
        wanted = {"statistic": statistic, **place}
        if question is not None:
            wanted["question"] = question
        here = self._at(wanted)
        rows = here.filter(pl.col("params") == params)
        if params == "" and rows.is_empty():
            rows = here
        if rows.height != 1:
            raise self._not_found(wanted, here, rows)
        return estimate_of(rows.row(0, named=True))

    def _at(self, wanted: Mapping[str, str]) -> pl.DataFrame:
        here = [pl.col(name) == value for name, value in wanted.items()]
        return self.estimates.filter(pl.all_horizontal(here)) if here else self.estimates

    def _not_found(self, wanted: Mapping[str, str], here: pl.DataFrame, rows: pl.DataFrame) -> NotFoundError:
        """Says what could have been asked for instead, for the first part of the place that does not fit."""
        part, at = ("question" if rows.height and rows["params"].n_unique() == 1 else "params"), here
        if here.is_empty():
            names = list(wanted)
            steps = ((name, self._at({key: wanted[key] for key in names[:place]})) for place, name in enumerate(names))
            part, at = next((name, at) for name, at in steps if wanted[name] not in at[name])
        values = at[part].unique(maintain_order=True).to_list()
        known = ", ".join(repr(value) for value in values[:MOST_NAMED]) + (", ..." if len(values) > MOST_NAMED else "")
        asked = ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value)
        if not here.height and not wanted[part]:
            return NotFoundError("audit.estimate_left_out", asked=asked, part=part, known=known)
        return NotFoundError("audit.estimate_missing", asked=asked, count=rows.height, part=part, known=known)

    def to_html(self, path: str | Path | None = None, lang: str = "en") -> str:
        """The report as one self-contained HTML page; also written to ``path``."""
        page: str = plugins.load(plugins.RENDERERS, "html")(self, lang)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def save(self, directory: str | Path) -> None:
        """Write estimates.csv, the item-level tables where there are any, and last profile.json.

        Each is written whole or not at all. In estimates.csv a name that a spreadsheet would take for a formula has an
        apostrophe before it. Item-level tables of another profile that stood there are removed.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        document, file = self.to_json(), folder / PROFILE
        _write_whole(folder / ESTIMATES, spreadsheet_safe(self.estimates).write_csv)
        if not (file.is_file() and file.read_bytes() == document):
            remove_tables(folder)
        if self.compared is not None:
            self.compared.write(folder, hashlib.sha256(document).hexdigest())
        _write_whole(file, lambda part: part.write_bytes(document))

    def to_json(self) -> bytes:
        """The whole profile; signatures are kept in full."""
        document = {
            "format": FORMAT,
            "meta": self.meta,
            "estimates": _columns(self.estimates),
            "distributions": _columns(self.distributions),
            "items": _columns(self.items),
            "specifications": _columns(self.specifications),
        }
        return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)

    @classmethod
    def load(cls, path: str | Path) -> Profile:
        """Read an audit folder or a profile.json. Raises InputError when it is neither."""
        file = Path(path)
        file = file / PROFILE if file.is_dir() else file
        if not file.is_file():
            raise InputError("audit.profile_missing", file=str(path))
        try:
            document = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise InputError("audit.profile_broken", file=str(file), value=str(error)) from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError("audit.profile_broken", file=str(file), value="format")
        try:
            estimates = pl.DataFrame(document["estimates"], schema=COLUMNS)
            distributions, items = (_frame(document[name]) for name in ("distributions", "items"))
            specifications = pl.DataFrame(document.get("specifications", {}), schema=SPECIFICATIONS)
            return cls(estimates, document["meta"], distributions, items, specifications)
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError("audit.profile_broken", file=str(file), value=str(error)) from None

    def _repr_html_(self) -> str:
        """A rich view in notebooks: verdicts and pools."""
        summary: str = plugins.load(plugins.RENDERERS, "notebook")(self, "en")
        return summary

    def __repr__(self) -> str:
        """Short text: pools, judges and the number of estimates."""
        out = io.StringIO()
        pools = ", ".join(pool["name"] for pool in self.meta["pools"])
        out.write(f"Profile({self.estimates.height} estimates; pools {pools}; {len(self.meta['judges'])} judges)")
        return out.getvalue()


def spreadsheet_safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that a spreadsheet would take for a formula with an apostrophe before them; a lone ``-`` stays.

    >>> spreadsheet_safe(pl.DataFrame({"judge": ["=cmd()", "m"], "condition": ["-", "+1"]})).rows()
    [("'=cmd()", '-'), ('m', "'+1")]
    """
    return frame.with_columns(pl.col(pl.String).str.replace(r"(?s)^(?:[=+@\t\r]|-.)", "'$0"))


def _write_whole(file: Path, write: Callable[[Path], Any]) -> None:
    part = file.with_name(f".{file.name}.part")
    try:
        write(part)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _frame(columns: dict[str, list[Any]]) -> pl.DataFrame:
    """A table of the document; columns that are empty or all null have lost their type, texts for the most part."""
    frame = pl.DataFrame(columns, infer_schema_length=None)
    known = {name: DISTRIBUTIONS.get(name, pl.String) for name, dtype in frame.schema.items() if dtype == pl.Null}
    return frame.with_columns(pl.col(name).cast(dtype) for name, dtype in known.items())


def _columns(frame: pl.DataFrame) -> dict[str, list[Any]]:
    return {name: frame[name].to_list() for name in frame.columns}
