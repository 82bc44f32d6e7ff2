"""Quotes are found where they stand, white space aside, and nowhere else."""

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.quote_matching import MIN_QUOTE_CHARACTERS, locate_quote

WORDS = st.lists(st.text(st.sampled_from("abé.*([|1"), min_size=1, max_size=6), min_size=1, max_size=8)
SPACES = st.sampled_from([" ", "\n", "  ", "\t", " \n "])


@given(before=WORDS, quoted=WORDS, after=WORDS, data=st.data())
def test_whatever_stands_in_a_text_is_found_however_its_white_space_is_copied(
    before: list[str], quoted: list[str], after: list[str], data: st.DataObject
) -> None:
    def spaced(words: list[str]) -> str:
        return "".join(data.draw(SPACES) + word for word in words).strip()

    text = f"{spaced(before)} {spaced(quoted)} {spaced(after)}"
    quote = spaced(quoted)
    span = locate_quote(quote, text)

    if sum(map(len, quoted)) < MIN_QUOTE_CHARACTERS:
        assert span is None
    else:
        assert span is not None
        assert text[slice(*span)].split() == quote.split()


@given(text=st.text(), quote=st.text())
def test_a_span_reads_as_the_quote_or_there_is_none(text: str, quote: str) -> None:
    span = locate_quote(quote, text)
    if span is not None:
        assert text[slice(*span)].split() == quote.split()


def test_a_word_that_a_line_end_parts_is_found_whole_and_quoted_as_it_stands() -> None:
    text = "The basins are con-\nnected by a\u200b well-\nknown pump."

    for quote in ("are connected by", "a wellknown pump", "con-\nnected"):
        span = locate_quote(quote, text)
        assert span is not None
        assert "-\n" in text[slice(*span)]


def test_an_omission_is_no_quote() -> None:
    assert locate_quote("The pump … stops.", "The pump that feeds the basin stops.") is None
