"""The word table of Polish."""

from __future__ import annotations

from agentic_rag.language.words.word_table import Asked, Wording, WordTable, word_set

_MONTHS = (
    r"(?:stycz(?:eń|nia|niu)|lut(?:y|ego|ym)|mar(?:zec|ca|cu)|kwie(?:cień|tnia|tniu)|maj[au]?|czerw(?:iec|ca|cu)|"
    r"lip(?:iec|ca|cu)|sierp(?:ień|nia|niu)|wrze(?:sień|śnia|śniu)|październik[ai]?u?|listopad(?:a|zie)?|"
    r"grud(?:zień|nia|niu))"
)
_NUMBERS = (
    r"(?:jed(?:en|na|no|nego)|dw(?:a|ie|óch)|trzy|trzech|cztery|czterech|pięć|pięciu|sześć|siedem|osiem|dziewięć|"
    r"dziesięć|"
    r"\w+naście|dwadzieścia|trzydzieści|\w+dziesiąt|sto|\w+set|tysiąc\w*|tysięcy|milion\w*|miliard\w*|połow\w+|pół|"
    r"podwójn\w+|żad\w+|zero)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,\u00a0\u202f]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:sekund\w*|minut\w*|godzin\w*|dni|dzień|dnia|dniach|tydzień|tygodni\w*|miesi(?:ąc|ęcy)\w*|kwartał\w*|rok|"
    r"roku|lat\w*|"
    r"dekad\w*|wiek\w*|min|godz)"
)
_CALENDAR = (
    rf"\b\d{{1,2}}\.? {_MONTHS}\b|\b{_MONTHS}\b|\b(?:1[0-9]|20)\d\d\b|\b(?:poniedział\w+|wtor\w+|środ\w+|czwart\w+|"
    rf"piąt\w+|"
    r"sobot\w+|niedziel\w+)\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b\d{1,2}[.:]\d\d\b|\bgodz(?:inie|\.)|\b[ivxl]+ wiek\w*|"
    rf"\b(?:codzienn|tygodniow|miesięczn|roczn|kwartaln)\w+|\bco (?:\w+ )?{_SPAN}|"
    rf"\b(?:dzisiaj|dziś|wczoraj|jutro|początk\w+|koni?ec|końc\w+|wiosn\w+|lat(?:o|em)|jesie\w+|zim\w+)\b|"
    rf"\b(?:po|przed|do|od|w ciągu)\b[^.]{{0,20}} {_SPAN}"
)

