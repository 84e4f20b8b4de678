"""What the lead's pages show, in words: progress, raters and their flags, links, times."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel

from voirdire.annotation.flags import Flag
from voirdire.annotation.nouns import Invitation
from voirdire.annotation.progress import PoolProgress, Progress, RaterProgress
from voirdire.texts import text

SHARES = frozenset({"share", "difference", "chance", "others"})
RULES = ("straight_line", "same_answer", "speeding", "gold", "repeats")


class PoolTold(BaseModel):
    """How far a pool is. A rating is an item rated by one person, all questions together."""

    pool: str
    wanted: int
    done: int
    open: int
    partial: int
    items: int
    items_complete: int
    raters_active: int
    raters_here: int
    finished: int
    screened_out: int
    deleted: int
    surplus: int
    done_text: str
    complete_text: str
    active_text: str


class FlagTold(BaseModel):
    """Something about a rater that should be looked at, with its numbers and in words."""

    kind: str
    question: str
    numbers: dict[str, float]
    text: str


class RaterTold(BaseModel):
    """How far a rater is; times in seconds, and in words.

    label : what the lead called the invitation by which the rater joined
    """

    id: str
    label: str
    pool: str
    state: str
    done: int
    total: int
    median_seconds: float | None
    seen_at: float
    flags: list[FlagTold]
    state_text: str
    done_text: str
    median_text: str
    seen_text: str
    seen_moment: str


class ProgressTold(BaseModel):
    """How far a batch is; ``event`` is the number of the last change that this holds."""

    event: int
    pools: list[PoolTold]
    raters: list[RaterTold]


def progress_told(progress: Progress, items: int, now: float, lang: str) -> ProgressTold:
    """Progress in words."""
    return ProgressTold(
        event=progress.event,
        pools=[_pool(name, pool, items, lang) for name, pool in progress.pools.items()],
        raters=[_rater(rater, now, lang) for rater in progress.raters],
    )


def _pool(name: str, pool: PoolProgress, items: int, lang: str) -> PoolTold:
    told = {field: getattr(pool, field) for field in PoolProgress.__slots__}
    return PoolTold(
        pool=name,
        items=items,
        done_text=text("lead.progress.of", lang, done=pool.done, wanted=pool.wanted),
        complete_text=text("lead.progress.of", lang, done=pool.items_complete, wanted=items),
        active_text=text("lead.progress.here", lang, active=pool.raters_active, here=pool.raters_here),
        **told,
    )


def _rater(rater: RaterProgress, now: float, lang: str) -> RaterTold:
    return RaterTold(
        id=rater.id,
        label=rater.label,
        pool=rater.pool,
        state=rater.state,
        done=rater.done,
        total=rater.total,
        median_seconds=rater.median_seconds,
        seen_at=rater.seen_at,
        flags=[flag_told(flag, lang) for flag in rater.flags],
        state_text=text(f"lead.state.{rater.state}", lang),
        done_text=text("lead.progress.of", lang, done=rater.done, wanted=rater.total),
        median_text=duration(rater.median_seconds, lang),
        seen_text=ago(now - rater.seen_at, lang),
        seen_moment=moment(rater.seen_at),
    )


def flag_told(flag: Flag, lang: str) -> FlagTold:
    """A flag as a sentence with its numbers.

    >>> flag_told(Flag("gold", {"failed": 2, "n": 3, "p": 0.0047}), "en").text
    'Items with known answers: 2 of 3 wrong.'
    """
    key = f"lead.flag.{flag.kind}{_why(flag)}"
    shown = {name: _number(flag, name, value) for name, value in flag.numbers.items()}
    told = text(key, lang, question=flag.question, **shown)
    return FlagTold(kind=flag.kind, question=flag.question, numbers=dict(flag.numbers), text=told)


def _why(flag: Flag) -> str:
    """Which of the two rules on speed applied: too fast for anybody, or compared to the others."""
    numbers = flag.numbers
    if flag.kind != "speeding" or numbers["seconds"] >= numbers["least"]:
        return ""
    return "_least" if "others" in numbers else "_alone"


def _number(flag: Flag, name: str, value: float) -> str:
    if name in SHARES and flag.kind != "speeding":
        return f"{value:.0%}"
    if name == "p":
        return f"{value:.1g}" if value >= 1e-4 else "0.0001"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def duration(seconds: float | None, lang: str) -> str:
    """A time on an item.

    >>> duration(2.46, "en"), duration(12.4, "en"), duration(200, "en"), duration(None, "en")
    ('2.5 s', '12 s', '3 min', '—')
    """
    if seconds is None:
        return text("lead.time.none", lang)
    if seconds < 120:
        return text("lead.time.seconds", lang, count=f"{seconds:.1f}" if seconds < 9.95 else round(seconds))
    return text("lead.time.minutes", lang, count=round(seconds / 60))


def ago(seconds: float, lang: str) -> str:
    """How long ago something was.

    >>> ago(30, "en"), ago(3600, "en"), ago(86400 * 3, "en")
    ('now', '60 min ago', '3 d ago')
    """
    if seconds < 90:
        return text("lead.ago.now", lang)
    for unit, length, limit in (("minutes", 60, 5400), ("hours", 3600, 129_600), ("days", 86_400, float("inf"))):
        if seconds < limit:
            return text(f"lead.ago.{unit}", lang, count=round(seconds / length))
    raise AssertionError


def day(moment: float) -> str:
    """A date in UTC.

    >>> day(0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")


def moment(seconds: float) -> str:
    """A date and time in UTC, to the minute.

    >>> moment(90)
    '1970-01-01 00:01 UTC'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


class LinkTold(BaseModel):
    """An invitation link in words; its token is never known again."""

    id: int
    pool: str
    label: str
    kind_text: str
    joined_text: str
    made_text: str
    revoked: bool


def link_told(invitation: Invitation, lang: str) -> LinkTold:
    """An invitation link in words."""
    most = invitation.most_raters
    if most is None:
        kind, joined = text("lead.invite.many", lang), str(invitation.joined)
    else:
        kind = text("lead.invite.one", lang) if most == 1 else text("lead.invite.most", lang, count=most)
        joined = text("lead.invite.joined_of", lang, joined=invitation.joined, most=most)
    return LinkTold(
        id=invitation.id,
        pool=invitation.pool,
        label=invitation.label or text("lead.invite.no_label", lang),
        kind_text=kind,
        joined_text=joined,
        made_text=day(invitation.created_at),
        revoked=invitation.revoked,
    )
