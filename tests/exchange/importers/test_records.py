"""Readers of records: lines, broken records, and fields of another kind."""

from __future__ import annotations

import gzip
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.account import BROKEN, MISSING, Account
from voirdire.exchange.importers.archives import member_names, open_members
from voirdire.exchange.importers.cells import cell, frame, question, utc
from voirdire.exchange.importers.records import (
    ID,
    Record,
    delimited_records,
    head_columns,
    head_of,
    head_record,
    parse_lines,
    parse_records,
)


def parsed(text: str, *, skip: bool = True, **more: Any) -> tuple[list[tuple[int, Any]], list[int]]:
    account = Account(skip_broken=skip)
    found = [(record.line, record.value) for record in parse_records(text, "a.json", account, **more)]
    assert account.balanced
    return found, [error.fields["line"] for error in account.broken_records]


@pytest.mark.parametrize(
    ("text", "records", "broken"),
    [
        ('[{"a": 1},\n{"a": 2}\n]', [(1, {"a": 1}), (2, {"a": 2})], []),
        ("[]", [], []),
        ('\n\n {"a": NaN}', [(3, {"a": None})], []),
        ('[{"a": "😀\\ud83d\\ude00"}]', [(1, {"a": "😀😀"})], []),
        ('[{"a": 1},\n{"a": 2,},\n{"a": 3}]', [(1, {"a": 1}), (3, {"a": 3})], [2]),
        ('[{"a": 1},\n{\'a\': 2},\n{"a": "}]"}]', [(1, {"a": 1}), (3, {"a": "}]"})], [2]),
        ('[{"a": 1},\n{"a": -Infinity},\n{"a": 3}]', [(1, {"a": 1}), (3, {"a": 3})], [2]),
        ('[{"a": 1},\n{"a": {"b": [1, 2', [(1, {"a": 1})], [2]),
        ('[{"a": 1},\n{"a": "cut o', [(1, {"a": 1})], [2]),
        ('[{"a": 1},\n', [(1, {"a": 1})], [2]),
    ],
)
def test_json(text: str, records: list[Any], broken: list[int]) -> None:
    assert parsed(text) == (records, broken)
    if broken:
        with pytest.raises(InputError) as caught:
            parsed(text, skip=False)
        assert caught.value.key == "importing.json_broken"
        assert (caught.value.fields["file"], caught.value.fields["line"]) == ("a.json", broken[0])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[{"a": 1},\n{"a": [1, 2},\n{"a": 3}]', "importing.json_lost"),
        ('[{"a": 1},\nnonsense,\n{"a": 3}]', "importing.json_lost"),
        ('{"a": 1}\n{"a": 2}', "importing.json_broken"),
        ('[{"a": 1} {"a": 2}]', "importing.json_broken"),
        ('[{"a": 1},]', "importing.json_broken"),
        ("  \n", "importing.json_empty"),
    ],
)
def test_where_nothing_tells_the_next_record_it_is_an_error(text: str, key: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert caught.value.key == key


def test_a_very_deep_record_is_broken_and_no_crash() -> None:
    deep = "[" * 200_000 + "]" * 200_000
    assert parsed(f'[{{"a": 1}},\n{deep},\n{{"a": 3}}]') == ([(1, {"a": 1}), (3, {"a": 3})], [2])


def test_an_array_inside_and_entries_of_an_object() -> None:
    text = '{"meta": {"rows": 0},\n "results": {"rows": [1,\n 2]}, "more": 3}'
    assert parsed(text, at=("results", "rows"))[0] == [(2, 1), (3, 2)]
    with pytest.raises(InputError, match="the field 'none' is missing"):
        parsed(text, at=("none",))
    records = list(parse_records('{"1": {"a": 1},\n "二": {"a": 2}}', "a.json", Account(), entries=True))
    assert [(record.key, record.line, record.value) for record in records] == [("1", 1, {"a": 1}), ("二", 2, {"a": 2})]


def test_lines() -> None:
    account = Account(skip_broken=True)
    text = '{"a": 1}\n\n{"a": \n[2]\n{"a": 3} {"a": 4}\n'
    assert [(record.line, record.value) for record in parse_lines(text, "a.jsonl", account)] == [
        (1, {"a": 1}),
        (4, [2]),
    ]
    assert [error.fields["line"] for error in account.broken_records] == [3, 5]
    assert (account.answers, account.counts) == (2, {BROKEN: 2})
    with pytest.raises(InputError, match=r"a\.jsonl, line 3: this record is no JSON"):
        list(parse_lines(text, "a.jsonl", Account()))


def test_delimited(tmp_path: Path) -> None:
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress('\ufeffa;b\r\n"1;\r\nx";二\r\n\r\n3;4;5\r\n5;\r\n'.encode()))
    account = Account(skip_broken=True)
    columns, rows = delimited_records(file, account)
    assert columns == head_columns(file) == ("a", "b")
    assert [(row.line, row.value) for row in rows] == [(2, {"a": "1;\nx", "b": "二"}), (6, {"a": "5", "b": None})]
    assert str(account.broken_records[0]).startswith(f"{file}, line 5: 3 fields where the header has 2.")
    file = tmp_path / "b.csv"
    file.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(InputError, match="row 2, character 3"):
        delimited_records(file, Account())
    file.write_bytes(b'a,b\n1,2\n"3,4\n')
    with pytest.raises(InputError, match=r"b\.csv, line 3: the quotation marks"):
        list(delimited_records(file, Account())[1])


