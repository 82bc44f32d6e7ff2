"""Settings of the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from agentic_rag.settings.variable import Env


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Which server commands work with, and as whom."""

    url: Annotated[str, Env("AGENTIC_RAG_URL", is_url=True)] = ""
    """Server that the command line talks to; empty means HOST:PORT."""
    token: Annotated[str, Env("AGENTIC_RAG_TOKEN", is_secret=True)] = field(default="", repr=False)
    """Token of the command line; empty means HOME/dev-token. A server takes it (32 characters or more) for an
    operator's.
    """
