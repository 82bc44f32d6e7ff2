"""The chunker's laws, on any text and on documents with structure."""

from __future__ import annotations

import random
import tracemalloc
import uuid
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.documents.chunking import chunk_document, chunk_prepared_texts
from agentic_rag.documents.document import Block, BlockKind, ChunkDraft, PageSpan, ParsedDocument
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.workspaces.chunk_profiles import (
    CHUNK_PROFILES,
    DEFAULT_PROFILE,
    ChunkProfile,
    ChunkUnit,
    chunk_profile,
)

DOCUMENT = uuid.UUID(int=7)
TINY = ChunkProfile("tiny", ChunkUnit.TOKENS, 24, 6)
TINY_CHARACTERS = ChunkProfile("tiny-characters", ChunkUnit.CHARACTERS, 40, 12)


def document(
    *blocks: tuple[BlockKind, str] | tuple[BlockKind, str, int], pages: tuple[PageSpan, ...] = ()
) -> ParsedDocument:
    """A parsed document of these blocks, joined by blank lines."""
    text, spans = "", list[Block]()
    for kind, content, *level in blocks:
        text += "\n\n" if text else ""
        spans.append(Block(kind, len(text), len(text) + len(content), level[0] if level else 0))
        text += content
    return ParsedDocument(text, tuple(spans), pages, None, "text/plain", "test", "1")


def plain(text: str) -> ParsedDocument:
    return ParsedDocument(text, (), (), None, "text/plain", "test", "1")


def chunk(parsed: ParsedDocument, profile: ChunkProfile = TINY) -> list[ChunkDraft]:
    return chunk_document(DOCUMENT, parsed, profile, estimate_tokens)


def prose(seed: int, sentences: int) -> str:
    source = random.Random(seed)
    words = [
        "river",
        "stone",
        "harbour",
        "ledger",
        "signal",
        "meadow",
        "engine",
        "quartz",
        "lantern",
        "copper",
        "violet",
        "anchor",
        "timber",
        "saddle",
    ]
    made = (" ".join(source.choice(words) for _ in range(source.randint(6, 18))) for _ in range(sentences))
    return " ".join(f"{sentence.capitalize()} {source.randint(1, 999)}." for sentence in made)


characters = st.characters(codec="utf-8") | st.sampled_from(" \n\t.!?a1|#。漢-\u2028")
texts = st.text(characters, max_size=400)
kinds = st.sampled_from(list(BlockKind))
structured = st.lists(
    st.tuples(kinds, st.text(characters, min_size=1, max_size=120).filter(str.strip), st.integers(1, 6)), max_size=12
).map(lambda blocks: document(*blocks))
profiles = st.sampled_from([TINY, TINY_CHARACTERS, ChunkProfile("none", ChunkUnit.TOKENS, 16, 0), DEFAULT_PROFILE])


@settings(max_examples=3 * settings().max_examples)
@given(parsed=texts.map(plain) | structured, profile=profiles)
def test_chunks_are_exact_spans_that_cover_the_text_within_the_size(
    parsed: ParsedDocument, profile: ChunkProfile
) -> None:
    cost = len if profile.unit is ChunkUnit.CHARACTERS else estimate_tokens

    drafts = chunk(parsed, profile)

    covered = bytearray(len(parsed.text))
    for draft in drafts:
        assert draft.text == parsed.text[draft.start : draft.end]
        assert draft.text == draft.text.strip() != ""
        assert cost(draft.text) <= profile.size
        if profile.unit is ChunkUnit.TOKENS:
            assert draft.tokens is not None
            assert cost(draft.text) <= draft.tokens <= profile.size
        else:
            assert draft.tokens is None
        assert draft.line_start == parsed.text.count("\n", 0, draft.start) + 1
        assert draft.line_end == parsed.text.count("\n", 0, draft.end) + 1
        covered[draft.start : draft.end] = b"\x01" * len(draft.text)
    for block in parsed.blocks:
        if block.kind in (BlockKind.RUNNING, BlockKind.ASIDE):
            assert not any(covered[block.start : block.end])
            covered[block.start : block.end] = b"\x01" * (block.end - block.start)
    assert all(covered[i] or character.isspace() for i, character in enumerate(parsed.text))
    assert [draft.index for draft in drafts] == list(range(len(drafts)))
    assert len({draft.chunk_id for draft in drafts}) == len(drafts)
    for before, after in pairwise(drafts):
        assert before.start < after.start
        assert before.end < after.end
        assert cost(parsed.text[after.start : before.end]) <= profile.overlap
    assert chunk(parsed, profile) == drafts


