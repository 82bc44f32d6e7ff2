"""What the server needs from the composition root, stated here so that it imports neither adapters nor settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.app.delete import Deletion
from agentic_rag.app.embedding_spaces import SwitchBegun
from agentic_rag.domain.answers import Question, Run
from agentic_rag.domain.recall_gate import RecallGate
from agentic_rag.domain.spaces import SpaceRecord
from agentic_rag.domain.tenancy import Principal, WorkspaceRef
from agentic_rag.ports.blob_store import BlobStore
from agentic_rag.ports.clock import Clock
from agentic_rag.ports.database import Database
from agentic_rag.ports.identity import Identity
from agentic_rag.ports.ids import Ids
from agentic_rag.ports.run_store import RunStore
from agentic_rag.ports.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What an operator decides about the server. `port` 0 lets the system choose one."""

    enabled: bool = False
    graphiql: bool = False
    introspection: bool = True
    host: str = "127.0.0.1"
    port: int = 8080
    max_body_bytes: int = 1_048_576
    check_timeout_seconds: float = 2.0
    """How long /readyz waits for one dependency."""
    drain_seconds: int = 20
    """How long a stopping server waits for answers under way."""


class AnswersQuestions(Protocol):
    """The use case behind `ragAnswer`."""

    async def ask(self, principal: Principal, question: Question) -> Run:
        """Answer, or raise a product error."""
        ...


class DeletesDocuments(Protocol):
    """The use case behind `deleteDocument`."""

    async def run(self, workspace: WorkspaceRef, document_id: UUID) -> Deletion:
        """Erase a document everywhere; `erasure` is None when there is none of that id."""
        ...


class SwitchesSpaces(Protocol):
    """The use case behind `switchEmbeddingSpace`."""

    async def spaces(self, workspace: WorkspaceRef) -> Sequence[SpaceRecord]:
        """The workspace's spaces, oldest first."""
        ...

    async def begin(self, workspace: WorkspaceRef, to: str, gate: RecallGate | None) -> SwitchBegun:
        """Begin a switch, or do it at once."""
        ...

    async def cancel(self, workspace: WorkspaceRef) -> SpaceRecord:
        """Call off the switch that is under way."""
        ...


class ServerContainer(Protocol):
    """The wired process, as far as the server looks into it."""

    @property
    def options(self) -> ServerOptions: ...

    @property
    def answer(self) -> AnswersQuestions: ...

    @property
    def delete(self) -> DeletesDocuments: ...

    @property
    def switch_spaces(self) -> SwitchesSpaces: ...

    @property
    def database(self) -> Database: ...

    @property
    def runs(self) -> RunStore: ...

    @property
    def blobs(self) -> BlobStore: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def telemetry(self) -> Telemetry: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def ids(self) -> Ids: ...

    @property
    def checks(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        """A check for each dependency, by the name /readyz shows; one that fails raises a product error."""
        ...

    async def aclose(self) -> None:
        """Release everything, once the last request is answered."""
        ...
