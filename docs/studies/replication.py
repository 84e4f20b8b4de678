"""The paper's numbers on a simulated corpus: published value, value of the audit, row of estimates.csv, definition.

Run from the root of the checkout: ``python -m docs.studies.replication FOLDER``, where FOLDER holds the simulated
corpus and its reference.json. About two minutes of one core. Writes replication.md beside this file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from tests.replication.reference_map import PLACE, Found, Part, Place, ReferenceMap, agrees, leaves, read_reference
from tests.replication.runs import in_python

PAGE = Path(__file__).with_suffix(".md")
MOST = 6
FAMILIES = {
    "alpha": ("alpha",),
    "consensus of the pools": ("consensus_mean", "placement", "subjectivity", "recognizability"),
    "between the pools": ("cross_pool_mad", "cross_pool_pearson", "cross_pool_spearman"),
    "kappa": ("kappa_qw", "cross_pool_kappa_qw"),
    "counts and anchors": ("n_items", "anchor_class"),
    "Wilcoxon": ("recognizability_test", "delta_test"),
    "MAE": ("mae", "percent_of_human"),
    "Pearson": ("pearson",),
    "delta": ("delta",),
    "T": ("tilt",),
    "scale use": ("mean_rating", "share_low", "share_high", "floor_recovery"),
}
HEAD = """<!-- Written by docs/studies/replication.py. Do not edit. -->

# The paper's numbers on a simulated corpus

**The corpus is simulated. Nobody rated its items and no model judged them: nothing here is a finding about people or \
models.** The corpus of *Jury Duty* (arXiv 2606.20676) is not public. The simulated one was fitted so that its summary \
figures come near the published ones, so nearness to them is no evidence for the paper either. What the table shows is \
that the *definitions* are the same: an independent implementation (pandas, scipy, scikit-learn, the krippendorff \
package; no code shared with voirdire) computed {numbers} numbers on this corpus, and the audit's rows hold \
{held} of them, each equal to 1e-9 (p values to 1e-6 relative). `tests/reference_map.toml` names the row of each; the \
tests in `tests/replication` compare all of them, through the command line and through Python.

```sh
voirdire audit --ratings ratings.csv.gz --question-columns q1,q2,q3,q4 --items items.csv.gz \
--judgments judgments.csv.gz --judges judges.csv --conditions conditions.csv --pair us,cn --out audit
```

## Agreement with the reference

| family | numbers | largest absolute difference | largest relative difference |
|---|---|---|---|
{agreement}

## What differs, and why

- **q4_paired_wilcoxon.** The reference ranks the differences as they come. Means of five ratings carry float noise, \
and equal differences (1.2 - 1.0 and 4.2 - 4.0) get different ranks. Rounded to 1e-9 first, as every test of \
voirdire does by default, the statistic is {rounded} with p = {rounded_p}. The row with `rounding=none` repeats the \
published way and equals the reference.
- **T_candidates_chinese_imagery.** The paper leaves the definition of T open; the reference computes twelve readings. \
Six are voirdire's T, its ratio form, or T under an option (`--consensus median`, `--min-gap`, anchor slices); six are \
not definitions of voirdire.
- **alpha_q1_pooled.** Raters of two pools are never treated as one pool.
- The factorial experiment (regressions, best condition, effects of demonstrations tested) is not part of the audit. \
Where the audit's rows hold such a number in another form, it is compared.

## Every number

Published values are the paper's; a dash: not published. Rows are written as statistic(params), then pools, judge, \
condition and slice; braces stand for the names on the left, and `@name` \
for each of a list of the map (judges, conditions, pools). Runs other than the command above are listed in the map.

