from __future__ import annotations

from pathlib import Path

import pytest
from tests.construction.building import build_text, make, pair, pairs, row, write_rows

from voirdire.construction.build_file import read_build_file
from voirdire.construction.concepts import add_rows, read_concepts, rewrite
from voirdire.construction.template import begin
from voirdire.errors import InputError, UsageError


def test_items_of_concepts(tmp_path: Path) -> None:
    rows = [*pair("tea", split="pilot", alt_en="A cup"), row("rice", "us", prompt_zh="")]
    concepts = read_concepts(make(tmp_path, rows))
    assert [item.id for item in concepts.items] == ["tea-us", "tea-cn", "rice-us"]
    first, last = concepts.items[0], concepts.items[2]
    assert first.prompts == {"en": "Would tea please you?", "zh": "你会喜欢tea吗？"}
    assert (first.alts, first.split, first.category, first.row) == ({"en": "A cup"}, "pilot", "food", 2)
    assert last.prompts == {"en": "Would rice please you?"}
    assert concepts.languages == ("en", "zh")
    assert [len(items) for items in concepts.by_concept().values()] == [2, 1]


def test_a_table_of_a_spreadsheet_program(tmp_path: Path) -> None:
    """A byte order mark, semicolons and Windows line ends are read, and stay when cells are written."""
    path = make(tmp_path) / "concepts.csv"
    cells = "concept;category;culture;realisation;prompt.zh\r\n茶x;饮食;us;茶;好喝吗？\r\n".replace("茶x", "tea")
    path.write_bytes(b"\xef\xbb\xbf" + cells.encode())
    concepts = read_concepts(tmp_path)
    assert concepts.items[0].prompts == {"zh": "好喝吗？"}
    rewrite(tmp_path, concepts, {2: {"split": "test"}})
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    again = read_concepts(tmp_path)
    assert (again.table.delimiter, again.items[0].split, again.items[0].realisation) == (";", "test", "茶")


def test_half_filled_tables_are_read(tmp_path: Path) -> None:
    concepts = read_concepts(make(tmp_path, [{"concept": "tea", "culture": "us"}]))
    assert (concepts.items[0].realisation, concepts.items[0].category, dict(concepts.items[0].prompts)) == ("", "", {})
    assert read_concepts(make(tmp_path, [])).items == ()


@pytest.mark.parametrize(
    "name", ["../tea", "a/b", "tee é", "茶", "", ".tea", "a" * 65, "tea.", "-tea", "a b", "a\x00b"]
)
@pytest.mark.parametrize("column", ["concept", "culture"])
def test_names_that_are_no_file_names(tmp_path: Path, name: str, column: str) -> None:
    write_rows(make(tmp_path), [*pairs("good"), row("tea", "us") | {column: name}])
    with pytest.raises(InputError) as caught:
        read_concepts(tmp_path)
    assert caught.value.key in ("build.concepts.name_unsafe", "build.concepts.cell_empty")
    assert (caught.value.fields["row"], caught.value.fields["column"]) == (4, column)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [(("tea", "us"), ("tea", "us")), (("Tea", "us"), ("tea", "US")), (("tea-us", "us"), ("tea", "us-us"))],
)
def test_an_item_twice(tmp_path: Path, first: tuple[str, str], second: tuple[str, str]) -> None:
    """Also when only capital letters differ, and when two names meet in one id."""
    with pytest.raises(InputError, match=r"row 3.*row 2") as caught:
        read_concepts(make(tmp_path, [row(*first), row(*second)]))
    assert caught.value.key == "build.concepts.item_twice"


@pytest.mark.parametrize("column", ["concept", "category", "culture", "realisation"])
def test_a_missing_column(tmp_path: Path, column: str) -> None:
    rows = [{name: text for name, text in one.items() if name != column} for one in pairs("tea")]
    make(tmp_path)
    write_rows(tmp_path, rows, list(rows[0]))
    with pytest.raises(InputError) as caught:
        read_concepts(tmp_path)
    assert (caught.value.key, caught.value.fields["column"]) == ("build.concepts.column_missing", column)


def test_no_column_of_questions(tmp_path: Path) -> None:
    make(tmp_path)
    write_rows(tmp_path, [], ["concept", "category", "culture", "realisation"])
    with pytest.raises(InputError) as caught:
        read_concepts(tmp_path)
    assert caught.value.fields["column"] == "prompt.<lang>"


def test_rewriting_leaves_the_rest_alone(tmp_path: Path) -> None:
    told = [*pair("tea", remark='He said: "two, please"\nand left'), *pair("rice", remark="=1+1")]
    concepts = read_concepts(make(tmp_path, told))
    rewrite(tmp_path, concepts, {3: {"realisation": "新的", "prompt.en": ""}})
    now = read_concepts(tmp_path).table.frame.to_dicts()
    before = concepts.table.frame.to_dicts()
    before[1] |= {"realisation": "新的", "prompt.en": None}
    assert now == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_added_rows(tmp_path: Path) -> None:
    concepts = read_concepts(make(tmp_path, pairs("tea")))
    add_rows(tmp_path, concepts, "rice", "food", ("us", "cn"))
    assert [item.id for item in read_concepts(tmp_path).items] == ["tea-us", "tea-cn", "rice-us", "rice-cn"]
    for name, key in (("TEA", "new_known"), ("a/b", "new_unsafe")):
        with pytest.raises(UsageError) as caught:
            add_rows(tmp_path, concepts, name, "food", ("us", "cn"))
        assert caught.value.key == f"build.concepts.{key}"


