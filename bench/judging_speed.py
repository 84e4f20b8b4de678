"""Speed of judging, against the bare HTTP client and the peers, on one local mock server, in one run.

``python bench/judging_speed.py --drivers DIR --venvs DIR`` where ``--drivers`` holds mock_server.py, cells.py,
make_data.py, b_client.py and the peers' drivers (p_openai.py, p_litellm.py, p_inspect.py), and ``--venvs`` the
environments v_srv, v_clients, v_openai, v_litellm and v_inspect. See bench/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
PORT = 18123
URL = f"http://127.0.0.1:{PORT}"
INSPECT = ("{cells}", "64", "eval", "0", "path")
QUIET = ("log_images=false", "log_realtime=false", "log_model_api=false", "log_buffer=1000")
PEERS = {
    "bare aiohttp": ("clients", "b_client.py", ["aiohttp", "prebuilt", "{cells}", "64", "asyncio"]),
    "openai": ("openai", "p_openai.py", ["{cells}", "64", "-1"]),
    "litellm": ("litellm", "p_litellm.py", ["{cells}", "64", "-1"]),
    "inspect-ai defaults": ("inspect", "p_inspect.py", [*INSPECT, "plain", "{log}", "eval"]),
    "inspect-ai best settings": ("inspect", "p_inspect.py", [*INSPECT, "none", "{log}", "eval", *QUIET]),
}


class Bench:
    """The server, the corpus and the places of everything."""

    def __init__(self, drivers: Path, venvs: Path, work: Path) -> None:
        self.drivers, self.venvs, self.work = drivers, venvs, work
        self.environment = {
            **os.environ,
            "RB_HOME": str(work),
            "RB_PORT": str(PORT),
            "RB_NOREAD": "1",
            "PYTHONPATH": str(drivers),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "XDG_DATA_HOME": str(work / "xdg"),
            "XDG_CACHE_HOME": str(work / "xdg"),
            "OPENAI_API_KEY": "x",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def python(self, name: str) -> str:
        """The interpreter of an environment."""
        return str(self.venvs / f"v_{name}" / "bin" / "python")

    def prepare(self, images: int, sizes: tuple[int, ...]) -> None:
        """Images of about 163 kB and corpora of so many items that show them."""
        script = str(self.drivers / "make_data.py")
        subprocess.run([self.python("srv"), script, str(self.work / "data"), str(images)], check=True)
        for items in sizes:
            ours = [sys.executable, str(HERE / "judging_ours.py"), "--make", str(self.work / f"corpus-{items}")]
            subprocess.run([*ours, str(self.work / "data" / "img"), str(items)], check=True)

    def serve(self) -> subprocess.Popen[bytes]:
        """Start the mock server on the second core."""
        command = [self.python("srv"), str(self.drivers / "mock_server.py"), "--port", str(PORT), "--cpu", "1"]
        server = subprocess.Popen(command, env=self.environment)
        for _ in range(100):
            try:
                admin("stats")
                return server
            except OSError:
                time.sleep(0.1)
        server.kill()
        sys.exit("the mock server did not start")

    def run(self, command: list[str], settings: dict[str, float]) -> dict[str, float]:
        """Run one client on the first core; what it tells, with what the server counted."""
        admin("reset", {"latency_ms": 0, "rps": 0, "retry_after": 1, **settings})
        asked = subprocess.run(
            ["taskset", "-c", "0", *command], env=self.environment, capture_output=True, text=True, timeout=900
        )
        told = [line for line in asked.stdout.splitlines() if line.startswith("RB ")]
        if not told:
            sys.exit(f"{command} told nothing:\n{asked.stdout[-1000:]}\n{asked.stderr[-3000:]}")
        seen = admin("stats")
        span = max(seen["last"] - seen["first"], 1e-9)
        return {**json.loads(told[-1][3:]), "requests": seen["requests"], "span": span}

    def peer(self, name: str, cells: int, **settings: float) -> dict[str, float]:
        """One run of a peer's driver."""
        environment, script, arguments = PEERS[name]
        log = tempfile.mkdtemp(dir=self.work)
        filled = [part.format(cells=cells, log=log) for part in arguments]
        told = self.run([self.python(environment), str(self.drivers / script), *filled], settings)
        kept = sum(path.stat().st_size for path in Path(log).rglob("*") if path.is_file())
        return told | {"log_bytes": kept}

    def ours(self, items: int, cells: int, in_flight: int = 64, **settings: float) -> dict[str, float]:
        """One run of voirdire."""
        script, out = str(HERE / "judging_ours.py"), str(self.work / "run")
        place = [str(self.work / f"corpus-{items}"), str(items), str(cells), f"{URL}/v1", out, str(in_flight)]
        return self.run([sys.executable, script, *place], settings)


