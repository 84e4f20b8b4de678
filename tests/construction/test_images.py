"""Images of a small corpus from a server that draws on the spot."""

from __future__ import annotations

import asyncio
import csv
import errno
import itertools
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.construction.image_world import ENVIRONMENT, QUICK, corpus, make
from tests.construction.mock_images import KEY, State, picture, serving

from voirdire.app.build_images import build_images
from voirdire.cli.build_images import document, end_lines
from voirdire.construction.authoring import assign, move
from voirdire.construction.imaging import files, shelf
from voirdire.construction.imaging.choosing import drawn_evenly
from voirdire.construction.imaging.logbook import read_log
from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import RunStopped
from voirdire.judging.status import read_status


def log_of(folder: Path, regime: str = "generated") -> dict[str, dict[str, Any]]:
    rows = map(json.loads, (folder / "images.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["item_id"]: row for row in rows if row["current"] and row["regime"] == regime}


def kinds(result: Any) -> dict[str, list[str]]:
    """Item -> the kinds of its problems."""
    found: dict[str, list[str]] = {}
    for problem in result.checked.problems:
        for item in problem.items:
            found.setdefault(item, []).append(problem.kind)
    return found


def reword(folder: Path, item: str, realisation: str) -> None:
    with (folder / "concepts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if f"{row['concept']}-{row['culture']}" == item:
            row["realisation"] = realisation
    with (folder / "concepts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_all_images_of_a_corpus(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    with serving() as (url, state):
        result = make(folder, url, price=0.1)
    assert (result.stopped, result.checked.problems) == (None, ())
    assert (result.spent.dollars, result.spent_in_all.counted) == (pytest.approx(0.6), pytest.approx(0.6))
    assert state.drawn.total() == 6
    log = log_of(folder)
    for place in range(3):
        for culture in ("us", "cn"):
            row = log[f"c{place}-{culture}"]
            data = (folder / row["file"]).read_bytes()
            prompt = f"A photograph of thing {place} of {culture}, eye level, soft daylight."
            assert data == picture(prompt, "gemini", (1024, 1024))
            assert row["prompt"] == prompt
            assert (row["width"], row["height"], row["media_type"]) == (1024, 1024, "image/png")
            assert row["served_model"] == state.served
            assert row["model"] == "gemini-3-pro-image-preview"
            assert row["cost_usd"] == 0.1
            assert row["at"].startswith("20")
    assert {row["batch"] for row in log.values()} == {result.batch}


def test_matched_parameters_across_pairs(tmp_path: Path) -> None:
    """What is sent for the members of a pair, and for all pairs, differs in the realisation and in nothing else."""
    folder = corpus(tmp_path / "c")
    with serving() as (url, state):
        make(folder, url)
    sent = [json.dumps(body) for body in state.bodies]
    for place in range(3):
        for culture in ("us", "cn"):
            sent = [body.replace(f"thing {place} of {culture}", "@") for body in sent]
    assert len(sent) == 6
    assert len(set(sent)) == 1
    assert len(set(state.paths)) == 1
    own = [
        {n: v for n, v in one.items() if n not in ("X-Client-Request-Id", "Content-Length")} for one in state.headers
    ]
    assert all(one == own[0] for one in own)


def test_blocks_failures_and_damage_are_told_apart(tmp_path: Path) -> None:
    words = {
        "c0-us": "BLOCK", "c0-cn": "SORRY", "c1-us": "SILENT", "c1-cn": "NEVER", "c2-us": "TRUNCATED",
        "c2-cn": "CORRUPT", "c3-us": "TWICE429", "c3-cn": "TWICE500", "c4-us": "WRONGSIZE",
    }  # fmt: skip
    folder = corpus(tmp_path / "c", 5, words)
    with serving() as (url, state):
        result = make(folder, url, price=0.1)
        again = make(folder, url, price=0.1)
    log = log_of(folder)
    statuses = {item: row["status"] for item, row in log.items()}
    wanted = {"c0-us": "refused", "c0-cn": "refused", "c1-us": "malformed", "c1-cn": "error"}
    assert statuses == {item: wanted.get(item, "ok") for item in statuses}
    assert log["c0-us"]["note"] == "PROHIBITED_CONTENT"
    assert log["c0-cn"]["note"] == "I'm sorry, but I can't create that image."
    assert "500" in log["c1-cn"]["note"] or "internal" in log["c1-cn"]["note"]
    attempts = {item: row["attempts"] for item, row in log.items()}
    assert attempts == {
        "c0-us": 1, "c0-cn": 1, "c1-us": 6, "c1-cn": 6, "c2-us": 2, "c2-cn": 2, "c3-us": 3, "c3-cn": 3, "c4-us": 1,
        "c4-cn": 1,
    }  # fmt: skip
    assert kinds(result) == {**{item: [kind] for item, kind in wanted.items()}, "c4-us": ["ratio"]}
    assert again.progress.done == 10
    assert state.calls.total() == sum(attempts.values())
    assert not (folder / "images" / "generated" / "c0-us.png").exists()


def test_a_reply_without_a_known_cost_counts_fully(tmp_path: Path) -> None:
    """A block may have been charged: the budget counts it, the log does not claim it."""
    folder = corpus(tmp_path / "c", 2, {"c0-us": "BLOCK"})
    with serving() as (url, _):
        result = make(folder, url, price=0.25, budget=0.75, concurrency=1)
    assert result.stopped is not None
    assert result.stopped.fields["held"] == "0.2500"
    assert log_of(folder)["c0-us"]["cost_usd"] is None
    assert [row["status"] for row in log_of(folder).values()] == ["refused", "ok", "ok", "pending"]
    assert (result.spent.known, result.spent.unknown) == (0.5, 1)
    assert (result.spent_in_all.held, result.spent_in_all.counted) == (0.25, 0.75)
    costs = "of generated: $0.5000+; of all regimes of the folder: $0.5000+."
    lines = "\n".join(end_lines(result, "en"))
    assert costs in lines
    assert "--budget counts $0.2500 more: $0.7500 in all." in lines


def test_images_that_were_paid_for_and_cut_off_count_over_sessions(tmp_path: Path) -> None:
    """A proxy cuts every reply: the image was drawn, so no session asks for more than the budget allows."""
    folder = corpus(tmp_path / "c", 2, dict.fromkeys(("c0-us", "c0-cn", "c1-us", "c1-cn"), "CUTOFF"))
    with serving() as (url, state):
        for _ in range(2):
            result = make(folder, url, price=0.25, budget=0.75)
            assert state.drawn.total() == 3
    assert result.stopped is not None
    assert (result.stopped.key, result.stopped.fields["held"]) == ("build_images.stopped_budget", "0.7500")
    assert (result.spent_in_all.known, result.spent_in_all.counted) == (0, 0.75)


def test_what_a_regime_cost_and_what_the_folder_did(tmp_path: Path) -> None:
    """Two regimes of one maker, and one without any image of a model: each tells its own, and the same in all."""
    folder = corpus(tmp_path / "c", 2)
    source = photos(tmp_path / "p", "c0-us", "c0-cn")
    with serving() as (url, _):
        first = make(folder, url, price=0.5)
        second = make(folder, url, price=0.25, regime="second", subset="1")
        free = make(folder, "", base_url=None, source=source, environment={})
        first_again = make(folder, url, price=0.5)
    own = [one.spent.dollars for one in (first, second, free, first_again)]
    assert own == [2.0, 0.5, 0.0, 2.0]
    assert [one.spent_in_all.dollars for one in (first, second, free, first_again)] == [2.0, 2.5, 2.5, 2.5]
    said = "\n".join(end_lines(free, "en"))
    assert "Cost of the images of photographs: free; of all regimes of the folder: $2.50." in said
    told = document(first_again, "en")
    assert (told["cost_usd"], told["folder_cost_usd"], told["folder_counted_usd"]) == (2.0, 2.5, 2.5)


def test_the_budget_is_a_hard_stop(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 4)
    with serving(State(latency=0.05)) as (url, state):
        result = make(folder, url, price=0.25, budget=0.9)
        assert state.drawn.total() == 3
        assert isinstance(result.stopped, RunStopped)
        assert result.stopped.key == "build_images.stopped_budget"
        assert result.stopped.exit_code == 4
        assert make(folder, url, price=0.25, budget=2.0).stopped is None
        assert state.drawn.total() == 8
    with pytest.raises(UsageError, match="price"):
        make(folder, url, budget=2.0)


def test_two_regimes_differ(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2)
    with serving() as (url, state):
        make(folder, url)
        second = {"provider": "openai", "model": "gpt-image-1", "base_url": f"{url}/v1", "regime": "second"}
        result = make(folder, url, **second)
    assert {len(log_of(folder, name)) for name in ("generated", "second")} == {4}
    first, other = ((folder / log_of(folder, name)["c0-us"]["file"]).read_bytes() for name in ("generated", "second"))
    assert first != other
    assert result.batch.endswith("-second")
    assert state.paths[-1] == "/v1/images/generations"
    assert state.headers[-1]["Authorization"] == f"Bearer {KEY}"
    body = state.bodies[-1]
    assert (body["model"], body["n"], body["size"]) == ("gpt-image-1", 1, "1024x1024")
    assert log_of(folder, "second")["c0-us"]["served_model"] is None


def test_openai_filters_addresses_and_rewriting(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2, {"c0-us": "BLOCK", "c0-cn": "ADDRESS", "c1-us": "REWRITTEN"})
    with serving() as (url, _):
        result = make(folder, url, provider="openai", model="m", base_url=f"{url}/v1")
    log = log_of(folder)
    assert [log[item]["status"] for item in ("c0-us", "c0-cn", "c1-us")] == ["refused", "error", "ok"]
    assert "safety system" in log["c0-us"]["note"]
    assert "b64_json" in log["c0-cn"]["note"]
    assert kinds(result)["c1-us"] == ["rewritten"]


def test_a_server_without_a_key(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 1)
    with serving() as (url, state):
        make(folder, url, provider="compatible", model="flux", base_url=f"{url}/v1", environment={})
    assert "Authorization" not in state.headers[0]
    assert len(log_of(folder)) == 2


def test_a_key_must_be_there(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 1)
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        build_images(folder, environment={}, limits=QUICK)
    assert not (folder / "image-run").exists()


def test_from_a_notebook(tmp_path: Path) -> None:
    """Also where an event loop is running."""
    folder = corpus(tmp_path / "c", 1)

    async def cell() -> Any:
        return make(folder, url)

    with serving() as (url, _):
        assert asyncio.run(cell()).stopped is None


def test_all_images_of_a_regime_are_made_alike(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 1)
    with serving() as (url, state):
        make(folder, url)
        for change in ({"model": "other"}, {"provider": "openai", "model": "m"}):
            with pytest.raises(InputError) as caught:
                make(folder, url, **change)
            assert caught.value.key == "build_images.regime_changed"
        text = (folder / "build.toml").read_text("utf-8")
        (folder / "build.toml").write_text(text.replace("soft daylight", "harsh light"), encoding="utf-8")
        with pytest.raises(InputError, match="template"):
            make(folder, url)
        make(folder, url, regime="harsh")
    assert state.drawn.total() == 4


def test_a_new_wording_is_a_new_image_and_the_old_one_stays(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2)
    with serving() as (url, state):
        make(folder, url)
        before = log_of(folder)["c0-us"]
        reword(folder, "c0-us", "something else")
        result = make(folder, url, subset=str(_file(tmp_path / "s", "c1")))
        assert kinds(result) == {"c0-us": ["stale"]}
        assert state.drawn.total() == 4
        make(folder, url)
        assert state.drawn.total() == 5
        after = log_of(folder)["c0-us"]
        assert after["sha256"] != before["sha256"]
        kept = list((folder / "image-run" / "replaced" / "generated").iterdir())
        assert [path.name for path in kept] == [f"c0-us-{before['sha256'][:16]}.png"]
        reword(folder, "c0-us", "thing 0 of us")
        result = make(folder, url)
    assert state.drawn.total() == 5
    assert result.checked.problems == ()
    assert log_of(folder)["c0-us"]["sha256"] == before["sha256"]
    assert [row.status for row in read_log(folder) if row.item == "c0-us"] == ["ok", "ok"]


def test_drawn_anew(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2, {"c0-us": "BLOCK"})
    with serving() as (url, state):
        make(folder, url)
        make(folder, url, again=("c0-us", "c1"))
        assert state.calls.total() == 7
        make(folder, url)
        assert state.calls.total() == 7
        with pytest.raises(UsageError, match="c9"):
            make(folder, url, again=("c9",))
    assert {item: row["draw"] for item, row in log_of(folder).items()} == {
        "c0-us": 2, "c0-cn": 1, "c1-us": 2, "c1-cn": 2,
    }  # fmt: skip


def test_a_subset_keeps_pairs_and_is_drawn_evenly(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 6)
    with serving() as (url, _):
        make(folder, url, subset="4", seed=3)
    log = log_of(folder)
    concepts = {row["concept"] for row in log.values()}
    assert len(concepts) == 4
    assert len(log) == 8
    assert [sum(row["category"] == name for row in log.values()) for name in ("k0", "k1")] == [4, 4]
    for wrong in ("0", "7", str(tmp_path / "nowhere"), str(_file(tmp_path / "s", "c77"))):
        with pytest.raises((UsageError, InputError)):
            make(folder, url, subset=wrong)


def test_a_larger_subset_holds_the_smaller_one() -> None:
    categories = {f"c{place}": f"k{place % 3}" for place in range(20)}
    drawn = [drawn_evenly(categories, count, np.random.default_rng(7)) for count in range(1, 21)]
    for smaller, larger in itertools.pairwise(drawn):
        assert larger[:-1] == smaller
        counts = Counter(categories[name] for name in larger)
        assert max(counts.values()) - min(counts[name] for name in ("k0", "k1")) <= 1 or len(larger) > 18
    assert sorted(drawn[-1]) == sorted(categories)
    assert drawn[-1] != drawn_evenly(categories, 20, np.random.default_rng(8))


def _file(path: Path, *lines: str) -> Path:
    path.write_text("# concepts\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def photos(folder: Path, *items: str, form: tuple[int, int] = (900, 600)) -> Path:
    folder.mkdir(exist_ok=True)
    for item in items:
        (folder / f"{item}.jpg").write_bytes(picture(item, "photo", form, "JPEG"))
    return folder


def test_photographs_keep_the_pairing(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 3)
    source = photos(tmp_path / "p", "c0-us", "c0-cn", "c2-us", "c2-cn")
    with serving() as (url, state):
        make(folder, url)
        calls = state.calls.total()
        result = make(folder, "", base_url=None, source=source, environment={})
        assert state.calls.total() == calls
    log = log_of(folder, "photographs")
    assert set(log) == {"c0-us", "c0-cn", "c2-us", "c2-cn"} < set(log_of(folder))
    assert (result.progress.free, result.checked.problems) == (True, ())
    for item, row in log.items():
        assert (folder / row["file"]).read_bytes() == (source / f"{item}.jpg").read_bytes()
        assert row["file"] == f"images/photographs/{item}.jpg"
        assert row["cost_usd"] is None


def test_photographs_that_cannot_be_taken(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 3)
    own = {"base_url": None, "environment": {}}
    for case, items in {"photo_missing": ("c0-us",), "photo_none": ()}.items():
        with pytest.raises(InputError) as caught:
            make(folder, "", source=photos(tmp_path / case, *items), **own)
        assert caught.value.key == f"build_images.{case}"
    source = photos(tmp_path / "p", "c0-us", "c0-cn")
    with pytest.raises(InputError, match="c1-us"):
        make(folder, "", source=source, subset="3", **own)
    (source / "c0-us.png").write_bytes(b"")
    with pytest.raises(InputError, match="c0-us"):
        make(folder, "", source=source, **own)
    with pytest.raises(UsageError):
        make(folder, "", source=tmp_path / "nowhere", **own)
    for wrong in ({"provider": "folder"}, {"source": source, "provider": "gemini"}, {"source": source, "model": "m"}):
        with pytest.raises(UsageError):
            make(folder, "", **{**own, **wrong})


def test_a_damaged_photograph_and_one_with_its_place(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2)
    source = photos(tmp_path / "p", "c0-us", "c0-cn", "c1-us")
    photos(source, "c1-cn", form=(600, 900))
    (source / "c0-us.jpg").write_bytes((source / "c0-us.jpg").read_bytes()[:900])
    exif = Image.Exif()
    exif.get_ifd(0x8825)[1] = "N"
    with Image.open(source / "c0-cn.jpg") as image:
        image.load()
        image.save(source / "c0-cn.jpg", exif=exif)
    result = make(folder, "", base_url=None, source=source, environment={})
    assert kinds(result) == {"c0-us": ["error"], "c0-cn": ["located"], "c1-us": ["shapes"], "c1-cn": ["shapes"]}
    assert result.stopped is None


def test_what_is_checked(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 4)
    with serving() as (url, state):
        make(folder, url)
        place = folder / "images" / "generated"
        (place / "c0-us.png").unlink()
        (place / "c0-cn.png").write_bytes(b"\x89PNG broken")
        shutil.copy(place / "c1-us.png", place / "c2-us.png")
        shutil.copy(place / "c3-us.png", place / "c3-cn.png")
        state.served = "another-model"
        make(folder, url, again=("c1-cn",))
        result = make(folder, url)
    found = kinds(result)
    assert found["c0-us"] == ["missing"]
    assert found["c0-cn"] == ["broken"]
    assert found["c2-us"] == ["changed", "alike"]
    assert found["c3-cn"] == ["changed", "alike_pair"]
    assert found["c1-us"] == ["served", "alike"]
    assert found["c1-cn"] == ["served"]
    assert state.calls.total() == 9


def test_kinds_of_image(tmp_path: Path) -> None:
    """The name of a file is that of its bytes."""
    folder = corpus(tmp_path / "c", 1)
    with serving(State(kind="WEBP")) as (url, state):
        make(folder, url)
        assert {row["file"] for row in log_of(folder).values()} == {
            f"images/generated/c0-{n}.webp" for n in ("us", "cn")
        }
        state.kind = "JPEG"
        make(folder, url, again=("c0-us",))
    assert log_of(folder)["c0-us"]["file"] == "images/generated/c0-us.jpg"
    assert sorted(path.name for path in (folder / "images" / "generated").iterdir()) == ["c0-cn.webp", "c0-us.jpg"]


def test_concepts_that_cannot_get_images(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2)
    text = (folder / "concepts.csv").read_text("utf-8")
    for old, new, key in (
        ("thing 0 of us", "", "no_realisation"),
        ("c1,k1,cn", "c3,k1,cn", "pair_broken"),
    ):
        (folder / "concepts.csv").write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            build_images(folder, environment=ENVIRONMENT, limits=QUICK)
        assert caught.value.key == f"build_images.{key}"
        assert "concepts.csv" in str(caught.value)


def test_rejected_concepts_are_left_out(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 2)
    lines = (folder / "concepts.csv").read_text("utf-8").splitlines()
    marked = [f"{line},{'rejected' if line.startswith('c0') else ''}" for line in lines[1:]]
    (folder / "concepts.csv").write_text("\n".join([f"{lines[0]},split", *marked]), encoding="utf-8")
    with serving() as (url, _):
        result = make(folder, url)
    assert result.rejected == ("c0",)
    assert set(log_of(folder)) == {"c1-us", "c1-cn"}


def test_concepts_that_a_reviewer_rejected_are_left_out(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    (folder / "build.toml").write_text('authors = ["ana", "bo", "chen"]\n' + (folder / "build.toml").read_text("utf-8"))
    first = assign(folder)[0]
    move(folder, "submit", first.concept, first.author)
    move(folder, "reject", first.concept, first.reviewer, reason="stereotype", note="Only the clothes differ.")
    (tmp_path / "some.txt").write_text(first.concept)
    with serving() as (url, state):
        with pytest.raises(InputError) as error:
            make(folder, url, subset=str(tmp_path / "some.txt"))
        result = make(folder, url)
    assert error.value.key == "build_images.subset_rejected"
    assert (result.rejected, state.drawn.total()) == ((first.concept,), 4)


def test_a_maker_that_only_fails_is_left_alone(tmp_path: Path) -> None:
    folder = corpus(
        tmp_path / "c", 8, {f"c{place}-{name}": "BADREQUEST" for place in range(8) for name in ("us", "cn")}
    )
    with serving() as (url, state):
        result = make(folder, url)
    assert result.stopped is not None
    assert result.stopped.key == "build_images.stopped_maker"
    assert KEY not in str(result.stopped)
    assert state.calls.total() < 16 + 10
    assert {row["status"] for row in log_of(folder).values()} == {"pending"}


@pytest.mark.parametrize("where", ["shelf", "files"])
def test_a_full_disk_stops_the_spending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """What was received goes on from the shelf where it is safe there."""
    folder = corpus(tmp_path / "c", 4)
    written: list[Path] = []
    whole = files.write_through

    def full(path: Path, data: bytes) -> None:
        written.append(path)
        if len(written) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        whole(path, data)

    with serving() as (url, state):
        with monkeypatch.context() as patch:
            patch.setattr(shelf if where == "shelf" else files, "write_through", full)
            with pytest.raises(RunStopped) as caught:
                make(folder, url, concurrency=1)
        assert (caught.value.key, caught.value.exit_code) == ("build_images.disk", 4)
        assert "No space left" in str(caught.value)
        assert state.calls.total() == 3
        assert make(folder, url).stopped is None
        assert state.calls.total() == 8 + (where == "shelf")


def test_a_file_that_leads_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 1)
    with serving() as (url, _):
        make(folder, url)
        place = folder / "images" / "generated" / "c0-us.png"
        place.rename(tmp_path / "elsewhere.png")
        place.symlink_to(tmp_path / "elsewhere.png")
        result = make(folder, url)
    assert kinds(result) == {"c0-us": ["stray"]}
    assert set(result.checked.looks) == {"c0-cn"}


def test_the_run_folder_is_one_like_any_other(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c", 1)
    with serving() as (url, _):
        make(folder, url, price=0.1)
    status = read_status(folder / "image-run")
    assert status.cells == (("gemini/gemini-3-pro-image-preview", "generated", "ok", 2),)
    assert status.cost == {"gemini/gemini-3-pro-image-preview": pytest.approx(0.2)}
