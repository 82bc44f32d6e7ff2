"""Countries with their adjectives: those that English text names often."""

from __future__ import annotations

import re

_COUNTRIES = """
american: united states, united states of america, usa, us, u.s, u.s.a
british: united kingdom, uk, u.k, great britain
english: england
scottish: scotland
welsh: wales
irish: ireland
canadian: canada
mexican: mexico
cuban: cuba
jamaican: jamaica
brazilian: brazil
argentine, argentinian: argentina
chilean: chile
colombian: colombia
peruvian: peru
venezuelan: venezuela
australian: australia
french: france
german: germany
austrian: austria
swiss: switzerland
italian: italy
spanish: spain
portuguese: portugal
dutch: netherlands, holland
belgian: belgium
danish: denmark
swedish: sweden
norwegian: norway
finnish: finland
icelandic: iceland
polish: poland
czech: czech republic, czechia
slovak: slovakia
hungarian: hungary
romanian: romania
bulgarian: bulgaria
greek: greece
turkish: turkey
serbian: serbia
croatian: croatia
ukrainian: ukraine
russian: russia
soviet: soviet union, ussr
armenian: armenia
israeli: israel
egyptian: egypt
iranian: iran
iraqi: iraq
moroccan: morocco
nigerian: nigeria
ghanaian: ghana
kenyan: kenya
indian: india
pakistani: pakistan
bangladeshi: bangladesh
chinese: china
taiwanese: taiwan
japanese: japan
south korean: south korea
filipino: philippines
indonesian: indonesia
malaysian: malaysia
thai: thailand
vietnamese: vietnam
"""
_NOT_OPPOSED = frozenset(
    ["british", "english", "scottish", "welsh", "irish", "russian", "soviet", "ukrainian", "armenian"]
)
"""Nationalities that may hold together with another one of these."""


def _table() -> dict[str, str]:
    known: dict[str, str] = {}
    for line in _COUNTRIES.strip().splitlines():
        people, places = line.split(":")
        adjectives = [one.strip() for one in people.split(",")]
        for name in (*adjectives, *(one.strip() for one in places.split(","))):
            known[name] = adjectives[0]
    return known


_KNOWN = _table()
_NAMES = "|".join(sorted(map(re.escape, _KNOWN), key=len, reverse=True))
_NAMED = re.compile(rf"(?<!\w)(?:{_NAMES})(?!\w)", re.IGNORECASE)


def nationality_of(name: str) -> str | None:
    """The nationality of a country's name or adjective, lower case; None for another word."""
    return _KNOWN.get(name.lower().removeprefix("the ").rstrip("."))


def nationalities_in(text: str) -> frozenset[str]:
    """The nationalities that a text names, by country or adjective. A word in lower case is not a name."""
    return frozenset(_KNOWN[match[0].lower()] for match in _NAMED.finditer(text) if match[0][0].isupper())


def are_exclusive(first: str, second: str) -> bool:
    """True when nobody has both nationalities. English and British are not exclusive."""
    return first != second and not {first, second} <= _NOT_OPPOSED
