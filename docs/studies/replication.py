"""The paper's numbers on a simulated corpus: published value, value of the audit, row of estimates.csv, definition.

Run from the root of the checkout: ``python -m docs.studies.replication FOLDER``, where FOLDER holds the simulated
corpus and its reference.json. About five minutes of one core (``--keep RUNS`` keeps finished audits in a folder, so
that a second run goes on from there). What stands beside the numbers is read from replication_notes.toml. Writes
replication.md beside this file.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from tests.replication.reference_map import PLACE, Found, Part, Place, ReferenceMap, agrees, leaves, read_reference
from tests.replication.runs import in_python

PAGE = Path(__file__).with_suffix(".md")
NOTES = tomllib.loads(Path(__file__).with_name("replication_notes.toml").read_text(encoding="utf-8"))
MOST = 6
CANDIDATES, TABLE1 = "T_candidates_chinese_imagery", "best_mae"
READINGS = {
    "item_clip_mean": "voirdire's T: clipped position of each cell, mean over cells",
    "ratio_of_sums": "-delta / gap, `tilt(form=ratio)`",
    "item_clip_median_consensus": "voirdire's T with `--consensus median`",
    "item_clip_absgap_ge05": "voirdire's T with `--min-gap 0.5`",
    "item_clip_absgap_ge1": "voirdire's T with `--min-gap 1`",
    "item_clip_contested": "voirdire's T on contested items",
}
COLUMNS = {"baseline": "baseline", "origin_gap": "origin gap", "us_persona": "US persona", "icl": "demonstrations"}
FAMILIES = {
    "alpha": ("alpha",),
    "consensus of the pools": ("consensus_mean", "placement", "subjectivity", "recognizability"),
    "between the pools": ("cross_pool_mad", "cross_pool_pearson", "cross_pool_spearman"),
    "kappa": ("kappa_qw", "cross_pool_kappa_qw", "best_kappa"),
    "counts and anchors": ("n_items", "anchor_class"),
    "Wilcoxon": ("recognizability_test", "delta_test"),
    "MAE": ("mae", "percent_of_human"),
    "best condition": ("best_mae",),
    "Pearson": ("pearson",),
    "delta": ("delta",),
    "T": ("tilt", "recognizability_bins"),
    "scale use": ("mean_rating", "share_low", "share_high", "floor_recovery", "floor_gap"),
    "variance of delta, origin": ("r2_decomposition", "origin_effect", "gap_correlation"),
    "persona, language, detail": ("pull", "persona_match", "language_effect", "detail_effect"),
    "demonstrations": ("icl_effect",),
}
HEAD = """<!-- Written by docs/studies/replication.py. Do not edit. -->

# The paper's numbers on a simulated corpus

**The corpus is simulated. Nobody rated its items and no model judged them: nothing here is a finding about people or \
models.** The corpus of *Jury Duty* (arXiv 2606.20676) is not public. The simulated one was fitted so that its summary \
figures come near the published ones, so nearness to them is no evidence for the paper either. What this page shows is \
that the *definitions* are the same: an independent implementation (pandas, scipy, scikit-learn, the krippendorff \
package; no code shared with voirdire) computed {numbers} numbers on this corpus, and the audit's rows hold \
{held} of them, each equal to 1e-9 (p values to 1e-6 relative). `tests/reference_map.toml` names the row of each; the \
tests in `tests/replication` compare all of them, through the command line and through Python.

```sh
voirdire audit --ratings ratings.csv.gz --question-columns q1,q2,q3,q4 --items items.csv.gz \
--judgments judgments.csv.gz --judges judges.csv --conditions conditions.csv --pair us,cn --out audit
```

**The judges bear the names of the paper's models, and none of them is that model**: what stands under *simulated* \
says nothing about any of them.

