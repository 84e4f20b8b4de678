"""What a web process must know before it can answer; goes from the command line to worker processes as one text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from voirdire.errors import UsageError

VARIABLE = "VOIRDIRE_ANNOTATION_SERVICE"
"""Environment variable by which worker processes get their settings."""

LOCAL = ("127.0.0.1", "localhost", "[::1]")
PORT = 8765


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the service finds its data and how it is reached.

    corpus : folder or items table; database : URL; study : file of the study, "" for the corpus's own
    pools, numbers : what the command line says of the study (see ``read_study``)
    host, port : where it listens; public_url : how browsers reach it when that differs, e.g. behind a proxy
    trusted_proxies : addresses whose X-Forwarded-For and X-Forwarded-Proto are believed
    lang : of the lead's pages
    """

    corpus: str
    database: str
    study: str = ""
    pools: tuple[str, ...] = ()
    raters_per_item: int | None = None
    items_per_rater: int | None = None
    repeats: int | None = None
    seed: int | None = None
    host: str = "127.0.0.1"
    port: int = PORT
    public_url: str = ""
    trusted_proxies: str = ""
    lang: str = "en"

    @property
    def url(self) -> str:
        """The address of the service without a slash at its end."""
        if self.public_url:
            return self.public_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        host = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host
        return f"http://{host}:{self.port}"

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by https, so that cookies are never sent otherwise."""
        return self.public_url.lower().startswith("https://")

    @property
    def root(self) -> str:
        """The path below which the service lies, "" for the whole host."""
        return urlsplit(self.url).path

    @property
    def shown_database(self) -> str:
        """The database's address without what a password stands in."""
        parts = urlsplit(self.database)
        if parts.password is None:
            return self.database
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=f"{parts.username or ''}@{host}").geturl()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names by which it may be asked, against pages that point a name of their own at this machine."""
        named = urlsplit(self.url).hostname or ""
        return tuple(dict.fromkeys((*LOCAL, "::1", self.host, named)))

    def to_text(self) -> str:
        """All of it as one text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """The settings that the command line left in the environment. KeyError when there are none."""
        held = json.loads(environment[VARIABLE])
        return cls(**{**held, "pools": tuple(held["pools"])})


def checked(settings: Settings) -> Settings:
    """The settings, or UsageError where they contradict each other.

    >>> checked(Settings("corpus", "sqlite:///a", public_url="https://rate.example.org/study/")).root
    '/study'
    """
    parts = urlsplit(settings.public_url)
    if settings.public_url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
        raise UsageError("web.public_url", value=settings.public_url)
    if not 0 < settings.port < 65536:
        raise UsageError("web.port", value=settings.port)
    return settings


def default_database(corpus: Path) -> str:
    """An SQLite file beside the tables of the corpus."""
    folder = corpus if corpus.is_dir() else corpus.parent
    return f"sqlite:///{folder.resolve() / 'annotation.sqlite'}"
