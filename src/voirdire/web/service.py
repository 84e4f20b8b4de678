"""What every request works on: the database, the corpus, the study for new batches, and the keys for signing."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from itsdangerous import URLSafeTimedSerializer
from starlette.requests import Request

from voirdire.annotation.database import Database
from voirdire.annotation.material import Shown, read_shown
from voirdire.annotation.nouns import Study
from voirdire.annotation.service_state import ServiceState, service_state, signed
from voirdire.annotation.study_file import StudyRead, find_study
from voirdire.web.settings import Settings

IMAGE_KEY_LENGTH = 24


@dataclass(frozen=True)
class Host:
    """What answers requests: settings, and how it is called on its pages."""

    settings: Settings
    name: ClassVar[str] = "voirdire"
    """The first part of the names of its cookies, which browsers share between the ports of a machine."""
    title: ClassVar[str] = "rating.title"
    """Key of what it is called on pages that belong to nobody."""
    home: ClassVar[str] = ""
    """Key of what leads from there to the first page; empty where there is none for everybody."""

    def close(self) -> None:
        """Give back what it holds when the process ends."""


@dataclass(frozen=True)
class Served(Host):
    """What every service has that keeps something: a database, the keys for signing."""

    database: Database
    state: ServiceState
    started: float = field(default_factory=time.time, kw_only=True)

    def close(self) -> None:
        """Close the connections to the database."""
        self.database.dispose()

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    @cached_property
    def session_signer(self) -> URLSafeTimedSerializer:
        """Signs what cookies hold."""
        return URLSafeTimedSerializer(self.state.signing_key, salt=f"{self.name}.session")


@dataclass(frozen=True)
class Service(Served):
    """One process of the annotation service.

    shown : the items as raters see them; study : what new batches start from
    """

    shown: Shown
    study: Study

    def image_key(self, item_id: str) -> str:
        """What stands for an item in the address of its image: 24 hex digits that tell nothing of it."""
        return signed(self.database, "image", item_id)[:IMAGE_KEY_LENGTH]

    def item_of_image(self, key: str) -> str | None:
        """The item with this image key; None when there is none."""
        return self._by_image_key.get(key)

    @cached_property
    def _by_image_key(self) -> dict[str, str]:
        return {self.image_key(name): name for name, item in self.shown.items.items() if item.image is not None}


def open_service(settings: Settings) -> Service:
    """Read the corpus and the study, and open the database, which must have been prepared.

    Raises InputError and UsageError as ``read_shown``, ``find_study`` and ``Database.open`` do.
    """
    shown = read_shown(Path(settings.corpus))
    study = study_of(settings, shown).study
    database = Database.open(settings.database)
    return Service(settings, database, service_state(database), shown, study)


def study_of(settings: Settings, shown: Shown) -> StudyRead:
    """The study that the corpus, the study file and the command line describe."""
    numbers = {
        "raters_per_item": settings.raters_per_item,
        "items_per_rater": settings.items_per_rater,
        "repeats": settings.repeats,
        "seed": settings.seed,
    }
    file = Path(settings.study) if settings.study else None
    return find_study(Path(settings.corpus), shown, file=file, pools=settings.pools, numbers=numbers)


def host_of(request: Request) -> Host:
    """What answers a request, whichever of our services it is."""
    found: Host = request.app.state.service
    return found


def served_of(request: Request) -> Served:
    """What answers a request, of the services that keep something."""
    found: Served = request.app.state.service
    return found


def service_of(request: Request) -> Service:
    """The annotation service that answers a request; a dependency of endpoints."""
    found: Service = request.app.state.service
    return found
