"""The word table of German."""

from __future__ import annotations

from agentic_rag.language.words.word_table import LENGTH, LOUDNESS, WARMTH, WEIGHT, Asked, Wording, WordTable, word_set

_MONTHS = (
    r"(?:jan(?:uar|\.)|jänner|feb(?:ruar|\.)|märz|apr(?:il|\.)|mai|juni?|juli?|aug(?:ust|\.)|sept?(?:ember|\.)|"
    r"okt(?:ober|\.)|nov(?:ember|\.)|dez(?:ember|\.))"
)
_DAYS = r"(?:(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?)"
_NUMBERS = (
    r"(?:eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn|zwanzig|dreißig|\w+zig|hundert|"
    r"tausend|"
    r"millionen?|milliarden?|halb\w*|doppelt\w*|drittel|viertel|keine?n?|null)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:(?:milli)?sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|quartale?n?|jahre?n?|jahrzehnte?n?|"
    r"jahrhunderte?n?|werktage?n?|arbeitstage?n?|min|std|h)"
)
_CALENDAR = (
    rf"\b\d{{1,2}}\. ?{_MONTHS}(?! ?\w{{0,3}}\d{{3}}\D)|\b{_MONTHS} \d{{4}}|\b(?:1[0-9]|20)\d\d\b|"
    rf"\b\d{{1,2}}\.\d{{1,2}}\.(?:\d{{2,4}})?|\b{_MONTHS}(?!\w)|\b{_DAYS}\b|\b\d{{1,2}}[.:]\d\d\b|\b\d{{1,2}} uhr\b|"
    r"\b\d{1,2}\. jahrhundert|\b(?:täglich|wöchentlich|monatlich|jährlich|vierteljährlich)\b|"
    rf"\b(?:jede[nrs]?|alle) (?:\w+ )?{_SPAN}|\b(?:heute|gestern|morgen|anfang|mitte|ende|frühjahr|frühling|sommer|"
    rf"herbst|winter)\b|\b(?:nach|vor|binnen|innerhalb|bis|seit)\b[^.]{{0,20}} {_SPAN}"
)
_OPENING = (
    r"(?:D(?:er|ie|as|em|en|es)|Eine?[mnrs]?|I[mn]|A[mn]|Auf|Beim?|Mit|Nach|Vo[nmr]|Zu[mr]?|Für|Durch|Aus|Als|Wenn|"
    r"Jede[rs]?|Alle|Keine?|Seit|Bis|Unter|Über|Diese[rs]?|Ihre?|Seine?|Und|Oder|Es|Er|Sie|Bei|Um|Ab|Ohne|Wer|Was|Wie)"
)
_ANYONE = r"(?:ich|man|wir|jemand|mitarbeiter\w*|beschäftigte\w*|kunden?|besucher\w*|neue \w+)"

