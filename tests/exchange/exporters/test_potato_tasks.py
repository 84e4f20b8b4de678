"""Projects for Potato, and the round trip: item ids, pools, questions, scales and every rating come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.exchange import told_corpus

from voirdire.app.exporting import export
from voirdire.app.importing import take_in
from voirdire.corpus.options import CorpusOptions
from voirdire.corpus.reading import read_corpus
from voirdire.exchange.importers.contract import ImportOptions

QUESTIONS = """question,role,level,min,max,labels,positive,text.en,text.zh,labels.en,labels.zh
q1,evaluation,ordinal,-2,2,,,How usual is it?,有多常见？,,
hot,,nominal,,,yes;no,yes,Is it hot?,是热的吗？,Yes;No,是;否
when,,nominal,,,am;noon;pm,,When?,什么时候？,Morning;Noon;$5 & <later>,早上;中午;晚上
age,,ordinal,0,60,,,How old?,多老？,,
price,,interval,0,9.5,,,What price?,多少钱？,,
"""
ANSWERS = {"q1": "-2 -1 0 1 2", "hot": "yes no", "when": "am noon pm", "age": "0 17 60", "price": "0.25 9.5 3"}
FIXED = {"slider": "slider", "number": "number"}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two items of two cultures, five questions; nobody has rated."""
    folder = tmp_path / "drinks"
    folder.mkdir()
    (folder / "items.csv").write_text(
        "item_id,culture,text.en,text.zh\n007,us,Coffee <b>to go</b> & $5,外带咖啡 ☕\n粥,cn,Porridge,粥\n",
        encoding="utf-8",
    )
    (folder / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "drinks"\nlanguages = ["en", "zh"]\n')
    return folder


def config_of(project: Path) -> Any:
    return json.loads((project / "config.yaml").read_text(encoding="utf-8"))


def answer(project: Path, raters: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Store what Potato stores when raters answer every scheme of every item, and give what they said."""
    said: list[tuple[str, ...]] = []
    schemes = config_of(project)["annotation_schemes"]
    items = [json.loads(line) for line in (project / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    for rater in raters:
        stored: dict[str, Any] = {}
        for number, item in enumerate(items):
            stored[item["id"]] = []
            for scheme in schemes:
                values = ANSWERS[scheme["name"]].split()
                value = values[(number + len(said)) % len(values)]
                labels = [label["name"] for label in scheme.get("labels", [])]
                assert not labels or value in labels
                label = FIXED.get(scheme["annotation_type"], value)
                stored[item["id"]].append([{"schema": scheme["name"], "name": label}, value])
                said.append((item["voirdire_item"], rater, item["voirdire_pool"], scheme["name"], value))
        folder = project / "annotation_output" / rater
        folder.mkdir(parents=True)
        state = {"user_id": rater, "instance_id_to_label_to_value": stored}
        (folder / "user_state.json").write_text(json.dumps(state, indent=2))
    return said


@pytest.mark.parametrize("told", [True, False])
def test_round_trip(corpus: Path, tmp_path: Path, told: bool) -> None:
    """With the questions table, and by the configs alone."""
    out, back = tmp_path / "projects", tmp_path / "back"
    export("potato", corpus, out)
    us, cn = out / "project-us-en", out / "project-cn-zh"
    said = [*answer(us, ("ann", "bo", "cy")), *answer(cn, ("丁", "戊", "己"))]
    take_in(None, [us, cn], back, ImportOptions(questions=out / "questions.csv" if told else None))
    ratings = pl.read_csv(back / "ratings.csv", infer_schema=False)
    assert sorted(ratings.select("item_id", "rater_id", "pool", "question", "rating").rows()) == sorted(said)
    read = read_corpus(CorpusOptions(back))
    assert read.pools == ("us", "cn")
    scales = [str(one.scale) for one in read.questions]
    slider = "ordinal:0:60" if told else "interval:0:60"
    assert scales == ["ordinal:-2:2", "binary:no<yes", "nominal:am/noon/pm", slider, "interval:0:9.5"]
    items = read.items.select("item_id", "text.en", "text.zh").rows()
    assert items == [("007", "Coffee <b>to go</b> & $5", "外带咖啡 ☕"), ("粥", "Porridge", "粥")]


def test_what_raters_see(corpus: Path, tmp_path: Path) -> None:
    export("potato", corpus, tmp_path / "out", lang="zh")
    config = config_of(tmp_path / "out" / "project-us-en")
    assert [field["key"] for field in config["instance_display"]["fields"]] == ["text"]
    when = config["annotation_schemes"][2]
    assert when["description"] == "When?"
    assert when["labels"][2] == {"name": "pm", "displayed_label": "$5 & <later>"}
    assert config["annotation_schemes"][3]["annotation_type"] == "slider"
    assert "voirdire import potato project-cn-zh project-us-en" in (tmp_path / "out" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("form", ["potato", "labelstudio"])
def test_the_answer_that_a_question_does_not_apply_is_in_the_raters_language(form: str, tmp_path: Path) -> None:
    """Chinese of every script and place is Chinese; a language that we have no words in reads English."""
    folder = tmp_path / "drinks"
    folder.mkdir()
    (folder / "items.csv").write_text("item_id,text.zh-Hans,text.zh-CN,text.ko\na,茶,茶,차\n", encoding="utf-8")
    (folder / "corpus.toml").write_text('name = "drinks"\n')
    (folder / "annotation.toml").write_text(
        '[[pools]]\nname = "cn"\nlanguages = ["zh-Hans", "zh-CN", "ko"]\n'
        'consent = { zh = "同意", ko = "동의" }\nagree = { zh = "是", ko = "예" }\nwelcome = { zh = "好", ko = "네" }\n'
        '[[questions]]\nid = "q1"\nlow = 1\nhigh = 3\nnot_applicable = true\n'
        'text = { zh-Hans = "好吗", zh-CN = "好吗", ko = "좋아요" }\n',
        encoding="utf-8",
    )
    export(form, folder, tmp_path / "out")
    name = "config.yaml" if form == "potato" else None
    for language, words in (("zh-Hans", "不适用"), ("zh-CN", "不适用"), ("ko", "Does not apply")):
        project = tmp_path / "out" / f"project-cn-{language}"
        written = (project / name if name else project.with_suffix(".xml")).read_text(encoding="utf-8")
        assert [one for one in ("不适用", "Does not apply") if one in written] == [words]


def test_images_go_along_and_nothing_of_raters_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    told_corpus.write(folder)
    written = export("potato", folder, tmp_path / "out")
    project = tmp_path / "out" / "project-us-en"
    items = [json.loads(line) for line in (project / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(items) == 12  # the ten demonstrations are not rated
    for item in items:
        assert (project / item["voirdire_image"].removeprefix("/media/")).is_file()
    assert config_of(project)["instance_display"]["fields"][0] == {"key": "voirdire_image", "type": "image"}
    everything = b"".join((tmp_path / "out" / file).read_bytes() for file in written.files)
    assert b"@x.org" not in everything
    assert b"grew up" not in everything
