"""The values that an answer is made of, as clients see them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.domain.retrieval import ArmScore, DocumentFilter, Hop
from agentic_rag.domain.suspicion import Suspicion
from agentic_rag.domain.tenancy import WorkspaceRef

MAX_QUESTION_CHARACTERS = 4000
"""Longer questions are refused with QUESTION_TOO_LONG before any work."""

MAX_HISTORY_TURNS = 10
MAX_TURN_CHARACTERS = 4 * MAX_QUESTION_CHARACTERS
"""Question and answer of one turn together."""
MAX_TURN_CITED = 50
"""Passages that one turn may name as cited."""


class Outcome(enum.Enum):
    """How a run ended. Abstaining is an outcome, not an error."""

    GROUNDED = "GROUNDED"
    PARTIALLY_GROUNDED = "PARTIALLY_GROUNDED"
    CONFLICTING = "CONFLICTING"
    ABSTAINED = "ABSTAINED"


class AbstentionReason(enum.Enum):
    """Why there is no answer."""

    NO_EVIDENCE = "NO_EVIDENCE"
    LOW_SUPPORT = "LOW_SUPPORT"
    BUDGET = "BUDGET"
    POLICY = "POLICY"
    DEPENDENCY = "DEPENDENCY"


class Dependency(enum.Enum):
    """What was missing while a degraded answer was made."""

    CACHE = "CACHE"
    GRAPH = "GRAPH"
    EMBEDDER = "EMBEDDER"
    CHAT_MODEL = "CHAT_MODEL"
    DATABASE = "DATABASE"
    RERANKER = "RERANKER"


class FusionMethod(enum.Enum):
    """How the arms' results are merged."""

    WEIGHTED = "WEIGHTED"
    RRF = "RRF"


