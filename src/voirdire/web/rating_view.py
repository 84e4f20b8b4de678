"""From the study and a rater's order to what the rater's page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voirdire.annotation.assignments import work
from voirdire.annotation.batches import batch
from voirdire.annotation.nouns import Asked, Assignment, Batch, PoolPlan, Rater, Study, Texts
from voirdire.annotation.study_questions import levels
from voirdire.annotation.wording import said
from voirdire.corpus.shown import UNKNOWN_LANGUAGE, Item
from voirdire.texts import text, ui_of
from voirdire.web.images import image_url, picture_of
from voirdire.web.rating_models import (
    AskedQuestion,
    ItemsTold,
    KeptAnswer,
    LanguageName,
    Level,
    OwnProgress,
    SessionTold,
    ShownImage,
    ShownItem,
    Wording,
)
from voirdire.web.service import Service

LANGUAGE_NAMES = {
    "ar": "العربية", "bn": "বাংলা", "de": "Deutsch", "en": "English", "es": "Español", "fr": "Français",
    "ha": "Hausa", "hi": "हिन्दी", "id": "Bahasa Indonesia", "ja": "日本語", "ko": "한국어", "pt": "Português",
    "ru": "Русский", "sw": "Kiswahili", "tr": "Türkçe", "vi": "Tiếng Việt", "yo": "Yorùbá", "zh": "中文",
}  # fmt: skip
"""Languages in their own words."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A rater's place of work: the batch, the pool, and the items in order."""

    service: Service
    rater: Rater
    batch: Batch
    work: Sequence[Assignment]

    @property
    def study(self) -> Study:
        """The study of the batch."""
        return self.batch.spec.study

    @property
    def plan(self) -> PoolPlan:
        """The rater's pool."""
        return self.study.pool(self.rater.pool)

    @property
    def done(self) -> int:
        """How many items are complete."""
        return sum(assignment.state != "open" for assignment in self.work)

    @property
    def complete(self) -> bool:
        """Whether there were items, and all are complete."""
        return 0 < len(self.work) == self.done


def desk_of(service: Service, rater: Rater) -> Desk:
    """The rater's place of work as it is now."""
    return Desk(service, rater, batch(service.database, rater.batch), work(service.database, rater.id))


def language_names(languages: Sequence[str]) -> list[LanguageName]:
    """Languages with their names in themselves; the code where we do not know it."""
    return [LanguageName(code=code, name=LANGUAGE_NAMES.get(code.split("-")[0], code)) for code in languages]


def session_told(desk: Desk, csrf: str) -> SessionTold:
    """What the rater's page must know before the first item."""
    return SessionTold(
        rater=desk.rater.id,
        language=desk.rater.language,
        languages=language_names(desk.plan.languages),
        csrf=csrf,
        open=desk.batch.open,
        finished=desk.rater.state == "finished",
        questions=[asked_question(asked, desk.rater.language) for asked in desk.study.questions],
        progress=own_progress(desk),
    )


def own_progress(desk: Desk) -> OwnProgress:
    """The rater's own numbers."""
    numbers = (number for number, one in enumerate(desk.work, start=1) if one.state == "open")
    seconds = sum(_seconds(assignment) for assignment in desk.work)
    return OwnProgress(done=desk.done, total=len(desk.work), seconds=seconds, first_open=next(numbers, None))


def items_told(desk: Desk, start: int, count: int) -> ItemsTold:
    """A window of items. start : number of the first, from 1."""
    window = desk.work[start - 1 : start - 1 + count]
    items = [_shown_item(desk, assignment, number) for number, assignment in enumerate(window, start=start)]
    return ItemsTold(start=start, total=len(desk.work), items=items)


def asked_question(asked: Asked, language: str) -> AskedQuestion:
    """A question in a language.

    >>> asked_question(Asked("q", "buttons", low=1, high=2, low_end={"en": "bad"}), "en").levels
    [Level(value='1', text=''), Level(value='2', text='')]
    """
    words = {option.value: said(option.text, language) for option in asked.options}
    values = levels(asked)
    return AskedQuestion(
        id=asked.id,
        widget=asked.widget,
        text=said(asked.text, language),
        help=said(asked.help, language),
        levels=[Level(value=value, text=words.get(value, "")) for value in values],
        low=asked.low,
        high=asked.high,
        low_end=said(asked.low_end, language),
        high_end=said(asked.high_end, language),
        of_item=asked.of_item,
        required=asked.required,
        not_applicable=asked.not_applicable,
        comment=asked.comment,
    )


def wording(texts: Texts, language: str) -> Wording | None:
    """A text of an item for a reader of a language, else in the first language that it has; None without any.

    >>> wording({"en": "Good?", "zh": "好吗？"}, "zh"), wording({"en": "Good?"}, "zh"), wording({}, "zh")
    (Wording(text='好吗？', lang='zh'), Wording(text='Good?', lang='en'), None)
    """
    main = language.partition("-")[0]
    for code in (language, main, UNKNOWN_LANGUAGE, *texts):
        if texts.get(code):
            return Wording(text=texts[code], lang="" if code == UNKNOWN_LANGUAGE else code)
    return None


def _shown_item(desk: Desk, assignment: Assignment, number: int) -> ShownItem:
    item = desk.service.shown.items[assignment.item_id]
    language = desk.rater.language
    answers = {
        name: KeptAnswer(value=answer.value, comment=answer.comment) for name, answer in assignment.answers.items()
    }
    return ShownItem(
        assignment=assignment.id,
        number=number,
        state=assignment.state,
        image=_shown_image(desk.service, item, language),
        prompt=wording(item.prompts, language),
        text=wording(item.texts, language),
        answers=answers,
        seconds=_seconds(assignment),
    )


def _shown_image(service: Service, item: Item, language: str) -> ShownImage | None:
    if item.image is None:
        return None
    alt = said(item.alts, language) or text("rating.image_alt", ui_of(language))
    picture = picture_of(service, item.id)
    width, height = (picture.width, picture.height) if picture else (4, 3)
    return ShownImage(url=image_url(service, item.id), width=width, height=height, alt=alt)


def _seconds(assignment: Assignment) -> float:
    """How long an item had been looked at when its last answer was given."""
    return max((answer.seconds for answer in assignment.answers.values()), default=0.0)
