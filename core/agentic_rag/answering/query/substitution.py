"""Puts the phrase of a follow-up ("And in 2021?", "What about Berlin?") in the place of its counterpart in the question
before it.
"""

from __future__ import annotations

import re

from agentic_rag.answering.query.anaphora import AUXILIARY, PREPOSITION

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|"
    r"Aug|Sept?|Oct|Nov|Dec)\.?"
)
_YEAR = r"(?:(?:fiscal )?(?:1[5-9]|20)\d\d|FY ?\d\d(?:\d\d)?)"
_PART = r"(?:Q[1-4]|H[12]|(?:the )?(?:first|second|third|fourth|last) (?:quarter|half))"
TIME = re.compile(
    rf"\b(?:{_PART}(?:(?: of)? {_YEAR})?|(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,2}}(?!\d))?(?:,? {_YEAR})?|{_YEAR}|"
    r"(?:the )?(?:last|previous|this|next) (?:year|quarter|month|week)|(?:\d{4})s)(?!\w)"
)
_HAS_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_RELATIVE_TIME = re.compile(r"^(?:the )?(?:last|previous|this|next) ", re.IGNORECASE)
_PHRASE = re.compile(rf"^(?:(?P<prep>{PREPOSITION}) )?(?P<what>.+?)(?: instead| only)?[ ?.!]*$", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w&-]*(?: [A-Z][\w&-]*)*")
_WHOLE_NAME = re.compile(r"[A-Z][\w&-]*(?: [A-Z][\w&-]*)*(?P<owns>['’]s?)?")
_OWNER = re.compile(r"[A-Z][\w&-]*(?: [A-Z][\w&-]*)*['’]s?(?= )")


def substitute(phrase: str, earlier: str) -> str | None:
    """The earlier question with `phrase` in the place of its counterpart; None where it has none."""
    match = _PHRASE.match(phrase)
    if match is None:
        return None
    what, prep = match["what"], match["prep"]
    if TIME.fullmatch(what):
        return _substitute_time(what, prep, earlier)
    if prep is not None:
        return _substitute_phrase(what, prep.lower(), earlier)
    name = _WHOLE_NAME.fullmatch(what)
    if name is None:
        return None
    timeless = TIME.sub(lambda found: "_" * len(found[0]), earlier)
    found = list((_OWNER if name["owns"] else _NAME).finditer(timeless))
    if len(found) != 1:
        return None
    return earlier[: found[0].start()] + what + earlier[found[0].end() :]


def _substitute_time(what: str, prep: str | None, earlier: str) -> str:
    before = TIME.search(earlier)
    if before is None:
        return f"{earlier.rstrip(' ?.!')} {'' if _RELATIVE_TIME.match(what) else (prep or 'in') + ' '}{what}?"
    year = _HAS_YEAR.search(before.group())
    if year is not None and not _HAS_YEAR.search(what) and not _RELATIVE_TIME.match(what):
        what = f"{what} {year.group()}"
    return f"{earlier[: before.start()]}{what}{earlier[before.end() :]}"


def _substitute_phrase(what: str, prep: str, earlier: str) -> str | None:
    """`what` replaces the last phrase with the same preposition."""
    phrase = rf"(?<= ){prep} (?!(?:who|whom|what|which|when)\b)[^?,]+?(?=$|[?.!,]| {PREPOSITION} | {AUXILIARY} )"
    found = list(re.finditer(phrase, earlier, re.IGNORECASE))
    return f"{earlier[: found[-1].start()]}{prep} {what}{earlier[found[-1].end() :]}" if found else None
