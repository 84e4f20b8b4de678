"""The tables of the study of recovery: bias, coverage, errors of the tests, parts of T, and whether the gates hold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voirdire.simulation.judges import Character
from voirdire.stats.features import Array

LEVEL = 0.95
BIAS, BIAS_FLOOR, COVERAGE, TYPE_I = 0.01, 0.03, 0.93, 0.07
COPIES = ("copy of a, rounded", "copy of b, rounded", "copy of a, exact", "copy of b, exact")
Fields = dict[str, Array]


def recovery(estimates: Array, inside: Array, kept: Array, planted: float) -> dict[str, float]:
    """Bias with its Monte Carlo error, RMSE and coverage over the corpora kept."""
    values, n = estimates[kept], int(kept.sum())
    if n < 2:
        return {"n": n, "bias": np.nan, "error": np.nan, "rmse": np.nan, "coverage": np.nan}
    off = values - planted
    return {
        "n": n,
        "bias": float(off.mean()),
        "error": float(off.std(ddof=1) / np.sqrt(n)),
        "rmse": float(np.sqrt((off**2).mean())),
        "coverage": float(inside[kept].mean()),
    }


def weight_of(judge: Character) -> float:
    """The planted W of two pools."""
    return judge.weights[1] if judge.weights is not None else 0.5


def blind(judge: Character) -> bool:
    """Whether the judge does not look at the pools, so that W is to be undefined."""
    return judge.uniform or judge.scale <= 0


def summary(world: str, judges: Mapping[str, Character], fields: Fields) -> list[dict[str, object]]:
    """A row a judge, and a row a copy of an observed consensus."""
    rows: list[dict[str, object]] = []
    for cell, (name, judge) in enumerate(judges.items()):
        column = {key: value[:, cell] for key, value in fields.items() if not key.startswith("copy")}
        row: dict[str, object] = {"world": world, "judge": name, "corpora": len(column["p"])}
        row |= {"defined": float((column["defined"] == 1).mean()), "rejected": float((column["p"] < 1 - LEVEL).mean())}
        rows.append(row | (planted_parts(judge, column) if not blind(judge) else {}))
    for cell, name in enumerate(COPIES):
        known = ~np.isnan(fields["copy_p"][:, cell])
        p, side = fields["copy_p"][known, cell], fields["copy_side"][known, cell] == (" b" in name)
        row = {"world": world, "judge": name, "corpora": len(p), "largest_p": float(p.max())}
        row |= {"separated": float(fields["copy_separated"][known, cell].mean())}
        rows.append(row | {"rejected": float(((p < 1e-6) & side).mean())})
    return rows


def planted_parts(judge: Character, column: Fields) -> dict[str, object]:
    """What a row says of a judge that goes by the pools."""
    defined, w = column["defined"] == 1, weight_of(judge)
    pi = recovery(column["pi"], column["pi_in"], defined, judge.permissiveness)
    return {
        "w": w,
        **recovery(column["w"], column["w_in"], defined, w),
        "ends": float(np.isfinite(column["w_agrees"]).sum() + np.isfinite(column["pi_agrees"]).sum()),
        "disagree": float((column["w_agrees"] == 0).sum() + (column["pi_agrees"] == 0).sum()),
        "raw_bias": float((column["raw_w"] - w).mean()),
        "raw_rejected": float((column["raw_p"] < 1 - LEVEL).mean()),
        "pi": judge.permissiveness,
        **{f"pi_{key}": value for key, value in pi.items()},
        "split": column["split"].mean(0).tolist(),
        "planted": column["planted"].mean(0).tolist(),
        "split_sd": (column["split"] - column["planted"]).std(0).tolist(),
    }


def gates(row: Mapping[str, object]) -> dict[str, bool]:
    """Bias, coverage and type I error of a row that has a planted W."""
    allowed = (BIAS_FLOOR if "floor" in str(row["judge"]) else BIAS) + 2 * float(row["error"])
    held = {"bias": abs(float(row["bias"])) <= allowed, "coverage": float(row["coverage"]) >= COVERAGE}
    if row["w"] == 0.5:
        held["type I"] = float(row["rejected"]) <= TYPE_I
    return held


def verdict(held: Mapping[str, bool]) -> str:
    """``pass``, or what failed."""
    failed = [name for name, holds in held.items() if not holds]
    return "**fails: " + ", ".join(failed) + "**" if failed else "pass"


def table(head: str, lines: list[str]) -> str:
    """A table of markdown."""
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *lines])


def w_table(rows: list[dict[str, object]]) -> str:
    """W of judges that go by the pools."""
    lines = []
    for row in rows:
        if "w" not in row:
            continue
        lines.append(
            f"| {row['judge']} | {row['w']:g} | {row['defined']:.3f} | {row['bias']:+.3f} ± {row['error']:.3f} |"
            f" {row['rmse']:.3f} | {row['coverage']:.3f} | {row['rejected']:.3f} | {verdict(gates(row))} |"
            f" {row['raw_bias']:+.3f} | {row['raw_rejected']:.3f} |"
        )
    head = "| judge | W | W defined | bias | RMSE | coverage | p < 0.05 | gates | raw: bias | raw: p < 0.05 |"
    return table(head, lines)


def pi_table(rows: list[dict[str, object]]) -> str:
    """PI of the same judges."""
    lines = [
        f"| {row['judge']} | {row['pi']:g} | {row['pi_bias']:+.3f} ± {row['pi_error']:.3f} | {row['pi_rmse']:.3f} |"
        f" {row['pi_coverage']:.3f} |"
        for row in rows
        if "w" in row
    ]
    return table("| judge | PI | bias | RMSE | coverage |", lines)


def split_table(rows: list[dict[str, object]], place: int) -> str:
    """Mean parts of T on a slice: as estimated / as planted."""
    lines = []
    for row in rows:
        if "split" in row:
            found, truth = (np.array(row[key])[place] for key in ("split", "planted"))
            spread = np.array(row["split_sd"])[place]
            parts = [f"{found[k]:+.3f} / {truth[k]:+.3f} ({spread[k]:.3f})" for k in range(4)]
            lines.append(f"| {row['judge']} | {found[5]:+.3f} | {' | '.join(parts)} | {found[4]:+.3f} |")
    return table("| judge | T | base | image | permissiveness | orientation | remainder |", lines)


def blind_table(rows: list[dict[str, object]]) -> str:
    """Judges without a relation to the pools."""
    lines = [
        f"| {row['judge']} | {row['defined']:.3f} | {row['rejected']:.3f} |"
        f" {'pass' if row['rejected'] <= TYPE_I else '**fails**'} |"
        for row in rows
        if "w" not in row and row["judge"] not in COPIES
    ]
    return table("| judge | W defined | p < 0.05 | gate |", lines)


def copies_table(rows: list[dict[str, object]]) -> str:
    """Copies of an observed consensus."""
    lines = [
        f"| {row['world']} | {row['judge']} | {row['corpora']} | {row['separated']:.3f} | {row['rejected']:.3f} |"
        f" {row['largest_p']:.0e} | {'pass' if row['rejected'] == 1 else '**fails**'} |"
        for row in rows
        if row["judge"] in COPIES
    ]
    return table("| world | judge | corpora | separated | p < 1e-6, on the right side | largest p | gate |", lines)


def ends_line(rows: list[dict[str, object]]) -> str:
    """How often the ends of an interval say something else than the likelihood at the planted value."""
    found, odd = (sum(int(row.get(name, 0)) for row in rows) for name in ("ends", "disagree"))
    return f"Intervals whose ends were searched: {found}; at odds with the likelihood at the planted value: {odd}."


def conditions_table(judges: Mapping[str, Character], fields: Fields) -> tuple[str, list[dict[str, object]]]:
    """W of mean coefficients over ten conditions."""
    rows: list[dict[str, object]] = []
    for cell, (name, judge) in enumerate(judges.items()):
        column = {key: value[:, cell] for key, value in fields.items()}
        every = np.ones(len(column["w"]), dtype=bool)
        row = {"judge": name, "w": weight_of(judge), "rejected": float((column["p"] < 1 - LEVEL).mean())}
        row["smallest"] = float((column["p_smallest"] < 1 - LEVEL).mean())
        rows.append(row | recovery(column["w"], column["w_in"], every, weight_of(judge)))
    lines = [
        f"| {r['judge']} | {r['w']:g} | {r['bias']:+.3f} ± {r['error']:.3f} | {r['rmse']:.3f} | {r['coverage']:.3f} |"
        f" {r['rejected']:.3f} | {r['smallest']:.3f} | {verdict(gates(r))} |"
        for r in rows
    ]
    head = "| judge | W | bias | RMSE | coverage | score test p < 0.05 | smallest of ten p x 10 < 0.05 | gates |"
    return table(head, lines), rows


def five_table(judges: Mapping[str, Character], fields: Fields) -> tuple[str, list[dict[str, object]]]:
    """Weights of five pools: over the pools the worst bias, the mean and the worst coverage."""
    rows: list[dict[str, object]] = []
    for cell, (name, judge) in enumerate(judges.items()):
        every = np.ones(len(fields["w"]), dtype=bool)
        weights = judge.weights or (0.2,) * 5
        parts = [
            recovery(fields["w"][:, cell, k], fields["w_in"][:, cell, k], every, weight)
            for k, weight in enumerate(weights)
        ]
        worst = max(parts, key=lambda part: abs(part["bias"]))
        row: dict[str, object] = {"judge": name, "w": 0.5 if weights[0] == weights[1] else -1, **worst}
        row |= {"coverage": float(np.mean([part["coverage"] for part in parts])), "rmse": max(p["rmse"] for p in parts)}
        row["lowest"] = min(part["coverage"] for part in parts)
        pi = recovery(fields["pi"][:, cell], fields["pi_in"][:, cell], every, judge.permissiveness)
        row |= {"rejected": float((fields["p"][:, cell] < 1 - LEVEL).mean()), "pi": pi}
        rows.append(row)
    lines = []
    for r in rows:
        pi = r["pi"]
        cells = [r["judge"], f"{r['bias']:+.3f} ± {r['error']:.3f}", f"{r['rmse']:.3f}"]
        cells += [f"{r['coverage']:.3f} ({r['lowest']:.3f})", f"{r['rejected']:.3f}"]
        cells += [f"{pi['bias']:+.3f} ± {pi['error']:.3f}", f"{pi['coverage']:.3f}", verdict(gates(r))]
        lines.append("| " + " | ".join(cells) + " |")
    heads = ["judge", "largest bias of a weight", "largest RMSE", "mean (lowest) coverage", "b_1 = b_2: p < 0.05"]
    heads += ["bias of PI", "coverage of PI", "gates"]
    return table("| " + " | ".join(heads) + " |", lines), rows
