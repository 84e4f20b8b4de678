"""A folder that is there whole or not at all."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from voirdire.errors import UsageError

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""What a write that finds no room fails with, whose error names no file."""


OURS = ".voirdire-"
"""What stands behind the target's name in the hidden folder that is written into."""


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """An empty folder to write into, which becomes ``target`` when all went well; nothing is left of it otherwise.

    What a process that was killed left beside the target is taken away.

    Raises UsageError where the target is a file or holds files, and where it cannot be written.

    >>> place = Path(mkdtemp()) / "out"
    >>> with new_folder(place) as folder:
    ...     _ = (folder / "a").write_bytes(b"")
    >>> sorted(path.name for path in place.iterdir())
    ['a']
    """
    _check(target)
    target = target.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(target)
    except OSError as error:
        raise UsageError("release.out_unwritable", file=str(target), why=error.strerror or str(error)) from error
    try:
        beside.chmod(0o755)
        yield beside
        if target.is_dir():
            target.rmdir()
        beside.rename(target)
    except OSError as error:
        inside = error.filename is not None and Path(error.filename).is_relative_to(beside)
        if inside or error.errno in FULL:
            raise UsageError("release.out_unwritable", file=str(target), why=error.strerror or str(error)) from error
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _beside(target: Path) -> Path:
    prefix = f".{target.name}{OURS}"
    for left in target.parent.iterdir():
        if left.name.startswith(prefix):
            shutil.rmtree(left, ignore_errors=True)
    return Path(mkdtemp(prefix=prefix, dir=target.parent))


def _check(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError("release.out_is_file", file=str(target))
    found = sorted(path.name for path in target.iterdir()) if target.is_dir() else []
    if found:
        raise UsageError("release.out_not_empty", file=str(target), found=", ".join(found[:5]))
