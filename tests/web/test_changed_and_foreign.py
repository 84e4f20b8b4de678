"""The service with a corpus that has changed, and with a pool that reads another language than the pages have."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.annotation.study_corpora import corpus as small_corpus
from tests.annotation.study_corpora import item, toml
from tests.annotation.test_study_languages import KOREAN, PILOT, in_korean
from tests.construction.building import make, pairs
from tests.web.leads import Lead, people, rate
from tests.web.running import InProcess

from voirdire.cli.annotate import _write_template, lines
from voirdire.cli.main import run
from voirdire.corpus.corpus import Note
from voirdire.errors import UsageError
from voirdire.web.serving import FirstBatch, export_batch, prepare
from voirdire.web.settings import Settings

PILOT_FORM = {"name": "Try", "kind": "pilot", "ids": "a1", "raters_per_item": "2"}


@pytest.mark.parametrize(("more", "status"), [({}, 422), (PILOT, 200)])
def test_a_pilot_is_made_when_its_question_can_be_read(tmp_path: Path, more: dict[str, object], status: int) -> None:
    folder = small_corpus(tmp_path / "corpus", [in_korean("a1"), in_korean("b1")])
    (folder / "annotation.toml").write_text(toml({**KOREAN, **more}), encoding="utf-8")
    with InProcess(folder, f"sqlite:///{tmp_path / 'store.sqlite'}") as running:
        lead = Lead(running)
        page = lead.send("/lead/batches", **PILOT_FORM)
        lead.http.close()
    assert page.status_code == status
    assert ("Write them under [pilot] in annotation.toml" in page.text) == (status == 422)


def test_a_changed_corpus_is_exported_with_a_warning_and_served_knowingly(inside: InProcess, tmp_path: Path) -> None:
    rate(inside.here, people(inside.here, "us", 1))
    settings = inside.ready.settings
    table = Path(settings.corpus) / "items.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("How typical is this bowl", "How usual is this bowl"))
    with pytest.raises(UsageError, match=r"Changed: 2: bowl-us \(prompt\.en\), bowl-cn \(prompt\.en\)"):
        prepare(settings, time.time())
    warned: list[Note] = []
    export_batch(settings, tmp_path / "out", warn=warned.append)
    assert [note.key for note in warned] == ["annotation.changes_exported"]
    assert "How usual is this bowl" in (tmp_path / "out" / "items.csv").read_text(encoding="utf-8")
    ready = prepare(settings, time.time(), accept_changes=True)
    assert [note.key for note in ready.notes if note.kind == "warning"][-1] == "annotation.changes_accepted"
    assert prepare(replace(settings), time.time()).known == 1


def test_init_lists_the_texts_that_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_corpus(tmp_path, [in_korean("a1"), in_korean("a2", "us")])
    _write_template(folder, ("kr=ko,en",), "en", as_json=False)
    assert "[[pools]] kr: consent.ko, welcome.ko" in capsys.readouterr().err
    (folder / "annotation.toml").unlink()
    _write_template(folder, ("us=en",), "en", as_json=False)
    assert capsys.readouterr().err == ""


FIRST = {
    "rating": (["a1", "b1"], "A first batch, of all test", "第一个批次"),
    "pilot": (["a1", "b1", "p1"], "A first batch, a pilot of all items", "试评"),
    "none": ([], "There is no batch in", "还没有批次"),
}


@pytest.mark.parametrize("first", list(FIRST))
def test_the_first_batch_is_of_what_is_asked_for(first: FirstBatch, tmp_path: Path) -> None:
    rows = [item("a1"), item("b1", "us"), item("p1", split="pilot"), item("r1", split="rejected")]
    folder = small_corpus(tmp_path / "corpus", rows)
    settings = Settings(str(folder), f"sqlite:///{tmp_path / 'store.sqlite'}", pools=("us=en", "cn=zh"))
    items, english, chinese = FIRST[first]
    ready = prepare(settings, time.time(), first=first)
    assert english in "\n".join(lines(ready, "en"))
    assert chinese in "\n".join(lines(ready, "zh"))
    made = [] if ready.made is None else list(ready.made.spec.items)
    assert (made, ready.known) == (items, int(bool(items)))
    if ready.made is not None:
        asked = [question.id for question in ready.made.spec.study.questions]
        assert (ready.made.spec.kind, "usable" in asked) == (first, first == "pilot")
    again = prepare(settings, time.time(), first="pilot")
    assert (again.made is None) == (first != "none")


def test_another_first_batch_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["annotate", str(tmp_path), "--first", "test"]) == 3
    assert "--first test: there is no such first batch. Known: rating, pilot, none." in capsys.readouterr().err


def test_init_takes_the_name_of_the_corpus_that_is_being_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make(tmp_path / "folder", pairs("tea"))
    small_corpus(folder, [item("a1"), item("b1", "us")])
    assert run(["annotate", str(folder / "items.csv"), "--init", "--pool", "us=en", "--pool", "cn=zh"]) == 0
    assert 'name = "small"' in (folder / "annotation.toml").read_text("utf-8").splitlines()
    capsys.readouterr()
