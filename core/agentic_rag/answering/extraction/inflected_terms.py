"""The terms of a question in a language that has a word table: stems, and the parts of compounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.answering.extraction.term_matching import QuestionTerm
from agentic_rag.language.tokenizer import search_terms, tokenize
from agentic_rag.language.words.word_table import WordTable

ASKING_SHARE = 0.4
"""What a term counts that says how is asked rather than about what."""
SHORTEST_COMPOUND, SHORTEST_PART = 8, 4
"""Letters."""
_LINKS = ("s", "es", "n", "en", "er", "e")
"""What may stand between the parts of a compound."""
_SHORTEST_VERB = 4


def weigh_inflected(
    text: str, terms: Sequence[str], table: WordTable, rarity: Mapping[str, float], passages: Sequence[str]
) -> tuple[QuestionTerm, ...]:
    """The terms (as the lexical index has them) with weights proportional to their rarity (1 where unknown). A compound
    whose parts the passages have counts as its parts. Where kana tell function words, a pair of characters that reaches
    into one is left out.
    """
    content = frozenset(search_terms(text) if table.has_kana else ())
    terms = [term for term in terms if term in content] or terms
    written = dict(zip(tokenize(text), tokenize(text, stemmed=False), strict=True))
    vocabulary = _vocabulary(passages) if table.has_compounds else ""
    weighted: list[tuple[str, str, float]] = []
    for term in dict.fromkeys(terms):
        word = written.get(term, term)
        asking = table.stem(word) in table.asking_stems or word in table.asking_stems
        weight = rarity.get(term, 1.0) * (ASKING_SHARE if asking else 1.0)
        parts = _parts(word, table, vocabulary) if table.has_compounds else (word,)
        weighted += [(term, part, weight / len(parts)) for part in parts]
    total = sum(weight for *_, weight in weighted)
    if total <= 0:
        return ()
    return tuple(
        QuestionTerm(term, part, part, weight / total, _forms(part, table), table.has_compounds)
        for term, part, weight in weighted
    )


def _vocabulary(passages: Sequence[str]) -> str:
    """The words of the passages, each once, between spaces."""
    words = dict.fromkeys(word for text in passages for word in tokenize(text, stemmed=False) if word.isalpha())
    return f" {' '.join(words)} "


def _parts(word: str, table: WordTable, vocabulary: str) -> tuple[str, ...]:
    """The two parts of a compound that are words of the vocabulary by themselves, the most even ones; the word itself
    where there are none.
    """
    if len(word) < SHORTEST_COMPOUND or not word.isalpha():
        return (word,)
    for cut in sorted(range(SHORTEST_PART, len(word) - SHORTEST_PART + 1), key=lambda at: abs(2 * at - len(word))):
        left, right = word[:cut], word[cut:]
        if not any(f" {form}" in vocabulary or f"{form} " in vocabulary for form in {right, table.stem(right)}):
            continue
        for link in ("", *_LINKS):
            part = left.removesuffix(link) if link else left
            if len(part) >= SHORTEST_PART and left.endswith(link) and f" {part}" in vocabulary:
                return part, right
    return (word,)


def _forms(word: str, table: WordTable) -> tuple[str, ...]:
    """What the inflected forms of a word begin with."""
    stem = table.stem(word)
    folded = table.fold(stem)
    joined = {f"{prefix}{stem}" for prefix in table.word_prefixes}
    measured = table.measured_by.get(stem, ())
    return tuple(
        sorted({word, stem, folded, *joined, *measured, *_umlauts(folded, table), *_separable_forms(stem, table)})
    )


def _separable_forms(stem: str, table: WordTable) -> set[str]:
    """The forms of a verb with a prefix: with what inflection puts behind the prefix, and without."""
    forms: set[str] = set()
    for prefix in table.verb_prefixes:
        verb = stem.removeprefix(prefix)
        for infix in table.verb_infixes if verb != stem else ():
            bare = verb.removeprefix(infix)
            if len(bare) >= _SHORTEST_VERB:
                forms.add(bare if prefix in table.verb_infixes else f"{prefix}{bare}")
                forms |= {f"{prefix}{other}{bare}" for other in table.verb_infixes}
    return forms


def _umlauts(folded: str, table: WordTable) -> set[str]:
    """The word with its last vowel changed as inflection changes it."""
    for at in range(len(folded) - 1, -1, -1):
        changed = table.changes.get(folded[at])
        if changed is not None:
            return {f"{folded[:at]}{changed}{folded[at + 1 :]}"}
    return set()
