"""Searches and contexts over a corpus in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock
from uuid import UUID

import pytest
from tests.unit.answering.answering_world import PRINCIPAL, Embedder, Telemetry
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.answering.build import waiting_room
from agentic_rag.answering.context.prepare_context import (
    ContextPart,
    ContextRequest,
    ContextStep,
    PrepareContext,
    PreparedContext,
)
from agentic_rag.answering.context.search_passages import FoundPassages, SearchPassages
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import (
    BudgetExceeded,
    DependencyUnavailable,
    InvalidInput,
    NotFound,
    Retryable,
    SnapshotOutdated,
)
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.audit import AuditAction, AuditEntry
from agentic_rag.tenancy.principals import Role, WorkspaceRef
from agentic_rag.workspaces.context_template import ContextTemplate
from agentic_rag.workspaces.rag_config import RagConfig
from agentic_rag.workspaces.settings import WorkspaceSettings

VALVE = "The relief valve of the boiler opens at 3 bar."
LEAVE = "Employees apply for leave two weeks ahead."
SELECTORS = "Use data-testid selectors in every browser test."


@dataclass
class Product:
    """Search and context over one corpus."""

    corpus: Corpus
    embedder: Embedder
    telemetry: Telemetry
    search: SearchPassages
    context: PrepareContext
    database: _WithSettings

    async def find(self, text: str, **options: Any) -> FoundPassages:
        return await self.search.run(PRINCIPAL, Question(WORKSPACE, text, options=AnswerOptions(**options)))

    async def prepare(self, text: str, template: str = "team_guidelines", **changes: Any) -> PreparedContext:
        request = ContextRequest(text, (ContextPart(WORKSPACE),), template)
        principal = replace(PRINCIPAL, role=changes.pop("role", Role.MEMBER))
        return await self.context.run(principal, replace(request, **changes))


def _product(corpus: Corpus, inline: str | None = None, templates: tuple[ContextTemplate, ...] = ()) -> Product:
    telemetry, embedder = Telemetry(), Embedder(opened=corpus)
    database = _WithSettings(corpus, WorkspaceSettings(inline_guidelines=inline, templates=templates))
    port: Any = database
    search = SearchPassages(port, only(embedder), Retrieve(telemetry), AnswerDefaults(), waiting_room(), telemetry)
    return Product(corpus, embedder, telemetry, search, PrepareContext(port, search, telemetry), database)


class _WithSettings:
    """A corpus whose workspace has settings."""

    def __init__(self, corpus: Corpus, settings: WorkspaceSettings) -> None:
        self._corpus = corpus
        self._settings = settings
        self.entries: list[tuple[AuditEntry, bool]] = []
        self.refuses_entries = False
        self.read_together = list[int]()
        """How many workspaces each statement asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._corpus, name)

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        if self._corpus.database_down:
            raise DependencyUnavailable("down", dependency="database")
        workspace = SimpleNamespace(name="handbook", settings=self._settings)

        async def get(workspace_id: UUID) -> Any:
            return workspace

        async def get_many(workspace_ids: list[UUID]) -> Any:
            self.read_together.append(len(workspace_ids))
            return dict.fromkeys(workspace_ids, workspace)

        yield SimpleNamespace(workspaces=SimpleNamespace(get=get, get_many=get_many))

    async def record_audit(self, org_id: UUID, entry: AuditEntry, *, durable: bool = True) -> None:
        if self.refuses_entries:
            raise DependencyUnavailable("down", dependency="database")
        self.entries.append((entry, durable))


@pytest.fixture
def corpus() -> Corpus:
    made = Corpus()
    made.add("boiler.md", "Boiler", VALVE)
    made.add("leave.md", "Leave", LEAVE)
    made.add("tests.md", "Tests", SELECTORS)
    return made


async def test_a_search_returns_the_text_of_passages_with_their_similarity(corpus: Corpus) -> None:
    found = await _product(corpus).find("When does the relief valve open?", top_k=2)

    first = found.passages[0]
    assert first.chunk.text == VALVE
    assert first.similarity is not None
    assert first.cosine is not None
    assert 0 < first.cosine < first.similarity <= 1
    assert len(found.passages) == 2
    assert found.corpus_version == corpus.version


async def test_the_text_itself_has_similarity_1(corpus: Corpus) -> None:
    found = await _product(corpus).find(VALVE)

    assert found.passages[0].similarity == pytest.approx(1.0, abs=1e-3)


