"""Building the commands in one language.

The commands are declared with keys of the catalogue where a help text would stand; ``build_app`` puts the
sentences of the language in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer import rich_utils
from typer.core import TyperCommand, TyperGroup, TyperOption

from voirdire.errors import UsageError
from voirdire.texts import has, text

_FRAME = {
    "ARGUMENTS_PANEL_TITLE": "cli.frame.arguments",
    "OPTIONS_PANEL_TITLE": "cli.frame.options",
    "COMMANDS_PANEL_TITLE": "cli.frame.commands",
    "REQUIRED_LONG_STRING": "cli.frame.required",
    "DEFAULT_STRING": "cli.frame.default",
}


class LocalCommand(TyperCommand):
    """A command that speaks the language of the run."""

    lang = "en"

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help text, with brackets as they stand."""
        with _without_markup(self, ctx):
            super().format_help(ctx, formatter)

    def get_usage(self, ctx: Any) -> str:
        """The usage line, with its first word in the language of the run."""
        return super().get_usage(ctx).replace("Usage:", text("cli.frame.usage", self.lang), 1)

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """The ``--help`` option, described in the language of the run."""
        return _described(super().get_help_option(ctx), self.lang)


class LocalGroup(TyperGroup):
    """A group of commands that speaks the language of the run."""

    lang = "en"

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help text, with brackets as they stand."""
        with _without_markup(self, ctx):
            super().format_help(ctx, formatter)

    def get_usage(self, ctx: Any) -> str:
        """The usage line, with its first word in the language of the run."""
        return super().get_usage(ctx).replace("Usage:", text("cli.frame.usage", self.lang), 1)

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """The ``--help`` option, described in the language of the run."""
        return _described(super().get_help_option(ctx), self.lang)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names. Raises UsageError with the known names."""
        name = str(args[0])
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise UsageError("cli.usage.no_command", name=name, known=", ".join(self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


@contextmanager
def _without_markup(command: Any, ctx: Any) -> Iterator[None]:
    """Help texts in which ``[translation]`` is no markup."""
    from rich.markup import escape

    holders = [command, *command.get_params(ctx), *getattr(command, "commands", {}).values()]
    kept = [(one, name, getattr(one, name, None)) for one in holders for name in ("help", "short_help", "epilog")]
    try:
        for one, name, said in kept:
            if said:
                setattr(one, name, escape(said))
        yield
    finally:
        for one, name, said in kept:
            if said:
                setattr(one, name, said)


def build_app(lang: str = "en") -> Any:
    """The root command with every help text in a language."""
    from voirdire.cli import (
        annotate,
        audit,
        build_corpus,
        check,
        demo,
        exporting,
        importing,
        power,
        price,
        run,
        signature,
        simulate,
        speccurve,
        validate,
        view,
    )

    app = new_group("cli.help")
    app.callback(cls=LocalGroup, help="cli.help", no_args_is_help=True)(_root)
    first = (demo, audit, validate, view, check, run, price, annotate, build_corpus)
    for module in (*first, signature, speccurve, power, simulate, exporting, importing):
        module.register(app)
    root = typer.main.get_command(app)
    _translate(root, lang)
    for name, key in _FRAME.items():
        setattr(rich_utils, name, text(key, lang))
    return root


def new_group(help_key: str) -> typer.Typer:
    """An empty group of commands."""
    return typer.Typer(
        cls=LocalGroup, help=help_key, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
    )


def add(group: typer.Typer, name: str, function: Any, key: str) -> None:
    """Add a command whose help is ``<key>.help`` and whose example is ``<key>.example``."""
    group.command(name, cls=LocalCommand, help=f"{key}.help", epilog=f"{key}.example")(function)


def _tell_version(asked: bool) -> None:
    if asked:
        from voirdire.cli import show
        from voirdire.version import VERSION

        show.out(VERSION)
        raise typer.Exit()


def _root(
    version: bool = typer.Option(False, "--version", help="cli.option.version", is_eager=True, callback=_tell_version),
    lang: str = typer.Option(None, "--lang", help="cli.option.lang", metavar="en|zh"),
) -> None:
    """Every command goes through here; the options have been dealt with before."""


def _described(option: TyperOption | None, lang: str) -> TyperOption | None:
    if option is not None:
        option.help = text("cli.option.help", lang)
    return option


def _translate(command: Any, lang: str) -> None:
    """Replace every catalogue key in a command and its parts by its sentence."""
    command.lang = lang
    for holder in (command, *command.params):
        for name in ("help", "epilog", "rich_help_panel"):
            key = getattr(holder, name, None)
            if isinstance(key, str) and has(key, lang):
                setattr(holder, name, text(key, lang))
    for child in getattr(command, "commands", {}).values():
        _translate(child, lang)
