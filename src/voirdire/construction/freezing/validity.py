"""The validity argument of a freeze: the gate of the audit, by the ratings that are frozen, without any judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from voirdire.analysis.options import AuditOptions
from voirdire.analysis.profile import Profile
from voirdire.construction.freezing.failures import Failure

PASSED = ("pass", "pass_low_alpha")
USUAL = AuditOptions().gate_reliability
"""The reliability from which a pool passes, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Validity:
    """What the pools' ratings say of a corpus.

    question : the evaluation question; reliability, gate : by pool; undefined : why a reliability is not known
    divergent, recognition : by two pools with a plus between them: yes, no, unknown, not_asked
    regime : whose images alone were counted, where the corpus has further ones
    threshold : reliability from which a pool passes
    """

    question: str
    reliability: Mapping[str, float | None] = field(default_factory=dict)
    gate: Mapping[str, str] = field(default_factory=dict)
    divergent: Mapping[str, str] = field(default_factory=dict)
    recognition: Mapping[str, str] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    regime: str = ""
    threshold: float = USUAL

    def as_dict(self) -> dict[str, Any]:
        """As it stands in ``[validity]`` of corpus.toml."""
        reliability = {pool: round(value, 6) for pool, value in self.reliability.items() if value is not None}
        told: dict[str, Any] = {"question": self.question, **({"regime": self.regime} if self.regime else {})}
        told |= {"threshold": self.threshold, "gate": dict(self.gate), "reliability": reliability}
        return told | {"divergent": dict(self.divergent), "evaluation_not_recognition": dict(self.recognition)}

    def failures(self) -> Iterator[Failure]:
        """Why the corpus is no valid reference; none where all is well. A threshold that was lowered is a reason."""
        if self.threshold < USUAL:
            fields: dict[str, Any] = {"value": f"{self.threshold:g}", "usual": f"{USUAL:g}"}
            yield Failure("reliability", "freezing.reason.loosened", fields)
        for pool, label in self.gate.items():
            if label not in PASSED:
                value = self.reliability.get(pool)
                fields = {"pool": pool, "question": self.question, "value": "-" if value is None else f"{value:.2f}"}
                key = "gate_fail" if label == "fail" else "gate_unknown"
                why = self.undefined.get(pool, "no_individual_ratings")
                words = {} if label == "fail" else {"why": f"undefined.{why}"}
                yield Failure("reliability", f"freeze.reason.{key}", fields, words)
        if not self.divergent:
            yield Failure("divergence", "freeze.reason.one_pool", {"question": self.question})
        for check, labels in (("divergence", self.divergent), ("recognition", self.recognition)):
            for pair, label in labels.items():
                if label not in ("yes", "not_divergent"):  # that they do not differ is told by the first check
                    fields = {"pools": pair, "question": self.question}
                    yield Failure(check, f"freeze.reason.{check}_{label}", fields)


def validity_of(profile: Profile) -> Validity:
    """The validity argument of a profile of pools, on the evaluation question, or the first where none is called so."""
    asked = profile.meta["questions"]
    question = next((one["id"] for one in asked if one["role"] == "evaluation"), asked[0]["id"])
    here = profile.estimates.filter(
        (pl.col("question") == question) & (pl.col("slice") == "all") & (pl.col("judge") == "")
    )
    reliability = _rows(here, "reliability").filter(pl.col("params") == "")
    pairs = {name: _by_pair(_rows(here, f"gate.{name}")) for name in ("divergent", "evaluation_not_recognition")}
    recognition = pairs["evaluation_not_recognition"] or dict.fromkeys(pairs["divergent"], "not_asked")
    return Validity(
        question,
        dict(reliability.select("pool", "value").iter_rows()),
        dict(_rows(here, "gate").select("pool", "label").iter_rows()),
        pairs["divergent"],
        recognition,
        dict(reliability.drop_nulls("undefined").select("pool", "undefined").iter_rows()),
    )


def _rows(frame: pl.DataFrame, statistic: str) -> pl.DataFrame:
    return frame.filter(pl.col("statistic") == statistic)


def _by_pair(frame: pl.DataFrame) -> dict[str, str]:
    return {f"{a}+{b}": label for a, b, label in frame.select("pool", "pool_b", "label").iter_rows()}
