"""The public data sets are read, or refused with the way out, and every row is accounted for."""

import polars as pl
import pytest
from tests.input.input_tables import balanced, keys

from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments
from voirdire.errors import InputError


@pytest.fixture
def read(shared_data):
    """Read a data set with all its tables."""

    def file(name, table):
        found = [shared_data / name / f"{table}{ending}" for ending in (".csv", ".csv.gz")]
        return next((path for path in found if path.exists()), None)

    def reader(name, judging=None, **options):
        beside = {table: file(name, table) for table in ("items", "raters", "questions")}
        corpus = read_corpus(CorpusOptions(file(name, "ratings"), **beside | options))
        assert balanced(*corpus.intake)
        assert corpus.intake[0].rows_used == corpus.ratings.height + corpus.aggregates.height
        if file(name, "judgments") is None:
            return corpus, None
        tables = {table: file(name, table) for table in ("judges", "conditions")}
        judgments = read_judgments(JudgmentOptions(file(name, "judgments"), **tables, **judging or {}), corpus)
        assert balanced(*judgments.intake)
        return corpus, judgments

    return reader


def scales(corpus):
    return {str(question.scale) for question in corpus.questions}


def test_simulated_voirdire(read):
    corpus, judgments = read("simulated-voirdire", question_columns=("q1", "q2", "q3", "q4"))
    assert corpus.pools == ("us", "cn")
    assert scales(corpus) == {"ordinal:1:5"}
    assert [question.role for question in corpus.questions] == [
        "evaluation",
        "placement",
        "subjectivity",
        "recognizability",
    ]
    assert corpus.intake[0].rows_in == corpus.ratings.height == 25_040
    assert judgments.key_factors == ("design",)
    assert judgments.factors == ("persona", "detail", "language", "design")
    assert judgments.covariates == ("origin",)
    assert judgments.cells.height == 300
    assert judgments.table.height == 187_800
    assert {"planted_columns", "cells_counted", "column_taken", "roles_by_name"} <= set(keys(corpus))


def test_crehate(read):
    with pytest.raises(InputError, match=r"row 2, column 'rating': 'unsure'.*--missing-label unsure"):
        read("crehate")
    with pytest.raises(InputError, match=r"row 6023, column 'rater_id': 'r0305' rated item 'SBIC-224'.* row 6022"):
        read("crehate", missing_labels=("unsure",))
    corpus, judgments = read("crehate", missing_labels=("unsure",), duplicates="first")
    assert scales(corpus) == {"binary:0<1"}
    assert corpus.intake[0].excluded == {"missing_label": 1597, "duplicate": 6}
    votes = corpus.ratings.group_by("item_id", "pool").agg(pl.col("value").mean())
    assert votes.height == 790 * 5
    probabilities = judgments.table.filter(pl.col("condition") == "prob")["value"]
    assert probabilities.is_between(0, 1).all()
    assert probabilities.n_unique() > 1000


def test_crehate_pools_by_rule(read):
    rules = ("west: pool in ('US', 'GB')", "sg_young: pool == 'SG' and age_band in ('20s', '30s')")
    corpus, _ = read("crehate", missing_labels=("unsure",), duplicates="first", pools=rules)
    assert corpus.pools == ("west", "sg_young")
    assert corpus.intake[0].excluded["no_pool"] > 9_000


def test_seegull(read):
    corpus, _ = read("seegull")
    assert scales(corpus) == {"nominal:not_stereotype/stereotype/unsure"}
    assert {"label_no_answer", "looks_anonymous"} <= set(keys(corpus))
    options = {"missing_labels": ("unsure",), "anonymous_raters": True, "exclude_items": ("pools_copied == 'yes'",)}
    corpus, _ = read("seegull", **options)
    assert scales(corpus) == {"binary:not_stereotype<stereotype"}
    assert corpus.intake[1].excluded == {"excluded_item": 313}
    assert corpus.items.height == 6468


def test_seegull_multi(read):
    with pytest.raises(InputError, match="--missing-label unsure"):
        read("seegull_multi")
    corpus, _ = read("seegull_multi", missing_labels=("unsure",), anonymous_raters=True)
    assert scales(corpus) == {"ordinal:0:4"}
    assert len(corpus.pools) == 23
    assert corpus.intake[0].excluded == {"missing_label": 136}


