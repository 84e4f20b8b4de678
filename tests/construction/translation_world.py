"""A small corpus with texts to translate, and a session at a server of the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.construction.building import build_text, make, pair
from tests.construction.mock_translator import KEY

from voirdire.app.build_translate import Translated, build_translate
from voirdire.judging.limits import Limits

ENVIRONMENT = {"VOIRDIRE_API_KEY": KEY}
QUICK = Limits(backoff=0.01, backoff_cap=0.05, cooldown=0.05)
NOTHING: Mapping[str, str] = MappingProxyType({})
MODEL = "compatible/m"
PRICES = '[[price]]\nmodel = "compatible/*"\ninput = 100\noutput = 1000\n'
CALL = (100 * 100 + 50 * 1000) / 1e6
"""What a call of the mock costs by these prices."""


def corpus(
    folder: Path, concepts: Sequence[str] = ("tea", "rice"), words: Mapping[str, str] = NOTHING, more: str = ""
) -> Path:
    """Concepts without Chinese questions; words : concept -> what stands in its question besides."""
    rows = [
        one
        for name in concepts
        for one in pair(name, prompt_en=f"Would {name} please you? {words.get(name, '')}".strip(), prompt_zh="")
    ]
    return make(folder, rows, build_text(more=more))


def translate(folder: Path, url: str, **options: Any) -> Translated:
    given = {"environment": ENVIRONMENT, "limits": QUICK, "base_url": url, "judge": MODEL, **options}
    return build_translate(folder, **given)


def states(folder: Path | Translated) -> dict[str, str]:
    from voirdire.construction.translation.verifying import read_standings

    found = folder.standings if isinstance(folder, Translated) else read_standings(folder)
    return {name: one.state for name, one in found.items()}
