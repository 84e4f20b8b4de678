"""What is wrong with files that no importer recognises: missing, empty, in another encoding, or of no known format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from voirdire.errors import InputError
from voirdire.exchange.importers import wide

UTF16 = (b"\xff\xfe", b"\xfe\xff")
HEAD = 4096


def check_there(files: Sequence[Path]) -> None:
    """Raises InputError for the first file that is not there or holds nothing."""
    for file in files:
        if not file.exists():
            raise InputError("input.file_missing", file=str(file))
        if file.is_dir():
            if not any(file.iterdir()):
                raise InputError("importing.folder_empty", file=str(file))
        else:
            _check_filled(file)


def error(files: Sequence[Path], known: Sequence[str]) -> InputError:
    """The error for files of no format, with a hint at what one of them may be."""
    shown = ", ".join(map(str, files))
    if any(file.is_file() and wide.may_be(file) for file in files):
        return InputError("importing.perhaps_wide", file=shown)
    if any(file.is_dir() for file in files):
        return InputError("importing.unknown_folder", file=shown, known=", ".join(sorted(known)))
    return InputError("importing.unknown_format", file=shown, known=", ".join(sorted(known)))


def _check_filled(file: Path) -> None:
    """Raises InputError for a file without anything in it, also an empty JSON array, and for one in UTF-16."""
    try:
        with file.open("rb") as opened:
            head = opened.read(HEAD)
    except OSError as error:
        raise InputError("input.file_unreadable", file=str(file), value=error.strerror or str(error)) from error
    if head[:2] in UTF16:
        raise InputError("importing.bytes_utf16", file=str(file))
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise InputError("importing.json_empty", file=str(file))
    if len(head) < HEAD and head.strip()[:1] in (b"[", b"{") and _is_empty(head):
        raise InputError("importing.no_records", file=str(file), value=head.strip().decode()[:20])


def _is_empty(data: bytes) -> bool:
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf")) in ([], {})
    except (ValueError, RecursionError):
        return False
