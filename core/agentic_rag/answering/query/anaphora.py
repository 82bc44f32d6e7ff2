"""Finds out whether a question points back: a pronoun, "there", "that company", "which one" without antecedent in it.

A word with an antecedent in the same question ("Did Acme sell *its* shares?") does not point back. In doubt a word
counts as explained, because a question that stands alone must stay as it is.
"""

from __future__ import annotations

import re

from agentic_rag.language.english import FUNCTION_WORDS


def _word_set(text: str) -> frozenset[str]:
    """The words of a list written as one line."""
    return frozenset(text.split())


AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|shall|should|must|may|might|will|would|has|have|had|isn't|aren't|wasn't|"
    r"weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't)"
)
PREPOSITION = (
    r"(?:of|for|in|at|on|to|from|by|with|about|during|after|before|since|until|under|behind|near|like|into|against)"
)
_WORD = re.compile(
    r"\b(?:(?P<person>he|she|him|his|hers|her|himself|herself)|(?P<thing>its|it)|(?P<group>they|them|theirs|their)|"
    r"(?P<place>there)|(?P<matter>(?:which|the (?:first|second|third|other|last|same)) ones?\b|the former|the latter)|"
    r"(?P<named>(?:that|those|this|these) (?P<noun>(?-i:[a-z])[\w-]+))|(?P<bare>that|this|those|these))\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:(?:and|but|so|or|then|now|well|also|ok|okay)\b[, ]*)+", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:)&’'] )[A-Z][\w’'-]*")
