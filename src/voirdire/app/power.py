"""``voirdire power``: what a planned audit could show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from voirdire.app.audit import check_folder, publish
from voirdire.app.inputs import Progress
from voirdire.errors import UsageError

if TYPE_CHECKING:
    from voirdire.analysis.power import PowerTable

REPORT, PLANS, NEEDED = "power.html", "power.csv", "items-needed.csv"
LISTS = ("items", "raters", "judges", "repeats")


@dataclass(frozen=True)
class WrittenPower:
    """Power that was written to a folder; report is the file to open first."""

    table: PowerTable
    folder: Path
    report: Path
    files: tuple[Path, ...]


def power(
    *,
    delta: Sequence[float] = (),
    tilt: Sequence[float] = (),
    orientation: Sequence[float] = (),
    spec: Path | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> PowerTable:
    """The power of every combination of items, raters, judges and repeats to find an effect.

    Parameters
    ----------
    delta, tilt, orientation : effects to be found; without any a W of 0.6
    spec : a world's file, of which the items and pools are taken; reliability and divergence are then its own unless
        they are given
    options : the other fields of PowerOptions by name; ``items``, ``raters``, ``judges`` and ``repeats`` as numbers,
        lists, or texts with commas

    Raises UsageError (``power.error.*``) for options that cannot be met.
    """
    from voirdire.analysis.power import TILT, PowerOptions, power_table
    from voirdire.analysis.power_simulation import DELTA, WEIGHT

    given = {name: value for name, value in options.items() if value is not None}
    known = set(PowerOptions.__dataclass_fields__) - {"effects", "world"}
    if unknown := sorted(set(given) - known):
        raise UsageError("power.error.option", option=unknown[0], known=", ".join(sorted(known)))
    effects = [(DELTA, value) for value in delta]
    effects += [(TILT, value) for value in tilt]
    effects += [(WEIGHT, value) for value in orientation]
    if effects:
        given["effects"] = tuple((statistic, float(value)) for statistic, value in effects)
    given |= {name: _numbers(given[name], name) for name in LISTS if name in given}
    if spec is not None:
        from voirdire.simulation.spec import read_spec

        own: dict[str, Any] = {"reliability": None, "divergence": None}
        given = {**own, **given, "world": read_spec(spec).world}
    return power_table(PowerOptions(**given), progress)


def power_to(out: Path, lang: str = "en", *, progress: Progress | None = None, **options: Any) -> WrittenPower:
    """Compute and write the page, the tables and the figure to a folder, in a language."""
    check_folder(out)
    table = power(progress=progress, **options)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".voirdire-", dir=out) as held:
            _write(table, Path(held), lang)
            files = publish(Path(held), out, last=REPORT)
    except OSError as error:
        raise UsageError("app.out_unwritable", file=str(out), why=error.strerror or str(error)) from error
    return WrittenPower(table, out, out / REPORT, tuple(sorted(files)))


def _write(table: PowerTable, folder: Path, lang: str) -> None:
    from voirdire.reporting.drawing import can_draw_chinese
    from voirdire.reporting.files import write_charts
    from voirdire.reporting.markdown import markdown
    from voirdire.reporting.power_page import page
    from voirdire.reporting.render import html

    report = page(table, lang)
    english = page(table, "en") if lang != "en" and not can_draw_chinese() else None
    table.plans.write_csv(folder / PLANS)
    table.needed.write_csv(folder / NEEDED)
    (folder / "power.md").write_text(markdown(report), encoding="utf-8")
    (folder / REPORT).write_text(html(report), encoding="utf-8")
    write_charts(report, english, folder / "figures")


def _numbers(given: Any, name: str) -> tuple[int, ...]:
    """Whole numbers of a number, a list or a text with commas."""
    parts = given.split(",") if isinstance(given, str) else [given] if isinstance(given, int) else given
    try:
        numbers = tuple(int(str(part).strip()) for part in parts)
    except ValueError:
        raise UsageError("power.error.numbers", option=name, value=str(given)) from None
    return tuple(dict.fromkeys(numbers))
