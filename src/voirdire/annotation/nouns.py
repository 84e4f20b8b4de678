"""The nouns of collecting ratings: study, pool, question, screening; batch, invitation, rater, assignment, answer.

A study says what raters are asked and who they are (``annotation.toml``, or defaults made from the corpus). A batch
is a set of items put to the pools with a study that no longer changes. Texts are mappings from a language code to a
text, as in the items table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Texts = Mapping[str, str]
Widget = Literal["buttons", "slider", "choice", "number", "text"]
"""How a question is answered.

buttons : one button a level, with words at the ends; slider : a slider of the levels with words at the ends
choice : one of several labels without order; number : a number that is typed; text : free text, never a rating
"""

RATED: tuple[Widget, ...] = ("buttons", "slider", "choice", "number")

BatchKind = Literal["rating", "pilot"]
"""rating : ratings for the audit; pilot : the same, and a verdict on each item is wanted."""

AssignmentKind = Literal["item", "repeat", "gold"]
"""item : counts for the item's ratings; repeat : asked a second time; gold : an item whose answers are known."""

AssignmentState = Literal["open", "done", "returned", "surplus"]
"""open : held by a rater; done : every required question is answered

returned : the rater left, another may have it; surplus : done after it had been returned and given to others, kept
beside the ratings
"""

RaterState = Literal["screened_out", "active", "finished", "deleted"]
NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Option:
    """A label that can be chosen: its value in the tables, its text in the languages."""

    value: str
    text: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to raters.

    level, low, high : of its scale, as in the questions table; levels are the whole numbers between the ends
    options : labels of a nominal question, in order; of an ordinal one the words of single levels, by value
    text : its wording; an item's own prompt stands in its place where ``of_item`` is true and the item has one
    low_end, high_end : words at the two ends of buttons and sliders
    required : an assignment is not done without it; not_applicable : raters may say that it does not apply
    comment : a line for free text stands below it
    positive : of two labels, the one that counts as 1; None = known by its meaning (yes), or not needed
    """

    id: str
    widget: Widget
    role: str | None = None
    level: str = "ordinal"
    low: float | None = None
    high: float | None = None
    options: tuple[Option, ...] = ()
    text: Texts = field(default_factory=dict)
    help: Texts = field(default_factory=dict)
    low_end: Texts = field(default_factory=dict)
    high_end: Texts = field(default_factory=dict)
    of_item: bool = False
    required: bool = True
    not_applicable: bool = False
    comment: bool = False
    positive: str | None = None


@dataclass(frozen=True, slots=True)
class Screening:
    """A question asked before the first item.

    kind : ``one`` option, or ``many``
    accept : pool -> values that let a rater in (with ``many`` any one of them; ``all_of`` wants all); a pool that is
        not named accepts every value
    keep : whether the answer is stored, as an attribute of the rater; if not, only that the rater passed is known
    """

    id: str
    options: tuple[Option, ...]
    text: Texts = field(default_factory=dict)
    kind: Literal["one", "many"] = "one"
    accept: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    all_of: bool = False
    keep: bool = False


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """A pool of raters.

    languages : those in which it may read the pages, the first is its own; one means that there is no switch
    consent : what is agreed to; welcome : instructions before the first item
    agree : the sentence that is ticked below the consent; where it has no text, the pages' own
    completion_code, completion_url : what a rater gets at the end, as recruiting platforms want it
    """

    name: str
    languages: tuple[str, ...]
    title: Texts = field(default_factory=dict)
    consent: Texts = field(default_factory=dict)
    welcome: Texts = field(default_factory=dict)
    completion_code: str = ""
    completion_url: str = ""
    agree: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gold:
    """An item whose right answers to one question are known, asked of every rater to see whether they attend."""

    item_id: str
    question: str
    accept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """What raters are asked, who they are, and how items are given out unless a batch says otherwise.

    raters_per_item : of each pool; items_per_rater : None = as many as there are
    repeats : how many of a rater's own items are asked a second time
    lease_minutes : how long items stay with a rater who does nothing
    pilot : own wordings of a pilot's question (``text``) and of its answers, by their value
    """

    name: str
    questions: tuple[Asked, ...]
    pools: tuple[PoolPlan, ...]
    screening: tuple[Screening, ...] = ()
    gold: tuple[Gold, ...] = ()
    raters_per_item: int = 5
    items_per_rater: int | None = None
    repeats: int = 0
    lease_minutes: float = 60.0
    seed: int = 0
    pilot: Mapping[str, Texts] = field(default_factory=dict)

    def pool(self, name: str) -> PoolPlan:
        """The pool of this name. KeyError when there is none."""
        return {pool.name: pool for pool in self.pools}[name]

    def question(self, name: str) -> Asked:
        """The question of this id. KeyError when there is none."""
        return {question.id: question for question in self.questions}[name]


@dataclass(frozen=True, slots=True)
class BatchSpec:
    """A batch that is to be made.

    items : item ids, each once; study : frozen with the batch, with the numbers that hold for it
    pairs : item id -> concept pair, for those that have one: two items of a pair never follow each other
    """

    name: str
    study: Study
    items: tuple[str, ...]
    kind: BatchKind = "rating"
    pairs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as it is kept. Times are seconds since 1970 (UTC)."""

    id: int
    spec: BatchSpec
    open: bool
    created_at: float


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link into a pool. Its token is known to those who have it; kept is a hash.

    most_raters : how many people may join by it, None = any number. One = a personal link, which also resumes
    """

    id: int
    batch: int
    pool: str
    label: str
    most_raters: int | None
    joined: int
    revoked: bool
    created_at: float


@dataclass(frozen=True, slots=True)
class Rater:
    """A person who rates, known by a random id.

    attributes : answers to screening questions that are kept
    """

    id: str
    batch: int
    pool: str
    invitation: int
    state: RaterState
    language: str
    attributes: Mapping[str, Any]
    joined_at: float
    seen_at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater last answered to a question of an assignment.

    value : a number as text (``4``), a label, a free text, or ``not_applicable``; language : of the page
    seconds : time that the item had been looked at when the answer was given
    """

    question: str
    value: str
    comment: str
    language: str
    seconds: float
    answered_at: float


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item in a rater's order. ``id`` is random and says nothing of the item or of other raters."""

    id: str
    item_id: str
    kind: AssignmentKind
    state: AssignmentState
    place: int
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as a page sends it.

    key : made by the page, 16 to 64 characters of A-Z a-z 0-9 - _; the same key is never applied twice
    value : None takes the answer back
    """

    key: str
    assignment: str
    question: str
    value: str | None
    comment: str = ""
    language: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of an answer.

    applied : False when this key had been applied before (a retry); state : of the assignment afterwards
    """

    applied: bool
    state: AssignmentState
    done: int
    total: int
