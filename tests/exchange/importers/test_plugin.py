"""A package of somebody else's adds a format and a judge by entry points: nothing of voirdire knows it."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from voirdire import plugins
from voirdire.cli.main import run
from voirdire.corpus.reading import CorpusOptions, JudgmentOptions, read_corpus, read_judgments

PLUGIN = Path(__file__).parent / "plugin"
SHEET = "#tally q1\nm1: u1=4, u2=5, c1=1, 王五=2\nm2: u1=2, u2=, c1=5, 王五=pass\nm3: u1=3, u2=4, c1=2, 王五=1\n"


def forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "voirdire_tally"]:
        del sys.modules[name]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package as an installer leaves it: the module, and a .dist-info with its metadata and entry points."""
    site = tmp_path / "site"
    shutil.copytree(PLUGIN / "voirdire_tally", site / "voirdire_tally")
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    forget()  # the collection of doctests imports every module
    monkeypatch.syspath_prepend(str(site))
    yield site
    forget()


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tally").write_text(SHEET, encoding="utf-8")
    (tmp_path / "people.csv").write_text("rater,country\nu1,US\nu2,US\nc1,CN\n王五,CN\n", encoding="utf-8")
    return tmp_path / "a.tally"


def test_nothing_is_there_without_the_package() -> None:
    assert "tally" not in plugins.available(plugins.IMPORTERS)
    assert "tally" not in plugins.available(plugins.PROVIDERS)


def test_the_format_is_recognised_and_imported(
    installed: Path, sheet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", "a.tally", "--raters", "people.csv", "--pool-column", "country", "--out", "corpus"]) == 0
    assert Path(str(sys.modules["voirdire_tally.importer"].__file__)).is_relative_to(installed)
    assert capsys.readouterr().out == (
        "Recognised: sheets of tallies (tally).\n"
        "Answers: 12 read, 10 taken, 2 left out.\n"
        "  1 left out: no answer was given (a.tally: 3).\n"
        "  1 left out: the rater had passed the item on (a.tally: 3).\n"
        "  people.csv: what is known of 4 raters was joined; 0 raters are not in it, and 0 of its rows are of nobody "
        "who rated.\n"
        "Written to corpus: ratings 10, items 3, questions 1, raters 4.\n"
        "Next: voirdire validate corpus\n"
    )
    assert Path("corpus/ratings.csv").read_text(encoding="utf-8").splitlines() == [
        "item_id,rater_id,pool,question,rating",
        *("m1,u1,US,q1,4", "m1,u2,US,q1,5", "m1,c1,CN,q1,1", "m1,王五,CN,q1,2"),
        *("m2,u1,US,q1,2", "m2,c1,CN,q1,5"),
        *("m3,u1,US,q1,3", "m3,u2,US,q1,4", "m3,c1,CN,q1,2", "m3,王五,CN,q1,1"),
    ]


def test_its_settings_errors_and_old_files(installed: Path, sheet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "tally", "a.tally", "--set", "pased=yes", "--out", "corpus"]) == 3
    assert "the format tally knows no 'pased'. Known: passed, keep_ids." in capsys.readouterr().err
    sheet.write_text(SHEET + "no colon\n", encoding="utf-8")
    assert run(["import", "a.tally", "--out", "corpus"]) == 3
    assert "a.tally, line 5: the field 'line' is no colon: there is no colon." in capsys.readouterr().err
    assert run(["import", "a.tally", "--skip-broken", "--out", "corpus", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["answers"]["read"], document["answers"]["taken"]) == (13, 10)
    assert document["broken"][0]["fields"]["line"] == 5
    Path("old.tally").write_text("#tally0 q\n")
    assert run(["import", "old.tally", "--out", "old"]) == 3
    assert "nearly a file of the format tally: this is a tally of version 0" in capsys.readouterr().err


def test_a_package_that_cannot_be_imported_breaks_no_other(
    installed: Path, sheet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (installed / "voirdire_tally" / "importer.py").write_text("import there_is_no_such_package\n")
    Path("labels.csv").write_text("task,worker,label\na,u,1\na,v,2\n")
    assert run(["import", "labels.csv", "--one-pool", "all", "--out", "corpus"]) == 0
    said = capsys.readouterr().out
    assert "The importer 'tally' could not be asked whether it knows the file" in said
    assert "there_is_no_such_package" in said


def test_its_judge_runs_and_is_audited(installed: Path, sheet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "a.tally", "--raters", "people.csv", "--pool-column", "country", "--out", "corpus"]) == 0
    assert run(["run", "corpus", "--judge", "tally/words", "--out", "run"]) == 0
    judged = read_judgments(JudgmentOptions("run"), read_corpus(CorpusOptions("corpus"))).table
    assert set(judged.select("judge", "item_id", "status").rows()) == {
        ("tally/words", item, "ok") for item in ("m1", "m2", "m3")
    }
    assert run(["run", "corpus", "--judge", "nobody/words", "--out", "other"]) == 3
    assert "tally" in capsys.readouterr().err