def test_trust_ama(read):
    corpus, _ = read("trust_ama")
    assert scales(corpus) == {"ordinal:1:7"}
    assert [question.id for question in corpus.questions] == [
        "trustworthy",
        "blame",
        "trust_other_issues",
        "surprise",
        "humanlike",
    ]
    assert corpus.question("blame").text["und"].startswith("How much would you blame")
    assert len(corpus.pools) == 12


def test_hanna(read):
    corpus, judgments = read("hanna", low=1, high=5)
    assert corpus.pools == ("mturk",)
    assert corpus.ratings.is_empty()
    assert corpus.aggregates.height == 3168
    assert judgments.intake[0].excluded == {"out_of_scale": 438}
    assert judgments.table.filter(pl.col("status") == "out_of_scale")["value"].null_count() == 438


def test_mena_values(read, shared_data):
    shares = shared_data / "mena_values" / "pool_dist.csv"
    with pytest.raises(InputError, match=r"row 3243, column 'rating': the mean '0.67' is outside .*--exclude-items"):
        read("mena_values")
    corpus, judgments = read("mena_values", shares=shares, out_of_scale="exclude")
    assert corpus.intake[0].excluded == {"out_of_scale": 28}
    assert corpus.intake[1].excluded == {"item_level": 51}
    assert corpus.intake[2].excluded == {"item_level": 4709}
    assert len(corpus.item_scales) == corpus.items.height == 381
    assert {(scale.low, scale.high) for scale in corpus.item_scales.values()} >= {(1, 4), (0, 2), (1, 10)}
    assert judgments.intake[0].excluded == {}


def test_viescore(read):
    corpus, judgments = read("viescore")
    assert scales(corpus) == {"interval:0:1"}
    assert len(judgments.rank_only) == 20
    corpus, judgments = read("viescore", judging={"judge_scale": ("0:10",)})
    assert judgments.rank_only == frozenset()
    assert judgments.table["value"].is_between(0, 1).all()
    corpus, judgments = read("viescore", level="ordinal", labels=("0", "0.5", "1"), judging={"judge_scale": ("0:10",)})
    assert scales(corpus) == {"ordinal:0/0.5/1"}
    assert judgments.table["value"].max() == 2.0


def test_viescore_answers_outside_the_judges_scale(read, shared_data):
    corpus, _ = read("viescore")
    raw = pl.read_csv(shared_data / "viescore" / "judgments.csv.gz", infer_schema=False)
    parts = raw["raw"].str.strip_chars("[]").str.split(",").list.first().str.strip_chars(' "')
    judged = raw.with_columns(rating=parts)
    judgments = read_judgments(JudgmentOptions(judged, judge_scale=("0:10",)), corpus)
    outside = judgments.table.filter(pl.col("status") == "out_of_scale").height
    assert outside == (parts.cast(pl.Float64, strict=False) > 10).sum() > 0
    assert balanced(*judgments.intake)


def test_dices350(read):
    corpus, _ = read("dices350")
    assert scales(corpus) == {"nominal:No/Unsure/Yes"}
    corpus, _ = read("dices350", missing_labels=("unsure",))
    assert scales(corpus) == {"binary:No<Yes"}
    assert corpus.intake[0].excluded == {"missing_label": 2694}


def test_multipico(read):
    corpus, _ = read("multipico")
    assert scales(corpus) == {"binary:0<1"}
    assert len(corpus.pools) == 25
    assert "items_without_pool" in keys(corpus)


def test_psa001(read):
    corpus, _ = read("psa001", level="ordinal", low=1, high=9)
    assert scales(corpus) == {"ordinal:1:9"}
    assert corpus.aggregates.height == 17_160
    assert corpus.aggregates["n"].null_count() == 17_160


def test_cems_pairs(read):
    corpus, _ = read("cems_pairs")
    assert scales(corpus) == {"nominal:first/second/tie"}
    assert corpus.intake[0].excluded == {"missing": 91}
    corpus, _ = read("cems_pairs", pools=("spanish: spa == 'good'", "none: spa == 'poor'"))
    assert corpus.pools == ("spanish", "none")


def test_the_digest_is_that_of_the_file(read, shared_data):
    import hashlib

    corpus, _ = read("trust_ama")
    stored = (shared_data / "trust_ama" / "ratings.csv.gz").read_bytes()
    assert corpus.intake[0].digest == hashlib.sha256(stored).hexdigest()
