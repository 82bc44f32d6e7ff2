"""An answer and its parts, as clients see them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from uuid import UUID

from agentic_rag.answering.gate_decision import FeatureContribution, GateDecision
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.plan import Plan, ToolCall
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.language.symbols import Symbol
from agentic_rag.models.chat.request import ChatSpend
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Hop
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.web.page_paths import WebOrigin


class Outcome(enum.Enum):
    """How a run ended. Abstaining is an outcome, not an error."""

    GROUNDED = "GROUNDED"
    PARTIALLY_GROUNDED = "PARTIALLY_GROUNDED"
    UNCERTAIN = "UNCERTAIN"
    """The nearest text is quoted; that it answers the question is not established."""
    UNDERSPECIFIED = "UNDERSPECIFIED"
    """The question has several readings; each is answered with what it is about."""
    CONFLICTING = "CONFLICTING"
    ABSTAINED = "ABSTAINED"


class AbstentionReason(enum.Enum):
    """Why there is no answer."""

    NO_EVIDENCE = "NO_EVIDENCE"
    LOW_SUPPORT = "LOW_SUPPORT"
    NOT_STATED = "NOT_STATED"
    """The passages are about the subject, but state no such thing as is asked."""
    NOT_ESTABLISHED = "NOT_ESTABLISHED"
    """The text that is quoted may not be the answer."""
    UNDERSPECIFIED = "UNDERSPECIFIED"
    """The question does not say which of several things it means."""
    OTHER_LANGUAGE = "OTHER_LANGUAGE"
    """What was found is in another language than the question: sentences are chosen by words."""
    BUDGET = "BUDGET"
    POLICY = "POLICY"
    DEPENDENCY = "DEPENDENCY"


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Code points [start, end)."""

    start: int
    end: int


_WEB_ORIGINS = frozenset(origin.value for origin in WebOrigin)


def date_of(published: date | None, read_at: datetime | None) -> datetime | None:
    """From when the age of a text counts: the day (UTC) of its publication, else when it was read. A day of publication
    that was still to come then is none.
    """
    if published is None or (read_at is not None and published > read_at.date()):
        return read_at
    return datetime.combine(published, time(), UTC)


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
    measure asked for) or a tool's name; of a page that the web gave to the corpus, `WEB_SEARCH` or `CRAWL`.
    """
    verified: bool
    path: tuple[Hop, ...] = ()
    """How the answer came to the passage: from another cited one, hop by hop; empty for one found by itself."""
    read_at: datetime | None = None
    """When the cited text was read from its source; it shows which of two conflicting sources is newer."""
    flags: tuple[Suspicion, ...] = ()
    """Signs that the quoted passage was written to steer a model."""
    published: date | None = None
    """When the cited document was published, as it says itself."""
    is_recognised: bool = False
    """Whether words of the quote were recognised in a picture of their page: they may be misread."""
    symbol: Symbol | None = None
    """What the quote stands in, of source code; None outside of all definitions, and in every other text."""

    @property
    def dated(self) -> datetime | None:
        """From when the age of the cited text counts, as `date_of`."""
        return date_of(self.published, self.read_at)

    @property
    def is_web(self) -> bool:
        """Whether the cited document is a page that the web gave to the workspace."""
        return self.origin in _WEB_ORIGINS


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A page from the web that a run read, kept with the run: citations of it are verified against `text`."""

    revision_id: UUID
    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SelfCheckReport:
    """The findings of the self-check."""

    citation_coverage: float
    """Share of the answer's sentences that carry a verified citation, 0–1."""
    unsupported_claims: tuple[str, ...]
    guardrails: tuple[str, ...]
    repaired: bool


@dataclass(frozen=True, slots=True)
class Support:
    """How far something is supported, in [0, 1], with the threshold and the contributions."""

    score: float
    threshold: float
    contributions: tuple[FeatureContribution, ...] = ()

    @property
    def enough(self) -> bool:
        """True from the threshold on."""
        return self.score >= self.threshold


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The search options of a run, without gaps."""

    top_k: int
    min_score: float
    fusion: FusionMethod
    weights: FusionWeights
    per_document: int | None
    diversity: float
    filter: DocumentFilter
    reranker: str | None = None
    similarity_threshold: float = 0.0
    """As `workspaces.settings.RagConfig`; 0: none."""
    similarity_exponent: float | None = None
    """Of the scale of similarities, as it was measured for the workspace; None: the model's."""
    rerank: int = 0
    """As `workspaces.settings.RagConfig`; 0 where the process has its own reranker, or no reader."""


@dataclass(frozen=True, slots=True)
class StageUsage:
    """The calls of a chat model in one stage."""

    stage: str
    spend: ChatSpend


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
    """Of an answer by the passages; None when it does not come from passages."""
    search: SearchSettings | None = None
    """None for a run that was stored before this was kept."""
    fetched: tuple[FetchedText, ...] = ()
    chat: ChatSpend | None = None
    """What the run's own calls of a chat model cost; None without one."""
    usage: tuple[StageUsage, ...] = ()
    """The same by stage, in the order of the run."""
    certainty: Support | None = None
    """Of the claim that the cited sentences are the answer; below its threshold an answer is UNCERTAIN. None where that
    is not weighed.
    """


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
    outside: OutsideReport | None = None
    """What looking outside brought; None for a run that did not look."""

    @property
    def is_partial(self) -> bool:
        """Whether something was asked for outside that this answer had to do without."""
        return self.outside is not None and self.outside.is_partial
