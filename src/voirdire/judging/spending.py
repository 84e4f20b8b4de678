"""What a run costs: prices, the cost of a call, and a budget that is a hard stop.

US dollars throughout. A price that no document of the provider was found for is absent, and a cost without a price
is None, never 0. A user's own prices come from a TOML file, see docs/howto/prices.md.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError, UsageError
from voirdire.judging.nouns import Usage
from voirdire.judging.providers.capability import Price
from voirdire.judging.providers.catalog import bare_name, is_price
from voirdire.judging.tokens import CallTokens, PromptFacts, Range, estimate

__all__ = [
    "Budget",
    "CallTokens",
    "Price",
    "Prices",
    "PromptFacts",
    "Range",
    "cost",
    "cost_range",
    "dollars",
    "estimate",
    "nano",
    "need_prices",
    "read_prices",
]

MILLION = 1_000_000
NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a user's file: patterns of ``provider/model``, the first that fits counts."""

    entries: tuple[tuple[str, Price], ...] = ()
    file: str = ""

    def of(self, provider: str, model: str, known: Price | None = None) -> Price | None:
        """The price of a model: of the file, else the one that the catalogue knows, else None.

        >>> own = Prices((("openai/*", Price(1.0, 2.0)),))
        >>> own.of("openai", "gpt-5.5").output, own.of("google", "gemini-2.5-pro")
        (2.0, None)
        """
        names = {f"{provider}/{model}", f"{provider}/{bare_name(provider, model)}"}
        fits = (price for pattern, price in self.entries if any(fnmatchcase(name, pattern) for name in names))
        return next(fits, known)


