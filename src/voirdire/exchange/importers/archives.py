"""Members of a zip archive, also those that are compressed with Zstandard (method 93), as Inspect writes its logs.

Python's zipfile reads that method from 3.14 on; before, the directory is read by zipfile and the member by the package
``zstandard`` (the extra ``exchange``). No member is ever written to a file of its own name.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voirdire.errors import InputError, UsageError

ZSTANDARD = 93
MOST = 2**28
"""Bytes that a member may have when it is unpacked: it is held whole, as bytes, as text and as what it says."""

_LOCAL = struct.Struct("<4s5H3L2H")


class Members:
    """The members of an open archive, by name."""

    def __init__(self, archive: zipfile.ZipFile, file: str) -> None:
        self.file = file
        self._archive = archive
        self._known = {info.filename: info for info in archive.infolist() if not info.is_dir()}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order of the archive."""
        return tuple(self._known)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises InputError where there is none or it is damaged, and UsageError where ``zstandard`` is not installed.
        """
        info = self._known.get(name)
        if info is None:
            raise InputError("importing.member_missing", file=self.file, member=name)
        if info.file_size > MOST:
            raise InputError("importing.member_large", file=self.file, member=name, size=info.file_size, most=MOST)
        try:
            return self._zstandard(info) if info.compress_type == ZSTANDARD else self._archive.read(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error) as error:
            raise self._damaged(name, str(error)) from error

    def text(self, name: str) -> str:
        """A member as text. Raises InputError as ``read`` does, and where it is not UTF-8."""
        try:
            return self.read(name).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self._damaged(name, str(error)) from error

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ImportError as error:
            try:
                return self._archive.read(info)
            except NotImplementedError:
                raise UsageError("importing.zstandard", file=self.file) from error
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(self._packed(info), read_across_frames=True)
            found = bytes(reader.read(info.file_size + 1))
        except zstandard.ZstdError as error:
            raise self._damaged(info.filename, str(error)) from error
        if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
            raise zipfile.BadZipFile("CRC-32")
        return found

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """The bytes of a member as they stand in the archive, behind its local header."""
        stream = self._archive.fp
        if stream is None:
            raise zipfile.BadZipFile(info.filename)
        stream.seek(info.header_offset)
        head = stream.read(_LOCAL.size)
        if len(head) != _LOCAL.size or head[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile(info.filename)
        *_, name_size, extra_size = _LOCAL.unpack(head)
        stream.seek(name_size + extra_size, 1)
        return stream.read(info.compress_size)

    def _damaged(self, name: str, why: str) -> InputError:
        return InputError("importing.member_damaged", file=self.file, member=name, value=why)


@contextmanager
def open_members(path: Path) -> Iterator[Members]:
    """Open an archive for reading. Raises InputError where it is none.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "a.zip"
    >>> with zipfile.ZipFile(file, "w") as archive:
    ...     archive.writestr("header.json", "{}")
    >>> with open_members(file) as members:
    ...     members.names, members.text("header.json")
    (('header.json',), '{}')
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise InputError("input.file_missing", file=str(path)) from error
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError("input.file_damaged", file=str(path), value=str(error)) from error
    with archive:
        yield Members(archive, str(path))


def member_names(path: Path) -> tuple[str, ...]:
    """The names of an archive's members, for recognising it; empty where it is none. Never raises."""
    try:
        with open_members(path) as members:
            return members.names
    except InputError:
        return ()
