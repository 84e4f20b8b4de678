"""A bilingual person's verification of every text in another language, in the history of the corpus.

A verification is of two texts: the source and its translation, as they were then. Where either has changed since, the
text needs a new one. Only a person's verification, or ``take_unverified``, puts a model's words into a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import is_text, read_concepts
from voirdire.construction.history import Book, Clock, Event, History, digest_of, open_history, read_history, utc_now
from voirdire.construction.standing import AUTHORING, TEXT
from voirdire.construction.translation.checking import other_numbers
from voirdire.construction.translation.plan import BACK
from voirdire.construction.translation.proposals import Proposal, newest, read_proposals
from voirdire.construction.translation.units import Unit, read_units
from voirdire.construction.translation.writing import refuse_unwritable, write_texts
from voirdire.errors import InputError, UsageError

TRANSLATION = "translation"
"""Kind of the events; their ``action`` is one of those below."""

VERIFY, TAKE, WITHDRAW = "verify", "take", "withdraw"
MISSING, PROPOSED, UNVERIFIED, CHANGED, VERIFIED = "missing", "proposed", "unverified", "changed", "verified"
STATES = (MISSING, PROPOSED, UNVERIFIED, CHANGED, VERIFIED)
IN_FILE, IN_PROPOSAL = "file", "proposal"
MOST_NAME, MOST_TEXT, MOST_NOTE = 64, 10_000, 4000


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a text in one language stands.

    state : missing (nothing in the file, nothing proposed), proposed, unverified (in the file, nobody verified it),
        changed (it, or its source, is not what was verified), verified
    text : in the file; proposal : of a model, of the present source; back : that translated back, or the text in the
        file where it stands there
    by, at : of the latest verification; moved : whether the source was another then
    taken : whether a model's words were put into the file unverified
    own : whether whoever verified it wrote it as an author of the concept
    """

    name: str
    language: str
    unit: Unit
    state: str
    text: str = ""
    proposal: Proposal | None = None
    back: Proposal | None = None
    by: str = ""
    at: str = ""
    moved: bool = False
    taken: bool = False
    own: bool = False

    @property
    def candidate(self) -> str:
        """What there is to verify: the text in the file, else what was proposed."""
        return self.text or (self.proposal.text if self.proposal else "")

    @property
    def differs(self) -> bool:
        """Whether the file says one thing and a model proposed another."""
        return bool(self.text and self.proposal and self.proposal.text and self.proposal.text != self.text)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Numbers in digits that only the source or only what there is to verify has; they may stand for words."""
        return other_numbers(self.candidate, self.unit.source) if self.candidate else ()

    @property
    def digest(self) -> str:
        """Of what a person sees: the source, and what there is to verify."""
        return pair_digest(self.unit.source, self.candidate)


def pair_digest(source: str, text: str) -> str:
    """Digest of a source with its translation.

    >>> pair_digest("Good?", "好吗？") == pair_digest("Good?", "好？")
    False
    """
    return digest_of([source, text])


def standings_of(units: Iterable[Unit], history: History, proposals: Sequence[Proposal] = ()) -> dict[str, Standing]:
    """Name -> where it stands, of every text in every language beside the first, in the order of the files."""
    latest, forward, back = _latest(history), newest(proposals), newest(proposals, BACK)
    written = _written(history)
    found: dict[str, Standing] = {}
    for unit in units:
        for language in unit.languages:
            name = unit.name(language)
            proposal = forward.get((name, unit.source))
            made = _standing(unit, language, latest.get(name, {}), proposal)
            own = bool(made.by) and (unit.concept, unit.kind, language, made.text, made.by.casefold()) in written
            found[name] = replace(made, back=back.get((name, made.candidate)), own=own)
    return found


def read_standings(folder: Path | str) -> dict[str, Standing]:
    """Name -> where it stands, of a folder that is being built. Raises InputError for files that cannot be read."""
    build, history = read_build_file(folder), read_history(folder)
    return standings_of(read_units(folder, build, read_concepts(folder), history), history, read_proposals(folder))


def unverified(folder: Path | str) -> tuple[Standing, ...]:
    """The texts that cannot be released: missing, proposed only, not verified, or changed since.

    >>> import tempfile
    >>> from voirdire.construction.template import begin
    >>> folder = Path(tempfile.mkdtemp()) / "mine"
    >>> files = begin(folder, authors=["ana", "bo", "chen"])
    >>> [(one.name, one.state) for one in unverified(folder)]
    [('celebratory-meal/prompt/zh', 'unverified')]
    >>> verify(folder, "celebratory-meal/prompt/zh", "dai").state
    'verified'
    >>> unverified(folder)
    ()
    """
    return tuple(one for one in read_standings(folder).values() if one.state != VERIFIED)


def verify(
    folder: Path | str,
    name: str,
    by: str,
    *,
    text: str | None = None,
    take: str | None = None,
    note: str = "",
    seen: str | None = None,
    clock: Clock = utc_now,
) -> Standing:
    """Record that a bilingual person verified a text, and write it into its file.

    text : the corrected translation; None where what stands there is right
    take : ``file`` or ``proposal``, where the file says one thing and a model proposed another
    seen : digest of what the person looked at (``Standing.digest``); refused when it is another now

    Raises UsageError (``translation.verify.*``) for a text that there is not, that has nothing to verify, or of which
    it is not clear what is meant; a correction or a note that cannot stand; a decision without a name.
    """
    build, person = read_build_file(folder), _person(by)
    _check_note(note)
    with open_history(folder, clock) as book:
        before = _known(_read(book, build), name)
        if seen is not None and seen != before.digest:
            raise UsageError("translation.verify.moved", value=name)
        words = _chosen(before, text, take)
        written = [(before.unit, before.language, words)]
        refuse_unwritable(folder, written, build.source_language)
        event = _event(VERIFY, before, words, person, note)
        book.append(
            {**event, "corrected": words not in (before.text, _proposed(before)), "model": _model(before, words)}
        )
        if words != before.text or before.language in before.unit.partial:
            write_texts(folder, written, build.source_language)
        return _read(book, build)[name]


def withdraw(folder: Path | str, name: str, by: str, *, note: str = "", clock: Clock = utc_now) -> Standing:
    """Take a verification back; the text stays in its file, unverified. Raises UsageError where there is none."""
    build, person = read_build_file(folder), _person(by)
    _check_note(note)
    with open_history(folder, clock) as book:
        before = _known(_read(book, build), name)
        if not before.by:
            raise UsageError("translation.verify.none", value=name)
        book.append(_event(WITHDRAW, before, before.text, person, note))
        return _read(book, build)[name]


def take_unverified(folder: Path | str, *, clock: Clock = utc_now) -> tuple[Standing, ...]:
    """Put what was proposed into the files where nothing stands yet; it stays unverified, and the history says so."""
    build = read_build_file(folder)
    with open_history(folder, clock) as book:
        found = [one for one in _read(book, build).values() if one.state == PROPOSED]
        if found:
            written = [(one.unit, one.language, one.candidate) for one in found]
            refuse_unwritable(folder, written, build.source_language)
            events = [_event(TAKE, one, one.candidate, "") for one in found]
            models = [_model(one, one.candidate) for one in found]
            book.append(*({**event, "model": model} for event, model in zip(events, models, strict=True)))
            write_texts(folder, written, build.source_language)
        now = _read(book, build)
        return tuple(now[one.name] for one in found)


def _read(book: Book, build: BuildFile) -> dict[str, Standing]:
    units = read_units(book.folder, build, read_concepts(book.folder), book.history)
    return standings_of(units, book.history, read_proposals(book.folder))


def _latest(history: History) -> dict[str, Event]:
    """Text -> the latest event about it."""
    return {str(event.get("text_id", "")): event for event in history.of_kind(TRANSLATION)}


def _written(history: History) -> set[tuple[str, str, str, str, str]]:
    """(concept, kind, language, text, person) of what authors wrote or handed in, of questions and descriptions."""
    found = set()
    for event in history.of_kind(TEXT, AUTHORING):
        told = event.get("text")
        parts = [] if not isinstance(told, Mapping) else [told] if event["kind"] == TEXT else list(told.values())
        for part in parts:
            for kind in ("prompt", "alt"):
                said = part.get(kind) if isinstance(part, Mapping) else None
                for language, words in said.items() if isinstance(said, Mapping) else ():
                    found.add((event["concept"], kind, language, str(words).strip(), str(event["by"]).casefold()))
    return found


def _standing(unit: Unit, language: str, event: Event, proposal: Proposal | None) -> Standing:
    text = unit.said.get(language, "")
    verified = event.get("action") == VERIFY
    same = event.get("digest") == pair_digest(unit.source, text)
    usable = proposal is not None and bool(proposal.text)
    if text:
        whole = language not in unit.partial and not unit.mixed
        state = UNVERIFIED if not verified or not whole else VERIFIED if same else CHANGED
    else:
        state = PROPOSED if usable else MISSING
    by, at = (str(event["by"]), str(event["at"])) if verified else ("", "")
    taken = event.get("action") == TAKE and same
    moved = verified and event.get("source") != unit.source
    return Standing(unit.name(language), language, unit, state, text, proposal, None, by, at, moved, taken)


def _known(found: Mapping[str, Standing], name: str) -> Standing:
    if name not in found:
        near = get_close_matches(name, found, n=5, cutoff=0.4) or list(found)[:5]
        raise UsageError("translation.verify.unknown", value=name, known=", ".join(near) or "-")
    return found[name]


def _chosen(before: Standing, text: str | None, take: str | None) -> str:
    refuse_mixed(before.unit)
    if text is not None and take is not None:
        raise UsageError("translation.verify.both")
    if text is not None:
        words = text.strip()
        if not words or len(words) > MOST_TEXT or not is_text(words):
            raise UsageError("translation.verify.text_unfit", value=before.name, limit=MOST_TEXT)
        return words
    if take not in (None, IN_FILE, IN_PROPOSAL):
        raise UsageError("translation.verify.take", value=take, known=f"{IN_FILE}, {IN_PROPOSAL}")
    if take is None and before.differs and before.state != VERIFIED:
        raise UsageError("translation.verify.which", value=before.name)
    words = {IN_FILE: before.text, IN_PROPOSAL: _proposed(before), None: before.candidate}[take]
    if not words:
        raise UsageError("translation.verify.nothing", value=before.name)
    return words


def refuse_mixed(unit: Unit) -> None:
    """Raise InputError for a question that the members of a pair are not asked in the same words."""
    if unit.mixed:
        raise InputError("translation.source_mixed", file=unit.file, value=unit.id)


def _event(action: str, one: Standing, words: str, by: str, note: str = "") -> dict[str, Any]:
    told = {"text_id": one.name, "language": one.language, "source": one.unit.source, "text": words, "note": note}
    digest = pair_digest(one.unit.source, words)
    return {"kind": TRANSLATION, "action": action, "concept": one.unit.concept, "by": by, **told, "digest": digest}


def _proposed(one: Standing) -> str:
    return one.proposal.text if one.proposal else ""


def _model(one: Standing, words: str) -> str:
    """The model whose words these are; empty for a person's own."""
    return one.proposal.model if one.proposal is not None and one.proposal.text == words else ""


def _check_note(note: str) -> None:
    if len(note) > MOST_NOTE or not is_text(note):
        raise UsageError("translation.verify.note_unfit", count=len(note), limit=MOST_NOTE)


def _person(by: str) -> str:
    name = by.strip()
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise UsageError("translation.verify.nobody", count=MOST_NAME)
    return name
