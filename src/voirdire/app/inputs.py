"""From sources and options to a corpus, its judgments and the options of the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from voirdire.analysis.options import AuditOptions
from voirdire.corpus.corpus import Corpus, Intake, Judgments, Note
from voirdire.corpus.folder import frozen_folder
from voirdire.corpus.options import CorpusOptions, JudgmentOptions
from voirdire.errors import InputError, UsageError

Progress = Callable[[str, float], None]
SUFFIXES = ("csv", "csv.gz", "tsv", "tsv.gz", "jsonl", "jsonl.gz", "parquet")
POOL_TABLES = ("ratings", "items", "raters", "questions", "shares")
JUDGE_TABLES = ("judgments", "judges", "conditions")
MANIFEST = "corpus.toml"

_RENAMED: Mapping[type, Mapping[str, str]] = {
    CorpusOptions: {},
    JudgmentOptions: {"duplicate_judgments": "duplicates"},
    AuditOptions: {"confidence": "level"},
}
_SHADOWED: Mapping[type, tuple[str, ...]] = {
    CorpusOptions: (),
    JudgmentOptions: ("duplicates",),
    AuditOptions: ("level",),
}
_JUDGMENT_NAMES = ("judge", "condition", "repeat", "status", "attempts")


@dataclass(frozen=True)
class Told:
    """What was taken for what, and how many rows of each table are used: known before anything is computed."""

    intake: tuple[Intake, ...]
    notes: tuple[Note, ...]


Listener = Callable[[Told], None]


@dataclass(frozen=True)
class Inputs:
    """What an audit works on."""

    corpus: Corpus
    judgments: Judgments | None
    options: AuditOptions

    @property
    def told(self) -> Told:
        """The intake and the notes of every table."""
        judged = (self.judgments.intake, self.judgments.notes) if self.judgments is not None else ((), ())
        return Told((*self.corpus.intake, *judged[0]), (*self.corpus.notes, *judged[1]))


def read_inputs(options: Mapping[str, Any], *, judged: bool = True) -> Inputs:
    """Read every table that the options name.

    options : the fields of CorpusOptions, JudgmentOptions and AuditOptions by name (``confidence`` for the
        level of intervals, ``duplicate_judgments`` for judgments), and ``folder`` for a folder of tables
    judged : whether judgments are read; without them the pools alone are examined

    ``ratings`` may be a Corpus, ``judgments`` a Judgments. Raises UsageError for an unknown option and
    InputError for tables that cannot be read as meant.
    """
    given = _fill_from_folder(dict(options), judged)
    ratings, judgments = given.pop("ratings", None), given.pop("judgments", None)
    if ratings is None:
        raise UsageError("app.no_ratings")
    _check_names(given)
    corpus = ratings if isinstance(ratings, Corpus) else _read_corpus(ratings, given, judgments is not None)
    read = _read_judgments(judgments, given, corpus) if judgments is not None and judged else None
    return Inputs(corpus, read, AuditOptions(**_pick(AuditOptions, given)))


def _read_corpus(ratings: Any, given: Mapping[str, Any], judged: bool) -> Corpus:
    from voirdire.corpus.reading import read_corpus

    options = CorpusOptions(ratings=ratings, **_pick(CorpusOptions, given))
    if judged and options.mapping:
        ours = {name: theirs for name, theirs in options.mapping.items() if name not in _JUDGMENT_NAMES}
        options = replace(options, mapping=ours)
    return read_corpus(options)


def _read_judgments(judgments: Any, given: Mapping[str, Any], corpus: Corpus) -> Judgments:
    from voirdire.corpus.reading import read_judgments

    if isinstance(judgments, Judgments):
        return judgments
    return read_judgments(judgment_options(given, judgments), corpus)


def judgment_options(given: Mapping[str, Any], judgments: Any = None) -> JudgmentOptions:
    """How judgments are read, of the options of an audit."""
    named = {name: value for name, value in given.items() if name != "judgments"}
    return JudgmentOptions(judgments=judgments, **_pick(JudgmentOptions, named))


def _pick(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of one class, by its field names, with single texts put into tuples where several are meant."""
    named = {_RENAMED[kind].get(name, name): value for name, value in given.items() if name not in _SHADOWED[kind]}
    kinds = {field.name: str(field.type) for field in fields(kind)}
    return {name: _shape(name, value, kinds[name]) for name, value in named.items() if name in kinds}


