"""Fills the gaps of a caller's options, and validates requests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from agentic_rag.answering.answer import SearchSettings
from agentic_rag.answering.evidence.threshold import DEFAULT_THRESHOLD
from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.question import (
    MAX_HISTORY_TURNS,
    MAX_QUESTION_CHARACTERS,
    MAX_TURN_CHARACTERS,
    MAX_TURN_CITED,
    AnswerOptions,
    Question,
)
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.where import MAX_FILTER_VALUES, MAX_GLOBS
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import fold_text
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.workspaces.rag_config import reranker_name
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.web_profiles import PROFILES, Profiles

MAX_TOP_K = 50
CONTEXT_TOKENS = (64, 64_000)
TIMEOUT_MS = (1, 120_000)


@dataclass(frozen=True, slots=True)
class AnswerDefaults:
    """The process's defaults for options that a caller leaves open."""

    top_k: int = 8
    min_score: float = 0.0
    max_context_tokens: int = 8000
    use_hyde: bool = False
    use_tools: bool = True
    timeout_ms: int = 20_000
    model_timeout_ms: int = 60_000
    """Instead of `timeout_ms` where a chat model answers."""
    fusion: FusionMethod = FusionMethod.WEIGHTED
    weights: FusionWeights = FusionWeights()
    support_threshold: float = DEFAULT_THRESHOLD
    per_document: int | None = None
    """At most so many passages of one document; None: no cap."""
    chat: str = ""
    """The tasks of a chat model in this process, as text that differs whenever an answer may; empty without one."""
    diversity: float = 0.0
    """As `retrieval.selection.SelectionRules`."""
    reranker: str | None = None
    """The name of the reranker of every search."""
    wished_reranker: str | None = None
    """The name of the one that workspaces may wish for; None: their wish has no effect."""
    gate: GateRules = GateRules()
    """The bounds of the gate but for the policy, which each level narrows."""
    outside: str = ""
    """The web pages that may be read and the links that stay live, as text that differs whenever an answer may."""
    profiles: Profiles = field(default_factory=lambda: PROFILES)
    """What the names of profiles stand for."""

    @property
    def fingerprint(self) -> str:
        """Text that differs whenever an answer may (the time-out is no part of it)."""
        shares = f"{self.weights.vector!r} {self.weights.graph!r} {self.weights.lexical_share!r}"
        own = (
            "" if self.profiles == PROFILES else repr(sorted((name.value, one) for name, one in self.profiles.items()))
        )
        return (
            f"{self.top_k} {self.min_score!r} {self.max_context_tokens} {self.use_tools} {self.fusion.value} {shares} "
            f"{self.support_threshold!r} {self.per_document} {self.use_hyde} {self.chat} "
            f"{self.diversity!r} {self.reranker} {self.wished_reranker} {self.gate} {self.outside}{own}"
        )


@dataclass(frozen=True, slots=True)
class EffectiveOptions:
    """Options without gaps."""

    search: SearchSettings
    """The options that are stored with the run."""
    max_context_tokens: int
    use_hyde: bool
    use_tools: bool
    timeout_ms: int
    support_threshold: float
    gate: GateRules = GateRules()


def effective(
    options: AnswerOptions,
    defaults: AnswerDefaults,
    support_threshold: float | None = None,
    config: RagConfig | None = None,
    *,
    has_model: bool = False,
    similarity_exponent: float | None = None,
    gate: GateRules | None = None,
) -> EffectiveOptions:
    """The caller's options over the workspace's (`support_threshold`, `config`, whether a chat model answers, `gate`)
    over the process's defaults.
    """
    timeout_ms = defaults.model_timeout_ms if has_model else defaults.timeout_ms
    top_k = defaults.top_k if config is None else config.top_k
    similarity_threshold = 0.0 if config is None else config.similarity_threshold
    wished = defaults.wished_reranker
    rerank = 0 if config is None or wished is None or defaults.reranker is not None else config.rerank
    search = SearchSettings(
        top_k=top_k if options.top_k is None else options.top_k,
        min_score=defaults.min_score if options.min_score is None else options.min_score,
        fusion=options.fusion or defaults.fusion,
        weights=options.weights or defaults.weights,
        per_document=(defaults.per_document if options.per_document is None else options.per_document) or None,
        diversity=defaults.diversity if options.diversity is None else options.diversity,
        filter=options.filter,
        reranker=reranker_name(wished, rerank) if rerank and wished is not None else defaults.reranker,
        rerank=rerank,
        similarity_threshold=similarity_threshold if options.min_similarity is None else options.min_similarity,
        similarity_exponent=similarity_exponent,
    )
    return EffectiveOptions(
        search=search,
        max_context_tokens=(
            defaults.max_context_tokens if options.max_context_tokens is None else options.max_context_tokens
        ),
        use_hyde=defaults.use_hyde if options.use_hyde is None else options.use_hyde,
        use_tools=defaults.use_tools if options.use_tools is None else options.use_tools,
        timeout_ms=timeout_ms if options.timeout_ms is None else options.timeout_ms,
        support_threshold=defaults.support_threshold if support_threshold is None else support_threshold,
        gate=_with_request(defaults.gate if gate is None else gate, options.allow_web),
    )


