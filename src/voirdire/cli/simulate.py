"""``voirdire simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli import options as o
from voirdire.cli import show
from voirdire.cli.build import LocalCommand
from voirdire.errors import UsageError
from voirdire.texts import text


def _option(name: str, metavar: str | None, panel: str) -> Any:
    key = name.removeprefix("--").replace("-", "_")
    return typer.Option(
        name, help=f"simulation.help.{key}", metavar=metavar, rich_help_panel=f"simulation.panel.{panel}"
    )


Spec = Annotated[Path | None, _option("--spec", "FILE", "world")]
SeedOption = Annotated[int, _option("--seed", "N", "world")]
OutOption = Annotated[Path, _option("--out", "DIR", "world")]
Force = Annotated[bool, _option("--force", None, "world")]
ItemCount = Annotated[int, _option("--items", "N", "pools")]
Pools = Annotated[str, _option("--pools", "A,B", "pools")]
RaterCount = Annotated[str, _option("--raters", "N[,N]", "pools")]
Reliability = Annotated[str | None, _option("--reliability", "X[,X]", "pools")]
Divergence = Annotated[float | None, _option("--divergence", "X", "pools")]
Layout = Annotated[str, _option("--layout", "crossed|nested|slots", "pools")]
JudgeOption = Annotated[o.Words, _option("--judge", "NAME=CHARACTER", "judges")]
Origin = Annotated[o.Words, _option("--origin", "JUDGE=LEVEL", "judges")]
OriginShift = Annotated[o.Words, _option("--origin-shift", "LEVEL=SHIFT", "judges")]
Missing = Annotated[float, _option("--missing", "SHARE", "judges")]
Repeats = Annotated[int, _option("--repeats", "N", "judges")]
Personas = Annotated[str, _option("--personas", "A,B", "conditions")]
Details = Annotated[str, _option("--details", "A,B", "conditions")]
Languages = Annotated[str, _option("--languages", "A,B", "conditions")]
PersonaShift = Annotated[float, _option("--persona-shift", "X", "conditions")]
Demonstration = Annotated[o.Words, _option("--demonstration", "DESIGN[=SHIFT]", "conditions")]
BESIDE_SPEC = ("spec", "seed", "out", "force", "json", "lang")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate", cls=LocalCommand, help="simulation.help.command", epilog="simulation.help.example")(
        simulate
    )


def simulate(
    ctx: typer.Context,
    items: ItemCount = 120,
    pools: Pools = "us,cn",
    raters: RaterCount = "5",
    reliability: Reliability = None,
    divergence: Divergence = None,
    layout: Layout = "crossed",
    judge: JudgeOption = None,
    origin: Origin = None,
    origin_shift: OriginShift = None,
    missing: Missing = 0.0,
    repeats: Repeats = 1,
    personas: Personas = "",
    details: Details = "",
    languages: Languages = "",
    persona_shift: PersonaShift = 0.2,
    demonstration: Demonstration = None,
    spec: Spec = None,
    seed: SeedOption = 0,
    out: OutOption = Path("voirdire-simulated"),
    force: Force = False,
    json: o.Json = False,
    lang: o.Lang = None,
) -> None:
    from voirdire.app.simulate import simulate as run_simulate

    _refuse_beside_spec(ctx)
    named = {"judge": "judges", "origin": "origins", "origin_shift": "origin_shifts", "demonstration": "demonstrations"}
    options: dict[str, Any] = {name: value for name, value in ctx.params.items() if name not in ("out", "json", "lang")}
    for option, name in named.items():
        options[name] = options.pop(option) or ()
    files = run_simulate(out, **options)
    if json:
        written = {name: str(path) for name, path in files.items()}
        show.json({"command": "simulate", "folder": str(out), "files": written})
        return
    language = ctx.find_object(str) or "en"
    show.out(text("simulation.help.done", language, count=len(files), file=show.pasted(out)))


def _refuse_beside_spec(ctx: typer.Context) -> None:
    """A file describes the whole world: options that it would overrule are refused, not passed over."""
    if ctx.params["spec"] is None:
        return
    nothing: tuple[Any, ...] = (None, [], ())
    given = [param for param in ctx.command.params if param.name not in (*BESIDE_SPEC, "help")]
    changed = [param for param in given if ctx.params.get(str(param.name)) not in (param.default, *nothing)]
    beside = [str(param.opts[0]) for param in changed]
    if beside:
        raise UsageError("simulation.error.beside_spec", options=", ".join(beside))
