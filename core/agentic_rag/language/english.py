"""English words that carry no content, and a light stemmer.

Sources: the stop words are the closed classes of English (articles, pronouns, prepositions, conjunctions, auxiliaries),
the core of the list in van Rijsbergen, *Information Retrieval*, 2nd ed. 1979, ch. 2. The question words phrase a
question about documents ("what does it say about …") and say nothing about the passage that answers it.
The stemmer implements steps 1a, 1b, 1c, 5a and 5b of M. F. Porter, "An algorithm for suffix stripping", Program 14(3),
1980. It folds inflection (plural, -ed, -ing, final y and e) and keeps derivation (-ation, -ness, -ive), because names
and technical words must stay distinct.
"""

from __future__ import annotations

_CLOSED_CLASSES = """
a an the this that these those some any each every both either neither no nor not only own same such other another
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one
am is are was were be been being have has had having do does did doing done will would shall should can could may
might must cannot
and or but if then else because as until while although though since unless whether than so
of at by for with about against between into through during before after above below to from up down in out on off
over under upon within without among toward towards per via
again further once here there now just also too very more most much many few less least quite rather yet still even
ever never always often etc
"""

_ASKING = "what who whom whose which when where why how tell say says explain describe please mention mentions"

STOP_WORDS = frozenset(_CLOSED_CLASSES.split())
QUESTION_WORDS = frozenset(_ASKING.split())
FUNCTION_WORDS = STOP_WORDS | QUESTION_WORDS
"""Words that do not count as content in a question. Never stemmed, so membership can be tested on terms too."""

_VOWELS = "aeiou"


def _is_consonant(word: str, index: int) -> bool:
    letter = word[index]
    if letter in _VOWELS:
        return False
    return letter != "y" or index == 0 or not _is_consonant(word, index - 1)


def _measure(word: str) -> int:
    """Porter's m: the number of vowel runs followed by a consonant run."""
    measure = 0
    after_vowel = False
    for index in range(len(word)):
        consonant = _is_consonant(word, index)
        if consonant and after_vowel:
            measure += 1
        after_vowel = not consonant
    return measure


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, index) for index in range(len(word)))


def _ends_short(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x, y."""
    last = len(word) - 1
    return (
        last >= 2
        and word[last] not in "wxy"
        and _is_consonant(word, last)
        and not _is_consonant(word, last - 1)
        and _is_consonant(word, last - 2)
    )


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _singular(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and _has_vowel(base):
            break
    else:
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_double(base) and base[-1] not in "lsz":
        return base[:-1]
    if _measure(base) == 1 and _ends_short(base):
        return base + "e"
    return base


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word. Words of up to three letters and function words are returned unchanged.

    Unlike Porter's step 1a, it keeps a final `us` as well as `ss` (status, corpus, bus).
    """
    if len(word) <= 3 or word in FUNCTION_WORDS:
        return word
    word = _without_tense(_singular(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
