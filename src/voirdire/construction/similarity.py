"""Texts that say nearly the same: a measure of letters, by language.

The measure is Jaccard's: of the runs of ``n`` letters that occur in either text, the share that occurs in both.
Letters are folded (NFKC, without regard to case); everything but letters and digits counts as one space between words.
Languages that are written without spaces take runs of 2, others runs of 3, where the space is a letter too.

Thresholds: 0.5 for runs of 3 and 0.45 for runs of 2. In the demonstration corpus no two of its fifteen questions reach
0.40 in English or 0.36 in Chinese; a question with one word exchanged or moved has 0.55 or more in English and 0.45 or
more in Chinese. Paraphrases that share few letters are not found.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.judging.demonstrations import folded

SPACELESS = ("zh", "ja", "th", "lo", "my", "km", "yue", "wuu", "nan", "hak", "bo")
RUN, RUN_SPACELESS = 3, 2
THRESHOLD, THRESHOLD_SPACELESS = 0.5, 0.45
_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Alike:
    """Texts of which each is nearly the same as another one of them.

    names : of the texts, in the order given; most : the highest similarity between two of them
    """

    names: tuple[str, ...]
    most: float


def spaceless(language: str) -> bool:
    """Whether a language is written without spaces between words.

    >>> spaceless("zh-Hans"), spaceless("en")
    (True, False)
    """
    return language.partition("-")[0] in SPACELESS


def threshold_of(language: str) -> float:
    """The similarity from which two texts of a language count as nearly the same."""
    return THRESHOLD_SPACELESS if spaceless(language) else THRESHOLD


def runs(text: str, language: str) -> frozenset[str]:
    """The runs of letters of a text; the whole text where it is shorter than a run.

    >>> sorted(runs("Tea?", "en")), sorted(runs("好喝吗？", "zh"))
    ([' te', 'ea ', 'tea'], ['喝吗', '好喝'])
    """
    bare = "".join(letter if _is_letter(letter) else " " for letter in folded(text))
    words = bare.split()
    line, size = ("".join(words), RUN_SPACELESS) if spaceless(language) else (f" {' '.join(words)} ", RUN)
    if not words:
        return frozenset()
    return frozenset(line[at : at + size] for at in range(max(1, len(line) - size + 1)))


def similarity(one: str, other: str, language: str) -> float:
    """Jaccard's similarity of two texts, 0 to 1; 0 where one has no letters.

    >>> round(similarity("How good is this gift for a host?", "How good is this gift for a hostess?", "en"), 2)
    0.85
    >>> similarity("这碗汤有多暖心？", "这碗汤，有多暖心", "zh")
    1.0
    """
    first, second = runs(one, language), runs(other, language)
    return len(first & second) / len(first | second) if first and second else 0.0


def nearly_same(texts: Mapping[str, str], language: str, threshold: float | None = None) -> tuple[Alike, ...]:
    """Groups of texts that hang together by similarities of at least the threshold, in the order of their first text.

    texts : name -> text; those without letters are left out. Cost grows with the pairs that share a run.

    >>> found = nearly_same({"a": "Is it good?", "b": "Is it good", "c": "How usual is this dish?"}, "en")
    >>> found[0].names, found[0].most
    (('a', 'b'), 1.0)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    kept = {name: found for name, text in texts.items() if (found := runs(text, language))}
    names = list(kept)
    if len(names) < 2:
        return ()
    pairs = _pairs(list(kept.values()), threshold_of(language) if threshold is None else threshold)
    if not pairs.size:
        return ()
    edges = coo_array((pairs["share"], (pairs["one"], pairs["other"])), shape=(len(names), len(names)))
    _, group = connected_components(edges, directed=False)
    return tuple(_groups(names, group, pairs))


def _groups(names: Sequence[str], group: Any, pairs: Any) -> list[Alike]:
    most = np.zeros(len(names))
    np.maximum.at(most, group[pairs["one"]], pairs["share"])
    members: dict[int, list[str]] = {}
    for name, number in zip(names, group.tolist(), strict=True):
        if most[number] > 0:
            members.setdefault(number, []).append(name)
    return [Alike(tuple(found), float(most[number])) for number, found in members.items()]


def _pairs(texts: Sequence[frozenset[str]], threshold: float) -> Any:
    """Pairs (one < other) of texts whose similarity reaches the threshold: fields one, other, share."""
    from scipy.sparse import csr_array

    place = {run: number for number, run in enumerate(dict.fromkeys(run for text in texts for run in sorted(text)))}
    columns = [place[run] for text in texts for run in sorted(text)]
    sizes = np.array([len(text) for text in texts])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    has = csr_array((np.ones(len(columns), dtype=np.int32), columns, starts), shape=(len(texts), len(place)))
    kind = np.dtype([("one", np.int64), ("other", np.int64), ("share", np.float64)])
    found = []
    for start in range(0, len(texts), _ROWS):
        both = (has[start : start + _ROWS] @ has[start:].T).tocoo()
        one, other = both.row.astype(np.int64) + start, both.col.astype(np.int64) + start
        share = both.data / (sizes[one] + sizes[other] - both.data)
        keep = (one < other) & (share >= threshold)
        part = np.empty(int(keep.sum()), dtype=kind)
        part["one"], part["other"], part["share"] = one[keep], other[keep], share[keep]
        found.append(part)
    return np.concatenate(found)


def _is_letter(letter: str) -> bool:
    """Letters, marks that belong to them, and digits."""
    return unicodedata.category(letter)[0] in "LMN"
