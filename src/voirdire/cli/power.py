"""``voirdire power``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import add
from voirdire.texts import text

Numbers = list[float] | None


def _option(name: str, metavar: str, panel: str) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(name, help=f"power.help.{key}", metavar=metavar, rich_help_panel=f"power.panel.{panel}")


Delta = Annotated[Numbers, _option("--delta", "X", "effect")]
Tilt = Annotated[Numbers, _option("--tilt", "X", "effect")]
Orientation = Annotated[Numbers, _option("--orientation", "W", "effect")]
Wanted = Annotated[float | None, _option("--power", "X", "effect")]
Alpha = Annotated[float | None, _option("--alpha", "X", "effect")]
Items = Annotated[str | None, _option("--items", "N,N", "plan")]
Raters = Annotated[str | None, _option("--raters", "N,N", "plan")]
Judges = Annotated[str | None, _option("--judges", "N,N", "plan")]
Repeats = Annotated[str | None, _option("--repeats", "N,N", "plan")]
Reliability = Annotated[float | None, _option("--reliability", "X", "world")]
Divergence = Annotated[float | None, _option("--divergence", "X", "world")]
Slope = Annotated[float | None, _option("--slope", "X", "world")]
NoiseOption = Annotated[float | None, _option("--noise", "X", "world")]
Repeated = Annotated[float | None, _option("--repeated", "SHARE", "world")]
Common = Annotated[float | None, _option("--common", "SHARE", "world")]
Spec = Annotated[Path | None, _option("--spec", "FILE", "world")]
Simulations = Annotated[int | None, _option("--simulations", "N", "computing")]
Seed = Annotated[int | None, _option("--seed", "N", "computing")]
NOT_OPTIONS = ("out", "json", "lang")


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "power", power, "power.command")


def power(
    ctx: typer.Context,
    delta: Delta = None,
    tilt: Tilt = None,
    orientation: Orientation = None,
    power: Wanted = None,
    alpha: Alpha = None,
    items: Items = None,
    raters: Raters = None,
    judges: Judges = None,
    repeats: Repeats = None,
    reliability: Reliability = None,
    divergence: Divergence = None,
    slope: Slope = None,
    noise: NoiseOption = None,
    repeated: Repeated = None,
    common: Common = None,
    spec: Spec = None,
    simulations: Simulations = None,
    seed: Seed = None,
    out: o.Out = None,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.power import power_to

    language = ctx.find_object(str) or "en"
    options = {
        name: value for name, value in ctx.params.items() if name not in NOT_OPTIONS and value not in (None, [], ())
    }
    with show.Progress(language) as progress:
        written = power_to(out or Path("voirdire-power"), language, progress=progress, **options)
    if json:
        show.json(document(written))
        return
    show.out(account(written, language))


def document(written: Any) -> dict[str, Any]:
    """What ``--json`` prints: the place of the files, every plan, and the items that are needed."""
    from voirdire.version import VERSION

    return {
        "command": "power",
        "voirdire": VERSION,
        "report": str(written.report),
        "files": [str(path) for path in written.files],
        "divergence": written.table.divergence,
        "plans": written.table.plans.to_dicts(),
        "needed": written.table.needed.to_dicts(),
    }


def account(written: Any, lang: str) -> str:
    """The sentences of what is needed, the table of plans, and where the page is."""
    from voirdire.reporting.power_page import columns_of, lines_of, needed_sentences

    heads, rows = columns_of(written.table, lang), lines_of(written.table, lang)
    parts = [*needed_sentences(written.table, lang), "", show.table(heads, rows), ""]
    return "\n".join([*parts, text("power.done", lang, count=len(written.files), file=show.clean(written.report))])
