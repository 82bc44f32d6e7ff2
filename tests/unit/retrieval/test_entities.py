"""Entities by rule."""

import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.graph.entities import (
    ENTITY_CAP,
    PAIR_CAP,
    entity_id_for,
    entity_key,
    extract_entities,
    question_entities,
)

WORKSPACE = UUID(int=1)
OTHER = UUID(int=2)


def keys_of(text: str, *, headings: tuple[str, ...] = (), title: str | None = None) -> dict[str, str]:
    found = extract_entities(WORKSPACE, text, headings, title, cap=100)
    return {entity.key: entity.kind for entity in found.entities}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("TG-04", "tg 04"),
        ("tg04", "tg 04"),
        ("TG 04", "tg 04"),
        ("Smith’s", "smith"),
        ("max_retries", "max retries"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("  Acme,  Corp. ", "acme corp"),
        ("--", ""),
    ],
)
def test_spellings_of_a_name_share_a_key(name: str, key: str) -> None:
    assert entity_key(name) == key


@given(st.text(max_size=40))
def test_a_key_is_its_own_key(name: str) -> None:
    assert entity_key(entity_key(name)) == entity_key(name)


def test_ids_follow_from_workspace_and_key() -> None:
    assert entity_id_for(WORKSPACE, "acme") == entity_id_for(WORKSPACE, "acme")
    assert entity_id_for(WORKSPACE, "acme") != entity_id_for(OTHER, "acme")
    assert entity_id_for(WORKSPACE, "acme").version == 8


def test_names_give_themselves_their_pieces_and_their_words() -> None:
    found = keys_of("She met George T. Solomon at the University of Copenhagen. It rained.")

    assert found["george t solomon"] == "name"
    assert found["solomon"] == "part"
    assert found["university of copenhagen"] == "name"
    assert found["copenhagen"] == "part"


def test_identifiers_and_code_are_entities() -> None:
    found = keys_of("Pump TG-04 calls getUser, max_retries and os.path.join via PyCon (RFC3107).")

    assert found["tg 04"] == "identifier"
    assert found["rfc 3107"] == "identifier"
    assert {found[key] for key in ("getuser", "max retries", "os path join", "pycon")} == {"code"}


@pytest.mark.parametrize(
    "text",
    [
        "The pump failed. It was old. In winter, too.",
        "12 345 67.8",
        "On Monday in January",
        'he said "quoted words" and e.g. i.e. more',
        "see https://example.com/Some/Path_here for more",
    ],
)
def test_function_words_numbers_dates_quotes_and_links_are_no_entities(text: str) -> None:
    assert keys_of(text) == {}


def test_a_leading_article_is_no_part_of_a_name() -> None:
    assert "beatles" in keys_of("The Beatles played.")


def test_a_first_word_that_is_also_written_small_is_no_name() -> None:
    assert keys_of("Water boils. Cold water does not.") == {"cold": "name"}
    assert "paris" in keys_of("Paris is large.")


@pytest.mark.parametrize("before", ["", "small ", "12", "3.5 ", "漢", "word.", "x2", "( ", "a/"])
@pytest.mark.parametrize("name", ["Zurich", "Éclair", "\u03a2bc"])
def test_a_name_is_found_behind_whatever_names_nothing(before: str, name: str) -> None:
    assert entity_key(name) in " ".join(keys_of(f"{before}{name} it said"))


def test_acronyms_that_look_like_function_words_are_names() -> None:
    assert "who" in keys_of("the WHO decided")


def test_titles_with_their_aliases_and_inner_headings_are_entities() -> None:
    found = keys_of("nothing", headings=("Manual", "Cooling", "Pumps"), title="Mercury (planet), overview")

    assert found["mercury planet overview"] == "title"
    assert found["mercury overview"] == "title"
    assert found["pumps"] == found["cooling"] == "heading"
    assert "manual" not in found


def test_pairs_stand_in_one_sentence_smaller_id_first() -> None:
    found = extract_entities(WORKSPACE, "Alice met Bob. Carol slept.", (), None)

    ids = [entity.entity_id for entity in found.entities]
    names = {tuple(sorted((found.entities[a].name, found.entities[b].name))) for a, b in found.pairs}
    assert names == {("Alice", "Bob")}
    assert all(ids[first] < ids[second] for first, second in found.pairs)


def test_mentions_are_counted() -> None:
    found = extract_entities(WORKSPACE, "we saw Alice, then Alice, and Bob", (), None)

    assert [(entity.name, entity.count) for entity in found.entities] == [("Alice", 2), ("Bob", 1)]


@given(st.text(st.sampled_from("AbZ c.\n-_1é’"), max_size=300))
def test_a_chunk_has_bounded_distinct_entities_and_pairs(text: str) -> None:
    found = extract_entities(WORKSPACE, text, ("Head",), "Title")

    assert found == extract_entities(WORKSPACE, text, ("Head",), "Title")
    assert len({entity.entity_id for entity in found.entities}) == len(found.entities) <= ENTITY_CAP
    assert len(set(found.pairs)) == len(found.pairs) <= PAIR_CAP
    assert all(entity.key == entity_key(entity.name) and entity.count > 0 for entity in found.entities)


def test_a_question_finds_names_in_any_case() -> None:
    offered = {entity.key: entity for entity in question_entities(WORKSPACE, "which pump does acme corp use at TG04?")}

    assert {"acme corp", "pump", "tg 04"} <= offered.keys()
    assert offered["acme corp"].entity_id == entity_id_for(WORKSPACE, "acme corp")
    assert "which pump" not in offered
    assert "4" not in offered


def test_a_question_keeps_acronyms_and_long_names() -> None:
    kinds = {
        entity.key: entity.kind
        for entity in question_entities(WORKSPACE, "Who leads the WHO Office for the Eastern Mediterranean Region?")
    }

    assert kinds["who office for the eastern mediterranean region"] == "name"
    assert kinds["eastern mediterranean region"] == "name"
    assert "who" in {entity.key for entity in question_entities(WORKSPACE, "is the WHO right?")}


@given(st.text(max_size=600))
def test_candidates_of_a_question_are_bounded_and_distinct(text: str) -> None:
    offered = question_entities(WORKSPACE, text)

    assert len({entity.entity_id for entity in offered}) == len(offered) <= 400
    assert all(entity.key for entity in offered)


@pytest.mark.parametrize("space", ["\n ", "\n\t\r", "\n", " ", ". ", ".'"])
def test_a_chunk_of_white_space_is_read_in_linear_time(space: str) -> None:
    # Quadratic time would take minutes; white space costs no tokens, so a chunk can hold this much of it.
    began = time.process_time()

    found = keys_of("Alpha Centauri" + 200_000 * space + "Beta Pictoris")

    assert {"alpha centauri", "beta pictoris"} <= found.keys()
    assert time.process_time() - began < 5
