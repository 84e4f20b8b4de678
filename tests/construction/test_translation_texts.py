"""Which texts there are, what a reply is read as, and how a text is written into its file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.construction.building import build_text, make, pair
from tests.construction.mock_translator import forward

from voirdire.annotation.study_file import read_parts
from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import History
from voirdire.construction.translation.asking import understood
from voirdire.construction.translation.checking import other_numbers, read_translation
from voirdire.construction.translation.plan import Wanted
from voirdire.construction.translation.units import Unit, read_units
from voirdire.construction.translation.verifying import unverified, verify
from voirdire.construction.translation.writing import with_text
from voirdire.errors import InputError
from voirdire.judging.nouns import Reply
from voirdire.judging.parsing import separate_reasoning
from voirdire.judging.work import KEPT_CHARACTERS
from voirdire.tables import read_table
from voirdire.texts import catalogue

STUDY = """# a study
name = "s"

[[questions]]
id = "q1"
role = "evaluation"
low = 1
high = 5
text.en = "How good?"
low_end = "Not at all"
high_end = { en = "Very much" }

# the second one
[[questions]]
id = "q2"
text = { en = "Usable?" }
options = [
  { value = "yes", text = { en = "Yes, {name}" } },
  "no",
]

[[screening]]
id = "s1"
text.en = "Where do you live?"
options = ["here", "there"]
accept = ["here"]

[[pools]]
name = "us"
languages = ["en"]
consent.en = "For us"

