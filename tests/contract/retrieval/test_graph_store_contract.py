"""What every `GraphReader` promises: the graph at the snapshot's version, wherever it is kept."""

from tests.builders import entities_of, entity_id
from tests.contract.backends import Backend
from tests.subgraphs import mentions_of, passages_of, told

from agentic_rag.retrieval.candidates import EntityPassages, Neighbour

A, B, C, UNKNOWN = (entity_id(name) for name in ("A", "B", "C", "Unknown"))
ENTITIES = {
    "first": entities_of("A", "A", "B", pairs=[("A", "B"), ("A", "B")]),
    "second": entities_of("A", "C", pairs=[("A", "C")]),
    "third": entities_of("A", "B", "C", pairs=[("A", "B"), ("B", "C")]),
}


async def test_mentions_are_listed_up_to_the_cap_and_beyond_it_only_said_to_be_more(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    await graph_adapter.publish(workspace, "a.md", list(ENTITIES), entities=ENTITIES)

    async with graph_adapter.database.snapshot(workspace) as snapshot:
        found = await snapshot.graph.mentions_of([C, UNKNOWN, A], 2)
        whole = await snapshot.graph.mentions_of([A], 3)

    assert [(one.entity_id, one.passages) for one in found] == [(C, 2), (A, 3)]
    assert (found[0].ordinals, found[0].counts) == ((1, 2), (1, 1))
    assert (found[1].ordinals, found[1].counts) == ((), ())
    assert (whole[0].ordinals, whole[0].counts) == ((0, 1, 2), (2, 1, 1))


async def test_a_vicinity_holds_what_chunks_mention_and_where_all_that_stands(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    await graph_adapter.publish(workspace, "a.md", list(ENTITIES), entities=ENTITIES)

    async with graph_adapter.database.snapshot(workspace) as snapshot:
        found = await snapshot.graph.vicinity([C, UNKNOWN], [2, 0, 2], 2)
        named = await snapshot.graph.vicinity([B], [], 10)
        nothing = await snapshot.graph.vicinity([], [], 10)

    expected = sorted([(0, A), (0, B), (2, A), (2, B), (2, C)])
    assert [(mention.ordinal, mention.entity_id) for mention in mentions_of(found)] == expected
    assert [(one.entity_id, one.passages) for one in passages_of(found)] == sorted([(A, 3), (B, 2), (C, 2)])
    assert told(named) == ([], [EntityPassages(B, 2, (0, 2), (1, 1))])
    assert told(nothing) == ([], [])


async def test_neighbours_come_by_weight_then_id_up_to_the_cap(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    await graph_adapter.publish(workspace, "a.md", list(ENTITIES), entities=ENTITIES)

    async with graph_adapter.database.snapshot(workspace) as snapshot:
        neighbours = await snapshot.graph.neighbours([C, A], 10)
        strongest = await snapshot.graph.neighbours([A], 1)

    of_c = [Neighbour(C, related, 1) for related in sorted((A, B))]
    assert neighbours == [*of_c, Neighbour(A, B, 3), Neighbour(A, C, 1)]
    assert strongest == [Neighbour(A, B, 3)]


async def test_relations_go_with_the_chunk_that_stated_them(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    await graph_adapter.publish(workspace, "a.md", list(ENTITIES), entities=ENTITIES)
    await graph_adapter.publish(workspace, "a.md", ["second", "third"])

    async with graph_adapter.database.snapshot(workspace) as now, graph_adapter.database.snapshot(workspace, 1) as then:
        assert await now.graph.neighbours([A], 1) == [Neighbour(A, min(B, C), 1)]
        assert await then.graph.neighbours([A], 1) == [Neighbour(A, B, 3)]
        [mentions] = await now.graph.mentions_of([A], 10)
        assert now.graph.version == 2

    assert mentions.passages == 2


async def test_names_are_those_of_known_entities(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    await graph_adapter.publish(workspace, "a.md", list(ENTITIES), entities=ENTITIES)

    async with graph_adapter.database.snapshot(workspace) as snapshot:
        assert await snapshot.graph.names([A, UNKNOWN]) == {A: "A"}
        assert await snapshot.graph.names([]) == {}
