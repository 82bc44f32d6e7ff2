"""The console's files: read once, and served under a path that names their content."""

from __future__ import annotations

import gzip
import hashlib
import html
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from agentic_rag_server.console.issuer import IssuerClient

PATH = "/console"
PAGE = "index.html"
_FOLDER = Path(__file__).with_name("static")
_VERSION = "{{version}}"
_PRELOADED = "{{preloaded}}"
_SIGN_IN = "{{sign-in}}"

_MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Other files of the folder, such as licences, are not served."""

_OTHER_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


def _headers(issuer: IssuerClient | None) -> Mapping[str, str]:
    """A page that runs its own modules only, asks its own server and the issuer of tokens only, and makes no markup of
    text: a browser with Trusted Types lets nothing but lit-html's own templates become elements.
    """
    asked = f"connect-src 'self' {issuer.origin}; " if issuer else ""
    policy = (
        f"default-src 'self'; {asked}img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html"
    )
    return {"content-security-policy": policy, **_OTHER_HEADERS}


_FIRST = ("app.js", "screens/ask.js")
"""What a browser runs to show the first screen."""
_IMPORT = re.compile(r"""(?:from|import)\s*["'](\.{1,2}/[^"']+)["']""")
"""Imports of a module; not those at run time, which are calls."""

_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is sent."""

    content: bytes
    media_type: str


@lru_cache(None)
def _packed(content: bytes) -> bytes:
    """The content as it is sent to browsers, all of which take gzip."""
    return gzip.compress(content, 9, mtime=0)


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """The page with its modules, and the version that they have together."""

    page: bytes
    files: Mapping[str, StaticFile]
    """By name; the page is none of them."""
    version: str


@lru_cache(8)
def _read(folder: Path, described: str) -> ConsolePage:
    """Read when the first browser asks: a command that answers without a server opens no page."""
    found = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in _MEDIA
    }
    files = {name: StaticFile(path.read_bytes(), _MEDIA[path.suffix]) for name, path in found.items()}
    digest = hashlib.sha256(described.encode())
    for name, file in files.items():
        digest.update(f"{name}\0{len(file.content)}\0".encode() + file.content)
    version = digest.hexdigest()[:16]
    page = files.pop(PAGE).content.decode()
    page = page.replace(_PRELOADED, _preloads(files)).replace(_VERSION, version)
    return ConsolePage(page.replace(_SIGN_IN, html.escape(described)).encode(), files, version)


def _preloads(files: Mapping[str, StaticFile]) -> str:
    """Links that let a browser fetch the modules of the first screen side by side."""
    names: list[str] = [*_FIRST]
    # It grows by what each of them imports.
    for name in names:
        for imported in _IMPORT.findall(files[name].content.decode()):
            found = posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))
            if found not in names:
                names.append(found)
    return "\n".join(f'<link rel="modulepreload" href="{PATH}/{_VERSION}/{name}">' for name in names)


class ConsoleFiles:
    """The page at `/console`, and its modules at `/console/VERSION/NAME`, where VERSION is a hash over all of them: a
    browser keeps them for ever, and a new release has new addresses.
    """

    def __init__(self, issuer: IssuerClient | None = None, folder: Path = _FOLDER) -> None:
        self._headers = _headers(issuer)
        self._folder = folder
        self._described = issuer.described() if issuer else ""

    @property
    def version(self) -> str:
        return self._console.version

    @property
    def names(self) -> list[str]:
        """The files beside the page."""
        return [*self._console.files]

    @property
    def _console(self) -> ConsolePage:
        return _read(self._folder, self._described)

    def routes(self) -> list[Route]:
        """The page, its files, and the way from `/` for browsers."""
        return [
            Route("/", self._home, methods=["GET"]),
            Route(PATH, self._show_page, methods=["GET"]),
            Route(f"{PATH}/{{version}}/{{name:path}}", self._show_file, methods=["GET"]),
        ]

    async def _home(self, request: Request) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            return PlainTextResponse("This is agentic-rag: /console, /graphql, /openapi.json.\n", 404)
        return RedirectResponse(PATH, 303, headers={"cache-control": "no-store"})

    async def _show_page(self, request: Request) -> Response:
        headers = {"cache-control": "no-cache", "content-type": _MEDIA[".html"]}
        return self._answer(request, self._console.page, headers)

    async def _show_file(self, request: Request) -> Response:
        file = self._console.files.get(request.path_params["name"])
        if file is None:
            return PlainTextResponse("There is no such file.\n", 404)
        # A page of an earlier release that asks for a module by its old address gets today's, and keeps it for nothing.
        is_current = request.path_params["version"] == self.version
        keep = _FOR_EVER if is_current else "no-store"
        headers = {"cache-control": keep, "content-type": file.media_type}
        return self._answer(request, file.content, headers, may_be_known=is_current)

    def _answer(
        self, request: Request, content: bytes, headers: Mapping[str, str], *, may_be_known: bool = True
    ) -> Response:
        """The content, packed for clients that take it; 304 to those that have it."""
        # Weak: packed and unpacked are the same to whoever keeps them.
        etag = f'W/"{self.version}"'
        sent = {**self._headers, **headers, "etag": etag, "vary": "accept-encoding"}
        if may_be_known and request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=sent)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(content, headers=sent)
        return Response(_packed(content), headers={**sent, "content-encoding": "gzip"})
