"""Words of which one excludes the others: width and height, at least and at most, from and until, by the day and by the
month. English, German, French and Spanish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentic_rag.language.words.word_table import Wording, WordTable


@dataclass(frozen=True, slots=True)
class Pole:
    """One side of a contrast: how a question asks for it, and how a text says it."""

    asked: Wording
    said: Wording
    is_always_said: bool = False
    """No text answers without saying it: a width without "wide" may be any length."""


@dataclass(frozen=True, slots=True)
class AskedPole:
    """The side that a question asks for, and the others of its contrast."""

    pole: Pole
    others: tuple[Pole, ...]

    def is_said(self, said: str, around: str) -> bool:
        """True where a text, or what stands around it, says the side that is asked for."""
        return any(self.pole.said.pattern.search(one) for one in (said, around))

    def is_other(self, said: str, around: str) -> bool:
        """True for a text that says another side alone, or none where one is always said, and what stands around it
        does not say the asked one.
        """
        if self.is_said(said, around):
            return False
        if any(one.said.pattern.search(said) for one in self.others):
            return True
        return self.pole.is_always_said and _SIZE.pattern.search(said) is None


def asked_poles(question: str, table: WordTable | None) -> Iterator[AskedPole]:
    """The sides that a question asks for, of contrasts of which it names no other one."""
    for poles in _CONTRASTS.get("en" if table is None else table.code, ()):
        asked = [one for one in poles if one.asked.pattern.search(question)]
        if len(asked) == 1:
            yield AskedPole(asked[0], tuple(one for one in poles if one is not asked[0]))


def _pole(said: str, asked: str = "") -> Pole:
    return Pole(Wording(asked or said), Wording(said))


def _measure(said: str) -> Pole:
    return Pole(Wording(said), Wording(said), is_always_said=True)


def _asked_when(asking: str, acts: str, prepositions: str) -> str:
    """A question for when something happens, by its verb or by a preposition before the question word."""
    return rf"{prepositions}|(?:{asking})\b(?:(?![.;]).)*{acts}"


def _range(first: str, to: str) -> str:
    """A time or number, and up to which other one; a date like 2026-01-22 is none."""
    return rf"(?<![\d–-]){first} ?(?:[–-]|{to}) ?\d(?!\d*-\d)"


_SIZE = Wording(
    r"\bmeasur\w+|\bdimensions?\b|\bsizes?\b|\bmisst\b|\b\w*maße\b|\babmessung\w*|\bmesure\w*|\btaille\b|"
    r"\bmide\w*|\bmedidas?\b|\btamaño\b|\d ?[x×] ?\d"
)
_EN_WHEN = r"\b(?:when|(?:what|which) (?:time|date|day|month|year)|how (?:early|late))"
_EN_START = r"\b(?:begin(?:s|ning)?|began|starts?|started|opens?|opened|opening|commenc\w+|takes? effect|into force)\b"
_EN_END = (
    r"\b(?:(?<!(?:months|notice) to the )(?<!weeks to the )end(?:s|ed|ing)?|"
    r"clos(?:es?|ed|ing)|finish\w*|expir\w+|stop(?:s|ped)?|ceas\w+|runs? out)\b"
)
_EN_RANGE = _range(r"\d[\d:.]* ?(?:[ap]\.?m\.?|h|o['’]clock)?", "to")
_EN_PER = r"(?:(?:per|an?|each|every|by the|/) ?(?:full |working |calendar |started )?)"

_DE_WHEN = r"\b(?:wann|welche[mnrs]? (?:uhrzeit|zeit|tag|datum|jahr|monat)|wie (?:früh|spät|lange))"
_DE_START = (
    r"(?:\b(?:be)?ginn\w*|\bbeg[ao]nn\w*|\bfängt\b|\bangefangen|\w*start\w*|\b(?:er)?öffne\w*|\w*geöffnet|\baufgeschlossen|"
    r"\bin kraft|\banfang\w*)"
)
_DE_END = (
    r"(?:\b(?:be)?ende[tn]?\b|\bendete|\bschließ\w*|\bschloss\b|(?<!auf)geschlossen|\bläuft\b(?:(?![.;]).)*\b(?:ab|aus)\b|"
    r"\babgelaufen|\bhört\b(?:(?![.;]).)*\bauf\b)"
)
_DE_RANGE = _range(r"\d+(?: uhr)?", "bis")
_DE_PER = r"(?:\b(?:pro|je|im|am|in der|in einer|jede[mnrs]?|alle \w+|/) ?)"

_FR_WHEN = r"\b(?:quand|quelle (?:heure|date|année)|quel (?:jour|mois))"
_FR_START = r"\b(?:commenc\w+|débu\w+|ouv(?:r|e)\w*|prend effet|entre\w* en vigueur)"
_FR_END = r"\b(?:fini\w*|fin\b|termin\w+|ferm(?:e|é|a|er|ent|ée)\w*|expir\w+|prend fin|cess\w+)"
_FR_RANGE = _range(r"\d+ ?(?:h|heures)?(?: ?\d\d)?", "à")
_FR_PER = r"(?:\b(?:par|chaque|à la|au|le|l['’]|/) ?)"

_ES_WHEN = r"(?:\bcuándo|\bqué (?:hora|día|fecha|mes|año))"
_ES_START = r"\b(?:empiez\w+|empez\w+|comienz\w+|comenz\w+|inici\w+|abr(?:e|en|ió|irá)\b|apertura|entra en vigor)"
_ES_END = r"\b(?:termin\w+|acab\w+|finaliz\w+|cierr\w+|cerr\w+|fin\b|venc\w+|expir\w+)"
_ES_RANGE = _range(r"\d+ ?(?:h|horas)?", "a(?: las)?")
_ES_PER = r"(?:\b(?:por|al?|cada|a la|/) ?)"

_CONTRASTS: Mapping[str, tuple[tuple[Pole, ...], ...]] = {
    "en": (
        (
            _measure(r"\bwide|\bwidth|\bbreadth|\bbroad\b"),
            _pole(r"\bhigh\b(?! (?:season|speed|risk|pressure|school|quality|street|level))|\bheights?\b|\btall\b"),
            _pole(r"\bdeep\b|\bdepths?\b"),
            _pole(r"\blong\b|\blengths?\b", r"\bhow long (?:is|are) |\blengths?\b"),
            _measure(r"\bthick"),
            _measure(r"\bdiameters?\b"),
            _measure(r"\bweigh|\bheavy|\bmass\b"),
        ),
        (
            _pole(
                r"\bat least\b|\bminim(?:um|al)\b|\bmin\.|\b(?:no|not) (?:less|fewer) than\b|\blowest\b|\bsmallest\b|"
                r"\bshortest\b|\bfewest\b|\bfrom \d",
                r"\bat (?:the )?least\b|\bminimum\b|\b(?:lowest|bottom)\b|\bsmallest\b|\bshortest\b|\bfewest\b",
            ),
            _pole(
                r"\bat (?:the )?most\b|\bmaxim(?:um|al)\b|\bmax\.|\bup to\b|\b(?:no|not|never) (?:be )?(?:more|longer|"
                r"larger|higher|later|above|over|exceed\w*)\b|\bmore than\b|\bexceed|\blimited to\b|\blimit\b|"
                r"\bhighest\b|\blargest\b|\bbiggest\b|\blongest\b|\bgreatest\b|\bwithin\b",
                r"\bat (?:the )?most\b|\bmaximum\b|\b(?:highest|top) (?!floor|shelf)|"
                r"\blargest\b|\bbiggest\b|\blongest\b|\bgreatest\b",
            ),
        ),
        (
            _pole(
                rf"{_EN_START}|\b(?:from|since|onwards?|after)\b|{_EN_RANGE}",
                _asked_when(_EN_WHEN, _EN_START, r"\b(?:from|since) (?:when|what|which)\b"),
            ),
            _pole(
                rf"{_EN_END}|\b(?:until|till|through|by|before|latest|over)\b|{_EN_RANGE}",
                _asked_when(_EN_WHEN, _EN_END, r"\b(?:until|till|by) (?:when|what|which)\b|\bhow late\b"),
            ),
        ),
        (
            _pole(r"\bbefore(?:hand)?\b|\bprior to\b|\bin advance\b|\bahead\b|\bearlier\b|\bbefore\b"),
            _pole(r"\bafter(?:wards)?\b|\blater\b|\bfollowing\b|\bonce\b"),
        ),
        (
            _pole(rf"\bhourly\b|{_EN_PER}hour\b"),
            _pole(rf"\bdaily\b|\bnightly\b|{_EN_PER}(?:day|night)\b"),
            _pole(rf"\bweekly\b|{_EN_PER}week\b"),
            _pole(rf"\bmonthly\b|{_EN_PER}(?:calendar )?month\b"),
            _pole(rf"\bquarterly\b|{_EN_PER}quarter\b"),
            _pole(rf"\byearly\b|\bannual(?:ly)?\b|\bper annum\b|\bp\.a\.|{_EN_PER}year\b"),
        ),
        (
            _pole(r"\bdeliver|\bship(?:s|ped|ping)\b|\barriv|\bsuppl(?:y|ied)\b|\bdispatch|\blead time\b"),
            _pole(r"\b(?:valid|binding|expir\w+)\b|\bdate of (?:the )?(?:offer|quot\w+|order|invoice)\b"),
            _pole(r"\bguarantee|\bwarrant(?:y|ies)\b"),
            _pole(r"\bpay(?:s|able|ments?|ing)?\b|\bpaid\b|\bdue\b|\binvoice"),
            _pole(r"\bcancel|\bwithdr[ae]w|\bterminat|\bnotice\b|\bresign"),
            _pole(r"\bregist(?:er|ration)|\benrol|\bsign(?:s|ed)? up\b|\bappl(?:y|ied|ications?)\b"),
        ),
        (_pole(r"\bimport(?!an)"), _pole(r"\bexport")),
        (
            _pole(r"\bdeposit|\bsecurity\b"),
            _pole(r"\bfines?\b|\bpenalt(?:y|ies)\b"),
            _pole(r"\bdiscounts?\b|\breduc\w+"),
            _pole(
                r"\bcosts?\b|\bpric|\bfees?\b|\bcharg|\bpa(?:y|id|ys)\b|\brates?\b|\bpremium|\brent(?:s|ed|al)?\b",
                r"\bcosts?\b|\bprice\b",
            ),
            _pole(
                r"\b(?:at least|up to|limit\w*|cover(?:s|ed)?|insured) (?:for |of |to )?"
                r"(?:[£$€] ?|EUR |GBP |USD |CHF )\d",
                r"(?!)",
            ),
        ),
    ),
    "de": (
        (
            _measure(r"\bbreit\b|\w*breite\b"),
            _pole(r"\bhoch\b|\w*höhe\b"),
            _pole(r"\btief\b|\w*tiefe\b"),
            _pole(r"\blang\b|\w*länge\b"),
            _pole(r"\bdick\b|\w*dicke\b|\b\w*stärke\b"),
            _measure(r"\w*durchmesser\b"),
            _measure(r"\bschwer\b|\bwieg\w+|\w*gewicht\b"),
        ),
        (
            _pole(
                r"\b(?:minde|wenig)stens\b|\bminim\w+|\bmindest\w+|\b(?:klein|niedrig|kürz|gering)ste\w*|"
                r"\bab \d|\bnicht weniger als\b"
            ),
            _pole(
                r"\bhöchstens\b|\bmaxim\w+|\bmax\.|\bhöchst\w+|\bbis zu \d|\b(?:größ|höch|läng)ste\w*|"
                r"\bnicht mehr als\b|\bnicht (?:über\w*|länger)\b|\bbegrenzt auf\b|\büberschreit\w+|\binnerhalb\b",
                r"\bhöchstens\b|\bmaxim\w+|\bhöchst\w+|\b(?:größ|höch|läng)ste\w*",
            ),
        ),
        (
            _pole(
                rf"{_DE_START}|\b(?:ab|seit|von|vom)\b|{_DE_RANGE}",
                _asked_when(_DE_WHEN, _DE_START, r"\b(?:ab|seit|von) (?:wann|welche\w+)\b"),
            ),
            _pole(
                rf"{_DE_END}|\b(?:bis|spätestens|vor)\b|{_DE_RANGE}",
                _asked_when(_DE_WHEN, _DE_END, r"\bbis (?:zu[mr]? )?(?:wann|welche\w+)\b"),
            ),
        ),
        (_pole(r"\b(?:vor|vorher|zuvor|im voraus)\b"), _pole(r"\b(?:nach|nachher|danach)\b")),
        (
            _pole(rf"\bstündlich\w*|{_DE_PER}stunde\b"),
            _pole(rf"\btäglich\w*|\btages\w+|{_DE_PER}(?:tag|nacht)\b"),
            _pole(rf"\bwöchentlich\w*|\bwochen\w+|{_DE_PER}woche\b"),
            _pole(rf"\bmonatlich\w*|\bmonats\w+|{_DE_PER}monat\b"),
            _pole(rf"\bjährlich\w*|\bjahres\w+|{_DE_PER}jahr\b"),
        ),
    ),
    "fr": (
        (
            _measure(r"\blarges?\b|\blargeur\b"),
            _pole(r"\bhaute?\b|\bhauteur\b"),
            _pole(r"\bprofonde?\b|\bprofondeur\b"),
            _pole(r"\blong(?:ue)?\b|\blongueur\b"),
            _pole(r"\bépais\w*"),
            _measure(r"\bdiamètre\b"),
            _measure(r"\bpoids\b|\bpès\w+"),
        ),
        (
            _pole(r"\bau moins\b|\bminim\w+|\b(?:plus petit|plus bas|plus court)\w*|\bpas moins\b|\bà partir de \d"),
            _pole(
                r"\bau plus\b|\bmaxim\w+|\bjusqu['’]à \d|\bdépass\w+|\b(?:plus grand|plus haut|plus long)\w*|"
                r"\bpas plus\b|\blimité\w* à\b",
                r"\bau plus\b|\bmaxim\w+|\b(?:plus grand|plus haut|plus long)\w*",
            ),
        ),
        (
            _pole(
                rf"{_FR_START}|\b(?:à partir d|dès|depuis)|{_FR_RANGE}",
                _asked_when(_FR_WHEN, _FR_START, r"(?:à partir de|dès|depuis) (?:quand|quel\w*)"),
            ),
            _pole(
                rf"{_FR_END}|\bjusqu|\bavant\b|\bau plus tard\b|{_FR_RANGE}",
                _asked_when(_FR_WHEN, _FR_END, r"\bjusqu['’](?:à |au? )?(?:quand|quel\w*)"),
            ),
        ),
        (_pole(r"\bavant\b|\bà l['’]avance\b"), _pole(r"\baprès\b|\bsuivant\w*")),
        (
            _pole(rf"\bhoraire\b|{_FR_PER}heure\b"),
            _pole(rf"\bquotidien\w*|\bjournali\w+|{_FR_PER}(?:jour|nuit|nuitée)\b"),
            _pole(rf"\bhebdomadaire\w*|{_FR_PER}semaine\b"),
            _pole(rf"\bmensuel\w*|{_FR_PER}mois\b"),
            _pole(rf"\bannuel\w*|{_FR_PER}(?:an|année)\b"),
        ),
    ),
    "es": (
        (
            _measure(r"\banch[ao]s?\b|\banchura\b"),
            _pole(r"\balt[ao]s?\b|\baltura\b"),
            _pole(r"\bprofund\w+"),
            _pole(r"\blarg[ao]s?\b|\blongitud\b"),
            _pole(r"\bgrosor\b|\bespesor\b"),
            _measure(r"\bdiámetro\b"),
            _measure(r"\bpes[oa]n?\b"),
        ),
        (
            _pole(r"\bal menos\b|\bcomo mínimo\b|\bmínim[ao]s?\b|\ba partir de \d|\bno menos de\b|\bpor lo menos\b"),
            _pole(
                r"\bcomo (?:máximo|mucho)\b|\bmáxim[ao]s?\b|\bhasta \d|\bno más de\b|\bsuper\w+|\bexced\w+",
                r"\bcomo (?:máximo|mucho)\b|\bmáxim[ao]s?\b",
            ),
        ),
        (
            _pole(
                rf"{_ES_START}|\b(?:desde|a partir de)\b|{_ES_RANGE}",
                _asked_when(_ES_WHEN, _ES_START, r"\b(?:desde|a partir de) (?:cuándo|qué)"),
            ),
            _pole(
                rf"{_ES_END}|\b(?:hasta|antes|a más tardar)\b|{_ES_RANGE}",
                _asked_when(_ES_WHEN, _ES_END, r"\bhasta (?:cuándo|qué)"),
            ),
        ),
        (_pole(r"\bantes\b|\bde antelación\b|\bprevio"), _pole(r"\bdespués\b|\btras\b")),
        (
            _pole(rf"{_ES_PER}hora\b"),
            _pole(rf"\bdiari[ao]s?\b|{_ES_PER}(?:día|noche)\b"),
            _pole(rf"\bsemanal\w*|{_ES_PER}semana\b"),
            _pole(rf"\bmensual\w*|{_ES_PER}mes\b"),
            _pole(rf"\banual\w*|{_ES_PER}año\b"),
        ),
    ),
}
