"""Calls of the server and how their answers are read. Nothing here asks a network: both clients share it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

from agentic_rag_client.errors import DEPENDENCY, NOT_OURS, UNREACHABLE, RagError
from agentic_rag_client.values import Answer, DocumentText, PromptContext, SearchResult, Turn, Upload
from agentic_rag_client.wire import read

T = TypeVar("T")

TRANSIENT = frozenset({429, 502, 503, 504})
MAX_BUDGET_MS = 120_000

SEARCH = """query Search($input: SearchPassagesInput!) { searchPassages(input: $input) {
  passages { text title sourcePath sourceId chunkId url mediaType span { start end } page lineStart lineEnd headingPath
             similarity cosine score flags recognised }
  corpusVersion embeddingSpace degraded userErrors { code message } } }"""
CONTEXT = """query Context($input: ContextInput!) { context(input: $input) {
  text step tokens template templateVersion fault
  sources { sourceId chunkId workspaceId title sourcePath span { start end } isCut similarity agent flags
            recognised }
  userErrors { code message } } }"""
ANSWER = """mutation Answer($input: RagAnswerInput!) { ragAnswer(input: $input) {
  text: answer outcome degraded abstention { reason explanation } run { id }
  citations { marker snippet title sourcePath sourceId chunkId url sourceSpan { start end } answerSpans { start end }
              page lineStart lineEnd headingPath score verified flags recognised }
  userErrors { code message } } }"""
WORKSPACE = "query Workspace($name: String!) { workspaceByName(name: $name) { id } }"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and what makes a value of its answer's body."""

    method: str
    path: str
    read: Callable[[Any], T]
    json: Mapping[str, Any] | None = None
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, str] | None = None
    file: Path | bytes | None = None
    file_name: str = ""
    without: Callable[[str], T] | None = None
    """What stands for the answer when something behind the server does not answer, by the code; None: the error."""

    def opened_file(self) -> Any:
        """A context manager for the file from its beginning, for each attempt anew; None without one."""
        if isinstance(self.file, Path):
            return self.file.open("rb")
        return nullcontext(None if self.file is None else BytesIO(self.file))

    def request(self, file: Any) -> dict[str, Any]:
        """The arguments of httpx2's `request`."""
        files = None if file is None else {"file": (self.file_name, file)}
        return {
            "method": self.method,
            "url": self.path,
            "json": self.json,
            "params": self.params,
            "headers": dict(self.headers),
            "data": self.form,
            "files": files,
        }

    def result(self, status: int, headers: Mapping[str, str], body: bytes) -> T:
        """The value of an answer. Errors: `RagError`."""
        try:
            return self._value(status, headers, body)
        except RagError as error:
            if self.without is None or error.code != DEPENDENCY:
                raise
            return self.without(error.code)

    def _value(self, status: int, headers: Mapping[str, str], body: bytes) -> T:
        try:
            shown = json.loads(body)
            if status < 400:
                return self.read(shown)
            error = shown["errors"][0] if "errors" in shown else shown["error"]
            code, message = error.get("code") or error["extensions"]["code"], error["message"]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            code, message = NOT_OURS, f"{self.path} answered {status} with a body that is not agentic-rag's."
        raise RagError(
            message, code=code, status=status, is_transient=status in TRANSIENT, retry_after=seconds_of(headers)
        )


def unreachable(address: str, error: Exception) -> RagError:
    """Nobody answered."""
    return RagError(f"{address} does not answer ({error}).", code=UNREACHABLE, is_transient=True)