def admin(what: str, settings: dict[str, float] | None = None) -> dict[str, float]:
    """Ask or set the mock server."""
    data = None if settings is None else json.dumps(settings).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{URL}/admin/{what}", data=data), timeout=20) as answer:
        return json.load(answer)


def cpu(bench: Bench, cells: int, runs: int, peers: Sequence[str] = tuple(PEERS)) -> list[dict[str, object]]:
    """CPU ms a cell of the job phase and cells a second, the median of several runs taken in turn."""
    names = ["voirdire", *(name for name in PEERS if name in peers)]
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            told = bench.ours(50, cells) if name == "voirdire" else bench.peer(name, cells)
            seen[name].append(told)
    rows = []
    for name in names:
        each = statistics.median(1000 * told["job_cpu"] / cells for told in seen[name])
        rate = statistics.median(cells / told["job_s"] for told in seen[name])
        kept = seen[name][0].get("ledger_bytes", seen[name][0].get("log_bytes", 0)) / cells * 1000 / 1e6
        answered = min(told.get("ok", told["requests"]) for told in seen[name])
        rows.append({"who": name, "cpu_ms": each, "cells_s": rate, "log_mb_per_1000": kept, "answered": answered})
    for row in rows:
        row["times_ours"] = float(row["cpu_ms"]) / float(rows[0]["cpu_ms"])
    return rows


def latency(bench: Bench) -> list[dict[str, object]]:
    """The share of the ideal rate at 400 ms a reply."""
    rows = []
    for in_flight, cells in ((64, 5000), (256, 15000)):
        told = bench.ours(50, cells, in_flight, latency_ms=400)
        rows.append({"in_flight": in_flight, "share_of_ideal": cells / told["span"] / (in_flight / 0.4)})
    return rows


def limited(bench: Bench, cells: int = 300) -> list[dict[str, object]]:
    """A server that lets ten requests a second through, for ever."""
    rows = []
    for name in ("voirdire", "openai", "litellm"):
        told = bench.ours(50, cells, rps=10) if name == "voirdire" else bench.peer(name, cells, rps=10)
        times = told["span"] / (cells / 10)
        rows.append({"who": name, "lost": cells - told["ok"], "times_ideal": times, "requests": told["requests"]})
    return rows


def memory(bench: Bench) -> list[dict[str, object]]:
    """Peak memory and ledger with 626 images, at growing numbers of cells."""
    rows = []
    for cells in (1252, 6260, 25040):
        told = bench.ours(626, cells)
        size = told["ledger_bytes"] / cells * 1000 / 1e6
        rows.append({"cells": cells, "peak_mb": told["peak_mb"], "ledger_mb_per_1000": size,
                     "cpu_ms": 1000 * told["job_cpu"] / cells})  # fmt: skip
    return rows


def imports() -> float:
    """CPU seconds of ``import voirdire``, the median of five."""
    line = "import time; t = time.process_time(); import voirdire; print(time.process_time() - t)"
    told = [subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True) for _ in range(5)]
    return statistics.median(float(each.stdout) for each in told)


def table(title: str, rows: list[dict[str, object]]) -> None:
    """Print rows as Markdown."""
    print(f"\n{title}\n\n| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values())
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Run all parts and print their tables."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--drivers", type=Path, required=True)
    asked.add_argument("--venvs", type=Path, required=True)
    asked.add_argument("--cells", type=int, default=1000)
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--parts", default="cpu,latency,limited,memory,imports")
    asked.add_argument("--peers", default=",".join(PEERS))
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    parts, results = given.parts.split(","), {}
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(given.drivers.resolve(), given.venvs.resolve(), Path(work))
        bench.prepare(50, (50, 626))
        server = bench.serve()
        try:
            for name, measured in (
                ("cpu", lambda: cpu(bench, given.cells, given.runs, given.peers.split(","))),
                ("latency", lambda: latency(bench)),
                ("limited", lambda: limited(bench)),
                ("memory", lambda: memory(bench)),
                ("imports", lambda: [{"import_cpu_s": imports()}]),
            ):
                if name in parts:
                    results[name] = measured()
                    table(name, results[name])
        finally:
            server.terminate()
            server.wait()
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
