"""What the pools answered to items that are being built: the consensus by which demonstrations are chosen."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from voirdire.construction.concepts import Concepts
from voirdire.construction.regimes import left_aside, of_items
from voirdire.construction.splits import Rated
from voirdire.corpus.corpus import Corpus, Note
from voirdire.corpus.folder import expand_corpus
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError
from voirdire.judging.asked import evaluation_of, held_out_consensus, levels_of, rated_questions


def read_rated(
    concepts: Concepts, options: CorpusOptions, question: str | None = None, further: Collection[str] = ()
) -> tuple[Rated, tuple[Note, ...]]:
    """The pools' consensus on one question: the evaluation question, or the first, where none is named.

    options : with the ratings (a table, or a folder with ``corpus.toml``) and how they are read; the items are those of
        the concepts, and ratings of other items are left out and counted
    further : ids of items of further regimes, whose ratings are left aside and counted
    Raises InputError where no rating belongs to a concept, and for a question that is not answered in whole numbers.

    >>> import polars as pl
    >>> from voirdire.construction.concepts import ConceptItem
    >>> from voirdire.tables import read_table
    >>> item = ConceptItem("tea-us", "tea", "food", "us", "iced tea")
    >>> concepts = Concepts((item,), read_table(pl.DataFrame({"concept": ["tea"]})))
    >>> ratings = pl.DataFrame({"item_id": ["tea-us"] * 2, "rater_id": ["r", "s"], "pool": "us", "rating": [1, 4]})
    >>> rated, _ = read_rated(concepts, CorpusOptions(ratings, low=1, high=5))
    >>> rated.consensus, rated.level("us", "tea-us")
    ({'us': {'tea-us': 2.5}}, 3)
    """
    ids = [item.id for item in concepts.items]
    found = of_items(expand_corpus(options), ids, further)
    corpus = _read(found)
    asked = rated_questions(corpus, found)
    name = evaluation_of(asked, question)
    levels = levels_of(asked.questions[name].scale, name)
    consensus = held_out_consensus(corpus, ids).get(name, {})
    if not any(consensus.values()):
        raise _none_rated(found)
    return Rated(name, consensus, levels), (*corpus.notes, *left_aside(corpus))


def _read(options: CorpusOptions) -> Corpus:
    try:
        return read_corpus(options)
    except InputError as error:
        if error.key == "input.nothing_rated":
            raise _none_rated(options) from error
        raise


def _none_rated(options: CorpusOptions) -> InputError:
    file = str(options.ratings) if isinstance(options.ratings, (str, Path)) else "DataFrame"
    return InputError("build.split.none_rated", file=file)
