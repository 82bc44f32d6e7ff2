"""What a model says a passage names counts where it stands there."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.prompts.extract import ClaimedGraph
from agentic_rag.ingestion.analysis.extract_entities import add_llm_entities
from agentic_rag.retrieval.graph.entities import ENTITY_CAP, PAIR_CAP, extract_entities

WORKSPACE = UUID(int=7)
TEXT = "The tidal lagoon at Otter Voe is run by Tobias Aarle. Its sluice gates were made in Port Aldery."
RULES = extract_entities(WORKSPACE, TEXT, (), "Sites")


def keys(claimed: ClaimedGraph) -> list[str]:
    return [entity.key for entity in add_llm_entities(WORKSPACE, TEXT, RULES, claimed).entities]


def test_a_name_that_stands_in_the_passage_is_added_and_an_invented_one_is_not() -> None:
    found = keys(ClaimedGraph(("sluice gates", "Loch Ness"), ()))

    assert "sluice gates" in found
    assert "loch ness" not in found


def test_relations_hold_between_names_of_the_passage_only() -> None:
    claimed = ClaimedGraph(("sluice gates",), (("sluice gates", "Port Aldery"), ("Otter Voe", "Loch Ness")))
    found = add_llm_entities(WORKSPACE, TEXT, RULES, claimed)

    first = {found.entities[place].key for place in found.pairs[0]}
    assert first == {"sluice gates", "port aldery"}
    assert all("loch ness" not in (found.entities[a].key, found.entities[b].key) for a, b in found.pairs)


WORDS = st.sampled_from([*TEXT.replace(".", "").split(), "Loch", "sluice gates", "tidal lagoon", ""])


@given(st.lists(WORDS, max_size=40), st.lists(st.tuples(WORDS, WORDS), max_size=30))
def test_whatever_a_model_claims_the_result_is_a_chunks_graph(names: list[str], pairs: list[tuple[str, str]]) -> None:
    found = add_llm_entities(WORKSPACE, TEXT, RULES, ClaimedGraph(tuple(names), tuple(pairs)))

    assert len(found.entities) <= ENTITY_CAP
    assert len(found.pairs) <= PAIR_CAP
    assert len({entity.entity_id for entity in found.entities}) == len(found.entities)
    assert len(set(found.pairs)) == len(found.pairs)
    for first, second in found.pairs:
        assert found.entities[first].entity_id.int < found.entities[second].entity_id.int
    strong = [entity for entity in RULES.entities if entity.kind != "part"]
    assert list(found.entities[: len(strong)]) == strong


def test_a_model_that_claims_nothing_changes_nothing() -> None:
    found = add_llm_entities(WORKSPACE, TEXT, RULES, ClaimedGraph((), ()))

    assert set(found.entities) == set(RULES.entities)
    assert len(found.pairs) == len(RULES.pairs)
