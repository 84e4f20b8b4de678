"""What a provider's batch API is to the runner: a file of requests goes in, lines come out, in any order.

Every provider names a request by an id of our choosing (``custom_id``, ``key``), and voirdire uses the id of the
call. So a line of a result says by itself which cell and which attempt it answers, whoever submitted it and whenever.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one batch may hold: requests, and bytes of the file that carries them."""

    requests: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Order:
    """A batch as it is handed over.

    key : our own name of it, unique in the provider's account; spool : JSONL file of ``BatchApi.line``
    requests, n_bytes : lines and size of the file
    """

    key: str
    spool: Path
    requests: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class State:
    """How a batch stands.

    kind : running, ended (all there is can be fetched), failed (refused as a whole; nothing was asked)
    done, total : requests, as far as the provider says; canceled : it ended because somebody cancelled it
    rest : what the requests without a line in the results came to
    why, code : the provider's reason of a failure, untrusted
    results : where the lines are: file ids or names, else empty
    inputs : files of ours that it no longer needs
    payload : results that came with the state itself (one JSON document a line)
    """

    kind: Literal["running", "ended", "failed"]
    done: int = 0
    total: int = 0
    canceled: bool = False
    rest: Literal["missing", "expired", "canceled"] = "missing"
    why: str = ""
    code: str = ""
    results: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    payload: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one request.

    kind : answer (``status`` and ``body`` are as a call of its own would have got them), expired (the batch's time
        was over before it was asked), canceled, unreadable (the line is not of the documented form)
    """

    custom_id: str
    kind: Literal["answer", "expired", "canceled", "unreadable"]
    status: int = 200
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Search:
    """What is known of a batch whose submission was not recorded.

    key, requests : as in its order; marker : noted before it; known : the account's batches that are others
    mine : whether a request id is one of its requests
    """

    key: str
    requests: int
    marker: str
    known: frozenset[str]
    mine: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search for a batch whose submission was not recorded came to.

    kind : found (``batch`` is it), absent (it was never created), undecided (one that may be it is still running
        and says nothing about its requests before it ends)
    """

    kind: Literal["found", "absent", "undecided"]
    batch: str = ""


class BatchApi(Protocol):
    """A provider's batch API. Every method raises ``CallFailed`` as a call would.

    limits : of one batch
    """

    limits: Limits

    def line(self, custom_id: str, body: bytes) -> bytes:
        """The request as a line of the spool, newline included; ``body`` is that of an ordinary call."""
        ...

    async def marker(self) -> str:
        """What to note before a submission so that ``find`` can tell later batches from earlier ones."""
        ...

    async def submit(self, order: Order) -> str:
        """Hand the batch over and return the provider's id of it."""
        ...

    async def find(self, search: Search) -> Found:
        """Look for a batch that may have been created without our learning its id."""
        ...

    async def state(self, batch: str) -> State:
        """How a batch stands."""
        ...

    def results(self, batch: str, state: State) -> AsyncIterator[Line]:
        """Every line of a batch that ended, in the provider's order."""
        ...

    async def clean(self, state: State) -> None:
        """Delete our request files of a batch that was collected; images make them large."""
        ...
