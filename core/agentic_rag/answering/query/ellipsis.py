"""Completes elliptical questions ("And in 2021?", "When?", "What about Berlin?") from the question before them."""

from __future__ import annotations

import re

from agentic_rag.answering.query.anaphora import AUXILIARY
from agentic_rag.answering.query.mentions import (
    TextMention,
    find_question_names,
    find_topic,
    head_of,
    owner_of,
    word_set,
)
from agentic_rag.language.english import FUNCTION_WORDS

MAX_EARLIER_CHARACTERS = 300
"""The most characters of an earlier question that complete a follow-up."""

_WH = r"(?:who|whom|whose|what|when|where|why|which|how)"
_PREP = r"(?:since|until|till|by|from|to|with|for|in|at|on|of|under|during|after|before|near|through)"
_SIZES = "much many long often far old big large high tall deep wide soon fast exactly come heavy"
LEAD = re.compile(
    r"^(?:(?:and|but|so|or|then|also|now|well|ok|okay|right|plus|thanks|thank you|great|good|yes|no)\b[,.!: ]*)+",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"^(?P<wh>(?:{_PREP} )?{_WH}(?: (?:{_SIZES.replace(' ', '|')}))?)(?: exactly| then)?[ ?.!]*$", re.IGNORECASE
)
_BARE_NOUN = re.compile(rf"^(?P<wh>(?:{_PREP} )?(?:which|what) (?P<noun>[a-z]+)(?: exactly)?)[ ?.!]*$", re.IGNORECASE)
_ELSE = re.compile(rf"^(?P<wh>{_WH}) else[ ?.!]*$", re.IGNORECASE)
_ABOUT = re.compile(rf"^(?:what|how) about (?:(?P<prep>{_PREP}) )?(?P<what>.{{1,80}}?)[ ?.!]*$", re.IGNORECASE)
_PHRASE = re.compile(rf"^(?P<prep>{_PREP}) (?P<what>[^?]{{1,60}}?)(?: instead| only)?[ ]*\?+$", re.IGNORECASE)
_LED = re.compile(rf"^(?:(?P<prep>{_PREP}) )?(?P<what>[^?]{{1,60}}?)(?: instead| only)?[ ?.!]*$", re.IGNORECASE)
_MORE = re.compile(
    r"^(?:(?:can|could) you )?(?:please )?(?:(?:tell|give|show) me |say |explain |describe )?(?:some )?"
    r"(?:more(?: details?| about (?:it|that|this))?|in more detail|elaborate(?: on (?:it|that))?|go on|"
    r"explain(?: it| that)?|"
    r"(?:an )?examples?|for (?:example|instance)|such as|like what|anything else|what else|what next|any more|"
    r"expand(?: on (?:it|that))?)(?: please)?[ ?.!]*$",
    re.IGNORECASE,
)
_VERBLESS = re.compile(rf"\b(?:{AUXILIARY}|{_WH})\b", re.IGNORECASE)
_ASKED = re.compile(
    rf"^(?:(?P<prep>{_PREP}) )?(?P<wh>{_WH}(?: (?:{_SIZES.replace(' ', '|')}))?)"
    rf"(?P<np>(?: (?!{AUXILIARY}\b)[\w'’-]+){{0,4}}) (?P<aux>{AUXILIARY}) (?P<rest>.+?)[ ?.!]*$",
    re.IGNORECASE,
)
_YES_NO = re.compile(rf"^(?P<aux>{AUXILIARY}) (?P<rest>.+?)[ ?.!]*$", re.IGNORECASE)
_DONE_BY = re.compile(
    r"^(?:who|what|(?:which|what) [\w-]+) (?P<verb>[a-z]+) (?P<object>[^?]+?)(?P<tail> (?:in|at|on|for|with|from|to|by|"
    r"during|after|before) [^?]+?)?[ ?.!]*$",
    re.IGNORECASE,
)
_PARTICIPLES = {
    "wrote": "written", "took": "taken", "gave": "given", "broke": "broken", "drew": "drawn", "began": "begun",
    "ran": "run", "sang": "sung", "chose": "chosen", "flew": "flown", "drove": "driven",
}  # fmt: skip
_SAME_PARTICIPLES = word_set("built made won bought sold led found held left lost met paid set shot taught")
_BE = frozenset(("is", "are", "was", "were"))
_TAKES_SUBJECT = re.compile(r"^(?:\w+(?:ed|en|ing)|built|made|held|set|sold|found|be)\b", re.IGNORECASE)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|"
    r"Aug|Sept?|Oct|Nov|Dec)\.?"
)
_YEAR = r"(?:(?:fiscal )?(?:1[5-9]|20)\d\d|FY ?\d\d(?:\d\d)?)"
_PART = r"(?:Q[1-4]|H[12]|(?:the )?(?:first|second|third|fourth|last) (?:quarter|half))"
_TIME = re.compile(
    rf"\b(?:{_PART}(?:(?: of)? {_YEAR})?|(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,2}}(?!\d))?(?:,? {_YEAR})?|{_YEAR}|"
    r"(?:the )?(?:last|previous|this|next) (?:year|quarter|month|week)|(?:\d{4})s)(?!\w)"
)
_HAS_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DETERMINED = re.compile(r"^(?:the|a|an|our|my) ", re.IGNORECASE)


