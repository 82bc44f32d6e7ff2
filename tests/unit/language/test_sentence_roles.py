"""What a sentence does in a text that reports a study or a decision."""

import pytest

from agentic_rag.language.sentence_roles import SentenceRole, role_of, role_of_label


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("The aim of this pilot was to see whether night shifts can be shorter.", SentenceRole.AIM),
        ("We sought to determine whether the filter lowers the noise.", SentenceRole.AIM),
        ("It is unclear whether the coating lasts.", SentenceRole.AIM),
        ("Forty drivers were interviewed between May and July.", SentenceRole.METHOD),
        ("Noise was lower behind the new wall (p < 0.01).", SentenceRole.RESULT),
        ("There was no difference between the two gates.", SentenceRole.RESULT),
        ("These results suggest that the wall should be kept.", SentenceRole.CONCLUSION),
        ("Conclusion: the wall stays.", SentenceRole.CONCLUSION),
        ("Lunch is served at noon.", None),
    ],
)
def test_a_sentence_says_by_its_words_what_it_is_for(sentence: str, role: SentenceRole | None) -> None:
    assert role_of(sentence) is role


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("## 4 Results", SentenceRole.RESULT),
        ("Conclusions and outlook", SentenceRole.CONCLUSION),
        ("Materials and methods", SentenceRole.METHOD),
        ("Background", SentenceRole.AIM),
        ("Decision", SentenceRole.CONCLUSION),
        ("Resulting costs", None),
    ],
)
def test_a_heading_says_what_stands_under_it(heading: str, role: SentenceRole | None) -> None:
    assert role_of_label(heading) is role
