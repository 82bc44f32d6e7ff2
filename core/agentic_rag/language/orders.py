"""Sentences that tell whoever answers what to say. They are no statement of a document, so they support nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agentic_rag.language.words.orders import FURTHER, QUOTE, OrderPattern, OrderWording

_SAY = (
    r"(?:say|state|answer|respond|reply|report|claim|cite|conclude|assert|insist|"
    r"tell (?:them|the (?:user|reader|asker)))"
)
_ADVERBS = r"(?:,? (?:only|always|first|\w{2,12}ly|without exception|in (?:all|any|each|every) \w+))*"
_SAGE = (
    r"(?:sag|antwort|erwider|nenn|meld|bericht|behaupt|erklär|schreib|zitier|"
    r"gib(?= [^.\n]{0,40}\b(?:an|aus)\b)|geb(?=en sie [^.\n]{0,40}\b(?:an|aus)\b))(?:e|en sie)?"
)
_DIS = (
    r"(?:dis|dites|réponds|répondez|affirmez?|indiquez?|déclarez?|signalez?|citez?|concluez|conclus|écris|écrivez|"
    r"prétends|prétendez)"
)
_DI = (
    r"(?:di|diga|digan|responde|responda|respondan|contesta|conteste|contesten|indica|indique|indiquen|afirma|afirme|"
    r"afirmen|declara|declare|informa|informe|cita|cite|escribe|escriba|concluye|concluya)"
)
_QUE = r"(?: seulement| uniquement| toujours| bien| simplement)* (?:que\b|qu['’])"

_ENGLISH = OrderWording(
    signs=(
        "say", "stat", "answer", "respond", "repl", "report", "claim", "cite", "conclud", "tell", "assert", "note ",
        "message ", "instruction",
    ),
    particles=("",),
    machine=(
        r"(?:AIs?|LLMs?|language models?|chat ?bots?|(?:AI|virtual|digital) (?:assistants?|agents?|systems?|models?)|"
        r"summari[sz]ers?|answer(?:ing)? (?:engines?|systems?|models?))"
    ),
    people=(
        r"providers?|deployers?|operators?|developers?|manufacturers?|users?|"
        r"owners?|makers?|importers?|distributors?|vendors?|suppliers?"
    ),
    of=(
        r"of|for|the|an?|any|all|such|certain|their|general|placing|using|offering|operating|"
        r"(?:that|who|which) (?:place|use|offer|operate)"
    ),
    addressed=r"(?:note|message|instructions?) (?:to|for) (?:the |any |all )?",
    called=r"assistants?|models?",
    must=r"(?:must|should|shall|(?:is|are|have|need|has|needs) to)",
    # "AI systems must report serious incidents" and "Chatbots must respond within 3 seconds" say nothing that follows.
    say=(
        rf"(?:{_SAY}\b{_ADVERBS}(?:,? that\b| it\b(?! to\b)| ?{QUOTE}|"
        r" (?:the|this|an?) (?:(?!\b(?:that|wh\w+|if|until|once)\b)[^.,:;\n]){0,30}?\b(?:is|are|was|as \d|of \d)|"
        r" \d[^.,:;\n]{0,20} as the\b|"
        r" this (?:page|document|text|passage|source)\b)|(?:say|claim|insist)\b)"
    ),
    answer=r"(?:answer|respond|reply)(?: only| always)? that\b",
    asked=r"(?:if|when|whenever)\b[^.\n]{0,30}\bask(?:ed|s)\b",
    then_say=rf"{_SAY}\b(?: only| always)? (?:that\b|it\b(?! to\b)|[\"'“‘])",
    ignore=r"(?:ignor\w{0,3}|disregard|forget)",
    joint=r"\b(?:and|,|;)",
    instead_say=rf"{_SAY}\b",
    softeners="please|always|now|then|only|instead|simply|just",
)  # fmt: skip
_GERMAN = OrderWording(
    signs=("dass", "daß", "hinweis", "weisung", "nachricht", "ignorier", "vergiss", "vergess", "antwort", "gib "),
    particles=("",),
    machine=(
        r"(?:KIs?|LLMs?|Sprachmodell(?:e|en|s)?|Chat-?bots?|KI[- ]?(?:Assistent\w*|System\w*|Modell\w*|Agent\w*|Bots?)|"
        r"(?:virtuelle|digitale)\w? Assistent\w*|Antwort(?:maschine|system|modell)\w*)(?!-)"
    ),
    people=r"(?:Anbieter|Betreiber|Entwickler|Hersteller|Nutzer|Händler|Einführer|Verwender)\w*",
    of=r"von|vom|für|eines|einer|der|des|die|das|den|solcher|aller",
    addressed=(
        r"(?:Hinweis|Anweisung(?:en)?|Nachricht|Notiz|Mitteilung|Befehl) (?:an|für) "
        r"(?:das |die |den |alle |jede[ns]? |ein(?:en?)? )?"
    ),
    called=r"KI-(?:Anwendung(?:en)?|Chat-?bots?|Dienste?n?|Programme?n?|Suchmaschinen?|Tools?|Werkzeuge?n?)",
    must=r"(?:muss|müssen|soll(?:en|te|ten)?|ha(?:t|ben))",
    say=(
        r"(?:zu )?(?:sagen|antworten|angeben|anzugeben|melden|berichten|behaupten|erklären|schreiben|mitteilen|"
        rf"mitzuteilen|zitieren|nennen|ausgeben|auszugeben)\b(?:, (?:dass|daß)\b| ?{QUOTE})"
    ),
    answer=r"(?:antworte(?:n sie)?|erwidere|erwidern sie)(?: nur| stets| immer| bitte| einfach)*, (?:dass|daß)\b",
    asked=r"(?:wenn|falls|sobald|sooft)\b[^.\n]{0,60}\b(?:ge)?frag(?:t|en(?! ha)|st)\b",
    then_say=rf"{_SAGE}\b(?: [^.,\n]{{1,20}})?(?:, (?:dass|daß)\b| ?{QUOTE})",
    ignore=r"(?:ignorier(?:e|en sie)|vergiss(?! nicht)|vergessen sie(?! nicht)|missachte(?:n sie)?)",
    joint=r"(?:\bund|,|;)",
    softeners="bitte|immer|stets|nun|jetzt|dann|nur|stattdessen|einfach",
)  # fmt: skip
_FRENCH = OrderWording(
    signs=(
        "répond", "dites", "dis qu", "dire", "indique", "affirme", "déclare", "signale", "cite", "conclu", "écri",
        "prétend", "rapporter", "préciser", "note ", "message ", "instruction", "consigne", "remarque ",
    ),
    particles=(" que ", "qu'", "qu’", " de ", "d'", "d’"),
    machine=(
        r"(?:IA|LLMs?|modèles? de langage|chat-?bots?|agents? conversationnels?|"
        r"assistants? (?:virtuels?|numériques?|IA)|moteurs? de réponses?|"
        r"(?:assistants?|systèmes?|modèles?|agents?) d['’](?:IA|intelligence artificielle))"
    ),
    people=(
        r"fournisseurs?|déployeurs?|utilisateurs?|développeurs?|"
        r"fabricants?|exploitants?|importateurs?|distributeurs?"
    ),
    of=r"de|du|des|d|l|un|une|tels?",
    addressed=(
        r"(?:note|message|instructions?|consignes?|remarque) (?:pour|à|aux?|à l['’]attention d(?:e|u|es)|"
        r"à l['’]intention d(?:e|u|es)) ?(?:l['’]|le |la |les |tout(?:e|es)? |tous les )?"
    ),
    called=r"(?:intelligence artificielle)",
    must=r"(?:doi(?:t|vent)|devr(?:a|ont|ait|aient)|(?:est|sont) tenue?s? d[e'’]|ont à|a à)",
    say=(
        r"(?:dire|répondre|indiquer|affirmer|signaler|déclarer|citer|rapporter|conclure|écrire|préciser)"
        rf"(?:{_QUE}| ?{QUOTE})"
    ),
    answer=rf"(?:réponds|répondez){_QUE}",
    asked=r"(?:si|quand|lorsqu\w*|dès qu\w*)\b[^.\n]{0,40}\b(?:demand|interrog|question)\w*",
    then_say=rf"{_DIS}(?:{_QUE}| ?{QUOTE})",
    ignore=r"(?:ignorez?|(?<!n['’])oubliez?|négligez?|ne (?:tiens|tenez) pas compte)",
    joint=r"(?:\bet|\bpuis|,|;)",
    softeners="s['’]il (?:te|vous) plaît|toujours|maintenant|ensuite|puis|simplement|plutôt|seulement",
)  # fmt: skip
_SPANISH = OrderWording(
    signs=(
        "respond", "contest", "di que", "digan", "diga ", "decir", "indi", "afirm", "declar", "inform", "cita", "cite",
        "conclu", "escrib", "señala", "nota ", "mensaje ", "instrucci", "aviso ",
    ),
    particles=(" que ", " para ", " el "),
    machine=(
        r"(?:IAs?|LLMs?|modelos? (?:de lenguaje|lingüísticos?)|chat-?bots?|asistentes? (?:virtuale?s?|digitale?s?)|"
        r"(?:asistentes?|sistemas?|modelos?|agentes?) de (?:IA|inteligencia artificial))"
    ),
    people=(
        r"proveedor(?:es|as?)?|responsables?|usuari[oa]s?|"
        r"desarrollador(?:es)?|fabricantes?|operador(?:es)?|importador(?:es)?"
    ),
    of=r"de|del|los|las|la|el|una?|tales",
    addressed=(
        r"(?:nota|mensaje|instrucci(?:ón|ones)|aviso) (?:para|al?) ?(?:el |la |los |las |tod[oa]s? (?:los |las )?|"
        r"cualquier )?"
    ),
    called=r"(?:inteligencia artificial)",
    must=r"(?:deben?|deberán?|deberían?|ha(?:n)? de|tienen? que)",
    say=(
        r"(?:decir|responder|indicar|afirmar|informar|declarar|citar|concluir|contestar|señalar|escribir)"
        rf"(?:(?: solo| sólo| siempre)* que\b| ?{QUOTE})"
    ),
    # "Responde que …" and "Contesta que …" also tell what somebody answers.
    answer=(
        r"(?:(?:responda|respondan|conteste|contesten)(?: solo| sólo| únicamente| siempre)?|"
        r"(?:responde|contesta) (?:solo|sólo|únicamente)) que\b"
    ),
    asked=r"(?:si|cuando|siempre que)\b[^.\n]{0,40}\bpregunt\w*",
    then_say=rf"{_DI}(?:(?: solo| sólo| siempre)* que\b| ?{QUOTE})",
    ignore=(
        r"(?:ignor(?:a|e|en)|(?<!no )olvid(?:a|e|en)|descart(?:a|e|en)|no teng(?:as?|an) en cuenta|"
        r"ha(?:z|ga) caso omiso)"
    ),
    joint=r"(?:\by|\bluego|,|;)",
    softeners="por favor|siempre|ahora|luego|entonces|simplemente|solo|sólo",
)  # fmt: skip
WORDINGS: Mapping[str, OrderPattern] = {
    "en": _ENGLISH.whole,
    "de": _GERMAN.whole,
    "fr": _FRENCH.whole,
    "es": _SPANISH.whole,
    **FURTHER,
}
"""By language (ISO 639-1)."""


def is_order(text: str) -> bool:
    """Whether a sentence of a text tells whoever answers what to say, in a language of `WORDINGS`."""
    folded = text.lower()
    return any(wording.has_order(text, folded) for wording in WORDINGS.values())
