"""The entry point of the ``voirdire`` command: language, errors and exit codes.

Exit codes: 0 ok, 3 broken input or wrong usage, 4 interrupted; 1 (fail) and 2 (not enough evidence) are given
by ``check`` alone; 70 for a fault of voirdire itself.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from voirdire.cli import language, show
from voirdire.errors import VoirdireError
from voirdire.texts import text

USAGE, INTERRUPTED, FAULT = 3, 4, 70
_SIGINT = 130
_UsageError: Any = typer.BadParameter.__mro__[1]
_TyperError: Any = _UsageError.__mro__[1]
_MISTAKES = {
    "NoSuchOption": "cli.usage.no_option",
    "MissingParameter": "cli.usage.missing",
    "BadParameter": "cli.usage.bad_value",
    "BadOptionUsage": "cli.usage.no_value",
}


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are shown, never raised."""
    lang, as_json = "en", "--json" in args
    try:
        lang = language.decide(args, os.environ)
        from voirdire.cli.build import build_app

        result = build_app(lang).main(language.without(args), prog_name="voirdire", standalone_mode=False, obj=lang)
        return _interrupted(lang, as_json) if result == _SIGINT else int(result or 0)
    except VoirdireError as error:
        more = _lacking(error, args, lang)
        shown = show.sentence(error, lang) + more
        return _tell(error.key, error.message(lang) + more, lang, as_json, error.exit_code, error.fields, shown)
    except _TyperError as error:
        return _mistake(error, lang, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(lang, as_json)
    except SystemExit:  # typer's answer to a reader that went away
        return 0
    except OSError as error:
        why = error.strerror or str(error)
        return _tell("cli.file", text("cli.file", lang, file=error.filename or "-", why=why), lang, as_json, USAGE)
    except Exception:  # noqa: BLE001
        show.err(traceback.format_exc())
        return _tell("cli.fault", text("cli.fault", lang), lang, as_json, FAULT)


def _lacking(error: VoirdireError, args: Sequence[str], lang: str) -> str:
    """What is said where a table cannot be read and the advice names options that the command does not have."""
    if not error.key.startswith("input."):
        return ""
    from voirdire.cli.build import build_app

    root = build_app(lang)
    named = {*re.findall(r"--[a-z][a-z-]*", error.message(lang))} & _options(root.commands["audit"])
    path, command = ["voirdire"], root
    for word in language.without(args):
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            path.append(word)
    lacking = sorted(named - _options(command))
    told = {"command": " ".join(path), "options": text("report.list_separator", lang).join(lacking)}
    return text("cli.usage.lacking", lang, **told) if lacking else ""


def _options(command: Any) -> set[str]:
    return {option for param in command.params for option in param.opts}


def _interrupted(lang: str, as_json: bool) -> int:
    return _tell("cli.interrupted", text("cli.interrupted", lang), lang, as_json, INTERRUPTED)


def _mistake(error: Any, lang: str, as_json: bool) -> int:
    """Tell a wrong use of options or arguments, in the language of the run."""
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        show.err(error.format_message().strip() or text("cli.usage.no_args", lang))
        return USAGE
    ctx = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None) or _hint(error)
    similar = ", ".join(sorted(getattr(error, "possibilities", None) or []))
    key = _MISTAKES.get(kind, "cli.usage.other")
    if kind == "NoSuchOption" and not similar:
        key = "cli.usage.no_such_option"
    command = ctx.command_path if ctx is not None else "voirdire"
    why = str(getattr(error, "message", "") or error)
    sentence = text(key, lang, option=option, similar=similar, why=why)
    hint = text("cli.usage.help", lang, command=command)
    return _tell(key, f"{sentence} {hint}", lang, as_json, USAGE)


def _hint(error: Any) -> str:
    param = getattr(error, "param", None)
    if param is None:
        return str(getattr(error, "param_hint", "") or "")
    name = str(param.opts[0])
    return name if name.startswith("-") else name.upper()


def _tell(key: str, sentence: str, lang: str, as_json: bool, code: int, fields: Any = None, shown: str = "") -> int:
    show.err(text("cli.error", lang, sentence=shown or show.clean(sentence)))
    if as_json:
        show.json({"error": {"key": key, "message": sentence, "fields": fields or {}, "exit_code": code}})
    return code
