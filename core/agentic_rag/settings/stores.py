"""Where data is kept."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from agentic_rag.jobs.redis_address import parse_redis
from agentic_rag.settings.addresses import Neo4jAddress, S3Address, parse_neo4j, parse_s3
from agentic_rag.settings.variable import UNSET_PATH, Env

BELOW_HOME = "directory"


def default_home() -> Path:
    """`/var/lib/agentic-rag` for root, whose home others cannot enter; otherwise the platform's user data directory."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/agentic-rag")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "agentic-rag"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "agentic-rag"


def parse_blob_store(text: str) -> Path | S3Address:
    """A directory or a bucket. Errors: ValueError."""
    return parse_s3(text) if text == "s3" or "://" in text else Path(text).expanduser()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoresConfig:
    """Databases, the object store and the home directory."""

    database_url: Annotated[str, Env("DATABASE_URL", is_url=True)] = field(default="", repr=False)
    """PostgreSQL with pgvector; empty means the embedded server."""
    owner_database_url: Annotated[str, Env("AGENTIC_RAG_OWNER_DATABASE_URL", is_url=True)] = field(
        default="", repr=False
    )
    """Login that migrates; empty means DATABASE_URL (one DSN is enough)."""
    database_read_url: Annotated[str, Env("DATABASE_READ_URL", is_url=True)] = field(default="", repr=False)
    """A streaming replica of DATABASE_URL; searches read there what it has replayed. Empty: all is read from the
    primary.
    """
    database_pool_size: Annotated[int, Env("AGENTIC_RAG_DATABASE_POOL_SIZE"), Meta(ge=1, le=200)] = 8
    """Database connections of one process; two more at most read keys, budgets and limits."""
    redis_url: Annotated[str, Env("REDIS_URL", is_url=True, check=parse_redis)] = field(default="", repr=False)
    """Redis, `redis://:PASSWORD@HOST:6379/0`, by its Sentinels
    `redis+sentinel://:PASSWORD@HOST:26379,…/0?service=NAME`, or a cluster, `redis+cluster://:PASSWORD@HOST:6379,…`;
    empty means the embedded server.
    """
    neo4j_uri: Annotated[str, Env("NEO4J_URI", is_url=True, check=parse_neo4j)] = field(default="", repr=False)
    """Neo4j 5 for the entity graph, `bolt://USER:PASSWORD@HOST:7687` or `neo4j://…`; empty keeps the graph in
    PostgreSQL.
    """
    home: Annotated[Path, Env("AGENTIC_RAG_HOME")] = UNSET_PATH
    """State of the embedded servers, blobs, models and development token."""
    blob_store: Annotated[str, Env("AGENTIC_RAG_BLOB_STORE", is_url=True, check=parse_blob_store)] = field(
        default=BELOW_HOME, repr=False
    )
    """Where originals are kept: `directory` (HOME/blobs), the path of another directory, or
    `s3://ACCESS_KEY:SECRET_KEY@BUCKET?endpoint=URL&region=NAME` for any S3-compatible store (keys percent-encoded; no
    endpoint means AWS).
    """

    @property
    def state_home(self) -> Path:
        """AGENTIC_RAG_HOME from the working directory, else the default home."""
        return self.home.expanduser().absolute() if self.home != UNSET_PATH else default_home()

    @property
    def neo4j(self) -> Neo4jAddress | None:
        """NEO4J_URI without its login, and the login; None where the graph is in PostgreSQL."""
        return parse_neo4j(self.neo4j_uri) if self.neo4j_uri else None

    @property
    def blobs(self) -> Path | S3Address:
        """The directory or bucket of originals."""
        return self.state_home / "blobs" if self.blob_store == BELOW_HOME else parse_blob_store(self.blob_store)

    @property
    def migrating_url(self) -> str:
        """The login that owns the schema."""
        return self.owner_database_url or self.database_url

    @property
    def models(self) -> Path:
        """The directory that `rag model get` installs models in."""
        return self.state_home / "models"
