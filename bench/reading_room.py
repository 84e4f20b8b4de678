"""How long the reading room takes for pages of 100,000 items with a million ratings and 30 million judgments.

``python bench/reading_room.py [ITEMS]`` prints milliseconds of each page, as the server takes them, and peak memory.
The first page includes what is worked out once for a shelf.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
from starlette.testclient import TestClient

from voirdire.analysis.options import AuditOptions
from voirdire.browsing.library import Library, Shelf
from voirdire.corpus.corpus import Coded, CodedQuestion, Corpus, Judgments, Question
from voirdire.scales import Scale
from voirdire.web.room.application import make_room

JUDGES, CONDITIONS, RATERS = 6, 50, 5
PAGES = (
    "", "", "?sort=gap", "?sort=tilt&judge=judge-3&page=900", "?text=number+77", "?view=pairs&sort=gap",
    "?anchor=contested&by.culture=us&sort=disagreement&page=200", "/77?sort=gap", "/78?sort=gap",
)  # fmt: skip


def rated(count: int, rng: np.random.Generator) -> Corpus:
    """Items in pairs with a text, rated by five raters of each of two pools."""
    ids = pl.Series("item_id", [f"item-{place:06d}" for place in range(count)])
    items = pl.DataFrame(
        {
            "item_id": ids,
            "pair_id": [f"pair-{place // 2}" for place in range(count)],
            "culture": (["us", "cn"] * count)[:count],
            "text": [f"text number {place} about tea and rice in a longer sentence" for place in range(count)],
        }
    )
    rater = np.repeat(np.arange(2 * RATERS), count)
    ratings = pl.DataFrame(
        {
            "item_id": ids.gather(np.tile(np.arange(count), 2 * RATERS)),
            "rater_id": pl.Series([f"r{place}" for place in range(2 * RATERS)]).gather(rater),
            "pool": pl.Series(["us", "cn"]).gather(rater // RATERS),
            "question": pl.repeat("q1", len(rater), eager=True),
            "value": rng.integers(1, 6, len(rater)).astype(float),
        }
    )
    means = {"item_id": pl.String, "pool": pl.String, "question": pl.String, "value": pl.Float64, "n": pl.Int64}
    asked = Question("q1", Scale("ordinal", 1, 5))
    return Corpus(items, (asked,), ("us", "cn"), ratings, pl.DataFrame(schema=means))


def judged(items: pl.Series, rng: np.random.Generator) -> Judgments:
    """Judgments of six judges under fifty conditions, one in six malformed."""
    names = [f"judge-{place}" for place in range(JUDGES)]
    conditions = [f"c{place}/{design}" for place in range(CONDITIONS // 5) for design in "abcde"]
    cells = pl.DataFrame({"judge": np.repeat(names, CONDITIONS), "condition": np.tile(conditions, JUDGES)})
    codes = rng.integers(-1, 5, (cells.height, len(items), 1), dtype=np.int8)
    status = np.where(codes < 0, 2, 1).astype(np.uint8)
    coded = CodedQuestion(
        np.arange(cells.height), (1,), codes, np.arange(1.0, 6.0), status, ("absent", "ok", "malformed")
    )
    return Judgments(Coded(items, {"q1": coded}), cells, pl.DataFrame({"judge": names}))


def main(count: int) -> None:
    """Print what every page takes."""
    rng = np.random.default_rng(1)
    corpus = rated(count, rng)
    said = judged(corpus.items["item_id"], rng)
    shelf = Shelf("big", "big", "corpus", Path(), None, corpus.items, corpus, AuditOptions(), judged=(said,))
    client = TestClient(make_room(Library((shelf,))), base_url="http://127.0.0.1")
    for page in PAGES:
        begun = time.perf_counter()
        answer = client.get(f"/items/big{page}")
        print(f"{(time.perf_counter() - begun) * 1000:8.0f} ms  {answer.status_code}  /items/big{page}")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MB at most")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
