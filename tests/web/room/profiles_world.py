"""Audits made up for the tests of the profile pages: hostile and Chinese names, many pools, none or many judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from tests.reporting import fake_experiment, fake_profile

from voirdire.analysis.profile import Profile
from voirdire.browsing.library import Audit, Library, Shelf

FORMULA = "=cmd()|'x'!A1"
STUB = (
    '<svg width="9" height="9"><g class="mark-symbol role-mark"><path style="fill:red" onclick="alert(1)" '
    'aria-label="a mark" d="M0,0"/></g></svg>'
)


def real(fake: Any, **meta: Any) -> Profile:
    """A made-up profile as a profile."""
    return Profile(fake.estimates, {**fake.meta, **meta}, fake.distributions, fake.items, fake.specifications)


def formula() -> Profile:
    """Two pools and a judge whose name a spreadsheet would run."""
    return real(fake_profile.make(["us", "cn"], [FORMULA, "other"], ["-"], ["q1"], ["culture=cn"]))


def one_pair() -> Profile:
    """Six pools of which only the first pair was compared with judges."""
    profile = real(fake_profile.six_pools(), detail_pairs=[["us", "cn"]])
    other = (pl.col("judge") != "") & (pl.col("pool_b") != "") & (pl.col("pool") + pl.col("pool_b") != "uscn")
    return Profile(profile.estimates.filter(~other), profile.meta, profile.distributions, profile.items)


def one_pool() -> Profile:
    """One pool with judges."""
    return real(fake_profile.make(["us"], ["a", "b"], ["-"], ["q1"], []))


def many_cells() -> Profile:
    """Six judges under fifty conditions each."""
    conditions = [f"c{number}" for number in range(50)]
    return real(fake_profile.make(["us", "cn"], [f"judge-{n}" for n in range(6)], conditions, ["q1"], []))


def library(folder: Path, **profiles: Profile) -> Library:
    """These audits, each written to a folder of its own; the one that is called ``two`` has a shelf."""
    audits, shelves = [], []
    for name, profile in profiles.items():
        profile.save(folder / name)
        shelf = "tea" if name == "two" else ""
        audits.append(Audit(name, f"audit <b>{name}</b>", folder / name, profile, shelf))
        if shelf:
            ids = profile.items["item_id"].unique(maintain_order=True).to_list()
            shelves.append(Shelf("tea", "tea", "audit", folder, None, pl.DataFrame({"item_id": ids})))
    return Library(tuple(shelves), (), tuple(audits))


def everything(folder: Path) -> Library:
    """Every kind of profile."""
    return library(
        folder,
        two=real(fake_profile.two_pools()),
        six=real(fake_profile.six_pools()),
        none=real(fake_profile.no_judges()),
        factorial=real(fake_experiment.experiment()),
        formula=formula(),
        pair=one_pair(),
        pool=one_pool(),
    )
