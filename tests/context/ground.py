"""What the rows of `make context` stand on: servers of their own; product and corpus when a row first asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from agentic_rag.bootstrap import Container
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef
from tests.bench import product
from tests.bench.corpus import BenchCorpus, generated_corpus, load_corpus
from tests.bench.product import Servers

CHUNKS = 20_000
FEW = 200

PRINCIPAL = Principal(DEFAULT_ORG_ID, "context", Role.MEMBER)


@dataclass(frozen=True, slots=True)
class Library:
    """A corpus in a workspace."""

    corpus: BenchCorpus
    workspace: WorkspaceRef
    name: str

    @property
    def workspace_id(self) -> str:
        """As clients name it."""
        return encode_workspace(self.workspace.workspace_id)


@dataclass
class Ground:
    """The servers, and the product over them, wired in this process when a row first asks for it."""

    servers: Servers
    _closing: AsyncExitStack
    _container: Container | None = None
    _libraries: dict[bool, Library] = field(default_factory=dict[bool, Library])

    async def container(self) -> Container:
        """The product, migrated, with the default organisation."""
        if self._container is None:
            self._container = await self._closing.enter_async_context(product.product(self.servers))
        return self._container

    async def library(self, *, short: bool) -> Library:
        """20,000 chunks of the bench, or a few generated ones."""
        if short not in self._libraries:
            container = await self.container()
            corpus = generated_corpus(FEW) if short else load_corpus(CHUNKS)
            name = f"context-{container.ids.new()}"
            workspace = await product.create_workspace(container, name)
            await product.ingest_rate(container, workspace, corpus.chunks)
            await product.settle(self.servers.database_url)
            self._libraries[short] = Library(corpus, workspace, name)
        return self._libraries[short]


@asynccontextmanager
async def opened_ground(servers: Servers) -> AsyncIterator[Ground]:
    """Ends with what its rows opened."""
    async with AsyncExitStack() as closing:
        yield Ground(servers, closing)
