from __future__ import annotations

import pytest
from tests.reporting import fake_experiment, fake_profile

from voirdire.reporting.report import render_html, render_markdown

PROFILES = {
    "two": fake_profile.two_pools,
    "six": fake_profile.six_pools,
    "none": fake_profile.no_judges,
    "factorial": fake_experiment.experiment,
}


@pytest.fixture(scope="session")
def profiles():
    return {name: make() for name, make in PROFILES.items()}


@pytest.fixture(scope="session", params=[(name, lang) for name in PROFILES for lang in ("en", "zh")], ids=str)
def page(request, profiles):
    """A rendered page with its profile, by profile and language."""
    name, lang = request.param
    return name, lang, render_html(profiles[name], lang)


@pytest.fixture(scope="session", params=[(name, lang) for name in PROFILES for lang in ("en", "zh")], ids=str)
def markdown(request, profiles):
    name, lang = request.param
    return name, lang, render_markdown(profiles[name], lang)