def test_white_space_alone_gives_no_chunk() -> None:
    assert chunk(plain(" \n\t ")) == []


def test_a_megabyte_of_blank_lines_is_in_no_chunk() -> None:
    text = "Before the gap." + "\n \t" * 400_000 + "After the gap."

    chunks = chunk_document(DOCUMENT, plain(text), DEFAULT_PROFILE, estimate_tokens)

    assert [chunk.text for chunk in chunks] == ["Before the gap.", "After the gap."]


def test_a_word_longer_than_a_chunk_is_cut() -> None:
    drafts = chunk(plain("x" * 1000), TINY_CHARACTERS)

    assert max(len(draft.text) for draft in drafts) <= TINY_CHARACTERS.size
    assert "".join(sorted(draft.text for draft in drafts)).count("x") >= 1000


def test_a_heading_stays_with_its_text_and_names_the_chunk() -> None:
    parsed = document(
        (BlockKind.HEADING, "# Guide", 1),
        (BlockKind.PARAGRAPH, prose(1, 2)),
        (BlockKind.HEADING, "## Setup ##", 2),
        (BlockKind.PARAGRAPH, prose(2, 4)),
    )

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 60, 8))

    setup = next(draft for draft in drafts if "## Setup" in draft.text)
    assert setup.text.startswith("## Setup ##\n\n")
    assert len(setup.text) > len("## Setup ##\n\n")
    assert setup.heading_path == ("Guide", "Setup")


def test_small_sections_under_one_heading_share_a_chunk_named_by_their_parent() -> None:
    parsed = document(
        (BlockKind.HEADING, "Guide", 1),
        (BlockKind.HEADING, "One", 2),
        (BlockKind.PARAGRAPH, "First."),
        (BlockKind.HEADING, "Two", 2),
        (BlockKind.PARAGRAPH, "Second."),
    )

    drafts = chunk(parsed, DEFAULT_PROFILE)

    assert [draft.heading_path for draft in drafts] == [("Guide",)]


@pytest.mark.parametrize("first", [(BlockKind.HEADING, "# Leave", 1), (BlockKind.PARAGRAPH, "Leave is paid.")])
def test_front_matter_is_in_one_chunk_with_what_it_stands_before(first: tuple[BlockKind, str]) -> None:
    body = (first, (BlockKind.HEADING, "## Sick", 2), (BlockKind.PARAGRAPH, "On day three."))
    front = (BlockKind.FRONT_MATTER, "---\nowner: Grace\ntags: [hr]\n---")

    with_it, without = chunk(document(front, *body), DEFAULT_PROFILE), chunk(document(*body), DEFAULT_PROFILE)

    assert with_it[0].text == f"{front[1]}\n\n{without[0].text}"
    assert [one.heading_path for one in with_it] == [one.heading_path for one in without]
    assert [one.text for one in with_it[1:]] == [one.text for one in without[1:]]


def test_front_matter_that_is_all_of_a_text_is_a_chunk() -> None:
    assert [one.text for one in chunk(document((BlockKind.FRONT_MATTER, "---\nowner: Grace\n---")))] == [
        "---\nowner: Grace\n---"
    ]


def test_sections_of_different_parents_are_not_mixed() -> None:
    parsed = document(
        (BlockKind.HEADING, "A", 1),
        (BlockKind.HEADING, "A one", 2),
        (BlockKind.PARAGRAPH, prose(1, 8)),
        (BlockKind.HEADING, "A two", 2),
        (BlockKind.PARAGRAPH, "Short."),
        (BlockKind.HEADING, "B", 1),
        (BlockKind.PARAGRAPH, "Other."),
    )

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 60, 0))

    assert drafts[-1].text == "B\n\nOther."
    assert drafts[-1].heading_path == ("B",)


