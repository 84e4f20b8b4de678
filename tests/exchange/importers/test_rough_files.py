"""Numbers that are none, names that stand twice, labels that say that there is none: nothing is taken for an answer."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from voirdire.errors import InputError
from voirdire.exchange.importers import alttest, answer_rows, archives, crowdkit, lewidi, wide
from voirdire.exchange.importers.account import MISSING, Account
from voirdire.exchange.importers.contract import Importer, ImportOptions, Tables
from voirdire.exchange.importers.people_json import read_objects
from voirdire.exchange.importers.records import json_records, jsonl_records

HUGE = "9" * 5000


def read(importer: Importer, file: Path, written: str, *, skip_broken: bool = False, **more: Any) -> tuple[Any, ...]:
    file.write_text(written, encoding="utf-8")
    account = Account(skip_broken=skip_broken)
    assert importer.read is not None
    made: Tables = importer.read([file], ImportOptions(skip_broken=skip_broken, **more), account)
    assert account.balanced
    assert made.ratings is not None
    return made, account, made.ratings.select("rater_id", "rating").rows()


@pytest.mark.parametrize("value", ["Infinity", HUGE, "1e999", "-1e999", '{"x": 1, "x": 2}'])
def test_a_line_or_element_that_cannot_be_a_value_is_broken(tmp_path: Path, value: str) -> None:
    lines, listed = tmp_path / "a.jsonl", tmp_path / "a.json"
    lines.write_text(f'{{"a": 1}}\n{{"a": {value}}}\n{{"a": 1.5}}\n', encoding="utf-8")
    listed.write_text(f'[{{"a": 1}},\n{{"a": {value}}},\n{{"a": 1.5}}]', encoding="utf-8")
    for records, file in ((jsonl_records, lines), (json_records, listed)):
        with pytest.raises(InputError, match="line 2"):
            list(records(file, Account()))
        account = Account(skip_broken=True)
        assert [record.value["a"] for record in records(file, account)] == [1, 1.5]
        assert len(account.broken_records) == 1


def test_people_with_a_number_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "people.json"
    file.write_text(f'{{"ann": {{"age": {HUGE}}}}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"people\.json, line 1"):
        read_objects(file)


def test_whole_numbers_in_a_row_are_a_scale_in_any_order() -> None:
    for labels in ("54321", "12345"):
        made = answer_rows._choices("q", list(labels), {"text": {}})
        assert (made["level"], made["min"], made["max"]) == ("ordinal", 1, 5)


def test_labels_that_say_that_there_is_none(tmp_path: Path) -> None:
    labels = {"1": "yes", "2": "nan", "3": "N/A", "4": "", "5": "None"}
    file = tmp_path / "human_annotations.json"
    _, account, rows = read(alttest.IMPORTER, file, json.dumps({"ann": labels}))
    assert rows == [("ann", "yes"), ("ann", "None")]
    assert account.counts == {MISSING: 3}
    _, account, rows = read(crowdkit.IMPORTER, tmp_path / "c.csv", "task,worker,label\nt,a,None\nt,b,NaN\nt,c,1\n")
    assert rows == [("c", "1")]
    assert account.counts == {MISSING: 2}


def test_an_instance_that_an_annotator_has_twice_is_broken(tmp_path: Path) -> None:
    written = '{"ann": {"1": "yes", "1": "no"},\n"bob": {"1": "yes"}}'
    with pytest.raises(InputError, match="'1' twice in one object"):
        read(alttest.IMPORTER, tmp_path / "human_annotations.json", written)


def test_a_truth_beside_raters_is_no_rater(tmp_path: Path) -> None:
    made, account, rows = read(wide.IMPORTER, tmp_path / "w.csv", "Unit,Rater1,Rater2,gold\nu1,1,2,1\n")
    assert rows == [("Rater1", "1"), ("Rater2", "2")]
    assert account.answers == 2
    assert [note.fields["columns"] for note in made.notes if note.key == "wide.nobodys"] == ["gold"]


def test_a_member_that_grows_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert archives.MOST <= 2**28
    monkeypatch.setattr(archives, "MOST", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.json", b" " * 1001)
    with archives.open_members(tmp_path / "a.zip") as members, pytest.raises(InputError, match=r"big\.json"):
        members.read("big.json")


def test_a_broken_record_of_lewidi_counts_all_its_annotators(tmp_path: Path) -> None:
    one = {"text": "a", "annotation task": "irony", "annotators": "A1,A2", "soft_label": {"0": 0.5, "1": 0.5}}
    one |= {"lang": "en", "split": "dev", "other_info": {}}
    items = {"1": {**one, "annotations": "0,1"}, "2": {**one, "annotations": "0,1,1"}}
    _, account, _ = read(lewidi.IMPORTER, tmp_path / "d.json", json.dumps(items), skip_broken=True)
    assert (account.answers, account.taken) == (4, 2)
