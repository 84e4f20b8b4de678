from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.exchange.pseudonyms import SECRET_BYTES, pseudonyms

IDS = st.lists(st.text(min_size=1), unique=True, max_size=30)
SECRETS = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)


@given(IDS, SECRETS, st.randoms())
def test_order_and_company_say_nothing(ids: list[str], secret: bytes, random: object) -> None:
    made = pseudonyms(ids, secret)
    shuffled = list(ids)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert pseudonyms(shuffled, secret) == made
    assert pseudonyms(ids[: len(ids) // 2], secret).items() <= made.items()


@given(IDS, SECRETS)
def test_people_stay_apart_and_hidden(ids: list[str], secret: bytes) -> None:
    made = pseudonyms(ids, secret)
    assert set(made) == set(ids)
    assert len(set(made.values())) == len(ids)
    assert all(re.fullmatch(r"r-[0-9a-f]{10,}", name) for name in made.values())


def test_another_secret_gives_others() -> None:
    first, second = (pseudonyms(["ann", "bob"], bytes([n] * SECRET_BYTES)) for n in (1, 2))
    assert set(first.values()).isdisjoint(second.values())


def test_many_stay_apart() -> None:
    """At ten hexadecimal digits about 0.5 pairs of a million would be equal; they are made longer then."""
    ids = [str(n) for n in range(200_000)]
    assert len(set(pseudonyms(ids, bytes(SECRET_BYTES)).values())) == len(ids)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        pseudonyms(["a"], b"short")
