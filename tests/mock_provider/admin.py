"""Looking in from outside: GET /admin/stats, /admin/seen, /admin/bodies; POST /admin/configure, /admin/reset."""

from __future__ import annotations

import resource
from dataclasses import asdict, replace
from typing import Any

import orjson
from tests.mock_provider.dialects import Answer
from tests.mock_provider.plan import cell_and_attempt, typed
from tests.mock_provider.state import Request, State


def answer(state: State, request: Request) -> Answer | None:
    """The answer to an admin request, None for any other."""
    if not request.path.startswith("/admin/"):
        return None
    name = request.path.removeprefix("/admin/")
    if request.method == "POST" and name in ("configure", "reset"):
        changes = orjson.loads(request.body) if request.size else {}
        state.behaviour = replace(state.behaviour, **typed(changes))
        if name == "reset":
            state.reset()
        return _json(asdict(state.behaviour))
    known = {"stats": stats, "seen": lambda of: dict(of.seen), "bodies": _bodies}
    if name not in known:
        return Answer(404, b"{}")
    return _json(known[name](state))


def stats(state: State) -> dict[str, Any]:
    """Counters, the server's own CPU seconds and peak memory, distinct cells and repeated calls."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cells = {found[0] for name in state.seen if (found := cell_and_attempt(name.encode()))}
    return {
        "counts": dict(state.counts),
        "calls": sum(state.seen.values()),
        "cells": len(cells),
        "repeats": sum(number - 1 for number in state.seen.values()),
        "in_flight": state.in_flight,
        "max_in_flight": state.max_in_flight,
        "bytes": state.sizes,
        "seconds": state.last - state.first,
        "cpu": used.ru_utime + used.ru_stime,
        "memory_mb": used.ru_maxrss / 1024,
    }


def _bodies(state: State) -> list[dict[str, Any]]:
    return [{"path": path, "headers": headers, "body": body.decode()} for path, headers, body in state.kept]


def _json(document: Any) -> Answer:
    return Answer(200, orjson.dumps(document))
