"""The catalogue knows every word that the report can need."""

from __future__ import annotations

import re

import pytest

from voirdire.reporting import tables, terminal, verdicts
from voirdire.texts import catalogue, has

USED = {
    name.partition(":")[0]
    for group in (tables.POOL, tables.PAIR, tables.GAP, tables.ANCHORS, tables.AGAINST, tables.CENTRE, tables.FURTHER,
                  tables.SCALE, tables.SCALE_POOL, tables.DISTANCE, tables.ROLES, terminal.SHOWN)
    for name in group
}  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(USED))
def test_statistics_have_a_name_and_an_explanation(name, lang):
    assert has(f"statistics.{name}.name", lang)
    assert has(f"statistics.{name}.help", lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_verdicts_have_sentences(lang):
    for kind, labels in (("pool", verdicts.POOL_LABELS), ("pair", verdicts.PAIR_LABELS)):
        for label in (*labels, "cannot_say_gate", "cannot_say_few"):
            assert has(f"report.verdict.{kind}.{label}", lang)
    assert all(has(f"report.label.verdict.{label}", lang) for label in (*verdicts.POOL_LABELS, *verdicts.PAIR_LABELS))
    assert all(
        has(f"report.gate.{label}", lang) and has(f"report.label.gate.{label}", lang) for label in verdicts.GATES
    )


def test_languages_have_the_same_fields():
    english, chinese = catalogue("en"), catalogue("zh")
    for key, sentence in english.items():
        if key.startswith(("report.", "statistics.")):
            assert sorted(set(re.findall(r"{(\w+)}", sentence))) == sorted(set(re.findall(r"{(\w+)}", chinese[key]))), (
                key
            )


def test_a_gap_is_never_denied():
    for key in ("report.divergent.no", "report.label.gate_divergent.no"):
        assert "not distinguishable from chance here" in catalogue("en")[key]
    assert not any("no gap" in sentence for key, sentence in catalogue("en").items() if key.startswith("report."))


def test_reasons_without_a_sentence_are_errors():
    from voirdire.reporting.words import Words

    with pytest.raises(KeyError):
        Words("en").reason("nobody_wrote_this")