class CacheMode(enum.Enum):
    """DEFAULT reads and writes, REFRESH only writes, BYPASS does neither."""

    DEFAULT = "DEFAULT"
    REFRESH = "REFRESH"
    BYPASS = "BYPASS"


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an earlier answer cited."""

    document_id: UUID
    chunk_id: UUID


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question, its answer, and what that cited."""

    question: str
    answer: str
    cited: tuple[CitedPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Shares of the arms. `vector` is that of the two text arms together, divided by `lexical_share` (None: decided
    per question).
    """

    vector: float = 0.7
    graph: float = 0.3
    lexical_share: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What a caller may tune. None means: the workspace's or the process's default."""

    top_k: int | None = None
    min_score: float | None = None
    max_context_tokens: int | None = None
    use_hyde: bool | None = None
    use_tools: bool | None = None
    filter: DocumentFilter = field(default_factory=DocumentFilter)
    cache: CacheMode = CacheMode.DEFAULT
    timeout_ms: int | None = None
    fusion: FusionMethod | None = None
    weights: FusionWeights | None = None
    per_document: int | None = None
    """At most so many passages of one document; 0: no cap."""
    diversity: float | None = None
    """As `domain.selection.SelectionRules`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request to answer, already validated."""

    workspace: WorkspaceRef
    text: str
    history: tuple[Turn, ...] = ()
    as_of: int | None = None
    """A corpus version to read at, or None for the newest."""
    options: AnswerOptions = field(default_factory=AnswerOptions)
    idempotency_key: str | None = None
    after: UUID | None = None
    """A stored run that this question follows: the last turn of the conversation."""


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Code points [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A quoted span of a stored revision: `snippet == revision.text[source_span.start:source_span.end]`.

    `answer_spans` are the sentences of the answer it supports (offsets into the answer, markers included). `page` and
    lines are those of the quoted span.
    """

    marker: int
    document_id: UUID
    revision_id: UUID
    chunk_id: UUID
    ordinal: int
    title: str
    source_path: str
    url: str | None
    snippet: str
    source_span: TextSpan
    answer_spans: tuple[TextSpan, ...]
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    score: float
    arms: tuple[ArmScore, ...]
    origin: str
    """`corpus`, `section` (beside a passage that was found; scores and arms are its own), `figures` (looked for by the
    measure asked for) or a tool's name.
    """
    verified: bool
    path: tuple[Hop, ...] = ()
    """How the answer came to the passage: from another cited one, hop by hop; empty for one found by itself."""
    read_at: datetime | None = None
    """When the cited text was read from its source: which of two sources that disagree is the younger."""
    flags: tuple[Suspicion, ...] = ()
    """Signs that the quoted passage was written to steer a model."""


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """One signal of a decision: value × weight = contribution."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Downgrade:
    """A directive that policy or budget took back."""

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Directives:
    """What the gate allows the run to do."""

    use_retrieval: bool
    use_search: bool = False
    use_crawl: bool = False


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's decision with its whole justification."""

    directives: Directives
    plan_type: str
    """skip, retrieve, search or full_loop."""
    score: float
    thresholds: Mapping[str, float]
    contributions: tuple[FeatureContribution, ...]
    downgrades: tuple[Downgrade, ...]
    weights_version: str
    mode: str


class AnswerType(enum.Enum):
    """What kind of answer the question asks for."""

    FACT = "fact"
    FIGURE = "figure"
    DATE = "date"
    PERSON = "person"
    LIST = "list"
    YES_NO = "yes_no"
    COMPARISON = "comparison"
    CALCULATION = "calculation"
    LOOKUP = "lookup"


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of a question; `depends_on` are positions of parts that must be answered first."""

    text: str
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool the plan chose, with its argument. Retrieved text never makes one."""

    tool: str
    argument: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What the planner made of the question."""

    sub_questions: tuple[SubQuestion, ...]
    answer_type: AnswerType
    tools: tuple[ToolRequest, ...]
    planner: str
    """`rules` or the model's name."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that ran, and what it gave."""

    tool: str
    argument: str
    result: str | None
    error_code: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A page from the web that a run read, kept with the run: citations of it are verified against `text`."""

    revision_id: UUID
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class CandidateTrace:
    """A fused candidate as shown in `debug`."""

    chunk_id: UUID
    document_id: UUID
    title: str
    score: float
    arms: tuple[ArmScore, ...]
    dropped_because: str | None
    path: tuple[Hop, ...] = ()
    """The trail that raised it; empty without one."""
    flags: tuple[Suspicion, ...] = ()
    """As `Citation.flags`; looked for in passages that were handed to synthesis."""


@dataclass(frozen=True, slots=True)
class SelfCheckReport:
    """What the self-check found."""

    citation_coverage: float
    """Share of the answer's sentences that carry a verified citation, 0–1."""
    unsupported_claims: tuple[str, ...]
    guardrails: tuple[str, ...]
    repaired: bool


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage of a run: when it began and how long it took, in seconds, and how it ended (`ok`, `ok: model` when a
    chat model did it, `skipped: why`, `degraded: what`, or an error code).
    """

    stage: str
    started: float
    seconds: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Support:
    """How far the passages found support an answer to the question, in [0, 1], what counts as enough, and why."""

    score: float
    threshold: float
    contributions: tuple[FeatureContribution, ...] = ()

    @property
    def enough(self) -> bool:
        """True when an answer is given."""
        return self.score >= self.threshold


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a run searched with: its options without gaps."""

    top_k: int
    min_score: float
    fusion: FusionMethod
    weights: FusionWeights
    per_document: int | None
    diversity: float
    filter: DocumentFilter
    reranker: str | None = None
    similarity_threshold: float = 0.0
    """As `domain.workspace_settings.RagConfig`; 0: none."""


@dataclass(frozen=True, slots=True)
class AnswerDebug:
    """How the answer came about."""

    plan: Plan | None = None
    standalone_question: str | None = None
    rewritten_query: str | None = None
    hyde_text: str | None = None
    candidates: tuple[CandidateTrace, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    self_check: SelfCheckReport | None = None
    support: Support | None = None
    """None when the answer does not come from passages."""
    search: SearchSettings | None = None
    """None for a run that was stored before this was kept."""
    fetched: tuple[FetchedText, ...] = ()


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why there is no answer, with the nearest passages (verified citations that no sentence uses)."""

    reason: AbstentionReason
    explanation: str
    nearest: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The deterministic part of a run: equal input and corpus version give an equal value."""

    text: str
    outcome: Outcome
    abstention: Abstention | None
    citations: tuple[Citation, ...]
    degraded: tuple[Dependency, ...]
    gate: GateDecision
    debug: AnswerDebug


class CacheOutcome(enum.Enum):
    """What the cache did for a run."""

    HIT = "hit"
    MISS = "miss"
    JOINED = "joined"
    BYPASS = "bypass"


@dataclass(frozen=True, slots=True)
class RunVersions:
    """What an answer was made with."""

    corpus_version: int
    graph_version: int
    space: str | None
    weights_version: str
    pipeline_version: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of the state machine, as stored."""

    workspace: WorkspaceRef
    run_id: UUID
    trace_id: str
    question: str
    subject: str
    """Who asked."""
    created_at: datetime
    seconds: float
    cache: CacheOutcome
    versions: RunVersions
    answer: Answer
    stages: tuple[StageRecord, ...]
    idempotency_key: str | None = None
    input_hash: bytes | None = None
