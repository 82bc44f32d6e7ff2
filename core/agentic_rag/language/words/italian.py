"""The word table of Italian."""

from __future__ import annotations

from agentic_rag.language.words.word_table import Asked, Wording, WordTable, word_set

_MONTHS = r"(?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)"
_DAYS = r"(?:luned[ìi]|marted[ìi]|mercoled[ìi]|gioved[ìi]|venerd[ìi]|sabat[oi]|domenic(?:a|he))"
_NUMBERS = (
    r"(?:un[oa]?|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|quindici|venti|trenta|quaranta|"
    r"cinquanta|"
    r"sessanta|settanta|ottanta|novanta|cento|mille|mila|milion[ei]|miliard[oi]|metà|mezz[oa]|nessun[oa]?|zero)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|trimestr[ei]|semestr[ei]|ann[oi]|decenni[o]?|"
    r"secol[oi]|"
    r"min|h)"
)
_CALENDAR = (
    rf"\b(?:1º|\d{{1,2}}) {_MONTHS}\b|\b{_MONTHS}\b|\b(?:1[0-9]|20)\d\d\b|\b{_DAYS}|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b\d{1,2}[.:]\d\d\b|\b(?:alle|ore) \w+|\b[ivxl]+ secolo|\bsecolo [ivxl]+|"
    r"\b(?:giornalmente|quotidian\w+|settimanal\w+|mensil\w+|annual\w+|trimestral\w+)\b|"
    rf"\bogni (?:\w+ )?{_SPAN}|\b(?:oggi|ieri|domani|mezzogiorno|mezzanotte|inizio|fine|primavera|estate|autunno|"
    rf"inverno)\b|"
    rf"\b(?:prima|dopo|entro|fino|da)\b[^.]{{0,20}} {_SPAN}"
)