def test_a_sibling_with_another_path_leaves_only_the_shared_headings() -> None:
    parsed = document(
        (BlockKind.HEADING, "Alpha", 1),
        (BlockKind.PARAGRAPH, "One."),
        (BlockKind.HEADING, "Beta", 1),
        (BlockKind.PARAGRAPH, "Two."),
    )

    assert [draft.heading_path for draft in chunk(parsed, DEFAULT_PROFILE)] == [()]


def test_a_table_that_fits_stays_whole() -> None:
    table = "name | count\nriver | 12\nstone | 13"
    parsed = document((BlockKind.PARAGRAPH, prose(3, 3)), (BlockKind.TABLE, table), (BlockKind.PARAGRAPH, prose(4, 3)))

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 40, 0))

    assert any(table in draft.text for draft in drafts)


def test_a_long_table_is_cut_between_rows() -> None:
    rows = [f"row {number} | value {number * 7}" for number in range(200)]

    drafts = chunk(document((BlockKind.TABLE, "\n \n".join(rows))), ChunkProfile("p", ChunkUnit.TOKENS, 40, 0))

    assert len(drafts) > 5
    assert all(line.strip() == "" or line in rows for draft in drafts for line in draft.text.split("\n"))


def test_a_heading_right_above_an_overflow_is_not_left_behind() -> None:
    parsed = document(
        (BlockKind.PARAGRAPH, prose(5, 1)),
        (BlockKind.HEADING, "Totals", 2),
        (BlockKind.TABLE, "a | b | c | d | e | f | g\n1 | 2 | 3 | 4 | 5 | 6 | 7"),
    )

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 32, 0))

    assert [draft.text.startswith("Totals\n\na |") for draft in drafts][-1]


def test_a_heading_goes_along_with_the_table_that_does_not_fit() -> None:
    table = "\n".join(["aa bb cc dd ee ff gg hh"] * 4)
    parsed = document(
        (BlockKind.HEADING, "Top", 1),
        (BlockKind.PARAGRAPH, "One two."),
        (BlockKind.HEADING, "Sizes", 2),
        (BlockKind.TABLE, table),
    )

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 41, 0))

    assert [draft.text for draft in drafts] == ["Top\n\nOne two.", f"Sizes\n\n{table}"]


def test_text_that_a_parser_left_between_blocks_is_kept() -> None:
    text = "lost one\n\nblock\n\nlost two"
    parsed = ParsedDocument(text, (Block(BlockKind.LIST_ITEM, 10, 15),), (), None, "text/plain", "test", "1")

    assert [draft.text for draft in chunk(parsed)] == [text]


def test_the_overlap_is_given_up_where_the_next_table_needs_the_room() -> None:
    table = "\n".join(["aa bb cc dd ee ff gg hh"] * 4)
    parsed = document(
        (BlockKind.HEADING, "Top", 1),
        (BlockKind.PARAGRAPH, "Word."),
        (BlockKind.HEADING, "Sub", 2),
        (BlockKind.PARAGRAPH, "One two three."),
        (BlockKind.TABLE, table),
    )

    drafts = chunk(parsed, ChunkProfile("p", ChunkUnit.TOKENS, 40, 20))

    assert [draft.text for draft in drafts] == ["Top\n\nWord.\n\nSub\n\nOne two three.", table]


def test_a_tiny_chunk_is_not_repeated_whole_by_the_next() -> None:
    parsed = document((BlockKind.HEADING, "A", 1), (BlockKind.HEADING, "B", 1), (BlockKind.TABLE, "0:" * 10 + "0"))

    drafts = chunk(parsed)

    assert [draft.text[:1] for draft in drafts] == ["A", "B"]


def test_the_overlap_repeats_whole_sentences() -> None:
    text = prose(6, 60)

    drafts = chunk(plain(text), ChunkProfile("p", ChunkUnit.TOKENS, 100, 30))

    repeated = [text[b.start : a.end] for a, b in pairwise(drafts) if b.start < a.end]
    assert len(repeated) > len(drafts) // 2
    assert all(part.endswith(".") and part[0].isupper() for part in repeated)


