"""An installed package adds a statistic through its entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.analysis.builders import QUICK, World

from voirdire.analysis.evaluate import evaluate
from voirdire.errors import UsageError
from voirdire.statistic import REGISTRY

MODULE = '''
"""The share of exact hits."""
import numpy as np

from voirdire.statistic import additive, empty, ratio
from voirdire.stats.features import feature


@feature("judge_pool")
def exact_hit(f, k):
    """1 where the judge gives the consensus."""
    return f.answered & f.pools.has[k] & (np.abs(f.rating - f.pools.mean[k]) < 1e-9)


@additive("exact", per="judge_pool", features=("exact_hit", "rated"), n_of=1, undefined=(empty(1),), sliced=True)
def exact(hit, rated):
    """Share of items on which the judge gives the consensus exactly."""
    return ratio(hit, rated)
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package on the path with an entry point of the group."""
    info = tmp_path / "voirdire_exact-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: voirdire-exact\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[voirdire.statistics]\nexact = voirdire_exact:exact\n")
    (tmp_path / "voirdire_exact.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("voirdire_exact", None)
    REGISTRY.pop(("exact", ""), None)


def test_the_statistic_of_a_package_is_computed(installed: Path) -> None:
    made = World(1, judges=1, culture=True).make()
    profile = evaluate(*made, QUICK)
    copy = profile.get("exact", pool="p0", judge="control:copy_p0", condition="-")
    assert (copy.value, copy.n) == (1.0, 6)
    own = profile.get("exact", pool="p0", judge="j0", condition="c0", slice="culture=us")
    assert own.value is not None
    assert 0 <= own.value <= 1
    assert evaluate(*made, QUICK).estimates.equals(profile.estimates)


def test_a_broken_package_is_named(installed: Path) -> None:
    (installed / "voirdire_exact.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(UsageError) as raised:
        evaluate(*World(1).make(), QUICK)
    assert raised.value.key == "plugins.broken"


def test_without_it_there_is_none() -> None:
    assert ("exact", "") not in REGISTRY
