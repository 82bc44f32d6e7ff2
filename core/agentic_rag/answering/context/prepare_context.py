"""Context for a prompt: a section made of the passages for a text, or of plain-text guidelines, or nothing."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.context.search_passages import FoundPassage, SearchPassages
from agentic_rag.answering.context.template import (
    JOINT,
    SectionItem,
    UsedText,
    fair_shares,
    fill,
    join_sections,
)
from agentic_rag.answering.options import CONTEXT_TOKENS, MAX_QUESTION_CHARACTERS
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.documents.document import content_hash
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import (
    BudgetExceeded,
    DependencyUnavailable,
    InvalidInput,
    MissingProviderKey,
    Permanent,
    Retryable,
    no_such_workspace,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.context_template import (
    TEMPLATES,
    ContextTemplate,
    find_template,
    require_room,
)
from agentic_rag.workspaces.workspace import Workspace

MAX_AGENTS = 10
"""Workspaces that one context may be made of."""

ALIVE_SECONDS = 0.2
"""How long the database may answer nobody before the context is empty: an answer takes about 1 ms."""

CONTEXT_SECONDS = 2.0
"""The time of a context unless the caller gives one: an agent waits for it before it begins."""

INLINE_SOURCE = "guidelines"

LATE = "CONTEXT_LATE"
"""The fault of a context that was not ready in time."""


class ContextStep(enum.Enum):
    """What a context is made of, the first that there is."""

    PASSAGES = "PASSAGES"
    INLINE = "INLINE"
    """The workspace's plain-text guidelines."""
    NOTHING = "NOTHING"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A workspace whose documents are searched, and the name of the agent or project that it belongs to."""

    workspace: WorkspaceRef
    agent: str = ""
    """Empty: a heading that names an agent names the workspace."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is wanted for. Options that are left open are the template's, then the workspace's."""

    text: str
    parts: tuple[ContextPart, ...]
    template: str
    options: AnswerOptions = AnswerOptions()
    tokens: int | None = None
    """The budget of the whole context; None: the template's."""
    as_of: int | None = None
    as_of_time: datetime | None = None
    """As `Question.as_of_time`, of every workspace."""
    is_enabled: bool = True
    """False: an agent that wants none asks all the same, and gets an empty one."""


