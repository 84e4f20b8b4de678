"""A PostgreSQL of the tests' own, in a temporary folder, which can be stopped, restarted and killed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path

import psycopg

SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
    "log_min_messages": "fatal",
}


def programs() -> Path | None:
    """The folder of PostgreSQL's programs: VOIRDIRE_POSTGRES, that of ``postgres`` on the path, or Debian's."""
    named = os.environ.get("VOIRDIRE_POSTGRES")
    found = shutil.which("postgres")
    places = [*([Path(named)] if named else []), *([Path(found).parent] if found else [])]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


class Cluster:
    """A database server on a free port of 127.0.0.1.

    settings : of postgresql.conf, besides those of the tests
    """

    def __init__(self, **settings: str) -> None:
        found = programs()
        if found is None:
            raise LookupError("initdb")
        self.bin = found
        self.folder = Path(tempfile.mkdtemp(prefix="voirdire-postgres-"))
        self.user = _user()
        if self.user is not None:
            shutil.chown(self.folder, self.user)
        self.data = self.folder / "data"
        self.port = _free_port()
        self._run("initdb", "-D", self.data, "-U", "voirdire", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        lines = [f"{name} = '{value}'" for name, value in {**SETTINGS, **settings}.items()]
        lines += [f"port = {self.port}", f"unix_socket_directories = '{self.folder}'"]
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("\n".join(["", *lines, ""]))

    def start(self) -> None:
        """Start, and wait until connections are taken."""
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", "60", "start")

    def stop(self) -> None:
        """Stop at once: connections are broken off, what was committed stays."""
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-m", "fast", "stop")

    def restart(self) -> None:
        """Stop and start again."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """Kill the server as a crash would; ``start`` recovers it."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGQUIT)
        while Path(f"/proc/{pid}").exists():
            pass

    def url(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql://voirdire@127.0.0.1:{self.port}/{name}"

    def fresh(self, template: str | None = None) -> str:
        """The address of a new database, empty or a copy of the one with the address ``template``."""
        origin = "template1" if template is None else template.rsplit("/", 1)[1]
        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{origin}"')
        return self.url(name)

    def drop(self, url: str) -> None:
        """Remove a database and break off its connections."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{url.rsplit("/", 1)[1]}" WITH (FORCE)')

    def remove(self) -> None:
        """Stop, and delete the folder."""
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [str(self.bin / program), *map(str, arguments)]
        output = self.folder / f"{program}.out"
        with output.open("wb") as file:
            done = subprocess.run(
                command, user=self.user, stdout=file, stderr=file, cwd=self.folder, env=_environment()
            )
        if done.returncode:
            raise RuntimeError(program, output.read_text(errors="replace"))


def _user() -> str | None:
    """PostgreSQL refuses to run as root: the user to run as instead."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise LookupError("postgres")


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
