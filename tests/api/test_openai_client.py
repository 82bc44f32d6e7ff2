"""OpenAI's client over responses, files and vector stores, with nothing changed but its address and key."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.documents.document import TextLayout
from agentic_rag.documents.read_text import TextPart
from agentic_rag.kernel.errors import RateLimited
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.schema import build_schema
from tests.api.builders import (
    REF,
    WORKSPACE_ID,
    Container,
    FakeAnswer,
    a_run,
    document_id,
    numbered,
)
from tests.api.rest_product import rest_product

SCHEMA = build_schema()
SEARCH: Any = [{"type": "file_search", "vector_store_ids": [WORKSPACE_ID], "max_num_results": 3}]
STATES: Any = ("in_progress", "completed", "failed", "cancelled")
FILE = ("valve.md", b"# Valve\n\nIt opens at 3 bar.")


def _client(product: Any, token: str = "admin-token") -> AsyncOpenAI:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=build_app(product, SCHEMA)))
    return AsyncOpenAI(base_url="http://test/v1", api_key=token, http_client=http, max_retries=0)


async def test_a_response_is_the_answer_with_its_citations_as_files() -> None:
    asked = FakeAnswer()
    client = _client(Container(answer=asked), "viewer-token")

    reply = await client.responses.create(
        model="gpt-5", input="When does it open?", tools=SEARCH, include=["file_search_call.results"]
    )

    found = a_run().answer
    assert reply.output_text == found.text
    call, message = reply.output
    assert call.type == "file_search_call"
    assert [one.text for one in call.results or ()] == [one.snippet for one in found.citations]
    assert message.type == "message"
    text = message.content[0]
    assert text.type == "output_text"
    assert [(one.type, one.index, one.filename) for one in text.annotations] == [  # type: ignore[union-attr]
        ("file_citation", 29, "1.pdf"),
        ("file_citation", 29, "2.pdf"),
    ]
    assert text.annotations[0].file_id == document_id(1)  # type: ignore[union-attr]
    assert (reply.status, reply.model) == ("completed", "gpt-5")
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens
    question = asked.asked[0][1]
    assert (question.workspace, question.options.top_k) == (REF, 3)


async def test_a_response_follows_an_earlier_one_and_is_read_again() -> None:
    asked = FakeAnswer()
    client = _client(Container(answer=asked), "viewer-token")

    first = await client.responses.create(model="handbook", input="When does it open?")
    await client.responses.create(model="handbook", input="And when does it close?", previous_response_id=first.id)
    again = await client.responses.retrieve(first.id)

    assert asked.asked[1][1].after == numbered(500)
    assert again.output_text == first.output_text


async def test_a_stream_of_events_ends_with_the_whole_response() -> None:
    client = _client(Container())
    whole = await client.responses.create(model="handbook", input="When does it open?", tools=SEARCH)

    stream = await client.responses.create(model="handbook", input="When does it open?", tools=SEARCH, stream=True)
    events = [event async for event in stream]

    assert [one.sequence_number for one in events] == list(range(len(events)))
    kinds = [one.type for one in events]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert "response.file_search_call.searching" in kinds
    assert kinds.count("response.output_text.annotation.added") == 2
    assert "".join(one.delta for one in events if one.type == "response.output_text.delta") == whole.output_text
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == whole.output_text


async def test_a_response_is_shown_again_as_events_with_its_results_and_its_question() -> None:
    client = _client(Container(), "viewer-token")
    first = await client.responses.create(model="handbook", input="When does it open?")

    whole = await client.responses.retrieve(first.id, include=["file_search_call.results"])
    events = [one async for one in await client.responses.retrieve(first.id, stream=True, starting_after=2)]
    asked = [one async for one in client.responses.input_items.list(first.id)]
    cancelled = await client.responses.cancel(first.id)

    call = whole.output[0]
    assert call.type == "file_search_call"
    assert [one.text for one in call.results or ()] == [one.snippet for one in a_run().answer.citations]
    assert (events[0].sequence_number, events[-1].type) == (3, "response.completed")
    assert [one.to_dict()["content"] for one in asked] == [[{"type": "input_text", "text": a_run().question}]]
    assert (cancelled.id, cancelled.status) == (first.id, "completed")


async def test_a_response_is_deleted_by_its_id() -> None:
    product, deleted = Container(), list[Any]()
    client = _client(product, "viewer-token")
    first = await client.responses.create(model="handbook", input="When does it open?")

    async def delete_run(principal: Any, workspace: Any, run_id: Any) -> None:
        deleted.append((workspace, run_id))

    product.threads = SimpleNamespace(delete_run=delete_run)
    await client.responses.delete(first.id)
    with pytest.raises(openai.BadRequestError) as odd:
        await client.responses.delete("resp_1")

    assert deleted == [(REF, numbered(500))]
    assert odd.value.code == "INVALID_ID"


async def test_the_conversation_and_what_is_not_established_are_said() -> None:
    run = a_run()
    abstention = Abstention(AbstentionReason.NO_EVIDENCE, "Nothing is said of it.", ())
    empty = replace(run.answer, text="", outcome=Outcome.ABSTAINED, abstention=abstention, citations=())
    asked = FakeAnswer(replace(run, answer=empty))
    said: Any = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "Who made it?"}]},
        {"type": "function_call_output", "call_id": "1", "output": "x"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Corrand."}]},
        {"role": "user", "content": "When?"},
    ]

    reply = await _client(Container(answer=asked)).responses.create(model="handbook", input=said)

    assert reply.output_text == "Nothing is said of it."
    assert reply.to_dict()["rag"]["outcome"] == "ABSTAINED"  # type: ignore[index]
    assert [(turn.question, turn.answer) for turn in asked.asked[0][1].history] == [("Who made it?", "Corrand.")]


@pytest.mark.parametrize(
    ("changed", "error", "code", "param"),
    [
        ({"model": "nothing"}, openai.NotFoundError, "WORKSPACE_NOT_FOUND", None),
        ({"background": True}, openai.BadRequestError, "INVALID_INPUT", "background"),
        ({"input": [{"role": "assistant", "content": "x"}]}, openai.BadRequestError, "INVALID_INPUT", "messages"),
        ({"previous_response_id": "resp_1"}, openai.BadRequestError, "INVALID_ID", "previous_response_id"),
        (
            {"tools": [{"type": "file_search", "vector_store_ids": [WORKSPACE_ID, "x"]}]},
            openai.BadRequestError,
            "INVALID_INPUT",
            "tools",
        ),
        (
            {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]},
            openai.BadRequestError,
            "INVALID_ID",
            None,
        ),
    ],
)
async def test_a_refusal_is_openais_error_with_our_code(
    changed: dict[str, Any], error: type[openai.APIStatusError], code: str, param: str | None
) -> None:
    with pytest.raises(error) as refused:
        await _client(Container()).responses.create(**{"model": "handbook", "input": "When?", **changed})

    assert refused.value.code == code
    assert refused.value.type == "invalid_request_error"
    assert param is None or refused.value.param == param


async def test_a_model_is_read_by_its_name() -> None:
    client = _client(Container(), "viewer-token")
    listed = (await client.models.list()).data

    assert await client.models.retrieve(listed[0].id) == listed[0]
    with pytest.raises(openai.NotFoundError, match="names no workspace"):
        await client.models.retrieve("nope")


async def test_refusals_of_other_kinds_have_their_types() -> None:
    limited = Container(answer=FakeAnswer(RateLimited("Too many.", retry_after_seconds=2)))

    with pytest.raises(openai.RateLimitError) as late:
        await _client(limited).responses.create(model="handbook", input="When?")
    with pytest.raises(openai.AuthenticationError) as unknown:
        await _client(Container(), "nobody").models.list()

    assert late.value.type == "rate_limit_error"
    assert late.value.response.headers["retry-after"] == "2"
    assert unknown.value.type == "authentication_error"


async def test_a_file_goes_into_a_vector_store_and_keeps_its_id() -> None:
    client = _client(await rest_product())

    uploaded = await client.files.create(file=FILE, purpose="assistants")
    twin = await client.files.create(file=FILE, purpose="user_data")
    store = await client.vector_stores.create(name="valves", file_ids=[uploaded.id])
    added = await client.vector_stores.files.create(vector_store_id=store.id, file_id=twin.id)
    listed = [one.id async for one in client.vector_stores.files.list(store.id, limit=1)]
    held = await client.vector_stores.files.retrieve(uploaded.id, vector_store_id=store.id)
    content = await client.files.content(uploaded.id)

    assert uploaded.id != twin.id
    assert (uploaded.filename, uploaded.bytes, uploaded.status) == ("valve.md", len(FILE[1]), "uploaded")
    assert added.id == twin.id
    assert sorted(listed) == sorted([uploaded.id, twin.id])
    assert (held.id, held.status, held.vector_store_id) == (uploaded.id, "in_progress", store.id)
    assert content.content == FILE[1]
    assert (await client.vector_stores.retrieve(store.id)).file_counts.in_progress == 2


async def test_the_text_of_a_file_comes_whole_from_one_version() -> None:
    product = await rest_product()
    client = _client(product)
    file = await client.files.create(file=FILE, purpose="assistants")
    store = await client.vector_stores.create(name="valves", file_ids=[file.id])
    read, text, asked = product.read_text.run, "a" * 9 + "b" * 4, list[Any]()

    async def part(principal: Any, workspace: Any, document_id: Any, start: int = 0, as_of: int | None = None) -> Any:
        asked.append((start, as_of))
        layout = TextLayout(document_id, len(text), (), ())
        return TextPart(text[start : start + 9], start, layout, 7)

    with pytest.raises(openai.NotFoundError) as unread:
        await client.vector_stores.files.content(file.id, vector_store_id=store.id)
    product.read_text = SimpleNamespace(run=part)  # type: ignore[assignment]
    page = await client.vector_stores.files.content(file.id, vector_store_id=store.id)
    product.read_text = SimpleNamespace(run=read)  # type: ignore[assignment]

    assert unread.value.code == "TEXT_NOT_PUBLISHED"
    assert [(one.type, one.text) for one in page.data] == [("text", "a" * 9), ("text", "b" * 4)]
    assert asked == [(0, None), (9, 7)]


async def test_lists_of_files_are_narrowed_by_state_and_purpose() -> None:
    client = _client(await rest_product())
    file = await client.files.create(file=FILE, purpose="assistants")
    store = await client.vector_stores.create(name="valves", file_ids=[file.id])
    files = client.vector_stores.files

    found = {state: [one.id async for one in files.list(store.id, filter=state)] for state in STATES}
    by_purpose = {it: [one.id async for one in client.files.list(purpose=it)] for it in ("assistants", "batch")}
    with pytest.raises(openai.BadRequestError) as backwards:
        await client.vector_stores.list(before=store.id)
    with pytest.raises(openai.BadRequestError) as unknown:
        await files.list(store.id, filter="done")  # type: ignore[arg-type]

    assert found == {"in_progress": [file.id], "completed": [], "failed": [], "cancelled": []}
    assert by_purpose == {"assistants": [file.id], "batch": []}
    assert (backwards.value.param, unknown.value.param) == ("before", "filter")


async def test_files_and_vector_stores_are_listed_page_by_page() -> None:
    client = _client(await rest_product())
    files = [(await client.files.create(file=FILE, purpose="assistants")).id for _ in range(3)]

    assert sorted([one.id async for one in client.files.list(limit=2)]) == sorted(files)
    assert [one.name async for one in client.vector_stores.list(limit=1)] == ["general files", "handbook"]


async def test_what_is_taken_from_a_vector_store_stays_a_file_and_a_deleted_file_is_gone_everywhere() -> None:
    client = _client(await rest_product())
    file = await client.files.create(file=FILE, purpose="assistants")
    one = await client.vector_stores.create(name="one", file_ids=[file.id])
    two = await client.vector_stores.create(name="two", file_ids=[file.id])

    taken = await client.vector_stores.files.delete(file.id, vector_store_id=one.id)
    left = await client.files.retrieve(file.id)
    erased = await client.files.delete(file.id)

    assert (taken.deleted, left.id, erased.deleted) == (True, file.id, True)
    assert [it async for it in client.vector_stores.files.list(two.id)] == []
    with pytest.raises(openai.NotFoundError) as gone:
        await client.files.retrieve(file.id)
    assert gone.value.code == "DOCUMENT_NOT_FOUND"


async def test_a_search_of_a_vector_store_gives_passages_of_files() -> None:
    product = await rest_product()
    client = _client(product, "viewer-token")

    page = await client.vector_stores.search(WORKSPACE_ID, query=["valve", "pump"], max_num_results=5)

    assert [one.file_id for one in page.data] == []  # nothing was read yet


EQUAL = {"type": "eq", "key": "year", "value": 2024}
NESTED: Any = {"type": "and", "filters": [EQUAL]}
for _ in range(4):
    NESTED = {"type": "and", "filters": [NESTED]}


async def test_a_search_keeps_to_files_by_their_attributes() -> None:
    product = await rest_product()
    filters, search = list[Any](), product.search.run

    async def run(principal: Any, question: Any) -> Any:
        filters.append(question.options.filter.fields)
        return await search(principal, question)

    product.search = SimpleNamespace(run=run)  # type: ignore[assignment]
    wanted: Any = {
        "type": "and",
        "filters": [
            {"type": "gte", "key": "year", "value": 2020},
            {"type": "or", "filters": [{"type": "eq", "key": "team", "value": it} for it in ("core", "shell")]},
            {"type": "in", "key": "kind", "value": ["manual"]},
        ],
    }
    await _client(product).vector_stores.search(WORKSPACE_ID, query="valve", filters=wanted)

    assert [(one.name, one.comparison.value, one.values) for one in filters[0]] == [
        ("year", ">=", (2020,)),
        ("team", "=", ("core", "shell")),
        ("kind", "=", ("manual",)),
    ]


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ({**EQUAL, "type": "ne"}, "FILTER_INVALID"),
        ({"type": "or", "filters": [EQUAL, {**EQUAL, "key": "team"}]}, "FILTER_INVALID"),
        ({"type": "or", "filters": [{**EQUAL, "type": "gt"}, EQUAL]}, "FILTER_INVALID"),
        ({"type": "and", "filters": []}, "FILTER_INVALID"),
        ({"type": "in", "key": "year", "value": 2024}, "FILTER_INVALID"),
        ({"type": "gt", "key": "team", "value": "core"}, "FILTER_INVALID"),
        ({**EQUAL, "key": "a b"}, "METADATA_INVALID"),
        ({**EQUAL, "type": "like"}, "INVALID_INPUT"),
        (NESTED, "FILTER_INVALID"),
    ],
)
async def test_a_filter_that_is_not_read_is_refused_by_searches_and_responses(filters: Any, code: str) -> None:
    client = _client(await rest_product(), "viewer-token")
    tool: Any = {"type": "file_search", "vector_store_ids": [WORKSPACE_ID], "filters": filters}

    with pytest.raises(openai.BadRequestError) as searched:
        await client.vector_stores.search(WORKSPACE_ID, query="valve", filters=filters)
    with pytest.raises(openai.BadRequestError) as asked:
        await client.responses.create(model="handbook", input="When?", tools=[tool])

    assert (searched.value.code, asked.value.code) == (code, code)
    assert searched.value.type == "invalid_request_error"


async def test_a_vector_store_is_renamed_and_deleted_and_its_files_stay() -> None:
    client = _client(await rest_product())
    file = await client.files.create(file=FILE, purpose="assistants")
    store = await client.vector_stores.create(name="valves", file_ids=[file.id])

    renamed = await client.vector_stores.update(store.id, name="valves and pumps")
    with pytest.raises(openai.BadRequestError) as taken:
        await client.vector_stores.update(store.id, name="handbook")
    with pytest.raises(openai.BadRequestError) as unkept:
        await client.vector_stores.update(store.id, metadata={"a": "b"})
    deleted = await client.vector_stores.delete(store.id)

    assert (renamed.id, renamed.name) == (store.id, "valves and pumps")
    assert (taken.value.code, unkept.value.param) == ("WORKSPACE_EXISTS", "metadata")
    assert (deleted.id, deleted.deleted) == (store.id, True)
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.retrieve(store.id)
    assert (await client.files.retrieve(file.id)).id == file.id
    [uploads] = [one.id async for one in client.vector_stores.list() if one.name == "general files"]
    with pytest.raises(openai.BadRequestError):
        await client.vector_stores.delete(uploads)


async def test_attributes_of_a_file_are_kept_shown_and_replaced() -> None:
    client = _client(await rest_product())
    file = await client.files.create(file=FILE, purpose="assistants")
    store = await client.vector_stores.create(name="valves")

    added = await client.vector_stores.files.create(
        vector_store_id=store.id, file_id=file.id, attributes={"team": "core", "year": 2024, "open": True}
    )
    changed = await client.vector_stores.files.update(file.id, vector_store_id=store.id, attributes={"team": "shell"})
    emptied = await client.vector_stores.files.update(file.id, vector_store_id=store.id, attributes=None)
    with pytest.raises(openai.BadRequestError) as odd:
        await client.vector_stores.files.update(file.id, vector_store_id=store.id, attributes={"a b": "x"})

    assert added.attributes == {"team": "core", "year": 2024, "open": True}
    assert (changed.attributes, emptied.attributes) == ({"team": "shell"}, {})
    assert odd.value.code == "METADATA_INVALID"


async def test_files_are_added_as_a_batch_that_every_process_answers_for() -> None:
    product = await rest_product()
    client = _client(product)
    files = [(await client.files.create(file=FILE, purpose="assistants")).id for _ in range(3)]
    store = await client.vector_stores.create(name="valves")

    batch = await client.vector_stores.file_batches.create(
        vector_store_id=store.id, file_ids=files[:2], attributes={"team": "core"}
    )
    other = await client.vector_stores.file_batches.create(
        vector_store_id=store.id, files=[{"file_id": files[2], "attributes": {"team": "shell"}}]
    )
    batches = client.vector_stores.file_batches
    listed = [one async for one in batches.list_files(batch.id, vector_store_id=store.id, limit=1)]
    cancelled = await batches.cancel(other.id, vector_store_id=store.id)
    again = await _client(product).vector_stores.file_batches.retrieve(batch.id, vector_store_id=store.id)

    assert (again.id, again.status, again.file_counts.in_progress, again.file_counts.total) == (
        batch.id, "in_progress", 2, 2
    )  # fmt: skip
    assert [(one.id, one.attributes) for one in listed] == [(file, {"team": "core"}) for file in files[:2]]
    assert (cancelled.status, cancelled.file_counts.cancelled) == ("cancelled", 1)
    assert (await client.files.retrieve(files[2])).id == files[2]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({}, openai.BadRequestError),
        ({"file_ids": ["nothing"]}, openai.BadRequestError),
        ({"file_ids": [document_id(99)]}, openai.NotFoundError),
        ({"file_ids": [document_id(99)] * 101}, openai.BadRequestError),
    ],
)
async def test_a_batch_that_does_not_fit_adds_nothing(sent: dict[str, Any], error: type[openai.APIStatusError]) -> None:
    client = _client(await rest_product())

    with pytest.raises(error):
        await client.vector_stores.file_batches.create(vector_store_id=WORKSPACE_ID, **sent)
    with pytest.raises(openai.NotFoundError):
        await client.vector_stores.file_batches.retrieve("vsfb_x", vector_store_id=WORKSPACE_ID)

    assert len([one async for one in client.vector_stores.files.list(WORKSPACE_ID)]) == 1


async def test_a_batch_with_a_wrong_attribute_adds_none_of_its_files() -> None:
    client = _client(await rest_product())
    first, second = [(await client.files.create(file=FILE, purpose="assistants")).id for _ in range(2)]
    store = await client.vector_stores.create(name="valves")
    files = [{"file_id": first}, {"file_id": second, "attributes": {"not a name": "x"}}]

    with pytest.raises(openai.BadRequestError) as odd:
        await client.vector_stores.file_batches.create(vector_store_id=store.id, files=files)

    assert odd.value.code == "METADATA_INVALID"
    assert [one async for one in client.vector_stores.files.list(store.id)] == []


@pytest.mark.parametrize(
    ("token", "made", "error"),
    [
        ("viewer-token", {"name": "x"}, openai.PermissionDeniedError),
        ("admin-token", {"name": "handbook"}, openai.BadRequestError),
        ("admin-token", {"name": "x", "metadata": {"a": "b"}}, openai.BadRequestError),
        ("admin-token", {"name": "x", "file_ids": [document_id(99)]}, openai.NotFoundError),
        ("admin-token", {"name": "x", "chunking_strategy": {"type": "static"}}, openai.BadRequestError),
    ],
)
async def test_a_vector_store_that_cannot_be_made_leaves_nothing(
    token: str, made: dict[str, Any], error: type[openai.APIStatusError]
) -> None:
    product = await rest_product()

    with pytest.raises(error):
        await _client(product, token).vector_stores.create(**made)

    assert [one.name async for one in _client(product).vector_stores.list()] == ["handbook"]


async def test_another_organisation_has_nothing_of_it() -> None:
    product = await rest_product()
    file = await _client(product).files.create(file=FILE, purpose="assistants")
    other = _client(product, "other-token")

    for call in (
        other.files.retrieve(file.id),
        other.files.content(file.id),
        other.files.delete(file.id),
        other.vector_stores.retrieve(WORKSPACE_ID),
        other.vector_stores.files.list(WORKSPACE_ID),
        other.vector_stores.files.create(vector_store_id=WORKSPACE_ID, file_id=file.id),
        other.vector_stores.search(WORKSPACE_ID, query="valve"),
    ):
        with pytest.raises(openai.NotFoundError):
            await call
    assert [one.id async for one in other.files.list()] == []


async def test_a_file_of_no_known_kind_or_purpose_is_refused() -> None:
    client = _client(await rest_product())

    with pytest.raises(openai.BadRequestError) as batch:
        await client.files.create(file=FILE, purpose="batch")
    with pytest.raises(openai.APIStatusError) as broken:
        await client.files.create(file=("x.pdf", b"no pdf"), purpose="assistants")
    with pytest.raises(openai.APIStatusError) as first:
        await _client(await rest_product(), "member-token").files.create(file=FILE, purpose="assistants")

    assert batch.value.param == "purpose"
    assert broken.value.code == "CONTENT_MISMATCH"
    assert first.value.code == "FORBIDDEN"
