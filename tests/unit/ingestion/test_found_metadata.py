"""What a document's own text says of it, without a caller's word."""

from __future__ import annotations

import pytest

from agentic_rag.documents.document import ParsedDocument
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange
from agentic_rag.ingestion.analysis.found_metadata import find_metadata

GERMAN = "Wer das Büro als Letzter verlässt, schließt die Fenster und schaltet das Licht aus, auch tagsüber. "
ENGLISH = "Whoever is the last to leave the office closes the windows and turns off the light, even by day. "


def parsed(text: str, media_type: str = "text/plain", language: str | None = None) -> ParsedDocument:
    return ParsedDocument(text, (), (), None, media_type, "plain", "1", language=language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        ("El último que sale de la oficina cierra las ventanas y apaga la luz, aunque sea por poco tiempo.", "es"),
        ("Le dernier qui quitte le bureau ferme les fenêtres et éteint la lumière, même pour un instant.", "fr"),
        ("Последний, кто уходит из офиса, закрывает окна и выключает свет, даже если ненадолго.", "ru"),
        ("最后离开办公室的人要关窗关灯。", "zh"),
        ("最後に事務所を出る人は窓を閉めて電気を消します。", "ja"),
    ],
)
def test_the_language_is_that_of_the_words(text: str, language: str) -> None:
    assert find_metadata(parsed(text)) == MetadataChange(language=language)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nr. 4711",
        "12 | 30 | 4.5",
        "Všichni zaměstnanci dostanou klíč, který musí vrátit při odchodu, a dveře jsou zamčené.",
        "Όλοι οι εργαζόμενοι λαμβάνουν ένα κλειδί.",
    ],
)
def test_a_text_in_no_known_language_has_none(text: str) -> None:
    assert find_metadata(parsed(text)) == NO_CHANGE


def test_most_of_the_text_decides_not_its_cover() -> None:
    assert find_metadata(parsed(ENGLISH * 9 + GERMAN * 200)).language == "de"


def test_front_matter_wins_over_the_words() -> None:
    assert find_metadata(parsed(f"---\nlang: de-AT\n---\n{ENGLISH}", "text/markdown")).language == "de-at"


def test_front_matter_without_a_language_keeps_the_rest() -> None:
    found = find_metadata(parsed(f"---\ndomain: office\n---\n{GERMAN}", "text/markdown"))

    assert (found.domain, found.language) == ("office", "de")


def test_source_code_has_no_language_of_words() -> None:
    assert find_metadata(parsed(f"# {ENGLISH}", "text/x-python", language="python")) == NO_CHANGE
