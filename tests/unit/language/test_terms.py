"""What a term is."""

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentic_rag.language.english import FUNCTION_WORDS, stem
from agentic_rag.language.tokenizer import (
    content_terms,
    query_terms,
    search_terms,
    term_counts,
    term_key,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_retries", ["max", "retri", "max_retries"]),
        ("getHTTPResponse", ["get", "http", "respons", "gethttpresponse"]),
        ("IPvFuture", ["pv", "futur", "ipvfuture"]),
        ("os.path.join", ["os", "path", "join", "os.path.join"]),
        ("src/main.py", ["src", "main", "py", "src/main.py"]),
        ("std::vector", ["std", "vector", "std::vector"]),
        ("kube-proxy", ["kube", "proxi", "kube-proxy"]),
        ("__init__", ["init", "__init__"]),
        ("C++ and C#", ["c", "c++", "and", "c", "c#"]),
        ("AT&T", ["at", "at&t"]),
    ],
)
def test_names_give_their_parts_and_the_whole(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("are con-\nnected", ["are", "con", "nect", "con-nected", "connect"]),
        ("well- \n known", ["well", "known", "well-known", "wellknown"]),
        ("COVID-\n19 and", ["covid", "19", "covid-19", "and", "covid19"]),
        ("on-\nde-\nmand", ["on", "de", "mand", "on-de-mand", "ond", "demand"]),
        ("list -\nitem", ["list", "item"]),
    ],
)
def test_a_word_that_a_line_end_parts_gives_its_parts_and_both_spellings(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234", ["1234"]),
        ("$1,234,567.89", ["1234567.89"]),
        ("12.5%", ["12.5"]),
        ("1,2,3", ["1", "2", "3"]),
        ("12,34", ["12", "34"]),
        ("１２３", ["123"]),
    ],
)
def test_numbers_lose_their_separators_and_keep_their_decimals(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize("text", ["TG-04", "TG\u201104", "tg\u201304"])
def test_an_identifier_is_found_whatever_dash_it_was_typed_with(text: str) -> None:
    assert tokenize(text) == ["tg", "04", "tg-04"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smith’s", ["smith"]),
        ("don't", ["do"]),
        ("SMITH'S REPORT", ["smith", "report"]),
        ("THEY'LL", ["they"]),
        ("and/or", ["and", "or"]),
        ("foo...bar", ["foo", "bar"]),
        ("_emphasis_", ["emphasi"]),
        ("snow\u00adflake \ufeffword", ["snowflak", "word"]),
        ("--- *** ___", []),
    ],
)
def test_punctuation_makes_no_terms(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_scripts_without_spaces_give_bigrams_and_a_lone_character_itself() -> None:
    assert tokenize("東京都 水") == ["東京", "京都", "水"]
    assert tokenize("한국어") == ["한국", "국어"]
    assert tokenize("第2024年") == ["第", "2024", "年"]


def test_combining_marks_do_not_break_words() -> None:
    assert tokenize("हिन्दी cafe\u0301") == ["हिन्दी", "café"]


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        (["retry", "retries", "retried"], "retri"),
        (["cache", "caches", "cached", "caching"], "cach"),
        (["stop", "stops", "stopped", "stopping"], "stop"),
        (["agreed", "agree", "agrees"], "agre"),
        (["status"], "status"),
        (["string"], "string"),
        (["conflated"], "conflat"),
        (["controlled"], "control"),
        (["hoping", "hoped"], "hope"),
        (["gas", "bus", "the"], None),
    ],
)
def test_inflections_share_a_stem(forms: list[str], expected: str | None) -> None:
    assert [stem(form) for form in forms] == ([expected] * len(forms) if expected else forms)


def test_stemming_can_be_switched_off() -> None:
    assert tokenize("retries cached", stemmed=False) == ["retries", "cached"]


def test_a_question_leaves_function_words_out_and_counts_the_rest() -> None:
    assert dict(query_terms("What does it say about the cache of the cache?")) == {"cach": 2}


def test_a_question_of_function_words_only_keeps_them() -> None:
    assert dict(query_terms("what is it")) == {"what": 1, "is": 1, "it": 1}
    assert content_terms(["what", "is"]) == {"what", "is"}


def test_a_function_word_in_capitals_is_a_name_unless_everything_is() -> None:
    assert "who" in query_terms("Who leads the WHO?")
    assert "who" not in query_terms("WHO LEADS THE GROUP?")


def test_content_terms_are_what_is_left_of_the_question() -> None:
    assert content_terms(["what", "valve", "the"]) == {"valve"}


def test_keys_are_the_same_on_every_machine() -> None:
    assert term_key("valve") == 9243942011403737863
    assert term_key("水") == 8946697595557527262


