"""What a judge is asked: one user message from an item, a question and a condition.

The order is that of the paper (appendix F: persona prefix, the item's question, rating instruction), with what is
rated before the question: demonstrations; prefixes; cue images; the item; the question; the rating instruction; after
malformed replies one tightening sentence. A retry is a fresh message; a malformed reply is never sent back.

Texts of conditions have the fields ``{low}``, ``{high}``, ``{levels}`` and ``{level}``; they are replaced here, and
nothing in a text of an item, a persona or a question is ever taken for a field of Python's formatting.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voirdire.corpus.shown import Item
from voirdire.errors import InputError
from voirdire.judging.asked import levels_of as levels_of_scale
from voirdire.judging.injection import FLAGS, enclosed, flags_of_text, without_tags
from voirdire.judging.nouns import AskedQuestion, Condition, Demonstration, ImagePart, Prompt, TextPart
from voirdire.scales import Scale

UND = "und"
"""The language of texts whose column names none."""

_ALL_LISTED = 21
_FIELD = re.compile(r"\{(low|high|levels|level)\}")
_SEPARATORS = {"zh": "、", "ja": "、"}
_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class _Tagged:
    """A text that stands between tags."""

    text: str


Piece = str | _Tagged | Path


def levels_of(question: AskedQuestion, item: Item | None = None) -> tuple[int, ...]:
    """The integers that answer a question, on the item's own scale where it has one.

    Labels in order have their places as numbers. Raises InputError for a scale without integers to reply with.

    >>> levels_of(AskedQuestion("q1", Scale("ordinal", 1, 5)))
    (1, 2, 3, 4, 5)
    """
    return levels_of_scale(_scale(question, item), question.id)


def question_text(item: Item, question: AskedQuestion, language: str) -> str | None:
    """The wording of a question for an item: the language's own before one of unknown language; None = there is none.

    Items' own prompts are wordings of the evaluation question (and of a question whose role nobody declared); a
    question of another role is asked in its own words.
    """
    own = [item.prompts] if question.role in (None, "evaluation") else []
    return next((found for texts in (*own, question.text) if (found := in_language(texts, language)) is not None), None)


def in_language(texts: Mapping[str, str], language: str) -> str | None:
    """A text in a language, else the one of unknown language, else None; an empty text is none."""
    found = texts.get(language) or texts.get(UND)
    return found if found and found.strip() else None


def build_prompt(
    item: Item,
    question: AskedQuestion,
    condition: Condition,
    *,
    levels: Sequence[int],
    malformed: int = 0,
    demonstrations: Sequence[Demonstration] = (),
    sha256_of: Callable[[Path], str],
) -> Prompt:
    """The message for one call.

    Parameters
    ----------
    levels : the integers of the question's scale (``levels_of``)
    malformed : how many malformed replies the cell has had; the n-th adds the n-th tightening text
    demonstrations : as drawn for the item, on the question's scale; exactly when the condition has a design
    sha256_of : the digest of an image's bytes, for the prompt's digest

    Raises InputError where a text is missing in the condition's language; ValueError with the condition's name for
    demonstrations without a design and for a design without demonstrations.
    """
    if bool(demonstrations) != (condition.demonstrations is not None):
        raise ValueError(condition.full_name)
    asked = question_text(item, question, condition.language)
    if asked is None:
        raise missing_text("prompt", condition.language, [item.id])
    fill = _Filler(tuple(levels), condition)
    pieces: list[Piece] = [
        *_examples(demonstrations, condition, fill),
        *(fill(prefix) for prefix in condition.prefixes),
        *condition.cues,
        *_shown(item, condition),
        without_tags(asked),
        fill.instruction(_scale(question, item).labels),
        *([fill(condition.tightening[min(malformed, len(condition.tightening)) - 1])] if malformed else []),
    ]
    parts = tuple(_parts(pieces, fill(condition.material)))
    return Prompt(parts, condition.language, _digest(parts, sha256_of), flags_of(item, [question], condition))


def flags_of(item: Item, questions: Sequence[AskedQuestion], condition: Condition) -> tuple[str, ...]:
    """What the texts of an item, and its wordings of questions, try: see ``voirdire.judging.injection``."""
    texts = [question_text(item, question, condition.language) for question in questions]
    texts += [_alt(item, condition), _text(item, condition)]
    found = {flag for text in texts if text for flag in flags_of_text(text)}
    return tuple(flag for flag in FLAGS if flag in found)


def shows_something(item: Item, condition: Condition, *, tagged: bool = False) -> bool:
    """Whether anything of an item stands in the prompts of a condition; with ``tagged``, any text in tags."""
    return any(isinstance(piece, _Tagged) or not tagged for piece in _shown(item, condition))


def missing_text(what: str, language: str, items: Sequence[str], *, column: bool = False) -> InputError:
    """The error for items without a prompt, a text or a description in a language.

    column : whether other items have one, so that a cell is empty and no column is missing
    """
    named = ", ".join(items[:5]) + ("…" if len(items) > 5 else "")
    key = "grid.item_text_empty" if column else "grid.item_text_missing"
    return InputError(key, value=what, language=language, items=named, count=len(items))


class _Filler:
    """Fills the fields of a condition's texts in one pass; what is filled in is never looked at again."""

    def __init__(self, levels: tuple[int, ...], condition: Condition) -> None:
        self.levels = levels
        self.condition = condition
        separator = _SEPARATORS.get(condition.language.split("-")[0].lower(), ", ")
        names = [str(level) for level in levels]
        self.values = {
            "low": names[0],
            "high": names[-1],
            "levels": separator.join(names if len(names) <= _ALL_LISTED else [*names[:3], "…", names[-1]]),
        }

    def __call__(self, template: str, level: int | None = None) -> str:
        values = self.values if level is None else {**self.values, "level": str(self._asked(level))}
        return _FIELD.sub(lambda field: values.get(field.group(1), field.group(0)), template)

    def instruction(self, labels: Sequence[str]) -> str:
        """The rating instruction; where levels have labels, these are listed below it."""
        named = [f"{level} = {labels[self._asked(level) - self.levels[0]]}" for level in self.levels] if labels else []
        return "\n".join([self(self.condition.instruction), *map(without_tags, named)])

    def _asked(self, level: int) -> int:
        """A level of the scale as it is asked: exchanged where the scale is reversed."""
        return self.levels[0] + self.levels[-1] - level if self.condition.reversed else level


