"""Parts of a study as they are written in ``annotation.toml``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from voirdire.annotation.nouns import Asked, Option, PoolPlan, Screening, Texts
from voirdire.corpus.shown import UNKNOWN_LANGUAGE

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def pool_lines(pool: PoolPlan) -> Iterator[str]:
    """A pool, beginning with ``[[pools]]``."""
    yield "[[pools]]"
    yield f"name = {string(pool.name)}"
    yield f"languages = {array(pool.languages)}"
    for name, texts in (
        ("title", pool.title), ("consent", pool.consent), ("agree", pool.agree), ("welcome", pool.welcome),
    ):  # fmt: skip
        yield from text_lines(name, texts)
    for name, value in (("completion_code", pool.completion_code), ("completion_url", pool.completion_url)):
        if value:
            yield f"{name} = {string(value)}"


def question_lines(asked: Asked) -> Iterator[str]:
    """A question, beginning with ``[[questions]]``; what follows from the rest is left out."""
    yield "[[questions]]"
    yield f"id = {string(asked.id)}"
    if asked.role is not None:
        yield f"role = {string(asked.role)}"
    yield f"widget = {string(asked.widget)}"
    if asked.widget != "text":
        yield f"level = {string(asked.level)}"
    for name, end in (("low", asked.low), ("high", asked.high)):
        if end is not None:
            yield f"{name} = {int(end) if end.is_integer() else end!r}"
    yield from option_lines(asked.options)
    texts = {"text": asked.text, "help": asked.help, "low_end": asked.low_end, "high_end": asked.high_end}
    for name, worded in texts.items():
        yield from text_lines(name, worded)
    if asked.positive is not None:
        yield f"positive = {string(asked.positive)}"
    usual = {"of_item": asked.role == "evaluation", "required": asked.widget != "text"}
    for name in ("of_item", "required", "not_applicable", "comment"):
        if getattr(asked, name) != usual.get(name, False) or (name == "of_item" and asked.of_item):
            yield f"{name} = {boolean(getattr(asked, name))}"


def screening_lines(asked: Screening) -> Iterator[str]:
    """A screening question, beginning with ``[[screening]]``."""
    yield "[[screening]]"
    yield f"id = {string(asked.id)}"
    yield f"kind = {string(asked.kind)}"
    yield from text_lines("text", asked.text)
    yield from option_lines(asked.options)
    accepted = list(asked.accept.values())
    if accepted and all(values == accepted[0] for values in accepted):
        yield f"accept = {array(accepted[0])}"
    else:
        for pool, values in asked.accept.items():
            yield f"accept.{key(pool)} = {array(values)}"
    if asked.all_of:
        yield "all_of = true"
    yield f"keep = {boolean(asked.keep)}"


def option_lines(options: Sequence[Option]) -> Iterator[str]:
    """Options, one a line; values alone where no option has a text."""
    if not any(option.text for option in options):
        if options:
            yield f"options = {array([option.value for option in options])}"
        return
    yield "options = ["
    for option in options:
        yield f"    {{ value = {string(option.value)}{_worded(option.text)} }},"
    yield "]"


def text_lines(name: str, texts: Texts) -> Iterator[str]:
    """A text, one line a language; a bare text where its language is not known."""
    if list(texts) == [UNKNOWN_LANGUAGE]:
        yield f"{name} = {string(texts[UNKNOWN_LANGUAGE])}"
        return
    for language, worded in texts.items():
        yield f"{name}.{key(language)} = {string(worded)}"


def comment_lines(words: str) -> Iterator[str]:
    """A comment, which may have several lines."""
    for line in words.splitlines():
        yield f"# {line}".rstrip()


def commented(lines: Iterable[str]) -> Iterator[str]:
    """Lines that are there to be uncommented."""
    return (f"# {line}".rstrip() for line in lines)


def string(value: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL.

    >>> string("two words"), key("us"), key("two words")
    ('"two words"', 'us', '"two words"')
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A name as a key, in quotation marks where it needs them."""
    return name if _BARE.fullmatch(name) else string(name)


def array(values: Sequence[str]) -> str:
    """An array of strings on one line."""
    return f"[{', '.join(map(string, values))}]"


def boolean(value: bool) -> str:
    """True or false as TOML writes it."""
    return "true" if value else "false"


def _worded(texts: Mapping[str, str]) -> str:
    if not texts:
        return ""
    if list(texts) == [UNKNOWN_LANGUAGE]:
        return f", text = {string(texts[UNKNOWN_LANGUAGE])}"
    inner = ", ".join(f"{key(language)} = {string(worded)}" for language, worded in texts.items())
    return f", text = {{ {inner} }}"
