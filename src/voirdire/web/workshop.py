"""What every request of the authoring pages works on: a corpus that is being built, and the keys for signing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from starlette.requests import Request

from voirdire.annotation.database import Database
from voirdire.annotation.service_state import service_state
from voirdire.construction.build_file import BuildFile, read_build_file
from voirdire.construction.concepts import Concepts, read_concepts
from voirdire.construction.history import History, read_history
from voirdire.web.service import Served
from voirdire.web.settings import Settings


@dataclass(frozen=True, slots=True)
class Bench:
    """The folder as it stands at a request."""

    folder: Path
    build: BuildFile
    concepts: Concepts
    history: History


@dataclass(frozen=True)
class Workshop(Served):
    """One process of the authoring service. The folder is read anew at each request: others write into it too."""

    name: ClassVar[str] = "voirdire-build"
    title: ClassVar[str] = "authoring.page.title"
    home: ClassVar[str] = "authoring.page.all"

    @property
    def folder(self) -> Path:
        """The folder of the corpus."""
        return Path(self.settings.corpus)

    def bench(self) -> Bench:
        """What stands in the folder now. Raises InputError for what cannot be read."""
        folder = self.folder
        return Bench(folder, read_build_file(folder), read_concepts(folder), read_history(folder))


def open_workshop(settings: Settings) -> Workshop:
    """Open the database, which must have been prepared."""
    database = Database.open(settings.database)
    return Workshop(settings, database, service_state(database))


def workshop_of(request: Request) -> Workshop:
    """The authoring service that answers a request."""
    found: Workshop = request.app.state.service
    return found
