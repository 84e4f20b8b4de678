"""What voirdire says about public ratings: the tables of docs/studies/real-data.md.

    python docs/studies/real_data.py DATA OUT [--draws 2000] [--only crehate]

DATA holds one folder a data set (ratings.csv, items.csv, ...). Every audit is run by the command line into OUT/NAME,
unless it is there already, and read back from estimates.csv and profile.json. Nothing of the data is kept here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from voirdire.cli.main import run

UNSURE = ("--missing-label", "unsure")
SLOTS = (*UNSURE, "--anonymous-raters")
AUDITS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "crehate": ("audit", "crehate", (*UNSURE, "--duplicates", "first")),
    "crehate-us-sg": ("audit", "crehate", (*UNSURE, "--duplicates", "first", "--pair", "US,SG")),
    "seegull": ("validate", "seegull", (*SLOTS, "--exclude-items", "pools_copied == 'yes'")),
    "seegull-all": ("validate", "seegull", SLOTS),
    "seegull-3-nocopy": ("validate", "seegull", ("--anonymous-raters", "--exclude-items", "pools_copied == 'yes'")),
    "seegull-3": ("validate", "seegull", ("--anonymous-raters",)),
    "seegull-3-slots": ("validate", "seegull", ()),
    "seegull_multi": ("validate", "seegull_multi", SLOTS),
    "dices350": ("validate", "dices350", ()),
    "dices350-2": ("validate", "dices350", ("--missing-label", "Unsure")),
    "multipico": ("validate", "multipico", ()),
    "trust_ama": ("validate", "trust_ama", ("--questions", "{folder}/questions.csv")),
    "hanna": ("audit", "hanna", ("--scale", "1:5")),
    "mena_values": ("audit", "mena_values", ("--out-of-scale", "exclude", "--shares", "{folder}/pool_dist.csv")),
    "psa001": ("validate", "psa001", ("--level", "ordinal", "--scale", "1:9")),
    "viescore": ("audit", "viescore", ("--judge-scale", "0:10")),
    "viescore-rank": ("audit", "viescore", ()),
    "cems_pairs": ("validate", "cems_pairs", ()),
}
PLACE = ("statistic", "params", "question", "pool", "pool_b", "judge", "condition", "slice", "excluded")


@dataclass(frozen=True)
class Study:
    """One audit: its estimates over all items, its intake and the folder it read."""

    estimates: pl.DataFrame
    intake: list[dict]
    folder: Path

    def rows(self, statistic: str, params: str = "") -> pl.DataFrame:
        found = self.estimates.filter(pl.col("statistic") == statistic)
        return found.filter(~pl.col("params").str.contains("control=") & pl.col("params").str.starts_with(params))

    def number(self, statistic: str, pool: str, pool_b: str = "", question: str | None = None) -> str:
        found = self.rows(statistic).filter((pl.col("pool") == pool) & (pl.col("pool_b") == pool_b))
        if question is not None:
            found = found.filter(pl.col("question") == question)
        return shown(found.row(0, named=True))

    def ratings(self) -> pl.DataFrame:
        return read(self.folder / "ratings")


def read(stem: Path) -> pl.DataFrame:
    """A csv or csv.gz as text."""
    plain = stem.with_name(f"{stem.name}.csv")
    return pl.read_csv(plain if plain.exists() else stem.with_name(f"{stem.name}.csv.gz"), infer_schema=False)


def load(name: str, data: Path, out: Path, draws: int) -> Study:
    command, folder, options = AUDITS[name]
    place = data / folder
    if not (out / name / "profile.json").exists():
        told = [option.format(folder=place) for option in options]
        amounts = ["--draws", str(draws), "--permutations", str(draws)]
        if run([command, str(place), *told, "--out", str(out / name), *amounts]):
            raise SystemExit(name)
    estimates = pl.read_csv(out / name / "estimates.csv", infer_schema_length=None)
    estimates = estimates.with_columns(pl.col(PLACE).cast(pl.String).fill_null(""))
    meta = json.loads((out / name / "profile.json").read_text())["meta"]
    return Study(estimates.filter(pl.col("slice") == "all"), meta["intake"], place)


def shown(row: dict) -> str:
    """Value with interval, label, or the reason why there is none."""
    if row["undefined"]:
        return row["undefined"]
    if row["label"]:
        return row["label"]
    ends = "" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
    return f"{row['value']:.4f}{ends}"


def table(head: Sequence[str], rows: Iterator[Sequence[object]] | Sequence[Sequence[object]]) -> None:
    print("|", " | ".join(head), "|")
    print("|", " | ".join("---" for _ in head), "|")
    for row in rows:
        print("|", " | ".join(str(entry) for entry in row), "|")
    print()


def intake(study: Study) -> None:
    table(
        ("table", "rows", "used", "left out"),
        [
            (e["table"], e["rows_in"], e["rows_used"], ", ".join(f"{k} {v}" for k, v in e["excluded"].items()) or "-")
            for e in study.intake
        ],
    )


def pool_table(study: Study, statistics: Sequence[str]) -> None:
    keys = study.rows("gate").select("question", "pool").rows()
    table(
        ("question", "pool", *statistics),
        [(q, pool, *(study.number(name, pool, question=q) for name in statistics)) for q, pool in keys],
    )


def pair_table(study: Study, statistics: Sequence[str], most: int = 10) -> None:
    keys = study.rows("gate.divergent").select("question", "pool", "pool_b").head(most).rows()
    table(
        ("question", "pair", *statistics),
        [(q, f"{a}, {b}", *(study.number(name, a, b, q) for name in statistics)) for q, a, b in keys],
    )


def labels(study: Study, statistic: str) -> None:
    kind = pl.when(pl.col("pool_b") == "").then(pl.lit("pool")).otherwise(pl.lit("pair"))
    rows = study.rows(statistic).group_by(kind.alias("against"), "label").len().sort("against", "label").rows()
    table((statistic, "label", "count"), rows)


def cells(study: Study, statistic: str) -> pl.DataFrame:
    """Rows of full judge x condition cells, without controls and selections."""
    chosen = ~pl.col("judge").str.contains(r"^control:|\*|=") & ~pl.col("condition").str.contains(r"\*|=")
    return study.rows(statistic).filter(chosen & (pl.col("judge") != ""))


def against_constant(study: Study, better: pl.Expr | None = None) -> None:
    rows = cells(study, "mae_vs_constant")
    rows = rows if better is None else rows.filter(better)
    defined = rows.filter(pl.col("value").is_not_null())
    below, sure = defined.filter(pl.col("value") < 0), defined.filter(pl.col("high") < 0)
    print(f"Cells {rows.height}, defined {defined.height}; below the constant {below.height}", end=", ")
    print(f"by interval {sure.height}.\n")
    table(
        ("question", "pool", "judge", "condition", "mae_vs_constant", "n"),
        [
            (row["question"], row["pool"], row["judge"], row["condition"], shown(row), row["n"])
            for row in below.sort("value").iter_rows(named=True)
        ],
    )


def crehate(load: Callable[[str], Study]) -> None:
    study = load("crehate-us-sg")
    intake(study)
    pool_table(study, ("alpha", "reliability", "ceiling.own", "gate"))
    pair_table(study, ("cross_pool_mad", "gap_test.null_mean", "gap_test.p", "noise_floor", "gap_rms"))
    print("Within items:", _within_items(study.ratings(), "US", "SG"), "\n")
    judges = [row[0] for row in study.rows("delta").select("judge").unique(maintain_order=True).rows()]
    wanted = [judge for judge in judges if judge != "*" and ("control" not in judge or "constant" in judge)]
    columns = [study.rows(name).filter(pl.col("params") == params) for name, params in JUDGED]
    rows = [
        (judge, condition, *(shown(_cell(column, judge, condition)) for column in columns))
        for judge, condition in columns[0].filter(pl.col("judge").is_in(wanted)).select("judge", "condition").rows()
        if condition != "*"
    ]
    table(("judge", "condition", *(f"{name} {params}".strip() for name, params in JUDGED)), rows)
    labels(study, "verdict")
    pair_table(load("crehate"), ("cross_pool_mad", "gap_test.null_mean", "gap_test.p"))


JUDGED = (("tilt", ""), ("tilt", "form=ratio"), ("delta", ""), ("delta_sq", ""))


def _cell(rows: pl.DataFrame, judge: str, condition: str) -> dict:
    return rows.filter((pl.col("judge") == judge) & (pl.col("condition") == condition)).row(0, named=True)


def _within_items(ratings: pl.DataFrame, a: str, b: str, draws: int = 1_000) -> str:
    """The mean absolute gap when pool labels are shuffled within items, by plain numpy."""
    import numpy as np

    rated = ratings.unique(["item_id", "rater_id", "pool"], keep="first", maintain_order=True)
    rated = rated.filter(pl.col("pool").is_in([a, b]) & (pl.col("rating") != "unsure"))
    item = rated["item_id"].cast(pl.Categorical).to_physical().to_numpy()
    value, in_b = rated["rating"].cast(pl.Float64).to_numpy(), (rated["pool"] == b).to_numpy()
    rng, gaps = np.random.default_rng(0), []
    order = np.argsort(item, kind="stable")
    item, value, in_b = item[order], value[order], in_b[order]
    for _ in range(draws):
        mixed = value[np.lexsort((rng.random(len(item)), item))]
        means = [np.bincount(item[s], mixed[s]) / np.bincount(item[s]) for s in (in_b, ~in_b)]
        gaps.append(np.abs(means[0] - means[1]).mean())
    return f"{np.mean(gaps):.4f} +- {np.std(gaps):.4f}"


def seegull(load: Callable[[str], Study]) -> None:
    for name in ("seegull", "seegull-all", "seegull-3-nocopy", "seegull-3", "seegull-3-slots"):
        study = load(name)
        print("###", name, "\n")
        intake(study)
        pool_table(study, ("alpha", "reliability", "gate"))
        gap = "cross_pool_tv" if "-3" in name else "cross_pool_mad"
        pair_table(study, (gap, "gap_test.null_mean", "gap_test.p", "gate.divergent"))
    ratings = load("seegull").ratings()
    counts = (
        ratings.group_by("item_id", "pool", "rating").len().pivot(on="rating", index=["item_id", "pool"], values="len")
    )
    counts = counts.fill_null(0).with_columns(
        share=pl.col("stereotype") / (pl.col("stereotype") + pl.col("not_stereotype"))
    )
    sides = [counts.filter(pl.col("pool") == pool) for pool in ("in_region", "north_america")]
    both = sides[0].join(sides[1], on="item_id", suffix="_b")
    same = pl.all_horizontal(*(pl.col(c) == pl.col(f"{c}_b") for c in ("stereotype", "not_stereotype", "unsure")))
    anchored = ((pl.col("share") >= 0.75) & (pl.col("share_b") >= 0.75)) | (
        (pl.col("share") <= 0.25) & (pl.col("share_b") <= 0.25)
    )
    rated = both.filter(pl.col("share").is_not_nan() & pl.col("share_b").is_not_nan())
    print("Equal counts:", both.filter(same).height, "of", both.height)
    print("Contested by the cuts 0.75 and 0.25:", rated.filter(~anchored).height, "of", rated.height, "\n")


def seegull_multi(load: Callable[[str], Study]) -> None:
    study = load("seegull_multi")
    intake(study)
    pool_table(study, ("n_items", "alpha", "reliability", "gate"))
    labels(study, "gate.divergent")


def trust_ama(load: Callable[[str], Study]) -> None:
    study = load("trust_ama")
    intake(study)
    pool_table(study, ("alpha", "reliability", "split_half", "gate"))
    labels(study, "gate")
    labels(study, "gate.divergent")


def hanna(load: Callable[[str], Study]) -> None:
    study = load("hanna")
    intake(study)
    against_constant(study)
    labels(study, "verdict")
    print("By a simpler rule:", _simpler_hanna(study.folder), "\n")


def _simpler_hanna(folder: Path) -> dict[str, int]:
    """Cells with a smaller MAE than a constant chosen on the same items, with and without the -1 answers."""
    keys = ["item_id", "question"]
    human = read(folder / "ratings").select(*keys, human=pl.col("rating").cast(pl.Float64))
    judged = read(folder / "judgments").with_columns(pl.col("rating").cast(pl.Float64)).join(human, on=keys)
    found = {}
    for coded, frame in (("with", judged), ("without", judged.filter(pl.col("rating").is_between(1, 5)))):
        for constant in ("whole number", "median"):
            losses = human.group_by("question").agg(loss=_least_loss(constant))
            errors = frame.group_by("question", "judge", "condition").agg(
                mae=(pl.col("rating") - pl.col("human")).abs().mean()
            )
            beaten = errors.join(losses, on="question").filter(pl.col("mae") < pl.col("loss"))
            found[f"{constant}, {coded} answers outside 1-5"] = beaten.height
    return found


def _least_loss(constant: str) -> pl.Expr:
    human = pl.col("human")
    if constant == "median":
        return (human - human.median()).abs().mean()
    return pl.min_horizontal(*((human - level).abs().mean() for level in range(1, 6)))


def mena_values(load: Callable[[str], Study]) -> None:
    study = load("mena_values")
    intake(study)
    against_constant(study, pl.col("condition").str.split(":").list.last() == pl.col("pool"))
    labels(study, "gate")
    labels(study, "verdict")
    sure = cells(study, "mae_vs_constant")
    print("All countries: below", (sure["value"] < 0).sum(), "by interval", (sure["high"] < 0).sum(), "of", sure.height)


def dices350(load: Callable[[str], Study]) -> None:
    for name in ("dices350", "dices350-2"):
        study = load(name)
        intake(study)
        pool_table(study, ("alpha", "reliability", "ceiling.own", "gate"))
        gap = "cross_pool_tv" if name == "dices350" else "cross_pool_mad"
        pair_table(study, (gap, "gap_test.null_mean", "gap_test.p", "gap_rms", "disattenuated_r"))


def multipico(load: Callable[[str], Study]) -> None:
    study = load("multipico")
    intake(study)
    pool_table(study, ("n_items", "alpha", "reliability", "gate"))
    labels(study, "gate.divergent")
    reasons = study.rows("gap_test.p")["undefined"].fill_null("-").value_counts(sort=True).rows()
    table(("gap_test undefined", "pairs"), reasons)


def psa001(load: Callable[[str], Study]) -> None:
    study = load("psa001")
    intake(study)
    labels(study, "gate")
    r = study.rows("cross_pool_pearson").group_by("question", maintain_order=True)
    rows = r.agg(pl.col("value").median().round(3), pl.col("value").min().round(3).alias("least")).rows()
    table(("question", "median r of 55 pairs", "least"), rows)
    rows = []
    for kind in ("high", "low", "contested", "divergent", "middle"):
        found = study.rows(f"anchor_class.{kind}")
        rows.append((kind, int(found["value"].sum()), ", ".join(found["undefined"].drop_nulls().unique()) or "-"))
    table(("class", "items x pairs x questions", "undefined"), rows)


def viescore(load: Callable[[str], Study]) -> None:
    study = load("viescore")
    intake(study)
    pool_table(study, ("alpha", "reliability", "ceiling.own", "gate"))
    against_constant(study)
    labels(study, "verdict")
    rank = load("viescore-rank")
    labels(rank, "verdict")
    table(("undefined without --judge-scale", "reason"), cells(rank, "mae")[["statistic", "undefined"]].unique().rows())


def cems_pairs(load: Callable[[str], Study]) -> None:
    study = load("cems_pairs")
    intake(study)
    pool_table(study, ("alpha", "reliability", "ceiling.own", "gate"))
    pair_table(study, ("cross_pool_tv", "gap_test.null_mean", "gap_test.p", "cross_pool_pearson"))


SECTIONS = (
    crehate, seegull, seegull_multi, trust_ama, hanna, mena_values, dices350, multipico, psa001, viescore, cems_pairs,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--only", nargs="*", default=[section.__name__ for section in SECTIONS])
    options = parser.parse_args()
    for section in SECTIONS:
        if section.__name__ in options.only:
            print(f"## {section.__name__}\n")
            section(lambda name: load(name, options.data, options.out, options.draws))


if __name__ == "__main__":
    main()