@dataclass(frozen=True, slots=True)
class ContextSource:
    """A text of a context. `start` and `end` are code points of the document's text."""

    workspace: WorkspaceRef
    document_id: UUID
    chunk_id: UUID
    title: str
    source_path: str
    start: int
    end: int
    is_cut: bool
    similarity: float | None
    agent: str
    flags: tuple[Suspicion, ...]
    is_recognised: bool
    """As `FoundPassage.is_recognised`."""


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """A context, empty where there is nothing to say or something failed: then `fault` is the code of the failure."""

    template: str
    """Its name."""
    template_version: int
    """0: a template of the workspace that could not be read."""
    text: str = ""
    step: ContextStep = ContextStep.NOTHING
    sources: tuple[ContextSource, ...] = ()
    fault: str | None = None

    @property
    def tokens(self) -> int:
        """The estimated tokens of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class _Material:
    """What a part offers for its section."""

    part: ContextPart
    passages: tuple[FoundPassage, ...] = ()
    inline: str | None = None
    fault: str | None = None

    @property
    def items(self) -> list[SectionItem]:
        if self.inline is not None:
            return [SectionItem(INLINE_SOURCE, self.inline)]
        return [
            SectionItem(one.chunk.source_path, one.chunk.text.strip(), one.chunk.document_title)
            for one in self.passages
        ]


@dataclass(frozen=True, slots=True)
class PrepareContext:
    """The use case behind `context`, `POST /v1/context` and `rag context`."""

    database: Database
    search: SearchPassages
    telemetry: Telemetry

    async def run(self, principal: Principal, request: ContextRequest) -> PreparedContext:
        """The context that the caller may read. What makes searching impossible gives an empty one with its fault, in
        time: an agent goes on without.

        Errors: `InvalidInput` (TEMPLATE_UNKNOWN, CONTEXT_BUDGET_TOO_SMALL, OPTION_OUT_OF_RANGE, QUESTION_EMPTY,
        AS_OF_UNAVAILABLE), `NotFound` code WORKSPACE_NOT_FOUND.
        """
        if not 1 <= len(request.parts) <= MAX_AGENTS:
            raise InvalidInput(
                f"A context is made of 1 to {MAX_AGENTS} workspaces.", code="OPTION_OUT_OF_RANGE", path=("workspaces",)
            )
        context = PreparedContext(request.template, 0)
        limit = request.options.timeout_ms
        try:
            async with asyncio.timeout(CONTEXT_SECONDS if limit is None else limit / 1000):
                async with self.database.while_answering(ALIVE_SECONDS):
                    template, request = await self._completed(principal, request)
                context = PreparedContext(template.name, template.version)
                tokens = _budget(request, template)
                if request.is_enabled:
                    context = await self._filled(principal, request, template, tokens)
        except TimeoutError:
            context = replace(context, fault=LATE)
        except DependencyUnavailable as error:
            context = replace(context, fault=error.code)
        return self._counted(context)

    def fail(self, template: str, code: str) -> PreparedContext:
        """The empty context of a request whose workspaces could not be found out in time."""
        return self._counted(PreparedContext(template, 0, fault=code))

    async def _completed(self, principal: Principal, request: ContextRequest) -> tuple[ContextTemplate, ContextRequest]:
        """The template, a built-in one or one of the first workspace's own, and the request with the names that its
        headings show. What both need of the workspaces is read at once. Errors: `NotFound` code WORKSPACE_NOT_FOUND,
        `InvalidInput` code TEMPLATE_UNKNOWN.
        """
        first, built_in = request.parts[0].workspace, TEMPLATES.get(request.template)
        nameless = [one.workspace for one in request.parts if not one.agent.strip()]
        may_name = request.is_enabled and (built_in is None or built_in.names_agent)
        wanted = {*(() if built_in else (first,)), *(nameless if may_name else ())}
        found = await self._workspaces(principal, wanted)
        template = built_in or find_template(request.template, _known(found, first).settings.templates)
        if not (request.is_enabled and template.names_agent):
            return template, request
        named = [
            one if one.agent.strip() else replace(one, agent=_known(found, one.workspace).name) for one in request.parts
        ]
        return template, replace(request, parts=tuple(named))

    async def _workspaces(self, principal: Principal, wanted: Iterable[WorkspaceRef]) -> Mapping[UUID, Workspace]:
        """Those of the caller's organisation that are there."""
        ids = [one.workspace_id for one in wanted if one.org_id == principal.org_id]
        if not ids:
            return {}
        async with self.database.transaction(principal.org_id) as transaction:
            return await transaction.workspaces.get_many(ids)

    async def _filled(
        self, principal: Principal, request: ContextRequest, template: ContextTemplate, tokens: int
    ) -> PreparedContext:
        # Of a long task description the beginning says what is wanted.
        text = request.text.strip()[:MAX_QUESTION_CHARACTERS]
        asked = replace(request, text=text, options=_options(request, template))
        found = [self._material(principal, asked, part, template) for part in request.parts]
        return assemble_context(template, await asyncio.gather(*found), tokens)

    async def _material(
        self, principal: Principal, request: ContextRequest, part: ContextPart, template: ContextTemplate
    ) -> _Material:
        at = request.as_of_time
        asked = Question(part.workspace, request.text, as_of=request.as_of, options=request.options, as_of_time=at)
        try:
            found = await self.search.run(principal, asked, template.config, ALIVE_SECONDS)
            if found.passages:
                return _Material(part, found.passages)
            fault = found.degraded[0].value if found.degraded else None
            return _Material(part, inline=await self._inline(principal, part.workspace), fault=fault)
        except (DependencyUnavailable, BudgetExceeded, MissingProviderKey, Retryable, Permanent) as error:
            return _Material(part, fault=error.code)

    async def _inline(self, principal: Principal, ref: WorkspaceRef) -> str | None:
        """The plain-text guidelines, which viewers do not see."""
        if principal.role is Role.VIEWER:
            return None
        async with self.database.transaction(ref.org_id) as transaction:
            workspace = await transaction.workspaces.get(ref.workspace_id)
        return None if workspace is None else workspace.settings.inline_guidelines

    def _counted(self, context: PreparedContext) -> PreparedContext:
        outcome = context.fault or context.step.value
        # The names that users give are theirs, and too many for a label.
        template = context.template if context.template in TEMPLATES else "own"
        self.telemetry.count("rag_contexts_total", template=template, outcome=outcome)
        if context.fault:
            self.telemetry.event("rag_context_failed", level="warning", template=template, code=context.fault)
        return context


