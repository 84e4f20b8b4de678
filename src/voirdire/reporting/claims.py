"""What the study of cultural judges claims, and whether it holds in these data, by which number.

Each claim is read off rows of the profile by a rule that its sentence tells. A claim whose rows do not exist is listed
as not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from voirdire.analysis.naming import levels_of
from voirdire.reporting.access import ALL, Row, View
from voirdire.reporting.blocks import Bullets, Section, Text
from voirdire.reporting.experiment_tables import against
from voirdire.reporting.headline import standing
from voirdire.reporting.words import Words
from voirdire.signature import quote

HOLDS, FAILS, PART, UNSAID, BUILT_IN = "holds", "fails", "in_part", "cannot_say", "by_construction"
PASSED = ("pass", "pass_low_alpha")
HALF, MOST_SHARE, SMALL_SHARE = 0.5, 0.5, 0.1
LEVEL = 0.05


@dataclass(frozen=True)
class Answer:
    """A claim's outcome and the fields of the sentence that says by which numbers.

    form : the sentence of a claim that lacks a number which its usual sentence tells
    """

    status: str
    fields: dict[str, str]
    form: str = ""


@dataclass(frozen=True)
class Case:
    """One question and pair: where claims are read.

    lean : the slice that claims about images are read in; at first that of the culture in which all judges together
        lean most (largest T off 0), else all items
    """

    view: View
    words: Words
    question: str
    pair: tuple[str, str]
    block: str = ""
    lean: str = "all"
    kept: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, view: View, words: Words, question: str, pair: tuple[str, str]) -> Case:
        """The case of a pair, with its baseline and the culture in which the judges lean most."""
        block = str((view.design(question).get("blocks") or [ALL])[0])
        place = {"question": question, "pool": pair[0], "pool_b": pair[1], "judge": ALL, "condition": block}
        tilts = {part: view.row("tilt", slice=part, **place) for part in view.cultures(question)}
        sizes = {part: abs(row.value) for part, row in tilts.items() if row is not None and row.value is not None}
        return cls(view, words, question, pair, block, max(sizes, key=lambda part: sizes[part]) if sizes else "all")

    @property
    def own(self) -> list[str]:
        """The slices of the cultures that are pools of this pair."""
        return [part for part in self.view.cultures(self.question) if levels_of(part)[0][1] in self.pair]

    def about_images(self) -> list[Case]:
        """The cases of a claim about images: each culture that is a pool here, else where the judges lean most."""
        return [replace(self, lean=part) for part in self.own or [self.lean]]

    def row(self, statistic: str, params: str = "", **place: str) -> Row | None:
        """An estimate of this question that has a value or a label."""
        row = self.view.row(statistic, params=params, question=self.question, **place)
        return row if row is not None and (row.value is not None or row.label is not None) else None

    def of_pair(self, statistic: str, params: str = "", **place: str) -> Row | None:
        """An estimate between the two pools, of all judges in the baseline unless said otherwise."""
        where = {"judge": ALL, "condition": self.block, **place}
        return self.row(statistic, params, pool=self.pair[0], pool_b=self.pair[1], **where)

    def shown(self, row: Row | None) -> str:
        """A value with its interval, or that there is none."""
        if row is None or row.value is None:
            return self.words.c("no_number")
        value = self.words.number(row.statistic, row.value)
        return f"{value} {self.words.interval(row)}".rstrip().replace(" ", "\u00a0")

    def side(self, sign: float) -> str:
        """The pool on a side of T: the first above 0."""
        return self.pair[0] if sign > 0 else self.pair[1]

    @property
    def far(self) -> str:
        """The pool that all judges together are farther from where they lean most."""
        row = self.of_pair("tilt", slice=self.lean)
        return self.side(-row.value if row is not None and row.value is not None else 1.0)

    @property
    def near(self) -> str:
        """The other pool."""
        return self.pair[1 - self.pair.index(self.far)]


def above(row: Row | None, value: float = 0.0) -> bool:
    """Whether the whole interval lies above a value."""
    return row is not None and row.low is not None and row.low > value


def below(row: Row | None, value: float = 0.0) -> bool:
    """Whether the whole interval lies below a value."""
    return row is not None and row.high is not None and row.high < value


def reliable(c: Case) -> Answer | None:
    """Each pool is a reliable reference: by the gate."""
    gates = {pool: c.row("gate", pool=pool) for pool in c.pair}
    labels = [row.label for row in gates.values() if row is not None and row.label]
    if len(labels) < len(c.pair):
        return None
    passed = [label in PASSED for label in labels]
    status = HOLDS if all(passed) else FAILS if "fail" in labels else UNSAID
    values = [f"{pool} {c.shown(c.row('reliability', pool=pool))}" for pool in c.pair]
    alphas = [f"{pool} {c.shown(c.row('alpha', pool=pool))}" for pool in c.pair]
    return Answer(status, {"reliability": c.words.list(values), "alpha": c.words.list(alphas)})


def divergent(c: Case) -> Answer | None:
    """The pools disagree in their evaluation although they agree on what they see: gap test and validity questions."""
    gap = c.row("gate.divergent", pool=c.pair[0], pool_b=c.pair[1])
    seen = c.row("gate.evaluation_not_recognition", pool=c.pair[0], pool_b=c.pair[1])
    if gap is None:
        return None
    recognised = "not_asked" if seen is None or seen.label is None else seen.label
    status = UNSAID
    if gap.label == "no" or recognised in ("not_divergent", "sides_differ", "not_subjective"):
        status = FAILS
    elif gap.label == "yes" and recognised == "yes":
        status = HOLDS
    test = c.row("gap_test.p", pool=c.pair[0], pool_b=c.pair[1])
    fields = {"mad": c.shown(c.row("cross_pool_mad", pool=c.pair[0], pool_b=c.pair[1])), "p": c.shown(test)}
    fields["r"] = c.shown(c.row("cross_pool_pearson", pool=c.pair[0], pool_b=c.pair[1]))
    fields["seen"] = c.words.t(f"label.gate_evaluation_not_recognition.{recognised}")
    return Answer(status, fields)


def nearer(c: Case) -> Answer | None:
    """Every judge is nearer to the same pool: the pair's verdicts over all conditions.

    Two judges nearer to different pools refute it; else nothing is said where most judges are undecided.
    """
    labels = [
        row.label
        for cell in c.view.main_cells()
        if (row := c.of_pair("verdict", judge=cell.judge, condition=cell.condition)) and row.label
    ]
    if not labels:
        return None
    a, b = labels.count("nearer_a"), labels.count("nearer_b")
    n, rest = len(labels), len(labels) - a - b
    status = HOLDS if n in (a, b) else FAILS if a and b else UNSAID if 2 * rest > n or not a + b else PART
    fields = {"n_a": str(a), "n_b": str(b), "rest": str(rest), "n": str(n)}
    return Answer(status, fields | {"a": c.pair[0], "b": c.pair[1]})


def floor(c: Case) -> Answer | None:
    """Judges hardly use the low end: of what a pool rates low they rate less than half low."""
    found = {pool: c.row("floor_recovery", judge=ALL, condition=c.block, pool=pool) for pool in c.pair}
    known = {pool: row for pool, row in found.items() if row is not None and row.value is not None}
    if not known:
        return None
    share = c.row("share_low", judge=ALL, condition=c.block)
    all_below = all(below(row, HALF) for row in known.values())
    status = HOLDS if all_below else FAILS if all(above(row, HALF) for row in known.values()) else UNSAID
    values = c.words.list([f"{pool} {c.shown(row)}" for pool, row in known.items()])
    return Answer(status, {"recovered": values, "share": c.shown(share)})


def follows_gap(c: Case) -> Answer | None:
    """Delta is large where the pools differ: in part an identity, which a constant shows as well."""
    row = c.of_pair("gap_correlation")
    if row is None or row.value is None:
        return None
    names = [cell for cell in c.view.pair_controls(c.question, c.pair) if cell.judge.startswith("control:constant_")]
    controls = [c.of_pair("gap_correlation", judge=cell.judge, condition=cell.condition) for cell in names]
    values = [control.value for control in controls if control is not None and control.value is not None]
    status = UNSAID if not below(row) else BUILT_IN if any(value <= row.value for value in values) else HOLDS
    status = FAILS if above(row) else status
    lowest = c.words.number("gap_correlation", min(values)) if values else c.words.c("no_number")
    return Answer(status, {"r": c.shown(row), "constant": lowest})


def items_explain(c: Case) -> Answer | None:
    """Items explain most of the variance of delta, judges and conditions little."""
    r2 = c.of_pair("r2_decomposition.r2")
    terms = c.view.variants("r2_decomposition.increment", question=c.question)
    steps = [c.of_pair("r2_decomposition.increment", params) for params in terms]
    more = [row for row in steps if row is not None and row.value is not None]
    if r2 is None or r2.value is None or not more:
        return None
    small = all((row.value or 0.0) < SMALL_SHARE for row in more)
    status = HOLDS if r2.value > MOST_SHARE and small else PART if r2.value > MOST_SHARE or small else FAILS
    parts = [f"{_term(c, row.params)} {c.shown(row)}" for row in more]
    return Answer(status, {"r2": c.shown(r2), "terms": c.words.list(parts)})


def _term(c: Case, params: str) -> str:
    """A term of the regression in words; a covariate by its name."""
    name = c.words.setting(params, "term")
    return c.words.c(f"term.{name}") if name in ("judge", "condition") else name


def origin(c: Case) -> Answer | None:
    """A covariate of the judges shifts delta: with the judge as the unit, and with one sign in every culture."""
    params = next(iter(p for p in c.view.variants("origin_effect.coef", question=c.question) if "se=" not in p), None)
    coef = c.of_pair("origin_effect.coef", params) if params is not None else None
    if params is None or coef is None:
        return None
    permuted = c.of_pair("origin_effect.judge_permutation_p", params)
    student = c.of_pair("origin_effect.judge_t_p", params)
    change = c.of_pair("origin_effect.sign_change", params)
    p = None if permuted is None else permuted.value
    status = UNSAID if student is None or p is None else HOLDS if p < LEVEL else FAILS
    if change is not None and change.label == "yes":
        status = FAILS
    told = change.label if change is not None and change.label else ""
    label = c.words.label("origin_effect.sign_change", told) if told else c.words.c("no_number")
    fields = {
        "covariate": against(c.view, c.words, params),
        "coef": c.shown(coef),
        "p": c.shown(permuted),
        "change": label,
    }
    return Answer(status, fields)


def _pulls(c: Case, judge: str) -> dict[str, Row]:
    """The pull of each pool's persona on T, by pool."""
    place = {"judge": judge, "slice": c.lean}
    found = {pool: c.of_pair("pull", f"toward={quote(pool)},of=tilt", **place) for pool in c.pair}
    return {pool: row for pool, row in found.items() if row is not None and row.value is not None}


