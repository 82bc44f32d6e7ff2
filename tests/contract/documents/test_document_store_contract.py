"""What every `DocumentStore` and `DocumentReader` promises."""

from dataclasses import replace
from datetime import date

import pytest
from tests.builders import (
    EVERYBODY,
    drafts_of,
    new_chunk,
    new_document,
    publication,
    revision_of,
    vector_of,
)
from tests.contract.backends import Backend

from agentic_rag.documents.document import (
    Chunk,
    ChunkPosition,
    CitedPassage,
    DocumentFault,
    DocumentFilter,
    DocumentStatus,
    PageSpan,
    Revision,
    RevisionSpan,
    SpanRequest,
    document_id_for,
)
from agentic_rag.documents.metadata import NO_CHANGE, DocumentMetadata, MetadataChange
from agentic_rag.documents.where import parse_where, split_words
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.pagination import PageRequest

PASSAGES = ["first passage", "zweite Stelle mit Ümläuten", "第三"]


async def test_registering_again_sets_the_document_back_to_pending(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["text"])

    again = await adapter.register(workspace, new_document(workspace, "a.md", title="Renamed"))

    assert (again.status, again.title, again.chunk_count) == (DocumentStatus.PENDING, "Renamed", 1)
    async with adapter.database.snapshot(workspace) as snapshot:
        assert len(await snapshot.documents.chunks([0], EVERYBODY)) == 1


