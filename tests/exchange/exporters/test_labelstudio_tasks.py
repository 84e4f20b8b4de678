"""Tasks for Label Studio, and the round trip: item ids, pools, questions, scales and every rating come back."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from tests.exchange import told_corpus

from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.errors import InputError, UsageError
from voirdire.exchange.importers.contract import ImportOptions
from voirdire.exchange.release import ReleaseOptions

QUESTIONS = """question,role,level,min,max,labels,positive,text.en,text.zh,labels.en,labels.zh
q1,evaluation,ordinal,-2,2,,,How usual is it?,有多常见？,,
hot,,nominal,,,yes;no,yes,Is it hot?,是热的吗？,Yes;No,是;否
when,,nominal,,,am;noon;pm,,When?,什么时候？,Morning;Noon;$5 & <later>,早上;中午;晚上
age,,ordinal,0,60,,,How old?,多老？,,
price,,interval,0,9.5,,,What price?,多少钱？,,
"""
ANSWERS = {"q1": "-2 -1 0 1 2", "hot": "yes no", "when": "am noon pm", "age": "0 17 60", "price": "0.25 9.5 3"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two items of two cultures, a demonstration, five questions; nobody has rated."""
    folder = tmp_path / "drinks"
    folder.mkdir()
    (folder / "items.csv").write_text(
        "item_id,culture,text.en,text.zh,split\n007,us,Coffee <b>to go</b> & $5,外带咖啡 ☕,\n粥,cn,Porridge,粥,\n"
        "shown,us,Water,水,demonstration\n",
        encoding="utf-8",
    )
    (folder / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "drinks"\nlanguages = ["en", "zh"]\n')
    return folder


def controls(config: str) -> dict[str, ET.Element]:
    """Controls of a config by name."""
    return {tag.attrib["name"]: tag for tag in ET.fromstring(config) if tag.tag in ("Choices", "Number", "TextArea")}


def answered(folder: Path, project: str, raters: tuple[int, ...]) -> tuple[Path, list[tuple[str, ...]]]:
    """The export that Label Studio writes when raters answer every control of every task, and what they said."""
    found, said = [], []
    tags = controls((folder / f"{project}.xml").read_text(encoding="utf-8"))
    for number, task in enumerate(json.loads((folder / f"{project}.json").read_text(encoding="utf-8")), start=1):
        made = []
        for rater in raters:
            results = []
            for name, tag in tags.items():
                values = ANSWERS[name].split()
                value = values[(number + rater) % len(values)]
                kind, given = "number", {"number": float(value)} if tag.tag == "Number" else {}
                if tag.tag == "Choices":
                    assert value in [choice.attrib["alias"] for choice in tag]
                    kind, given = "choices", {"choices": [value]}
                results.append({"from_name": name, "to_name": tag.attrib["toName"], "type": kind, "value": given})
                said.append((task["data"]["voirdire_item"], str(rater), task["data"]["voirdire_pool"], name, value))
            made.append({"completed_by": rater, "result": results, "was_cancelled": False, "ground_truth": False})
        found.append({"id": number, "data": task["data"], "annotations": made})
    file = folder.parent / f"{project}.export.json"
    file.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return file, said


def test_round_trip(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    export("labelstudio", corpus, out)
    us, said = answered(out, "project-us-en", (1, 2, 3))
    cn, more = answered(out, "project-cn-zh", (4, 5, 6))
    take_in(None, [us, cn], tmp_path / "back", ImportOptions(questions=out / "questions.csv"))
    back = pl.read_csv(tmp_path / "back" / "ratings.csv", infer_schema=False)
    assert back.select("item_id", "rater_id", "pool", "question", "rating").rows() == [*said, *more]
    assert set(back["item_id"]) == {"007", "粥"}
    read = read_corpus(CorpusOptions(tmp_path / "back"))
    assert read.pools == ("us", "cn")
    assert [(one.id, str(one.scale), one.role, one.text["zh"]) for one in read.questions] == [
        ("q1", "ordinal:-2:2", "evaluation", "有多常见？"),
        ("hot", "binary:no<yes", None, "是热的吗？"),
        ("when", "nominal:am/noon/pm", None, "什么时候？"),
        ("age", "ordinal:0:60", None, "多老？"),
        ("price", "interval:0:9.5", None, "多少钱？"),
    ]
    items = read.items.select("item_id", "text.en", "text.zh").rows()
    assert items == [("007", "Coffee <b>to go</b> & $5", "外带咖啡 ☕"), ("粥", "Porridge", "粥")]


def test_scales_come_back_from_the_config_alone(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    export("labelstudio", corpus, out)
    us, _ = answered(out, "project-us-en", (1, 2, 3))
    config = {"config": str(out / "project-us-en.xml")}
    take_in(None, [us], tmp_path / "back", ImportOptions(settings=config))
    scales = [str(one.scale) for one in read_corpus(CorpusOptions(tmp_path / "back")).questions]
    assert scales == ["ordinal:-2:2", "binary:no<yes", "nominal:am/noon/pm", "interval:0:60", "interval:0:9.5"]


def test_what_raters_see(corpus: Path, tmp_path: Path) -> None:
    export("labelstudio", corpus, tmp_path / "tasks")
    english = (tmp_path / "tasks" / "project-us-en.xml").read_text(encoding="utf-8")
    tags = controls(english)
    assert [(one.attrib["alias"], one.attrib["value"]) for one in tags["when"]] == [
        *(("am", "Morning"), ("noon", "Noon"), ("pm", "＄5 & <later>"))
    ]
    assert [one.attrib["value"] for one in tags["q1"]] == ["-2 – Not at all", "-1", "0", "1", "2 – Extremely"]
    assert tags["age"].attrib | {"slider": "true", "min": "0", "max": "60", "step": "1"} == tags["age"].attrib
    assert tags["price"].attrib["max"] == "9.5"
    chinese = json.loads((tmp_path / "tasks" / "project-cn-zh.json").read_text(encoding="utf-8"))
    assert [task["data"]["text"] for task in chinese] == ["外带咖啡 ☕", "粥"]
    assert chinese[0]["data"]["voirdire_question_1"] == "有多常见？"
    readme = (tmp_path / "tasks" / "README.md").read_text(encoding="utf-8")
    assert "project-cn-zh.export.json project-us-en.export.json --questions questions.csv" in readme
    assert "LOCAL_FILES" not in readme
    export("labelstudio", corpus, tmp_path / "chinese", lang="zh")
    assert "建立项目" in (tmp_path / "chinese" / "README.md").read_text(encoding="utf-8")


def test_images_are_local_files_and_nothing_of_raters_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    told_corpus.write(folder)
    (folder / "images" / "p00-us.png").rename(folder / "images" / "a 1.png")
    items = pl.read_csv(folder / "items.csv", infer_schema=False)
    items.with_columns(pl.col("image").replace({"images/p00-us.png": "images/a 1.png"})).write_csv(folder / "items.csv")
    written = export("labelstudio", folder, tmp_path / "tasks")
    tasks: list[dict[str, Any]] = json.loads((tmp_path / "tasks" / "project-us-en.json").read_text(encoding="utf-8"))
    assert len(tasks) == 12  # the ten demonstrations are not rated
    for task in tasks:
        path = task["data"]["image"].removeprefix("/data/local-files/?d=")
        assert (tmp_path / "tasks" / path).is_file()
        assert quote(path) == path
    view = ET.fromstring((tmp_path / "tasks" / "project-us-en.xml").read_text(encoding="utf-8"))
    assert (view[0].tag, view[0].attrib["value"]) == ("Image", "$image")
    everything = b"".join((tmp_path / "tasks" / file).read_bytes() for file in written.files)
    assert b"@x.org" not in everything
    assert b"grew up" not in everything


def test_pools_that_rated_before(corpus: Path, tmp_path: Path) -> None:
    (corpus / "items.csv").write_text("item_id,text.en\na,Tea\n")
    with pytest.raises(UsageError, match="Who shall rate is not known"):
        export("labelstudio", corpus, tmp_path / "tasks")
    (corpus / "ratings.csv").write_text("item_id,rater_id,pool,question,rating\na,u,农民,q1,1\na,v,town x,q1,1\n")
    written = export("labelstudio", corpus, tmp_path / "tasks")
    assert [name for name in written.files if name.endswith(".json")] == [
        *("project-pool-en.json", "project-town-x-en.json")
    ]


def test_pools_that_rated_before_are_read_as_the_corpus_says(corpus: Path, tmp_path: Path) -> None:
    """Whatever the file's ending and its columns are called; the raters table knows pools too; a corpus without any."""
    (corpus / "items.csv").write_text("item_id,text.en\na,Tea\n")
    ratings = corpus / "ratings.tsv"
    ratings.write_text("item_id\trater_id\tcrowd\tquestion\trating\na\tu\tus\tq1\t1\na\tv\tcn\tq1\t1\n")
    with pytest.raises(UsageError, match="Who shall rate is not known"):
        export("labelstudio", corpus, tmp_path / "none")
    settings = (corpus / "corpus.toml").read_text()
    (corpus / "corpus.toml").write_text(settings + '[read.map]\npool = "crowd"\n')
    assert {"project-us-en.json", "project-cn-en.json"} <= set(export("labelstudio", corpus, tmp_path / "a").files)
    (corpus / "corpus.toml").write_text(settings)
    (corpus / "raters.csv").write_text("rater_id,pool\nu,kr\nv,jp\n")
    assert {"project-kr-en.json", "project-jp-en.json"} <= set(export("labelstudio", corpus, tmp_path / "b").files)


def test_what_is_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it has no options but --out"):
        export("labelstudio", corpus, tmp_path / "tasks", ReleaseOptions(k=3))
    (corpus / "annotation.toml").write_text('[[pools]]\nname = "de"\nlanguages = ["de"]\n')
    with pytest.raises((InputError, UsageError)):
        export("labelstudio", corpus, tmp_path / "tasks")
    (corpus / "annotation.toml").unlink()
    (corpus / "items.csv").write_text("item_id,culture,alt.en\na,us,A cup\n")
    with pytest.raises(InputError, match="the item 'a' has no text in the language en and no image"):
        export("labelstudio", corpus, tmp_path / "tasks")
    (corpus / "items.csv").write_text("item_id,culture,text.en,level,min,max\na,us,Tea,ordinal,1,7\n")
    with pytest.raises(InputError, match="has a scale of its own"):
        export("labelstudio", corpus, tmp_path / "tasks")
    assert not (tmp_path / "tasks").exists()
