"""The table of search engines: how each is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.engines.brave import open_brave
from agentic_rag.adapters.web.engines.file import open_file
from agentic_rag.adapters.web.engines.searxng import open_searxng
from agentic_rag.adapters.web.engines.serpapi import open_serpapi
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.web.engine_address import EngineAddress
from agentic_rag.web.search import AskEngine

Connect = Callable[[EngineAddress], EngineClient]

ENGINES: Mapping[str, Callable[[EngineClient], AskEngine]] = MappingProxyType(
    {
        "searxng": open_searxng,
        "brave": open_brave,
        "serpapi": open_serpapi,
        "file": lambda client: open_file(Path(client.address.path)),
    }
)


def open_engine(address: EngineAddress, connect: Connect = EngineClient) -> AskEngine:
    """The engine that the setting names. Errors: `Misconfigured` code SEARCH_REFUSED where its key cannot be read."""
    return ENGINES[address.engine](connect(_with_key(address)))


def _with_key(address: EngineAddress) -> EngineAddress:
    if not address.key_file:
        return address
    try:
        key = Path(address.key_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise Misconfigured(
            "The file that `key_file` of AGENTIC_RAG_SEARCH names cannot be read.", code="SEARCH_REFUSED"
        ) from error
    return replace(address, key=key)