def pulled(c: Case) -> Answer | None:
    """Personas pull every judge toward their own pool."""
    found = {judge: _pulls(c, judge) for judge in c.view.judges}
    rows = [row for pulls in found.values() for row in pulls.values()]
    if not rows:
        return None
    right, wrong = sum(map(above, rows)), sum(map(below, rows))
    status = HOLDS if right == len(rows) else FAILS if wrong and not right else PART if right else UNSAID
    together = _pulls(c, ALL).items()
    every = c.words.list([c.words.c("persona_of", pool=pool, value=c.shown(row)) for pool, row in together])
    every = every or c.words.c("no_number")
    fields = {"right": str(right), "wrong": str(wrong), "n": str(len(rows)), "every": every}
    return Answer(status, fields | {"slice": c.words.slice(c.lean)})


def asymmetric(c: Case) -> Answer | None:
    """Personas pull more toward the pool that judges lean to already."""
    rows = [c.of_pair("pull.larger", "of=tilt", judge=judge, slice=c.lean) for judge in c.view.judges]
    labels = [row.label for row in rows if row is not None and row.label]
    if not labels:
        return None
    toward = "toward_a" if c.near == c.pair[0] else "toward_b"
    same, open_ = labels.count(toward), labels.count("not_shown")
    other = len(labels) - same - open_
    status = HOLDS if same == len(labels) else FAILS if 2 * other > len(labels) else PART if same else UNSAID
    difference = c.shown(c.of_pair("pull.difference", "of=tilt", slice=c.lean))
    fields = {"near": c.near, "same": str(same), "other": str(other), "open": str(open_), "n": str(len(labels))}
    fields |= {"a": c.pair[0], "b": c.pair[1]}
    return Answer(status, fields | {"difference": difference, "slice": c.words.slice(c.lean)})


