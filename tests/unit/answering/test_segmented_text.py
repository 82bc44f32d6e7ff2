from agentic_rag.answering.extraction.segmented_text import SegmentedText
from agentic_rag.answering.extraction.term_matching import find_hits, mask_of, weigh_terms

TEXT = "# Limits\n\nCrew transfer stops at 1.5 m. The master decides.\n\nYou must bring:\n\n- a life jacket\n- boots"


def test_a_paragraph_that_announces_a_list_brings_it_along() -> None:
    reading = SegmentedText(TEXT, cut_off=False)
    place = reading.block_of(TEXT.index("You must"))
    start, end = reading.block(place)
    assert TEXT[start:end].strip().startswith("You must bring:")
    assert TEXT[start:end].endswith("- boots")


def test_a_paragraph_stands_under_the_heading_above_it() -> None:
    reading = SegmentedText(TEXT, cut_off=False)
    heading = reading.heading(reading.block_of(TEXT.index("Crew")))
    assert heading is not None
    assert TEXT[slice(*heading)] == "# Limits"
    plain = SegmentedText("Wave limits\n\nTransfers stop at 1.5 m.", cut_off=False)
    assert plain.heading(1) == (0, len("Wave limits"))
    assert plain.heading(0) is None
    long = SegmentedText(
        "Transfers stop at once when the waves in the sound exceed one and a half metres\n\nElse not.", False
    )
    assert long.heading(1) is None


def test_the_terms_found_are_those_of_the_question_asked_last() -> None:
    reading = SegmentedText(TEXT, cut_off=False)
    for asked in ("crew boots", "master", "crew boots", ""):
        terms = weigh_terms(asked.split(), {})
        assert reading.hits(terms) == find_hits(reading.low, terms)
        assert reading.mask(terms) == mask_of(reading.low, terms)
