"""A profile is saved, read back and asked."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.analysis.builders import World, run

from voirdire.analysis.profile import Profile
from voirdire.errors import InputError, NotFoundError


@pytest.fixture(scope="module")
def profile() -> Profile:
    return run(World(2, judges=2, conditions=2, lost=0.3, culture=True).make())


def test_saved_and_read_back(profile: Profile, tmp_path: Path) -> None:
    profile.save(tmp_path / "deep" / "audit")
    for path in (tmp_path / "deep" / "audit", tmp_path / "deep" / "audit" / "profile.json"):
        read = Profile.load(path)
        assert read.estimates.equals(profile.estimates)
        assert read.estimates.schema == profile.estimates.schema
        assert read.distributions.equals(profile.distributions)
        assert read.items.equals(profile.items)
        assert read.specifications.height > 0
        assert read.specifications.equals(profile.specifications)
        assert read.specifications.schema == profile.specifications.schema
        assert read.meta == profile.meta
    table = pl.read_csv(tmp_path / "deep" / "audit" / "estimates.csv", infer_schema_length=None)
    assert table.columns == profile.estimates.columns
    assert table["value"].to_list() == profile.estimates["value"].to_list()
    json.loads((tmp_path / "deep" / "audit" / "profile.json").read_text(encoding="utf-8"))


def test_a_profile_without_judges_is_read_back(tmp_path: Path) -> None:
    made, _ = World(2, pools=1, raters=1).make()
    alone = run((made, None))
    alone.save(tmp_path)
    read = Profile.load(tmp_path)
    assert read.estimates.equals(alone.estimates)
    assert read.distributions.schema == alone.distributions.schema
    assert read.items.height == alone.items.height == 0


def test_a_profile_of_an_older_version_has_no_specifications(profile: Profile, tmp_path: Path) -> None:
    document = json.loads(profile.to_json())
    del document["specifications"]
    (tmp_path / "profile.json").write_text(json.dumps(document), encoding="utf-8")
    read = Profile.load(tmp_path)
    assert read.estimates.equals(profile.estimates)
    assert read.specifications.is_empty()
    assert read.specifications.schema == profile.specifications.schema


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 0}', '{"format": 1}', '{"format": 1, "estimates": 3, "meta": {}}']
)
def test_another_file_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(content)
    with pytest.raises(InputError) as raised:
        Profile.load(tmp_path)
    assert raised.value.key == "audit.profile_broken"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        Profile.load(tmp_path)
    assert raised.value.key == "audit.profile_missing"


def test_get(profile: Profile) -> None:
    where = {"pool": "p0", "judge": "j0", "condition": "c1"}
    found = profile.get("mae", **where)
    assert found.signature.on == {**where, "slice": "all"}
    assert found == profile.get("mae", question="q1", **where)
    assert found.interval is not None
    assert found.interval.method == "percentile"
    assert profile.get("tilt", params="form=ratio", pool="p0", pool_b="p1", judge="*", condition="*").value is not None


@pytest.mark.parametrize("wrong", [{"question": "q9"}, {"judge": "nobody"}, {"slice": "culture=xx"}, {"params": "a=b"}])
def test_get_of_what_is_not_there(profile: Profile, wrong: dict[str, str]) -> None:
    with pytest.raises(KeyError):
        profile.get("mae", **{"pool": "p0", "judge": "j0", "condition": "c1", **wrong})


def test_get_says_what_there_is(profile: Profile) -> None:
    with pytest.raises(NotFoundError, match="Give another pool; there are: 'p0', 'p1'"):
        profile.get("mae", pool="p9", judge="j0", condition="c1")
    with pytest.raises(NotFoundError, match="Give another statistic"):
        profile.get("mea", pool="p0", judge="j0", condition="c1")
    with pytest.raises(NotFoundError, match="Give another params"):
        profile.get("mae", params="a=b", pool="p0", judge="j0", condition="c1")


@pytest.mark.parametrize(
    ("given", "part", "known"),
    [
        ({"judge": "j0", "condition": "c1"}, "pool", "'p0', 'p1'."),
        ({"pool": "p0"}, "judge", "'*', 'j0', 'j1'"),
        ({"pool": "p0", "judge": "j0"}, "condition", "'c0'"),
    ],
)
def test_get_says_which_part_is_left_out(profile: Profile, given: dict[str, str], part: str, known: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        profile.get("mae", **given)
    message = caught.value.message("en")
    assert f"{part} is missing. Give one; there are: " in message
    assert known in message


def test_get_takes_the_only_row_when_its_params_are_left_out(profile: Profile) -> None:
    assert profile.get("alpha", pool="p0").signature.params.keys() == {"level"}


def test_short_text(profile: Profile) -> None:
    assert "pools p0, p1; 2 judges" in repr(profile)