def bounded(c: Case) -> Answer | None:
    """The persona of the farther pool does not take a judge across the middle."""
    params = f"toward={quote(c.far)},of=tilt"
    rows = [c.of_pair("pull.crossing", params, judge=judge, slice=c.lean) for judge in c.view.judges]
    labels = [row.label for row in rows if row is not None and row.label]
    if not labels:
        return None
    crossed, stayed = labels.count("yes"), labels.count("no")
    status = HOLDS if stayed == len(labels) else FAILS if crossed == len(labels) else PART if crossed else UNSAID
    fields = {"far": c.far, "crossed": str(crossed), "stayed": str(stayed), "n": str(len(labels))}
    return Answer(status, fields | {"slice": c.words.slice(c.lean)})


def matched(c: Case) -> Answer | None:
    """A persona of the items' own culture brings judges nearer to that culture's pool."""
    row = c.row("persona_match.difference", judge=ALL, condition=c.block)
    if row is None or row.value is None:
        return None
    status = HOLDS if above(row) else FAILS if below(row) else UNSAID
    parts = {p: c.shown(c.row(f"persona_match.{p}", judge=ALL, condition=c.block)) for p in ("matched", "mismatched")}
    return Answer(status, {"difference": c.shown(row), **parts})


def wording(c: Case) -> Answer | None:
    """Language and detail move T less than half as much as the stronger persona."""
    rows = [c.of_pair(f"{name}.of_means", "of=tilt", slice=c.lean) for name in ("language_effect", "detail_effect")]
    known = [row for row in rows if row is not None and row.value is not None]
    if not known:
        return None
    pulls = {pool: abs(row.value or 0.0) for pool, row in _pulls(c, ALL).items()}
    most = max(row.value or 0.0 for row in known)
    parts = [f"{c.words.statistic(row.statistic, row.params)} {c.shown(row)}" for row in known]
    fields = {"moved": c.words.list(parts), "slice": c.words.slice(c.lean)}
    if not pulls:
        return Answer(UNSAID, fields, "wording_alone")
    stronger = max(pulls, key=lambda pool: pulls[pool])
    status = HOLDS if most < HALF * pulls[stronger] else FAILS
    return Answer(status, fields | {"pool": stronger, "pull": c.shown(_pulls(c, ALL)[stronger])})