def assemble_context(template: ContextTemplate, materials: Sequence[_Material], tokens: int) -> PreparedContext:
    """The sections of all parts within one budget: each gets what it needs, at most a fair share. A text that two parts
    hold stands in the first.
    """
    materials = _without_repeats(materials)
    left = tokens - (len(materials) - 1) * estimate_tokens(JOINT)
    whole = [fill(template, one.items, tokens, one.part.agent) for one in materials]
    shares = fair_shares([one.tokens for one in whole], left)
    sections = [
        full if full.tokens <= share else fill(template, one.items, share, one.part.agent)
        for one, full, share in zip(materials, whole, shares, strict=True)
    ]
    used = [(one, section) for one, section in zip(materials, sections, strict=True) if section.text]
    step = ContextStep.NOTHING
    if used:
        is_inline = all(one.inline is not None for one, _ in used)
        step = ContextStep.INLINE if is_inline else ContextStep.PASSAGES
    return PreparedContext(
        template.name,
        template.version,
        join_sections(sections),
        step,
        tuple(_source(one, text) for one, section in used if one.inline is None for text in section.used),
        next((one.fault for one in materials if one.fault), None),
    )


def _without_repeats(materials: Sequence[_Material]) -> list[_Material]:
    known = set[bytes]()
    kept: list[_Material] = []
    for one in materials:
        fresh: list[FoundPassage] = []
        for passage in one.passages:
            text = content_hash(passage.chunk.text)
            if text not in known:
                known.add(text)
                fresh.append(passage)
        kept.append(replace(one, passages=tuple(fresh)))
    return kept


def _known(found: Mapping[UUID, Workspace], ref: WorkspaceRef) -> Workspace:
    """Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
    if ref.workspace_id not in found:
        raise no_such_workspace()
    return found[ref.workspace_id]


def _source(material: _Material, used: UsedText) -> ContextSource:
    passage = material.passages[used.place]
    chunk = passage.chunk
    start = chunk.start + len(chunk.text) - len(chunk.text.lstrip())
    return ContextSource(
        workspace=material.part.workspace,
        document_id=chunk.document_id,
        chunk_id=chunk.chunk_id,
        title=chunk.document_title,
        source_path=chunk.source_path,
        start=start,
        end=start + used.characters,
        is_cut=used.is_cut,
        similarity=passage.similarity,
        agent=material.part.agent,
        flags=passage.flags,
        is_recognised=passage.is_recognised,
    )


def _options(request: ContextRequest, template: ContextTemplate) -> AnswerOptions:
    """The options of the searches: the template's where it fixes them and the request leaves them open."""
    given = request.options
    if not template.is_fixed:
        return given
    config = template.config
    return replace(
        given,
        top_k=config.top_k if given.top_k is None else given.top_k,
        min_similarity=config.similarity_threshold if given.min_similarity is None else given.min_similarity,
    )


def _budget(request: ContextRequest, template: ContextTemplate) -> int:
    """The budget in tokens. Errors: `InvalidInput`."""
    tokens = template.tokens if request.tokens is None else request.tokens
    if tokens > CONTEXT_TOKENS[1]:
        raise InvalidInput(
            f"maxTokens is {tokens}; it must be at most {CONTEXT_TOKENS[1]}.",
            code="OPTION_OUT_OF_RANGE",
            path=("maxTokens",),
        )
    require_room(template, tokens, [one.agent for one in request.parts])
    return tokens
