"""Results of promptfoo: ``promptfoo eval -o out.json`` or ``out.jsonl``.

The shape is that of the results of promptfoo 0.121.20 (MIT), version 3, which made the fixtures itself: ``evalId``, and
``results.results``, one object a test, prompt and provider, with ``testIdx``, ``promptIdx``, ``vars``, ``provider``
(id, label), ``prompt`` (raw, label), ``response`` (output or error), ``namedScores``, ``score``, ``success``,
``gradingResult.componentResults`` and ``failureReason`` (0 none, 1 an assertion, 2 an error).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.judged import Naming, lookup
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import Record, head_columns, head_of, head_record, json_records, jsonl_records

OUTPUT, SCORE, PASS, HUMAN = "output", "score", "pass", "human"
ALWAYS = (OUTPUT, SCORE, PASS)
"""Scores that every result has beside its named ones; taken when they are asked for."""

IDS = ("item_id", "item", "id")
TEXTS = ("text", "question", "prompt", "input", "query")
LONGEST = 80


def recognise(path: Path) -> Recognition:
    """Results by their fields; the table that is meant for reading is explained."""
    head = head_record(path)
    if isinstance(head, dict):
        if {"testIdx", "promptIdx", "provider"} <= set(head):
            return YES
        text = head_of(path)
        if "evalId" in head and '"results"' in text:
            return YES
        return nearly("promptfoo.old") if '"table"' in text and '"promptIdx"' in text else NO
    names = head_columns(path)
    return nearly("promptfoo.table") if any(name.startswith("[") and "] " in name for name in names) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every score of every result, and a place for each that an error left without one."""
    naming = Naming.of(options, item="{item}", judge="{model}", condition="{prompt.name}")
    results = [result for path in paths for result in _results(path, account)]
    items = judged.known_items(options, f"{{file}} {naming.item}")
    made = _Made(naming, _expected(results), any(map(_named, results)), items, any(map(_own_id, results)))
    judged.check_scores(naming, made.known(results), ", ".join(map(str, paths)))
    for result in results:
        with account.record(result):
            made.take(result, account)
    return judged.judged_tables(made.rows, made.items.rows)


@dataclass
class _Made:
    """Rows and items of results, as they come.

    expected : test -> named scores that it has with some provider; named : whether any result has named scores
    own_ids : whether any test names its item; numbers of the others are then told apart from such names
    """

    naming: Naming
    expected: Mapping[Any, list[str]]
    named: bool
    items: Known
    own_ids: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    prompts: dict[str, int] = field(default_factory=dict)
    tests: dict[str, int] = field(default_factory=dict)
    seen: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def known(self, results: Sequence[Record]) -> list[str]:
        """Every score that there is."""
        found = [name for names in self.expected.values() for name in names]
        return [*found, *ALWAYS, *(name for result in results for name in _components(result))]

    def take(self, result: Record, account: Account) -> None:
        """The rows of a result, counted."""
        known = self._known(result)
        values = self._values(result)
        wanted = [name for name in values if self.naming.wanted(name)]
        by_hand = [name for name in wanted if _by_hand(result, name)]
        account.read(len(values))
        account.left(judged.NOT_ASKED, len(values) - len(wanted), at=result)
        account.left("promptfoo.left.by_hand", len(by_hand), at=result)
        wanted = [name for name in wanted if name not in by_hand]
        account.took(len(wanted))
        if not wanted:
            return
        where = self.naming.cell_of(known, result)
        self.items.keep(where["item_id"], {"text": _text(result)}, result)
        self.rows += [self._row(result, where, name, values[name]) for name in wanted]

    def _values(self, result: Record) -> dict[str, Any]:
        """Score -> value; of an error, the scores that there would be."""
        found = dict(_named(result))
        asked = self.naming.scores or (() if self.named else (SCORE,))
        others = {OUTPUT: lookup(result.value, "response.output"), **_components(result)}
        others |= {SCORE: result.may(SCORE, float), PASS: result.may("success", bool)}
        if _failed(result):
            there = (*ALWAYS, *_types(lookup(result.value, "testCase.assert")))
            expected = self.expected.get(_test(result), [])
            return dict.fromkeys((*expected, *(name for name in asked if name in there)))
        return found | {name: others[name] for name in asked if name in others and name not in found}

    def _row(self, result: Record, where: Mapping[str, str], name: str, value: Any) -> dict[str, Any]:
        question = self.naming.question(name)
        place = (*where.values(), question)
        self.seen[place] += 1
        status, raw = judged.OK, lookup(result.value, "response.output")
        if _failed(result):
            status, raw = judged.ERROR, result.value.get("error") or lookup(result.value, "response.error")
        elif name == OUTPUT and lookup(result.value, "response.isRefusal"):
            status = judged.REFUSED
        return judged.row(where, question, value, status, self.seen[place], raw=raw)

    def _known(self, result: Record) -> dict[str, Any]:
        """The fields of a result, and those that are found from them."""
        prompt = result.inside("prompt").value
        provider = result.value.get("provider")
        told = provider if isinstance(provider, dict) else {"id": provider}
        return {
            **result.value,
            "file": Path(result.file).name,
            "item": self._item(result),
            "model": told.get("label") or told.get("id"),
            "grader": _grader(result),
            "prompt": {**prompt, "name": self._prompt(result, prompt)},
        }

    def _item(self, result: Record) -> str:
        """The variable that names the item, or the number of the test among those with other variables."""
        found = _own_id(result)
        if found is not None:
            return found
        key = json.dumps(result.inside("vars").value, sort_keys=True)
        number = self.tests.setdefault(key, len(self.tests) + 1)
        return f"test {number}" if self.own_ids else str(number)

    def _prompt(self, result: Record, prompt: Mapping[str, Any]) -> str:
        """The label of the prompt; its number where it has none, or where its text stands for one."""
        label = str(prompt.get("label") or "")
        number = self.prompts.setdefault(str(result.value.get("promptId") or label), len(self.prompts) + 1)
        plain = 0 < len(label) <= LONGEST and "{{" not in label and "\n" not in label and label != prompt.get("raw")
        return label if plain else f"prompt {number}"