def _shape(name: str, value: Any, kind: str) -> Any:
    if not kind.startswith("tuple"):
        return value
    if isinstance(value, str):
        value = (value,)
    if name == "pairs":
        single = len(value) == 2 and all(isinstance(pool, str) and "," not in pool for pool in value)
        value = [value] if single else value
        return tuple(_two(pair) for pair in value)
    if name in ("factor_roles", "personas"):
        named = value.items() if isinstance(value, Mapping) else (_named(entry) for entry in value)
        return tuple((str(first), str(second)) for first, second in named)
    return tuple(value)


def _named(entry: Any) -> tuple[str, str]:
    first, mark, second = entry.partition("=") if isinstance(entry, str) else (entry[0], "=", entry[1])
    if not (first and mark and second):
        raise UsageError("app.named", value=str(entry))
    return first, second


def _two(pair: Any) -> tuple[str, str]:
    names = tuple(part.strip() for part in pair.split(",")) if isinstance(pair, str) else tuple(map(str, pair))
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError("app.pair", value=",".join(names))
    return names[0], names[1]


def option_names() -> list[str]:
    """Every option that an audit takes, as named in Python."""
    names = {"folder", "ratings", "judgments"}
    for kind, renamed in _RENAMED.items():
        ours = {field.name for field in fields(kind)} - set(_SHADOWED[kind])
        names |= ours | set(renamed)
    return sorted(names)


def _check_names(given: Mapping[str, Any]) -> None:
    known = option_names()
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.5)
            raise UsageError("app.option_unknown", option=name, known=", ".join(near or known))


def _fill_from_folder(given: dict[str, Any], judged: bool) -> dict[str, Any]:
    """The tables of a folder under the options' names; what is named outright takes precedence.

    Where the judgments are a run folder, its judges and conditions are meant, not those beside the ratings.
    """
    named = given.get("ratings")
    folder = given.pop("folder", None)
    if folder is None and isinstance(named, str | Path) and Path(named).is_dir():
        folder = given.pop("ratings")
    if folder is None:
        return given
    run = given.get("judgments")
    own = judged and not (isinstance(run, str | Path) and Path(run).is_dir())
    found = find_tables(Path(folder), POOL_TABLES + (JUDGE_TABLES if own else ()))
    if "ratings" not in found and given.get("ratings") is None:
        raise InputError("app.folder_no_ratings", file=str(folder), known=", ".join(SUFFIXES))
    corpus = (Path(folder) / MANIFEST).exists()
    if corpus and given.get("ratings") is not None:
        frozen_folder(Path(folder))
    if corpus and given.get("ratings") is None:
        found = {"ratings": Path(folder), **{name: found[name] for name in JUDGE_TABLES if name in found}}
    return {**found, **{name: value for name, value in given.items() if value is not None}}


def images_of(options: Mapping[str, Any]) -> Path | None:
    """The folder that the items' image paths are relative to: that of the items' file, or the folder of tables.

    None when the items are a data frame or there is no file of them: then no image is read.

    >>> images_of({"items": "corpus/items.csv"}).as_posix(), images_of({"items": object()})
    ('corpus', None)
    """
    items = options.get("items")
    if items is not None:
        return Path(items).parent if isinstance(items, str | Path) else None
    for source in (options.get("folder"), options.get("ratings")):
        if isinstance(source, str | Path) and Path(source).is_dir():
            return Path(source)
    return None


def find_tables(folder: Path, names: tuple[str, ...]) -> dict[str, Path]:
    """The tables of these names in a folder. Raises InputError when it is none, or holds one name twice."""
    if not folder.is_dir():
        raise InputError("app.folder_missing", file=str(folder))
    found: dict[str, Path] = {}
    for name in names:
        files = [path for suffix in SUFFIXES if (path := folder / f"{name}.{suffix}").is_file()]
        if len(files) > 1:
            raise InputError("app.folder_twice", file=str(folder), first=files[0].name, second=files[1].name)
        if files:
            found[name] = files[0]
    return found
