"""Pools by a column, by the raters table, and by rules over rater attributes."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.input.input_tables import HEADER, balanced, keys, table, two_pools

from voirdire.corpus.reading import CorpusOptions, read_corpus
from voirdire.corpus.rules import parse_rule
from voirdire.errors import InputError, UsageError

RATERS = table("rater_id,country,age", "u,US,31", "v,US,19", "c,CN,44", "x,,")
LONG = table("item_id,rater_id,rating", "a,u,1", "a,v,2", "a,c,5", "a,x,3", "b,u,2", "b,c,4")


def test_rules_over_attributes_of_the_raters_table():
    options = CorpusOptions(LONG, raters=RATERS, pools=("cn: country == 'CN'", "us: country == 'US' and age >= 21"))
    corpus = read_corpus(options)
    assert corpus.pools == ("cn", "us")
    assert corpus.ratings.select("rater_id", "pool").unique().sort("rater_id").rows() == [("c", "cn"), ("u", "us")]
    assert corpus.intake[0].excluded == {"no_pool": 2}
    assert "no_pool" in keys(corpus)
    assert balanced(*corpus.intake)


def test_rules_over_attributes_in_the_ratings():
    long = table("item_id,rater_id,country,pool,rating", "a,u,US,p,1", "a,c,CN,p,5", "b,u,US,q,2")
    corpus = read_corpus(CorpusOptions(long, pools=("west: country == 'US'", "east: not country == 'US'")))
    assert corpus.pools == ("west", "east")
    by_given = read_corpus(CorpusOptions(long.filter(pl.col("pool") == "p"), pools=("one: pool == 'p'",)))
    assert by_given.pools == ("one",)


def test_a_pool_column_of_the_raters_table_or_of_the_ratings():
    by_raters = read_corpus(CorpusOptions(LONG, raters=RATERS, pool_column="country"))
    assert by_raters.pools == ("US", "CN")
    beside = LONG.join(RATERS, on="rater_id").filter(pl.col("country").is_not_null())
    assert read_corpus(CorpusOptions(beside, pool_column="country")).pools == ("US", "CN")


def test_without_pools_all_raters_are_one():
    corpus = read_corpus(CorpusOptions(LONG))
    assert corpus.pools == ("all",)
    assert "one_pool" in keys(corpus)


def test_a_rater_who_meets_two_rules():
    rules = ("us: country == 'US'", "young: age < 25")
    with pytest.raises(
        InputError, match=r"row 2, column 'rater_id': the rater 'v' meets several --pool rules: us, young"
    ):
        read_corpus(CorpusOptions(LONG, raters=RATERS, pools=rules))
    left = read_corpus(CorpusOptions(LONG, raters=RATERS, pools=rules, two_pools="exclude"))
    assert left.intake[0].excluded == {"no_pool": 3, "two_pools": 1}


def test_raters_in_two_pools_by_rule():
    long = two_pools("a,u,cn,3", "b,d,cn,3")
    excluded = read_corpus(CorpusOptions(long, two_pools="exclude"))
    assert excluded.intake[0].excluded == {"two_pools": 3}
    assert excluded.pools == ("cn",)
    separate = read_corpus(CorpusOptions(long, two_pools="separate"))
    assert sorted(separate.ratings["rater_id"].unique()) == ["c", "cn/u", "d", "us/u"]
    assert "raters_separated" in keys(separate)
    anonymous = read_corpus(CorpusOptions(long, anonymous_raters=True))
    assert anonymous.anonymous_raters
    assert anonymous.ratings.height == 6


def test_slots_are_pointed_out():
    long = table(HEADER, "a,us-slot1,us,1", "b,us-slot1,us,5")
    assert "looks_anonymous" in keys(read_corpus(CorpusOptions(long)))
    assert "looks_anonymous" not in keys(read_corpus(CorpusOptions(long, anonymous_raters=True)))


def test_items_without_one_pool_and_unbalanced_raters():
    corpus = read_corpus(CorpusOptions(two_pools("z,u,us,3", "z,u2,us,4")))
    (note,) = [note for note in corpus.notes if note.key == "input.note.items_without_pool"]
    assert (note.fields["items"], note.fields["lacking"]) == (3, "cn: 1")


def test_raters_without_a_rating_are_counted():
    corpus = read_corpus(
        CorpusOptions(LONG, raters=RATERS.vstack(table("rater_id,country,age", "idle,US,1")), pool_column="country")
    )
    assert {one.table: one.excluded for one in corpus.intake}["raters"] == {"not_rating": 2}


@pytest.mark.parametrize(
    "rule",
    [
        "__import__('os').system('true')",
        "().__class__",
        "country.upper() == 'US'",
        "(lambda: 1)() == 1",
        "[c for c in country] == 1",
        "country == f'{age}'",
        "country == age + 1",
        "country == open",
        "country is None",
        "country in country",
        "country == b'US'",
        "country == None",
        "country == True",
        "country == 1j",
        "country",
        "'US'",
        "1",
        "(country := 'US') == 'US'",
        "country == 'US' if age > 1 else age > 2",
        "country[0] == 'U'",
        "country == 'US'; age > 1",
        "country = 'US'",
        "",
        "(" * 500 + "country == 'US'" + ")" * 500,
        "not " * 1000 + "country == 'US'",
        "age > 0 and " * 500 + "age > 0",
        "\x00",
    ],
)
def test_a_rule_of_anything_else_is_refused(rule):
    with pytest.raises(UsageError) as caught:
        parse_rule(rule, ["country", "age"])
    assert caught.value.key in {"input.rule_broken", "input.rule_refused", "input.rule_column"}
    assert caught.value.message("zh")


@given(st.text(max_size=60))
def test_no_text_does_anything_but_make_an_expression_or_a_refusal(text):
    try:
        expression = parse_rule(text, ["country", "age"])
    except UsageError:
        return
    assert RATERS.select(expression.alias("met"))["met"].null_count() == 0


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        ("country == 'US'", "uv"),
        ("country != 'US'", "c"),
        ("not (country == 'US')", "cx"),
        ("country in ('CN', \"FR\")", "c"),
        ("country not in ['US']", "c"),
        ("age > 20 and age <= 44", "uc"),
        ("20 < age < 40", "u"),
        ("age == 31", "u"),
        ("age == 31.0 or age == -1", "u"),
        ("age in (19, 44)", "vc"),
        ("age == '31'", "u"),
        ("country > 'A'", "uvc"),
        ("`country` == 'CN' or country == '`age`'", "c"),
        ("age in ()", ""),
    ],
)
def test_what_rules_mean(rule, met):
    assert "".join(RATERS.filter(parse_rule(rule, RATERS.columns))["rater_id"]) == met


def test_rule_names_and_unknown_columns():
    for rules, match in (
        (("country == 'US'",), "a rule has a name"),
        (("us:",), "a rule has a name"),
        (("us: country == 'US'", "us: country == 'CN'"), "named twice"),
        (("us: nation == 'US'",), "the column 'nation'.*country"),
    ):
        with pytest.raises(UsageError, match=match):
            read_corpus(CorpusOptions(LONG, raters=RATERS, pools=rules))


def test_columns_with_blanks_and_chinese_names():
    raters = table("rater_id,home country,国家", "u,US,美国", "v,US,美国", "c,CN,中国", "x,CN,中国")
    corpus = read_corpus(CorpusOptions(LONG, raters=raters, pools=("us: `home country` == 'US'", "cn: 国家 == '中国'")))
    assert corpus.pools == ("us", "cn")
    assert corpus.intake[0].excluded == {}


def test_items_left_out_by_rules_and_splits():
    items = table("item_id,copied,split,true_mu", "a,yes,test,1", "b,no,,1", "d,no,pilot,1", "e,no,test,1")
    long = two_pools("d,u,us,3", "e,u,us,2", "e,c,cn,3", "q,c,cn,3")
    corpus = read_corpus(CorpusOptions(long, items=items, exclude_items=("copied == 'yes'",), unknown_items="exclude"))
    assert dict(corpus.excluded_items) == {"a": "excluded_item", "d": "excluded_item"}
    assert corpus.items["item_id"].to_list() == ["b", "e"]
    assert corpus.intake[0].excluded == {"excluded_item": 3, "unknown_item": 1}
    assert corpus.intake[1].excluded == {"excluded_item": 2}
    assert "planted_columns" in keys(corpus)
    assert balanced(*corpus.intake)


def test_a_rule_that_nobody_meets_is_refused():
    rules = ("us: country == 'US'", "cn: country == 'cn'")
    with pytest.raises(UsageError, match="--pool cn: no rating meets the rule country == 'cn'"):
        read_corpus(CorpusOptions(LONG, raters=RATERS, pools=rules))


def test_pools_that_differ_by_capital_letters_alone_are_told():
    raters = table("rater_id,country", "u,Germany", "v,germany", "c,Japan", "x,Japan")
    assert "pools_alike" in keys(read_corpus(CorpusOptions(LONG, raters=raters, pool_column="country")))
    assert "pools_alike" not in keys(read_corpus(CorpusOptions(LONG, raters=RATERS, pool_column="country")))


def test_columns_that_are_named_in_an_error_are_the_users_own():
    with pytest.raises(InputError) as by_column:
        read_corpus(CorpusOptions(LONG, raters=RATERS, pool_column="land"))
    assert by_column.value.fields["value"] == "item_id, rater_id, question, country, age"
    with pytest.raises(UsageError) as by_rule:
        read_corpus(CorpusOptions(LONG, raters=RATERS, pools=("us: contry == 'US'",)))
    assert "raw" not in by_rule.value.fields["known"]
