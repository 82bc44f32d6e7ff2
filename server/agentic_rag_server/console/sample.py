"""The sample corpus for an empty workspace: the browser fetches its files and uploads them as the user's own."""

from __future__ import annotations

from pathlib import Path

import orjson
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from agentic_rag_server.console.files import PATH

QUESTIONS = (
    "On which date did SKN-03 return to service after the pitch bearing failure?",
    "Who chairs the panel of the community fund?",
    "Where do people gather in an emergency at Skelder Narrows?",
)

_HEADERS = {"cache-control": "no-cache", "content-disposition": "attachment"}


def _folder() -> Path:
    """The corpus of the checkout; in a wheel it lies beside this package, with the command line's."""
    packages = Path(__file__).resolve().parents[2]
    checkout = packages.parent / "simulated_ingestion"
    return checkout if checkout.is_dir() else packages / "agentic_rag_cli" / "sample_corpus"


def sample_routes(folder: Path | None = None) -> list[Route]:
    """The list of the sample's files with three questions, and each file."""
    root = folder or _folder()
    names = sorted(path.name for path in root.iterdir() if path.is_file()) if root.is_dir() else []

    async def listed(request: Request) -> Response:
        del request
        body = orjson.dumps({"files": names, "questions": QUESTIONS})
        return Response(body, media_type="application/json", headers={"cache-control": "no-cache"})

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in names:
            return PlainTextResponse("There is no such file.\n", 404)
        return FileResponse(root / name, media_type="application/octet-stream", headers=_HEADERS)

    return [Route(f"{PATH}/sample", listed, methods=["GET"]), Route(f"{PATH}/sample/{{name}}", file, methods=["GET"])]