def _examples(demonstrations: Sequence[Demonstration], condition: Condition, fill: _Filler) -> Iterator[Piece]:
    if not demonstrations:
        return
    frame = condition.demonstration_frame
    yield fill(frame["before"])
    for shown in demonstrations:
        yield from _shown(shown.item, condition)
        yield fill(frame["example"], shown.level)
    yield fill(frame["after"])


def _shown(item: Item, condition: Condition) -> Iterator[Piece]:
    """What is rated: the image or its description, and the text."""
    if item.image is not None and condition.image == "file":
        yield item.image
    described = _alt(item, condition)
    if described is not None:
        yield _Tagged(enclosed(described, "image_description"))
    text = _text(item, condition)
    if text is not None:
        yield _Tagged(enclosed(text, "item_text"))


def _alt(item: Item, condition: Condition) -> str | None:
    if condition.image != "alt" or (item.image is None and not item.alts):
        return None
    found = in_language(item.alts, condition.language)
    if found is None:
        raise missing_text("alt", condition.language, [item.id])
    return found


def _text(item: Item, condition: Condition) -> str | None:
    found = in_language(item.texts, condition.language)
    if found is None and any(text and text.strip() for text in item.texts.values()):
        raise missing_text("text", condition.language, [item.id])
    return found


def _parts(pieces: Sequence[Piece], material: str) -> Iterator[TextPart | ImagePart]:
    """Neighbouring texts become one part, with an empty line between them; the note on material comes once."""
    texts: list[str] = []
    told = not material
    for piece in pieces:
        if isinstance(piece, Path):
            if texts:
                yield TextPart(_GAP.join(texts))
            texts = []
            yield ImagePart(piece)
            continue
        if isinstance(piece, _Tagged):
            texts += [piece.text] if told else [material, piece.text]
            told = True
        else:
            texts.append(piece)
    if texts:
        yield TextPart(_GAP.join(texts))


def _digest(parts: Sequence[TextPart | ImagePart], sha256_of: Callable[[Path], str]) -> str:
    total = hashlib.sha256()
    for part in parts:
        content = part.text if isinstance(part, TextPart) else sha256_of(part.path)
        data = content.encode("utf-8", "surrogatepass")
        total.update(f"{'text' if isinstance(part, TextPart) else 'image'}:{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()[:16]


def _scale(question: AskedQuestion, item: Item | None) -> Scale:
    return item.scale if item is not None and item.scale is not None else question.scale