async def test_nothing_below_the_least_similarity_is_returned(corpus: Corpus) -> None:
    product = _product(corpus)
    all_found = await product.find(VALVE, min_similarity=0.0)

    kept = await product.find(VALVE, min_similarity=0.9)

    assert len(all_found.passages) > 1
    assert [one.chunk.text for one in kept.passages] == [VALVE]


async def test_the_workspaces_settings_hold_unless_the_request_says_otherwise(corpus: Corpus) -> None:
    corpus.rag_config = RagConfig(top_k=1, similarity_threshold=0.9)
    product = _product(corpus)

    assert len((await product.find(VALVE)).passages) == 1
    assert len((await product.find(VALVE, top_k=3, min_similarity=0.0)).passages) > 1


async def test_a_filter_narrows_the_search(corpus: Corpus) -> None:
    found = await _product(corpus).find(f"{VALVE} {LEAVE}", filter=DocumentFilter(source_path_prefix="leave"))

    assert [one.chunk.source_path for one in found.passages] == ["leave.md"]


async def test_whose_passages_were_handed_out_is_recorded_without_waiting_for_the_disk(corpus: Corpus) -> None:
    product = _product(corpus)

    found = await product.find("When does the relief valve open?", top_k=1)
    nothing = await product.find("quantum chromodynamics", min_similarity=1.0)

    [(entry, durable)] = product.database.entries
    assert nothing.passages == ()
    assert (entry.action, entry.actor, durable) == (AuditAction.SEARCH_PASSAGES, PRINCIPAL.subject_id, False)
    assert entry.detail == {"documents": str(found.passages[0].chunk.document_id)}


async def test_nothing_is_handed_out_that_cannot_be_recorded(corpus: Corpus) -> None:
    product = _product(corpus)
    product.database.refuses_entries = True

    with pytest.raises(DependencyUnavailable):
        await product.find("When does the relief valve open?")
    prepared = await product.prepare(SELECTORS)

    assert (prepared.text, prepared.fault) == ("", "DEPENDENCY_UNAVAILABLE")


async def test_a_search_whose_process_remembers_another_state_opens_a_snapshot_at_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, begun = list[bool](), corpus.snapshot

    @asynccontextmanager
    async def snapshot(*arguments: Any, may_defer: bool = False, **named: Any) -> AsyncIterator[Any]:
        opened.append(may_defer)
        async with begun(*arguments, **named) as snapshot:
            if may_defer:
                snapshot.documents.chunks = AsyncMock(side_effect=SnapshotOutdated("The corpus changed."))
            yield snapshot

    monkeypatch.setattr(corpus, "snapshot", snapshot)

    found = await _product(corpus).find(VALVE)

    assert found.passages[0].chunk.text == VALVE
    assert opened == [True, False]


async def test_only_documents_with_recognised_pages_are_looked_at_for_them(corpus: Corpus) -> None:
    product = _product(corpus)
    scanned = next(one for one in corpus.chunks if one.text == LEAVE)

    first = await product.find(f"{VALVE} {LEAVE}")
    without = corpus.calls.names.count("revision_spans")
    corpus.chunks[scanned.ordinal] = replace(scanned, has_recognised_pages=True)
    second = await product.find(f"{VALVE} {LEAVE}")

    assert without == 0
    assert not any(one.is_recognised for one in first.passages)
    assert [one.chunk.text for one in second.passages if one.is_recognised] == [LEAVE]


async def test_without_an_embedder_words_find_passages_and_no_similarity_is_told(corpus: Corpus) -> None:
    product = _product(corpus)
    product.embedder.fails = Retryable("busy")

    found = await product.find("relief valve")

    assert found.passages[0].chunk.text == VALVE
    assert found.passages[0].similarity is None
    assert found.degraded == (Dependency.EMBEDDER,)


@pytest.mark.tells("rag_budget_refused")
async def test_a_spent_budget_leaves_a_search_to_words(corpus: Corpus) -> None:
    product = _product(corpus)
    product.embedder.fails = BudgetExceeded("The day's ceiling is reached.")

    assert (await product.find("relief valve")).degraded == (Dependency.EMBEDDER,)