POLISH = WordTable(
    code="pl",
    stemmer="polish",
    marks="ąęłśżźćń",
    letters="ąćęłńóśźż",
    groups_by_space=True,
    function_words=word_set(
        """
        a i o u w z na do od po za ze we przed przez przy pod nad dla bez między oraz albo ale lub czy że żeby aby gdy
        kiedy
        gdzie jak jaki jaka jakie jakich jakim jaką kto kogo komu kim co czego czemu czym który która które których
        którym którą którego którzy ile ilu dlaczego skąd dokąd ja ty on ona ono my wy oni one mnie mi cię ci go
        jego jej ich im nas nam was się siebie mój moja moje swój swoje swoją ten ta to te tego tej tym tych tymi
        temu tam tu tak nie jest są był była było były być będzie będą został została zostało zostały może mogą
        można musi muszą należy trzeba powinien powinna powinny ma mają miał miała jako już tylko także również też
        bardzo więcej mniej wszystkie wszystkich wszystko każdy każda każde inne innych inny sam sama nawet jeszcze
        zawsze nigdy jeśli jeżeli ponieważ więc podczas według wobec około
        """
    ),
    asking_stems=word_set("znajd liczb nazw typ rodzaj rok dat pokaz poda różnic"),
    never_last=word_set(
        """
        ul al pl os nry np tzn tzw tj m.in por zob ok ob oprac red wyd hab mgr inż lek med płk mjr kpt gen ks św
        pp pt woj pow gm im dyr wg zw ww cd cdn ang łac niem
        """
    ),
    before_figures=word_set("nr str art ust pkt lit rys tab rozdz tel godz maks min m"),
    seldom_last=word_set("itd itp r w zł gr tys mln mld n.e p.n.e s.a sp z.o.o o.o"),
    questions=(
        (Asked.DOCUMENTS, Wording(r"^(?:w )?(?:jakich|których|które|jakie) (?:dokument|plik|raport|protok|umow|"
            r"instrukcj)\w*")),
        (Asked.SUMMARY, Wording(r"\b(?:podsumuj|podsumowanie|streść|streszczenie|w skrócie)\b")),
        (Asked.REASON, Wording(r"\b(?:dlaczego|czemu|z jakiego powodu|jaka jest przyczyna|jaki jest powód)\b")),
        (Asked.STEPS, Wording(
            r"\bjak (?:mogę|można|należy|mam|złożyć|się|\w+(?:ać|ić|yć|eć|ować)\b|"
            r"(?!nazywa|zwie|czuje)\w+ się\b)|\bco (?:muszę|trzeba|należy|mam|"
            r"robić|zrobić)\b|"
            r"\bco się stanie\b|\bkrok po kroku\b"
        )),
        (Asked.DEFINITION, Wording(r"^(?:co to jest|czym jest|co oznacza|co to) [\w-]+(?: [\w-]+){0,2} ?\?*$|"
            r"\bco oznacza\b")),
        (Asked.COMPARISON, Wording(r"\bróżnic\w* (?:między|pomiędzy)\b|\bw porównaniu (?:z|do)\b")),
        (Asked.PRICE, Wording(
            r"\b(?:kosztuj\w*|koszt|cen[aęy]|opłat[aęy]|kwot[aęy]|pensj\w+|wynagrodzeni\w+|czynsz)\b|"
            r"\bile (?:pieniędzy|płac\w+|"
            r"zarabia\w*|euro|złotych)"
        )),
        (Asked.HOW_LONG, Wording(rf"\bjak (?:długo|często)\b|\bile (?:czasu|razy|{_SPAN})\b|"
            rf"\bjaki (?:jest )?termin\b|\bw jakim wieku\b")),
        (Asked.HOW_MUCH, Wording(
            r"\b(?:ile|ilu)\b|\bjak (?:wysok|duż|dalek|głębok|szerok|ciężk|szybk|siln)\w+|\bjak(?:a|i|ie|"
            r"ą) (?:jest |była? )?(?:\w+ )?"
            r"(?:liczba|ilość|procent|temperatur|prędkość|długość|wysokość|wielkość|powierzchni|populacj|limit)\w*"
        )),
        (Asked.WHEN, Wording(
            r"\b(?:kiedy|o której(?: godzinie)?)\b|\b(?:w |od |do )?(?:którym|jakim|jakiego|który|"
            r"jaki) (?:\w+ )?(?:rok|miesiąc|dzień|"
            r"dniu|wieku|termin|okres)\w*"
        )),
        (Asked.WHO, Wording(r"\b(?:kto|kogo|komu|kim)\b")),
        (Asked.WHERE, Wording(
            r"\b(?:gdzie|skąd|dokąd)\b|\b(?:w |do )?(?:jakim|którym|jakiej|której|jakie|które) (?:mie[śj]\w+|"
            r"kraj\w*|budynk\w*|"
            r"region\w*|ulic\w*|wysp\w*|stan\w*|prowincj\w*)"
        )),
        (Asked.LIST, Wording(r"^(?:wymień|podaj|wylicz)\b|^jakie (?:są|były) ")),
        (Asked.WHICH, Wording(r"\b(?:jak(?:i|a|ie|im|ich|ą|iej|iego)|któr\w+)\b|^(?:\w+ )?(?:co|czego|czym|czemu)\b")),
        (Asked.YES_NO, Wording(r"^czy\b")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:podsumowanie|streszczenie|w skrócie)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:codzienn|tygodniow|miesięczn|roczn)\w+|\bco {_SPAN}|"
            r"\b(?:nigdy|zawsze|natychmiast|raz|dwa razy)\b|\b(?:1[0-9]|20)\d\d\b"
        ),
        Asked.PRICE: Wording(r"[€$£]|\b(?:zł|złot\w+|groszy|euro|dolar\w*|funt\w*|bezpłatn\w+|darmow\w+|milion\w*|"
            r"miliard\w*|procent)\b|%"),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(„“\"] )[A-ZŁŚŻŹĆÓ][\w’'-]+|\b[A-ZŁŚŻŹĆÓ][\w’'-]+ [A-ZŁŚŻŹĆÓ][\w’'-]+|"
            r"\b(?i:dyrektor\w*|kierowni\w+|szef\w*|prezes\w*|prezydent\w*|król\w*|cesarz\w*|minist\w+|dział\w*|"
            r"zespół|komisj\w+|"
            r"rząd\w*|parlament\w*|recepcj\w+|rada|burmistrz\w*)\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Ww]e?|[Nn]a|[Dd]o|[Oo]d|[Zz]e?|[Pp]rzy|[Pp]od|[Nn]ad|[Oo]bok|[Pp]rzed|[Zz]a|"
            r"[Kk]oło) \w{3,}", ignores_case=False
        ),
        Asked.REASON: Wording(
            r"\b(?:ponieważ|bo|gdyż|dlatego|z powodu|wskutek|aby|żeby|powód|powodu|przyczyn\w+|dzięki|wynika)\b"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:nie|może|mogą|można|musi|muszą|należy|nigdy|zawsze|tylko|zabroni\w+|dozwol\w+|wolno|tak)\b"
        ),
    },
    leaning=Wording(
        r"^(?:On|Ona|Ono|Oni|One|Ten|Ta|To|Te|Jego|Jej|Ich|Także|Ale|Dlatego|Wtedy|Następnie|Ponadto|Jednak|Również|"
        r"Potem)\b",
        ignores_case=False,
    ),
    negation=Wording(r"\b(?:nie|nigdy|bez|żad\w+|nikt|nic|ani|zabroni\w+)\b"),
    numbers={
        "stycznia": "january", "lutego": "feb.", "marca": "march", "kwietnia": "april", "maja": "may",
        "czerwca": "june", "lipca": "july", "sierpnia": "august", "września": "sept.", "października": "october",
        "listopada": "november", "grudnia": "december", "dwa": "two", "dwie": "two", "procent": "percent", "trzy": "3",
        "cztery": "four", "pięć": "five",
        "sześć": "six", "siedem": "seven", "osiem": "8", "dziewięć": "nine", "dziesięć": "ten", "dzień": "day",
        "dni": "day", "tydzień": "week", "tygodnie": "weeks", "tygodni": "weeks", "miesiąc": "month",
        "miesiące": "months", "miesięcy": "months", "rok": "yr", "roku": "year", "lat": "yrs", "lata": "yrs",
        "godzin": "hours", "godziny": "hours", "euro": "euro",
    },
    definition=Wording(r"^(?:co to jest|czym jest|co oznacza|co to) (?P<term>[^?]{2,60}?)\W*$"),
)  # fmt: skip
