"""Writes into a history and gives others a turn: ``python -m tests.construction.writer FOLDER NAME COUNT``."""

from __future__ import annotations

import sys
import time

from voirdire.construction.history import open_history

TURN = 0.005


def main() -> None:
    folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for number in range(count):
        with open_history(folder) as book:
            book.append(
                {"kind": "remark", "by": name, "number": number, "after": len(book.history.events), "text": "茶" * 50}
            )
        print(number, flush=True)
        time.sleep(TURN)


if __name__ == "__main__":
    main()