ITALIAN = WordTable(
    code="it",
    stemmer="italian",
    marks="ìòù",
    letters="àèéìíîòóù",
    function_words=word_set(
        """
        il lo la i gli le un uno una a di del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai
        dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle in con su per tra fra da e ed o
        oppure ma però che chi cui quale quali qual quando dove come quanto quanta quanti quante perché cosa io tu
        lui lei noi voi loro mi ti si ci vi ne lo li mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro
        vostra questo questa questi queste quello quella quelli quelle quel è sono era erano essere stato stata
        stati sia fu furono sarà saranno sarebbe ha ho hai hanno abbiamo aveva avevano avere avrà può possono posso
        puoi deve devono devo si non più anche molto ogni tutto tutta tutti tutte altro altra altri altre stesso
        stessa alcuni alcune nessuno nessuna così quindi poi ancora già sempre mai qui qua lì là se senza dopo
        prima entro durante presso verso sotto sopra dell nell all dall sull quell un'
        """
    ),
    asking_stems=word_set("trov numer nom tip chiam lung grand alt spess ann dat mostr fornisc differ nuov"),
    never_last=word_set(
        """
        sig sigg sig.ra sig.na dott dr.ssa avv ing arch geom rag on mons gen col ten pp nn cfr cit ca ed es p.es
        fax lett co c.so p.zza v.le l.go ss vd par lgs
        """
    ),
    before_figures=word_set("num nr pag pagg vol voll cap capp fig figg tab all tel art artt sez max min rif"),
    seldom_last=word_set("ecc s.p.a s.r.l s.n.c soc a.c d.c"),
    questions=(
        (Asked.DOCUMENTS, Wording(r"^(?:in )?quali? (?:document[oi]|file|rapport[oi]|verbal[ei]|contratt[oi]|"
            r"manual[ei])\b")),
        (Asked.SUMMARY, Wording(r"\b(?:riassumi|riassunto|in breve|in sintesi|punti principali)\b")),
        (Asked.REASON, Wording(r"\bperch[éè]\b|\bper quale (?:motivo|ragione)\b|\bqual è il motivo\b|"
            r"\ba cosa è dovut")),
        (Asked.STEPS, Wording(
            r"\bcome (?:posso|si (?:può|fa)|devo|fare|faccio|si \w+|\w+(?:are|ere|ire)\b)|"
            r"\bcosa (?:devo|bisogna|si deve|fare)\b|\bquali sono i passaggi\b|\bcosa succede (?:se|quando)\b"
        )),
        (Asked.DEFINITION, Wording(
            r"^(?:che )?cos['’]è (?:un[oa']? ?|il |la |lo |l['’])?[\w’'-]+(?: [\w’'-]+){0,3} ?\?*$|\bcosa (?:significa|"
            r"si intende per|vuol dire)\b"
        )),
        (Asked.COMPARISON, Wording(r"\bdifferenz[ae] (?:tra|fra)\b|\brispetto (?:a|al|alla|ai|alle)\b|"
            r"\bconfront\w+ (?:a|con)\b")),
        (Asked.PRICE, Wording(
            r"\bcosta(?:no)?\b|\b(?:prezzo|prezzi|tariff[ae]|costo|costi|importo|stipendio|canone|affitto)\b|"
            r"\bquant[oi] (?:si paga|denaro|euro|soldi|guadagna)"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\b(?:per )?quanto (?:tempo|dura|durano|durò)\b|\bquant[eoi] {_SPAN}\b|\bogni quanto\b|"
            rf"\bcon quale frequenza\b|"
            r"\bquant[ei] (?:volte|anni)\b|\bqual è (?:la durata|il termine|l['’]età)\b"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bquant[oaie]\b|\bqual(?:e)? (?:è |era )?(?:il |la |l['’])?(?:\w+ )?(?:numero|quantità|percentuale|tasso|"
            r"temperatura|dimensione|altezza|velocità|distanza|superficie|popolazione|lunghezza|capacità|limite|peso)\b"
        )),
        (Asked.WHEN, Wording(
            r"\bquando\b|\ba che ora\b|\b(?:in )?(?:che|quale|qual è la|qual è l['’]) ?(?:anno|data|giorno|mese|"
            r"secolo|orario|"
            r"momento|periodo)\b|\bquali sono gli orari\b"
        )),
        (Asked.WHO, Wording(r"^chi\b|\b(?:a|da|di|con|per) chi\b|\bquale persona\b")),
        (Asked.WHERE, Wording(
            r"\bdov(?:e|['’])\b|\b(?:in )?(?:quale|che) (?:città|paese|luogo|edificio|regione|via|stanza|piano|"
            r"stato|continente|"
            r"isola|provincia)\b"
        )),
        (Asked.LIST, Wording(r"^(?:elenca|nomina|cita)\b|^quali (?:sono|erano)\b|^quali \w+[ie] \w+")),
        (Asked.WHICH, Wording(r"\bqual[ei]?\b|^(?:che|cosa)\b|^(?:a|di|in|su|da) (?:che|cosa)\b")),
        (Asked.YES_NO, Wording(
            r"^(?:è|sono|ha|hanno|può|possono|posso|deve|devono|devo|c['’]è|ci sono|si può|si deve|esiste|bisogna|"
            r"serve|era)\b"
        )),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:riassunto|sommario|in breve|sintesi)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:giornal|quotidian|settimanal|mensil|annual)\w+|\bogni {_SPAN}|"
            r"\b(?:mai|sempre|una volta|due volte|subito|immediatamente)\b|\b(?:1[0-9]|20)\d\d\b"
        ),
        Asked.PRICE: Wording(
            r"[€$£]|\b(?:euro|centesim[oi]|dollar[oi]|lire|sterlin[ae]|gratuit\w+|gratis|milion[ei]|miliard[oi]|"
            r"per cento)\b|%"
        ),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(«“\"’'] )[A-ZÀ-Þ][\w’'-]+|\b[A-ZÀ-Þ][\w’'-]+ (?:(?:di|de|del|della|da) )*[A-ZÀ-Þ][\w’'-]+|"
            r"\b(?:Sig\.|Sig\.ra|Dott\.)|\b(?i:dirett\w+|responsabil\w+|cap[oi]|president\w+|re|regina|imperatore|"
            r"ministr\w+|"
            r"ufficio|squadra|comitato|commissione|governo|parlamento|reception|consiglio|sindaco)\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Aa]l?|[Ii]n|[Nn]el(?:la|lo|le|l['’])?|[Ss]u|[Ss]ul(?:la)?|[Pp]resso|[Dd]a|[Dd]al(?:la)?|"
            r"[Vv]erso|[Ss]otto|"
            r"[Tt]ra|[Dd]avanti) ?(?:il |la |lo |i )?\w{3,}",
            ignores_case=False,
        ),
        Asked.REASON: Wording(
            r"\b(?:perché|poiché|siccome|a causa|grazie|per (?:\w+re)\b|affinché|motivo|ragione|causa|dovut[oaie]|"
            r"quindi)\b"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:non|può|possono|deve|devono|mai|sempre|solo|soltanto|vietat\w+|permess\w+|consentit\w+|salvo|sì|"
            r"no)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Egli|Ella|Esso|Essa|Essi|Esse|Lui|Lei|Loro|Quest[oaie]|Quell[oaie]|Ciò|Suo|Sua|Suoi|Sue|Anche|Ma|"
        r"Quindi|Così|Poi|"
        r"Inoltre|Tuttavia|Allora|Entrambi)\b",
        ignores_case=False,
    ),
    negation=Wording(r"\b(?:non|mai|nessun[oa]?|niente|nulla|senza|né|vietat\w+)\b"),
    conditions=Wording(
        r"\b(?:se|quando|dopo|prima|entro|fino|durante|con|senza|tranne|salvo|eccetto|(?:in|nel)(?! \d)|almeno|"
        r"al massimo)\b"
    ),
    asks_leave=Wording(r"\b(?:permess[oaie]|consentit[oaie]|può|possono)\b"),
    refused=Wording(r"no"),
    numbers={
        "gennaio": "january", "febbraio": "february", "marzo": "march", "aprile": "april", "maggio": "may",
        "giugno": "june", "luglio": "july", "agosto": "august", "settembre": "september", "ottobre": "october",
        "novembre": "november", "dicembre": "december", "due": "two", "tre": "3", "quattro": "four", "cinque": "five",
        "sei": "six", "sette": "seven", "otto": "8", "nove": "nine", "dieci": "ten", "quindici": "15", "venti": "20",
        "trenta": "thirty", "giorno": "day", "giorni": "days", "settimana": "week", "settimane": "weeks",
        "mese": "mo.", "mesi": "mo.", "anno": "year", "anni": "yrs", "ora": "hr", "ore": "hrs", "euro": "euro",
        "ogni": "each",
    },
    definition=Wording(
        r"^(?:(?:che )?cos['’]è|cosa (?:significa|si intende per|vuol dire)) (?:un[oa']? ?|il |la |lo |l['’])?"
        r"(?P<term>[^?]{2,60}?)\W*$"
    ),
)  # fmt: skip
