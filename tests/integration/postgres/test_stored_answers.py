"""How answers of runs stand in the database, and what is read of runs from before."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest
from tests.builders import citation, run_of
from tests.contract.backends import Backend
from tests.stored_words import rows_as_text, tables_with

from agentic_rag.answering.run import CacheOutcome, EncodedAnswer, Run
from agentic_rag.answering.runs.answer_codec import decode, encode, pack
from agentic_rag.answering.runs.redaction import ANSWER_UNREADABLE, SOURCE_ERASED
from agentic_rag.kernel.errors import Permanent
from agentic_rag.kernel.pagination import PageRequest

pytestmark = [pytest.mark.integration, pytest.mark.network]

AS_BEFORE = "UPDATE rag_runs SET answer = $2::text::jsonb, stored_answer = NULL WHERE run_id = $1"
"""How a run was stored before revision 0057."""


@pytest.fixture
async def owner(migrated_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A superuser, whom row level security does not bind."""
    connection = await asyncpg.connect(migrated_url)
    yield connection
    await connection.close()


async def store_as_before(owner: asyncpg.Connection, stores: Backend, run: Run) -> None:
    await stores.runs.record([run])
    await owner.execute(AS_BEFORE, run.run_id, encode(run.answer).decode())


async def test_a_cached_run_comes_back_as_the_run_whose_answer_it_repeats(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    workspace = await stores.workspace()
    first = run_of(workspace, citations=[citation(uuid4(), "a quoted span")])
    answer = decode(encode(first.answer))
    again = replace(
        first,
        run_id=uuid4(),
        cache=CacheOutcome.HIT,
        stages=(),
        answer=answer,
        encoded=EncodedAnswer(answer, pack(encode(first.answer))),
    )

    await stores.runs.record([first, again])

    found = [await stores.runs.get(workspace, run.run_id) for run in (first, again)]
    stored = await owner.fetch(
        "SELECT stored_answer, answer FROM rag_runs WHERE workspace_id = $1", workspace.workspace_id
    )
    assert found == [first, again]
    assert found[0] is not None
    assert found[1] is not None
    assert encode(found[0].answer) == encode(found[1].answer) == encode(first.answer)
    assert {row["answer"] for row in stored} == {"{}"}
    assert {row["stored_answer"] for row in stored} == {pack(encode(first.answer))}


async def test_a_run_from_before_comes_back_alone_and_in_lists(stores: Backend, owner: asyncpg.Connection) -> None:
    workspace = await stores.workspace()
    before, since = run_of(workspace, text="as before [1]"), run_of(workspace)
    await store_as_before(owner, stores, before)
    await stores.runs.record([since])

    assert await stores.runs.get(workspace, before.run_id) == before
    listed = (await stores.runs.page(workspace, PageRequest())).items
    assert {run.run_id: run for run in listed} == {before.run_id: before, since.run_id: since}


async def test_an_erasure_takes_words_out_of_runs_of_both_forms(stores: Backend, owner: asyncpg.Connection) -> None:
    workspace = await stores.workspace()
    published = await stores.publish(workspace, "a.md", ["the quiet heron"])
    cited = [citation(published.document_id, "the quiet heron")]
    before, since = [run_of(workspace, citations=cited, text="the quiet heron [1]") for _ in range(2)]
    await store_as_before(owner, stores, before)
    await stores.runs.record([since])
    assert await tables_with(owner, ["rag_runs"], "quiet heron") == ["rag_runs"]

    async with stores.database.transaction(workspace.org_id) as transaction:
        traces = await transaction.erasures.traces(workspace, published.document_id)
        erasure = await transaction.publisher.erase(workspace, published.document_id)
        left = await transaction.erasures.traces(workspace, published.document_id)

    assert erasure is not None
    assert erasure.runs_redacted == 2
    assert [sum(one.rows for one in found if one.store == "rag_runs") for found in (traces, left)] == [2, 0]
    for run in (before, since):
        kept = await stores.runs.get(workspace, run.run_id)
        assert kept is not None
        assert kept.answer.text == SOURCE_ERASED
    assert not [row for row in await rows_as_text(owner, "rag_runs") if "quiet heron" in row]


def test_a_version_of_before_refuses_what_stands_in_its_place() -> None:
    with pytest.raises(ValueError, match="missing required field"):
        decode(b"{}")


@pytest.mark.parametrize("stored", [b"", b"no zlib", b"x\x01\x03\x00\x00\x00\x00\x01"])
async def test_a_damaged_answer_is_called_unreadable(stores: Backend, owner: asyncpg.Connection, stored: bytes) -> None:
    workspace = await stores.workspace()
    run = run_of(workspace)
    await stores.runs.record([run])
    await owner.execute("UPDATE rag_runs SET stored_answer = $2 WHERE run_id = $1", run.run_id, stored)

    with pytest.raises(Permanent) as refused:
        await stores.runs.get(workspace, run.run_id)

    assert refused.value.code == "RUN_UNREADABLE"
    await owner.execute("DELETE FROM rag_runs WHERE run_id = $1", run.run_id)


async def test_a_list_shows_the_other_runs_beside_one_that_a_newer_version_stored(
    stores: Backend, owner: asyncpg.Connection
) -> None:
    """As after a roll-back: the newer version knows outcomes, stages and ways of the cache that this one does not."""
    workspace = await stores.workspace()
    read, newer = run_of(workspace), run_of(workspace)
    await stores.runs.record([read, newer])
    stored = pack(encode(newer.answer).replace(b'"outcome":"', b'"outcome":"FUTURE_', 1))
    await owner.execute(
        "UPDATE rag_runs SET stored_answer = $2, outcome = 'FUTURE', cache = 'future' WHERE run_id = $1",
        newer.run_id,
        stored,
    )
    await owner.execute("UPDATE rag_run_stages SET stage = 'foresee' WHERE run_id = $1", newer.run_id)

    found = {run.run_id: run for run in (await stores.runs.page(workspace, PageRequest())).items}

    assert found[read.run_id] == read
    unread = found[newer.run_id]
    assert (unread.question, unread.answer.text, unread.answer.citations) == (newer.question, ANSWER_UNREADABLE, ())
    assert "RUN_UNREADABLE" in unread.answer.text
    with pytest.raises(Permanent) as refused:
        await stores.runs.get(workspace, newer.run_id)
    assert refused.value.code == "RUN_UNREADABLE"
    await owner.execute("DELETE FROM rag_runs WHERE run_id = $1", newer.run_id)
