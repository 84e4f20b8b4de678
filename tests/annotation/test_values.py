from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.annotation.nouns import Asked, Option
from voirdire.annotation.untrusted import LONGEST_TEXT, is_text, short
from voirdire.annotation.values import allowed, told

AMOUNT = Asked("hours", "number", level="ratio", low=0, high=24.5)
COUNT = Asked("times", "number", level="ordinal", low=0)
CHOICE = Asked("usable", "choice", level="nominal", options=(Option("yes"), Option("no")), not_applicable=True)
BUTTONS = Asked("q1", "buttons", low=1, high=5)
WHY = Asked("why", "text", level="nominal")


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (AMOUNT, ["0", "24.5", "7.25", "-0", "007"], ["24.6", "-1", "1e3", "nan", "inf", "", "1_0", "٣", "1.", ".5"]),
        (COUNT, ["0", "12", "999999999999"], ["1.0", "-1", "1.5", "9" * 13]),
        (CHOICE, ["yes", "no", "not_applicable"], ["Yes", "yes ", "", "maybe"]),
        (BUTTONS, ["1", "5"], ["0", "6", "3.0", "03", "+3", "not_applicable"]),
        (WHY, ["because", "因为", "a\nb", "x" * LONGEST_TEXT], ["", " \n", "x" * (LONGEST_TEXT + 1), "\0", "\ud800"]),
    ],
)  # fmt: skip
def test_a_question_takes_its_own_values_only(question: Asked, right: list[str], wrong: list[str]) -> None:
    assert {value: allowed(question, value) for value in right} == dict.fromkeys(right, True)
    assert {value: allowed(question, value) for value in wrong} == dict.fromkeys(wrong, False)


def test_what_a_question_takes_is_told() -> None:
    assert [told(one) for one in (AMOUNT, COUNT, CHOICE, BUTTONS, WHY)] == [
        "0..24.5",
        "0..",
        "yes, no, not_applicable",
        "1, 2, 3, 4, 5",
        "1..5000",
    ]


@given(st.text(st.characters()))
def test_a_text_that_can_be_kept_can_be_encoded_and_has_no_nul(text: str) -> None:
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    assert is_text(text) == (b"\0" not in encoded)


@given(st.text(max_size=300))
def test_errors_repeat_a_short_piece_of_a_text(text: str) -> None:
    assert len(short(text)) <= 81
    assert text.startswith(short(text).removesuffix("…"))
