"""The page that a citation names: the right to its document comes before every other refusal."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from tests.unit.cli.product import answered

from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.cited_original import CitationAccess, FindCitedOriginal
from agentic_rag.answering.runs.show_page import ShowCitedPage
from agentic_rag.kernel.concurrency import untold
from agentic_rag.kernel.errors import NotFound, no_such_document
from agentic_rag.tenancy.principals import Principal, Role


@pytest.mark.parametrize(("may_read", "code"), [(False, "DOCUMENT_NOT_FOUND"), (True, "PAGE_NOT_SHOWN")])
async def test_only_who_may_read_the_document_is_told_that_the_citation_names_no_page(
    may_read: bool, code: str
) -> None:
    run = answered()
    [first, *more] = run.answer.citations
    run = replace(run, answer=replace(run.answer, citations=(replace(first, page=None), *more)))

    async def get(*_: object) -> Run:
        return run

    async def require(*_: object) -> None:
        if not may_read:
            raise no_such_document()

    nothing = cast("Any", None)
    runs, access = cast("Any", SimpleNamespace(get=get)), cast("Any", SimpleNamespace(require=require))
    show = ShowCitedPage(runs, access, nothing, nothing, nothing, untold, nothing)

    with pytest.raises(NotFound) as refused:
        await show.run(Principal(run.workspace.org_id, "ada", Role.MEMBER), run.workspace, run.run_id, first.marker)

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("may_read", "shift", "code"),
    [(False, 0, "DOCUMENT_NOT_FOUND"), (True, 90, "CITATION_NOT_FOUND"), (False, 90, "CITATION_NOT_FOUND")],
)
async def test_the_file_behind_a_citation_is_looked_for_after_every_right(
    may_read: bool, shift: int, code: str
) -> None:
    run = answered()
    marker = run.answer.citations[0].marker + shift

    async def get(*_: object) -> Run:
        return run

    async def require(*_: object) -> None:
        if not may_read:
            raise no_such_document()

    runs, access = cast("Any", SimpleNamespace(get=get)), cast("Any", SimpleNamespace(require=require))
    find = FindCitedOriginal(CitationAccess(runs, access), cast("Any", None))

    with pytest.raises(NotFound) as refused:
        await find.run(Principal(run.workspace.org_id, "ada", Role.MEMBER), run.workspace, run.run_id, marker)

    assert refused.value.code == code


@pytest.mark.parametrize(("is_cited", "code"), [(True, None), (False, "ORIGINAL_MISSING")])
async def test_the_file_of_a_restored_document_is_found_by_its_hash_where_its_revision_is_the_cited_one(
    is_cited: bool, code: str | None
) -> None:
    run = answered()
    cited = run.answer.citations[0]
    # The revision was read from a document of another id.
    document = SimpleNamespace(revision_id=cited.revision_id if is_cited else uuid4(), content_hash=b"hash")
    original = SimpleNamespace(content_hash=b"hash")

    async def tell(found: object) -> object:
        return found

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncGenerator[object]:
        yield SimpleNamespace(
            documents=SimpleNamespace(
                revision_spans=lambda *_: tell([None]),
                get=lambda *_: tell(document),
            ),
            originals=SimpleNamespace(of=lambda *_: tell([original])),
        )

    runs, access = (cast("Any", SimpleNamespace(**{name: lambda *_: tell(run)})) for name in ("get", "require"))
    database = cast("Any", SimpleNamespace(snapshot=opened, transaction=opened))
    find = FindCitedOriginal(CitationAccess(runs, access), database)
    principal = Principal(run.workspace.org_id, "ada", Role.MEMBER)

    if code is None:
        assert await find.run(principal, run.workspace, run.run_id, cited.marker) == (document, original)
        return
    with pytest.raises(NotFound) as refused:
        await find.run(principal, run.workspace, run.run_id, cited.marker)
    assert refused.value.code == code
