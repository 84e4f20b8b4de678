"""The application: every page and endpoint, and what stands around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from voirdire.errors import VoirdireError
from voirdire.version import VERSION
from voirdire.web import images, lead_api, lead_pages, pages, rating_api, rating_pages
from voirdire.web.security import Guard
from voirdire.web.service import Service, open_service
from voirdire.web.settings import Settings


class Revalidated(StaticFiles):
    """Files that browsers keep, and ask for again by their mark."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or that it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def make_application(service: Service) -> FastAPI:
    """The application of one process."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.database.dispose()

    app = FastAPI(
        title="voirdire",
        version=VERSION,
        lifespan=living,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.service = service
    for module in (rating_pages, rating_api, images, lead_pages, lead_api):
        app.include_router(module.router)
    with as_file(files("voirdire.web").joinpath("static")) as folder:
        app.mount("/static", Revalidated(directory=folder), name="static")
    app.add_exception_handler(VoirdireError, pages.told)
    app.add_exception_handler(HTTPException, pages.not_found)
    app.add_exception_handler(RequestValidationError, pages.not_valid)
    app.add_exception_handler(Exception, pages.fault)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(service.settings.hosts), www_redirect=False)
    app.add_middleware(Guard, secure=service.settings.secure, root=service.settings.root)
    return app


def from_environment() -> FastAPI:
    """The application of a worker process."""
    return make_application(open_service(Settings.from_environment(os.environ)))
