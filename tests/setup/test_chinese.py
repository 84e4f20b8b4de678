"""The Chinese catalogue: one word for each term of the field, Chinese punctuation, nothing left in English."""

from __future__ import annotations

import re

import pytest

from voirdire.texts import catalogue

HAN = "\u4e00-\u9fff"
CODE = re.compile(
    r"\{\{.*?\}\}|\{[^}]*\}|`[^`]*`|--[\w-]+|\[\[?[\w.]+\]\]?|\S*[=|]\S*"
    r"|\b\w+\.(?:csv|json|jsonl|toml|html|md|parquet|sqlite)\b|voirdire(?: build)? \w+|\w+/[\w/]+|\b\w+_\w+\b"
)
"""Fields, commands, options, file and column names: they are not translated."""

TERMS = {
    r"pools?": ("群体", {"lead.export.file.ratings_parquet", "lead.export.file.raters_csv"}),
    r"consensus(?:es)?": ("共识", set()),
    r"reliability": ("信度", set()),
    r"noise floor": ("噪声底", set()),
    r"tilt": ("倾斜", set()),
    r"orientation": ("取向", set()),
    r"permissiveness": ("宽容度", set()),
    r"image effect": ("图像效应", set()),
    r"gate": ("关卡", set()),
    r"slices?": ("切片", set()),
    r"anchors?": ("锚定", set()),
    r"control judges?": ("对照评判模型", set()),
    r"estimates?": ("估计", set()),
    r"signatures?": ("签名", set()),
    r"digests?": ("摘要", set()),
    r"profiles?": ("画像", set()),
    r"undefined": ("无定义", set()),
    r"malformed": ("无法解读", {"simulation.spec.shares"}),
    r"personas?": ("人设", {"cli.option.conditions", "cli.option.factor_role"}),
    r"demonstrations": ("示例", {"cli.option.factor_role"}),
    r"grids?": ("网格", set()),
    r"ledger": ("账本", set()),
    r"pilot": ("试评", set()),
    r"regimes?": ("图像来源", set()),
    r"position bias": ("位置偏差", set()),
    r"covariates?": ("协变量", set()),
    r"providers?": ("服务商", set()),
    r"corpora|corpus": ("语料库", set()),
    r"datasheets?": ("数据说明书", set()),
    r"token counts?|tokens": ("词元", set()),
}
"""A term in English: its word in Chinese, and the sentences that do without it because the term is code there."""

DROPPED = {
    "审查": "审计 (datasheet.field.ethics is another review)",
    "评判者": "评判模型",
    "评委": "评判模型",
    "裁判": "评判模型",
    "评价者": "评分者",
    "人群": "群体",
    "提供商": "服务商",
    "提供方": "服务商",
    "示范": "示例",
    "未定义": "无定义",
    "可靠性": "信度",
    "概况": "画像",
    "重采样": "重抽样",
    "量表分值": "量表分",
    "测量层次": "测量水平",
    "位评分者": "名评分者",
    "哈希": "散列",
    "你": "您 (a model is asked with 你)",
}
"""Words that an earlier version had beside the chosen one."""
DROPPED_BUT = {
    ("审查", "datasheet.field.ethics"),
    ("你", "translation.prompt.rules"),
    ("你", "translation.prompt.again"),
    ("你", "cli_translate.verify.example"),
}

SAME = {
    "cli.note.info",
    "cli_run.kind.rate_limit",
    "importing.done.rows",
    "lead.time.none",
    "report_experiment.best.value",
    "report_experiment.origin.g1",
    "room.title",
    "room_profiles.field.n",
    "statistics.mae.name",
    "statistics.pearson.name",
    "statistics.tilt.name",
}
"""Sentences of symbols, fields and names alone."""

KEYS = r"room_items\.key\.\w+\.keys"
"""What stands on the keys of a keyboard."""

FORMS = ("低:高", "低,中,高", "模块:函数", ".py:函数", "constant:等级", "copy:群体", "名称=语言,语言")
"""Values of options, as they are typed."""


def plain(sentence: str) -> str:
    """An English sentence without what is not translated, examples without the command; its first letter is small."""
    sentence = CODE.sub(" ", "" if sentence.startswith("Example: ") else sentence)
    return sentence[:1].lower() + sentence[1:]


def typed(sentence: str) -> str:
    """A Chinese sentence without what a reader types: code in backticks and forms of options."""
    for form in FORMS:
        sentence = sentence.replace(form, "")
    return re.sub(r"`[^`]*`", "", sentence)


@pytest.mark.parametrize("term", TERMS)
def test_a_term_has_one_word(term: str) -> None:
    word, but = TERMS[term]
    english, chinese = catalogue("en"), catalogue("zh")
    found = [key for key in english if re.search(rf"\b(?:{term})\b", plain(english[key]))]
    assert found
    assert [f"{key}: {chinese[key]}" for key in found if word not in chinese[key] and key not in but] == []


def test_dropped_words_stay_dropped() -> None:
    found = [
        f"{key}: {word}, write {instead}"
        for key, sentence in catalogue("zh").items()
        for word, instead in DROPPED.items()
        if word in sentence and (word, key) not in DROPPED_BUT
    ]
    found += [f"{key}: write 语料库" for key, sentence in catalogue("zh").items() if re.search("语料(?!库)", sentence)]
    assert found == []


def test_punctuation_beside_chinese_is_chinese() -> None:
    wrong = re.compile(rf"[{HAN}][,;:!?()]|[,;:!?()][{HAN}]|[{HAN}]\.(?:\s|$)|'\{{\w+\}}'(?! 将)")
    assert [f"{key}: {value}" for key, value in catalogue("zh").items() if wrong.search(typed(value))] == []


def test_blanks_stand_between_scripts_and_not_beside_chinese_punctuation() -> None:
    tight = re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]")
    loose = re.compile(r"[^\S\n][，。：；（）“”、！？](?<!- “)|[，。：；）”、！？][^\S\n]")
    found = [
        f"{key}: {value}"
        for key, value in catalogue("zh").items()
        if tight.search(re.sub(r"\{[^}]*\}", "", typed(value))) or loose.search(re.sub(r"`[^`]*`", "x", value))
    ]
    assert found == []


def test_no_sentence_was_left_in_english() -> None:
    english, chinese = catalogue("en"), catalogue("zh")
    same = {key for key in english if english[key] == chinese[key] and not re.fullmatch(KEYS, key)}
    assert same <= SAME
    assert [key for key in english if english[key][:1] != " " and re.match(r"Example: ", english[key]) and not
            chinese[key].startswith("示例：")] == []  # fmt: skip


def test_the_finders_find() -> None:
    assert plain("Profiles of items.csv") == "profiles of  "
    assert "pool" not in plain("--pool us=en {pool} pool_b=1 `pool`")
    assert typed("请写 --scale 低:高，`a:b`。") == "请写 --scale ，。"
