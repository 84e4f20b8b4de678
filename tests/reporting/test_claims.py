"""Claims: undecided judges decide nothing, pools and personas are named, and images are asked of by culture."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.reporting.fake_experiment import JUDGES
from tests.reporting.fake_profile import FakeProfile

from voirdire.reporting import claims
from voirdire.reporting.access import View
from voirdire.reporting.blocks import Bullets, Text
from voirdire.reporting.experiment_tables import against
from voirdire.reporting.words import Words

PAIR = ("us", "cn")
LANGS = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture(scope="module")
def profile(profiles) -> FakeProfile:
    return profiles["factorial"]


def answers(profile: FakeProfile, key: str, lang: str = "en") -> tuple[str, ...]:
    """The sentences that answer one claim."""
    words = Words(lang, PAIR)
    section = claims.section(View(profile), words)
    found = {title: told for block in section.blocks if isinstance(block, Bullets) for title, told in block.entries}
    return found[words.c(f"claim.{key}", a="us", b="cn")]


def notes(profile: FakeProfile, lang: str) -> str:
    blocks = claims.section(View(profile), Words(lang, PAIR)).blocks
    return "\n".join(line for block in blocks if isinstance(block, Text) for line in block.paragraphs)


def kept(profile: FakeProfile, where: pl.Expr) -> FakeProfile:
    return replace(profile, estimates=profile.estimates.filter(where))


@pytest.mark.parametrize(
    ("labels", "status"),
    [
        (("nearer_b", "undecided", "undecided", "undecided"), "cannot_say"),
        (("undecided", "undecided", "undecided", "undecided"), "cannot_say"),
        (("nearer_b", "nearer_b", "undecided", "undecided"), "in_part"),
        (("nearer_b", "nearer_b", "nearer_b", "nearer_b"), "holds"),
        (("nearer_a", "nearer_b", "undecided", "undecided"), "fails"),
    ],
)
@LANGS
def test_most_undecided_is_cannot_say(profile, labels, status, lang):
    label = pl.col("label")
    for judge, told in zip(JUDGES, labels, strict=True):
        here = (pl.col("statistic") == "verdict") & (pl.col("judge") == judge) & (pl.col("pool_b") == "cn")
        label = pl.when(here & (pl.col("condition") == "*")).then(pl.lit(told)).otherwise(label)
    (sentence,) = answers(replace(profile, estimates=profile.estimates.with_columns(label=label)), "nearer", lang)
    words = Words(lang)
    assert sentence.startswith(words.c(f"status.{status}"))
    counts = {name: str(labels.count(f"nearer_{name[-1]}")) for name in ("n_a", "n_b")}
    rest = str(labels.count("undecided"))
    assert words.c("by.nearer", n="4", rest=rest, a="us", b="cn", **counts) in sentence


@LANGS
def test_claims_about_images_are_asked_of_each_culture_that_is_a_pool(profile, lang):
    words = Words(lang)
    for key in ("pulled", "asymmetric", "bounded", "wording", "demonstrations"):
        found = answers(profile, key, lang)
        assert len(found) == 2
        for sentence, culture in zip(found, PAIR, strict=True):
            assert words.slice(f"culture={culture}") in sentence
    assert words.c("images.own", slice="") in notes(profile, lang)


@LANGS
def test_without_such_a_culture_it_is_said_which_images_and_why(profile, lang):
    renamed = replace(
        profile,
        estimates=profile.estimates.with_columns(slice=pl.col("slice").str.replace("culture=us", "culture=fr"))
        .filter(~pl.col("slice").str.contains("culture=cn")),
        meta={**profile.meta, "slices": ["all", "culture=fr"]},
    )  # fmt: skip
    words = Words(lang)
    assert len(answers(renamed, "pulled", lang)) == 1
    assert words.c("images.lean", slice=words.slice("culture=fr")) in notes(renamed, lang)


@LANGS
def test_personas_are_named_beside_their_pulls(profile, lang):
    row = View(profile).row(
        "pull", params="toward=cn,of=tilt", question="q1", pool="us", pool_b="cn", judge="*", condition="design=base",
        slice="culture=us",
    )  # fmt: skip
    words = Words(lang)
    value = f"{words.number('pull', row.value)} {words.interval(row)}".replace(" ", "\u00a0")
    assert words.c("persona_of", pool="cn", value=value) in answers(profile, "pulled", lang)[0]


@LANGS
def test_without_a_pull_no_hole_is_printed(profile, lang):
    gone = kept(profile, ~((pl.col("statistic") == "pull") & (pl.col("judge") == "*")))
    for sentence in answers(gone, "wording", lang):
        assert sentence.startswith(Words(lang).c("status.cannot_say"))
        assert "\u2014" not in sentence
    bare = kept(gone, ~pl.col("statistic").is_in(["pull.difference", "origin_effect.sign_change", "share_low"]))
    section = claims.section(View(bare), Words(lang, PAIR))
    told = [
        text for block in section.blocks if isinstance(block, Bullets) for _, found in block.entries for text in found
    ]
    assert len(told) > 10
    assert not [text for text in told if "\u2014" in text]


@pytest.mark.parametrize(
    ("origins", "shown"),
    [
        (("us", "cn", None, "cn"), "origin: us against cn"),
        (("us", "cn", "fr", "cn"), "origin: us against the rest"),
        ((None, None, None, None), "origin: us against the rest"),
    ],
)
def test_an_effect_says_against_what(profile, origins, shown):
    told = {judge: {"origin": origin} for judge, origin in zip(JUDGES, origins, strict=True)}
    view = View(replace(profile, meta={**profile.meta, "judges_covariates": told}))
    assert against(view, Words("en"), "covariate=origin,level=us") == shown
    assert against(view, Words("en"), "covariate=size") == "size"
    assert shown in answers(view.profile, "origin")[0]
