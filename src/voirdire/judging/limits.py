"""How fast a lane may ask: waiting after failures, quotas, the pace that a server allows, and when to give up.

Everything here is arithmetic on times that are passed in (seconds of a monotonic clock). Nothing sleeps.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

RECENT, MANY = 32, 128
EPISODES, ENOUGH, APART = 8, 5, 1.0
"""What the server allows is read from the last 8 refusals, over at least 5 calls and one second."""
PAUSE = 1.0
"""Seconds of rest after a storm in which the server named none."""
FIRST_RATE, SLOWEST, CATCH_UP = 8.0, 0.1, 0.05
"""Calls a second after the first storm at least, and at least at any time; seconds of delay that are made up for."""
SEARCH, FASTEST_SEARCH = 0.19, 1.5
"""Growth for each reply after a storm (doubling every four), and in all replies of a second together."""
GROWTH, FASTEST_GROWTH = 0.0001, 0.5
"""Growth for a reply, times the replies since the last refusal; and in all replies of a second together."""
BACK, SOON, BACK_SOON, BACK_IN_ROW, BACK_FOUND = 0.96, 8, 0.9, 0.5, 0.7
"""What a refusal leaves of the rate: usually, fewer than 8 replies after the last one, every fourth in a row, and when
it ends the search after a storm, which has doubled the rate while the server's reserve was used up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a lane may do.

    concurrency : calls in flight at most; fewer while a server refuses or does not keep up
    requests_per_minute, tokens_per_minute : over any minute, where the provider's limits are known
    backoff, backoff_cap : seconds; a pause after the n-th failure is uniform on [0, min(cap, backoff * 2**n)]
    unproven : distinct cells that may fail in a row before a judge's first reply of this run
    failing : distinct cells that may fail in a row after it
    cooldown, probes : seconds of rest after that, doubled each time, and how often a judge is tried again
    patience : seconds for which a server may refuse every call
    final : a refused request is a verdict on its cell, whatever else the judge said: it looks its answers up
    """

    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    backoff: float = 0.5
    backoff_cap: float = 60.0
    unproven: int = 10
    failing: int = 20
    cooldown: float = 5.0
    probes: int = 6
    patience: float = 3600.0
    final: bool = False


def pause_after(failures: int, limits: Limits, rng: np.random.Generator) -> float:
    """Exponential backoff with full jitter: seconds before the next try after ``failures`` >= 1 failures.

    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.

    >>> 0 <= pause_after(3, Limits(backoff=0.5), np.random.default_rng(1)) <= 4
    True
    """
    most = min(limits.backoff_cap, limits.backoff * 2.0 ** min(failures, 30))
    return float(rng.random()) * most


def wait_as_told(seconds: float, rng: np.random.Generator) -> float:
    """A provider's Retry-After, never less, up to a tenth more so that cells do not come back all at once."""
    return seconds * (1.0 + 0.1 * float(rng.random()))


class Quota:
    """At most ``per_minute`` units over any minute, spread evenly: no more than a second's worth at once.

    >>> quota = Quota(60)
    >>> quota.wait(0.0), quota.take(0.0), round(quota.wait(0.0), 3)
    (0.0, None, 1.0)
    """

    def __init__(self, per_minute: float) -> None:
        self._most = max(1.0, per_minute / 60.0)
        self._rate = (per_minute - (self._most - 1.0)) / 60.0
        self._held = self._most
        self._at = -math.inf

    def wait(self, now: float, units: float = 1.0) -> float:
        """Seconds until ``units`` may be used. More than a second's worth waits until the quota is full."""
        self._refill(now)
        short = min(units, self._most) - self._held
        return 0.0 if short <= 1e-9 else short / self._rate

    def take(self, now: float, units: float = 1.0) -> None:
        """Use units; a negative number gives back what was not used."""
        self._refill(now)
        self._held -= units

    def _refill(self, now: float) -> None:
        if now > self._at:
            since = 0.0 if self._at == -math.inf else now - self._at
            self._held = min(self._most, self._held + since * self._rate)
            self._at = now


