"""Whether what is quoted tells of something of another one than the question asks for: of the weight of the compressor
where that of the pump is asked, of what the doctor of the village earns instead of the smith.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence.stated import texts_of
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_DETERMINER = r"(?:(?:the|a|an|our|your|their|its|his|her|this|that) )?"
_VERB = r"\b(?:(?P<act>do|does|did|will|would|can|could|must|should|has|have|had)|is|was|are|were) (?:the|a|an) "
_HELD = re.compile(
    rf"{_VERB}(?P<held>[a-z][a-z-]{{2,}}) (?:of|for) {_DETERMINER}(?P<holder>[^\W_][\w-]*(?: [\w-]+)?)",
    re.IGNORECASE,
)
"""What is asked of: the weight of the pump. With a verb ("does the smith of the village earn") the first noun is who
acts.
"""
_OWNED = re.compile(rf"{_VERB}(?P<holder>[^\W_][\w-]*)['’]s (?P<held>[a-z][a-z-]{{2,}})", re.IGNORECASE)
"""The same as the pump's weight."""
_SUBJECT = re.compile(
    r"^(?:how [a-z]+|when|where|what (?=do)) ?(?:is|was|are|were|do|does|did|will|can|must) (?:the|a|an|our) "
    r"(?P<subject>[a-z][a-z-]{2,})(?: (?P<verb>[a-z]+))?\s*\?*$",
    re.IGNORECASE,
)
"""What a short question asks about: the pump, in "how heavy is the pump" and "what does the pump weigh"."""
_OWN_SUBJECT = re.compile(r"^(?:[-*•] |\d+[.)] )?(?:the|a|an|our|each|every) [a-z]", re.IGNORECASE)
"""How a sentence opens that says itself what it is about."""
_COMPOUND = re.compile(rf"{_VERB}(?P<holder>[a-z][a-z-]{{2,}}) (?P<held>[a-z][a-z-]{{2,}})(?: [a-z]+)?\s*\?*$")
"""The same as the pump weight. Names, whose words have capitals, are told by `other_things`."""
_STEM = 5
"""Letters of a verb that its forms share."""
_NOT_HELD = frozenset(
    {*("kind", "kinds", "type", "types", "sort", "form", "one", "part", "parts", "lot", "list", "set", "pair", "end")}
    | {*("beginning", "start", "day", "use", "rest", "sum", "total", "majority", "most", "many", "number", "amount")}
)
"""Nouns before "of" that say nothing by themselves, or for which texts have many words."""
_NOBODY = FUNCTION_WORDS | {"each", "every", "any", "all", "both", "such", "which", "whose", "one", "these", "those"}
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def tells_of_other_holder(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where an English question asks for what is of something ("the weight of the pump"), a quote tells that of
    another one alone ("the weight of the compressor"), and no quote, with the headings above it, has both. With a verb
    ("does the smith of the village earn") also where none has the first noun and one tells of another of the same. And
    where each quote says itself what it is about, and none the thing that a short question asks about.
    """
    if table_of(question) is not None:
        return False
    quotes = all_quotes(sentences)
    texts = texts_of(quotes, passages)
    above = [" ".join(headings_above(passages[one.passage], one.start)) for one in quotes]
    about = _SUBJECT.search(question)
    if about is not None and _is_about_another(about, texts, above):
        return True
    asked = _HELD.search(question) or _OWNED.search(question) or _COMPOUND.search(question)
    return asked is not None and asked["held"].lower() not in _NOT_HELD and _is_held_by_another(asked, texts, above)


def _is_about_another(about: re.Match[str], texts: Sequence[str], above: Sequence[str]) -> bool:
    """True where no quote is about the subject, or none says of it what one says of another one by the same verb."""
    near = [f"{text} {heads}" for text, heads in zip(texts, above, strict=True)]
    named = [_has(one, [about["subject"]]) for one in near]
    opens = [_OWN_SUBJECT.search(text) is not None for text in texts]
    if not any(named):
        return all(opens)
    if about["verb"] is None:
        return False
    acts = [re.search(rf"\b{about['verb'][:_STEM]}", text, re.IGNORECASE) is not None for text in texts]
    if any(is_named and has_act for is_named, has_act in zip(named, acts, strict=True)):
        return False
    return any(has_act and is_own for has_act, is_own in zip(acts, opens, strict=True))


def _is_held_by_another(asked: re.Match[str], texts: Sequence[str], above: Sequence[str]) -> bool:
    held, holder = asked["held"], _WORD.findall(asked["holder"].lower())
    has_both = (
        _has(text, [held]) and _has(f"{text} {heads}", holder) for text, heads in zip(texts, above, strict=True)
    )
    if any(has_both):
        return False
    of_another = re.compile(rf"\b{_stem(held)} (?:of|for) {_DETERMINER}(?P<other>[\w-]+)", re.IGNORECASE)
    if any(one["other"].lower() not in _NOBODY for text in texts for one in of_another.finditer(text)):
        return True
    with_held = [text for text in texts if _has(text, [held])]
    of_itself = re.compile(rf"\W*(?:[\w-]+ ){{1,2}}{_stem(held)}\b", re.IGNORECASE)
    is_others = (_OWN_SUBJECT.search(text) and not of_itself.match(text) for text in with_held)
    if with_held and all(is_others) and not _has(" ".join((*texts, *above)), holder):
        return True
    if asked["act"] is None or _has(" ".join((*texts, *above)), [held]):
        return False
    of_the_same = re.compile(rf"\b(?P<held>[a-z][a-z-]{{2,}}) of {_DETERMINER}{re.escape(holder[0])}\b", re.IGNORECASE)
    return any(one["held"].lower() not in _NOT_HELD for text in texts for one in of_the_same.finditer(text))


def _has(text: str, words: Sequence[str]) -> bool:
    """True for a text with the first word in the singular or plural, or with the last one as it is."""
    return re.search(rf"\b{_stem(words[0])}\b|\b{re.escape(words[-1])}\b", text, re.IGNORECASE) is not None


def _stem(noun: str) -> str:
    """The pattern of a noun in the singular and plural."""
    return rf"{re.escape(noun.removesuffix('s'))}(?:e?s)?"
