"""The arguments of `ragAnswer`, and their way into the domain."""

from __future__ import annotations

import strawberry

from agentic_rag.domain import answers
from agentic_rag.domain.answers import (
    MAX_HISTORY_TURNS,
    MAX_QUESTION_CHARACTERS,
    AnswerOptions,
    FusionWeights,
    Question,
    Turn,
)
from agentic_rag.domain.errors import InvalidInput
from agentic_rag.domain.retrieval import DocumentFilter
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag_server.graphql.node_ids import NodeKind, decode

FusionMethod = strawberry.enum(answers.FusionMethod, description="How the arms' results are merged.")
CacheMode = strawberry.enum(
    answers.CacheMode, description="DEFAULT reads and writes the cache, REFRESH only writes, BYPASS does neither."
)

MAX_ANSWER_CHARACTERS = 20_000
MAX_KEY_CHARACTERS = 200
MAX_FILTER_ENTRIES = 100
MAX_PATH_CHARACTERS = 1024
MAX_CORPUS_VERSION = 2**31 - 1


@strawberry.input(description="An earlier question and its answer.")
class TurnInput:
    """A turn of the conversation."""

    question: str
    answer: str


@strawberry.input(description="Narrows retrieval to some documents; what is left out does not restrict.")
class DocumentFilterInput:
    """A filter."""

    document_ids: list[strawberry.ID] | None = None
    source_path_prefix: str | None = None
    media_types: list[str] | None = None


@strawberry.input(description="Shares of the arms, each 0 to 1.")
class FusionWeightsInput:
    """Weights of one request."""

    vector: float = strawberry.field(default=0.7, description="The two text arms together.")
    graph: float = 0.3
    lexical_share: float | None = strawberry.field(
        default=None, description="Lexical part of the text arms' share; null lets the question decide."
    )


@strawberry.input(description="What a caller may tune; what is left out has the workspace's default.")
class AnswerOptionsInput:
    """Options of one request."""

    top_k: int | None = strawberry.field(default=None, description="Passages handed to synthesis, 1 to 50.")
    min_score: float | None = strawberry.field(default=None, description="Least score of a passage, 0 to 1.")
    max_context_tokens: int | None = strawberry.field(default=None, description="100 to 200,000.")
    use_hyde: bool | None = None
    use_tools: bool | None = None
    filter: DocumentFilterInput | None = None
    cache: CacheMode = answers.CacheMode.DEFAULT  # type: ignore[valid-type]
    timeout_ms: int | None = strawberry.field(default=None, description="50 to 600,000.")
    fusion: FusionMethod | None = None  # type: ignore[valid-type]
    weights: FusionWeightsInput | None = None


@strawberry.input(description="A question over one workspace.")
class RagAnswerInput:
    """Arguments of `ragAnswer`."""

    question: str = strawberry.field(description=f"1 to {MAX_QUESTION_CHARACTERS} characters.")
    workspace_id: strawberry.ID
    history: list[TurnInput] | None = strawberry.field(
        default=None, description=f"Earlier turns, oldest first, at most {MAX_HISTORY_TURNS}."
    )
    as_of: int | None = strawberry.field(default=None, description="A corpus version to read at; null: the newest.")
    options: AnswerOptionsInput | None = None
    idempotency_key: str | None = strawberry.field(
        default=None, description="The same key with the same input returns the stored run."
    )


def read_question(given: RagAnswerInput, workspace: WorkspaceRef) -> Question:
    """The question of a request. Errors: `InvalidInput`, naming the argument."""
    return Question(
        workspace=workspace,
        text=_question(given.question),
        history=_history(given.history or []),
        as_of=_whole(given.as_of, 0, MAX_CORPUS_VERSION, "asOf"),
        options=_options(given.options, workspace) if given.options else AnswerOptions(),
        idempotency_key=_key(given.idempotency_key),
    )


