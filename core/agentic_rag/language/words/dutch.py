"""The word table of Dutch."""

from __future__ import annotations

from agentic_rag.language.words.word_table import Asked, Wording, WordTable, word_set

_MONTHS = r"(?:januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december)"
_NUMBERS = (
    r"(?:een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|vijftien|twintig|dertig|\w+tig|honderd|"
    r"duizend|"
    r"miljoen|miljard|half|halve|dubbel\w*|geen|nul)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:seconden?|minu(?:ut|ten)|u(?:ur|ren)|dag(?:en)?|we(?:ek|ken)|maand(?:en)?|kwarta(?:al|len)|ja(?:ar|ren)|"
    r"decennia|"
    r"eeuw(?:en)?|werkdagen|min|u)"
)
_CALENDAR = (
    rf"\b\d{{1,2}} {_MONTHS}\b|\b{_MONTHS}\b|\b(?:1[0-9]|20)\d\d\b|\b(?:maan|dins|woens|donder|vrij|zater|zon)dag\w*|"
    r"\b\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\b\d{1,2}[.:]\d\d\b|\b\d{1,2} uur\b|\b\w+ eeuw\b|"
    rf"\b(?:dagelijks|wekelijks|maandelijks|jaarlijks)\b|\b(?:elke|ieder|iedere|elk) (?:\w+ )?{_SPAN}|"
    rf"\b(?:vandaag|gisteren|morgen|begin|eind|lente|zomer|herfst|winter|middernacht)\b|"
    rf"\b(?:na|voor|binnen|tot|sinds)\b[^.]{{0,20}} {_SPAN}"
)
_ANYONE = r"(?:ik|men|we|wij|je|iemand|u|medewerkers|klanten|bezoekers)"

