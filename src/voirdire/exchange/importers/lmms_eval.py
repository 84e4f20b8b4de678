"""Samples of lmms-eval, ``<date>_samples_<task>.jsonl``, and lm-evaluation-harness, ``samples_<task>_<date>.jsonl``.

The shapes are those that the evaluation trackers of lmms_eval 0.7.3 and lm_eval 0.4.13 (both MIT) write, whose own code
wrote the fixtures: one sample a line with ``doc_id``, ``target``, ``filtered_resps``, ``resps`` (which lmms-eval leaves
out where it is the same), and every metric as a field of its own. lm_eval has ``doc``, ``arguments``, ``filter`` and
``metrics``, the names of the metrics; lmms_eval has ``input``. The model stands in the name of the folder, and in the
file of results beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voirdire.errors import InputError
from voirdire.exchange.importers import judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.judged import Naming, lookup
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import ID, Record, head_record, json_records, jsonl_records

REPLY, HASH = "filtered_resps", "doc_hash"
OTHERS = frozenset([
    "doc_id", "doc", "target", "arguments", "resps", REPLY, "filter", "metrics", HASH, "prompt_hash", "target_hash",
    "input", "token_counts", "input_media",
])  # fmt: skip
"""Fields of a sample that are no metric."""

OBJECT = "lmms.left.object"
_DATE = r"\d{4}-?\d{2}-?\d{2}[T_]\d{2}[-:]?\d{2}[-:]?\d{2}(?:\.\d+)?"
_NAMES = (
    re.compile(rf"samples_(?P<task>.+)_{_DATE}\.jsonl"),
    re.compile(rf"(?:{_DATE}_)?samples_(?P<task>.+)\.jsonl"),
    re.compile(r"(?P<task>.+)\.jsonl"),
)


def recognise(path: Path) -> Recognition:
    """Samples by their fields; results without samples are explained."""
    head = head_record(path)
    if not isinstance(head, dict):
        return NO
    if "doc_id" in head and ("filtered_resps" in head or "resps" in head or "target" in head):
        return nearly("lmms.logs") if path.suffix == ".json" else YES
    return nearly("lmms.results") if path.suffix == ".json" and {"results", "group_subtasks"} <= set(head) else NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every metric of every sample that is one value, or the replies."""
    naming = Naming.of(options, item="{doc_id}", judge="{model}", condition="{task}")
    results = [path for path in paths if path.suffix == ".json"]
    files = [_read(path, results, account) for path in paths if path not in results]
    if not files:
        raise InputError("lmms.results", file=", ".join(map(str, paths)))
    told = Known("lmms.items_differ", partial=True)
    made = [_Made(file, naming, told) for file in files]
    known = [name for one in made for sample in one.file.samples for name in one.values(sample)]
    judged.check_scores(naming, [*known, REPLY], ", ".join(map(str, paths)))
    rows: list[dict[str, Any]] = []
    items: dict[str, dict[str, Any]] = {}
    for one in made:
        for sample in one.file.samples:
            with account.record(sample):
                found = one.rows(sample, account, items)
                rows += found
    return judged.judged_tables(rows, items)


@dataclass
class _File:
    """A file of samples: its task, and the model where a folder or the results name it."""

    path: Path
    task: str
    model: str | None
    samples: list[Record] = field(default_factory=list)

    @property
    def filters(self) -> set[Any]:
        """The filters that its samples went through; a metric counts for each on its own."""
        return {sample.value.get("filter") for sample in self.samples}