class Pace:
    """The rate and the number of calls in flight that a server lets through, learnt from what it refuses.

    A refusal (429, overload) now and then concerns its own cell, which waits as told; nobody else does. A storm (half
    of the last ``RECENT`` answers are refusals, or a quarter of the last ``MANY``) pauses everybody for as long as the
    server says, and from then on calls are spaced. Just after a storm the rate doubles every few replies until a call
    is refused. Then it grows slowly from one reply to the next, faster the longer nothing is refused, and a refusal
    takes it back a little, but never below the rate that the server was seen to allow: about one call in twenty is
    refused at the limit, none is lost, and the limit is always used. When a storm comes although calls are spaced, and
    all that were refused began beside more open calls than any that was answered, the server limits how many are open,
    and the lane keeps to that number.

    What the server allows: calls let through between two refusals, by the time between them. A token bucket is empty
    at both ends, so this is its rate whatever it holds; where a pause lies between them it is less, so the greatest
    of several such rates counts.
    """

    def __init__(self, concurrency: int) -> None:
        self.most = concurrency
        self.concurrency = float(concurrency)
        self.rate = math.inf
        self.resting_until = -math.inf
        self._next = -math.inf
        self._let_through = 0
        self._episodes: deque[tuple[float, int]] = deque(maxlen=EPISODES)
        self._recent: deque[bool] = deque(maxlen=MANY)
        self._clean = 0
        self._in_row = 0
        self._searching = False
        self._most_served, self._least_refused = 0, concurrency
        self._stormed_at = self._cut_at = -math.inf

    def wait(self, now: float, in_flight: int) -> float:
        """Seconds until the next call may start; infinite until one of those in flight has ended."""
        if in_flight >= max(1, int(self.concurrency)):
            return math.inf
        return max(0.0, self.resting_until - now, self._next - now)

    def started(self, now: float) -> None:
        """A call starts."""
        self._let_through += 1
        if self.rate < math.inf:
            gap = 1.0 / self.rate
            self._next = max(self._next, now - max(CATCH_UP, 2 * gap)) + gap

    def answered(self, others: int) -> None:
        """A call was let through (whatever its reply says); others : open when it started."""
        self._most_served = max(self._most_served, others)
        self._recent.append(True)
        self._in_row = 0
        self._clean += 1
        if self.rate < math.inf:
            searching = min(SEARCH, FASTEST_SEARCH / self.rate)
            self.rate *= 1.0 + (searching if self._searching else min(GROWTH * self._clean, FASTEST_GROWTH / self.rate))
        if self.concurrency < self.most:
            self.concurrency = min(self.most, self.concurrency * (1.0 + min(GROWTH * self._clean, SEARCH)))

    def refused(self, now: float, started: float, retry_after: float | None, others: int, still_open: int) -> None:
        """A call was refused; others : open when it started; still_open : those that are open now."""
        self._let_through -= 1
        if self._episodes and self._episodes[-1][1] > self._let_through:
            self._episodes[-1] = (self._episodes[-1][0], self._let_through)
        if started <= self._stormed_at:
            return
        self._recent.append(False)
        self._least_refused = min(self._least_refused, others)
        self._in_row += 1
        allowed = self._allowed(now)
        if self._stormy():
            self._storm(now, retry_after, still_open, allowed)
        elif self.rate < math.inf:
            self._slow_down(others, allowed)
            self._searching = False
        if not self._episodes or self._episodes[-1][1] < self._let_through:
            self._episodes.append((now, self._let_through))
        self._clean = 0

    def timed_out(self, now: float, started: float) -> None:
        """A call timed out: the server may have more open than it can serve, so half as many are kept open."""
        if started > self._cut_at:
            self._cut_at = now
            self.concurrency = max(1.0, self.concurrency / 2)

    def _slow_down(self, others: int, allowed: float) -> None:
        if others + 1 >= int(self.concurrency) < self.most:
            self.concurrency = max(1.0, self.concurrency - 1.0)
        if self._searching:
            self.rate = min(self.rate, max(allowed, BACK_FOUND * self.rate, SLOWEST))
        elif self._in_row == 1:
            self.rate = min(self.rate, max(allowed, (BACK if self._clean >= SOON else BACK_SOON) * self.rate, SLOWEST))
        elif self._in_row % 4 == 0:
            self.rate = min(self.rate, max(allowed, BACK_IN_ROW * self.rate, SLOWEST))

    def _allowed(self, now: float) -> float:
        """The rate that the server was seen to allow lately; 0 while nothing is known."""
        rates = [
            (self._let_through - count) / (now - at)
            for at, count in self._episodes
            if now >= at + APART and self._let_through - count >= ENOUGH
        ]
        return max(rates, default=0.0)

    def _stormy(self) -> bool:
        recent = list(self._recent)
        return recent[-RECENT:].count(False) >= RECENT // 2 or recent.count(False) >= MANY // 4

    def _storm(self, now: float, retry_after: float | None, still_open: int, allowed: float) -> None:
        spaced = self.rate < math.inf
        served = max(1, self._most_served + 1, still_open)
        if spaced and served <= self._least_refused:
            self.concurrency = min(self.concurrency, float(served))
        self._most_served, self._least_refused = 0, self.most
        self.rate = max(allowed, SLOWEST, self.rate / 4 if spaced else max(FIRST_RATE, self.most / 4))
        self._searching = True
        self._recent.clear()
        self._stormed_at = now
        self.resting_until = now + (PAUSE if retry_after is None else retry_after)
        self._next = self.resting_until


@dataclass(slots=True)
class Breaker:
    """When a judge that only fails is left alone.

    Before its first reply, ``unproven`` distinct cells failing in a row stop it for good. After that, ``failing``
    of them open the breaker: it rests for ``cooldown`` seconds (twice as long each time) and is then tried with one
    call at a time; after ``probes`` rests in vain it is stopped.

    proven : it has replied in this run; epoch : counts the times it opened (failures of cells before that are
    forgiven); row : cells that failed since the last reply -> their last attempt
    """

    limits: Limits
    proven: bool = False
    stopped: bool = False
    epoch: int = 0
    open_until: float = -math.inf
    row: dict[int, int] = field(default_factory=dict)
    _failures: int = 0
    _opened: int = 0

    def wait(self, now: float, in_flight: int) -> float:
        """Seconds until a call may start; infinite while the one call of a trial is out."""
        if not self._opened:
            return 0.0
        if now < self.open_until:
            return self.open_until - now
        return math.inf if in_flight else 0.0

    @property
    def opened(self) -> bool:
        """Whether it has opened since the last reply."""
        return self._opened > 0

    def replied(self) -> None:
        """The judge replied."""
        self.proven = True
        self._opened = self._failures = 0
        self.row.clear()

    def failed(self, now: float, started: float, cell: int, attempt: int) -> bool:
        """A call failed. True when the breaker opens or stops the judge with it: ``row`` is forgiven then."""
        if self._opened and started < self.open_until:
            return False
        self.row[cell] = attempt
        self._failures += 1
        most = self.limits.failing if self.proven else self.limits.unproven
        if len(self.row) < most and self._failures < 2 * most and not self._opened:
            return False
        self._opened += 1
        self.epoch += 1
        self._failures = 0
        self.stopped = not self.proven or self._opened > self.limits.probes
        self.open_until = now + self.limits.cooldown * 2.0 ** (self._opened - 1)
        return True
