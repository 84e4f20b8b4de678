"""Words of the report: how a number, a name, a label or a reason is printed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from voirdire.analysis.naming import levels_of
from voirdire.reporting.access import Cell, Row, View
from voirdire.texts import has, text

DASH = "\u2014"
MINUS = "\u2212"
COUNTS = frozenset({"n_items", "n_ratings", "n_raters", "gap_test.n_left_out", "delta_test.n_zero"})
WHOLE = frozenset({"percent_of_human"})
SIGNED_PARTS = ("tilt_split.", "delta_split.")
CHANGES = frozenset(
    {
        *(
            f"icl_effect.{name}"
            for name in (
                "mean_rating", "share_low", "share_high", "floor_recovery", "error", "tilt", "delta", "orientation.w",
                "covariate_gap", "covariate_gap_change",
            )
        ),
        "pull", "pull.difference", "persona_match.difference", "floor_gap", "origin_effect.coef",
        "origin_effect.condition_difference", "origin_effect.pearson_difference", "recognizability_bins.tilt",
        "regime_comparison.tilt", "regime_comparison.delta",
    }
)  # fmt: skip
NAMES = frozenset({"best_mae.condition", "best_mae.lowest_cell", "best_kappa.cell", "best_kappa.pool"})
"""Statistics whose labels are names of the corpus or of judges."""
STATISTIC = re.compile(r"wilcoxon\w*_statistic$|n_nonzero$")
SIGNED = frozenset(
    {
        "orientation.contrast",
        "bias",
        "delta",
        "delta_sq",
        "tilt",
        "mae_vs_constant",
        "equalised.delta",
        "equalised.tilt",
        "preferred_share.gap",
        "preferred_share.difference",
        "position.bias",
        "position.effect",
        "position.raters",
    }
)
SHARES = frozenset(
    {"share_low", "share_high", "missing_share", "floor_recovery", "tilt.share_small_gaps", "subjectivity"}
)
SCALE_UNITS = frozenset(
    {
        "mae", "mae.bound_low", "mae.bound_high", "bias", "delta", "delta_sq", "mae_vs_constant", "recalibrated_mae",
        "ceiling.own", "ceiling.other", "ceiling.judge", "consensus_mean", "mean_rating", "cross_pool_mad", "gap_rms",
        "noise_floor", "gap_test.null_mean", "repeat_sd", "equalised.delta", "distribution.w1", "distribution.w1_floor",
        "placement", "recognizability",
    }
)  # fmt: skip


PROBABILITY = re.compile(r"(^|[._])p(_holm|_bh|_normal)?$")


class Words:
    """The sentences of one language, and numbers in the manner of one question.

    >>> Words("en").number("mae", 0.8312)
    '0.83'
    >>> Words("en").number("delta_test.t_p", 1e-9)
    'p < 0.001'
    """

    def __init__(self, lang: str, pools: Sequence[str] = ()) -> None:
        self.lang = lang
        self.pools = tuple(pools)

    def t(self, key: str, **fields: Any) -> str:
        """A sentence of the report; fields are cleaned of control characters, not escaped."""
        return text(f"report.{key}", self.lang, **{name: View.clean(value) for name, value in fields.items()})

    def x(self, key: str, **fields: Any) -> str:
        """A sentence of the report's part on the experiment and the decomposition."""
        return text(
            f"report_experiment.{key}", self.lang, **{name: View.clean(value) for name, value in fields.items()}
        )

    def c(self, key: str, **fields: Any) -> str:
        """A sentence on the claims."""
        return text(f"claims.{key}", self.lang, **{name: View.clean(value) for name, value in fields.items()})

    def v(self, key: str, **fields: Any) -> str:
        """A sentence on votes between two things."""
        return text(f"report_pairwise.{key}", self.lang, **{name: View.clean(value) for name, value in fields.items()})

    def statistic(self, name: str, params: str = "") -> str:
        """A statistic's name in plain words."""
        return text(f"{_key(name, params, self.lang)}.name", self.lang)

    def help(self, name: str, params: str = "") -> str:
        """One sentence that explains a statistic."""
        return text(f"{_key(name, params, self.lang)}.help", self.lang)

    def defined(self, name: str, params: str = "", *, votes: bool = False) -> tuple[str, str]:
        """A statistic's name and explanation; of votes between two things their own where they have one."""
        own = f"definition.{name}"
        if votes and not params.startswith("control=") and has(f"report_pairwise.{own}.name", self.lang):
            return self.v(f"{own}.name"), self.v(f"{own}.help")
        return self.statistic(name, params), self.help(name, params)

    def reason(self, key: str) -> str:
        """Why a number is undefined. A reason without a sentence is an error (``KeyError``)."""
        return text(f"undefined.{key}", self.lang)

    def excluded(self, key: str) -> str:
        """Why rows or judgments were left out; a reason without a sentence is shown as it is."""
        for place in ("input.reason", "report.excluded"):
            if has(f"{place}.{key}", self.lang):
                return text(f"{place}.{key}", self.lang)
        return View.clean(key).replace("_", " ")

    def label(self, statistic: str, label: str, pool: str = "", pool_b: str = "") -> str:
        """A text result (a gate, a verdict, a composition) in plain words."""
        if statistic in NAMES:
            return View.clean(label)
        key = f"label.{statistic.replace('.', '_')}.{label}"
        return (
            self.x(key, a=pool, b=pool_b)
            if has(f"report_experiment.{key}", self.lang)
            else self.t(key, a=pool, b=pool_b)
        )

    def note(self, note: dict[str, Any]) -> str:
        """A note of the input or the analysis."""
        fields = {
            name: value if isinstance(value, int | float) else View.clean(value)
            for name, value in (note.get("fields") or {}).items()
        }
        return text(note["key"], self.lang, **fields)

    def scale(self, question: dict[str, Any]) -> str:
        """A question's scale in words; the printed form of signatures where the profile tells no more."""
        labels = self.list([View.clean(label) for label in question.get("labels") or []])
        ends = [question.get("low"), question.get("high")]
        if question.get("normalised"):
            return self.t("scale_words.per_item")
        if question.get("positive"):
            return self.t("scale_words.binary", labels=labels, positive=View.clean(question["positive"]))
        level = self.t(f"scale_words.level.{question['level']}") if question.get("level") else ""
        if level and labels:
            return self.t("scale_words.labels", level=level, labels=labels)
        if level and None not in ends:
            return self.t("scale_words.ends", level=level, low=f"{ends[0]:g}", high=f"{ends[1]:g}")
        return level or View.clean(question.get("scale", ""))

    def judge(self, name: str, *, labels: bool = False) -> str:
        """A judge's name; control judges are named in words.

        labels : the answers are labels, so that a copy is of the most frequent one and rounds nothing
        """
        if not name.startswith("control:"):
            return View.clean(name)
        kind, _, rest = name.removeprefix("control:").partition("_")
        rounded = rest.endswith("_rounded")
        rest = rest.removesuffix("_rounded")
        pairs = (
            {f"{a}_{b}": f"{a} / {b}" for a in self.pools for b in self.pools if a != b} if kind == "midpoint" else {}
        )
        ending = "" if not rounded else "_labels" if labels else "_rounded"
        return self.t(f"control.{kind}{ending}", name=pairs.get(rest, rest))

    def cell(self, cell: Cell) -> str:
        """A judge and its condition as one name (for figures)."""
        if cell.condition in {"-", "*", ""}:
            return self.judge(cell.judge)
        return f"{self.judge(cell.judge)} \u00b7 {View.clean(cell.condition)}"

    def condition(self, name: str) -> str:
        """A condition's name; ``*`` in words, and a dash where there is none."""
        return {"*": self.t("all_conditions"), "-": DASH, "": DASH}.get(name) or (
            self.selection(name) if "=" in name else View.clean(name)
        )

    def selection(self, name: str) -> str:
        """A selection of conditions in words (``persona=us&design=base`` becomes ``persona: us, design: base``)."""
        return View.clean(", ".join(f"{column}: {level}" if level else column for column, level in levels_of(name)))

    def params(self, params: str) -> str:
        """The parameters of an estimate as they are read (``level=cn``, percent-encoded, becomes ``level: cn``)."""
        pairs = (part.partition("=") for part in params.split(",") if part)
        return View.clean(", ".join(f"{name}: {unquote(value)}" for name, _, value in pairs))

    def setting(self, params: str, name: str) -> str:
        """The value of one parameter of an estimate, decoded; empty where it has none.

        >>> Words("en").setting("design=a%2Cb,against=base", "design")
        'a,b'
        """
        found = (part.partition("=") for part in params.split(","))
        return View.clean(next((unquote(value) for key, _, value in found if key == name), ""))

    def regressor(self, params: str) -> str:
        """The covariate of an effect and the level that is held against the others (``origin: us``)."""
        covariate, level = self.setting(params, "covariate"), self.setting(params, "level")
        return f"{covariate}: {level}" if level else covariate

    def group(self, name: str) -> str:
        """Whose estimate it is: a judge, all judges (``*``), or the judges of a level (``origin=us``)."""
        if name == "*":
            return self.t("all_judges")
        return self.selection(name) if "=" in name else self.judge(name)

    def slice(self, name: str) -> str:
        """A slice's name (``culture=cn&category=food`` becomes ``culture: cn, category: food``)."""
        if name == "all":
            return self.t("all_items")
        return View.clean(", ".join(f"{column}: {level}" for column, level in levels_of(name)))

    def number(self, statistic: str, value: float, width: float | None = 4) -> str:
        """A number rounded for a question whose scale is ``width`` wide.

        >>> Words("en").number("bias", -0.051), Words("en").number("bias", 0.0512, width=1)
        ('−0.05', '+0.051')
        """
        if PROBABILITY.search(statistic):
            return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
        if math.isinf(value):
            return "\u221e" if value > 0 else f"{MINUS}\u221e"
        signed = statistic in SIGNED or statistic in CHANGES or statistic.startswith(SIGNED_PARTS)
        return _signed(value, digits_of(statistic, width), signed)

    def interval(self, row: Row, width: float | None = 4) -> str:
        """The interval in brackets, or nothing when there is none."""
        if row.low is None or row.high is None:
            return ""
        return f"[{self.number(row.statistic, row.low, width)}, {self.number(row.statistic, row.high, width)}]"

    def list(self, names: list[str]) -> str:
        """Names in one line."""
        return self.t("list_separator").join(names)


def digits_of(statistic: str, width: float | None = 4) -> int:
    """How many decimals a statistic gets on a scale of this width.

    >>> digits_of("mae", 4), digits_of("mae", 1), digits_of("mae", 100), digits_of("n_items")
    (2, 3, 1, 0)
    """
    if statistic in COUNTS or statistic in WHOLE or STATISTIC.search(statistic) or statistic.startswith("anchor_class"):
        return 0
    if statistic == "raters_per_item":
        return 1
    if statistic in SCALE_UNITS and width is not None:
        return 1 if width >= 20 else 2 if width >= 2 else 3
    return 2


def _signed(value: float, digits: int, signed: bool) -> str:
    shown = f"{abs(value):,.{digits}f}".replace(",", "\u202f")
    if float(f"{abs(value):.{digits}f}") == 0:
        return shown
    return (MINUS if value < 0 else "+" if signed else "") + shown


def _key(name: str, params: str, lang: str) -> str:
    """The catalogue's key of a statistic, with its parameter where that has a name of its own."""
    first = params.split(",", 1)[0].replace("=", "_")
    special = f"statistics.{name}.{first}" if first else ""
    return special if special and has(f"{special}.name", lang) else f"statistics.{name}"
