"""The authoring service: its pages, what stands around them, and starting it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI

from voirdire.annotation.database import Database
from voirdire.annotation.service_state import bind_building, set_lead
from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import read_concepts
from voirdire.construction.history import digest_of, read_history
from voirdire.construction.schedule import refuse_few
from voirdire.web import authoring_door, authoring_lead, authoring_pages, authoring_screening
from voirdire.web.application import surrounded
from voirdire.web.serving import lead_link, lead_secret
from voirdire.web.settings import Settings, checked
from voirdire.web.workshop import Workshop, open_workshop

MAX_BODY = 1024 * 1024
"""Texts of every culture and language, each as long as it may be, in a form whose letters take nine bytes."""
DATABASE_FILE = "authoring.sqlite"


@dataclass(frozen=True, slots=True)
class Ready:
    """A service that can be started; lead_link opens the lead's pages; concepts : how many there are."""

    settings: Settings
    build: BuildFile
    lead_link: str
    concepts: int


def database_of(folder: Path) -> str:
    """An SQLite file in the folder of the corpus."""
    return f"sqlite:///{folder.resolve() / DATABASE_FILE}"


def prepare(settings: Settings) -> Ready:
    """Make the database ready, and the lead's secret.

    Raises InputError for a folder that cannot be read and a team that is too small, UsageError for a database of
    another corpus.
    """
    settings = checked(settings)
    folder = Path(settings.corpus)
    build, concepts = read_build_file(folder), read_concepts(folder)
    refuse_few(build.authors)
    read_history(folder)
    database = Database.open(settings.database)
    try:
        database.migrate()
        bind_building(database, digest_of({"building": build.name}), build.name)
        secret = lead_secret()
        set_lead(database, secret)
    finally:
        database.dispose()
    return Ready(settings, build, lead_link(settings.url, secret), len(concepts.by_concept()))


def make_authoring_application(workshop: Workshop) -> FastAPI:
    """The authoring service in one process."""
    modules = (authoring_door, authoring_pages, authoring_lead, authoring_screening)
    return surrounded(workshop, modules, most=MAX_BODY, openapi=None)


def from_environment() -> FastAPI:
    """The application of a worker process."""
    return make_authoring_application(open_workshop(Settings.from_environment(os.environ)))
