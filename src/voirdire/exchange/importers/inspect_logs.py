"""Logs of Inspect AI: ``.eval`` (a zip archive, also compressed with Zstandard) and ``.json``.

The shape is that of ``inspect_ai.log`` of inspect_ai 0.3.285 (MIT), whose own code made the fixtures: ``EvalLog``
version 2, with ``header.json``, ``samples/<id>_epoch_<n>.json`` and ``_journal/start.json`` in an archive. A sample has
``id``, ``epoch``, ``error``, ``limit`` and ``scores``: scorer -> ``Score`` with ``value`` (a text, a number, yes or no,
a list or an object of these), which holds the last of its edits; a value that is NaN could not be scored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from voirdire.corpus.corpus import Note
from voirdire.errors import InputError
from voirdire.exchange.importers import inspect_cells, judged
from voirdire.exchange.importers.account import Account
from voirdire.exchange.importers.archives import Members, member_names, open_members
from voirdire.exchange.importers.cells import frame
from voirdire.exchange.importers.contract import NO, YES, Importer, ImportOptions, Recognition, Tables, nearly
from voirdire.exchange.importers.inspect_samples import Sample, letters, of_record
from voirdire.exchange.importers.judged import Naming
from voirdire.exchange.importers.known import Known
from voirdire.exchange.importers.records import Record, head_of, head_record, json_records, parse_records
from voirdire.judging.nouns import BASE_DESIGN

HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
BY = ("auto", "model", "grader")
INVALIDATED = "invalidated"
DEFAULTS = {"item": "{sample.id}", "judge": "{judge}", "condition": "{condition}"}
KEPT = (str, int, float, bool)
HEAD = 2**20
LONGEST = 60
_LISTED = re.compile(r'"samples"\s*:\s*\[')


@dataclass
class Log:
    """One log.

    spec : its ``eval``; samples : those that could be read; questions : scorer -> names of its scores
    graders : scorer -> the model that grades for it, of scorers that grade
    """

    file: str
    spec: Record
    samples: list[Sample] = field(default_factory=list)
    questions: dict[str, list[str]] = field(default_factory=dict)
    graders: dict[str, str] = field(default_factory=dict)

    @cached_property
    def designs(self) -> bool:
        """Whether samples that ``voirdire export inspect`` wrote show examples."""
        return any(inspect_cells.design_of(inspect_cells.told(sample)) != BASE_DESIGN for sample in self.samples)

    @cached_property
    def ours(self) -> bool:
        """Whether ``voirdire export inspect`` wrote the samples."""
        return any(inspect_cells.told(sample) for sample in self.samples)

    @property
    def model(self) -> str:
        """The model that was evaluated."""
        return str(self.spec.need("model", str))

    @property
    def condition(self) -> str:
        """The task, and its arguments where it has some."""
        told = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.spec.need('task', str)} {told}".strip()

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the task; lists and objects as JSON, short enough for a name."""
        told = self.spec.may("task_args", dict) or {}
        return {name: _argument(value) for name, value in told.items() if value is not None}


def recognise(path: Path) -> Recognition:
    """Archives by the names of their members; JSON by its fields; an archive of another kind is none."""
    names = member_names(path) if path.suffix in (".eval", ".zip") else ()
    if HEADER in names or START in names:
        return YES
    head = head_record(path) if path.suffix in (".json", ".gz") else None
    if not isinstance(head, dict):
        return NO
    spec = head.get("eval")
    if isinstance(spec, dict) and "task" in spec and "model" in spec and "version" in head:
        text = head_of(path, HEAD)
        whole = len(text) < HEAD // 4 and not _LISTED.search(text)
        return nearly("inspect.header_only") if whole else YES
    return NO


def read(paths: Sequence[Path], options: ImportOptions, account: Account) -> Tables:
    """Every score of every sample, and a place for each that has none."""
    naming = Naming.of(options, **DEFAULTS)
    by = options.setting("by", BY, "auto") or "auto"
    numbers = options.setting("letters", ("kept", "numbers"), "kept") == "numbers"
    logs = [_read_log(path, account) for path in paths]
    pairs = [(scorer, name) for log in logs for scorer, names in log.questions.items() for name in names]
    shared = judged.shared_names(pairs)
    found = [judged.told_apart(*pair, shared) for pair in pairs]
    judged.check_scores(naming, found, ", ".join(map(str, paths)))
    rows: list[dict[str, Any]] = []
    more = "{eval.task}" if "{eval.task}" not in naming.item else "{file}"
    items = judged.known_items(options, f"{more} {naming.item}")
    for log in logs:
        graders = log.graders if by != "model" else {}
        if by == "grader":
            graders = {scorer: log.graders.get(scorer, log.model) for scorer in log.questions}
        maker = _Rows(log, naming, graders, shared, numbers, INVALIDATED in options.keep)
        for sample in (*log.samples, *_never_run(log)):
            with account.record(sample.record):
                made = maker.of(sample, account, items)
                rows += made
    _check_models(logs, naming, by)
    graded = sorted({scorer for log in logs for scorer in (log.graders if by != "model" else ())})
    notes = [Note("inspect.note.graded", {"scorers": ", ".join(graded)})] if graded else []
    judges, conditions = _judges(logs, rows), _conditions(logs, naming)
    return judged.judged_tables(rows, items.rows, notes, judges, conditions)