async def test_cited_passages_are_read_by_id_while_they_are_visible(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two"])
    await adapter.publish(workspace, "b.md", ["three"])
    async with adapter.database.snapshot(workspace) as snapshot:
        one, two, three = await snapshot.documents.chunks([0, 1, 2], EVERYBODY)
    cited = [CitedPassage(chunk.document_id, chunk.chunk_id) for chunk in (three, two, one)]
    elsewhere = CitedPassage(three.document_id, one.chunk_id)
    await adapter.publish(workspace, "a.md", ["two", "four"])

    async with adapter.database.snapshot(workspace) as snapshot:
        found = await snapshot.documents.chunks_by_citation([*cited, elsewhere], EVERYBODY)
        hidden = await snapshot.documents.chunks_by_citation(cited, [77])
    async with adapter.database.snapshot(workspace, as_of=2) as snapshot:
        before = await snapshot.documents.chunks_by_citation(cited, EVERYBODY)

    assert [chunk.text for chunk in found] == ["three", "two"]
    assert [chunk.text for chunk in before] == ["three", "two", "one"]
    assert hidden == []


async def test_chunks_are_read_by_their_place_in_a_revision(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two", "three"])
    async with adapter.database.snapshot(workspace) as snapshot:
        [two] = await snapshot.documents.chunks([1], EVERYBODY)
        places = [ChunkPosition(two.document_id, two.revision_id, index) for index in (2, 0, 3)]
        found = await snapshot.documents.chunks_at(places, EVERYBODY)
        hidden = await snapshot.documents.chunks_at(places, [77])
        nothing = await snapshot.documents.chunks_at([], EVERYBODY)

    assert [chunk.text for chunk in found] == ["three", "one"]
    assert hidden == nothing == []


@pytest.mark.parametrize("version", [1, 2])
async def test_chunks_beside_those_that_were_read_are_the_same_as_without_reading_these(
    adapter: Backend, version: int
) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two", "three"])
    await adapter.publish(workspace, "a.md", ["four", "five", "six"])

    async with (
        adapter.database.snapshot(workspace, version) as read,
        adapter.database.snapshot(workspace, version) as new,
    ):
        chunks = await read.documents.chunks(range(8), EVERYBODY, with_beside=True)
        beside: list[Chunk] = []
        for one in chunks:
            places = [ChunkPosition(one.document_id, one.revision_id, one.index + step) for step in (1, -1)]
            found = await read.documents.chunks_at(places, EVERYBODY)
            assert found == await new.documents.chunks_at(places, EVERYBODY)
            beside += found
            assert await read.documents.chunks_at(places, [77]) == []

    texts = {1: ["two", "one", "three", "two"], 2: ["five", "four", "six", "five"]}
    assert sorted(chunk.text for chunk in beside) == sorted(texts[version])


async def test_only_legal_moves_of_status_happen(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    fault = DocumentFault("PARSE_EMPTY", "The file is empty.", 1, False)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        store = transaction.documents
        jump = await store.set_status(workspace, document.document_id, DocumentStatus.READY)
        step = await store.set_status(workspace, document.document_id, DocumentStatus.PROCESSING)
        fall = await store.set_status(workspace, document.document_id, DocumentStatus.FAILED, fault)
        failed = await store.get(workspace, document.document_id)

    assert (jump, step, fall) == (False, True, True)
    assert failed is not None
    assert failed.fault == fault


async def test_documents_are_paged_in_the_order_of_their_paths(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for path in ("b.md", "a.md", "B.md", "ä.md"):
        await adapter.register(workspace, new_document(workspace, path))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        first = await transaction.documents.page(workspace, PageRequest(3))
        second = await transaction.documents.page(workspace, PageRequest(3, first.cursors[-1]))
        ready = await transaction.documents.page(workspace, PageRequest(3), [DocumentStatus.READY])
        counted = [
            await transaction.documents.count_listed(workspace, statuses) for statuses in ([], [DocumentStatus.READY])
        ]

    assert [document.source_path for document in first.items] == ["B.md", "a.md", "b.md"]
    assert [document.source_path for document in second.items] == ["ä.md"]
    assert (first.has_next, second.has_next, ready.items) == (True, False, ())
    assert counted == [4, 0]


async def test_a_foreign_cursor_is_refused(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        with pytest.raises(InvalidInput):
            await transaction.documents.page(workspace, PageRequest(3, "!!"))


async def test_staging_twice_changes_nothing_and_vectors_are_kept(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    revision = revision_of(document.document_id, PASSAGES)
    drafts = drafts_of(revision, PASSAGES)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        store = transaction.documents
        assert await store.load_staging(workspace, revision.revision_id) is None
        await store.stage(workspace, document.document_id, revision, drafts)
        await store.stage_vectors(workspace, revision.revision_id, 1, {1: vector_of("one")})
        await store.stage(workspace, document.document_id, revision, drafts)
        staged = await store.load_staging(workspace, revision.revision_id)

    assert staged is not None
    assert [(chunk.index, chunk.chunk_id) for chunk in staged] == [(draft.index, draft.chunk_id) for draft in drafts]
    assert [chunk.vector for chunk in staged] == [None, vector_of("one"), None]


async def test_staged_work_is_invisible_and_gone_after_the_publish(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    revision = revision_of(document.document_id, PASSAGES)
    drafts = drafts_of(revision, PASSAGES)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.documents.stage(workspace, document.document_id, revision, drafts)
    async with adapter.database.snapshot(workspace) as snapshot:
        assert await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY) == frozenset()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        chunks = [new_chunk(draft) for draft in drafts]
        await transaction.publisher.publish(workspace, 1, [publication(document.document_id, revision, chunks)])
        staged = await transaction.documents.load_staging(workspace, revision.revision_id)

    assert staged is None


async def test_discarding_keeps_the_wanted_revision_and_counts_chunks(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    revisions = [revision_of(document.document_id, PASSAGES[:size]) for size in (1, 2)]

    async with adapter.database.transaction(workspace.org_id) as transaction:
        store = transaction.documents
        for size, revision in enumerate(revisions, start=1):
            await store.stage(workspace, document.document_id, revision, drafts_of(revision, PASSAGES[:size]))
        gone = await store.discard_staging(workspace, document.document_id, keep=revisions[0].revision_id)
        kept = await store.load_staging(workspace, revisions[0].revision_id)
        rest = await store.discard_staging(workspace, document.document_id)

    assert (gone, rest) == (2, 1)
    assert kept is not None


async def test_spans_are_code_points_and_know_their_page(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    text = "\n\n".join(PASSAGES)
    pages = (PageSpan(1, 0, 15), PageSpan(2, 15, len(text)))
    revision = revision_of(document.document_id, PASSAGES, pages)
    drafts = drafts_of(revision, PASSAGES)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        chunks = [new_chunk(draft) for draft in drafts]
        await transaction.publisher.publish(workspace, 1, [publication(document.document_id, revision, chunks)])

    asked = [SpanRequest(revision.revision_id, draft.start, draft.end) for draft in reversed(drafts)]
    unknown = SpanRequest(document.document_id, 0, 5)
    async with adapter.database.snapshot(workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([*asked, unknown])

    read_at = next(span.read_at for span in spans if span is not None)
    assert read_at is not None
    assert spans == [
        RevisionSpan(PASSAGES[2], 2, read_at),
        RevisionSpan(PASSAGES[1], 2, read_at),
        RevisionSpan(PASSAGES[0], 1, read_at),
        None,
    ]
    assert {span.parser_version for span in spans if span is not None} == {revision.parser_version}


async def test_spans_anywhere_in_a_long_text_are_what_the_text_says_there(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    passage = "Größe 東京 naïve – the 🜁 pump lifts 40 m³ of water. " * 4_000
    await adapter.publish(workspace, "a.md", [passage])
    revision = revision_of(document_id_for(workspace, "a.md"), [passage])
    end = len(revision.text)
    places = [(first, first + size) for first in range(0, end, 9_973) for size in (0, 1, 40, 30_000)]
    places += [(end - 7, end), (end - 7, end + 7), (end, end + 1), (end + 9, end + 10), (0, 2**31 - 1)]

    async with adapter.database.snapshot(workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(revision.revision_id, *one) for one in places])
        layout = await snapshot.documents.layout(revision.document_id, EVERYBODY)

    assert [span and span.text for span in spans] == [revision.text[first:last] for first, last in places]
    assert layout is not None
    assert layout.characters == end


async def test_a_span_of_the_current_revision_knows_when_it_was_published(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document = await adapter.register(workspace, new_document(workspace, "a.md"))
    revisions = [revision_of(document.document_id, (text,)) for text in ("The pump is red.", "The pump is blue.")]
    before = None
    for revision, said in zip(revisions, ("2024-05-06", "2025-01-02"), strict=True):
        chunks = [new_chunk(draft) for draft in drafts_of(revision, (revision.text,))]
        made = publication(document.document_id, revision, chunks, expected=before)
        made, before = replace(made, provenance={"published": said}), revision.revision_id
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.publish(workspace, 1, [made])

    async with adapter.database.snapshot(workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(one.revision_id, 0, 3) for one in revisions])

    assert [span and span.published for span in spans] == [None, date(2025, 1, 2)]


async def test_a_span_tells_whether_words_of_its_own_revision_were_recognised(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    stated = ("2:2-2", "", "2:1-2")
    revisions: list[Revision] = []
    document = await adapter.register(workspace, new_document(workspace, "a.pdf"))
    for number, recognised in enumerate(stated):
        passages = (f"The pump of {number} is red.", "It lifts 40 litres.")
        pages = (PageSpan(1, 0, len(passages[0])), PageSpan(2, len(passages[0]) + 2, sum(map(len, passages)) + 2))
        revision = replace(revision_of(document.document_id, passages, pages), recognised_pages=recognised)
        chunks = [new_chunk(draft) for draft in drafts_of(revision, passages)]
        before = revisions[-1].revision_id if revisions else None
        made = replace(
            publication(document.document_id, revision, chunks, expected=before),
            provenance={"recognised_pages": recognised},
        )
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.publish(workspace, 1, [made])
        revisions.append(revision)

    asked = [SpanRequest(one.revision_id, page.start, page.end) for one in revisions for page in one.pages]
    async with adapter.database.snapshot(workspace) as snapshot:
        spans = await snapshot.documents.revision_spans(asked)

    assert [span and span.is_recognised for span in spans] == [False, True, False, False, True, True]


async def test_chunks_come_in_the_order_asked_without_what_the_caller_may_not_read(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", PASSAGES)

    async with adapter.database.snapshot(workspace) as snapshot:
        chunks = await snapshot.documents.chunks([2, 77, 0], EVERYBODY)
        forbidden = await snapshot.documents.chunks([0], (7,))

    assert [(chunk.ordinal, chunk.text, chunk.heading_path) for chunk in chunks] == [
        (2, PASSAGES[2], ("Chapter", "Section 2")),
        (0, PASSAGES[0], ("Chapter", "Section 0")),
    ]
    assert forbidden == []


@pytest.mark.parametrize(("pages", "is_told"), [("3:2-3", True), ("", False), (None, False)])
async def test_chunks_say_whether_pages_of_their_document_were_recognised(
    adapter: Backend, pages: str | None, is_told: bool
) -> None:
    workspace = await adapter.workspace()
    provenance = {} if pages is None else {"recognised_pages": pages}
    await adapter.publish(workspace, "a.md", PASSAGES, provenance=provenance)

    async with adapter.database.snapshot(workspace) as snapshot:
        [chunk] = await snapshot.documents.chunks([0], EVERYBODY)

    assert chunk.has_recognised_pages is is_told


async def test_a_chunk_of_an_earlier_revision_says_that_its_pages_may_have_been_recognised(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", PASSAGES[:1], provenance={"recognised_pages": "3:2-3"})
    await adapter.publish(workspace, "a.md", PASSAGES[1:2])

    found: list[bool] = []
    for version in (1, 2):
        async with adapter.database.snapshot(workspace, version) as snapshot:
            found += [chunk.has_recognised_pages for chunk in await snapshot.documents.chunks([0, 1], EVERYBODY)]

    assert found == [True, False]


async def test_titles_are_those_of_visible_chunks_that_the_caller_may_read(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", PASSAGES)
    await adapter.publish(workspace, "a.md", PASSAGES[1:])

    async with adapter.database.snapshot(workspace) as snapshot:
        titles = await snapshot.documents.titles([2, 0, 77], EVERYBODY)
        [chunk] = await snapshot.documents.chunks([2], EVERYBODY)
        forbidden = await snapshot.documents.titles([2], (7,))

    assert titles == {2: chunk.document_title}
    assert forbidden == {}


async def test_a_chunk_is_found_by_its_id_wherever_it_stood(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", PASSAGES)
    async with adapter.database.snapshot(workspace) as snapshot:
        first, second, third = await snapshot.documents.chunks([0, 1, 2], EVERYBODY)
    await adapter.publish(workspace, "a.md", PASSAGES[1:])
    wanted = [third.chunk_id, first.chunk_id, workspace.workspace_id]

    async with adapter.database.snapshot(workspace) as snapshot:
        places = await snapshot.documents.placements(wanted, EVERYBODY)
        forbidden = await snapshot.documents.placements(wanted, (7,))

    assert [(one.ordinal, one.chunk_id, one.visible_from, one.visible_to) for one in places] == [
        (0, first.chunk_id, 1, 2),
        (2, third.chunk_id, 1, 2),
        (2, third.chunk_id, 2, None),
    ]
    assert {(one.document_id, one.document_title) for one in places} == {(second.document_id, second.document_title)}
    assert forbidden == []


async def test_filters_combine(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "docs/a_%.md", ["one"])
    published = await adapter.publish(workspace, "docs/b.pdf", ["two"], media_type="application/pdf")
    await adapter.publish(workspace, "other/c.md", ["three"])

    async def matching(wanted: DocumentFilter) -> list[int]:
        async with adapter.database.snapshot(workspace) as snapshot:
            return sorted(await snapshot.documents.ordinals_matching(wanted, EVERYBODY))

    assert await matching(DocumentFilter(source_path_prefix="docs/")) == [0, 1]
    assert await matching(DocumentFilter(source_path_prefix="docs/a_%")) == [0]
    assert await matching(DocumentFilter(media_types=("text/markdown",))) == [0, 2]
    assert await matching(DocumentFilter((published.document_id,), "docs/", ("text/markdown",))) == []
    assert await matching(DocumentFilter(without_ids=(published.document_id,))) == [0, 2]
    assert await matching(DocumentFilter(source_path_prefix="docs/", without_ids=(published.document_id,))) == [0]


async def test_documents_are_found_by_words_of_their_titles_and_paths(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    titles = {
        "b/2023.pdf": "Annual Report of ÄRZTE AG",
        "b/2024.pdf": "Annual report",
        "notes/100%_done.md": r"C:\notes",
        "u\u0308ber.md": "Cafe\u0301",
    }
    for path, title in titles.items():
        await adapter.register(workspace, new_document(workspace, path, title=title))

    async def found(text: str) -> list[str]:
        wanted = DocumentFilter(words=split_words(text))
        async with adapter.database.transaction(workspace.org_id) as transaction:
            page = await transaction.documents.page(workspace, PageRequest(), wanted=wanted)
            assert await transaction.documents.count_listed(workspace, wanted=wanted) == len(page.items)
        return [document.source_path for document in page.items]

    assert await found("REPORT annual") == ["b/2023.pdf", "b/2024.pdf"]
    assert await found("report 2023") == await found("ärzte") == ["b/2023.pdf"]
    assert await found("report missing") == []
    assert await found("0%_d") == await found(r":\n") == ["notes/100%_done.md"]
    assert await found("b_2") == await found("r%t") == []
    assert await found("Über café") == await found("u\u0308ber") == ["u\u0308ber.md"]
    assert len(await found(" ")) == 4


async def test_a_search_keeps_to_the_words_of_a_filter(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "docs/lease.md", ["one"])
    await adapter.publish(workspace, "docs/crane.md", ["two"])

    async with adapter.database.snapshot(workspace) as snapshot:
        found = await snapshot.documents.ordinals_matching(DocumentFilter(words=("crane", "docs/")), EVERYBODY)

    assert sorted(found) == [1]


async def test_filters_by_what_is_said_of_documents(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    austrian = MetadataChange(
        tags=("draft", "hr"),
        domain="people",
        language="de-at",
        document_date=date(2024, 3, 1),
        fields={"team": "core", "pages": 12, "is_public": True, "due": "2024-06-30", "share": 0.5},
    )
    german = MetadataChange(tags=("hr",), language="de", document_date=date(2023, 12, 31), fields={"pages": 7})
    for path, change in (("docs/a.md", austrian), ("docs/deep/b.md", german), ("other/c.md", NO_CHANGE)):
        await adapter.publish(workspace, path, [f"text of {path}"])
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.describe(workspace, [document_id_for(workspace, path)], change)
    expected = {
        "tag=hr": [0, 1],
        "tag=draft,none": [0],
        "tag=hr tag=draft": [0],
        "tag=none": [],
        "domain=People": [0],
        "language=de": [0, 1],
        "language=de-AT": [0],
        "date>=2024-01-01": [0],
        "date<2024-01-01": [1],
        "date=2024-03-01": [0],
        "path=docs/*": [0],
        "path=docs/": [0, 1],
        "path=docs/**/b.md,other/?.md": [1, 2],
        "path=docs/a.md": [0],
        "field.team=core,shell": [0],
        "field.pages=7,12": [0, 1],
        "field.pages>7": [0],
        "field.pages<=12": [0, 1],
        'field.pages="7"': [],
        "field.is_public=true": [0],
        "field.due<2024-07-01": [0],
        "field.due>=2024-07-01": [],
        "field.share=0.5": [0],
        "field.team>=3": [],
        "tag=hr field.pages<10 language=de": [1],
    }

    async with adapter.database.snapshot(workspace) as snapshot:
        found = {
            text: sorted(
                await snapshot.documents.ordinals_matching(parse_where(text, workspace.workspace_id), EVERYBODY)
            )
            for text in expected
        }
    paths = ["docs/a.md", "docs/deep/b.md", "other/c.md"]
    async with adapter.database.transaction(workspace.org_id) as transaction:
        pages = {
            text: await transaction.documents.page(
                workspace, PageRequest(3), wanted=parse_where(text, workspace.workspace_id)
            )
            for text in expected
        }
        counted = {
            text: await transaction.documents.count_listed(workspace, wanted=parse_where(text, workspace.workspace_id))
            for text in expected
        }

    assert found == expected
    assert counted == {text: len(those) for text, those in expected.items()}
    assert {text: [paths.index(one.source_path) for one in page.items] for text, page in pages.items()} == expected


async def test_a_filter_follows_what_is_said_and_keeps_to_the_access_sets(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document_id = document_id_for(workspace, "a.md")
    await adapter.publish(workspace, "a.md", ["one"])
    seen: list[list[int]] = []

    async def look(access_ids: tuple[int, ...] = EVERYBODY, as_of: int | None = None) -> None:
        async with adapter.database.snapshot(workspace, as_of) as snapshot:
            wanted = DocumentFilter(tags=(("new",),))
            seen.append(sorted(await snapshot.documents.ordinals_matching(wanted, access_ids)))

    await look()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.documents.describe(workspace, [document_id], MetadataChange(tags=("new",)))
    await look()
    await look(as_of=1)
    await look((7,))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.documents.describe(workspace, [document_id], MetadataChange(tags=None))
    await look()
    await look(as_of=1)

    assert seen == [[], [0], [0], [], [], []]


async def test_what_is_said_of_a_document_wins_over_its_text_and_is_a_new_version(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document_id = document_id_for(workspace, "a.md")

    async def describe(change: MetadataChange) -> int:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            return await transaction.documents.describe(workspace, [document_id], change)

    async def stored() -> tuple[str, DocumentMetadata, int]:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, document_id)
            known = await transaction.workspaces.get(workspace.workspace_id)
        assert document is not None
        assert known is not None
        return document.title, document.metadata, known.corpus_version

    await adapter.register(workspace, new_document(workspace, "a.md"))
    said = MetadataChange(title="Named", tags=("b",), fields={"team": "core", "old": 1})
    assert await describe(said) == 1
    assert (await stored())[2] == 0
    found = MetadataChange(tags=("a",), domain="ours", fields={"team": "text", "of": "text"})
    await adapter.publish(workspace, "a.md", ["one"], metadata=found)

    before = await stored()
    again = await describe(said)
    after_nothing = await stored()
    changed = await describe(MetadataChange(title=None, tags=None, fields={"team": None}))

    fields = {"team": "core", "old": 1, "of": "text"}
    assert before == ("Named", DocumentMetadata(("b",), "ours", fields=fields), 1)
    assert (again, after_nothing) == (0, before)
    assert changed == 1
    assert await stored() == ("Named", DocumentMetadata((), "ours", fields={"old": 1, "of": "text"}), 2)


async def test_documents_are_found_by_name_exact_ones_first(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for path in ("a-plan.md", "plan.md", "other.md"):
        await adapter.publish(workspace, path, [f"text of {path}"])

    async with adapter.database.snapshot(workspace) as snapshot:
        found = await snapshot.documents.find_documents("PLAN.md", EVERYBODY, 10)

    assert [document.source_path for document in found] == ["plan.md", "a-plan.md"]


async def test_a_source_lists_what_it_brought(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.register(workspace, new_document(workspace, "a.md", provenance={"source": "folder"}))
    await adapter.register(workspace, new_document(workspace, "b.md", provenance={"source": "upload"}))
    await adapter.register(workspace, new_document(workspace, "c.md", provenance={"source": "folder"}))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        paths = await transaction.documents.paths(workspace, "folder")
        some = await transaction.documents.paths(workspace, "folder", ["b.md", "c.md"])

    assert (sorted(paths), list(some)) == (["a.md", "c.md"], ["c.md"])
    assert paths["a.md"].provenance == {"source": "folder"}


async def test_the_layout_of_a_text_is_that_of_the_version(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two"])
    await adapter.publish(workspace, "a.md", ["two", "three", "four"])
    async with adapter.database.snapshot(workspace) as snapshot:
        chunk = (await snapshot.documents.chunks(range(6), EVERYBODY))[-1]
        now = await snapshot.documents.layout(chunk.document_id, EVERYBODY)
        hidden = await snapshot.documents.layout(chunk.document_id, [77])
    async with adapter.database.snapshot(workspace, as_of=1) as snapshot:
        before = await snapshot.documents.layout(chunk.document_id, EVERYBODY)

    assert hidden is None
    assert now is not None
    assert before is not None
    async with adapter.database.snapshot(workspace) as snapshot:
        spans = await snapshot.documents.revision_spans(
            [SpanRequest(one.revision_id, 0, one.characters) for one in (before, now)]
        )
    texts = [span.text for span in spans if span is not None]
    assert [("one" in text, "four" in text) for text in texts] == [(True, False), (False, True)]
    assert [len(text) for text in texts] == [before.characters, now.characters]


async def test_a_document_of_another_workspace_has_no_layout(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one"])
    async with adapter.database.snapshot(workspace) as snapshot:
        (chunk,) = await snapshot.documents.chunks([0], EVERYBODY)

    async with adapter.database.snapshot(other) as snapshot:
        assert await snapshot.documents.layout(chunk.document_id, EVERYBODY) is None
