"""Which language a run of the command line speaks: decided before the commands are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voirdire.errors import UsageError
from voirdire.texts import LANGUAGES

VARIABLES = ("VOIRDIRE_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def decide(args: Sequence[str], environ: Mapping[str, str]) -> str:
    """``--lang`` anywhere in the arguments, else VOIRDIRE_LANG, else the locale, else English.

    Raises UsageError for a language after ``--lang`` or in VOIRDIRE_LANG that the catalogue does not have.

    >>> decide(["audit", "--lang", "zh"], {}), decide([], {"LANG": "zh_CN.UTF-8"}), decide([], {"LANG": "C"})
    ('zh', 'zh', 'en')
    """
    asked = _option(args) or environ.get("VOIRDIRE_LANG")
    if asked:
        if asked not in LANGUAGES:
            raise UsageError("errors.language_unknown", value=asked, known=", ".join(LANGUAGES))
        return asked
    locale = next((environ[name] for name in VARIABLES[1:] if environ.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def without(args: Sequence[str]) -> list[str]:
    """The arguments without ``--lang`` and its value: it is decided, and may stand anywhere.

    >>> without(["signature", "--lang", "zh", "--help"]), without(["x", "--lang=zh", "--", "--lang"])
    (['signature', '--help'], ['x', '--', '--lang'])
    """
    place = next((place for place, arg in enumerate(args) if arg == "--lang" or arg.startswith("--lang=")), None)
    end = list(args).index("--") if "--" in args else len(args)
    if place is None or place >= end or (args[place] == "--lang" and place + 1 >= len(args)):
        return list(args)
    return [*args[:place], *without(args[place + (2 if args[place] == "--lang" else 1) :])]


def _option(args: Sequence[str]) -> str | None:
    for place, arg in enumerate(args):
        if arg == "--":
            return None
        if arg.startswith("--lang="):
            return arg.removeprefix("--lang=")
        if arg == "--lang" and place + 1 < len(args):
            return args[place + 1]
    return None