"""A word with a capital that does not open the question."""
_CLAUSE = re.compile(
    r"[,;:?!]|\. | - |--|[–—]|"
    r"\b(?:when|if|while|because|before|after|until|once|and|or|but|that|which|who|whose|where|so|as|than|unless|"
    r"although|though|whether)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf"\b{AUXILIARY}(?: not)? $", re.IGNORECASE)
_OF_PHRASE = re.compile(
    rf"^(?:what|who|which|where|when|how)(?:['’]s| is| are| was| were) (?:the|a|an) [\w'’ -]{{1,60}}\b{PREPOSITION} $",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(r"^(?:who|what)(?: \w+){1,2} $", re.IGNORECASE)
_LEADING_PHRASE = re.compile(r"^(?:in|at|on|during|by|for|after|before|since|under) [^,?]{1,60}, ?", re.IGNORECASE)
_PHRASE = re.compile(
    r"\b(?:the|a|an|each|every|any|some|this|my|our|your|one|no|another) \w+|"
    r"^(?:(?:in|at|on|for|by) )?(?:which|whose) \w+",
    re.IGNORECASE,
)
_HAS_SUBJECT = re.compile(rf"\b{AUXILIARY}(?: not)? (?!not )\w+ \w", re.IGNORECASE)
"""An auxiliary with more than a verb after it: the clause has a subject of its own."""
_TIME_WORDS = _word_set("year day month time date much many long often far old kind type quarter week")
_WEATHER = r"(?:rain|rains|raining|snow|snows|snowing|windy|cold|hot|dark|foggy|wet|late|too late|midnight|noon)"
_JUDGEMENT_WORDS = (
    r"(?:possible|true|necessary|mandatory|allowed|permitted|important|legal|safe|required|compulsory|ok|okay|enough|better|"
    r"worth|likely|clear|known|said|forbidden|normal|common|correct|acceptable|sufficient|advisable|useful)"
)
_OPENS_CLAUSE = re.compile(
    rf"^(?:if|while|because|although|though|unless|until|once|whenever|when (?!{AUXILIARY}\b)) ?\w", re.IGNORECASE
)
_TAKES_TO = (
    r"(?:similar|related|close|equal|due|open|next|linked|subject|attached|connected|identical|compared|up|scheduled|"
    r"supposed|going|expected|intended|designed)"
)
_JUDGING = re.compile(r"\b(?:is|was|be|isn't|wasn't) $", re.IGNORECASE)
_JUDGEMENT = re.compile(
    rf"^(?: (?!{_TAKES_TO}\b)[\w'’-]+){{0,4}} (?:to|that|whether) \w|^ [\w'’ -]{{1,40}} for \w+ to \w", re.IGNORECASE
)
_OF_SOMEONE = re.compile(r"^ be (?:[\w'’-]+ ){1,3}(?:to|that|for|if|whether) \w", re.IGNORECASE)
_EMPTY_IT = re.compile(
    rf"^['’]|^(?: is| was| be| has been| get| gets)? (?:{_WEATHER}\b|"
    rf"(?:\w+ ){{0,2}}{_JUDGEMENT_WORDS} (?:to|that|for|if|whether|when) \w|"
    r"(?:\w+ ){0,1}(?:takes?|took|means?|meant|costs?|matters?|requires?) (?:\w+ ){0,4}?(?:to|if|whether|when)\b)",
    re.IGNORECASE,
)
_EXISTS_BEFORE = re.compile(rf"\b{AUXILIARY} $|\bbe(?:en)? $", re.IGNORECASE)
_EXISTS_AFTER = re.compile(
    r"^ (?:is|are|was|were|be|been|will|has|have|had|exists?|any|a|an|no|more|enough|ever|anything|anyone|something)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(rf"(?:^|\b(?:{AUXILIARY}|{PREPOSITION}|and|or|but|than|not) )$", re.IGNORECASE)
_NO_NOUN = FUNCTION_WORDS | _word_set(
    "possible true correct right enough legal normal ok okay necessary mandatory still also really always "
    "currently mean means meant happen happened happens cost costs apply applies change changed work works "
    "include includes so due likely wrong useful safe good bad big important different new"
)
_AFTER_BARE = re.compile(
    rf"^(?: {AUXILIARY}\b| (?:mean|means|meant|happen|happened|happens|cost|costs|apply|applies|change|changed|changes|"
    rf"work|works|include|includes|possible|true|correct|right|enough|legal|normal|ok|okay|necessary|mandatory|so|\w+ed|"
    rf"{PREPOSITION})\b|[ ?.!,]*$)",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:\w+ed|wrote|made|set|built|won|bought|sold|led|held|took|gave|chose|born) $", re.IGNORECASE)
"""A past verb: no relative clause follows it."""
_TIMES = frozenset(("year", "day", "date", "month"))
_AFTER_PREPOSITION = re.compile(rf"^ {PREPOSITION}\b", re.IGNORECASE)
_SUBJECT_FORMS = frozenset(("he", "she", "they"))
_POSSESSIVES = frozenset(("his", "its", "their", "theirs", "hers"))
_END = re.compile(r"^[ ?.!]*$")


def points_back(question: str) -> bool:
    """True for a question with a word whose antecedent is in an earlier one."""
    return any(
        _is_anaphor(question, match) and not _has_antecedent(question, match) for match in _WORD.finditer(question)
    )


def _is_anaphor(question: str, match: re.Match[str]) -> bool:
    before, after = question[: match.start()], question[match.end() :]
    word = match.group()
    if word.isupper() and len(word) > 1:
        return False
    if match["thing"]:
        return word.lower() == "its" or not _is_expletive_it(before, after)
    if match["place"]:
        if _EXISTS_BEFORE.search(before) and not re.match(r"^who\b", before, re.IGNORECASE):
            return _END.match(after) is not None and not _has_content(before)
        return _EXISTS_AFTER.match(after) is None
    if match["named"] or match["bare"]:
        return _is_demonstrative(match, before, after)
    return True


def _is_demonstrative(match: re.Match[str], before: str, after: str) -> bool:
    """ "That" with its noun or for the whole matter. "This document" may be the one that is searched."""
    if match["named"] and match["noun"].lower() not in _NO_NOUN and not match["noun"].endswith("ed"):
        word, noun = match.group().lower(), match["noun"].lower()
        apart = _POINTS.search(before) or _DONE.search(before) or noun in _TIMES
        return not word.startswith(("this ", "these ")) and bool(word.startswith("those ") or apart)
    if match["named"]:
        after = f" {match['noun']}{after}"
    compared = _AFTER_PREPOSITION.match(after) and not _SUBJECT.search(before)
    return bool(_END.match(after) or (_POINTS.search(before) and _AFTER_BARE.match(after) and not compared))


def _is_expletive_it(before: str, after: str) -> bool:
    """ "It" without antecedent: weather, time, or a clause with "to …" or "that …" that follows."""
    if before.lower().endswith("worth ") or _EMPTY_IT.match(after) or _OF_SOMEONE.match(after):
        return True
    return _JUDGING.search(before) is not None and _JUDGEMENT.match(after) is not None


def _has_antecedent(question: str, match: re.Match[str]) -> bool:
    """True when the antecedent stands before the word in its own question."""
    lead = _LEAD.match(question)
    offset = lead.end() if lead else 0
    if match.start() < offset:
        return False
    before, word = question[offset : match.start()], match.group().lower()
    if match["noun"]:
        return re.search(rf"\b{re.escape(match['noun'])}\b", before, re.IGNORECASE) is not None
    if match["place"]:
        return _NAME.search(before) is not None
    body = before if match["thing"] else _LEADING_PHRASE.sub("", before)
    if _OPENS_CLAUSE.match(body) and _has_content(body):
        return True
    clauses = [found.start() for found in _CLAUSE.finditer(body) if found.start() > 0]
    if clauses:
        return _has_content(body[: clauses[-1]])
    if word in _SUBJECT_FORMS and not _SUBJECT.search(body):
        return _has_content(body)
    owns = word in _POSSESSIVES or (word == "her" and _has_noun(question[match.end() :]))
    return owns and _has_owner(body, plural=match["group"] is not None)


def _has_noun(after: str) -> bool:
    word = re.match(r" ([\w'’-]+)", after)
    return word is not None and word[1].lower() not in FUNCTION_WORDS


def _has_owner(body: str, *, plural: bool) -> bool:
    """True when a clause has a possible owner before its possessive pronoun."""
    if _SUBJECT.search(body) or _OF_PHRASE.match(body):
        return False
    if _NAME.search(body):
        return True
    if _ASKS_WHO.match(body):
        return False
    if body.lower().startswith("who ") or _HAS_SUBJECT.search(body):
        return True
    return _has_content(body) if plural else _PHRASE.search(body) is not None


def _has_content(text: str) -> bool:
    """True when the text has a word that may be an antecedent."""
    words = re.findall(r"[\w'’-]+", text.lower())
    return any(word not in FUNCTION_WORDS and word not in _TIME_WORDS and not word.isdigit() for word in words)