@dataclass
class _Rows:
    """Makes the rows of the samples of a log; ``shared`` : names of scores that several scorers give."""

    log: Log
    naming: Naming
    graders: Mapping[str, str]
    shared: frozenset[str]
    numbers: bool
    invalidated: bool

    def of(self, sample: Sample, account: Account, items: Known) -> list[dict[str, Any]]:
        """The rows of a sample, counted; its item is described on the way."""
        made = []
        for scorer, names in self.log.questions.items():
            cell = self._cell(sample, scorer)
            where = inspect_cells.placed(sample, cell, self.naming, DEFAULTS, designs=self.log.designs)
            values = sample.values(scorer)
            for name in dict.fromkeys((*names, *values)):
                account.read()
                reason = self._left(sample, judged.told_apart(scorer, name, self.shared))
                if reason:
                    account.left(reason, at=sample.record)
                    continue
                account.took()
                made.append(self._row(sample, scorer, where, name, values))
                items.keep(where["item_id"], {} if inspect_cells.told(sample) else sample.item(), sample.record)
        return made

    def _left(self, sample: Sample, name: str) -> str | None:
        if sample.invalidated and not self.invalidated:
            return "inspect.left.invalidated"
        if self.log.ours and not inspect_cells.told(sample):
            return "inspect.left.unknown_cell"
        return None if self.naming.wanted(name) else judged.NOT_ASKED

    def _cell(self, sample: Sample, scorer: str) -> dict[str, str]:
        judge = self.log.model
        if scorer in self.graders:
            own = sample.grader(scorer) if "," not in self.graders[scorer] else None
            judge = own or self.graders[scorer]
        known = {
            "sample": sample.record.value, "eval": self.log.spec.value, "scorer": scorer, "judge": judge,
            "condition": self.log.condition, "file": Path(self.log.file).name,
        }  # fmt: skip
        return self.naming.cell_of(known, sample.record)

    def _row(
        self, sample: Sample, scorer: str, where: Mapping[str, str], name: str, values: Mapping[str, Any]
    ) -> dict[str, Any]:
        value = letters(values.get(name)) if self.numbers else values.get(name)
        status = sample.status(scorer, value)
        raw = sample.raw(scorer, graded=scorer in self.graders) or sample.error
        status = inspect_cells.status_of(sample, scorer, status)
        score = judged.told_apart(scorer, name, self.shared)
        question = inspect_cells.question_of(sample, scorer) or self.naming.question(score)
        return judged.row(where, question, value, status, sample.epoch, raw=raw)


def _read_log(path: Path, account: Account) -> Log:
    if member_names(path):
        with open_members(path) as members:
            return _filled(Log(str(path), _archived_spec(members)), _archived(members, account), account)
    header = {part.key: part for part in json_records(path, Account(skip_broken=True), entries=True)}
    spec = header.get("eval")
    if spec is None:
        raise InputError("inspect.no_header", file=str(path))
    log = Log(str(path), Record(spec.value, str(path), spec.line, "eval"))
    if "samples" not in header or header["samples"].value is None:
        raise InputError("inspect.header_only", file=str(path))
    return _filled(log, json_records(path, account, ("samples",)), account, header.get("results"))


def _archived_spec(members: Members) -> Record:
    """The ``eval`` of an archive; that of its beginning where the run never ended."""
    name = HEADER if HEADER in members else START
    file = f"{members.file}/{name}"
    [whole] = parse_records(members.text(name), file, Account())
    whole.need("eval", dict)
    return whole.inside("eval")


def _archived(members: Members, account: Account) -> Iterator[Record]:
    for name in sorted(members.names):
        if name.startswith(SAMPLES) and name.endswith(".json"):
            yield from parse_records(members.text(name), f"{members.file}/{name}", account)


