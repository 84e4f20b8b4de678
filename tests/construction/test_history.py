from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.construction import history
from voirdire.construction.history import open_history, read_history
from voirdire.errors import InputError, UsageError

ROOT = Path(__file__).resolve().parents[2]


def append(folder: Path, *events: dict[str, Any]) -> None:
    with open_history(folder) as book:
        book.append(*events)


def remarks(folder: Path) -> list[Any]:
    return [event["n"] for event in read_history(folder).events]


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def start(folder: Path, name: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.construction.writer", str(folder), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def test_events_are_appended(tmp_path: Path) -> None:
    at = datetime(2026, 4, 18, 10, tzinfo=timezone(timedelta(hours=8)))
    with open_history(tmp_path, clock=lambda: at) as book:
        book.append({"kind": "remark", "concept": "tea", "note": "好 \u2028 \n done"}, {"kind": "remark", "by": "bo"})
        assert [event["by"] for event in book.history.events] == ["", "bo"]
    before = (tmp_path / "history.jsonl").read_bytes()
    append(tmp_path, {"kind": "remark"})
    after = (tmp_path / "history.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 3
    first, second, _ = read_history(tmp_path).events
    assert first == {
        "at": "2026-04-18T02:00:00.000Z",
        "by": "",
        "concept": "tea",
        "kind": "remark",
        "note": "好 \u2028 \n done",
    }
    assert list(read_history(tmp_path).of_kind("other")) == []
    assert second["at"] == first["at"]
    assert datetime.fromisoformat(read_history(tmp_path).events[2]["at"]) <= datetime.now(UTC)


def test_no_history_yet(tmp_path: Path) -> None:
    assert read_history(tmp_path).events == ()
    assert list(tmp_path.iterdir()) == []


@given(data=st.data())
def test_cut_off_anywhere_any_number_of_times(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A write may end after any of its bytes: what was finished before is read, and the damage is told."""
    folder = tmp_path_factory.mktemp("torn")
    file, whole = folder / "history.jsonl", []
    for number in range(6):
        kept = file.read_bytes() if file.exists() else b""
        append(folder, {"kind": "remark", "n": number, "text": "茶\n"})
        written = file.read_bytes()
        assert written.startswith(kept)
        cut = data.draw(st.one_of(st.just(len(written)), st.integers(len(kept), len(written))))
        file.write_bytes(written[:cut])
        if cut >= len(written) - 1:  # the line break alone is no part of the event
            whole.append(number)
        assert remarks(folder) == whole
    append(folder, {"kind": "remark", "n": "last"})
    assert remarks(folder) == [*whole, "last"]
    broken = [row for row, line in enumerate(file.read_bytes().split(b"\n"), start=1) if line and not is_json(line)]
    notes = read_history(folder).notes
    assert [note.fields["row"] for note in notes] == broken
    assert all(note.key == "build.history.torn" and note.kind == "warning" for note in notes)


@pytest.mark.parametrize(
    "line",
    [
        b"{no json",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"by": "x"}',
        b'{"kind": 3}',
        b'{"kind": ""}',
        b'{"kind": "a", "by": null}',
    ],
)
def test_a_line_that_was_spoilt_is_refused(tmp_path: Path, line: bytes) -> None:
    """Nobody vouches for it: it was not torn while it was written."""
    append(tmp_path, {"kind": "remark", "n": 1}, {"kind": "remark", "n": 2})
    file = tmp_path / "history.jsonl"
    first, second, _ = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([first, line, second, b""]))
    with pytest.raises(InputError, match="row 2") as caught:
        read_history(tmp_path)
    assert caught.value.key == "build.history.broken"
    with pytest.raises(InputError):
        append(tmp_path, {"kind": "remark"})


def test_processes_do_not_interleave(tmp_path: Path) -> None:
    """Each saw everything that was there before it wrote, and every line is whole."""
    running = [start(tmp_path, name, 40) for name in ("ana", "bo", "chen")]
    assert [process.communicate(timeout=100) and process.returncode for process in running] == [0, 0, 0]
    found = read_history(tmp_path)
    assert found.notes == ()
    assert [event["after"] for event in found.events] == list(range(120))
    for name in ("ana", "bo", "chen"):
        assert [event["number"] for event in found.events if event["by"] == name] == list(range(40))


def test_killed_processes_lose_nothing_that_was_written(tmp_path: Path) -> None:
    """Whatever a process said was written is there after kill -9, once, and the lock is free."""
    told: dict[str, int] = {}
    for round_ in range(4):
        running = {f"{name}{round_}": start(tmp_path, f"{name}{round_}", 10_000) for name in ("ana", "bo")}
        for name, process in running.items():
            assert process.stdout is not None
            for _ in range(15):
                told[name] = int(process.stdout.readline())
        for name, process in running.items():
            process.send_signal(signal.SIGKILL)
            out, _ = process.communicate()
            whole = out[: out.rfind(b"\n") + 1].split()
            told[name] = int(whole[-1]) if whole else told[name]
    found = read_history(tmp_path)
    for name, last in told.items():
        numbers = [event["number"] for event in found.events if event["by"] == name]
        assert numbers == list(range(len(numbers)))
        assert last < len(numbers) <= last + 2
    assert [event["after"] for event in found.events] == list(range(len(found.events)))


def test_who_waits_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PATIENCE", 0.2)
    with open_history(tmp_path):
        for reading in (lambda: read_history(tmp_path), lambda: append(tmp_path, {"kind": "remark"})):
            with pytest.raises(UsageError, match="Another process"):
                reading()
    append(tmp_path, {"kind": "remark", "n": 1})
    assert remarks(tmp_path) == [1]


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    append(tmp_path, {"kind": "remark", "n": 1})
    monkeypatch.setattr(os, "write", full)
    with open_history(tmp_path) as book:
        with pytest.raises(UsageError, match="No space left"):
            book.append({"kind": "remark", "n": 2})
        assert len(book.history.events) == 1
    monkeypatch.undo()
    assert remarks(tmp_path) == [1]


def test_short_writes_are_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, bytes(data[:7])))
    append(tmp_path, {"kind": "remark", "n": "long enough to be cut"})
    assert remarks(tmp_path) == ["long enough to be cut"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"), open_history(tmp_path / "none"):
        pass