def _with_request(gate: GateRules, allow_web: bool | None) -> GateRules:
    return replace(gate, policy=replace(gate.policy, request=allow_web))


def validate(question: Question) -> None:
    """Refuse a request that cannot be answered as it stands. Errors: `InvalidInput` with codes QUESTION_EMPTY,
    QUESTION_TOO_LONG, HISTORY_TOO_LONG, OPTION_OUT_OF_RANGE and the path of the argument.
    """
    if not fold_text(question.text):
        raise InvalidInput("The question is empty.", code="QUESTION_EMPTY", path=("question",))
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InvalidInput(
            f"The question has {len(question.text):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are answered.",
            code="QUESTION_TOO_LONG",
            path=("question",),
        )
    _validate_history(question)
    _validate_options(question.options)
    if question.as_of is not None and question.as_of < 0:
        raise _out_of_range("asOf", "a corpus version of at least 0", question.as_of, ("asOf",))
    if question.as_of is not None and question.as_of_time is not None:
        raise InvalidInput("Give `asOf` or `asOfTime`, not both.", path=("asOfTime",))
    if question.thread is not None and (question.begins_thread or question.history or question.after is not None):
        raise InvalidInput(
            "A thread has its own turns: give `thread` alone, or `beginThread` with `history` or `after`.",
            path=("thread",),
        )


def _validate_history(question: Question) -> None:
    if len(question.history) > MAX_HISTORY_TURNS:
        raise InvalidInput(
            f"The history has {len(question.history)} turns; send the last {MAX_HISTORY_TURNS}.",
            code="HISTORY_TOO_LONG",
            path=("history",),
        )
    for place, turn in enumerate(question.history):
        if len(turn.question) + len(turn.answer) > MAX_TURN_CHARACTERS:
            raise InvalidInput(
                f"Turn {place} of the history is longer than {MAX_TURN_CHARACTERS:,} characters.",
                code="HISTORY_TOO_LONG",
                path=("history", str(place)),
            )
        if len(turn.cited) > MAX_TURN_CITED:
            raise InvalidInput(
                f"Turn {place} of the history cites {len(turn.cited)} passages; at most {MAX_TURN_CITED} are read.",
                code="HISTORY_TOO_LONG",
                path=("history", str(place), "cited"),
            )


def _validate_options(options: AnswerOptions) -> None:
    _within("topK", options.top_k, 1, MAX_TOP_K)
    _within("minScore", options.min_score, 0.0, 1.0)
    _within("maxContextTokens", options.max_context_tokens, *CONTEXT_TOKENS)
    _within("timeoutMs", options.timeout_ms, *TIMEOUT_MS)
    _within("perDocument", options.per_document, 0, MAX_TOP_K)
    _within("diversity", options.diversity, 0.0, 1.0)
    _within("minSimilarity", options.min_similarity, 0.0, 1.0)
    _validate_filter(options.filter)
    weights = options.weights
    if weights is not None:
        for name, share in (
            ("vector", weights.vector),
            ("graph", weights.graph),
            ("lexicalShare", weights.lexical_share),
        ):
            _within(name, share, 0.0, 1.0, inside="weights")
        if weights.vector == 0 and weights.graph == 0:
            raise _out_of_range("weights", "at least one weight above 0", 0, ("options", "weights"))


def _validate_filter(narrowed: DocumentFilter) -> None:
    for name, values in (
        ("documentIds", narrowed.document_ids),
        ("withoutIds", narrowed.without_ids),
        ("mediaTypes", narrowed.media_types),
        ("tags", tuple(tag for tags in narrowed.tags for tag in tags)),
        ("domains", narrowed.domains),
        ("languages", narrowed.languages),
        ("fields", tuple(value for condition in narrowed.fields for value in condition.values)),
    ):
        if len(values) > MAX_FILTER_VALUES:
            raise _out_of_range(name, f"at most {MAX_FILTER_VALUES} values", len(values), ("options", "filter", name))
    if len(narrowed.path_globs) > MAX_GLOBS:
        raise _out_of_range("pathGlobs", f"at most {MAX_GLOBS}", len(narrowed.path_globs), ("options", "filter"))


def _within(name: str, value: float | None, low: float, high: float, *, inside: str | None = None) -> None:
    if value is None or (math.isfinite(value) and low <= value <= high):
        return
    path = ("options", name) if inside is None else ("options", inside, name)
    raise _out_of_range(name, f"between {low:g} and {high:g}", value, path)


def _out_of_range(name: str, wanted: str, given: float, path: tuple[str, ...]) -> InvalidInput:
    return InvalidInput(f"{name} is {given:g}; it must be {wanted}.", code="OPTION_OUT_OF_RANGE", path=path)