def _filled(log: Log, records: Iterator[Record], account: Account, results: Record | None = None) -> Log:
    """The log with its samples, and what is known only from all of them: names of scores, graders."""
    for declared in log.spec.each("scorers"):
        log.questions[declared.need("name", str)] = []
    told = results.value if results is not None and isinstance(results.value, dict) else {}
    for record in records:
        with account.record(record):
            sample = of_record(record, told)
            log.samples.append(sample)
    for sample in log.samples:
        for scorer in sample.scores:
            names = log.questions.setdefault(scorer, [])
            names += [name for name in sample.values(scorer) if name not in names]
            if scorer not in log.graders and sample.graded(scorer):
                log.graders[scorer] = _declared_grader(log, scorer) or sample.grader(scorer) or log.model
    log.questions = {scorer: names or [scorer] for scorer, names in log.questions.items()}
    if not log.questions:
        raise InputError("inspect.no_scorer", file=log.file)
    return log


def _declared_grader(log: Log, scorer: str) -> str | None:
    """The grader that the header names: the scorer's own models, or the model in the role of the grader."""
    roles = log.spec.may("model_roles", dict) or {}
    for declared in log.spec.each("scorers"):
        if declared.value.get("name") == scorer:
            found = judged.lookup(declared.value, "options.model") or roles.get("grader")
            many = found if isinstance(found, list) else [found]
            names = [one.get("model") if isinstance(one, dict) else one for one in many]
            return ", ".join(str(name) for name in names if name) or None
    return None


def _never_run(log: Log) -> list[Sample]:
    """Samples that the data set has and the log lacks: the run was ended before them."""
    ids = judged.lookup(log.spec.value, "dataset.sample_ids")
    epochs = judged.lookup(log.spec.value, "config.epochs") or 1
    if not isinstance(ids, list) or not isinstance(epochs, int):
        return []
    there = {(sample.id, sample.epoch) for sample in log.samples}
    lacking = [(name, epoch) for epoch in range(1, epochs + 1) for name in ids if (str(name), epoch) not in there]
    known = {sample.id: inspect_cells.told(sample) for sample in log.samples}
    empty = [{"id": name, "epoch": epoch, "metadata": known.get(str(name))} for name, epoch in lacking]
    return [Sample(Record(value, log.spec.file, log.spec.line)) for value in empty]


def _check_models(logs: Sequence[Log], naming: Naming, by: str) -> None:
    """Raises InputError where answers of several models were graded and items would not say whose answer is meant."""
    graded = {log.model for log in logs if by == "grader" or (by == "auto" and log.graders)}
    if len(graded) > 1 and "{eval.model}" not in naming.item:
        raise InputError("inspect.several_models", file=", ".join(log.file for log in logs), value=", ".join(graded))


def _argument(value: Any) -> Any:
    """An argument of a task as a part of a name. A long one is cut, and told apart from others by a digest.

    >>> _argument(["us", "cn"]), _argument(3), _argument(["x" * 99])[-12:]
    ('["us", "cn"]', 3, '...#8b53d807')
    """
    if not isinstance(value, list | dict):
        return value
    told = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}...#{sha256(told.encode()).hexdigest()[:8]}"


def _single(values: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (values or {}).items() if isinstance(value, KEPT)}


def _conditions(logs: Sequence[Log], naming: Naming) -> Any:
    """What the arguments of the tasks say of each condition."""
    if naming.condition != DEFAULTS["condition"]:
        return None
    ours = inspect_cells.conditions(sample for log in logs for sample in log.samples)
    if ours or not any(log.arguments for log in logs):
        return frame(ours, ("condition",)) if ours else None
    rows = {log.condition: {"condition": log.condition, **log.arguments} for log in logs}
    return frame(rows.values(), ("condition",))


def _judges(logs: Sequence[Log], rows: Sequence[Mapping[str, Any]]) -> Any:
    """How the models were called, where every log says the same of a model; only what differs between them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for log in logs:
        found.setdefault(log.model, []).append(_single(log.spec.may("model_generate_config", dict)))
    used = {row["judge"] for row in rows}
    ways = {judge: told[0] for judge, told in found.items() if judge in used and all(way == told[0] for way in told)}
    names = dict.fromkeys(name for way in ways.values() for name in way)
    differ = [name for name in names if len({repr(way.get(name)) for way in ways.values()}) > 1]
    told = [{"judge": judge, **{name: way.get(name) for name in differ}} for judge, way in ways.items()]
    return frame(told, ("judge",)) if differ else None


IMPORTER = Importer(
    "inspect",
    "inspect.title",
    recognise,
    read=read,
    side="judgments",
    settings={**judged.SETTINGS, **judged.TEXTS, "by": "inspect.settings.by", "letters": "inspect.settings.letters"},
    keeps={INVALIDATED: "inspect.keeps.invalidated"},
    gathers=(".eval", ".json"),
)