@pytest.mark.tells("rag_search_without_vector")
async def test_without_an_embedder_nothing_passes_a_least_similarity(corpus: Corpus) -> None:
    product = _product(corpus)
    product.embedder.fails = Retryable("busy")

    assert (await product.find("relief valve", min_similarity=0.5)).passages == ()


async def test_the_workspace_of_another_organisation_is_not_there(corpus: Corpus) -> None:
    foreign = Question(WorkspaceRef(UUID(int=99), WORKSPACE.workspace_id), VALVE)

    with pytest.raises(NotFound):
        await _product(corpus).search.run(PRINCIPAL, foreign)


@pytest.mark.parametrize("options", [{"min_similarity": 1.5}, {"min_similarity": -0.1}, {"top_k": 0}])
async def test_options_out_of_range_are_refused(corpus: Corpus, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        await _product(corpus).find(VALVE, **options)

    assert refused.value.code == "OPTION_OUT_OF_RANGE"


async def test_a_context_is_made_of_passages_and_names_each(corpus: Corpus) -> None:
    prepared = await _product(corpus).prepare(SELECTORS)

    assert prepared.text == f"## Team Guidelines\n\n{SELECTORS}"
    assert prepared.step is ContextStep.PASSAGES
    (source,) = prepared.sources
    text, _ = corpus.revisions[corpus.chunks[2].revision_id]
    assert text[source.start : source.end] == SELECTORS
    assert source.source_path == "tests.md"
    assert not source.is_cut


async def test_without_a_near_passage_the_plain_text_guidelines_are_taken(corpus: Corpus) -> None:
    prepared = await _product(corpus, inline="Be kind.").prepare("quantum chromodynamics")

    assert (prepared.step, prepared.text) == (ContextStep.INLINE, "## Team Guidelines\n\nBe kind.")
    assert prepared.sources == ()


async def test_viewers_do_not_see_the_plain_text_guidelines(corpus: Corpus) -> None:
    prepared = await _product(corpus, inline="Be kind.").prepare("quantum chromodynamics", role=Role.VIEWER)

    assert (prepared.step, prepared.text) == (ContextStep.NOTHING, "")


async def test_without_guidelines_there_is_nothing(corpus: Corpus) -> None:
    prepared = await _product(corpus).prepare("quantum chromodynamics")

    assert (prepared.step, prepared.text, prepared.fault) == (ContextStep.NOTHING, "", None)


async def test_an_agent_that_wants_none_gets_none_and_nothing_is_searched(corpus: Corpus) -> None:
    product = _product(corpus)

    prepared = await product.prepare(SELECTORS, is_enabled=False)

    assert (prepared.text, prepared.fault) == ("", None)
    assert product.embedder.calls == []


async def test_a_database_that_is_away_gives_an_empty_context_with_its_fault(corpus: Corpus) -> None:
    product = _product(corpus)
    corpus.database_down = True

    prepared = await product.prepare(SELECTORS)

    assert (prepared.text, prepared.fault) == ("", "DEPENDENCY_UNAVAILABLE")
    labels = (("outcome", "DEPENDENCY_UNAVAILABLE"), ("template", "team_guidelines"))
    assert product.telemetry.counts["rag_contexts_total", labels] == 1
    assert "rag_context_failed" in product.telemetry.events


@pytest.mark.tells("rag_context_failed")
async def test_a_context_that_is_late_is_empty(corpus: Corpus) -> None:
    corpus.hang = 5.0

    began = asyncio.get_running_loop().time()
    prepared = await _product(corpus).prepare(SELECTORS, options=AnswerOptions(timeout_ms=50))

    assert (prepared.text, prepared.fault) == ("", "CONTEXT_LATE")
    assert asyncio.get_running_loop().time() - began < 2


async def test_a_workspace_that_is_not_there_is_an_error(corpus: Corpus) -> None:
    elsewhere = (ContextPart(WorkspaceRef(UUID(int=99), UUID(int=3))),)

    with pytest.raises(NotFound):
        await _product(corpus).prepare(SELECTORS, parts=elsewhere)


async def test_a_text_that_two_agents_hold_stands_in_the_first(corpus: Corpus) -> None:
    parts = (ContextPart(WORKSPACE, "Brand Judge"), ContextPart(WORKSPACE, "Product Judge"))

    product = _product(corpus)
    product.embedder.opened = None  # one agent is searched while the other one is embedded

    prepared = await product.prepare(SELECTORS, "multi_agent", parts=parts)

    assert prepared.text == f"### Context from Brand Judge's documents:\n{SELECTORS}"
    assert [one.agent for one in prepared.sources] == ["Brand Judge"]


async def test_the_names_of_several_workspaces_are_read_at_once(corpus: Corpus) -> None:
    product, elsewhere = _product(corpus), WorkspaceRef(WORKSPACE.org_id, UUID(int=77))
    parts = (ContextPart(WORKSPACE), ContextPart(elsewhere, "Named"), ContextPart(replace(elsewhere)))

    with pytest.raises(NotFound):  # the corpus has one workspace to search in
        await product.prepare(SELECTORS, "multi_agent", parts=parts)

    assert product.database.read_together == [2]


@pytest.mark.parametrize("heading", [None, "## What {agent} says"])
async def test_a_workspace_without_an_agents_name_stands_under_its_own(corpus: Corpus, heading: str | None) -> None:
    product = _product(corpus, templates=(OWN,) if heading is None else (replace(OWN, heading=heading),))

    prepared = await product.prepare(SELECTORS, "rules" if heading else "multi_agent", parts=(ContextPart(WORKSPACE),))

    assert prepared.text.splitlines()[0] == (
        "## What handbook says" if heading else "### Context from handbook's documents:"
    )
    assert [one.agent for one in prepared.sources] == ["handbook"]


async def test_a_budget_that_holds_no_sentence_leaves_nothing(corpus: Corpus) -> None:
    prepared = await _product(corpus).prepare(SELECTORS, tokens=8)

    assert (prepared.text, prepared.sources) == ("", ())


OWN = ContextTemplate("rules", "## Rules", item="> {text}", config=RagConfig(top_k=1), is_fixed=True)


async def test_a_template_of_the_workspace_is_used_at_the_version_asked_for(corpus: Corpus) -> None:
    product = _product(corpus, templates=(OWN, replace(OWN, heading="## New rules", version=2)))

    newest = await product.prepare(SELECTORS, "rules")
    older = await product.prepare(SELECTORS, "rules@1")

    assert newest.text == f"## New rules\n\n> {SELECTORS}"
    assert (newest.template, newest.template_version) == ("rules", 2)
    assert (older.text, older.template_version) == (f"## Rules\n\n> {SELECTORS}", 1)
    assert product.telemetry.counts["rag_contexts_total", (("outcome", "PASSAGES"), ("template", "own"))] == 2


async def test_a_template_that_nobody_made_is_unknown(corpus: Corpus) -> None:
    with pytest.raises(InvalidInput) as refused:
        await _product(corpus, templates=(OWN,)).prepare(SELECTORS, "rulez")

    assert refused.value.code == "TEMPLATE_UNKNOWN"


async def test_a_template_of_the_workspace_needs_the_database_in_time(corpus: Corpus) -> None:
    product = _product(corpus, templates=(OWN,))
    corpus.database_down = True

    prepared = await product.prepare(SELECTORS, "rules")

    assert (prepared.text, prepared.fault, prepared.template) == ("", "DEPENDENCY_UNAVAILABLE", "rules")


@pytest.mark.parametrize("place", ["snapshot", "record_audit"])
async def test_a_database_that_falls_silent_on_the_way_ends_the_context_before_its_time(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    product = _product(corpus)

    @asynccontextmanager
    async def impatient(seconds: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as late:
            raise DependencyUnavailable("silent", dependency="postgres") from late

    class Silent:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        async def __aenter__(self) -> None:
            await asyncio.Event().wait()

        async def __aexit__(self, *_: object) -> None: ...

        def __await__(self) -> Any:
            return self.__aenter__().__await__()

    monkeypatch.setattr(corpus, "while_answering", impatient)
    monkeypatch.setattr(product.database if place == "record_audit" else corpus, place, Silent)

    prepared = await product.prepare(SELECTORS, options=AnswerOptions(timeout_ms=60_000))

    assert (prepared.text, prepared.fault) == ("", "DEPENDENCY_UNAVAILABLE")


@pytest.mark.parametrize("count", [0, 11])
async def test_a_context_takes_one_to_ten_workspaces(corpus: Corpus, count: int) -> None:
    with pytest.raises(InvalidInput):
        await _product(corpus).prepare(SELECTORS, parts=(ContextPart(WORKSPACE),) * count)
