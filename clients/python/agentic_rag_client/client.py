"""The client for code that blocks."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2

from agentic_rag_client import calls
from agentic_rag_client.calls import Call
from agentic_rag_client.errors import LATE, RagError
from agentic_rag_client.prompt import AgentContext, Mission
from agentic_rag_client.retry import Deadline, RetryPolicy
from agentic_rag_client.values import Answer, DocumentText, PromptContext, SearchResult, Turn, Upload

T = TypeVar("T")

LOGGER = logging.getLogger("agentic_rag_client")

SECONDS = 30.0
"""Of a call, attempts and pauses included."""
UPLOAD_SECONDS = 300.0
CONTEXT_SECONDS = 2.0
"""Of a context: an agent waits for it before it begins."""
SLACK_SECONDS = 0.2
"""Of the time of a context, what the way to the server and back may take."""


class RagClient:
    """One server, one token, and one workspace unless a call names another. Safe for threads; close it, or use it in a
    `with` block.

    Every call but `prepare_context` raises `RagError`. What may succeed later (429, 502, 503, 504, no connection) is
    tried again within the time of the call.
    """

    def __init__(
        self,
        url: str,
        token: str,
        workspace: str | None = None,
        *,
        retry: RetryPolicy | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.workspace = workspace
        self.faults: Counter[str] = Counter()
        """How many contexts of `prepare_context` each code of a failure emptied."""
        self._retry = retry or RetryPolicy()
        self._ids: dict[str, str] = {}
        self._http = httpx2.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, transport=transport, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def search(
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
        return self._send(call, Deadline.after(timeout))

    def context(
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
        return self._send(call, Deadline.after(timeout))

    def prepare_context(
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
            found = within(
                timeout,
                lambda: self.context(mission_brief, workspaces=workspaces, template=template, timeout=timeout),
            )
        except RagError as error:
            return note_fault(self.faults, mission, error.code)
        if found.fault:
            return note_fault(self.faults, mission, found.fault, found)
        return mission.context(found.text, found.sources)

    def answer(
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
        call = calls.answer(question, name, history=history, options=options or {}, timeout=timeout)
        return self._send(call, Deadline.after(timeout))

    def upload(
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
        wanted, deadline = require_name(workspace or self.workspace), Deadline.after(timeout)
        if wanted not in self._ids:
            self._ids[wanted] = self._send(calls.workspace_id(wanted), deadline)
        call = calls.upload(self._ids[wanted], file, name=name, source_path=source_path, title=title)
        return self._send(call, deadline)

    def text(
        self,
        document_id: str,
        *,
        start: int = 0,
        end: int | None = None,
        as_of: int | None = None,
        timeout: float = SECONDS,
    ) -> DocumentText:
        """The text that spans count in, up to 100,000 code points at a time."""
        return self._send(calls.text(document_id, start=start, end=end, as_of=as_of), Deadline.after(timeout))

    def _send(self, call: Call[T], deadline: Deadline) -> T:
        for attempt in count(1):
            try:
                return self._attempt(call, deadline.seconds_left)
            except RagError as error:
                pause = self._retry.pause(error, attempt, deadline.at - time.monotonic())
                if pause is None:
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    def _attempt(self, call: Call[T], seconds: float) -> T:
        try:
            with call.opened_file() as file:
                response = self._http.request(**call.request(file), timeout=seconds)
        except httpx2.TimeoutException as error:
            raise RagError(f"{self.url} did not answer in time.", code=LATE) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise calls.unreachable(self.url, error) from error
        return call.result(response.status_code, response.headers, response.content)


def require_name(workspace: str | None) -> str:
    """Errors: `RagError` code WORKSPACE_UNNAMED."""
    if not workspace:
        raise RagError("Name a workspace: in the call, or when you make the client.", code="WORKSPACE_UNNAMED")
    return workspace


def note_fault(faults: Counter[str], mission: Mission, code: str, found: PromptContext | None = None) -> AgentContext:
    """The context of a mission whose knowledge failed: what there is of it, the code, and both on the record."""
    faults[code] += 1
    LOGGER.warning("project knowledge is not complete: %s", code)
    return mission.context(*(("", ()) if found is None else (found.text, found.sources)), fault=code)


def within(seconds: float, work: Callable[[], PromptContext]) -> PromptContext:
    """What `work` returns, in time: a request may trickle in for longer than any time-out of a socket says. Errors:
    `RagError`, also code CLIENT_TIMEOUT; the request is then left to end by itself.
    """
    done: queue.SimpleQueue[PromptContext | RagError] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except RagError as error:
            done.put(error)

    threading.Thread(target=run, daemon=True, name="agentic-rag-context").start()
    try:
        found = done.get(timeout=seconds)
    except queue.Empty:
        raise RagError("The context was not ready in time.", code=LATE) from None
    if isinstance(found, RagError):
        raise found
    return found
