"""The table of connectors: how a source of each kind is opened."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.adapters.sources.git import open_git
from agentic_rag.adapters.sources.s3 import open_s3
from agentic_rag.adapters.sources.sitemap import open_sitemap
from agentic_rag.ingestion.ports import SourceConnector
from agentic_rag.ingestion.sources.ports import OpenSource
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.kernel.secret import Secret
from agentic_rag.web.proxies import Proxies


@asynccontextmanager
async def open_directory(stated: NewSource, secret: Secret | None) -> AsyncGenerator[SourceConnector]:
    """A folder of this machine."""
    yield DirectorySource(Path(stated.location))


def connectors(proxies: Proxies) -> Mapping[SourceKind, OpenSource]:
    """The table. Only buckets are asked through proxies: an operator named their server, or it is AWS."""
    return {
        SourceKind.DIRECTORY: open_directory,
        SourceKind.GIT: open_git,
        SourceKind.S3: partial(open_s3, proxies=proxies),
        SourceKind.SITEMAP: open_sitemap,
    }
