"""What the page of an invitation shows and keeps: its link, its form, and who comes by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from voirdire.annotation.assignments import places_left
from voirdire.annotation.batches import batch
from voirdire.annotation.invitations import by_token
from voirdire.annotation.nouns import Batch, Invitation, PoolPlan, Rater
from voirdire.annotation.raters import join, rater, returning
from voirdire.annotation.wording import said
from voirdire.texts import text, ui_of
from voirdire.web.screening import CONSENT, Screened, field_name, kept, passes
from voirdire.web.security import count_guess, earlier_session, session_of
from voirdire.web.service import Service, service_of

PLATFORM_ID = "PROLIFIC_PID"
MOST_EXTERNAL = 200


@dataclass(frozen=True, slots=True)
class Box:
    """One box or button of a screening question."""

    name: str
    value: str
    text: str
    ticked: bool


@dataclass(frozen=True, slots=True)
class ScreeningShown:
    """A screening question as the form shows it."""

    place: int
    text: str
    many: bool
    boxes: tuple[Box, ...]
    missing: bool


@dataclass(frozen=True, slots=True)
class Door:
    """A link that works: the invitation, its batch and pool, and the language in which it is read."""

    invitation: Invitation
    batch: Batch
    plan: PoolPlan
    language: str
    external: str = ""
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def ui(self) -> str:
        """The language of our own sentences."""
        return ui_of(self.language)

    def shown(self, screened: Screened | None = None) -> list[ScreeningShown]:
        """The screening questions, filled in as the form was; after a form with gaps those that lack an answer."""
        missing = screened.unanswered if screened else ()
        found = []
        for place, asked in enumerate(self.batch.spec.study.screening):
            many = asked.kind == "many"
            boxes = []
            for number, option in enumerate(asked.options):
                name = field_name(place, number if many else None)
                worded = said(option.text, self.language) or option.value
                boxes.append(Box(name, option.value, worded, self.form.get(name) == option.value))
            worded = said(asked.text, self.language) or asked.id
            found.append(ScreeningShown(place, worded, many, tuple(boxes), asked.id in missing))
        return found


def door_of(request: Request, token: str, form: Mapping[str, str] | None = None) -> Door | None:
    """What is behind a link; None for an unknown or revoked one, which is counted against those who guess."""
    service = service_of(request)
    invitation = by_token(service.database, token)
    if invitation is None:
        count_guess(request)
        return None
    found = batch(service.database, invitation.batch)
    plan = found.spec.study.pool(invitation.pool)
    wanted = (form or {}).get("switch") or (form or {}).get("language") or request.query_params.get("lang")
    language = wanted if wanted in plan.languages else plan.languages[0]
    return Door(invitation, found, plan, language, external_id(request.query_params), form or {})


def external_id(parameters: Mapping[str, str]) -> str:
    """The id that a recruiting platform gave a person; empty where it is missing or was not filled in.

    >>> external_id({"PROLIFIC_PID": "5f2a"}), external_id({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
    ('5f2a', '')
    """
    value = parameters.get(PLATFORM_ID, "").strip()
    return "" if not value or "{{" in value or len(value) > MOST_EXTERNAL else value


def known_here(request: Request, door: Door) -> Rater | None:
    """Whom a link belongs to: by its platform id, or as a personal link; else who joined by it in this browser."""
    service = service_of(request)
    found = returning(service.database, door.invitation, door.external)
    if found is not None or door.external:
        return found
    for session in (session_of(request, "rater"), earlier_session(request, door.batch.id)):
        here = rater(service.database, session.who) if session else None
        if here and here.invitation == door.invitation.id and here.state != "deleted":
            return here
    return None


def barred(service: Service, door: Door) -> str:
    """Why somebody new cannot join by a link now: ``closed``, ``full``, ``nothing`` (to rate); empty where they can."""
    if not door.batch.open:
        return "closed"
    most = door.invitation.most_raters
    if most is not None and door.invitation.joined >= most:
        return "full"
    left = places_left(service.database, door.batch.id, door.plan.name, service.now())
    return "" if left else "nothing"


def joined(service: Service, door: Door, screened: Screened) -> Rater:
    """The new rater; one who does not pass is kept as such, with no answers. Raises Full and Closed."""
    screening = door.batch.spec.study.screening
    passed = passes(screening, door.plan.name, screened.chosen)
    return join(
        service.database,
        door.invitation,
        language=door.language,
        attributes=kept(screening, screened.chosen) if passed else {},
        passed=passed,
        external=door.external,
        now=service.now(),
    )


def gaps(door: Door, screened: Screened) -> list[tuple[str, str]]:
    """What a form lacks: (id of the place to go to, sentence)."""
    found = [
        (f"screening-{shown.place}", text("rating.join.missing_answer", door.ui, question=shown.text))
        for shown in door.shown(screened)
        if shown.missing
    ]
    return found if screened.consent else [*found, (CONSENT, text("rating.join.missing_consent", door.ui))]


def paragraphs(worded: str) -> Sequence[str]:
    r"""The paragraphs of a text that a lead wrote, which are parted by empty lines.

    >>> paragraphs("One.\n\nTwo,\nstill two.")
    ['One.', 'Two,\nstill two.']
    """
    return [part.strip() for part in worded.replace("\r\n", "\n").split("\n\n") if part.strip()]