def read_prices(path: str | Path) -> Prices:
    """Read a file of prices.

    Raises InputError for a file that cannot be read or is no TOML, for an unknown key, for a currency other than US
    dollars, and for an entry whose model or numbers are missing, of the wrong kind, negative or given twice.
    """
    file = str(path)
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("spending.file_missing", file=file, why=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("spending.not_toml", file=file, why=str(error)) from error
    return Prices(tuple(_entries(table, file).items()), file)


FILE_KEYS = ("price", "currency", "as_of")
PRICE_KEYS = ("model", "input", "output", "cached_input", "batch", "source", "as_of")


def _entries(table: Mapping[str, Any], file: str) -> dict[str, Price]:
    unknown = next((name for name in table if name not in FILE_KEYS), None)
    if unknown is not None:
        raise InputError("spending.prices_key", file=file, entry="-", setting=unknown, known=", ".join(FILE_KEYS))
    if table.get("currency", "USD") != "USD":
        raise InputError("spending.prices_currency", file=file, value=table["currency"])
    listed = table.get("price")
    if not isinstance(listed, list) or not listed:
        raise InputError("spending.prices_none", file=file)
    entries: dict[str, Price] = {}
    for number, entry in enumerate(listed, start=1):
        pattern, price = _price(entry, table.get("as_of", ""), file, f"[[price]] {number}")
        if pattern in entries:
            raise InputError("spending.prices_twice", file=file, entry=f"[[price]] {number}", value=pattern)
        entries[pattern] = price
    return entries


def _price(entry: Any, as_of: Any, file: str, where: str) -> tuple[str, Price]:
    if not isinstance(entry, dict):
        raise InputError("spending.prices_none", file=file)
    unknown = next((key for key in entry if key not in PRICE_KEYS), None)
    if unknown is not None:
        raise InputError("spending.prices_key", file=file, entry=where, setting=unknown, known=", ".join(PRICE_KEYS))
    model = entry.get("model")
    if not isinstance(model, str) or "/" not in model:
        raise InputError("spending.prices_model", file=file, entry=where, value=model)
    values = {"as_of": as_of, **{key: value for key, value in entry.items() if key != "model"}}
    if isinstance(values["as_of"], date):
        values["as_of"] = values["as_of"].isoformat()
    if not is_price(values):
        shown = ", ".join(f"{key} = {value}" for key, value in values.items())
        raise InputError("spending.prices_value", file=file, entry=where, value=shown)
    return model, Price(**values)


def cost(usage: Usage, price: Price | None, *, batch: bool = False) -> float | None:
    """US dollars of a call: tokens times price; None without a price or without the provider's count of tokens.

    usage.cached is a part of usage.input; reasoning is a part of usage.output. batch : asked by the batch API

    >>> cost(Usage(input=1_000_000, output=0, cached=500_000), Price(2.0, 8.0, cached_input=0.5))
    1.25
    >>> cost(Usage(input=100), Price(2.0, 8.0)) is None
    True
    """
    if price is None or usage.input is None or usage.output is None:
        return None
    cached = min(usage.cached or 0, usage.input)
    cheap = price.input if price.cached_input is None else price.cached_input
    dollars = (usage.input - cached) * price.input + cached * cheap + usage.output * price.output
    return dollars / MILLION * (price.batch if batch else 1.0)


def cost_range(tokens: CallTokens, price: Price | None, *, batch: bool = False) -> Range | None:
    """Low, expected and high cost of a call in US dollars; nothing is assumed to come from a cache."""
    if price is None:
        return None
    factor = (price.batch if batch else 1.0) / MILLION
    return (tokens.input * price.input + tokens.output * price.output) * factor


def need_prices(limit: float | None, prices: Mapping[str, Price | None]) -> None:
    """Raise UsageError when there is a budget and a judge (name -> price) has no price: it could not be kept."""
    missing = [name for name, price in prices.items() if price is None]
    if limit is not None and missing:
        raise UsageError("spending.budget_no_price", judges=", ".join(missing))


class Budget:
    """A limit in US dollars. What is reserved for calls in flight and what is spent never exceed it together.

    Amounts are kept in whole billionths of a dollar: a reservation is rounded up. Only a provider that charges more
    than was reserved can bring the sum above the limit; then nothing more that costs is reserved, and ``over`` says by
    how much.

    limit : None = no limit, spending is only counted; spent : what an earlier part of the run has cost

    >>> budget = Budget(1.0)
    >>> budget.reserve(0.75), budget.reserve(0.5)
    (True, False)
    >>> budget.settle(0.75, 0.25)
    >>> budget.spent, budget.reserve(0.5)
    (0.25, True)
    """

    def __init__(self, limit: float | None = None, spent: float = 0.0) -> None:
        if limit is not None and not (math.isfinite(limit) and limit >= 0):
            raise UsageError("spending.budget_value", value=limit)
        self._limit = None if limit is None else math.floor(limit * NANO + 0.5)
        self._spent = nano(spent)
        self._reserved = self._unknown = 0

    @property
    def limit(self) -> float | None:
        """The limit, or None."""
        return None if self._limit is None else self._limit / NANO

    @property
    def spent(self) -> float:
        """What finished calls have cost."""
        return self._spent / NANO

    @property
    def unknown(self) -> float:
        """The part of ``spent`` that was counted for calls whose cost nobody told."""
        return self._unknown / NANO

    @property
    def reserved(self) -> float:
        """What is held for calls in flight."""
        return self._reserved / NANO

    @property
    def left(self) -> float | None:
        """What can still be reserved; None without a limit."""
        return None if self._limit is None else max(self._limit - self._spent - self._reserved, 0) / NANO

    @property
    def over(self) -> float:
        """By how much the spending exceeds the limit: 0 unless a provider charged more than was reserved."""
        return 0.0 if self._limit is None else max(self._spent - self._limit, 0) / NANO

    @property
    def exhausted(self) -> bool:
        """Whether the limit is reached by what is spent alone, so that waiting for calls in flight frees nothing."""
        return self._limit is not None and self._spent >= self._limit

    def reserve(self, amount: float) -> bool:
        """Hold an amount for a call; False, and nothing held, where it does not fit. What costs nothing always fits."""
        asked = nano(amount)
        if self._limit is not None and asked > 0 and self._spent + self._reserved + asked > self._limit:
            return False
        self._reserved += asked
        return True

    def settle(self, reserved: float, actual: float | None) -> None:
        """Give back a reservation and count what the call has cost; None, where that is unknown, counts all of it.

        reserved : the same amount as in ``reserve``; actual : 0 for a call that was not charged
        """
        held = nano(reserved)
        if held > self._reserved:
            excess = f"settled {reserved} with {self.reserved} reserved"
            raise ValueError(excess)
        self._reserved -= held
        self._spent += held if actual is None else nano(actual)
        self._unknown += held if actual is None else 0

    def carry(self, dollars: float) -> None:
        """Count what calls of an earlier session may have cost, where nobody told."""
        self._spent += nano(dollars)
        self._unknown += nano(dollars)

    def notes(self) -> tuple[Note, ...]:
        """A warning when more was charged than the limit allows; else nothing."""
        if self._limit is None or self.over == 0:
            return ()
        fields = {"limit": dollars(self._limit / NANO), "over": dollars(self.over), "spent": dollars(self.spent)}
        return (Note("spending.note_over", fields, "warning"),)


def dollars(amount: float) -> str:
    """An amount to read: cents from a dollar on, below it four places or two figures.

    >>> dollars(1234.5), dollars(0.0123), dollars(0.000021), dollars(0)
    ('1,234.50', '0.0123', '0.000021', '0.00')
    """
    if amount >= 1 or amount <= 0:
        return f"{amount:,.2f}"
    return f"{amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def nano(dollars: float) -> int:
    """Billionths of a dollar, rounded up; what is only noise of floating point is not rounded up.

    Raises ValueError for less than 0 and for what is no finite number.
    """
    if not math.isfinite(dollars) or dollars < 0:
        wrong = f"an amount of dollars is 0 or more, not {dollars}"
        raise ValueError(wrong)
    return math.ceil(round(dollars * NANO, 3))
