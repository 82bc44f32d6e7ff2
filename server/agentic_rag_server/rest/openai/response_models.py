"""The bodies of `/v1/responses`, in OpenAI's form (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.answering.options import MAX_TOP_K
from agentic_rag_server.rest.http.models import Model
from agentic_rag_server.rest.openai.attributes import AttributeFilter
from agentic_rag_server.rest.openai.chat import MAX_MESSAGES, ContentPart, RunShown


class RankingOptions(Model, frozen=True, rename=None):
    """The least score of a passage."""

    score_threshold: Annotated[float, Meta(ge=0, le=1)] | None = None


class FileSearchTool(Model, frozen=True, rename=None):
    """A tool; only `file_search` is read."""

    type: str
    vector_store_ids: list[str] | None = None
    max_num_results: Annotated[int, Meta(ge=1, le=MAX_TOP_K)] | None = None
    ranking_options: RankingOptions | None = None
    filters: AttributeFilter | None = None


class InputItem(Model, frozen=True, rename=None):
    """A turn of the conversation, or an item of another kind, which is passed over."""

    role: str | None = None
    content: str | list[ContentPart] | None = None


class ResponseRequest(Model, frozen=True, rename=None):
    """A question, or a conversation whose last message is one. Instructions, sampling and other tools have no effect:
    an answer is made of quotes.
    """

    model: Annotated[str, Meta(description="With `file_search` any name; else the name of the workspace.")]
    input: str | Annotated[list[InputItem], Meta(min_length=1, max_length=MAX_MESSAGES)]
    tools: list[FileSearchTool] | None = None
    include: list[str] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    metadata: dict[str, str] | None = None
    stream: bool | None = None
    background: bool | None = None


class InputText(Model, frozen=True, rename=None):
    """What was asked."""

    type: Literal["input_text"]
    text: str


class InputMessage(Model, frozen=True, rename=None):
    """The question."""

    id: str
    type: Literal["message"]
    status: Literal["completed"]
    role: Literal["user"]
    content: list[InputText]


class InputItemList(Model, frozen=True, rename=None):
    """The input of a response: of a conversation its last message is kept."""

    object: Literal["list"]
    data: list[InputMessage]
    first_id: str | None
    last_id: str | None
    has_more: bool


class ResponseDeleted(Model, frozen=True, rename=None):
    """What is gone."""

    id: str
    object: Literal["response"]
    deleted: bool


class FileCitation(Model, frozen=True, rename=None):
    """A source. `index` is the code point of the text behind what it supports."""

    type: Literal["file_citation"]
    index: int
    file_id: str
    filename: str


class OutputText(Model, frozen=True, rename=None):
    """The answer, or why there is none."""

    type: Literal["output_text"]
    text: str
    annotations: list[FileCitation]
    logprobs: list[None]


class OutputMessage(Model, frozen=True, rename=None, tag_field="type", tag="message"):
    """What is said."""

    id: str
    status: Literal["in_progress", "completed"]
    role: Literal["assistant"]
    content: list[OutputText]


class FileSearchResult(Model, frozen=True, rename=None):
    """A quote that the answer cites."""

    file_id: str
    filename: str
    score: float
    text: str
    attributes: dict[str, str]


class FileSearchCall(Model, frozen=True, rename=None, tag_field="type", tag="file_search_call"):
    """The search behind the answer; `results` with `include: ["file_search_call.results"]`."""

    id: str
    status: Literal["in_progress", "searching", "completed"]
    queries: list[str]
    results: list[FileSearchResult] | None


class InputTokens(Model, frozen=True, rename=None):
    """Nothing of the input is kept for other requests."""

    cached_tokens: int
    cache_write_tokens: int


class OutputTokens(Model, frozen=True, rename=None):
    """There is no hidden reasoning."""

    reasoning_tokens: int


class ResponseUsage(Model, frozen=True, rename=None):
    """Estimated tokens of the input and of the answer; what chat models took is in the run."""

    input_tokens: int
    input_tokens_details: InputTokens
    output_tokens: int
    output_tokens_details: OutputTokens
    total_tokens: int


class ShownTool(Model, frozen=True, rename=None):
    """The tool that was used."""

    type: Literal["file_search"]
    vector_store_ids: list[str]


class ResponseShown(Model, frozen=True, rename=None):
    """An answer in the form of a response."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed"]
    model: str
    output: list[FileSearchCall | OutputMessage]
    usage: ResponseUsage | None
    rag: RunShown
    previous_response_id: str | None
    instructions: str | None
    metadata: dict[str, str]
    tools: list[ShownTool]
    tool_choice: Literal["auto"] = "auto"
    parallel_tool_calls: bool = False
    error: None = None
    incomplete_details: None = None
    temperature: float | None = None
    top_p: float | None = None
    store: bool = True
