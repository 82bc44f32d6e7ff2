"""How offers are worded in English and German, beyond the fixed phrases of words.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_NUMBER = r"\d{1,7}(?:[.,]\d{1,3}){0,2}"
_MONEY = rf"(?:[€£$]\s?{_NUMBER}|(?<![\d.,]){_NUMBER}\s?(?:€|£|\$|euros?\b|pounds?\b|dollars?\b))"
_SUM = rf"(?:{_MONEY}|(?<![\d.,]){_NUMBER}\s?%)"
_GAP = r"(?:[^\w.!?\n]+\w+){0,5}?[^\w.!?\n]+"
_COMMANDS = (
    (
        (
            *("buy", "order", "book", "shop", "subscribe", "sign up", "join", "grab", "pre-order", "preorder"),
            *("upgrade", "reserve", "switch", "register"),
        ),
        rf"\b{_GAP}(?:today|now|free|and (?:save|get|enjoy|receive|earn)|before (?:it|they))\b",
    ),
    (
        ("get", "enjoy", "receive", "claim", "unlock", "request", "try", "start", "take"),
        rf"\b{_GAP}(?:free (?:trial|shipping|delivery|sample|gift|for \d{1, 4})|on (?:us|the house)"
        rf"|exclusive (?:deals?|offers?|discounts?)|members-only|for (?:just|only) {_MONEY})",
    ),
    (("shop",), r" (?:the (?:new|look)|my|our|your|all)\b"),
    (("hurry", "treat yourself", "last chance", "swipe up", "buy one, get one", "buy one get one"), r"\b"),
    (("don't miss", "don’t miss"), r" (?:out|our|this|these|the)\b"),
    (("save",), rf" (?:up to )?{_SUM}"),
    (
        ("bestell", "kauf", "sicher", "hol", "wechsel", "buch", "reservier"),
        rf"(?:e|t|n sie|en sie|le|ere|iere)?\b{_GAP}(?:heute|jetzt|gratis|kostenlos|sparen?|spart)\b",
    ),
)
"""Words with which a sentence or a part of one begins, and what follows them."""
_ANYWHERE = (
    r"free (?:shipping|delivery|returns) (?:on|with|for|today|until)\b",
    r"free for \d{1,4} (?:days|weeks|months)\b",
    r"free (?:\w+ )?trial\b",
    r"(?:travel|stay|eat|ride)s? free\b",
    r"nothing for \w+ (?:days|weeks|months)\b",
    rf"{_SUM}\s*(?:off|discount|credit|voucher|rabatt|gutschein|nachlass|geschenkt|günstiger|reduziert)\b",
    rf"voucher (?:worth|of|for) {_SUM}",
    rf"gift card (?:worth|of|for) {_SUM}",
    rf"(?:discount|rabatt|nachlass) (?:of|von) {_SUM}",
    rf"and save {_SUM}",
    rf"for (?:just|only) {_MONEY}",
    rf"from (?:just|only) {_MONEY}",
    r"(?:at|now) half[- ]price\b",
    r"price of one\b",
    r"introductory (?:price|offer)\b",
    r"members[- ]only (?:price|prices|offer)\b",
    r"(?:this|our|the) (?:offer|sale|promotion) (?:ends|expires|starts)\b",
    r"black friday (?:deals?|sales?|offers?)\b",
    r"cyber monday (?:deals?|sales?|offers?)\b",
    r"doorbuster",
    r"our (?:biggest|summer|winter|spring|clearance) sale\b",
    r"everything must go\b",
    r"exclusive (?:discounts?|offers?|deals?)\b",
    r"links? in (?:my|the|our) (?:bio|story)\b",
    r"(?:use|through|via|with) (?:my|our) (?:\w+ )?links?\b",
    r"my (?:referral|affiliate) link\b",
    r"only (?:a few|two|three|four|five|\d{1,3}) left\b",
    r"before (?:they|it) (?:are gone|is gone|['’]re gone|['’]s gone|sells? out)\b",
    r"while (?:stocks?|supplies) lasts?\b",
    r"available now (?:in|at|from|on)\b",
    r"earn (?:double|triple|extra) points\b",
    r"jetzt (?:\w+ ){0,3}?(?:bestellen|kaufen|sichern|testen|buchen|reservieren|shoppen|anmelden|zugreifen|sparen)\b",
    r"jetzt zum (?:halben|kleinen|sonder)",
    r"gutscheine? (?:über|im wert)\b",
    r"\d{1,4} (?:tage|wochen|monate) (?:lang )?(?:kostenlos|gratis|umsonst)\b",
    r"monate (?:[\w-]+ ){1,3}geschenkt\b",
    r"(?:gratis|kostenlos) dazu\b",
    r"versandkostenfrei\b",
    r"gratisversand\b",
    r"(?:reisen|wohnen|essen|fahren) (?:\w+ ){0,2}gratis\b",
    r"kostenlose[nrs]? (?:probe|testversion|versand|lieferung)\b",
    r"zum halben preis\b",
    r"zum preis von (?:einem|einer)\b",
    r"sonderangebot\b",
    r"(?:winter|sommer)?schlussverkauf\b",
    r"angebot gilt nur\b",
    r"nur heute:",
    r"solange der vorrat reicht\b",
    r"alles muss raus\b",
    r"nur noch (?:\w+) (?:stück|plätze|exemplare)\b",
    rf"bis zu {_SUM} (?:reduziert|rabatt|sparen|günstiger)",
    r"gönn(?:en sie sich|t euch| dir)\b",
    r"in (?:meiner|der) bio\b",
    r"exklusiv für (?:mitglieder|abonnenten|leser)\b",
    r"(?:verpassen sie nicht|verpasst nicht)\b",
    r"(?:spart ihr|sparst du)\b",
    r"ab sofort (?:im handel|(?:\w+ ){0,6}erhältlich)\b",
    r"(?:schon|bereits) ab \d{1,4} (?:€|euro)",
    r"letzte chance vor\b",
)
_CODE = re.compile(r"[Cc]ode [A-Z][A-Z0-9]{3,11}\b")
_USED = re.compile(r"\b(?:use|with|mit)(?: \w+){0,2} $", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|\n|[.!?:;,–—]\s|\band\s|\bund\s)[\s>*•-]*$")
_BEFORE = 40


def find_offers(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text in which something is offered for sale, in no order; they may overlap."""
    # As long as the text itself: of all letters, only this one grows.
    lower = text.replace("İ", "I").lower()
    for pattern in _anywhere():
        for found in pattern.finditer(lower):
            if not found.start() or not lower[found.start() - 1].isalnum():
                yield found.span()
    for pattern in _commands():
        for found in pattern.finditer(lower):
            if _BEGINS.search(lower[max(0, found.start() - _BEFORE) : found.start()]):
                yield found.span()
    for found in _CODE.finditer(text):
        if _USED.search(text[max(0, found.start() - _BEFORE) : found.start()]):
            yield found.span()


@cache
def _anywhere() -> tuple[re.Pattern[str], ...]:
    """One expression each, without flags: those that begin with a letter are found much faster than all in one."""
    return tuple(map(re.compile, _ANYWHERE))


@cache
def _commands() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(f"{verb}{rest}") for verbs, rest in _COMMANDS for verb in verbs)