def seconds_of(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds, given as such or as a date; None without it."""
    given = headers.get("retry-after", "")
    if given.isdecimal():
        return float(given)
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def search(
    query: str,
    workspace: str,
    *,
    top_k: int | None,
    min_similarity: float | None,
    source_path_prefix: str | None,
    media_types: Sequence[str],
    as_of: int | None,
) -> Call[SearchResult]:
    asked = {
        "query": query,
        "workspace": workspace,
        "topK": top_k,
        "minSimilarity": min_similarity,
        "asOf": as_of,
        "filter": {"sourcePathPrefix": source_path_prefix, "mediaTypes": list(media_types) or None},
    }
    return _graphql(SEARCH, asked, SearchResult)


def context(
    query: str,
    workspaces: Mapping[str, str],
    *,
    template: str,
    max_tokens: int | None,
    top_k: int | None,
    min_similarity: float | None,
    timeout: float,
) -> Call[PromptContext]:
    asked = {
        "query": query,
        "workspaces": [{"workspace": name, "agent": agent} for name, agent in workspaces.items()],
        "template": template,
        "maxTokens": max_tokens,
        "topK": top_k,
        "minSimilarity": min_similarity,
        "timeoutMs": min(MAX_BUDGET_MS, max(1, int(1000 * timeout))),
    }

    # An agent goes on without its knowledge: it does not wait until what is missing may be back.
    def without(code: str) -> PromptContext:
        return PromptContext("", "NOTHING", 0, template, 0, (), code)

    # The server gives up sooner what it reads before the context itself.
    waits = {"Prefer": f"wait={math.ceil(timeout)}"}
    return replace(_graphql(CONTEXT, asked, PromptContext), without=without, headers=waits)


def answer(
    question: str, workspace: str, *, history: Sequence[Turn], options: Mapping[str, Any], timeout: float
) -> Call[Answer]:
    given = {"timeoutMs": min(MAX_BUDGET_MS, max(1, int(1000 * timeout))), **options}
    asked = {
        "question": question,
        "workspace": workspace,
        "history": [{"question": one.question, "answer": one.answer} for one in history] or None,
        "options": given,
        # A repetition after a lost answer returns the run that is stored, and costs no second one.
        "idempotencyKey": uuid4().hex,
    }
    return _graphql(ANSWER, asked, Answer)


def workspace_id(name: str) -> Call[str]:
    def found(shown: Any) -> str:
        workspace = _field(shown)
        if workspace is None:
            raise RagError(f"There is no workspace {name!r}.", code="WORKSPACE_NOT_FOUND")
        return workspace["id"]

    return Call("POST", "/graphql", found, json={"query": WORKSPACE, "variables": {"name": name}})


def upload(
    workspace: str, file: Path | bytes, *, name: str | None, source_path: str | None, title: str | None
) -> Call[Upload]:
    if name is None and isinstance(file, bytes):
        raise ValueError("give the `name` of a file that is given as bytes")
    form = {"sourcePath": source_path, "title": title}
    return Call(
        "POST",
        f"/v1/workspaces/{quote(workspace, safe='')}/documents",
        lambda shown: read(Upload, shown),
        # A repetition after a lost answer is the same upload.
        headers={"idempotency-key": uuid4().hex},
        form={key: value for key, value in form.items() if value is not None},
        file=file,
        file_name=name or (file.name if isinstance(file, Path) else ""),
    )


def text(document_id: str, *, start: int, end: int | None, as_of: int | None) -> Call[DocumentText]:
    params = {"start": start, "end": end, "asOf": as_of}
    return Call(
        "GET",
        f"/v1/documents/{quote(document_id, safe='')}/text",
        lambda shown: read(DocumentText, shown),
        params={key: value for key, value in params.items() if value is not None},
    )


def _graphql(query: str, asked: Mapping[str, Any], kind: type[T]) -> Call[T]:
    return Call(
        "POST",
        "/graphql",
        lambda shown: read(kind, _field(shown)),
        json={"query": query, "variables": {"input": asked}},
    )


def _field(shown: Any) -> Any:
    """The only root field. Errors: `RagError` for an error that GraphQL reports with status 200."""
    if shown.get("errors"):
        error = shown["errors"][0]
        extensions: Mapping[str, Any] = error.get("extensions") or {}
        pause = extensions.get("retryAfterSeconds")
        is_transient = pause is not None or "dependency" in extensions
        raise RagError(
            error["message"],
            code=extensions.get("code", NOT_OURS),
            status=200,
            is_transient=is_transient,
            retry_after=pause,
        )
    (found,) = shown["data"].values()
    if found and found.get("userErrors"):
        wrong = found["userErrors"][0]
        raise RagError(wrong["message"], code=wrong["code"], status=200)
    return found
