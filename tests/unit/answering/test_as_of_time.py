"""What was there at an instant is read by texts and contexts, too: over stores in memory."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from tests.unit.answering.test_explain import World, filled

from agentic_rag.answering.build import waiting_room
from agentic_rag.answering.context.prepare_context import ContextPart, ContextRequest, PrepareContext
from agentic_rag.answering.context.search_passages import SearchPassages
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.read_text import ReadText
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.retrieval.retrieve import Retrieve

TITLE = "Baltic Chess Union"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with filled(World()) as made:
        yield made


async def test_a_text_is_read_as_of_an_instant(world: World) -> None:
    then = datetime.now(UTC)
    await world.add(TITLE, "The Baltic Chess Union was founded by Rosa Lund in Riga.")
    reading = ReadText(world.database, world.telemetry)
    async with world.database.transaction(world.workspace.org_id) as transaction:
        (key,) = (await resolve_ids(transaction.documents, world.workspace, [f"{TITLE}.md"])).values()

    before = await reading.run(world.asker, world.workspace, key, as_of_time=then)
    now = await reading.run(world.asker, world.workspace, key)

    assert "Otto Falk" in before.text
    assert "Rosa Lund" in now.text
    with pytest.raises(InvalidInput) as caught:
        await reading.run(world.asker, world.workspace, key, as_of=1, as_of_time=then)
    assert caught.value.path == ("asOfTime",)


async def test_a_context_is_made_as_of_an_instant(world: World) -> None:
    then = datetime.now(UTC)
    await world.add(TITLE, "The Baltic Chess Union was founded by Rosa Lund in Riga.")
    search = SearchPassages(
        world.database, world.embedders, Retrieve(world.telemetry), AnswerDefaults(), waiting_room(4), world.telemetry
    )
    prepare = PrepareContext(world.database, search, world.telemetry)
    asked = "Who founded the Baltic Chess Union?"

    made = [
        await prepare.run(
            world.asker, ContextRequest(asked, (ContextPart(world.workspace),), "project_knowledge", as_of_time=at)
        )
        for at in (then, None)
    ]

    assert ["Otto Falk" in one.text for one in made] == [True, False]
    assert ["Rosa Lund" in one.text for one in made] == [False, True]