@dataclass
class _Made:
    """Makes the rows of the samples of a file; ``told`` : what tells the data of samples apart, by item."""

    file: _File
    naming: Naming
    told: Known

    def values(self, sample: Record) -> dict[str, Any]:
        """Score -> value: metrics, the fields of metrics that are objects, and the reply where it is asked for."""
        told = sample.value.get("metrics")
        names = told if isinstance(told, list) else [name for name in sample.value if name not in OTHERS]
        found: dict[str, Any] = {}
        for name in map(str, names):
            value = sample.value.get(name)
            found[self._named(name, sample)] = value
            if isinstance(value, dict):
                found |= {self._named(f"{name}.{inner}", sample): one for inner, one in value.items()}
        return found

    def rows(self, sample: Record, account: Account, items: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of a sample, counted."""
        values = self.values(sample)
        asked = self.naming.scores
        parts = {name.rpartition(".")[0] for name in asked if name in values}
        whole = {
            name: value
            for name, value in values.items()
            if name in asked or not (_inner(name, values) or (name in parts and isinstance(value, dict)))
        }
        if REPLY in asked:
            whole[REPLY] = sample.value.get(REPLY)
        made = []
        for name, value in whole.items():
            if not self.naming.wanted(name):
                account.read()
                account.left(judged.NOT_ASKED, at=sample)
                continue
            made += self._rows_of(sample, name, value, account)
        if made:
            item = made[0]["item_id"]
            self.told.keep(item, _telling(sample), sample)
            items.setdefault(item, _item(sample))
        return made

    def _rows_of(self, sample: Record, name: str, value: Any, account: Account) -> list[dict[str, Any]]:
        given = _replies(value) if name == REPLY else [value]
        account.read(len(given))
        if any(isinstance(one, dict | list) for one in given):
            account.left(OBJECT, len(given), at=sample)
            return []
        account.took(len(given))
        where = self.naming.cell_of(self._known(sample), sample)
        question = self.naming.question(name)
        replies = _replies(sample.value.get("resps", sample.value.get(REPLY)))
        raws = replies if len(replies) == len(given) else [*replies[:1], *[None] * len(given)]
        return [
            judged.row(where, question, one, repeat=n, raw=raw if isinstance(raw, str) else None)
            for n, (one, raw) in enumerate(zip(given, raws, strict=False), start=1)
        ]

    def _named(self, name: str, sample: Record) -> str:
        """A metric; with its filter, as lm_eval's own results have it, where the file has several."""
        return f"{name},{sample.value.get('filter')}" if len(self.file.filters) > 1 else name

    def _known(self, sample: Record) -> Mapping[str, Any]:
        return {**sample.value, "task": self.file.task, "model": self.file.model, "file": self.file.path.name}


def task_of(name: str) -> str:
    """The task in the name of a file of samples.

    >>> task_of("samples_tone_2026-11-30T10-05-31.790653.jsonl"), task_of("20261130_100531_samples_mme.jsonl")
    ('tone', 'mme')
    """
    found = (pattern.fullmatch(name.removesuffix(".gz")) for pattern in _NAMES)
    return next((match["task"] for match in found if match), name)


def _read(path: Path, results: Sequence[Path], account: Account) -> _File:
    file = _File(path, task_of(path.name), _model(path, results))
    for record in jsonl_records(path, account):
        with account.record(record):
            record.need("doc_id", ID)
            file.samples.append(record)
    return file


def _model(path: Path, results: Sequence[Path]) -> str | None:
    """The model of the results that lie in the same folder, else the name of the folder that the samples lie in."""
    beside = [one for one in results if one.parent == path.parent]
    for one in beside:
        header = {part.key: part.value for part in json_records(one, Account(), entries=True)}
        name = header.get("model_name") or lookup(header, "config.model")
        if name and len(beside) == 1:
            return str(name)
    return path.parent.name or None


def _inner(name: str, values: Mapping[str, Any]) -> bool:
    """Whether a name is that of a field of a metric."""
    return any(
        isinstance(value, dict) and name.startswith(f"{outer.split(',')[0]}.") for outer, value in values.items()
    )


def _replies(value: Any) -> list[Any]:
    """The replies of a sample, out of the lists around them."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else [value]


def _telling(sample: Record) -> dict[str, Any]:
    """What tells the data of samples apart: their hash, or the target and what was asked where there is none."""
    if sample.value.get(HASH):
        return {HASH: sample.value[HASH]}
    return {"target": sample.value.get("target"), "input": _item(sample)["prompt"]}


def _item(sample: Record) -> dict[str, Any]:
    prompt = sample.value.get("input") or lookup(sample.value, "arguments.gen_args_0.arg_0")
    return {
        "prompt": prompt if isinstance(prompt, str) else None,
        "true_target": sample.value.get("target"),
    }


IMPORTER = Importer("lmms-eval", "lmms.title", recognise, read=read, side="judgments", settings=dict(judged.SETTINGS))