_CONTINUING = re.compile(r"^(?:and|but|or|plus|also)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"^(?:list|tell|give|explain|describe|show|define|compare|find|name|summari[sz]e|identify|state|please|calculate)\b",
    re.IGNORECASE,
)
_NO_PREPOSITION = re.compile(r"^(?:the )?(?:last|previous|this|next) ", re.IGNORECASE)
_OWN = re.compile(r"\b(?:his|her|its|their)\b", re.IGNORECASE)
_LONGEST_PHRASE, _LONGEST_BARE_PHRASE = 6, 3
"""The most words of a phrase after "And", and of a phrase without it."""


def continues(question: str) -> bool:
    """True for a question that opens with "And", "But" or "Or"."""
    return _CONTINUING.match(question) is not None


def without_lead(question: str) -> str:
    """The question without "And", "But", "So" … at its beginning."""
    return question[len(lead[0]) :] if (lead := LEAD.match(question)) else question


def complete_question(question: str, earlier: str) -> str | None:
    """An elliptical question completed from the one before it; None for any other question."""
    body = without_lead(question).strip()
    led = continues(question)
    earlier = clip_question(earlier)
    if _MORE.match(body):
        return earlier
    other = _ELSE.match(body)
    if other is not None:
        return _append_else(other["wh"], earlier)
    bare = _BARE.match(body)
    if bare is not None:
        return _swap_question_word(bare["wh"], earlier)
    noun = _BARE_NOUN.match(body)
    if noun is not None and noun["noun"].lower() not in FUNCTION_WORDS:
        if noun["noun"].lower().endswith(("ed", "ens")):
            return append_earlier(body, earlier)
        return _swap_question_word(noun["wh"], earlier)
    instead = _ABOUT.match(body) or _phrase(body, led=led)
    if instead is None:
        return (
            append_earlier(body, earlier) if re.match(rf"^(?:{_WH} \w+|why not)[ ?.!]*$", body, re.IGNORECASE) else None
        )
    return _substitute(instead["what"].strip(), instead["prep"], earlier)


def append_earlier(question: str, earlier: str) -> str:
    """A question followed by the one before it, so that a search has the words of both."""
    return (
        f"{_capitalise(without_lead(question).rstrip(' ?.!'))} (about: {_lower_first(_bare(clip_question(earlier)))})?"
    )


def clip_question(earlier: str) -> str:
    """An earlier question without its lead, at most `MAX_EARLIER_CHARACTERS` characters of it."""
    text = without_lead(earlier.strip()) or earlier
    return text if len(text) <= MAX_EARLIER_CHARACTERS else text[:MAX_EARLIER_CHARACTERS].rsplit(" ", 1)[0]


def capitalise_sentence(text: str) -> str:
    """With a capital first letter."""
    return _capitalise(text)


def _phrase(body: str, *, led: bool) -> re.Match[str] | None:
    """A phrase without verb or question word: with a preposition, or any after "And"."""
    match = (_LED if led else _PHRASE).match(body)
    if match is None or _VERBLESS.search(body) or _REQUEST.match(body) or _OWN.search(body):
        return None
    if len(match["what"].split()) > (_LONGEST_PHRASE if led else _LONGEST_BARE_PHRASE):
        return None
    return match


def _swap_question_word(wh: str, earlier: str) -> str:
    """The earlier question with another question word."""
    word = _capitalise(wh)
    done = _YES_NO.match(earlier)
    if done is not None:
        return f"{word} {done['aux'].lower()} {done['rest']}?"
    asked = _ASKED.match(earlier)
    if asked is not None and not _is_identity(asked):
        return f"{word} {asked['aux']} {_rest(asked)}?"
    by = _DONE_BY.match(earlier) if asked is None else None
    if by is not None:
        verb = by["verb"].lower()
        participle = _PARTICIPLES.get(verb) or (verb if verb.endswith("ed") or verb in _SAME_PARTICIPLES else None)
        if participle is not None:
            return f"{word} was {by['object']} {participle}{by['tail'] or ''}?"
    return append_earlier(wh, earlier)