DUTCH = WordTable(
    code="nl",
    stemmer="dutch",
    letters="áéëíïóöúüè",
    has_compounds=True,
    function_words=word_set(
        """
        de het een der des ik jij je hij zij ze wij we jullie u mij me hem haar hun hen ons onze mijn jouw uw zijn
        zich dit dat deze die welke welk wie wat waar waarheen wanneer hoe waarom waarmee waarvan waarvoor hoeveel
        ben bent is was waren geweest worden wordt werd werden heb hebt heeft hebben had hadden kan kun kunt kunnen
        kon konden moet moeten moest mag mogen mocht zal zult zullen zou zouden wil willen wilde gaat en of maar
        want dus als omdat dan toen terwijl hoewel indien voordat nadat in op aan van voor met bij naar uit om tot
        te over onder tussen door tegen zonder sinds tijdens vanaf per binnen buiten volgens niet geen wel ook nog
        al reeds zeer meer meest veel weinig er hier daar nu weer altijd nooit alle alles elk elke ieder iedere
        sommige andere ander zelf zo toch alleen ja nee hierbij daarbij ervan daarvan eens
        """
    ),
    asking_stems=word_set("vind aantal naam soort heet lang groot hoog vaak jaar datum toon geef verschil nieuw"),
    never_last=word_set(
        """
        dhr mevr mw mej drs ir ing ds pp bijv bv d.w.z o.a o.m m.b.t m.u.v m.i.v t.a.v t.b.v t.o.v i.p.v i.v.m
        n.a.v m.n m.a.w z.g zgn vgl ca incl excl resp evt ong gem plm red uitg jl afd v.a
        """
    ),
    before_figures=word_set("nr nrs blz art fig afb tab hfdst tel max min par"),
    seldom_last=word_set("enz b.v n.v e.d e.a v.chr n.chr"),
    questions=(
        (Asked.DOCUMENTS, Wording(r"^(?:in )?welke? (?:documenten|bestanden|rapporten|notulen|contracten|"
            r"handleidingen)\b")),
        (Asked.SUMMARY, Wording(r"\b(?:vat .* samen|samenvatting|kort overzicht)\b")),
        (Asked.REASON, Wording(r"\b(?:waarom|om welke reden|wat is de reden|hoe komt het)\b")),
        (Asked.STEPS, Wording(
            rf"\bhoe (?!(?:heet|laat|vaak|lang|oud|groot|ver|veel)\b)\w+ {_ANYONE}\b|"
            rf"\bwat moet\w* {_ANYONE}\b|"
            r"\bwat te doen\b|\bwat gebeurt er (?:als|wanneer)\b|\bstap voor stap\b"
        )),
        (Asked.DEFINITION, Wording(
            r"^wat (?:is|zijn|betekent) (?:een |de |het )?[\w-]+(?: [\w-]+){0,2} ?\?*$|\bwat (?:betekent|"
            r"wordt bedoeld met|"
            r"verstaat men onder)\b"
        )),
        (Asked.COMPARISON, Wording(r"\bverschil(?:len)? tussen\b|\bvergeleken met\b|\bin vergelijking met\b|"
            r"\b\w{3,}er dan\b")),
        (Asked.PRICE, Wording(
            r"\bkost(?:en|te)?\b|\b(?:prijs|prijzen|tarief|salaris|vergoeding|huur|bedrag)\b|\bhoeveel (?:geld|euro|"
            r"betaal|"
            r"verdien)|\bhoe duur\b"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\bhoe (?:lang|vaak|oud)\b|\bhoeveel \w*{_SPAN}\b|\bwelke termijn\b|\bhoe snel (?:moet|wordt)\b|"
            rf"\bhoeveel keer\b"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bhoeveel\b|\bhoe (?:hoog|groot|ver|diep|breed|zwaar|snel|sterk|heet|koud|dik)\b|"
            r"\bwelke? (?:\w+ )?(?:aantal|"
            r"hoeveelheid|percentage|temperatuur|snelheid|lengte|hoogte|grootte)\b|\bwat is (?:het|"
            r"de) (?:\w+ )?(?:aantal|"
            r"percentage|temperatuur|snelheid|lengte|hoogte|bevolking|limiet|maximum|minimum)\b"
        )),
        (Asked.WHEN, Wording(r"\b(?:wanneer|hoe laat)\b|\bwelke? (?:\w+ )?(?:jaar|datum|dag|maand|eeuw|moment|"
            r"tijdstip)\b")),
        (Asked.WHO, Wording(r"^(?:\w+ )?wie\b|\bwelke (?:persoon|man|vrouw|koning|president|auteur|wetenschapper)\b")),
        (Asked.WHERE, Wording(
            r"\bwaar(?:heen|naartoe)?\b(?! (?:om|voor)\b)|\bwelke? (?:\w+ )?(?:stad|land|plaats|gebouw|kamer|staat|"
            r"regio|straat|"
            r"eiland|provincie)\b"
        )),
        (Asked.LIST, Wording(r"^(?:noem|geef|som)\b|^welke \w+(?:en|s) (?:zijn|waren|hebben|moeten|mogen|kunnen|"
            r"worden)\b")),
        (Asked.WHICH, Wording(r"\bwelke?\b|^(?:wat|waarmee|waarvan|waarvoor|waarop)\b")),
        (Asked.YES_NO, Wording(
            r"^(?:is|zijn|was|waren|heeft|hebben|had|kan|kunnen|mag|mogen|moet|moeten|wordt|worden|zal|geldt|krijgt|"
            r"krijg)\b"
        )),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:samenvatting|in het kort|overzicht)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:dagelijks|wekelijks|maandelijks|jaarlijks|eenmaal|tweemaal|nooit|"
            rf"altijd|"
            rf"onmiddellijk)\b|\b(?:elke|iedere|elk) {_SPAN}|\b(?:1[0-9]|20)\d\d\b"
        ),
        Asked.PRICE: Wording(r"[€$£]|\b(?:euro|cent|dollar|pond|gulden|gratis|kosteloos|miljoen|miljard|procent)\b|%"),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(«“\"] )[A-ZÀ-Þ][\w’'-]+|\b[A-ZÀ-Þ][\w’'-]+ (?:(?:van|de|der|den|ter) )*[A-ZÀ-Þ][\w’'-]+|"
            r"\b(?:[Dd]hr\.|[Mm]evr\.|[Dd]r\.)|\b(?i:directeur|hoofd|leider|manager|voorzitter|president|koning|"
            r"koningin|minister|"
            r"afdeling|team|commissie|regering|parlement|receptie|raad|burgemeester)\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Ii]n|[Oo]p|[Bb]ij|[Aa]an|[Nn]aar|[Uu]it|[Vv]an|[Oo]nder|[Aa]chter|[Vv]oor|[Tt]ussen|[Nn]aast|"
            r"[Tt]egenover) "
            r"(?:de |het |een )?\w{3,}",
            ignores_case=False,
        ),
        Asked.REASON: Wording(r"\b(?:omdat|want|wegens|vanwege|daarom|doordat|zodat|om .{3,60} te|reden|oorzaak|"
            r"dankzij|door)\b"),
        Asked.YES_NO: Wording(
            r"\b(?:niet|geen|mag|mogen|moet|moeten|kan|kunnen|nooit|altijd|alleen|verboden|toegestaan|behalve|ja|nee)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Hij|Zij|Ze|Het|Deze|Dit|Dat|Die|Daarvan|Daarbij|Daarna|Zijn|Haar|Hun|Ook|Maar|Echter|Daarom|Dus|Dan|"
        r"Bovendien|"
        r"Beide|Daar)\b",
        ignores_case=False,
    ),
    negation=Wording(r"\b(?:niet|geen|nooit|zonder|niemand|niets|noch|verboden)\b"),
    conditions=Wording(r"\b(?:als|indien|na|voor|tot|tijdens|met|zonder|behalve)\b"),
    asks_leave=Wording(r"\b(?:mag|mogen|toegestaan)\b"),
    refused=Wording(r"nee"),
    numbers={
        "januari": "january", "februari": "february", "maart": "march", "mei": "may", "juni": "june", "juli": "july",
        "augustus": "august", "oktober": "october", "twee": "two", "drie": "3", "vier": "four", "vijf": "five",
        "zes": "six", "zeven": "seven", "acht": "8", "negen": "nine", "tien": "ten", "vijftien": "15",
        "twintig": "twenty", "dertig": "thirty", "dag": "day", "dagen": "days", "week": "week", "weken": "weeks",
        "maand": "month", "maanden": "months", "jaar": "year", "jaren": "years", "uur": "hr", "uren": "hrs",
        "minuut": "minute", "minuten": "minutes", "procent": "percent", "euro": "euro", "elke": "each",
        "dagelijks": "daily",
    },
    definition=Wording(
        r"^wat (?:is|zijn|betekent|wordt bedoeld met|verstaat men onder) (?:een |de |het )?(?P<term>[^?]{2,60}?)\W*$"
    ),
)  # fmt: skip
