"""A corpus of pictures in concept pairs, with hostile texts, and a run of two judges on it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from tests.judging.engine_world import go, plan_of

from voirdire.app.view import view
from voirdire.browsing.library import Library
from voirdire.judging.export import export
from voirdire.judging.nouns import Call, CallFailed, Reply

HOSTILE = "<img src=x onerror=alert(1)></pre><script>alert(2)</script>{{ 7919 * 7 }}\u202etxt"
PAIRS = 30
BROKEN, OUTSIDE, DRAWN, MISSING = "p04-us", "p05-us", "p06-us", "p07-us"
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>'


def make_pictures(folder: Path) -> Path:
    """60 items in 30 pairs, rated 1 to 5 by two pools of three raters; one has a hostile description."""
    (folder / "images").mkdir(parents=True)
    items = ["item_id,pair_id,culture,image,prompt.en,prompt.zh,alt.en,note"]
    ratings = ["item_id,rater_id,pool,question,rating"]
    for pair in range(PAIRS):
        for side, culture in enumerate(("us", "cn")):
            name = f"p{pair:02d}-{culture}"
            picture = Image.new("RGB", (400, 300), (pair * 8, 100 + side * 100, 90))
            picture.save(folder / "images" / f"{name}.png")
            alt = f'"{HOSTILE}"' if name == "p02-us" else f"bowl {pair}"
            note = HOSTILE if name == "p02-us" else ""
            items.append(f"{name},p{pair:02d},{culture},images/{name}.png,How usual is it?,有多常见？,{alt},{note}")
            ratings += [
                f"{name},{pool}{rater},{pool},q1,{1 + (pair + rater + 2 * (pool == culture)) % 5}"
                for pool in ("us", "cn")
                for rater in range(3)
            ]
    (folder / "items.csv").write_text("\n".join(items) + "\n", encoding="utf-8")
    (folder / "ratings.csv").write_text("\n".join(ratings) + "\n")
    (folder / "questions.csv").write_text("question,role,level,min,max,text.en\nq1,evaluation,ordinal,1,5,How usual?\n")
    (folder / "corpus.toml").write_text('name = "pictures"\n')
    return folder


def answer(call: Call) -> Reply | Exception:
    """Ratings, but for three items: a reply without a number, a refusal, a failed call."""
    if call.item.id == "p02-us":
        return Reply(f"I would say {HOSTILE}")
    if call.item.id == "p03-us":
        return Reply("", refusal="policy")
    if call.item.id == "p03-cn":
        return CallFailed("request", f"no: {HOSTILE}", status=400)
    return Reply(str(1 + int(call.item.id[1:3]) % 5), reasoning="as seen")


def make_world(folder: Path) -> Library:
    """The corpus and the run, opened; afterwards some pictures are spoilt."""
    corpus = make_pictures(folder / "pictures")
    go(plan_of(corpus, ("acme/large", "acme/small"), "neutral"), folder / "run", answer)
    export(folder / "run")
    library = view([corpus, folder / "run"])
    images = corpus / "images"
    (images / f"{BROKEN}.png").write_bytes(b"\x89PNG\r\n\x1a\n not a picture")
    (folder / "secret.png").write_bytes((images / "p01-us.png").read_bytes())
    (images / f"{OUTSIDE}.png").unlink()
    (images / f"{OUTSIDE}.png").symlink_to(folder / "secret.png")
    (images / f"{DRAWN}.png").write_text(SVG)
    (images / f"{MISSING}.png").unlink()
    return library
