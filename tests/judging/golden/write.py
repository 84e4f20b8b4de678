"""The golden files: every prompt of the named grids, in a form to be read.

Regenerate them after a change of texts that is meant, and read the difference: ``python -m tests.judging.golden.write``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from voirdire.corpus.shown import Item
from voirdire.judging.grid import load_grid
from voirdire.judging.nouns import AskedQuestion, Condition, Demonstration, Prompt, TextPart
from voirdire.judging.prompts import build_prompt, levels_of
from voirdire.scales import Scale

FOLDER = Path(__file__).resolve().parent
QUESTION = AskedQuestion("q1", Scale("ordinal", 1, 5), role="evaluation")
PROMPT = {"en": "How inviting is this dinner table?", "zh": "这张餐桌有多让人想坐下来吃饭？"}
IMAGE = Item("table_cn", PROMPT, image=Path("table_cn.png"))
TEXT = Item(
    "soup_us",
    {"en": "How comforting is this soup?", "zh": "这道汤有多暖心？"},
    {"en": "Chicken noodle soup with carrots & crackers.", "zh": "胡萝卜鸡肉面条汤，配几块苏打饼干。"},
)
RULE = "=" * 100


def pages() -> dict[str, str]:
    """Every golden file by its name."""
    baseline, designs = load_grid("paper-baseline").conditions, load_grid("paper-icl").conditions
    one_each = [condition for condition in designs if condition.name in ("us_basic_en", "neutral_zh")]
    return {
        "paper-baseline.image.txt": "".join(_page(IMAGE, baseline)),
        "paper-baseline.text.txt": "".join(_page(TEXT, baseline)),
        "paper-icl.image.txt": "".join(_page(IMAGE, one_each)),
        "paper-icl.text.txt": "".join(_page(TEXT, one_each)),
    }


def _page(item: Item, conditions: Sequence[Condition]) -> Iterator[str]:
    for condition in conditions:
        yield f"{RULE}\n{condition.full_name}  condition {condition.digest}\n{RULE}\n"
        first = _prompt(item, condition, 0)
        yield readable(first)
        for malformed in range(1, 6):
            yield f"--- added after malformed reply {malformed}\n{_added(first, _prompt(item, condition, malformed))}\n"


def _prompt(item: Item, condition: Condition, malformed: int) -> Prompt:
    shown = tuple(_demonstration(item, level) for level in range(1, 6)) if condition.demonstrations else ()
    return build_prompt(
        item,
        QUESTION,
        condition,
        levels=levels_of(QUESTION, item),
        malformed=malformed,
        demonstrations=shown,
        sha256_of=lambda path: f"{path.stem:0<64}",
    )


def _demonstration(item: Item, level: int) -> Demonstration:
    name = f"example_{level}"
    if item.image is not None:
        return Demonstration(Item(name, PROMPT, image=Path(f"{name}.png")), level)
    return Demonstration(Item(name, PROMPT, {"en": f"Soup number {level}.", "zh": f"第 {level} 种汤。"}), level)


def readable(prompt: Prompt) -> str:
    """A prompt as text; an image is a line with its name and digest."""
    lines = [
        part.text if isinstance(part, TextPart) else f"[image {part.path.name} sha256:{part.path.stem:0<64}]"
        for part in prompt.parts
    ]
    return "\n\n".join(lines) + f"\n\n[prompt {prompt.digest}]\n"


def _added(first: Prompt, later: Prompt) -> str:
    """What a later prompt has at its end; all before it is the same."""
    before, after = first.parts[-1], later.parts[-1]
    assert first.parts[:-1] == later.parts[:-1]
    assert isinstance(before, TextPart)
    assert isinstance(after, TextPart)
    assert after.text.startswith(before.text + "\n\n")
    return after.text.removeprefix(before.text).strip()


if __name__ == "__main__":
    for name, page in pages().items():
        (FOLDER / name).write_text(page, encoding="utf-8")
