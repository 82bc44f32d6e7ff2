"""The arguments of `ragAnswer` as a `Question`. `answering.options` validates the values."""

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.answering import question as question_values
from agentic_rag.answering.options import CONTEXT_TOKENS, MAX_TOP_K, TIMEOUT_MS
from agentic_rag.answering.question import (
    MAX_HISTORY_TURNS,
    MAX_QUESTION_CHARACTERS,
    MAX_TURN_CITED,
    AnswerOptions,
    Question,
    Turn,
)
from agentic_rag.answering.threads.thread import TURNS_READ
from agentic_rag.documents.document import CitedPassage
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.retrieval import fusion_options
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.graphql.answering.filters import DocumentFilterInput, read_filter

FusionMethod = strawberry.enum(fusion_options.FusionMethod, description="How the arms' results are merged.")
CacheMode = strawberry.enum(
    question_values.CacheMode,
    description="DEFAULT reads and writes the cache, REFRESH only writes, BYPASS does neither.",
)

MAX_KEY_CHARACTERS = 200


@strawberry.input(description="A passage that an earlier answer cited: `sourceId` and `chunkId` of its citation.")
class CitedInput:
    source_id: strawberry.ID
    chunk_id: strawberry.ID


@strawberry.input(description="An earlier question and its answer.")
class TurnInput:
    question: str
    answer: str
    cited: list[CitedInput] | None = strawberry.field(
        default=None,
        description=f"What the answer cited, at most {MAX_TURN_CITED}; kept as evidence where it still matters.",
    )


@strawberry.input(description="Shares of the arms, each 0 to 1.")
class FusionWeightsInput:
    vector: float = strawberry.field(default=0.7, description="The two text arms together.")
    graph: float = 0.3
    lexical_share: float | None = strawberry.field(
        default=None, description="Lexical part of the text arms' share; null lets the question decide."
    )


@strawberry.input(description="What a caller may tune; what is left out has the workspace's default.")
class AnswerOptionsInput:
    top_k: int | None = strawberry.field(default=None, description=f"Passages handed to synthesis, 1 to {MAX_TOP_K}.")
    min_score: float | None = strawberry.field(default=None, description="Least score of a passage, 0 to 1.")
    max_context_tokens: int | None = strawberry.field(
        default=None, description=f"{CONTEXT_TOKENS[0]:,} to {CONTEXT_TOKENS[1]:,}."
    )
    use_hyde: bool | None = None
    use_tools: bool | None = None
    filter: DocumentFilterInput | None = None
    cache: CacheMode = question_values.CacheMode.DEFAULT  # type: ignore[valid-type]
    timeout_ms: int | None = strawberry.field(default=None, description=f"{TIMEOUT_MS[0]:,} to {TIMEOUT_MS[1]:,}.")
    fusion: FusionMethod | None = None  # type: ignore[valid-type]
    weights: FusionWeightsInput | None = None
    per_document: int | None = strawberry.field(
        default=None, description=f"At most so many passages of one document, up to {MAX_TOP_K}; 0: no cap."
    )
    diversity: float | None = strawberry.field(
        default=None,
        description="Weight of being unlike the passages already chosen (maximal marginal relevance), 0 to 1; 0: off.",
    )
    min_similarity: float | None = strawberry.field(
        default=None,
        description="Least similarity of a passage to the question, 0 to 1, whichever arm found it; 0: any.",
    )
    allow_web: bool | None = strawberry.field(
        default=None,
        description="False keeps the run from the web. True asks for it where the organisation and the workspace allow "
        "it, and widens nothing. Null: as they have it.",
    )


