"""Writing a text in one language into the file where it belongs, with everything else in its place."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from voirdire.annotation.study_entries import shown
from voirdire.annotation.study_file import FILE as STUDY_FILE
from voirdire.annotation.study_writing import key, string, text_lines
from voirdire.construction.concepts import CONCEPTS_FILE, read_concepts, replace_table, rewrite
from voirdire.construction.translation.units import PILOT, QUESTIONS_FILE, Unit
from voirdire.errors import InputError
from voirdire.judging.run_folder import write_whole
from voirdire.tables import read_table

Texts = Mapping[str, str]


def write_texts(folder: Path | str, texts: Iterable[tuple[Unit, str, str]], source: str) -> None:
    """Write (unit, language, text), each file in one step; source : the language that the corpus is written in.

    Raises InputError, with the line to write by hand, where an entry of ``annotation.toml`` is written in a way that
    cannot be changed without changing anything else.
    """
    place, listed = Path(folder), list(texts)
    cells: dict[int, dict[str, str]] = {}
    for unit, language, text in listed:
        if unit.file == CONCEPTS_FILE:
            for row in unit.place:
                cells.setdefault(int(row), {})[f"{unit.kind}.{language}"] = text
    if cells:
        rewrite(place, read_concepts(place), cells)
    in_table = [one for one in listed if one[0].file == QUESTIONS_FILE]
    if in_table:
        _write_table(place / QUESTIONS_FILE, in_table)
    for unit, language, text in listed:
        if unit.file == STUDY_FILE:
            _write_study(place / STUDY_FILE, unit, language, text, source)


def _write_table(path: Path, texts: Sequence[tuple[Unit, str, str]]) -> None:
    table = read_table(path)
    frame = table.frame
    for unit, language, text in texts:
        column = f"{unit.kind}.{language}"
        cells = frame[column].to_list() if column in frame.columns else [None] * frame.height
        cells[int(unit.place[0])] = text
        frame = frame.with_columns(pl.Series(column, cells, dtype=pl.String))
    replace_table(path, frame, table.delimiter or ",")


def refuse_unwritable(folder: Path | str, texts: Iterable[tuple[Unit, str, str]], source: str) -> None:
    """Raise InputError, with the line to write by hand, where ``write_texts`` would."""
    for unit, language, text in texts:
        if unit.file == STUDY_FILE:
            _with_study(Path(folder) / STUDY_FILE, unit, language, text, source)


def _write_study(path: Path, unit: Unit, language: str, text: str, source: str) -> None:
    mark = "\ufeff" if path.read_bytes()[:3] == b"\xef\xbb\xbf" else ""
    write_whole(path, mark + _with_study(path, unit, language, text, source))


def _with_study(path: Path, unit: Unit, language: str, text: str, source: str) -> str:
    before = path.read_bytes().decode("utf-8-sig")
    newline = "\r\n" if "\r\n" in before else "\n"
    written = with_text(before.replace("\r\n", "\n"), unit.place, language, text, source)
    if written is None:
        entry = unit.place[2] if unit.place[0] == PILOT else "text" if unit.kind == "option" else unit.kind
        line = f"{entry}.{key(language)} = {string(text)}"
        raise InputError("translation.study_form", file=str(path), value=unit.name(language), line=line)
    return written.replace("\n", newline)


def with_text(before: str, place: Sequence[str | int], language: str, text: str, source: str) -> str | None:
    r"""The file with a text in it, or None where the entry cannot be changed without changing anything else.

    place : list of tables, number (of a table that is alone, 0), entry, and for answers their number
    A bare text becomes one by language, and is then of the language ``source``.

    >>> print(with_text('[[questions]]\nid = "q"\nlow_end = "bad"\n', ("questions", 0, "low_end"), "zh", "差", "en"))
    [[questions]]
    id = "q"
    low_end.en = "bad"
    low_end.zh = "差"
    <BLANKLINE>
    """
    document = tomllib.loads(before)
    table, number, entry, *more = place
    wanted = copy.deepcopy(document)
    own = wanted[str(table)]
    own = own[int(number)] if isinstance(own, list) else own
    if more:
        option = own[str(entry)][more[0]]
        option["text"] = _joined(option.get("text", {}), language, text, source)
    else:
        own[str(entry)] = _joined(own.get(str(entry), {}), language, text, source)
    newlines = _lines(str(entry), own[str(entry)])
    lines = before.split("\n")
    found = _extents(lines, str(table), int(number), str(entry))
    if not found:
        return None
    made = [line for place, line in enumerate(lines) if not any(start <= place < end for start, end in found)]
    made[found[0][0] : found[0][0]] = newlines
    after = "\n".join(made)
    try:
        same = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        return None
    return after if same else None


def _joined(texts: str | Texts, language: str, text: str, source: str) -> dict[str, str]:
    known = {source: texts} if isinstance(texts, str) else dict(texts)
    return known | {language: text}


def _lines(entry: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return list(text_lines(entry, value))
    return [f"{entry} = [", *(f"    {_inline(one)}," for one in value), "]"]


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {_inline(one)}" for name, one in value.items()) + " }"
    return string(value) if isinstance(value, str) else shown(value)


def _extents(lines: Sequence[str], table: str, number: int, entry: str) -> list[tuple[int, int]]:
    """Where an entry of the ``number``-th table of a list stands: from which line to before which line."""
    heads = [place for place, line in enumerate(lines) if re.match(r"\s*\[", line)]
    own = [place for place in heads if re.fullmatch(rf"\s*\[(\[?)\s*{table}\s*\]\]?\s*(#.*)?", lines[place])]
    if number >= len(own):
        return []
    start = own[number] + 1
    named = re.compile(rf"\s*{re.escape(entry)}\s*(\.[^=]*)?=")
    found: list[tuple[int, int]] = []
    place = start
    while place < len(lines):
        if place in heads and not _inside(found, place):
            break
        if named.match(lines[place]):
            end = _end_of(lines, place)
            found.append((place, end))
            place = end
        else:
            place += 1
    return found


def _inside(found: Sequence[tuple[int, int]], place: int) -> bool:
    return any(start <= place < end for start, end in found)


def _end_of(lines: Sequence[str], start: int) -> int:
    """The line behind the entry that begins in a line: the first one up to which it can be read."""
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start + 1
