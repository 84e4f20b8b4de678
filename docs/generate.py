"""Write the reference pages from the code: ``python docs/generate.py`` (``--check`` only compares)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generating import commands, configuration, error_page, estimates, extensions, tables  # noqa: E402

MADE = "<!-- Written by docs/generate.py from the code. Do not edit. -->\n"
PAGES = {
    "commands": commands,
    "tables": tables,
    "configuration": configuration,
    "estimates": estimates,
    "errors": error_page,
    "extensions": extensions,
}


def pages() -> dict[Path, str]:
    """Every generated page by its path."""
    made = {name: module.page() for name, module in PAGES.items()}
    return {HERE / "reference" / f"{name}.md": f"{MADE}\n{page.strip()}\n" for name, page in made.items()}


def main() -> int:
    """Write or compare the pages; gives the number of pages that differ when comparing."""
    made = pages()
    stale = [path for path, page in made.items() if not path.exists() or path.read_text(encoding="utf-8") != page]
    if "--check" in sys.argv:
        print("\n".join(str(path) for path in stale) or "up to date")
        return len(stale)
    for path, page in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