@pytest.mark.parametrize("headings", [True, False], ids=["with headings", "plain paragraphs"])
def test_an_insertion_near_the_top_changes_only_a_few_chunk_ids(headings: bool) -> None:
    def blocks(extra: str) -> list[tuple[BlockKind, str, int]]:
        made = list[tuple[BlockKind, str, int]]()
        for number in range(150):
            if headings and number % 5 == 0:
                made.append((BlockKind.HEADING, f"Section {number}", 2))
            made.append((BlockKind.PARAGRAPH, (extra if number == 2 else "") + prose(number, 5), 0))
        return made

    before = chunk(document(*blocks("")), DEFAULT_PROFILE)
    after = chunk(document(*blocks("A new remark stands here. ")), DEFAULT_PROFILE)

    assert len(before) > 25
    assert len({draft.chunk_id for draft in after} - {draft.chunk_id for draft in before}) <= 4


def test_one_endless_paragraph_resynchronises_after_an_insertion() -> None:
    text = prose(9, 1500)

    before = chunk(plain(text), DEFAULT_PROFILE)
    after = chunk(plain("A new opening sentence. " + text), DEFAULT_PROFILE)

    assert len(before) > 40
    assert len({draft.chunk_id for draft in after} - {draft.chunk_id for draft in before}) <= 10


def test_pages_are_those_of_the_chunks_start() -> None:
    parsed = document((BlockKind.PARAGRAPH, prose(1, 3)), (BlockKind.PARAGRAPH, prose(2, 3)))
    second = parsed.blocks[1].start
    paged = ParsedDocument(
        parsed.text,
        parsed.blocks,
        (PageSpan(1, 0, second - 2), PageSpan(2, second, len(parsed.text))),
        None,
        "application/pdf",
        "test",
        "1",
    )

    drafts = chunk(paged, ChunkProfile("p", ChunkUnit.TOKENS, 64, 0))

    assert [draft.page for draft in drafts] == [1 if draft.start < second else 2 for draft in drafts]
    assert {draft.page for draft in drafts} == {1, 2}


def test_prepared_chunks_keep_their_text_and_get_offsets() -> None:
    text, drafts = chunk_prepared_texts(DOCUMENT, ["One.", " two\x00 ", "One."])

    assert text == "One.\n\n two \n\nOne."
    assert [text[draft.start : draft.end] for draft in drafts] == ["One.", " two ", "One."]
    assert [draft.line_start for draft in drafts] == [1, 3, 5]
    assert len({draft.chunk_id for draft in drafts}) == 3


def test_a_blank_prepared_chunk_is_refused_by_its_number() -> None:
    with pytest.raises(InvalidInput, match="prepared chunk 1") as refused:
        chunk_prepared_texts(DOCUMENT, ["One.", "\x00 "])

    assert refused.value.path == ("chunks", "1")


def test_profiles_are_found_by_name() -> None:
    assert {name: (p.unit.value, p.size, p.overlap) for name, p in CHUNK_PROFILES.items()} == {
        "default": ("tokens", 512, 64),
        "small": ("tokens", 256, 32),
        "agent": ("characters", 1000, 200),
    }
    assert chunk_profile("small").fingerprint == "small/tokens/256/32/chunker-1"
    with pytest.raises(InvalidInput, match="default, small, agent"):
        chunk_profile("huge")


@pytest.mark.parametrize(("size", "overlap"), [(15, 0), (100, 51), (100, -1)])
def test_a_profile_that_cannot_work_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidInput):
        ChunkProfile("bad", ChunkUnit.TOKENS, size, overlap)


@pytest.mark.slow
def test_a_large_text_is_cut_without_holding_all_its_words() -> None:
    parsed = plain("supercalifragilistic " * 20_000)
    tracemalloc.start()
    try:
        drafts = chunk(parsed, DEFAULT_PROFILE)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(drafts) > 100
    assert peak - held < 1_500_000, "20,000 atoms take 3 MB"
