"""A process that writes into a history as fast as it can: ``python -m tests.construction.writer FOLDER NAME COUNT``."""

from __future__ import annotations

import sys

from voirdire.construction.history import open_history


def main() -> None:
    folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for number in range(count):
        with open_history(folder) as book:
            book.append(
                {"kind": "remark", "by": name, "number": number, "after": len(book.history.events), "text": "茶" * 50}
            )
        print(number, flush=True)


if __name__ == "__main__":
    main()