def demonstrations(c: Case) -> Answer | None:
    """Demonstrations do not bring judges nearer to the pool that they are far from."""
    place = {"pool": c.far, "judge": ALL, "condition": ALL, "slice": c.lean}
    variants = c.view.variants("icl_effect.error", question=c.question)
    rows = [row for params in variants if (row := c.row("icl_effect.error", params, **place))]
    if not rows:
        return None
    helped = sum(map(below, rows))
    status = FAILS if helped == len(rows) else PART if helped else HOLDS if all(map(above, rows)) else UNSAID
    parts = [f"{_design(c, row.params)} {c.shown(row)}" for row in rows]
    return Answer(status, {"far": c.far, "changes": c.words.list(parts), "slice": c.words.slice(c.lean)})


def _design(c: Case, params: str) -> str:
    return c.words.setting(params, "design")


def out_of_reach(c: Case) -> Answer | None:
    """The best configuration for the farther pool stays behind the best for the nearer one (cross-fitted)."""
    condition = (
        ALL if c.row("best_mae.lowest_cross_fitted", judge=ALL, condition=ALL, pool=c.far, slice=c.lean) else c.block
    )
    place = {"judge": ALL, "condition": condition, "slice": c.lean}
    far, near = (c.row("best_mae.lowest_cross_fitted", pool=pool, **place) for pool in (c.far, c.near))
    if far is None or near is None or far.low is None or near.high is None:
        return None
    status = HOLDS if far.low > near.high else FAILS if below(far, near.low or 0.0) else UNSAID
    fields = {"far": c.far, "near": c.near, "best_far": c.shown(far), "best_near": c.shown(near)}
    return Answer(status, fields | {"slice": c.words.slice(c.lean)})