def test_build_file(tmp_path: Path) -> None:
    more = "[balance]\nmax_ratio = 2\n[similar]\nen = 0.7\n[splits]\npilot = 3\n"
    more += '[images]\nmodel = "m"\n[[pool]]\nname = "us"'
    build = read_build_file(make(tmp_path, text=build_text(more=more)))
    assert (build.name, build.version, build.license) == ("small", "0.1", "CC-BY-4.0")
    assert (build.source_language, build.culture_names, build.authors) == ("en", ("us", "cn"), ("ana", "bo", "chen"))
    assert (build.balance.max_ratio, build.similar, build.splits.pilot) == (2, {"en": 0.7}, 3)
    assert build.section("images").text("model") == "m"
    assert build.sections("pool")[0].text("name") == "us"
    assert build.section("release").table == {}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("name = ", "input.toml_broken"),
        ("[[culture]]\nname='us'", "build.file.key_missing"),
        (build_text().replace('name = "small"', ""), "build.file.key_missing"),
        (build_text().replace("small", ""), "study.text_blank"),
        (build_text(languages=["english"]), "study.language_form"),
        (build_text(languages=[]), "study.kind"),
        (build_text(team=["ana", "Ana"]), "study.value_twice"),
        (build_text().replace('"cn"', '"US"'), "build.file.culture_twice"),
        (build_text().split('[[culture]]\nname = "cn"')[0], "build.file.cultures_few"),
        (build_text().replace('name = "us"', 'name = "../us"'), "build.file.name_unsafe"),
        (build_text().replace('language = "en"', 'language = "fr"'), "study.value_unknown"),
        (build_text().replace('"0.1"', '"../0.1"'), "study.value_form"),
        (build_text(more="[balanse]"), "study.key_unknown"),
        (build_text(more="[balance]\nmax_ratio = 0.5"), "study.number_range"),
        (build_text(more="[balance]\nmost = 3"), "study.key_unknown"),
        (build_text(more="[splits]\npilot = -1"), "study.number_range"),
        (build_text(more="[splits]\npilot = true"), "study.kind"),
        (build_text(more="[similar]\nen = 2"), "study.number_range"),
        (build_text(more="[similar]\nEnglish = 0.5"), "study.language_form"),
        (build_text().replace("license", "balance = 3\nlicense"), "study.kind"),
    ],
)
def test_what_cannot_stand_in_the_build_file(tmp_path: Path, text: str, key: str) -> None:
    make(tmp_path, text=text)
    with pytest.raises(InputError) as caught:
        read_build_file(tmp_path)
    assert caught.value.key == key
    for lang in ("en", "zh"):
        assert "build.toml" in caught.value.message(lang)


def test_no_build_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="voirdire build new"):
        read_build_file(tmp_path)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_folder_to_begin_with(tmp_path: Path, lang: str) -> None:
    begin(
        tmp_path / "new",
        cultures=["us=en", "cn=zh", "x.1=fr"],
        authors=["a", "b", "c"],
        languages=["en", "fr", "zh"],
        lang=lang,
    )
    build, concepts = read_build_file(tmp_path / "new"), read_concepts(tmp_path / "new")
    assert (build.name, build.languages, build.authors) == ("new", ("en", "fr", "zh"), ("a", "b", "c"))
    assert [item.culture for item in concepts.items] == ["us", "cn", "x.1"]
    assert concepts.items[2].realisation == ""
    assert set(concepts.items[0].prompts) == {"en", "zh"}
    with pytest.raises(UsageError, match="exists"):
        begin(tmp_path / "new")


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"cultures": ["us", "cn=zh"]}, "culture_form"),
        ({"cultures": ["../us=en", "cn=zh"]}, "culture_form"),
        ({"cultures": ["us=en"]}, "cultures_few"),
        ({"cultures": ["us=en", "US=en"]}, "cultures_few"),
        ({"cultures": ["de=deutsch", "cn=zh"]}, "culture_language"),
        ({"authors": ["ana", "bo"]}, "authors_few"),
        ({"authors": ["ana", "bo", "Ana"]}, "author_twice"),
        ({"languages": ["en"]}, "language_missing"),
        ({"languages": ["en", "zh", "English"]}, "language_form"),
    ],
)
def test_a_folder_that_cannot_be_begun(tmp_path: Path, given: dict[str, list[str]], key: str) -> None:
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "new", **given)
    assert caught.value.key == f"build.new.{key}"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_table_of_a_spreadsheet_keeps_its_line_ends(tmp_path: Path, ends: str) -> None:
    file = make(tmp_path, pair("tea", realisation="hot\ntea")) / "concepts.csv"
    told = file.read_bytes().replace(b"\r\n", b"\n")
    rows = told.replace(b"hot\ntea", b"@").replace(b"\n", ends.encode())
    file.write_bytes(b"\xef\xbb\xbf" + rows.replace(b"@", b"hot\ntea"))
    rewrite(tmp_path, read_concepts(tmp_path), {2: {"category": "drink"}})
    after = file.read_bytes()
    assert after.startswith(b"\xef\xbb\xbfconcept,")
    assert (after.count(b"\r\n"), after.count(b"\n")) == ((3, 5) if ends == "\r\n" else (0, 5))
