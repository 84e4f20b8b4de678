"""A draw as the tables that an audit reads, with the planted truth beside them, and as files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from voirdire.scales import Scale
from voirdire.simulation.judges import ABSENT, STATUSES
from voirdire.simulation.pools import Floats, RaterPool
from voirdire.simulation.truth import item_truth, judge_truth, planted_truth
from voirdire.simulation.world import Humans, Verdicts, World, draw_humans, draw_judges
from voirdire.texts import LANGUAGES, has, text

FORMATS = ("csv", "parquet")
MANIFEST, TRUTH = "corpus.toml", "truth.json"


@dataclass(frozen=True)
class SimulatedTables:
    """Long tables of one draw, by the contracts of the input files.

    items : item_id, pair_id, culture, category, text.<lang>
    questions : question, role, text.<lang>, level, min, max, labels, positive
    raters : rater_id, pool · ratings : item_id, rater_id, pool, question, rating
    judges : judge and its covariate · conditions : condition and its factors
    judgments : item_id, judge, condition, design (where there are some), question, repeat, rating (empty when there
        is none), status
    truth_items : item_id and the planted consensus of every pool, ``mu.<pool>``
    truth_judges : judge, condition and what was planted: offset, scale, permissiveness, ``w.<pool>``, ...
    truth : what was planted as one document: pools, pairs, and every cell with its W and PI
    """

    items: pl.DataFrame
    questions: pl.DataFrame
    raters: pl.DataFrame
    ratings: pl.DataFrame
    judges: pl.DataFrame
    conditions: pl.DataFrame
    judgments: pl.DataFrame
    truth_items: pl.DataFrame
    truth_judges: pl.DataFrame
    truth: Mapping[str, Any] = field(default_factory=dict)


def simulate_tables(world: World, seed: int, items: pl.DataFrame | None = None) -> SimulatedTables:
    """Draw a world and give its tables; the same world and seed give the same tables.

    items : columns to put in place of the items' texts, one row an item in the order of the strata

    >>> from voirdire.simulation.presets import paired_world
    >>> tables = simulate_tables(paired_world(items=12), seed=1)
    >>> tables.ratings.shape, tables.judgments.shape
    ((480, 5), (48, 7))
    """
    rng = np.random.default_rng(seed)
    humans = draw_humans(world, rng)
    verdicts = draw_judges(humans, rng)
    known = item_table(world)
    described = _texts(known) if items is None else items
    return SimulatedTables(
        items=pl.concat([known, described], how="horizontal"),
        questions=question_table(world),
        raters=_rater_table(world, known["item_id"]),
        ratings=rating_table(humans, known["item_id"]),
        judges=_judge_table(world),
        conditions=_condition_table(world),
        judgments=judgment_table(world, verdicts, known["item_id"]),
        truth_items=item_truth(humans, known["item_id"]),
        truth_judges=judge_truth(world),
        truth={"seed": seed, **planted_truth(humans)},
    )


def write_tables(tables: SimulatedTables, directory: Path | str, form: str = "csv") -> dict[str, Path]:
    """Write every table into a folder (made when absent) and return the files by the tables' names.

    form : csv or parquet. The same tables give the same bytes. Tables without columns are not written.
    """
    if form not in FORMATS:
        raise ValueError(f"form is one of {FORMATS}")  # noqa: TRY003
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for entry in fields(tables):
        table = getattr(tables, entry.name)
        if not isinstance(table, pl.DataFrame):
            continue
        if table.width == 0 or table.height == 0:
            continue
        path = folder / f"{entry.name}.{form}"
        table.write_csv(path) if form == "csv" else table.write_parquet(path)
        written[entry.name] = path
    return written


def write_truth(directory: Path | str, tables: SimulatedTables) -> Path:
    """Write truth.json, what was planted."""
    file = Path(directory) / TRUTH
    file.write_text(json.dumps(tables.truth, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    return file


def write_manifest(directory: Path | str, name: str, files: Iterable[Path]) -> Path:
    """Write corpus.toml: name, languages, licence, ``simulated = true`` and the digests of the files."""
    folder = Path(directory)
    lines = [
        f"name = {json.dumps(name, ensure_ascii=False)}",
        'version = "1"',
        "simulated = true",
        'languages = ["en", "zh"]',
    ]
    lines += ['licence = "Apache-2.0"', "", "[digests]"]
    lines += [f'"{path.name}" = "sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"' for path in sorted(files)]
    manifest = folder / MANIFEST
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return manifest


def write_readme(directory: Path | str, kind: str, seed: int) -> Path:
    """Write README.md in both languages: nobody rated this, and what the files are. kind : simulated or demo."""
    readme = Path(directory) / "README.md"
    said = [text(f"simulation.readme.{kind}", lang, seed=seed).strip() for lang in LANGUAGES]
    readme.write_text("\n\n".join(said) + "\n", encoding="utf-8", newline="\n")
    return readme


def item_table(world: World) -> pl.DataFrame:
    """item_id, pair_id, culture, category in the order of the strata; equal ranks of a category make a pair.

    >>> from voirdire.simulation.presets import paired_world
    >>> item_table(paired_world(items=12))["item_id"].to_list()[:2]
    ['food-001-us', 'food-002-us']
    """
    rows: list[tuple[str, str, str, str]] = []
    seen: dict[tuple[str, str], int] = {}
    for stratum in world.strata:
        place = (stratum.culture, stratum.category)
        first = seen.get(place, 0)
        seen[place] = first + stratum.items
        for rank in range(first + 1, first + stratum.items + 1):
            pair = f"{stratum.category}-{rank:03d}"
            rows.append((f"{pair}-{stratum.culture}", pair, stratum.culture, stratum.category))
    return pl.DataFrame(rows, schema=["item_id", "pair_id", "culture", "category"], orient="row")


def question_table(world: World) -> pl.DataFrame:
    """One row a question; texts from the catalogue where it has them."""
    role = "evaluation" if world.side else None
    asked = [(world.main, role, world.scale), *((side.id, side.role, side.scale) for side in world.side)]
    rows = []
    for name, part, scale in asked:
        row: dict[str, str | float | None] = {"question": name, "role": part}
        row |= {f"text.{lang}": _question_text(part, lang, world.pool_names) for lang in LANGUAGES}
        row |= {"level": scale.level, "min": scale.low, "max": scale.high}
        rows.append(row | {"labels": "|".join(scale.labels) or None, "positive": scale.positive})
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.select(column for column in table if column.null_count() < table.height)


def rating_table(humans: Humans, item_ids: pl.Series) -> pl.DataFrame:
    """Ratings of every question, long; a rater who was not asked has no row."""
    world, parts = humans.world, []
    scales = {world.main: world.scale} | {side.id: side.scale for side in world.side}
    worded = any(scale.labels for scale in scales.values())
    for question, blocks in humans.ratings.items():
        for pool, block in zip(world.pools, blocks, strict=True):
            item, slot = np.nonzero(~np.isnan(block))
            columns = {
                "item_id": item_ids.gather(item),
                "rater_id": _rater_ids(pool, item_ids, item, slot),
                "pool": pl.repeat(pool.name, len(item), eager=True),
                "question": pl.repeat(question, len(item), eager=True),
                "rating": _written(block[item, slot], scales[question], worded),
            }
            parts.append(pl.DataFrame(columns))
    return pl.concat(parts, how="vertical_relaxed")


def judgment_table(world: World, verdicts: Verdicts, item_ids: pl.Series) -> pl.DataFrame:
    """Judgments of the main question, long; the rating is empty unless the status is ``ok``."""
    shape = verdicts.ratings.shape
    place = [np.broadcast_to(axis, shape).ravel() for axis in np.ogrid[tuple(slice(n) for n in shape)]]
    status = pl.Series(STATUSES, dtype=pl.String).gather(verdicts.status.ravel())
    rating = _written(verdicts.ratings.ravel(), world.scale, worded=bool(world.scale.labels))
    settings = world.settings
    columns = {
        "item_id": item_ids.gather(place[3]),
        "judge": pl.Series(list(world.judges), dtype=pl.String).gather(place[0]),
        "condition": pl.Series([condition.name for condition, _ in settings]).gather(place[1]),
        "design": pl.Series([design.name if design else None for _, design in settings], dtype=pl.String).gather(
            place[1]
        ),
        "question": pl.repeat(world.main, len(status), eager=True),
        "repeat": pl.Series(place[2] + 1, dtype=pl.Int32),
        "rating": rating,
        "status": status,
    }
    table = pl.DataFrame(columns).filter(pl.col("status") != STATUSES[ABSENT])
    return table if world.designs else table.drop("design")


def _written(values: Floats, scale: Scale, worded: bool) -> pl.Series:
    numbers = pl.Series(values, nan_to_null=True)
    if scale.labels:
        return pl.Series(scale.labels, dtype=pl.String).gather(numbers.cast(pl.UInt32))
    whole = numbers.cast(pl.Int64) if scale.level_values and float(scale.level_values[0]).is_integer() else numbers
    return whole.cast(pl.String) if worded else whole


def _rater_ids(pool: RaterPool, item_ids: pl.Series, item: np.ndarray, slot: np.ndarray) -> pl.Series:
    numbers = pl.Series([str(rank + 1) for rank in range(pool.raters)]).gather(slot)
    if pool.layout == "nested":
        return pl.Series([f"{pool.name}-"]) + item_ids.gather(item) + "-" + numbers
    kind = "slot-" if pool.layout == "slots" else ""
    return pl.Series([f"{pool.name}-{kind}"]) + numbers


def _rater_table(world: World, item_ids: pl.Series) -> pl.DataFrame:
    parts = []
    for pool in world.pools:
        items = np.arange(len(item_ids)) if pool.layout == "nested" else np.zeros(1, dtype=int)
        item, slot = np.repeat(items, pool.raters), np.tile(np.arange(pool.raters), len(items))
        ids = _rater_ids(pool, item_ids, item, slot)
        parts.append(pl.DataFrame({"rater_id": ids, "pool": pl.repeat(pool.name, len(ids), eager=True)}))
    return pl.concat(parts)


def _judge_table(world: World) -> pl.DataFrame:
    rows = [{"judge": name, world.covariate: world.origins.get(name)} for name in world.judges]
    table = pl.DataFrame(rows, schema={"judge": pl.String, world.covariate: pl.String})
    return table if world.origins else table.drop(world.covariate)


def _condition_table(world: World) -> pl.DataFrame:
    return pl.DataFrame(
        [{"condition": entry.name, **entry.factors} for entry in world.conditions], infer_schema_length=None
    )


def _texts(items: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {f"text.{lang}": text("simulation.item", lang, item=item) for lang in LANGUAGES} for item in items["item_id"]
    ]
    return pl.DataFrame(rows)


def _question_text(role: str | None, lang: str, pools: Sequence[str]) -> str | None:
    key = f"simulation.question.{role}"
    ends = {"first": _culture(pools[0], lang), "last": _culture(pools[-1], lang)}
    return text(key, lang, **ends) if has(key, lang) else None


def _culture(name: str, lang: str) -> str:
    key = f"simulation.culture.{name}"
    return text(key, lang) if has(key, lang) else name
