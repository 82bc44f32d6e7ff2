"""What every `RunStore` promises."""

import base64
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.builders import citation, run_of
from tests.contract.backends import Backend

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.run import EncodedAnswer
from agentic_rag.answering.runs.answer_codec import encode, pack
from agentic_rag.answering.runs.redaction import SOURCE_ERASED
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.kernel.errors import IdempotencyConflict, InvalidInput
from agentic_rag.kernel.pagination import PageRequest


async def test_a_run_comes_back_as_it_was_stored(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    run = run_of(workspace, citations=[citation(uuid4(), "a quoted span")])

    await adapter.runs.record([run])

    assert await adapter.runs.get(workspace, run.run_id) == run
    assert await adapter.runs.get(workspace, uuid4()) is None


@pytest.mark.parametrize("turns", [None, (), (UUID(int=1), UUID(int=2))])
async def test_the_runs_before_a_run_come_back_in_their_order(adapter: Backend, turns: tuple[UUID, ...] | None) -> None:
    workspace = await adapter.workspace()
    run = replace(run_of(workspace), turns=turns)

    await adapter.runs.record([run])

    found = await adapter.runs.get(workspace, run.run_id)
    assert found is not None
    assert found.turns == turns


async def test_runs_of_several_organisations_are_stored_together_and_kept_apart(adapter: Backend) -> None:
    one, other = await adapter.workspace(), await adapter.workspace()
    runs = [run_of(one), run_of(other), run_of(one)]

    await adapter.runs.record(runs)

    assert (await adapter.runs.page(one, PageRequest())).items == (runs[2], runs[0])
    assert await adapter.runs.get(other, runs[0].run_id) is None


async def test_runs_are_paged_newest_first(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    runs = [run_of(workspace) for _ in range(5)]
    await adapter.runs.record(runs)

    first = await adapter.runs.page(workspace, PageRequest(3))
    second = await adapter.runs.page(workspace, PageRequest(3, first.cursors[-1]))

    assert [*first.items, *second.items] == runs[::-1]
    assert (first.has_next, second.has_next) == (True, False)


async def test_a_filter_narrows_the_list_and_its_count_alike(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    made = run_of(workspace)
    crane = replace(run_of(workspace), question="Who pays for the CRANE?")
    ada = replace(run_of(workspace), question="Which crane 100%?", subject="ada")
    abstained = replace(made.answer, outcome=Outcome.ABSTAINED)
    late = replace(run_of(workspace), answer=abstained, created_at=made.created_at + timedelta(days=1))
    await adapter.runs.record([made, crane, ada, late])

    async def found(**wanted: Any) -> list[UUID]:
        page = await adapter.runs.page(workspace, PageRequest(), RunFilter(**wanted))
        assert await adapter.runs.count(workspace, RunFilter(**wanted)) == len(page.items)
        return sorted(run.run_id for run in page.items)

    assert await found() == sorted(run.run_id for run in (made, crane, ada, late))
    assert await found(words="crane") == sorted([crane.run_id, ada.run_id])
    assert await found(words="crane", subject="ada") == await found(words="0%") == [ada.run_id]
    assert await found(outcomes=frozenset({Outcome.ABSTAINED})) == [late.run_id]
    assert await found(since=late.created_at) == [late.run_id]
    assert await found(before=late.created_at, words="_") == []


async def test_an_idempotency_key_belongs_to_one_input(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first = run_of(workspace, idempotency_key="k", input_hash=b"1" * 32)
    same = run_of(workspace, idempotency_key="k", input_hash=b"1" * 32)
    other = run_of(workspace, idempotency_key="k", input_hash=b"2" * 32)

    await adapter.runs.record([first], durable=True)
    await adapter.runs.record([same], durable=True)
    with pytest.raises(IdempotencyConflict):
        await adapter.runs.record([other], durable=True)

    assert await adapter.runs.by_idempotency_key(workspace, "k") == first
    assert await adapter.runs.by_idempotency_key(workspace, "unused") is None
    assert (await adapter.runs.page(workspace, PageRequest())).items == (first,)


async def test_a_run_stored_after_its_source_was_erased_holds_none_of_its_words(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["the secret"])
    made = run_of(workspace, citations=[citation(published.document_id, "the secret")], text="the secret [1]")
    under_way = replace(made, encoded=EncodedAnswer(made.answer, pack(encode(made.answer))))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, published.document_id)

    await adapter.runs.record([under_way])

    kept = await adapter.runs.get(workspace, under_way.run_id)
    assert kept is not None
    assert kept.answer.text == SOURCE_ERASED
    assert "the secret" not in repr(kept)


async def test_erasing_a_document_takes_its_words_out_of_the_runs_that_cite_it(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["the secret"])
    citing = run_of(workspace, citations=[citation(published.document_id, "the secret")], text="the secret [1]")
    other = run_of(workspace, citations=[citation(uuid4(), "harmless")], text="harmless [1]")
    await adapter.runs.record([citing, other])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        erasure = await transaction.publisher.erase(workspace, published.document_id)

    assert erasure is not None
    assert erasure.runs_redacted == 1
    kept = await adapter.runs.get(workspace, citing.run_id)
    assert kept is not None
    assert "the secret" not in repr(kept)
    assert kept.answer.text == SOURCE_ERASED
    assert kept.question == citing.question
    assert await adapter.runs.get(workspace, other.run_id) == other


async def test_a_run_stored_after_the_erasure_of_its_source_holds_none_of_its_words(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "a.md", ["the secret"])
    late = run_of(workspace, citations=[citation(published.document_id, "the secret")], text="the secret [1]")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, published.document_id)

    await adapter.runs.record([late])

    stored = await adapter.runs.get(workspace, late.run_id)
    assert stored is not None
    assert "secret" not in repr(stored.answer)


@pytest.mark.parametrize(
    "key", ["", "a\0b", "9999-12-31T23:59:59-23:59|00000000-0000-0000-0000-000000000000", "2026-01-01T00:00:00|x"]
)
async def test_a_cursor_made_by_hand_is_refused_by_every_list(adapter: Backend, key: str) -> None:
    workspace = await adapter.workspace()
    request = PageRequest(5, base64.urlsafe_b64encode(key.encode()).decode())

    with pytest.raises(InvalidInput) as of_runs:
        await adapter.runs.page(workspace, request)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        with pytest.raises(InvalidInput) as of_jobs:
            await transaction.jobs.page(workspace, request)

    assert (of_runs.value.code, of_jobs.value.code) == ("CURSOR_INVALID", "CURSOR_INVALID")
