"""What the rater's endpoints take and give, as JSON.

Nothing here names an item, a culture, a kind of assignment or another rater.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_COMMENT = 4000
State = Literal["open", "done", "returned", "surplus"]


class Level(BaseModel):
    """One answer that can be chosen. ``text`` is empty where the value says enough."""

    value: str
    text: str


class AskedQuestion(BaseModel):
    """A question in the rater's language. With ``of_item`` an item's own prompt is its wording."""

    id: str
    widget: Literal["buttons", "slider", "choice", "number", "text"]
    text: str
    help: str
    levels: list[Level]
    low: float | None
    high: float | None
    low_end: str
    high_end: str
    of_item: bool
    required: bool
    not_applicable: bool
    comment: bool


class ShownImage(BaseModel):
    """An image; width and height in pixels."""

    url: str
    width: int
    height: int
    alt: str


class Wording(BaseModel):
    """A text of an item, and the language that it is in ("" where that is not known)."""

    text: str
    lang: str


class KeptAnswer(BaseModel):
    """An answer that is saved."""

    value: str
    comment: str


class ShownItem(BaseModel):
    """An item in the rater's order. ``number`` counts from 1; ``seconds`` it has been looked at so far."""

    assignment: str
    number: int
    state: State
    image: ShownImage | None
    prompt: Wording | None
    text: Wording | None
    answers: dict[str, KeptAnswer]
    seconds: float


class OwnProgress(BaseModel):
    """How far the rater is. ``first_open`` is the number of the first item that is not complete."""

    done: int
    total: int
    seconds: float
    first_open: int | None


class LanguageName(BaseModel):
    """A language that the pages can be read in."""

    code: str
    name: str


class SessionTold(BaseModel):
    """Who rates, and what is asked. ``csrf`` goes into the header x-csrf-token of every change."""

    rater: str
    language: str
    languages: list[LanguageName]
    csrf: str
    open: bool
    finished: bool
    questions: list[AskedQuestion]
    progress: OwnProgress


class ItemsTold(BaseModel):
    """A window of the rater's items."""

    start: int
    total: int
    items: list[ShownItem]


class AnswerGiven(BaseModel):
    """An answer. The same ``key`` is never applied twice; a ``value`` of null takes the answer back."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
    assignment: Annotated[str, Field(min_length=1, max_length=64)]
    question: Annotated[str, Field(min_length=1, max_length=100)]
    value: Annotated[str, Field(max_length=MOST_COMMENT)] | None
    comment: Annotated[str, Field(max_length=MOST_COMMENT)] = ""
    language: Annotated[str, Field(max_length=35)] = ""
    seconds: Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)] = 0.0


class AnswerSaved(BaseModel):
    """What became of an answer. ``applied`` is false for a key that had been applied before."""

    applied: bool
    state: State
    done: int
    total: int


class LanguageWanted(BaseModel):
    """A language of the pool."""

    model_config = ConfigDict(extra="forbid")

    language: Annotated[str, Field(max_length=35)]


class ResumeLink(BaseModel):
    """A link by which the rater goes on with another device."""

    url: str


class Finished(BaseModel):
    """Where to go now that the rater has finished."""

    url: str