def test_fields() -> None:
    record = Record({"id": 7, "n": True, "x": None, "list": [{"a": 1}, 2], "in": {"k": "v"}}, "a.json", 4)
    assert (record.need("id", ID), record.may("x", str), record.inside("in").need("k", str)) == ("7", None, "v")
    for call, said in (
        (lambda: record.need("x", str), "a.json, line 4: the field 'x' is missing or empty (there are: id, n,"),
        (lambda: record.need("n", int), "a.json, line 4: the field 'n' is true and has to be of the kind integer."),
        (lambda: record.each("list"), "a.json, line 4: the field 'list[1]' is 2 and has to be of the kind object."),
        (lambda: record.inside("in").need("k", float), "the field 'in.k' is v and has to be of the kind number."),
        (lambda: Record("text", "a.json", 4).may("x", str), "the field '-' is text and has to be of the kind object."),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert said in str(caught.value)


def test_heads_never_raise(tmp_path: Path) -> None:
    for name, data in (
        ("a", b"\0\x01"),
        ("b", b""),
        ("c", b"\x1f\x8bjunk"),
        ("d", b"\xff\xfe"),
        ("e", b"{"),
        ("f", b"["),
    ):
        (tmp_path / name).write_bytes(data)
        assert head_record(tmp_path / name) is None
        assert isinstance(head_columns(tmp_path / name), tuple)
        assert member_names(tmp_path / name) == ()
    assert head_of(tmp_path) == ""
    (tmp_path / "long.json").write_text('[{"id": 1, "text": "' + "x" * 100_000 + '"}]')
    assert head_record(tmp_path / "long.json") == {"id": 1}
    assert head_record(tmp_path) is None


def test_the_account() -> None:
    account = Account(skip_broken=True)
    with account.record(Record({}, "a", 1)):
        account.read(3)
        account.took(2)
        account.left(MISSING, at=Record({}, "a", 1))
    with account.record(Record({}, "a", 2)):
        account.read(2)
        account.took(1)
        raise InputError("importing.record_field")
    assert (account.answers, account.taken, dict(account.counts)) == (5, 2, {BROKEN: 2, MISSING: 1})
    assert account.balanced
    assert account.reasons[BROKEN].places == [("a", 2)]
    for line in range(20):
        account.left("many", at=Record({}, "a", line))
    assert (len(account.reasons["many"].places), account.reasons["many"].more, account.balanced) == (5, True, False)
    with pytest.raises(InputError), Account().record():
        raise InputError("importing.record_field")


def test_archives(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../a.json", "\ufeff二")
    with open_members(file) as members:
        assert members.names == ("../../a.json",)
        assert members.text("../../a.json") == "二"
        with pytest.raises(InputError, match="no member 'b'"):
            members.read("b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]
    with pytest.raises(InputError, match="cannot be read"), open_members(Path(__file__)):
        pass


def zstandard_archive(file: Path, data: bytes, *, damaged: bool = False) -> None:
    """An archive as Inspect writes it: zipfile's own layout, with members of method 93."""
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(data)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", packed)
    raw = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        info = archive.infolist()[0]
    crc = (zlib.crc32(data) ^ damaged).to_bytes(4, "little")
    directory = raw.rindex(b"PK\x01\x02")
    for start, method, checked in ((info.header_offset, 8, 14), (directory, 10, 16)):
        raw[start + method : start + method + 2] = (93).to_bytes(2, "little")
        raw[start + checked : start + checked + 4] = crc
        raw[start + checked + 8 : start + checked + 12] = len(data).to_bytes(4, "little")
    file.write_bytes(raw)


def test_zstandard_members(tmp_path: Path) -> None:
    zstandard_archive(tmp_path / "a.eval", "二".encode() * 1000)
    with open_members(tmp_path / "a.eval") as members:
        assert members.text("header.json") == "二" * 1000
    zstandard_archive(tmp_path / "b.eval", b"x", damaged=True)
    with open_members(tmp_path / "b.eval") as members, pytest.raises(InputError, match="CRC-32"):
        members.read("header.json")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zipfile reads Zstandard itself")
def test_without_zstandard_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard_archive(tmp_path / "a.eval", b"x")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with open_members(tmp_path / "a.eval") as members, pytest.raises(UsageError, match=r"voirdire\[exchange\]"):
        members.read("header.json")


def test_cells_and_frames() -> None:
    assert [cell(value) for value in ("\ud800", 10**20, -0.0, float("inf"))] == [
        "?",
        "100000000000000000000",
        "0",
        "inf",
    ]
    made = frame([{"a": 1}, {"b": {"x": "二"}, "c": None}], ("a",))
    assert made.rows() == [("1", None), (None, '{"x": "二"}')]
    assert frame([], ("a",)).rows() == []
    assert question("q", "ordinal", 1, 5)["min"] == 1
    assert [utc(moment) for moment in ("2026-04-18", True, 1e30, None)] == ["2026-04-18T00:00:00Z", None, None, None]