GERMAN = WordTable(
    code="de",
    stemmer="german",
    marks="äöüß",
    letters="äöüß",
    function_words=word_set(
        """
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines ich du
        er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine meinen meinem meiner meines dein
        deine deinen deinem deiner sein seine seinen seinem seiner seines unser unsere unseren unserem unserer
        euer eure ihre ihren ihrem ihrer ihres sich man selbst selber dieser diese dieses diesen diesem jener
        jene jenes jenen jenem jeder jede jedes jeden jedem alle allen aller alles einige einigen bin bist ist
        sind seid war warst waren gewesen sei wäre wären werde wirst wird werden wurde wurden worden würde
        würden habe hast hat haben habt hatte hatten hätte hätten gehabt kann kannst können konnte konnten
        könnte könnten muss musst müssen musste mussten müsste müssten soll sollst sollen sollte sollten darf
        darfst dürfen durfte durften dürfte will willst wollen wollte wollten mag mögen möchte möchten und oder
        aber denn sondern doch wenn weil dass ob als während obwohl damit falls bevor nachdem bis seit sowie in
        im ins an am ans auf aufs aus bei beim mit nach von vom vor zu zum zur über unter zwischen durch für
        fürs gegen ohne um trotz wegen statt ab außer innerhalb außerhalb pro je nicht nur noch schon auch sehr
        mehr so da dort hier dann nun jetzt immer wieder etwa bereits eben mal ja nein dabei dazu davon dafür
        daran darauf daraus darin darüber wer wen wem wessen was wann wo wohin woher wie warum weshalb wieso
        welche welcher welches welchen welchem wofür womit wozu wodurch worin worauf woran wovon wobei worüber
        wonach viel viele vielen vieler gibt bitte zusammen überhaupt eigentlich denen deren dessen derer zwar
        """
    ),
    asking_stems=word_set(
        """
        find lang oft hoch hohe groß große weit alt schnell viel jahr datum zeitpunkt anzahl zahl name namen art
        bekomm erhalt stell geb mach tun heiß nenn genann bezeichne stattfind stattgefund versteh bedeut typ
        dinge sache unterschied vergleich neu erst letzt aktuell genau insgesamt
        """
    ),
    endings=("ungen", "ern", "end", "ung", "em", "er", "en", "es", "et", "st", "e", "s", "n", "t"),
    folds={"ä": "a", "ö": "o", "ü": "u", "ß": "ss"},
    never_last=word_set(
        """
        bzw bspw ca n v z d u i o bes bzgl dgl dipl evtl fa fr frl geb gegr gem ges ggf ggfs hbf hr hrsg i.d.r i.a i.v
        ing inkl einschl ausschl exkl insb jh jhd jhdt kfm lt mind mrd m.e m.w.n o.g o.a rd s.a s.o s.u sen sog st.-nr
        stellv u.a u.u v.a v.chr n.chr verf vgl vorm wg z.b z.hd z.t z.zt d.h zit zzgl zzt allg betr bez div
        dipl.-ing ehem eigtl engl dt entspr gebr med resp röm tlw umg ungef zus
        """
    ),
    before_figures=word_set(
        """
        nr nrn str kap abs abb anl anm art aufl bd bde s std tab tel ziff zif pos teil lfd no pl min hauptstr
        pkt max
        """
    ),
    seldom_last=word_set(
        """
        usw mwst ust abt min sek mio ff o.ä u.ä jun jan feb apr aug sept okt nov dez gmbh e.v p.a
        """
    ),
    before_ordinal=word_set("der des dem den das vom zum beim im seit"),
    after_ordinal=Wording(
        r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert)\b",
        ignores_case=False,
    ),
    questions=(
        (Asked.DOCUMENTS, Wording(
            r"^(?:in )?welche[nrms]? (?:\w+ )?(?:dokumente?n?|dateie?n?|berichte?n?|protokolle?n?|verträge?n?|"
            r"richtlinien?|handbücher?n?|vereinbarungen|unterlagen)\b"
        )),
        (Asked.SUMMARY, Wording(
            r"^(?:bitte )?(?:fasse?|fassen sie)\b.*\bzusammen\b|\b(?:zusammenfassung|kurzer überblick|"
            r"kurzen überblick)\b"
        )),
        (Asked.YES_NO, Wording(
            r"^(?:ist|sind|war|waren|hat|haben|hatte|kann|können|darf|dürfen|muss|müssen|soll|sollen|wird|werden|gibt|"
            r"bezahlt|zahlt|bekommen|bekommt|bekomme|gilt|gelten|braucht|brauche|steht|geht|zählt|übernimmt|"
            r"erstattet)\b"
        )),
        (Asked.STEPS, Wording(
            rf"\bwie (?:kann|muss|soll|geh|beantrag|stell|meld|bestell|richt|änder|bekomm|mach|"
            rf"funktionier)\w* {_ANYONE}\b|"
            rf"\bwas (?:muss|soll|mach|tu|kann|habe)\w* {_ANYONE}\b|\bwas tun\b|\bwie geht\b|\bwie läuft\b|"
            rf"\bwas passiert,? (?:wenn|falls|bei)\b|\bschritt für schritt\b|\bwie wird .{{2,60}} (?:\w+t|\w+en)\W*$"
        )),
        (Asked.REASON, Wording(r"\b(?:warum|weshalb|wieso|aus welchem grund|was ist der grund|wie kommt es)\b")),
        (Asked.DEFINITION, Wording(
            r"^was (?:ist|sind|bedeutet|heißt|meint man mit) (?:eine? |der |die |das )?[\w-]+\??$|"
            r"^was versteht man unter\b|"
            r"^was (?:bedeutet|heißt)\b|\bwas ist mit .{2,40} gemeint\b"
        )),
        (Asked.COMPARISON, Wording(
            r"\bunterschiede? zwischen\b|\bim vergleich (?:zu|mit)\b|\b\w{3,}er als\b|\bverglichen mit\b"
        )),
        (Asked.PRICE, Wording(
            r"\bkoste(?:t|n|ten?)\b|\bpreis|\bgebühr|\bgehalt|\bwie ?viel (?:geld|euro|dollar)|\bwie teuer|"
            r"\bwie hoch .*"
            r"(?:gebühr|preis|gehalt|miete|pauschale|zuschuss|betrag|kosten|umsatz|budget|strafe)"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\bwie (?:lange|oft|häufig|alt)\b|\bwie ?viele \w*{_SPAN}\b|\bwie schnell (?:muss|müssen|wird|werden)\b|"
            r"\bwelche[rn]? (?:frist|dauer)\b|\binnerhalb welcher"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bwie ?viele?[nr]?\b|\bwie (?:hoch|groß|weit|tief|breit|schwer|schnell|stark|heiß|kalt|dick|lang)\b|"
            r"\bwelche[rnms]? (?:\w+ )?(?:anzahl|menge|anteil|prozentsatz|höhe|größe|länge|temperatur|"
            r"geschwindigkeit)\b"
        )),
        (Asked.WHEN, Wording(
            r"\b(?:wann|um wie ?viel uhr)\b|\b(?:in|an|zu|bis|seit|ab|aus|von|vor|"
            r"nach)? ?welche[mnsr] (?:\w+ )?(?:jahr|jahre|"
            r"datum|tag|monat|zeitpunkt|jahrhundert|jahrzehnt|termin|wochentag)\w*\b"
        )),
        (Asked.WHO, Wording(
            r"^(?:\w+ )?(?:wer|wen|wem|wessen)\b|, (?:wer|wen|wem)\b|\bvon wem\b|\bwelche[rnm]? (?:\w+ )?(?:person|"
            r"mann|frau|"
            r"spieler|könig|präsident|autor|wissenschaftler|forscher|kollegin|kollege)\w*\b"
        )),
        (Asked.WHERE, Wording(
            r"^(?:\w+ )?(?:wo|wohin|woher)\b|\bwelche[rnms]? (?:\w+ )?(?:stadt|land|ort|gebäude|raum|staat|region|"
            r"stelle|"
            r"straße|insel|kontinent|bundesland)\b"
        )),
        (Asked.LIST, Wording(
            r"^(?:nenne|liste|zähle)\b|^welche \w+(?:en|er|e|s) (?:sind|gibt|haben|müssen|dürfen|können|werden|"
            r"gehören)\b|"
            r"^was (?:sind|gehört)\b"
        )),
        (Asked.WHICH, Wording(r"\bwelche[rnms]?\b|^(?:was|womit|wofür|wodurch|woran|worauf|worin)\b")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:zusammenfassung|überblick|kurzfassung|auf einen blick)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:täglich|wöchentlich|monatlich|jährlich|halbjährlich|vierteljährlich|"
            rf"einmal|zweimal|\w+mal|nie|immer|sofort|unverzüglich)\b|\b(?:jede[nrs]?|eine[nrs]?|"
            rf"alle) (?:\w+ )?{_SPAN}|"
            r"\b(?:1[0-9]|20)\d\d\b|\b(?:bis|seit)\b"
        ),
        Asked.PRICE: Wording(
            r"[€$£]|\b(?:euro|cent|dollar|pfund|franken|mark|kostenlos|kostenfrei|gratis|unentgeltlich|millionen?|"
            r"milliarden?|prozent)\b|%|\d,\d\d\b"
        ),
        Asked.WHO: Wording(
            rf"\b(?!{_OPENING}\b)[A-ZÄÖÜ][\w’'-]+ (?:(?:von|van|de|der|zu|da|di|[A-Z]\.) ?)*[A-ZÄÖÜ][\w’'-]+|"
            r"\b(?:Herrn?|Frau|Dr\.|Prof\.)|"
            r"\b(?i:leiter|leitung|leiterin|chef|vorstand|beauftragte|direktor|präsident|könig|kaiser|minister|meister|"
            r"führer|sprecher|verwalter|abteilung|team|stelle|büro|behörde|kommission|regierung|parlament|"
            r"\w+beauftragte|"
            r"\w+leiter|\w+abteilung)(?:in|innen|r|n|s|es)?\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Ii]m|[Ii]n|[Aa]m|[Aa]n|[Bb]eim?|[Aa]uf|[Nn]eben|[Nn]ach|[Zz]ur?|[Zz]um|[Ii]ns|[Aa]us|[Vv]on|[Vv]om|"
            r"[Uu]nter|[Hh]inter|[Vv]or|[Üü]ber|[Zz]wischen|[Gg]egenüber) (?:de[rnms] |eine[rnms]? |die |"
            r"das )?(?:\w+ )?[A-ZÄÖÜ0-9]",
            ignores_case=False,
        ),
        Asked.REASON: Wording(
            r"\b(?:weil|da|denn|wegen|aufgrund|daher|deshalb|deswegen|damit|um .{3,60} zu|grund|ursache|infolge|"
            r"nämlich|"
            r"durch)\b"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:nicht|keine?n?|darf|dürfen|muss|müssen|kann|können|nur|immer|nie|erlaubt|verboten|zulässig|"
            r"erstattet|ja)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Er|Sie|Es|Dies(?:er|e|es|en|em)?|Deren|Dessen|Davon|Dabei|Dafür|Dazu|Damit|Darin|Sein|Seine|Ihr|Ihre|"
        r"Jedoch|Deshalb|Daher|Außerdem|Dann|So|Auch|Beide|Aber|Zudem|Dort|Danach)\b",
        ignores_case=False,
    ),
    was=Wording(r"\b(?:wurden?|waren?|hatten?)\b|\b(?:hat|haben|ist|sind)\b.* \w*ge\w+(?:t|en)\W*$"),
    planned=Wording(r"\b(?:soll|sollen|geplant|voraussichtlich|vorgesehen)\b"),
    negation=Wording(r"\b(?:nicht|kein\w*|nie|niemals|ohne|niemand|nichts|weder|verboten|"
    r"untersagt)\b"),
    conditions=Wording(
        r"\b(?:wenn|falls|sofern|nach|vor|bis|ab|bei|während|mit|ohne|außer|(?:im|am)(?! \d)|höchstens|mindestens)\b"
    ),
    limits=Wording(r"\b(?:als|bevor|bis|ohne|außer|sondern|aber|nur|wenn|falls)\b"),
    asks_which=Wording(r"(?:welche[mnrs]?|wer|wen|wem|was|wo) "),
    asks_leave=Wording(r"\b(?:darf|dürfen|erlaubt)\b"),
    refused=Wording(r"nein"),
    more_days=Wording(
        r"\b(?:täglich|jeden tag|alle tage|werktags?|werktagen|wochenenden?|sonst|außer)\b"
    ),
    months=("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
            "dezember"),
    numbers={
        "zwei": "two", "drei": "three", "vier": "four", "fünf": "five", "sechs": "six", "sieben": "7", "acht": "8",
        "neun": "9", "zehn": "ten", "elf": "11", "zwölf": "12", "zwanzig": "20", "dreißig": "30", "tag": "day",
        "tage": "days", "tagen": "days", "woche": "week", "wochen": "weeks", "monat": "month", "monate": "month",
        "monaten": "months", "jahr": "year", "jahre": "years", "jahren": "years", "stunde": "hour", "stunden": "hours",
        "minute": "minute", "minuten": "minutes", "meter": "meter", "prozent": "percent", "euro": "euro",
        "jede": "each", "jeden": "each", "jedes": "each", "täglich": "daily",
    },
    aside=Wording(r"\b(?:jeden tag|täglich|immer|uhr)\b"),
    has_compounds=True,
    verb_prefixes=("ab", "an", "auf", "aus", "bei", "be", "dar", "durch", "ein", "ent", "er", "fest", "fort", "frei",
                   "ge", "her", "hin", "los", "mit", "nach", "statt", "teil", "um", "unter", "ver", "vor", "weg",
                   "weiter", "wieder", "zer", "zurück", "zusammen", "zu"),
    verb_infixes=("ge", "zu"),
    changes={"a": "ä", "o": "ö", "u": "ü"},
    definition=Wording(
        r"^was (?:versteht man unter|ist|sind|bedeutet|heißt|meint man mit)(?: mit)? (?:eine[mrsn]? |der |die |das |"
        r"dem )?"
        r"(?P<term>[^?]{2,60}?)\W*$"
    ),
    defining=r"(?:ist|sind|bedeute[nt]|heißt|heißen|bezeichne[nt]|beschreibt|versteht|verstehen)\b",
    because=Wording(
        r"\b(?:weil|wegen|damit|deshalb|daher|deswegen|aufgrund|infolge|denn|ursache|grund|gründe)\b|, da\b|"
        r"\bum .{3,60} zu\b|\bzurückgeführt\b"
    ),
    joining=Wording(r"[,;\n]| und | oder | sowie "),
    measures=(
        (Wording(r"\bwie ?(?:viel )?(?:schwer|wieg)|\bwas wieg|\bgewicht\b"), WEIGHT),
        (Wording(r"\bwie (?:warm|heiß|kalt)\b|\btemperatur"), WARMTH),
        (Wording(r"\bwie laut\b|\bschallpegel|\bschalldruck"), LOUDNESS),
        (Wording(r"\bwie (?:breit|dick|tief)\b|\b\w*(?:breite|durchmesser|dicke)\b"), LENGTH),
    ),
    measured_by={"schw": ("gewicht",), "wieg": ("gewicht",), "hoch": ("höhe",)},
)  # fmt: skip