[[pools]]
name = "cn"
languages = ["zh"]
consent.en = '''Please
rate [3] images.'''
"""


def units(folder: Path) -> dict[str, Unit]:
    found = read_units(folder, read_build_file(folder), read_concepts(folder), History())
    return {unit.id: unit for unit in found}


def test_texts_of_every_file(tmp_path: Path) -> None:
    folder = make(tmp_path, [{**one, "alt.en": "A cup", "split": ""} for one in pair("tea")])
    (folder / "annotation.toml").write_text(STUDY)
    found = units(folder)
    assert list(found) == [
        "tea/prompt", "tea-us/alt", "tea-cn/alt", "q1/text", "q1/low_end", "q1/high_end", "q2/text", "q2/option-1",
        "s1/screening", "cn/consent",
    ]  # fmt: skip
    assert found["q1/low_end"].source == "Not at all"
    assert found["q1/low_end"].context == "How good?"
    assert found["tea/prompt"].place == (2, 3)
    assert found["cn/consent"].languages == ("zh",)


@pytest.mark.parametrize("written", ["text.en", "text"])
def test_own_words_of_a_pilot_are_verified_too(tmp_path: Path, written: str) -> None:
    folder = make(tmp_path, pair("tea"))
    study = folder / "annotation.toml"
    pools = '[[pools]]\nname = "us"\nlanguages = ["en"]\n'
    study.write_text(f'[pilot]\n{written} = "Can this be used?"\nfactual.en = "No"  # said\n\n{pools}')
    assert [one.name for one in unverified(folder)][1:] == ["pilot/question/zh", "pilot/answer-factual/zh"]
    verify(folder, "pilot/question/zh", "dai", text="可以用吗？")
    verify(folder, "pilot/answer-factual/zh", "dai", text="不可以")
    pilot = read_parts(study).pilot
    assert pilot["text"] == {"en": "Can this be used?", "zh": "可以用吗？"}
    assert pilot["factual"] == {"en": "No", "zh": "不可以"}
    assert [one.name for one in unverified(folder)] == ["tea/prompt/zh"]


def test_own_words_of_a_pilot_in_another_language_are_those_of_voirdire_translated(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    (folder / "annotation.toml").write_text('[pilot]\nfactual.zh = "不行"\n')
    found = units(folder)["pilot/answer-factual"]
    assert found.source.startswith("No: the question")
    assert (found.languages, found.said["zh"]) == (("zh",), "不行")


def test_questions_table_where_the_study_asks_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    table = "question,role,min,max,text.en,low_end.en,low_end.zh,labels\nq1,evaluation,1,5,Good?,Not at all,毫不,\n"
    (folder / "questions.csv").write_text(table)
    found = units(folder)
    assert list(found) == ["tea/prompt", "q1/text", "q1/low_end"]
    assert found["q1/low_end"].said == {"en": "Not at all", "zh": "毫不"}
    verify(folder, "q1/text/zh", "dai", text="好吗？")
    assert read_table(folder / "questions.csv").frame["text.zh"].to_list() == ["好吗？"]
    (folder / "annotation.toml").write_text(STUDY)
    assert units(folder)["q1/text"].file == "annotation.toml"


def test_rejected_concepts_are_left_out(tmp_path: Path) -> None:
    rejected = [{**one, "split": "rejected"} for one in pair("mud")]
    folder = make(tmp_path, [*[{**one, "split": ""} for one in pair("tea")], *rejected])
    assert list(units(folder)) == ["tea/prompt"]


def test_pairs_that_are_not_asked_the_same(tmp_path: Path) -> None:
    rows = pair("tea")
    rows[1]["prompt.zh"] = ""
    folder = make(tmp_path, rows)
    assert verify(folder, "tea/prompt/zh", "dai").state == "verified"
    assert {item.prompts["zh"] for item in read_concepts(folder).items} == {rows[0]["prompt.zh"]}
    rows[1]["prompt.zh"] = "别的？"
    make(tmp_path, rows)
    assert [one.state for one in unverified(folder)] == ["unverified"]
    rows[1]["prompt.en"] = "Something else?"
    make(tmp_path, rows)
    with pytest.raises(InputError, match="letter by letter"):
        verify(folder, "tea/prompt/zh", "dai", text="好吗？")


@pytest.mark.parametrize(
    ("reply", "source", "why"),
    [
        ("好吗？", "Good?", ""),
        ("“好吗？”", "Good?", ""),
        ("", "Good?", "empty_reply"),
        ("  \n ", "Good?", "empty_reply"),
        ("Good?", "Good?", "script"),
        ("好\x1b[31m吗？", "Good?", "control"),
        ("<think>嗯</think>好吗？", "Good?", "thinking"),
        ("好吗？[/THINK]", "Good?", "thinking"),
        ("Here is the translation: 好吗？", "Good?", "explained"),
        ("译文：好吗？", "Good?", "explained"),
        ("翻译如下：好吗？", "Good?", "explained"),
        ("好吗？（注：这里用了敬语）", "Good?", ""),
        ("好吗？\n注：这里用了敬语", "Good?", "explained"),
        ("```\n好吗？\n```", "Good?", "explained"),
        ('{"translation": "好吗？"}', "Good?", "explained"),
        ("好吗？\n\n好不好？", "Good?", "lines"),
        ("你有 3 次", "You have 4 times", "numbers"),
        ("你有三次", "You have 3 times", "numbers"),
        ("你有３次", "You have 3 times", ""),
        ("灰色的11月日子里的2杯茶", "Two cups of tea on a grey November day", ""),
        ("5月7日", "7 May", ""),
        ("7月", "7 days", ""),
        ("第101次", "The first time", "numbers"),
        ("您好，{nome}", "Hello, {name}", "holders"),
        ("您好，{name}", "Hello, {name}", ""),
        ("好吗？" * 40, "Good?", "long"),
        ("好", "A very long sentence that says a lot. " * 5, "short"),
        ("是|否", "yes|no", ""),
        ("是", "yes|no", "parts"),
        ("🙂", "Good?", "script"),
    ],
)
def test_replies(reply: str, source: str, why: str) -> None:
    assert read_translation(reply, source, "zh", "en").why == why


def test_months_are_digits_in_some_languages_and_names_in_others() -> None:
    assert read_translation("Ein grauer Novembertag", "灰色の11月の日", "de", "ja").why == ""
    assert read_translation("Am Donnerstag", "11日の木曜", "de", "ja").why == "numbers"
    assert read_translation("Ein Tag im Monat", "13月の日", "de", "ja").why == "numbers"
    assert other_numbers("11月の3日", "3. Novembertag") == ("11",)


def test_every_reason_has_a_sentence() -> None:
    known = {key.rsplit(".", 1)[1] for key in catalogue("en") if key.startswith("translation.why.")}
    reasons = "empty_reply control thinking explained lines parts holders numbers long short script same cut other"
    assert known == set(reasons.split())


def test_same_letters_and_another_language() -> None:
    source = "How much would you like this meal?"
    assert read_translation("Wie gern hätten Sie dieses Essen?", source, "de", "en").why == ""
    assert read_translation(source, source, "de", "en").why == "same"
    assert read_translation("Pizza", "Pizza", "de", "en").text == "Pizza"
    assert read_translation("Насколько это хорошо?", "How good is this?", "sr", "en").why == ""


def test_refusals_cuts_and_questions_that_sound_like_refusals() -> None:
    wanted = Wanted("t", "Do you like it?", "en", "zh")
    assert understood(Reply("抱歉，我无法翻译这段文本。"), wanted).refusal
    assert understood(Reply("", finish="filter"), wanted).refusal == "filter"
    assert understood(Reply("你喜欢", finish="length"), wanted).text.startswith("cut: ")
    assert understood(Reply("<think>hm</think>你喜欢吗？"), wanted).reasoning == "hm"
    polite = Wanted("t", "I'm sorry, I can't help you with that. How polite is this?", "en", "zh")
    assert understood(Reply("抱歉，我无法协助您。这有多礼貌？"), polite).rating == 1.0


TEXT = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
WORDS = st.text("abcdefghij klmnopqrstuvwxyz", min_size=1, max_size=60).filter(str.strip)


@given(WORDS, st.sampled_from(["", " {name}", " %s", " <b>x</b>", " 12,000 of 3.5", " https://a.bc/d?e=1"]))
def test_a_translation_that_keeps_everything_is_taken(words: str, kept: str) -> None:
    source = f"{words.strip()}{kept}"
    read = read_translation(forward(source), source, "zh", "en")
    assert (read.why, read.text) == ("", forward(source))


@given(TEXT, TEXT)
def test_reading_never_fails_and_gives_text_or_reason(reply: str, source: str) -> None:
    read = read_translation(reply, source, "zh", "en")
    assert bool(read.text) != bool(read.why)


PLACES = (
    ("questions", 0, "text"), ("questions", 0, "low_end"), ("questions", 0, "high_end"), ("questions", 1, "text"),
    ("questions", 1, "options", 0), ("screening", 0, "text"), ("pools", 1, "consent"),
)  # fmt: skip


@given(st.sampled_from(PLACES), TEXT)
def test_one_text_changes_and_nothing_else(place: tuple[str | int, ...], words: str) -> None:
    after = with_text(STUDY, place, "zh", words, "en")
    assert after is not None
    changed, before = tomllib.loads(after), tomllib.loads(STUDY)
    table, number, entry, *more = place
    own, old = changed[table][number], before[table][number]
    if more:
        own, old, entry = own["options"][0], old["options"][0], "text"
    assert own[entry]["zh"] == words
    own[entry].pop("zh")
    assert own[entry] == ({"en": old[entry]} if isinstance(old[entry], str) else old[entry])
    old[entry] = own[entry]
    assert changed == before
    assert all(line in after for line in ("# a study", "# the second one"))


def test_a_file_that_cannot_be_changed_alone_is_told_before_anything_is_recorded(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    text = 'name = "s"\n[[questions]]\nid = "q1"\nlow = 1\nhigh = 5\n[questions.text]\nen = "How good?"\n'
    (folder / "annotation.toml").write_text(text)
    with pytest.raises(InputError, match=r'text\.zh = "好吗？"'):
        verify(folder, "q1/text/zh", "dai", text="好吗？")
    assert (folder / "annotation.toml").read_text() == text
    assert not (folder / "history.jsonl").exists()


def test_windows_line_ends_and_byte_order_mark_stay(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    path = folder / "annotation.toml"
    path.write_bytes(b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").encode())
    verify(folder, "q1/text/zh", "dai", text="好吗？")
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# a study\r\n")
    assert read_parts(path).questions[0][0].text == {"en": "How good?", "zh": "好吗？"}


def test_a_corpus_in_three_languages(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"), build_text(languages=["en", "zh", "fr"]))
    verify(folder, "tea/prompt/zh", "dai")
    assert [(one.name, one.state) for one in unverified(folder)] == [("tea/prompt/fr", "missing")]


def test_a_screening_question_called_like_a_question_is_a_text_of_its_own(tmp_path: Path) -> None:
    folder = make(tmp_path, pair("tea"))
    (folder / "annotation.toml").write_text(STUDY.replace('id = "s1"', 'id = "q1"'))
    found = units(folder)
    assert found["q1/text"].source == "How good?"
    assert found["q1/screening"].source == "Where do you live?"
    verify(folder, "q1/screening/zh", "dai", text="您住在哪里？")
    assert read_parts(folder / "annotation.toml").screening[0][0].text["zh"] == "您住在哪里？"


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=200))
def test_what_is_kept_comes_back_from_the_ledger_as_it_was(words: str) -> None:
    """What is written into the ledger is cut at no place, and no part of it is taken for thinking."""
    reply = understood(Reply(words), Wanted("t", words, "en", "sr"))
    if reply.rating is not None:
        assert separate_reasoning(reply.text) == ("", reply.text)
        assert json.loads(reply.text)["text"]


def test_the_longest_translation_fits_into_the_ledger() -> None:
    words = '"\\' * 4500
    reply = understood(Reply(words), Wanted("t", words, "sr", "bs"))
    assert reply.rating == 1.0
    assert len(reply.text) <= KEPT_CHARACTERS