def _results(path: Path, account: Account) -> list[Record]:
    """The results of a file, of which each must be an object with a test and a provider."""
    head = head_record(path)
    lines = isinstance(head, dict) and "promptIdx" in head
    found = []
    for result in jsonl_records(path, account) if lines else json_records(path, account, ("results", "results")):
        with account.record(result):
            result.need("testIdx", int)
            result.need("vars", dict)
            if not isinstance(result.value.get("provider"), str | dict):
                raise result.error("importing.field_missing", "provider", known=", ".join(result.value))
            _named(result)
            for component in result.inside("gradingResult").each("componentResults"):
                component.may(SCORE, float)
            found.append(result)
    return found


def _own_id(result: Record) -> str | None:
    """What a variable of the test calls the item; None where none does."""
    values = result.inside("vars").value
    found = next((values[name] for name in IDS if isinstance(values.get(name), str | int)), None)
    return None if found is None or found == "" else str(found)


def _named(result: Record) -> dict[str, Any]:
    """Metric -> score. Raises InputError for one that is no number."""
    holder = result.inside("namedScores")
    return {name: holder.may(name, float) for name in holder.value}


def _components(result: Record) -> dict[str, float | None]:
    """Type of an assertion without a metric -> its score; the second of a type is ``llm-rubric.2``."""
    components = result.inside("gradingResult").each("componentResults")
    plain = [one for one in components if not lookup(one.value, "assertion.metric")]
    names = _numbered([lookup(one.value, "assertion.type") for one in plain])
    return {name: one.may(SCORE, float) for name, one in zip(names, plain, strict=True)}


def _by_hand(result: Record, name: str) -> bool:
    """Whether a score is a person's, who graded in the web viewer; it then stands for the whole result."""
    return name == HUMAN or (name in (SCORE, PASS) and HUMAN in _components(result))


def _types(assertions: Any) -> list[str]:
    """Types of the assertions of a test that have no metric, as ``_components`` names them."""
    found = [one for one in assertions if isinstance(one, dict)] if isinstance(assertions, list) else []
    return _numbered([one.get("type") for one in found if not one.get("metric")])


def _numbered(kinds: Sequence[Any]) -> list[str]:
    counts: Counter[str] = Counter()
    names = []
    for kind in map(str, kinds):
        counts[kind] += 1
        names.append(kind if counts[kind] == 1 else f"{kind}.{counts[kind]}")
    return names


def _expected(results: Sequence[Record]) -> dict[Any, list[str]]:
    """Test -> its named scores, of whichever provider gave them, else of its assertions."""
    found: dict[Any, list[str]] = {}
    for result in results:
        names = found.setdefault(_test(result), [])
        names += [*_named(result), *_metrics(lookup(result.value, "testCase.assert"))]
    return {test: list(dict.fromkeys(names)) for test, names in found.items()}


def _test(result: Record) -> tuple[str, Any]:
    """The test of a result; every file numbers its own tests."""
    return result.file, result.value.get("testIdx")


def _metrics(assertions: Any) -> list[str]:
    """Metrics of assertions, also of sets of them; one that is a template has no name yet."""
    found: list[str] = []
    for assertion in assertions if isinstance(assertions, list) else []:
        if isinstance(assertion, dict):
            metric = assertion.get("metric")
            found += [metric] if isinstance(metric, str) and "{{" not in metric else []
            found += _metrics(assertion.get("assert"))
    return found


def _failed(result: Record) -> bool:
    """Whether there is no answer because something went wrong; a failed assertion is a score."""
    reason = result.value.get("failureReason")
    if isinstance(reason, int):
        return reason == 2
    return lookup(result.value, "response.output") is None


def _grader(result: Record) -> str | None:
    """The provider that graded, where an assertion or the test names one."""
    assertions = lookup(result.value, "testCase.assert")
    told = [lookup(one, "provider") for one in (assertions if isinstance(assertions, list) else [])]
    told.append(lookup(result.value, "testCase.options.provider"))
    ids = [one.get("id") if isinstance(one, dict) else one for one in told]
    return next((str(one) for one in ids if one), None)


def _text(result: Record) -> str | None:
    values = result.value["vars"]
    return next((values[name] for name in TEXTS if isinstance(values.get(name), str)), None)


IMPORTER = Importer(
    "promptfoo", "promptfoo.title", recognise, read=read, side="judgments", settings={**judged.SETTINGS, **judged.TEXTS}
)
