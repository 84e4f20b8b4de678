"""A session of images as a process that can be killed, from outside or by itself at a point of its own.

``python -m tests.construction.kill_images FOLDER URL CONCURRENCY BUDGET PRICE [POINT NTH]``: at the NTH time that the
point is reached the process kills itself as ``kill -9`` would.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.construction.image_world import make

from voirdire.app import build_images
from voirdire.construction.imaging import files, makers, running, shelf

POINTS = ("asked", "half_reply", "kept_reply", "half_image", "put", "committed", "logged", "sheet")


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Fuse:
    """Ends the process the n-th time."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def burn(self) -> None:
        self.left -= 1
        if self.left == 0:
            end()


def before(function: Callable[..., Any], fuse: Fuse) -> Callable[..., Any]:
    def wrapped(*args: Any, **more: Any) -> Any:
        fuse.burn()
        return function(*args, **more)

    return wrapped


def after(function: Callable[..., Any], fuse: Fuse) -> Callable[..., Any]:
    def wrapped(*args: Any, **more: Any) -> Any:
        found = function(*args, **more)
        fuse.burn()
        return found

    return wrapped


def half(fuse: Fuse) -> Callable[[Path, bytes], None]:
    """Writes the beginning of a file beside its place, as a kill would leave it."""
    whole = files.write_through

    def wrapped(path: Path, data: bytes) -> None:
        if fuse.left == 1:
            path.with_name(f".{path.name}.{os.getpid()}").write_bytes(data[: len(data) // 2])
        fuse.burn()
        whole(path, data)

    return wrapped


def arm(point: str, nth: int) -> None:
    fuse = Fuse(nth)
    if point == "asked":
        makers.Sender.post = before(makers.Sender.post, fuse)
    elif point == "half_reply":
        shelf.write_through = half(fuse)
    elif point == "kept_reply":
        shelf.Shelf.keep = after(shelf.Shelf.keep, fuse)
    elif point == "half_image":
        files.write_through = half(fuse)
    elif point == "put":
        makers.put = after(makers.put, fuse)
    elif point == "committed":
        running.ShelfWatch.stepped = before(running.ShelfWatch.stepped, fuse)
    elif point == "logged":
        build_images.write_log = before(build_images.write_log, fuse)
    else:
        build_images._sheet = before(build_images._sheet, fuse)


if __name__ == "__main__":
    folder, url, concurrency, budget, price, *rest = sys.argv[1:]
    if rest:
        arm(rest[0], int(rest[1]))
    spending = {"budget": float(budget), "price": float(price)}
    ended = make(Path(folder), url, concurrency=int(concurrency), **spending)
    print(ended.progress.done, ended.progress.total, ended.stopped)
