"""Which batch an export is of."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.web.running import InProcess

from voirdire.annotation.database import Database
from voirdire.errors import UsageError
from voirdire.web.serving import export_batch
from voirdire.web.settings import Settings


def refusal(settings: Settings, folder: Path, number: int | None = None) -> UsageError:
    with pytest.raises(UsageError) as error:
        export_batch(settings, folder, number)
    return error.value


def test_of_two_batches_one_must_be_named(inside: InProcess, tmp_path: Path):
    settings = inside.ready.settings
    assert export_batch(settings, tmp_path / "only")
    inside.here.new_batch()
    unnamed = refusal(settings, tmp_path / "out")
    assert unnamed.message().startswith("There are 2 batches. Name one with --batch: 1: ")
    assert unnamed.message("zh").startswith("共有 2 个批次。请用 --batch 指定一个：1: ")
    unknown = refusal(settings, tmp_path / "out", 7)
    assert unknown.message().startswith("There is no batch 7. Name one with --batch: 1: ")
    assert not (tmp_path / "out").exists()


def test_a_database_without_a_batch_is_told(corpus: Path, tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'empty.sqlite'}"
    Database.open(url).migrate()
    told = refusal(Settings(str(corpus), url), tmp_path / "out").message()
    assert "empty.sqlite holds no batch yet. Start the service once without --export" in told
