"""Finds the mentions of a conversation: the names and topic of a question, the names of an answer, and their kinds.

Rules derive the kind of a name from the words around it; None when no rule fits.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.extraction.contradiction import MONTHS
from agentic_rag.retrieval.graph.entities import extract_entities

MAX_READ_CHARACTERS = 2000
"""Of a question and of an answer: antecedents stand near their beginning."""

_NOWHERE = UUID(int=0)
"""Names are compared within a conversation only, so their ids need no workspace."""
_NAMED = frozenset({"name", "identifier", "code"})


class ReferentKind(enum.Enum):
    """The kind of thing that a name or a noun refers to."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class TextMention:
    """A name or noun phrase as written, at `start` of its text. `topic`: the question is about this noun phrase."""

    text: str
    kind: ReferentKind | None
    plural: bool
    start: int
    topic: bool = False


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one line."""
    return frozenset(text.split())


PERSON_NOUNS = word_set(
    "person man woman boy girl author writer founder director president chairman chairwoman chair ceo cfo cto coo "
    "manager minister king queen pope actor actress singer player scientist engineer teacher doctor professor artist "
    "painter poet composer wife husband mother father son daughter brother sister coordinator officer inventor owner "
    "leader captain coach lawyer judge employee supervisor inspector spokesman successor predecessor architect editor"
)
PLACE_NOUNS = word_set(
    "place city town village country state county region island site office plant port station building house river "
    "lake mountain area capital location province district continent street harbour warehouse laboratory campus"
)
ORGANISATION_NOUNS = word_set(
    "company firm corporation organisation organization business agency university school bank team club band group "
    "institute ministry committee council party supplier vendor competitor subsidiary manufacturer operator employer "
    "contractor department authority association"
)
_NOUNS = (
    (PERSON_NOUNS, ReferentKind.PERSON),
    (PLACE_NOUNS, ReferentKind.PLACE),
    (ORGANISATION_NOUNS, ReferentKind.ORGANISATION),
)

_ORGANISATION_WORDS = word_set(
    "inc ltd llc corp corporation company co gmbh ag plc group holdings university institute bank ministry agency "
    "committee council association party club foundation airlines airways records studios press society union "
    "department authority laboratories motors industries systems partners"
)
_PLACE_WORDS = word_set(
    "city river lake island islands mountain mountains street county bay sea ocean valley airport desert peninsula "
    "avenue square"
)
_COUNTRIES = word_set(
    "africa america asia europe australia argentina austria belgium brazil britain bulgaria canada chile china "
    "colombia croatia cuba denmark egypt england estonia finland france germany greece hungary iceland india "
    "indonesia iran iraq ireland israel italy japan kenya latvia lithuania luxembourg mexico morocco "
    "netherlands nigeria norway pakistan peru poland portugal romania russia scotland serbia singapore "
    "slovakia slovenia spain sweden switzerland taiwan thailand tunisia turkey ukraine vietnam wales uk usa "
    "berlin paris london madrid rome vienna tokyo beijing moscow lisbon dublin"
)
_TITLE_BEFORE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Professor|Sir|Dame|Lord|Lady|President|King|Queen|Pope|Captain|Judge|Saint)\.? $"
)
_PERSON_AFTER = re.compile(
    r"^(?:(?:['’]s|['’]) (?:wife|husband|father|mother|son|daughter|brother|sister|childhood|birthday|parents|career)"
    r"\b|"
    r",? (?:was |is )?(?:born|die|died|dead|alive|married|marry|grow up|grew up|study|studied|wrote|write|painted|"
    r"composed|invented|invent|retire|retired|resign|resigned)\b|, who\b)"
)
_ORGANISATION_AFTER = re.compile(
    r"^(?:(?:['’]s|['’]) (?:revenue|revenues|profit|sales|shares?|ceo|cfo|chairman|employees|staff|headquarters|"
    r"products?|subsidiar\w+|competitors?|customers)\b|,? (?:was |is |been )?(?:founded|established|incorporated|"
    r"acquired|headquartered|listed|acquire|acquires|employ|employs|sell|sells|buy|bought)\b)",
    re.IGNORECASE,
)
_ORGANISATION_BEFORE = re.compile(
    r"\b(?:(?:founded|founds|established|acquired|acquire|acquires|bought|buy|owns|owned|runs|runs|led|leads|heads|"
    r"headed|sued|joined)(?: the)?|(?:ceo|cfo|cto|chairman|chair|founders?|headquarters|employees|revenue|revenues|"
    r"profit|shares|subsidiaries|staff|president) (?:of|at)(?: the)?|works? (?:for|at)|employed by) $",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"\b(?:in|near|into|throughout|across|outside|inside|capital of)(?: the)? $", re.IGNORECASE)
_PLACE_BEFORE = re.compile(r"\b(?:at|from|to|population of)(?: the)? $", re.IGNORECASE)
_THING_BEFORE = re.compile(
    r"\b(?:wrote|directed|painted|composed|published|released|invented|designed|built|written|filmed)(?: the)? $",
    re.IGNORECASE,
)
_WHO = re.compile(r"^(?:who|whom)\b", re.IGNORECASE)
_WHO_IS = re.compile(r"^who (?:is|was|are|were) $", re.IGNORECASE)
_WHERE = re.compile(
    r"^(?:where\b|(?:in |at )?(?:which|what) (?:city|country|town|place|state|region|island|site)\b)", re.I
)
_GOES_ON = re.compile(
    r"^(?:['’]s?\b| (?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|must|may)\b|\W*$)"
)
"""After a capitalised first word that is a name."""
_OF = re.compile(r"\s(?:of|for|in|at|on|to|from|by|with|about|during|under|between)\s")
_BETWEEN = re.compile(r" (?:in|for) (?:the )?")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
_OWNER = re.compile(r"((?:[\w.-]+ ){0,4}?[\w.-]*\w)(?:['’]s|(?<=s)['’]) ")
_SOUGHT = re.compile(
    r"^(?:(?:in|at|on|for|by|from) )?(?:which|what) (?:[\w-]+ ){0,2}?(?P<noun>[a-z][\w-]*) "
    r"(?:is|are|was|were|do|does|did|can|has|have|had|will|would|[a-z]+(?:ed|es)|wrote|made|won|built|led|owns?|runs?)\b",
    re.IGNORECASE,
)
_IS_TOPIC = re.compile(
    r"^(?:what|who|which)(?:['’]s| is| are| was| were) "
    r"(?P<topic>(?:the |a |an |our |my |(?:[\w.-]+ ){0,4}?[\w.-]+['’]s? )[^?.!]{2,100}?)[?.!]*$",
    re.IGNORECASE,
)
_PARTICIPLE_TOPIC = re.compile(
    r"^(?:where|when|how|why|by whom|since when) (?:is|are|was|were) (?P<topic>(?:the|our|my) [^?.!,]{2,80}?) "
    r"(?:[a-z]+ed|built|made|set|held|written|kept|sold|bought|found|given|taken|paid)\b",
    re.IGNORECASE,
)


def find_topic(question: str) -> TextMention | None:
    """The topic of a question of plain form ("What is *the limit for visitors*?"), else None."""
    match = _IS_TOPIC.match(question) or _PARTICIPLE_TOPIC.match(question)
    if match is None:
        return None
    text = match["topic"].strip()
    head = head_of(text)
    return TextMention(
        text, kind_of_noun(head) or ReferentKind.THING, is_plural(head), match.start("topic"), topic=True
    )


def owner_of(phrase: str) -> str | None:
    """ "Acme" in "Acme's revenue in 2020"; None when the phrase names no owner."""
    match = _OWNER.match(phrase)
    return None if match is None else match[1]


def head_of(phrase: str) -> str:
    """The noun of a noun phrase: its last word before a preposition, lower case."""
    return _OF.split(phrase, 1)[0].split()[-1].lower()


def kind_of_noun(noun: str) -> ReferentKind | None:
    """The kind of a common noun, singular or plural."""
    for nouns, kind in _NOUNS:
        if noun in nouns or noun.removesuffix("s") in nouns or noun.removesuffix("ies") + "y" in nouns:
            return kind
    return None


def is_plural(noun: str) -> bool:
    """True for a noun that reads as plural."""
    return noun in ("people", "men", "women", "children", "staff") or (
        noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    )


def find_question_names(question: str) -> list[TextMention]:
    """The names in a question, in reading order."""
    return [
        TextMention(name, _kind(name, question, at, None), " and " in name, at)
        for name, at in _names(question)
        if not (" " not in name and _opens(question, at) and not _GOES_ON.match(question[at + len(name) :]))
    ]


def find_answer_names(answer: str, question: str) -> list[TextMention]:
    """The names in an answer that its question does not have, in reading order."""
    text = answer
    if len(text) > MAX_READ_CHARACTERS:
        text = answer[: answer.rfind(" ", 0, MAX_READ_CHARACTERS) + 1]
    asked = question.lower()
    wanted: ReferentKind | None = None
    if _WHO.match(question):
        wanted = ReferentKind.PERSON
    elif _WHERE.match(question):
        wanted = ReferentKind.PLACE
    else:
        noun = target_noun(question)
        wanted = None if noun is None else kind_of_noun(noun) or ReferentKind.THING
    return [
        TextMention(name, _kind(name, text, at, wanted), " and " in name, at)
        for name, at in _names(text)
        if name.lower() not in asked and not (" " not in name and _opens(text, at) and len(text) > len(name) + 2)
    ]


def target_noun(question: str) -> str | None:
    """The noun of the name that a question asks for ("Which *film* did …?"), lower case; None for other questions."""
    match = _SOUGHT.match(question)
    return None if match is None else match["noun"].lower()


def asks_where(question: str) -> bool:
    """True for a question whose answer is a place."""
    return _WHERE.match(question) is not None


def asks_who(question: str) -> bool:
    """True for a question whose answer is a person or an organisation."""
    return _WHO.match(question) is not None


def _names(text: str) -> Iterator[tuple[str, int]]:
    """Names with their first positions; of overlapping names the longest."""
    spans = (
        piece
        for one in extract_entities(_NOWHERE, text, (), None).entities
        if (one.kind in _NAMED or " " not in one.name) and one.key not in MONTHS
        for piece in _split(one.name)
    )
    found = sorted(
        (at, -len(name), name)
        for name in dict.fromkeys(spans)
        if name.lower() not in PERSON_NOUNS and (at := _find(text, name)) >= 0
    )
    end = 0
    for at, _, name in found:
        if at >= end:
            end = at + len(name)
            while end < len(text) - 1 and text[end] == "-" and text[end + 1].isalnum():
                end = _skip_word(text, end + 1)
            while at > 1 and text[at - 1] == "-" and text[at - 2].isalnum():
                at = _before_word(text, at - 1)
            yield text[at:end], at


def _skip_word(text: str, at: int) -> int:
    while at < len(text) and text[at].isalnum():
        at += 1
    return at


def _before_word(text: str, at: int) -> int:
    while at > 0 and text[at - 1].isalnum():
        at -= 1
    return at


def _split(name: str) -> Iterator[str]:
    """The names in a span of capitalised words, split at "in" and "for", and after the noun of an office."""
    for piece in _BETWEEN.split(name):
        before, of, after = piece.partition(" of ")
        noun = before.rsplit(" ", 1)[-1]
        yield _POSSESSIVE.sub("", after if of and (noun.lower() in PERSON_NOUNS or noun.isupper()) else piece)


def _find(text: str, name: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return -1 if match is None else match.start()


def _opens(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'“‘(*_")
    return not before or before[-1] in ".:;!?\n—–-|]"


def _kind(name: str, text: str, at: int, wanted: ReferentKind | None) -> ReferentKind | None:
    before, after = text[max(0, at - 60) : at], text[at + len(name) : at + len(name) + 40]
    low = name.lower()
    words = low.replace(".", "").split()
    if words[-1] in _ORGANISATION_WORDS or words[0] in ("university", "bank", "ministry", "institute", "department"):
        return ReferentKind.ORGANISATION
    if low in _COUNTRIES or words[-1] in _PLACE_WORDS or words[0] in ("lake", "mount", "port", "river"):
        return ReferentKind.PLACE
    if _TITLE_BEFORE.search(before) or _PERSON_AFTER.match(after):
        return ReferentKind.PERSON
    if _ORGANISATION_AFTER.match(after) or _ORGANISATION_BEFORE.search(before):
        return ReferentKind.ORGANISATION
    if _THING_BEFORE.search(before):
        return ReferentKind.THING
    if _WHO_IS.match(before):
        return ReferentKind.PERSON
    if wanted is not ReferentKind.THING and _INSIDE.search(before):
        return ReferentKind.PLACE
    if wanted is not None:
        return wanted
    return ReferentKind.PLACE if _PLACE_BEFORE.search(before) else None
