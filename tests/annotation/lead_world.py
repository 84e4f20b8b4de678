"""A small corpus of two cultures, a batch of it, and raters of two pools who rate it through the store."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from zlib import crc32

import numpy as np
from PIL import Image, ImageDraw

from voirdire.annotation.answers import save
from voirdire.annotation.assignments import assign, finish, work
from voirdire.annotation.batches import create_batch
from voirdire.annotation.database import Database
from voirdire.annotation.invitations import invite
from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.nouns import Assignment, Batch, BatchSpec, Given, Gold, Rater, Study
from voirdire.annotation.raters import join
from voirdire.annotation.study_defaults import for_pilot
from voirdire.annotation.study_file import read_study

NOW = 1_800_000_000.0
POOLS = ("us", "cn")
_KEYS = count()


def corpus_folder(folder: Path, pairs: int = 6, split: str = "test") -> Path:
    """Pairs of items, one of each culture, with images, prompts in two languages, and an item with a known answer."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = ["item_id,pair_id,culture,category,split,prompt.en,prompt.zh,image,alt.en,alt.zh"]
    for pair in range(pairs):
        for culture in POOLS:
            name = f"{culture}-{pair}"
            _draw(folder / "images" / f"{name}.png", pair, culture)
            category = "food" if pair % 2 else "dress"
            rows.append(
                f'{name},p{pair},{culture},{category},{split},"How inviting is this table, {pair}?",'
                f"“这张桌子 {pair} 有多诱人？”,images/{name}.png,A table set for {pair},为 {pair} 人摆好的桌子"
            )
    _draw(folder / "images" / "gold.png", 9, "us")
    rows.append("gold,,us,food,demonstration,Choose 5 here,请选 5,images/gold.png,A sign,一块牌子")
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "Tables"\n', encoding="utf-8")
    return folder


def _draw(file: Path, number: int, culture: str) -> None:
    picture = Image.new("RGB", (320, 240), (250, 240, 220) if culture == "us" else (230, 240, 250))
    pen = ImageDraw.Draw(picture)
    for k in range(number + 1):
        pen.ellipse((20 + 40 * k % 260, 60 + 30 * k % 120, 80 + 40 * k % 260, 120 + 30 * k % 120), fill=(180, 60, 40))
    picture.save(file)


def make_batch(
    database: Database, shown: Shown, *, kind: str = "rating", raters_per_item: int = 3, gold: bool = True, **numbers
) -> Batch:
    """A batch of all items but the one with a known answer, which everybody gets as a check."""
    study = read_study(shown.folder, shown, raters_per_item=raters_per_item, **numbers)
    if gold:
        study = replace(study, gold=(Gold("gold", "q1", ("5",)),))
    study = for_pilot(study) if kind == "pilot" else study
    items = tuple(name for name in shown.items if name != "gold")
    return create_batch(database, BatchSpec("Main", study, items, kind, shown.pairs), NOW)  # type: ignore[arg-type]


def joined(database: Database, batch: Batch, pool: str, raters: int, **attributes) -> list[Rater]:
    """Raters who have joined by one link."""
    invitation, _ = invite(database, batch.id, pool, now=NOW)
    language = batch.spec.study.pool(pool).languages[0]
    return [
        join(database, invitation, language=language, attributes=attributes, passed=True, now=NOW + k)
        for k in range(raters)
    ]


def answer(database: Database, rater: Rater, assignment: Assignment, values: dict[str, str], **more) -> None:
    """Answer some questions of an assignment."""
    for place, (question, value) in enumerate(values.items()):
        given = Given(
            f"key-{next(_KEYS):020d}", assignment.id, question, value,
            language=rater.language, **{"seconds": 5.0 + 2 * place, **more},
        )  # fmt: skip
        save(database, rater.id, given, NOW + 60)


def truth(study: Study, item: str, pool: str, rng: np.random.Generator) -> dict[str, str]:
    """What a rater of a pool answers: the pools differ on items of the other culture, and rate with some noise."""
    culture, _, number = item.partition("-")
    pair = int(number or 0)
    own = culture == pool
    worth = {"q1": 1 + pair % 5 if own else 5 - pair % 5, "q2": 5 if culture == "us" else 1, "q3": 2, "q4": 3}
    noisy = {name: int(np.clip(round(value + rng.normal(0, 0.6)), 1, 5)) for name, value in worth.items()}
    told = {asked.id: str(noisy[asked.id]) for asked in study.questions if asked.id in noisy}
    if item == "gold":
        told["q1"] = "5"
    if any(asked.id == "usable" for asked in study.questions):
        told["usable"] = "usable" if pair < 4 else "stereotype" if pair == 5 else rng.choice(["usable", "same"])
    return told


def rate(database: Database, batch: Batch, raters: list[Rater], *, seed: int = 0, most: int | None = None) -> None:
    """Each rater takes what there is and answers all of it, or so many.

    What the n-th rater answers hangs on the item alone, not on the order in which the lot shows the items.
    """
    for place, rater in enumerate(raters):
        assign(database, rater.id, NOW + 30)
        todo = [one for one in work(database, rater.id) if one.state == "open"]
        for number, one in enumerate(todo[:most]):
            shown = sum(earlier.item_id == one.item_id for earlier in todo[:number])
            rng = np.random.default_rng([seed, place, shown, crc32(one.item_id.encode())])
            seconds = float(rng.lognormal(2.8, 0.4))
            answer(database, rater, one, truth(batch.spec.study, one.item_id, rater.pool, rng), seconds=seconds)
        if most is None:
            finish(database, rater.id, NOW + 90)


def rated_world(database: Database, folder: Path, *, per_item: int = 3, **options) -> tuple[Shown, Batch]:
    """A corpus and a batch that both pools have rated whole."""
    shown = read_shown(corpus_folder(folder))
    batch = make_batch(database, shown, raters_per_item=per_item, **options)
    for place, pool in enumerate(POOLS):
        rate(database, batch, joined(database, batch, pool, per_item), seed=place)
    return shown, batch