@given(st.text(max_size=300), st.booleans())
def test_terms_do_not_depend_on_the_unicode_form(text: str, stemmed: bool) -> None:
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", text)
    assert tokenize(composed, stemmed=stemmed) == tokenize(decomposed, stemmed=stemmed)


@example("it does n't")
@given(st.text(max_size=300))
def test_terms_are_never_empty_and_case_folded(text: str) -> None:
    for term in tokenize(text):
        assert term
        assert not any(letter.isspace() for letter in term)
        assert term == term.casefold()


@given(st.text(st.sampled_from("aB1_.,-/:' \nŵ"), max_size=80))
def test_counts_are_those_of_the_terms(text: str) -> None:
    found = tokenize(text)

    counted = term_counts(text)

    keys = np.frombuffer(counted.hashes, "<u8").tolist()
    assert counted.length == len(found)
    assert keys == sorted({term_key(term) for term in found})
    counts = dict(zip(keys, np.frombuffer(counted.counts, "<u2").tolist(), strict=True))
    assert counts == {term_key(term): found.count(term) for term in found}


def test_a_long_run_of_letters_is_cut_into_bounded_terms() -> None:
    assert max(map(len, tokenize("x" * 100_000))) <= 64


def test_function_words_are_never_stemmed() -> None:
    assert all(stem(word) == word for word in FUNCTION_WORDS)


def keys_of(text: str) -> set[int]:
    return set(np.frombuffer(term_counts(text).hashes, "<u8").tolist())


@pytest.mark.parametrize(
    ("text", "question", "terms"),
    [
        ("Die Kündigungsfristen stehen im Vertrag.", "Welche Kündigungsfrist gilt im Vertrag?", ["kundigungsfrist"]),
        ("Los contratos se firman en la oficina.", "¿Dónde se firma el contrato?", ["contrat", "firm"]),
        ("Les contrats sont signés dans le bureau.", "Où signe-t-on les contrats ?", ["contrat", "sign"]),
        ("I contratti sono firmati negli uffici.", "Dove si firma il contratto?", ["contratt", "firm"]),
        ("Os contratos são assinados no escritório.", "Onde são assinados os contratos?", ["contrat", "assin"]),
        ("De contracten worden op kantoor getekend.", "Waar wordt het contract getekend?", ["contract"]),
        ("Umowy są podpisywane w biurze przez dyrektora.", "Gdzie są podpisywane umowy?", ["umow"]),
        ("Договоры подписывают в конторе.", "Где подписывают договор?", ["договор"]),
        ("يتم توقيع العقود في المكتب.", "أين يتم توقيع العقود؟", ["عقود"]),
        ("契約は事務所で署名されます。", "契約はどこで署名しますか", ["契約", "契", "約"]),
        ("合同在办公室签署。", "合同在哪里签署？", ["合同", "合", "同"]),
    ],
)
def test_a_question_meets_a_text_of_its_language_by_stems_or_ideographs(
    text: str, question: str, terms: list[str]
) -> None:
    asked = search_terms(question)

    assert set(terms) <= set(asked)
    assert {term_key(term) for term in terms} <= keys_of(text)


def test_the_words_of_a_text_in_another_language_are_found_as_they_are_and_only_they_make_its_length() -> None:
    text = "Die Kündigungsfristen stehen im Vertrag."

    assert {term_key(term) for term in tokenize(text)} < keys_of(text)
    assert term_counts(text).length == len(tokenize(text))


@pytest.mark.parametrize(
    "text", ["The notice periods of contracts", "PX-40 E17", "Periods: Ελλάδα", "기간은 계약에 있다"]
)
def test_english_and_languages_without_stems_are_indexed_and_asked_by_their_terms_alone(text: str) -> None:
    assert keys_of(text) == {term_key(term) for term in tokenize(text)}
    assert search_terms(text) == query_terms(text)


def test_a_question_of_function_words_only_is_asked_by_them_in_every_language() -> None:
    assert search_terms("Was ist das?") == query_terms("Was ist das?") != {}


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("体罚的形式有多普遍？", ["体罚", "体", "罚", "形式", "形", "式", "普遍", "普", "遍"]),
        ("在哪些地方存在目的？", ["地方", "方存", "存在", "在目", "目的", "地", "方", "存", "在", "目", "的"]),
        ("什么？", ["什么"]),
        ("休暇は何日ですか。", ["休暇", "休", "暇", "日"]),
        ("責任者は誰でしたか。", ["責任", "任者", "責", "任", "者", "でし", "した", "たか"]),
        ("ごみはどこに出しますか", ["ごみ", "みは", "出"]),
    ],
)
def test_no_pair_of_a_question_reaches_into_a_function_word(question: str, searched: list[str]) -> None:
    assert list(search_terms(question)) == searched
