"""The nouns of judging: item, condition, prompt, cell, call, reply, attempt, outcome; and what a judge is.

A cell (item x judge x condition x question x repeat) is asked by one or more calls. Each call ends in a reply or in
a ``CallFailed``; both are written down as an attempt. The cell ends in one outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from voirdire.corpus.shown import Item
from voirdire.errors import VoirdireError
from voirdire.scales import Scale

Status = Literal["ok", "malformed", "refused", "error"]
"""How a finished cell ended. A cell without an outcome is pending."""

FailureKind = Literal["rate_limit", "overload", "server", "timeout", "connection", "auth", "quota", "request"]
"""Why a call gave no reply.

rate_limit, overload : wait as told and ask again; never counts against the cell
server, timeout, connection : ask again after a growing pause; counts against the cell
request : this request is refused for good (400, 413, 422); the cell ends as error
auth, quota : no call of this lane can succeed (401, 403, 404 model, 402); the lane stops, its cells stay pending
"""

BASE_DESIGN = "base"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question put to judges: its scale and its wording by language (used where an item has no prompt of its own).

    role : as in the questions table. Items' own prompts are wordings of the evaluation question (role ``evaluation``
        or None); a question of another role is asked in its own words.
    """

    id: str
    scale: Scale
    text: Mapping[str, str] = field(default_factory=dict)
    role: str | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text of a prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of a prompt, sent byte for byte unless the run asks for a resize."""

    path: Path


@dataclass(frozen=True, slots=True)
class DesignSpec:
    """A demonstration design: whose ratings of which images are shown.

    pool : the pool whose consensus gives the rating; culture : level of the items' ``culture`` column, None = any
    """

    name: str
    pool: str
    culture: str | None = None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A rated example: an item of the demonstration split and the level that a pool gave it."""

    item: Item
    level: int


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of the grid in one design, with every text that it adds to a prompt.

    name : as in the judgments; design : ``base`` or the name of a demonstration design
    factors : factor -> level (``language`` and, where the grid has designs, ``design`` among them)
    prefixes : texts before the question, in order; instruction : the rating instruction; tightening : what is
        added after the first, second, ... malformed reply; demonstration_frame : texts around the examples
        (``before``, ``example`` with ``{level}``, ``after``), empty without a design
    material : said once before the first text that stands in tags: it is what is rated, not an instruction
    image : ``file`` (the image), ``alt`` (its description instead) or ``none``
    cues : images shown before the item, e.g. of a persona; reversed : the scale is asked with its ends exchanged, so
        that a reply k means low + high - k
    digest : 16 hex digits over all of the above
    """

    name: str
    language: str
    instruction: str
    tightening: tuple[str, ...]
    design: str = BASE_DESIGN
    factors: Mapping[str, str] = field(default_factory=dict)
    prefixes: tuple[str, ...] = ()
    demonstration_frame: Mapping[str, str] = field(default_factory=dict)
    demonstrations: DesignSpec | None = None
    image: Literal["file", "alt", "none"] = "file"
    cues: tuple[Path, ...] = ()
    reversed: bool = False
    material: str = ""
    digest: str = ""

    @property
    def full_name(self) -> str:
        """``neutral_en``, or ``neutral_en/aa`` in a design."""
        return self.name if self.design == BASE_DESIGN else f"{self.name}/{self.design}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One user message: texts and images in order.

    digest : 16 hex digits over every text and over the sha256 of every image, in order
    flags : what was noticed in the item's text, e.g. ``instruction`` (it addresses the judge)
    """

    parts: tuple[TextPart | ImagePart, ...]
    language: str
    digest: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a judge.

    id : names run, cell and attempt (``<run>-<cell>-<attempt>``), sent as X-Client-Request-Id
    levels : the integers that are ratings
    condition : the condition's name; item : the item asked about (for judges that need no prompt)
    reversed : the condition asks the scale with its ends exchanged, and a reply k will be read as low + high - k
    """

    id: str
    prompt: Prompt
    item: Item
    condition: str
    question: str
    repeat: int
    levels: tuple[int, ...]
    factors: Mapping[str, str] = field(default_factory=dict)
    design: str = BASE_DESIGN
    reversed: bool = False

    def as_asked(self, rating: float) -> float:
        """A rating on the question's own scale, on the scale as this call asks it (for judges that give numbers)."""
        return min(self.levels) + max(self.levels) - rating if self.reversed else rating


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider counts them; None where it does not say.

    cached and reasoning are parts of input and output, already contained in them.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered.

    text : the visible answer, untrusted; reasoning : the thinking part, where the provider separates it
    refusal : the provider's own signal that the model or a filter declined (its code or sentence), else None
    rating : a rating given as a number by a judge that does not answer in words; None for all others
    finish : stop, length, filter, other
    served : the model id that the provider says answered; served_by : system fingerprint or upstream provider
    """

    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    rating: float | None = None
    finish: str = "stop"
    served: str = ""
    served_by: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    logprobs: Mapping[str, float] = field(default_factory=dict)


class CallFailed(Exception):  # noqa: N818 - a call that gave no reply is expected, not a fault of the program
    """A call that gave no reply.

    retry_after : seconds that the provider asks to wait, or None
    status : the HTTP status, or None where none was received
    why : the provider's sentence, with keys struck out; untrusted
    sent : False where it is certain that nothing was sent, so that nothing can be charged
    """

    def __init__(
        self,
        kind: FailureKind,
        why: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(f"{kind}: {why}")
        self.kind = kind
        self.why = why
        self.status = status
        self.retry_after = retry_after
        self.sent = sent

    @property
    def delivered(self) -> bool:
        """Whether the server said that it did what was asked, and what it sent cannot be read."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def free(self) -> bool:
        """Whether the call was certainly not charged: refused by the server, or never sent."""
        return not self.delivered and (self.kind not in ("timeout", "connection") or not self.sent)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call and what came of it: one row of the ledger.

    number : from 1 within the cell, all kinds of failure counted
    kind : ok, malformed, refused, or a FailureKind
    at : seconds since the epoch at the start of the call (a record, never used for waiting)
    cost : US dollars by the price table or by the provider; None where the price is unknown
    """

    cell: int
    number: int
    kind: str
    at: float
    seconds: float
    prompt: str = ""
    status: int | None = None
    text: str = ""
    reasoning: str = ""
    note: str = ""
    served: str = ""
    served_by: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a cell ended. Exactly the ``ok`` ones have a rating, on the question's scale as it was asked."""

    cell: int
    status: Status
    rating: float | None
    attempts: int


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge as the user names it.

    name : what stands in the judgments, by default ``provider/model``
    parameters : sent with every call, over the defaults of the capability table (temperature, max_tokens, ...)
    covariates : columns of the judges table (origin, developer, ...)
    key_env : name of the environment variable that holds the key, where it is not the provider's own
    """

    name: str
    provider: str
    model: str
    base_url: str | None = None
    key_env: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    covariates: Mapping[str, str] = field(default_factory=dict)


class Judge(Protocol):
    """Anything that can be asked for a rating.

    name : as in the judgments
    lane : judges of one lane share concurrency, rate limits and the circuit breaker
    settings : what is logged once for the judge: model, base URL, parameters sent, capability (never a key); a
        mapping ``digests`` in it (name -> text) names what else makes the judge what it is, and
        a run refuses to go on where one of them has changed
    """

    name: str
    lane: str
    settings: Mapping[str, Any]

    async def ask(self, call: Call) -> Reply:
        """Ask once. Raises CallFailed."""
        ...

    async def close(self) -> None:
        """Give back connections and processes."""
        ...


class RunStopped(VoirdireError):  # noqa: N818 - stopped and resumable, exit code 4
    """A run that stopped with cells pending; the same command goes on."""

    exit_code = 4