def _question(text: str) -> str:
    if not text.strip():
        raise InvalidInput("Ask a question: the text is empty.", code="QUESTION_EMPTY", path=("question",))
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise InvalidInput(
            f"The question has {len(text)} characters; at most {MAX_QUESTION_CHARACTERS} are read.",
            code="QUESTION_TOO_LONG",
            path=("question",),
        )
    return _text(text, MAX_QUESTION_CHARACTERS, "question")


def _history(turns: list[TurnInput]) -> tuple[Turn, ...]:
    if len(turns) > MAX_HISTORY_TURNS:
        raise InvalidInput(f"Send at most the last {MAX_HISTORY_TURNS} turns.", path=("history",))
    return tuple(
        Turn(
            question=_text(turn.question, MAX_QUESTION_CHARACTERS, "history", str(at), "question"),
            answer=_text(turn.answer, MAX_ANSWER_CHARACTERS, "history", str(at), "answer"),
        )
        for at, turn in enumerate(turns)
    )


def _options(given: AnswerOptionsInput, workspace: WorkspaceRef) -> AnswerOptions:
    return AnswerOptions(
        top_k=_whole(given.top_k, 1, 50, "options", "topK"),
        min_score=_share(given.min_score, "options", "minScore"),
        max_context_tokens=_whole(given.max_context_tokens, 100, 200_000, "options", "maxContextTokens"),
        use_hyde=given.use_hyde,
        use_tools=given.use_tools,
        filter=_filter(given.filter, workspace) if given.filter else DocumentFilter(),
        cache=given.cache,
        timeout_ms=_whole(given.timeout_ms, 50, 600_000, "options", "timeoutMs"),
        fusion=given.fusion,
        weights=_weights(given.weights) if given.weights else None,
    )


def _filter(given: DocumentFilterInput, workspace: WorkspaceRef) -> DocumentFilter:
    path = ("options", "filter")
    ids, types = given.document_ids or [], given.media_types or []
    if len(ids) > MAX_FILTER_ENTRIES or len(types) > MAX_FILTER_ENTRIES:
        raise InvalidInput(f"A filter lists at most {MAX_FILTER_ENTRIES} entries.", path=path)
    documents = [decode(it, NodeKind.DOCUMENT, path=(*path, "documentIds", str(at))) for at, it in enumerate(ids)]
    if any(it.workspace_id != workspace.workspace_id for it in documents):
        raise InvalidInput("A filter names documents of the asked workspace only.", path=(*path, "documentIds"))
    prefix = given.source_path_prefix
    return DocumentFilter(
        document_ids=tuple(it.key for it in documents),
        source_path_prefix=_text(prefix, MAX_PATH_CHARACTERS, *path, "sourcePathPrefix") if prefix else None,
        media_types=tuple(_text(it, MAX_KEY_CHARACTERS, *path, "mediaTypes", str(at)) for at, it in enumerate(types)),
    )


def _weights(given: FusionWeightsInput) -> FusionWeights:
    path = ("options", "weights")
    vector = _share(given.vector, *path, "vector") or 0.0
    graph = _share(given.graph, *path, "graph") or 0.0
    if vector + graph == 0:
        raise InvalidInput("At least one weight must be above 0.", path=path)
    return FusionWeights(vector, graph, _share(given.lexical_share, *path, "lexicalShare"))


def _key(key: str | None) -> str | None:
    if key is None:
        return None
    if not key.strip():
        raise InvalidInput("An idempotency key is not empty.", path=("idempotencyKey",))
    return _text(key, MAX_KEY_CHARACTERS, "idempotencyKey")


def _text(text: str, most: int, *path: str) -> str:
    if len(text) > most:
        raise InvalidInput(f"`{path[-1]}` has {len(text)} characters; at most {most} are read.", path=path)
    if "\0" in text:
        raise InvalidInput(f"`{path[-1]}` holds a NUL character.", path=path)
    return text


def _whole(value: int | None, least: int, most: int, *path: str) -> int | None:
    if value is not None and not least <= value <= most:
        raise InvalidInput(f"`{path[-1]}` must be {least} to {most}.", path=path)
    return value


def _share(value: float | None, *path: str) -> float | None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise InvalidInput(f"`{path[-1]}` must be 0 to 1.", path=path)
    return value