How to read the tables: the first column is the key in the reference (there with `_` for blanks); *published* is \
what the paper prints; \
*simulated* what the audit gives on this corpus (of more than {most} numbers their range, over the names in braces); \
*definition* how both are computed; *open*: what the paper does not say, and what was chosen. `us|cn` is imagery of \
the first culture against the pool of the second. Words: [glossary](../glossary.md); the numbers: \
[what they mean](../explanation/numbers.md).

## Agreement with the independent implementation

| family | numbers | largest absolute difference | largest relative difference |
|---|---|---|---|
{agreement}

{out} of the {numbers} numbers are in no row:

{out_why}

**q4_paired_wilcoxon.** The reference ranks the differences as they come. Means of five ratings carry float noise, \
and equal differences (1.2 - 1.0 and 4.2 - 4.0) get different ranks. Rounded to 1e-9 first, as every test of \
voirdire does by default, the statistic is {rounded} with p = {rounded_p}. The row with `rounding=none` repeats the \
published way and equals the reference.

"""


def main(folder: Path, keep: Path | None) -> None:
    """Run the audits and write the page."""
    reference, mapped = read_reference(folder), ReferenceMap()
    rows = {run: _by_place(_estimates(folder, run, mapped, keep)) for run in mapped.runs}
    found: dict[Part, list[Found]] = {}
    for run, lookup in rows.items():
        found |= mapped.compare(reference, run, lookup.__getitem__)
    hits = [hit for group in found.values() for hit in group]
    wrong = [str(hit.leaf) for hit in hits if not agrees(hit)]
    if wrong:
        sys.exit(f"not equal to the reference: {', '.join(wrong)}")
    concept = {"question": "q4", "pool": "us", "pool_b": "cn", "slice": "all", "params": "pairing=concept"}
    rounded = [rows["audit"][_place(f"recognizability_test.{part}", concept)]["value"] for part in ("statistic", "p")]
    counted = [part for part in mapped.parts if not part.key.startswith("_")]
    out = [part for part in counted if part.how == "out"]
    numbers = sum(1 for part in counted for _ in _leaves(reference, part))
    head = HEAD.format(
        numbers=numbers,
        most=MOST,
        held=len(hits),
        agreement="\n".join(_agreement(hits)),
        out=numbers - len(hits),
        out_why="\n".join(dict.fromkeys(f"- {part.spec}" for part in out)),
        rounded=f"{rounded[0]:g}",
        rounded_p=f"{rounded[1]:.2g}",
    )
    parts = [*_published_table(reference, mapped, found), *_table1(found), *_candidates(reference, found), *_beside()]
    parts += [*_unpublished_table(reference, mapped, found), *_where_table(reference, mapped)]
    PAGE.write_text(head + "\n".join(parts) + "\n", encoding="utf-8")


def _estimates(folder: Path, run: str, mapped: ReferenceMap, keep: Path | None) -> pl.DataFrame:
    kept = keep / f"{run}.parquet" if keep else None
    if kept is not None and kept.exists():
        return pl.read_parquet(kept)
    made = in_python(folder, mapped.runs[run] if run != "audit" else None).estimates
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        made.write_parquet(kept)
    return made


def _place(statistic: str, parts: Mapping[str, str]) -> Place:
    return (statistic, *(parts.get(name, "") for name in PLACE[1:]))


def _by_place(estimates: pl.DataFrame) -> dict[Place, Mapping[str, Any]]:
    return {tuple(row[name] for name in PLACE): row for row in estimates.iter_rows(named=True)}


def _leaves(reference: Mapping[str, Mapping[str, Any]], part: Part) -> list[Any]:
    return [leaf for leaf in leaves({part.key: reference[part.key]}) if part.match(leaf) is not None]


def _agreement(hits: list[Found]) -> Iterable[str]:
    named = {name for names in FAMILIES.values() for name in names}
    rest = {hit.places[0][0].split(".")[0] for hit in hits} - named
    if rest:
        sys.exit(f"no family for {sorted(rest)}")
    for family, names in FAMILIES.items():
        of = [hit for hit in hits if hit.places[0][0].split(".")[0] in names]
        told = [hit for hit in of if isinstance(hit.value, str)]
        numbers = [(float(hit.value), float(hit.leaf.value)) for hit in of if not isinstance(hit.value, str)]
        absolute = max(abs(ours - theirs) for ours, theirs in numbers)
        relative = max(abs(ours / theirs - 1) for ours, theirs in numbers if theirs)
        words = f", {len(told)} of them words" if told else ""
        yield f"| {family} | {len(of)}{words} | {absolute:.1g} | {relative:.1g} |"


def _published_table(
    reference: Mapping[str, Mapping[str, Any]], mapped: ReferenceMap, found: Mapping[Part, list[Found]]
) -> Iterable[str]:
    yield from (
        "## Published values",
        "",
        "| key | published | simulated | definition, and what is open |",
        "|---|---|---|---|",
    )
    for key, entry in reference.items():
        if key.startswith("_") or entry["published"] is None:
            continue
        values = {CANDIDATES: "[below](#twelve-readings-of-t)", TABLE1: "[below](#table-1-the-best-mae)"}.get(key)
        named = [name.replace("|", "/") for name, _ in _flat(_mapping(entry["published"]))]
        shown = values or _values(mapped, found, key, named) or "in no row"
        told = _definition(entry) + (f"<br>*Open: {NOTES['open'][key]}*" if key in NOTES["open"] else "")
        yield _line((_key(key), _published(entry["published"]), shown, told))
    yield ""


def _unpublished_table(
    reference: Mapping[str, Mapping[str, Any]], mapped: ReferenceMap, found: Mapping[Part, list[Found]]
) -> Iterable[str]:
    yield from ("## Further numbers of the reference", "", "Not printed in the paper.", "")
    yield from ("| key | simulated | definition |", "|---|---|---|")
    for key, entry in reference.items():
        if not key.startswith("_") and entry["published"] is None:
            yield _line((_key(key), _values(mapped, found, key) or "in no row", _definition(entry)))
    yield ""


def _where_table(reference: Mapping[str, Mapping[str, Any]], mapped: ReferenceMap) -> Iterable[str]:
    yield from ("## Where each number stands in estimates.csv", "")
    yield (
        "Rows are written as statistic(params), then pools, judge, condition and slice; braces stand for the names on "
        "the left, and `@name` for each of a list of the map (judges, conditions, pools). A run other than the command "
        "above is named, and described in the map."
    )
    yield from ("", "| key | row |", "|---|---|")
    for key in reference:
        if not key.startswith("_"):
            where = "<br>".join(_where(part) for part in mapped.parts if part.key == key)
            yield _line((_key(key), where))


def _table1(found: Mapping[Part, list[Found]]) -> Iterable[str]:
    told = dict(NOTES["table1"])
    columns = told.pop("columns")
    value = {"/".join(hit.leaf.path): hit.value for part, hits in found.items() if part.key == TABLE1 for hit in hits}
    yield from ("### Table 1: the best MAE", "")
    yield (
        "The smallest MAE over the ten conditions, imagery -> pool: published / simulated. It is chosen and scored on "
        "the same items, so the audit prints a [cross-fitted value](../explanation/best-condition.md) beside it."
    )
    yield from ("", _line(("judge", *columns)), "|---" * (len(columns) + 1) + "|")
    for judge, published in told.items():
        ours = [_short(value[f"{column}|{judge}/mae"]) for column in columns]
        yield _line((judge, *(f"{theirs:.2f} / {mine}" for theirs, mine in zip(published, ours, strict=True))))
    yield ""


def _candidates(reference: Mapping[str, Mapping[str, Any]], found: Mapping[Part, list[Found]]) -> Iterable[str]:
    value = {
        "/".join(hit.leaf.path): hit.value for part, hits in found.items() if part.key == CANDIDATES for hit in hits
    }
    published = reference[CANDIDATES]["published"]
    yield from ("### Twelve readings of T", "")
    yield (
        "The paper does not say how T is averaged. On Chinese imagery, with the readings that are rows of the audit. "
        "The first is voirdire's: it leaves no item out and takes the same consensus as every other number. The "
        "published values lie within what these readings span on a corpus like the paper's, and do not decide "
        "between them."
    )
    yield from ("", _line(("reading", *COLUMNS.values())), "|---" * (len(COLUMNS) + 1) + "|")
    yield _line(("*published*", *(str(published[name]) for name in COLUMNS)))
    for name, told in READINGS.items():
        designs = [float(value[f"{name}/{design}"]) for design in ("aa", "ac", "ca", "cc")]
        icl = f"{max(designs):.2f} to {min(designs):.2f}"
        yield _line((told, *(_short(value[f"{name}/{column}"]) for column in list(COLUMNS)[:3]), icl))
    rest = [name for name in reference[CANDIDATES]["value"] if name not in READINGS]
    yield from ("", f"The other {len(rest)} are not definitions of voirdire:", "")
    for part in (part for part in ReferenceMap().parts if part.key == CANDIDATES and part.leaf[0] in rest):
        yield f"- `{part.leaf[0]}`: {part.spec}"
    yield ""


def _beside() -> Iterable[str]:
    yield from ("## Contradictions inside the paper, and what to read with care", "")
    yield "Found by arithmetic on its own printed numbers; no data are needed to see them."
    yield ""
    yield from (f"{place}. {entry['what']}" for place, entry in enumerate(NOTES["contradiction"], 1))
    yield from ("", "## Published values that cannot be computed here", "", "| published | why not |", "|---|---|")
    yield from (_line((entry["what"], entry["why"])) for entry in NOTES["elsewhere"])
    yield ""


def _key(key: str) -> str:
    """A key with blanks, so that it takes little room."""
    return key.replace("_", " ")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _definition(entry: Mapping[str, Any]) -> str:
    told = re.sub(r"\s*\((see [^)]*|not published)\)", "", entry["definition"])
    return re.sub(r"; see [^)]*\)", ")", told)


def _published(value: Any) -> str:
    if isinstance(value, dict):
        return "<br>".join(f"{name}: {_published(inner)}" for name, inner in _flat(value))
    if isinstance(value, list):
        return " to ".join(_published(inner) for inner in value)
    return str(value)


def _flat(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Nested names joined by ``/``."""
    pairs = []
    for name, inner in value.items():
        pairs += (
            [(f"{name}/{step}", leaf) for step, leaf in _flat(inner)] if isinstance(inner, dict) else [(name, inner)]
        )
    return pairs


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _values(mapped: ReferenceMap, found: Mapping[Part, list[Found]], key: str, named: Iterable[str] = ()) -> str:
    parts = [part for part in mapped.parts if part.key == key and part in found]
    return "<br>".join(dict.fromkeys(_value(part, found[part], tuple(named)) for part in parts))


def _value(part: Part, hits: list[Found], named: tuple[str, ...]) -> str:
    """The values of an entry; of many their range, and those that the paper names."""
    numbers = [float(hit.value) for hit in hits if not isinstance(hit.value, str)]
    if len(hits) <= MOST or not numbers:
        return "<br>".join(_hit(hit) for hit in hits[:MOST])
    ours = {"/".join(hit.leaf.path).replace("|", "/"): hit for hit in hits}
    chosen = [hit for path, hit in ours.items() if any(path == name or path.endswith(f"/{name}") for name in named)]
    span = f"{'/'.join(part.leaf)}: {_number(min(numbers))} to {_number(max(numbers))}"
    return "<br>".join([*(_hit(hit) for hit in chosen), span])


def _hit(hit: Found) -> str:
    return ": ".join([*(["/".join(hit.leaf.path)] if hit.leaf.path else []), _number(hit.value)])


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if value == round(value):
        return f"{value:.0f}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.4f}".rstrip("0")


def _short(value: float | str) -> str:
    return f"{float(value):.2f}"


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    main(options.folder, options.keep)
