"""When two questions are the same: the key of the answer cache, and the hash behind an idempotency key."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache

from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.answering.gate.time_need import find_time_need
from agentic_rag.answering.question import AnswerOptions, Question, Turn
from agentic_rag.answering.understood_question import UnderstoodQuestion
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.web_profiles import PROFILES, Profiles

_ABOUT_TIME = re.compile(
    r"\b(?:today|now|current(?:ly)?|latest|newest|recent(?:ly)?|yesterday|tomorrow|ago|so far|upcoming|"
    r"(?:this|last|next|past|coming) (?:year|quarter|month|week|decade|night|summer|winter|spring|autumn))\b",
    re.IGNORECASE,
)


_KNOWN_QUESTIONS = 256
"""What is asked again is what the cache answers: six searches of its words took a fiftieth of such an answer."""


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Everything beside the question that an answer depends on."""

    access: ReadScope
    corpus_version: int
    graph_version: int
    space: str
    weights_version: str
    pipeline_version: str
    models: tuple[str, ...]
    defaults: str
    """A fingerprint of the process defaults that fill the options' gaps."""
    today: date
    support_threshold: float | None = None
    kind_thresholds: tuple[tuple[str, float], ...] = ()
    """The workspace's own; None: the default."""
    rag_config: RagConfig | None = None
    """The workspace's own, or its kind's."""
    similarity_exponent: float | None = None
    web: WebAccess = WebAccess()
    organisation_allows_web: bool = False
    profiles: Profiles = field(default_factory=lambda: PROFILES)
    """What the names of profiles stand for; told in `defaults` too."""
    model_reads_history: bool = False
    """A model rewrites follow-ups, so the answer depends on the whole conversation, not on the rules' rewrite alone."""

    @property
    def is_web_known(self) -> bool:
        """Whether anything was said of the web."""
        return self.organisation_allows_web or self.web != WebAccess()

    def bound_gate(self, rules: GateRules) -> GateRules:
        """The rules of the process, with the policy, the knob and the profile of the workspace."""
        policy = WebPolicy(self.organisation_allows_web, self.web.allow)
        wants = replace(self.profiles[self.web.profile], seeds=self.web.seeds)
        not_before = None if wants.newest_days is None else self.today - timedelta(days=wants.newest_days)
        return replace(rules, policy=policy, care=self.web.care, wants=wants, not_before=not_before)


@lru_cache(_KNOWN_QUESTIONS)
def is_about_time(question: str, newest_days: int | None = None) -> bool:
    """True when the answer may change with the day. `newest_days`: those of the workspace's profile."""
    need = find_time_need(question, newest_days)
    return _ABOUT_TIME.search(question) is not None or need.days is not None


def answer_key(question: UnderstoodQuestion, context: AnswerContext) -> str:
    """SHA-256 (64 hex digits) over everything the answer depends on. Fields are length-prefixed, so none runs into the
    next. Of a conversation, the stand-alone question and the passages cited before count.
    """
    asked = question.asked
    return _digest(
        str(asked.workspace.org_id),
        str(asked.workspace.workspace_id),
        ",".join(map(str, context.access.access_ids)),
        str(context.access.version),
        question.written,
        question.text,
        *(_history(asked.history) if context.model_reads_history else ()),
        *_citation_ids(asked.history),
        *_options(asked.options),
        str(context.corpus_version),
        str(context.graph_version),
        context.space,
        context.weights_version,
        context.pipeline_version,
        "\n".join(context.models),
        context.defaults,
        " ".join(map(repr, (context.support_threshold, *context.kind_thresholds))),
        " ".join(map(repr, (context.rag_config, *filter(None, (context.similarity_exponent,))))),
        context.today.isoformat()
        if is_about_time(question.text, context.profiles[context.web.profile].newest_days)
        else "",
        # Nothing where the web is closed, as above.
        *((repr((context.organisation_allows_web, context.web)),) if context.is_web_known else ()),
    ).hex()


def input_hash(question: Question) -> bytes:
    """SHA-256 (32 bytes) of a request as sent: the same idempotency key must come with the same one."""
    return _digest(
        str(question.workspace.org_id),
        str(question.workspace.workspace_id),
        question.text,
        *_history(question.history),
        *_citation_ids(question.history),
        *_options(question.options),
        question.options.cache.value,
        str(question.options.timeout_ms),
        str(question.as_of),
        str(question.after),
        *(() if question.as_of_time is None else (question.as_of_time.isoformat(),)),
        *(() if question.thread is None else (f"thread {question.thread}",)),
        *(("begins a thread",) if question.begins_thread else ()),
    )


def _history(turns: tuple[Turn, ...]) -> list[str]:
    return [str(len(turns)), *(part for turn in turns for part in (turn.question, turn.answer))]


def _citation_ids(turns: tuple[Turn, ...]) -> list[str]:
    cited = [one.chunk_id.hex for turn in turns for one in turn.cited]
    return [str(len(cited)), *cited]


_ANY = DocumentFilter()


def _options(options: AnswerOptions) -> list[str]:
    """The options that change an answer. The time-out is not one: an answer that it cuts short is not cached."""
    described = _ANY if options.filter == _ANY else _described(options.filter)
    return [
        str(options.top_k),
        str(options.min_score),
        str(options.max_context_tokens),
        str(options.use_hyde),
        str(options.use_tools),
        ",".join(sorted(map(str, options.filter.document_ids))),
        ",".join(sorted(map(str, options.filter.without_ids))),
        repr(options.filter.source_path_prefix),
        ",".join(sorted(options.filter.media_types)),
        *fusion_fields(options.fusion, options.weights),
        str(options.per_document),
        str(options.diversity),
        *((repr(described),) if described != _ANY else ()),
        # Nothing where it is left open: keys that were sent before it could be given stay what they were.
        *(() if options.min_similarity is None else (f"similarity {options.min_similarity!r}",)),
        *(() if options.allow_web is None else (f"web {options.allow_web}",)),
    ]


def _described(wanted: DocumentFilter) -> DocumentFilter:
    """The part of a filter that keys did not have from the beginning, its lists sorted."""
    return DocumentFilter(
        path_globs=tuple(sorted(wanted.path_globs)),
        tags=tuple(sorted(tuple(sorted(tags)) for tags in wanted.tags)),
        domains=tuple(sorted(wanted.domains)),
        languages=tuple(sorted(wanted.languages)),
        date_from=wanted.date_from,
        date_to=wanted.date_to,
        fields=tuple(sorted(wanted.fields, key=repr)),
        words=tuple(sorted(wanted.words)),
    )


def fusion_fields(method: FusionMethod | None, weights: FusionWeights | None) -> list[str]:
    """How results are merged, as text that differs whenever the merge does."""
    shares = "" if weights is None else f"{weights.vector!r} {weights.graph!r} {weights.lexical_share!r}"
    return [method.value if method else "", shares]


def _digest(*parts: str) -> bytes:
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return hashlib.sha256(b"".join([b"%d:%b" % (len(data), data) for data in encoded])).digest()
