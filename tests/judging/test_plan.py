from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.judging.engine_world import corpus, plan_of, repeated

from voirdire.judging.nouns import ImagePart, TextPart
from voirdire.judging.plan import KEPT_PROMPTS, Plan
from voirdire.judging.run_folder import differences
from voirdire.judging.steps import Cell


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    made = plan_of(corpus(tmp_path / "c"))
    made.run_id = "0011aabb"
    return made


def cell(item: str = "i0001", condition: str = "neutral_en", judge: str = "a") -> Cell:
    return Cell(12, item, condition, "q1", 1, judge)


def test_size(plan: Plan, tmp_path: Path) -> None:
    assert plan.size == 3 * 2 * 2
    assert plan_of(corpus(tmp_path / "c"), grid=repeated("paper-baseline", 3)).size == 3 * 10 * 2 * 3


def test_a_call_names_run_cell_and_attempt(plan: Plan) -> None:
    call = plan.call(cell(), 3, 1)
    assert (call.id, call.item.id, call.condition, call.design) == ("0011aabb-12-3", "i0001", "neutral_en", "base")
    assert call.levels == (1, 2, 3, 4, 5)
    assert call.factors["language"] == "en"


def test_a_prompt_shows_the_image_the_question_and_the_instruction(plan: Plan) -> None:
    prompt = plan.prompt(cell())
    image, text = prompt.parts
    assert isinstance(image, ImagePart)
    assert image.path.name == "0001.png"
    assert isinstance(text, TextPart)
    assert "picture 1 shows" in text.text
    assert prompt.digest != plan.prompt(cell(condition="neutral_zh")).digest


def test_a_prompt_tightens_and_is_the_same_for_every_judge(plan: Plan) -> None:
    digests = [plan.prompt(cell(), malformed).digest for malformed in range(6)]
    assert len(set(digests)) == 6
    assert plan.prompt(cell(judge="a")) is plan.prompt(cell(judge="b"))


def test_prompts_are_not_kept_for_ever(plan: Plan) -> None:
    for number in range(3 * KEPT_PROMPTS):
        plan.prompt(cell(condition=("neutral_en", "neutral_zh")[number % 2]), number)
        assert len(plan._prompts) <= KEPT_PROMPTS


def test_nothing_of_an_item_is_left_out_of_its_digest(plan: Plan) -> None:
    item = plan.items[0]
    before = plan._item_digest(item)
    assert differences(before, plan._item_digest(replace(item, prompts={**item.prompts, "en": "Other?"}))) == ("en",)
    assert differences(before, plan._item_digest(replace(item, alts={"zh": "图"}))) == ("zh",)
    assert differences(before, plan._item_digest(replace(item, image=plan.items[1].image))) == ("image",)
    assert differences(before, plan._item_digest(replace(item, scale=plan.questions[0].scale))) == ("scale",)
    assert differences(before, plan._item_digest(replace(item, texts={"fr": "Autre"}))) == ()


def test_a_judge_is_its_model_and_its_parameters(plan: Plan) -> None:
    def digest(**settings: object) -> str:
        return plan.nouns({"a": settings, "b": {}})["judge"][0][1]

    before = digest(parameters={"temperature": 0}, base_url="http://one")
    assert differences(before, digest(parameters={"temperature": 0}, base_url="http://two")) == ()
    assert differences(before, digest(parameters={"temperature": 1}, base_url="http://one")) == ("parameters",)


def test_without_designs_draws_do_not_matter(plan: Plan) -> None:
    assert plan.draws_digest() == ""
    assert plan.demonstrations(cell()) == ()
