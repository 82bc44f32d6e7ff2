"""The client for asyncio: the calls of `RagClient`, awaited."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2

from agentic_rag_client import calls
from agentic_rag_client.calls import Call
from agentic_rag_client.client import (
    CONTEXT_SECONDS,
    SECONDS,
    SLACK_SECONDS,
    UPLOAD_SECONDS,
    note_fault,
    require_name,
)
from agentic_rag_client.errors import LATE, RagError
from agentic_rag_client.prompt import AgentContext, Mission
from agentic_rag_client.retry import Deadline, RetryPolicy
from agentic_rag_client.values import Answer, DocumentText, PromptContext, SearchResult, Turn, Upload

T = TypeVar("T")


class AsyncRagClient:
    """`RagClient` for asyncio. Use it in an `async with` block, or await `aclose`."""

    def __init__(
        self,
        url: str,
        token: str,
        workspace: str | None = None,
        *,
        retry: RetryPolicy | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.workspace = workspace
        self.faults: Counter[str] = Counter()
        """How many contexts of `prepare_context` each code of a failure emptied."""
        self._retry = retry or RetryPolicy()
        self._ids: dict[str, str] = {}
        self._http = httpx2.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, transport=transport, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def search(
        self,
        query: str,
        *,
        workspace: str | None = None,
        top_k: int | None = None,
        min_similarity: float | None = None,
        source_path_prefix: str | None = None,
        media_types: Sequence[str] = (),
        as_of: int | None = None,
        timeout: float = SECONDS,
    ) -> SearchResult:
        """The passages for a text, best first, as they are stored."""
        call = calls.search(
            query,
            require_name(workspace or self.workspace),
            top_k=top_k,
            min_similarity=min_similarity,
            source_path_prefix=source_path_prefix,
            media_types=media_types,
            as_of=as_of,
        )
        return await self._send(call, timeout)

    async def context(
        self,
        query: str,
        *,
        workspaces: Mapping[str, str] | None = None,
        template: str = "project_knowledge",
        max_tokens: int | None = None,
        top_k: int | None = None,
        min_similarity: float | None = None,
        timeout: float = SECONDS,
    ) -> PromptContext:
        """A section for a prompt. `workspaces` are names, each with the agent that a heading names."""
        call = calls.context(
            query,
            workspaces or {require_name(self.workspace): ""},
            template=template,
            max_tokens=max_tokens,
            top_k=top_k,
            min_similarity=min_similarity,
            timeout=max(timeout - SLACK_SECONDS, timeout / 2),
        )
        return await self._send(call, timeout)

    async def prepare_context(
        self,
        mission_brief: str,
        constraints: Sequence[str] = (),
        relevant_files: Sequence[str] = (),
        enable_rag: bool = True,
        *,
        role: str = "",
        tools: Sequence[Mapping[str, Any]] = (),
        workspaces: Mapping[str, str] | None = None,
        template: str = "project_knowledge",
        timeout: float = CONTEXT_SECONDS,
    ) -> AgentContext:
        """What an agent begins with. Never raises `RagError` and never takes longer than `timeout`: a failure leaves
        the knowledge empty, with its code in `fault`, a line in the log and a count in `faults`.
        """
        mission = Mission(mission_brief, constraints, relevant_files, role, tools)
        if not enable_rag:
            return mission.context()
        try:
            found = await self.context(mission_brief, workspaces=workspaces, template=template, timeout=timeout)
        except RagError as error:
            return note_fault(self.faults, mission, error.code)
        if found.fault:
            return note_fault(self.faults, mission, found.fault, found)
        return mission.context(found.text, found.sources)

    async def answer(
        self,
        question: str,
        *,
        workspace: str | None = None,
        history: Sequence[Turn] = (),
        options: Mapping[str, Any] | None = None,
        timeout: float = SECONDS,
    ) -> Answer:
        """An answer whose every sentence has a verified citation. `options` are GraphQL's `AnswerOptionsInput`."""
        name = require_name(workspace or self.workspace)
        return await self._send(
            calls.answer(question, name, history=history, options=options or {}, timeout=timeout), timeout
        )

    async def upload(
        self,
        file: Path | bytes,
        *,
        name: str | None = None,
        workspace: str | None = None,
        source_path: str | None = None,
        title: str | None = None,
        timeout: float = UPLOAD_SECONDS,
    ) -> Upload:
        """Hand over a file; the same source path is the same document. A repetition of a lost request is safe."""
        wanted = require_name(workspace or self.workspace)
        if wanted not in self._ids:
            self._ids[wanted] = await self._send(calls.workspace_id(wanted), timeout)
        call = calls.upload(self._ids[wanted], file, name=name, source_path=source_path, title=title)
        return await self._send(call, timeout)

    async def text(
        self,
        document_id: str,
        *,
        start: int = 0,
        end: int | None = None,
        as_of: int | None = None,
        timeout: float = SECONDS,
    ) -> DocumentText:
        """The text that spans count in, up to 100,000 code points at a time."""
        return await self._send(calls.text(document_id, start=start, end=end, as_of=as_of), timeout)

    async def _send(self, call: Call[T], timeout: float) -> T:
        deadline = Deadline.after(timeout)
        try:
            async with asyncio.timeout(timeout):
                for attempt in count(1):
                    try:
                        return await self._attempt(call, deadline.seconds_left)
                    except RagError as error:
                        pause = self._retry.pause(error, attempt, deadline.at - time.monotonic())
                        if pause is None:
                            raise
                        await asyncio.sleep(pause)
        except TimeoutError as error:
            raise RagError(f"{self.url} did not answer in time.", code=LATE) from error
        raise AssertionError("unreachable")

    async def _attempt(self, call: Call[T], seconds: float) -> T:
        try:
            with call.opened_file() as file:
                response = await self._http.request(**call.request(file), timeout=seconds)
        except httpx2.TimeoutException as error:
            raise RagError(f"{self.url} did not answer in time.", code=LATE) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise calls.unreachable(self.url, error) from error
        return call.result(response.status_code, response.headers, response.content)