@strawberry.input(description="A question over one workspace.")
class RagAnswerInput:
    question: str = strawberry.field(description=f"1 to {MAX_QUESTION_CHARACTERS} characters.")
    workspace_id: strawberry.ID | None = strawberry.field(
        default=None, description="The workspace by its id. Give it or `workspace`."
    )
    workspace: str | None = strawberry.field(default=None, description="The workspace by its name.")
    history: list[TurnInput] | None = strawberry.field(
        default=None, description=f"Earlier turns, oldest first, at most {MAX_HISTORY_TURNS}."
    )
    after: strawberry.ID | None = strawberry.field(
        default=None, description="A run that this question follows: its last turn, with what it cited."
    )
    as_of: int | None = strawberry.field(default=None, description="A corpus version to read at; null: the newest.")
    as_of_time: datetime | None = strawberry.field(
        default=None, description="Read what was the newest version at this instant; give it or `asOf`."
    )
    thread: strawberry.ID | None = strawberry.field(
        default=None,
        description=f"A thread of the caller's: the question follows its newest {TURNS_READ} turns and becomes the "
        "next one. In the place of `history` and `after`.",
    )
    begin_thread: bool = strawberry.field(
        default=False, description="The question begins a thread: `run { threadId }` names it."
    )
    options: AnswerOptionsInput | None = None
    idempotency_key: str | None = strawberry.field(
        default=None, description="The same key with the same input returns the stored run."
    )


def read_question(given: RagAnswerInput, workspace: WorkspaceRef) -> Question:
    """The question of a request. Errors: `InvalidInput`, naming the argument."""
    return Question(
        workspace=workspace,
        text=require_no_nul(given.question, "question"),
        history=tuple(
            Turn(
                question=require_no_nul(turn.question, "history", str(at), "question"),
                answer=require_no_nul(turn.answer, "history", str(at), "answer"),
                cited=tuple(
                    _to_citation(one, workspace, ("history", str(at), "cited", str(place)))
                    for place, one in enumerate(turn.cited or ())
                ),
            )
            for at, turn in enumerate(given.history or ())
        ),
        as_of=given.as_of,
        as_of_time=given.as_of_time,
        options=_options(given.options, workspace) if given.options else AnswerOptions(),
        idempotency_key=_key(given.idempotency_key),
        after=None if given.after is None else _own(given.after, NodeKind.RUN, workspace, ("after",)),
        thread=None if given.thread is None else _own(given.thread, NodeKind.THREAD, workspace, ("thread",)),
        begins_thread=given.begin_thread,
    )


def _to_citation(given: CitedInput, workspace: WorkspaceRef, path: tuple[str, ...]) -> CitedPassage:
    return CitedPassage(
        _own(given.source_id, NodeKind.DOCUMENT, workspace, (*path, "sourceId")),
        _own(given.chunk_id, NodeKind.CHUNK, workspace, (*path, "chunkId")),
    )


def _own(given: str, kind: NodeKind, workspace: WorkspaceRef, path: tuple[str, ...]) -> UUID:
    """The key of an object in the workspace. Errors: `InvalidInput`."""
    found = decode(given, kind, path=path)
    if found.workspace_id != workspace.workspace_id:
        raise InvalidInput(f"This {kind.name.lower()} is not of the asked workspace.", path=path)
    return found.key


def _options(given: AnswerOptionsInput, workspace: WorkspaceRef) -> AnswerOptions:
    weights = given.weights
    return AnswerOptions(
        top_k=given.top_k,
        min_score=given.min_score,
        max_context_tokens=given.max_context_tokens,
        use_hyde=given.use_hyde,
        use_tools=given.use_tools,
        filter=read_filter(given.filter, workspace, ("options", "filter")),
        cache=given.cache,
        timeout_ms=given.timeout_ms,
        fusion=given.fusion,
        weights=FusionWeights(weights.vector, weights.graph, weights.lexical_share) if weights else None,
        per_document=given.per_document,
        diversity=given.diversity,
        min_similarity=given.min_similarity,
        allow_web=given.allow_web,
    )


def _key(key: str | None) -> str | None:
    if key is None:
        return None
    if not key.strip() or len(key) > MAX_KEY_CHARACTERS:
        raise InvalidInput(f"An idempotency key has 1 to {MAX_KEY_CHARACTERS} characters.", path=("idempotencyKey",))
    return require_no_nul(key, "idempotencyKey")