def _is_identity(asked: re.Match[str]) -> bool:
    """ "Who is the head of …?": the rest describes the answer."""
    plain = asked["wh"].lower() in ("who", "what", "which") and not asked["np"].strip()
    return plain and asked["aux"].lower() in _BE


def _rest(asked: re.Match[str]) -> str:
    """The text after the auxiliary, with the noun of the question word ("How many *staff* …?") in its place."""
    rest, noun = asked["rest"], asked["np"].strip()
    if not noun or (asked["prep"] and not _TAKES_SUBJECT.match(rest)):
        return rest
    if asked["wh"].lower() in ("which", "what"):
        noun = f"the {noun}"
    if _TAKES_SUBJECT.match(rest):
        return f"{noun} {rest}"
    phrase = re.search(rf" {_PREP} ", rest)
    at = phrase.start() if phrase else len(rest)
    return f"{rest[:at]} {noun}{rest[at:]}"


def _append_else(wh: str, earlier: str) -> str:
    if re.match(rf"{wh}\b", earlier, re.IGNORECASE):
        return f"{_capitalise(wh)} else{earlier[len(wh) :]}"
    return append_earlier(f"{wh} else", earlier)


def _substitute(what: str, prep: str | None, earlier: str) -> str:
    """The earlier question with `what` in the place of its counterpart."""
    when = _TIME.fullmatch(what)
    if when is not None:
        return _substitute_time(what, prep, earlier)
    if prep is not None:
        return _substitute_phrase(what, prep.lower(), earlier)
    topic = find_topic(earlier) if _DETERMINED.match(what) else None
    last = what.split()[-1]
    if topic is not None and (last.islower() or last.isupper()):
        return _substitute_topic(what, topic, earlier)
    if find_question_names(f"about {what}"):
        replaced = _substitute_name(what, earlier)
        if replaced is not None:
            return replaced
    return f"{_capitalise(_bare(earlier))} (what about {what})?"


def _substitute_time(what: str, prep: str | None, earlier: str) -> str:
    before = _TIME.search(earlier)
    if before is None:
        return f"{_bare(earlier)} {'' if _NO_PREPOSITION.match(what) else (prep or 'in') + ' '}{what}?"
    year = _HAS_YEAR.search(before.group())
    if (
        year is not None
        and not _HAS_YEAR.search(what)
        and not what.lower().startswith(("last", "the last", "prev", "next"))
    ):
        what = f"{what} {year.group()}"
    return f"{earlier[: before.start()]}{what}{earlier[before.end() :]}"


def _substitute_phrase(what: str, prep: str, earlier: str) -> str:
    """`what` replaces the last phrase with the same preposition, else it goes to the end."""
    phrases = list(
        re.finditer(rf"\b{prep} (?!{_WH}\b)[^?,]+?(?=$|[?.!,]| {_PREP} | (?:{AUXILIARY}) )", earlier, re.IGNORECASE)
    )
    last = phrases[-1] if phrases else None
    if last is None or last.start() == 0:
        return f"{_bare(earlier)} {prep} {what}?"
    return f"{earlier[: last.start()]}{prep} {what}{earlier[last.end() :]}"


def _substitute_name(what: str, earlier: str) -> str | None:
    names = find_question_names(earlier)
    if not names:
        return None
    kind = find_question_names(f"about {what}")[0].kind
    alike = [one for one in names if kind is not None and one.kind is kind]
    if not alike and len({one.kind for one in names}) > 1:
        return None
    chosen: TextMention = (alike or names)[-1]
    before, after = earlier[: chosen.start], earlier[chosen.start + len(chosen.text) :]
    if before.lower().endswith("the "):
        what = re.sub(r"^the ", "", what, flags=re.IGNORECASE)
    if after.startswith(("'", "’")):
        what = re.sub(r"['’]s?$", "", what)
    return f"{before}{what}{after}"


def _substitute_topic(what: str, topic: TextMention, earlier: str) -> str:
    """`what` replaces the topic; without "of …" it replaces only the noun of the topic."""
    start, end = topic.start, topic.start + len(topic.text)
    if what.lower().split()[-1] == head_of(what):
        cut = re.search(rf" {_PREP} ", topic.text)
        end = topic.start + (cut.start() if cut else len(topic.text))
        owner = owner_of(topic.text)
        if owner is not None:
            start += topic.text.index(" ", len(owner)) + 1
            what = _DETERMINED.sub("", what)
    return f"{earlier[:start]}{what}{earlier[end:]}"


def _bare(question: str) -> str:
    return question.rstrip(" ?.!")


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower_first(text: str) -> str:
    """With a small first letter when the first word is one of the closed classes or a request."""
    first = text.split(" ", 1)[0].lower()
    return text[:1].lower() + text[1:] if first in FUNCTION_WORDS else text