"""


def main(folder: Path) -> None:
    """Run the audits and write the page."""
    reference, mapped = read_reference(folder), ReferenceMap()
    rows = {
        run: _by_place(in_python(folder, mapped.runs[run] if run != "audit" else None).estimates) for run in mapped.runs
    }
    found: dict[Part, list[Found]] = {}
    for run, lookup in rows.items():
        found |= mapped.compare(reference, run, lookup.__getitem__)
    hits = [hit for group in found.values() for hit in group]
    wrong = [str(hit.leaf) for hit in hits if not agrees(hit)]
    if wrong:
        sys.exit(f"not equal to the reference: {', '.join(wrong)}")
    concept = {"question": "q4", "pool": "us", "pool_b": "cn", "slice": "all", "params": "pairing=concept"}
    rounded = [rows["audit"][_place(f"recognizability_test.{part}", concept)]["value"] for part in ("statistic", "p")]
    head = HEAD.format(
        numbers=sum(1 for part in mapped.parts for _ in _leaves(reference, part)),
        held=len(hits),
        agreement="\n".join(_agreement(hits)),
        rounded=f"{rounded[0]:g}",
        rounded_p=f"{rounded[1]:.2g}",
    )
    PAGE.write_text(head + "\n".join(_table(reference, mapped, found)) + "\n", encoding="utf-8")


def _place(statistic: str, parts: Mapping[str, str]) -> Place:
    return (statistic, *(parts.get(name, "") for name in PLACE[1:]))


def _by_place(estimates: pl.DataFrame) -> dict[Place, Mapping[str, Any]]:
    return {tuple(row[name] for name in PLACE): row for row in estimates.iter_rows(named=True)}


def _leaves(reference: Mapping[str, Mapping[str, Any]], part: Part) -> list[Any]:
    return [leaf for leaf in leaves({part.key: reference[part.key]}) if part.match(leaf) is not None]


def _agreement(hits: list[Found]) -> Iterable[str]:
    for family, names in FAMILIES.items():
        of = [hit for hit in hits if hit.places[0][0].split(".")[0] in names]
        absolute = max(abs(hit.value - float(hit.leaf.value)) for hit in of)
        relative = max(abs(hit.value / float(hit.leaf.value) - 1) for hit in of if hit.leaf.value)
        yield f"| {family} | {len(of)} | {absolute:.1g} | {relative:.1g} |"
    named = {name for names in FAMILIES.values() for name in names}
    rest = {hit.places[0][0].split(".")[0] for hit in hits} - named
    if rest:
        sys.exit(f"no family for {sorted(rest)}")


def _table(
    reference: Mapping[str, Mapping[str, Any]], mapped: ReferenceMap, found: Mapping[Part, list[Found]]
) -> Iterable[str]:
    yield "| key | published | on the simulated corpus | row | definition |"
    yield "|---|---|---|---|---|"
    for key, entry in reference.items():
        if key.startswith("_"):
            continue
        parts = [part for part in mapped.parts if part.key == key]
        values = "<br>".join(dict.fromkeys(_value(part, found.get(part, [])) for part in parts if part in found)) or "-"
        where = "<br>".join(_where(part) for part in parts)
        definition = re.sub(r"\s*\(see [^)]*\)", "", entry["definition"])
        cells = (f"`{key}`", _published(entry["published"]), values, where, definition)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _published(value: Any) -> str:
    if isinstance(value, dict):
        return "<br>".join(f"{name}: {_published(inner)}" for name, inner in _flat(value))
    if isinstance(value, list):
        return " to ".join(_published(inner) for inner in value)
    return "-" if value is None else str(value)


def _flat(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Nested names joined by ``/``."""
    pairs = []
    for name, inner in value.items():
        pairs += (
            [(f"{name}/{step}", leaf) for step, leaf in _flat(inner)] if isinstance(inner, dict) else [(name, inner)]
        )
    return pairs


def _value(part: Part, hits: list[Found]) -> str:
    if len(hits) > MOST:
        values = [hit.value for hit in hits]
        return f"{'/'.join(part.leaf)}: {_number(min(values))} to {_number(max(values))}"
    return "<br>".join(
        ": ".join([*(["/".join(hit.leaf.path)] if hit.leaf.path else []), _number(hit.value)]) for hit in hits
    )


def _number(value: float) -> str:
    if value == round(value):
        return f"{value:.0f}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.4f}".rstrip("0")


def _where(part: Part) -> str:
    name = "/".join(part.leaf)
    start = f"{name}: " if name else ""
    if part.how == "out":
        return f"{start}*{part.spec}*"
    operands = part.spec if isinstance(part.spec, list) else [part.spec]
    shown = (" - " if part.how == "difference" else ", ").join(_operand(operand) for operand in operands)
    how = "" if part.how in ("row", "difference") else f"{part.how} of "
    field = "" if part.field == "value" else f" ({part.field})"
    run = "" if part.run == "audit" else f", run `{part.run}`"
    return f"{start}{how}{shown}{field}{run}"


def _operand(operand: Mapping[str, str]) -> str:
    pools = ",".join(operand[name] for name in ("pool", "pool_b") if name in operand)
    place = [f"{name}={operand[name]}" for name in ("question", "judge", "condition", "slice") if name in operand]
    params = f"({operand['params']})" if "params" in operand else ""
    return f"`{' '.join([operand['statistic'] + params, *([pools] if pools else []), *place])}`"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