def constant(c: Case) -> Answer | None:
    """Each judge beats the best constant against both pools."""
    labels = [
        row.label
        for cell in c.view.main_cells()
        for pool in c.pair
        if (row := c.row("verdict", pool=pool, judge=cell.judge, condition=cell.condition)) and row.label
    ]
    if not labels:
        return None
    without, unsaid = labels.count("no_better_than_constant"), labels.count("cannot_say")
    beaten = len(labels) - without - unsaid
    status = HOLDS if beaten == len(labels) else FAILS if without == len(labels) else PART if beaten else UNSAID
    return Answer(status, {"beaten": str(beaten), "without": str(without), "n": str(len(labels))})


def oriented(c: Case) -> Answer | None:
    """Judges are nearer to a pool because they are oriented to it: by the test of neutrality."""
    found = [here for cell in c.view.main_cells() if (here := standing(c.view, c.question, c.pair, cell))]
    near = [here for here in found if here.nearer is not None]
    if not found:
        return None
    same = sum(here.oriented == here.nearer for here in near)
    not_so = sum(here.tested and here.oriented != here.nearer for here in near)
    status = UNSAID if not near else HOLDS if same == len(near) else FAILS if not_so == len(near) else PART
    status = UNSAID if near and not same and not_so < len(near) else status
    fields = {"near": str(len(near)), "same": str(same), "not_so": str(not_so), "n": str(len(found))}
    fields["untested"] = str(len(near) - same - not_so)
    return Answer(status, fields)


CLAIMS: dict[str, Callable[[Case], Answer | None]] = {
    "reliable": reliable, "divergent": divergent, "nearer": nearer, "oriented": oriented, "constant": constant,
    "floor": floor, "follows_gap": follows_gap, "items_explain": items_explain, "origin": origin, "pulled": pulled,
    "asymmetric": asymmetric, "bounded": bounded, "matched": matched, "wording": wording,
    "demonstrations": demonstrations, "out_of_reach": out_of_reach,
}  # fmt: skip
ABOUT_IMAGES = frozenset({"pulled", "asymmetric", "bounded", "wording", "demonstrations", "out_of_reach"})


def section(view: View, words: Words) -> Section:
    """Every claim for every judged question and pair, and the list of those that were not tested."""
    found = Section("claims", words.c("section"), 2)
    for question in [name for name in view.judged if not view.votes(name)] if view.judges else []:
        for pair in view.pairs(question):
            found.blocks += _blocks(Case.of(view, words, question, pair), several=_several(view))
    if found.blocks:
        found.blocks.insert(0, Text((words.c("intro"),)))
    return found


def _several(view: View) -> bool:
    return sum(len(view.pairs(question)) for question in view.judged) > 1


def _blocks(case: Case, *, several: bool) -> list[Text | Bullets]:
    words = case.words
    names = {"a": case.pair[0], "b": case.pair[1]}
    answers = {key: _answers(case, key) for key in CLAIMS}
    entries = [
        (words.c(f"claim.{key}", **names), tuple(_sentence(words, key, answer) for answer in found))
        for key, found in answers.items()
        if found
    ]
    untested = [words.c(f"claim.{key}", **names) for key, found in answers.items() if not found]
    label = [Text((words.c("of_pair", question=case.question, **names),), "label")] if several else []
    rest = [Text((words.c("not_tested", claims=words.c("between").join(untested)),), "note")] if untested else []
    if any(answers[key] for key in ABOUT_IMAGES):
        rest.insert(0, Text((_where(case),), "note"))
    return [*label, Bullets(tuple(entries), "verdicts"), *rest] if entries else []


def _answers(case: Case, key: str) -> list[Answer]:
    """A claim's answer; of a claim about images one for each culture that it is asked of."""
    cases = case.about_images() if key in ABOUT_IMAGES else [case]
    return [answer for where in cases if (answer := CLAIMS[key](where)) is not None]


def _where(case: Case) -> str:
    """Which images the claims about images are asked of, and why."""
    kind = "own" if case.own else "all" if case.lean == "all" else "lean"
    return case.words.c(f"images.{kind}", slice=case.words.slice(case.lean))


def _sentence(words: Words, key: str, answer: Answer) -> str:
    return words.t(
        "then", first=words.c(f"status.{answer.status}"), second=words.c(f"by.{answer.form or key}", **answer.fields)
    )
