"""The composition root: Settings in, a wired container out. The only file that knows every adapter.

Adapters are imported when first asked for: a server never loads the parsers, and nobody loads a driver that is not used.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from pathlib import Path
from uuid import uuid5

from agentic_rag import __version__
from agentic_rag.domain.errors import Misconfigured
from agentic_rag.domain.tenancy import DEFAULT_ORG_ID, Role
from agentic_rag.settings import Settings
from agentic_rag_migrations import HEAD
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentic_rag.adapters.postgres.database import PostgresDatabase
    from agentic_rag.adapters.postgres.pool import PostgresPool
    from agentic_rag.app.answer import AnswerQuestion
    from agentic_rag.app.compact import CompactPostings
    from agentic_rag.app.delete import DeleteDocument
    from agentic_rag.app.indexing import TextAnalysis
    from agentic_rag.app.ingest import IngestDocument
    from agentic_rag.app.prepared import IngestPrepared
    from agentic_rag.app.retrieve import Retrieve
    from agentic_rag.app.run_recorder import RunRecorder
    from agentic_rag.app.sync_source import SyncSource
    from agentic_rag.ports.answer_cache import AnswerCache
    from agentic_rag.ports.blob_store import BlobStore
    from agentic_rag.ports.clock import Clock
    from agentic_rag.ports.embedder import Embedder
    from agentic_rag.ports.identity import Identity
    from agentic_rag.ports.ids import Ids
    from agentic_rag.ports.job_queue import JobQueue
    from agentic_rag.ports.job_store import JobBoard
    from agentic_rag.ports.parser import Parser
    from agentic_rag.ports.run_store import RunStore
    from agentic_rag.ports.source_connector import SourceConnector
    from agentic_rag.ports.telemetry import Telemetry

Check = Callable[[], Awaitable[None]]


class Container:
    """Everything a process may use, made on first use and closed together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._closing = AsyncExitStack()

    async def aclose(self) -> None:
        """Close what was opened, last first."""
        await self._closing.aclose()
