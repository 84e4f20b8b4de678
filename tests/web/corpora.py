"""Small corpora to rate: drawings in two languages, in concept pairs."""

from __future__ import annotations

import csv
from pathlib import Path

from PIL import Image, ImageDraw

THINGS = (
    ("bowl", "a family breakfast", "家庭早餐"), ("cup", "an afternoon break", "下午茶歇"),
    ("house", "a family home", "普通住宅"), ("lamp", "a quiet evening", "安静的夜晚"),
    ("coat", "a cold winter", "寒冷的冬天"), ("gate", "a city park", "城市公园"),
)  # fmt: skip
CULTURES = ("us", "cn")
WARM, COOL = ("#b5482e", "#e7c9a9", "#5a2a1c"), ("#2f5f8a", "#cfdde8", "#1d3a55")
SIZE = (640, 480)

STUDY = """\
raters_per_item = 2

[[pools]]
name = "us"
languages = ["en", "zh"]
title = { en = "Everyday things", zh = "日常事物" }
completion_code = "VD-7F3K"
completion_url = "https://platform.example.org/complete?code=VD-7F3K"

[[pools]]
name = "cn"
languages = ["zh", "en"]
title = { en = "Everyday things", zh = "日常事物" }
completion_code = "VD-7F3K"
"""

SCREENING = """
[[screening]]
id = "hours"
text = { en = "How many hours a week do you use social media?", zh = "您每周使用社交媒体多少小时？" }
options = [
  { value = "below-10", text = { en = "Below 10", zh = "少于 10 小时" } },
  { value = "10-or-more", text = { en = "10 or more", zh = "10 小时及以上" } },
]
accept = ["10-or-more"]
keep = true

[[screening]]
id = "languages"
kind = "many"
text = { en = "Which languages do you read fluently?", zh = "您能流利阅读哪些语言？" }
options = [
  { value = "en", text = { en = "English", zh = "英语" } },
  { value = "zh", text = { en = "Chinese", zh = "中文" } },
  { value = "none", text = { en = "Neither", zh = "都不能" } },
]
accept = ["en", "zh"]
"""

EVERY_WIDGET = """
[[questions]]
id = "q1"
role = "evaluation"
widget = "buttons"
low = 1
high = 5
text = { en = "How good is it?", zh = "它有多好？" }
low_end = { en = "Not at all", zh = "完全不" }
high_end = { en = "Extremely", zh = "非常" }
not_applicable = true
comment = true

[[questions]]
id = "q2"
widget = "slider"
low = -2
high = 2
text = { en = "Where does it belong?", zh = "它更接近哪一边？" }
low_end = { en = "Left", zh = "左边" }
high_end = { en = "Right", zh = "右边" }

[[questions]]
id = "sure"
widget = "slider"
low = 0
high = 100
text = { en = "How sure are you?", zh = "您有多确定？" }
low_end = { en = "Not sure", zh = "不确定" }
high_end = { en = "Sure", zh = "确定" }
not_applicable = true

[[questions]]
id = "kind"
widget = "choice"
text = { en = "What is it?", zh = "这是什么？" }
options = [
  { value = "food", text = { en = "Food or drink", zh = "饮食" } },
  { value = "thing", text = { en = "A thing", zh = "物品" } },
  { value = "place", text = { en = "A place", zh = "地点" } },
]
help = { en = "Choose what comes nearest.", zh = "请选择最接近的一项。" }

[[questions]]
id = "years"
widget = "number"
low = 0
high = 100
text = { en = "For how many years have you known it?", zh = "您知道它多少年了？" }
not_applicable = true

[[questions]]
id = "remark"
widget = "text"
text = { en = "Anything to add?", zh = "还有什么要补充的吗？" }
"""


MANY_LEVELS = """
[[questions]]
id = "eleven"
widget = "buttons"
low = 0
high = 10
text = { en = "How good is it?", zh = "它有多好？" }
low_end = { en = "The worst that one can think of", zh = "能想到的最差" }
high_end = { en = "The best that one can think of", zh = "能想到的最好" }

[[questions]]
id = "seven"
widget = "slider"
low = -3
high = 3
text = { en = "Where does it belong?", zh = "它更接近哪一边？" }

[[questions]]
id = "words"
widget = "buttons"
low = 1
high = 3
text = { en = "Do you agree?", zh = "您同意吗？" }
options = [
  { value = "1", text = { en = "I disagree", zh = "不同意" } },
  { value = "2", text = { en = "I am undecided", zh = "不确定" } },
  { value = "3", text = { en = "I agree", zh = "同意" } },
]
"""


def drawing(file: Path, place: int, colours: tuple[str, str, str]) -> None:
    """A plain scene of its own for each place."""
    fill, ground, line = colours
    image = Image.new("RGB", SIZE, ground)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 340, 640, 480), fill="#ffffff")
    shapes = (
        lambda: draw.chord((180, 140, 460, 420), 0, 180, fill=fill, outline=line, width=6),
        lambda: draw.rounded_rectangle((230, 180, 410, 390), 30, fill=fill, outline=line, width=6),
        lambda: draw.polygon(((320, 80), (480, 220), (480, 380), (160, 380), (160, 220)), fill=fill, outline=line),
        lambda: draw.polygon(((260, 120), (380, 120), (450, 270), (190, 270)), fill=fill, outline=line),
        lambda: draw.rounded_rectangle((210, 120, 430, 420), 40, fill=fill, outline=line, width=6),
        lambda: draw.arc((160, 120, 480, 640), 180, 360, fill=fill, width=40),
    )
    shapes[place % len(shapes)]()
    image.save(file)


def build_texts(folder: Path, study: str = STUDY) -> Path:
    """Write a corpus of six texts without images."""
    folder.mkdir(parents=True)
    rows = [["item_id", "culture", "prompt.en", "prompt.zh", "text.en", "text.zh"]]
    for thing, english, chinese in THINGS:
        texts = [f"A note on the {thing}.\n\nIt is part of {english}.", f"关于“{chinese}”的一段话。"]
        rows.append([f"{thing}-text", CULTURES[len(rows) % 2], "How well is it said?", "写得有多好？", *texts])
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    (folder / "corpus.toml").write_text('name = "texts"\nlanguages = ["en", "zh"]\n', encoding="utf-8")
    (folder / "annotation.toml").write_text(study, encoding="utf-8")
    return folder


def build(folder: Path, study: str = STUDY) -> Path:
    """Write a corpus of 12 items in 6 pairs, with a study of two pools."""
    (folder / "images").mkdir(parents=True)
    rows = []
    for place, (thing, english, chinese) in enumerate(THINGS):
        for culture in CULTURES:
            file = f"images/{thing}-{culture}.png"
            drawing(folder / file, place, WARM if culture == "us" else COOL)
            rows.append(
                {
                    "item_id": f"{thing}-{culture}",
                    "pair_id": f"pair-{thing}",
                    "culture": culture,
                    "category": "indoors" if place % 2 else "outdoors",
                    "image": file,
                    "prompt.en": f"How typical is this {thing} of {english}?",
                    "prompt.zh": f"对于“{chinese}”，图中的事物有多典型？",
                    "alt.en": f"A plain drawing of a {thing}." if place else "",
                    "alt.zh": f"一幅简单的图画（{chinese}）。" if place else "",
                }
            )
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (folder / "corpus.toml").write_text('name = "things"\nlanguages = ["en", "zh"]\n', encoding="utf-8")
    (folder / "annotation.toml").write_text(study, encoding="utf-8")
    return folder
