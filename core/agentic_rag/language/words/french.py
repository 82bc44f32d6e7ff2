"""The word table of French."""

from __future__ import annotations

from agentic_rag.language.words.word_table import (
    LENGTH,
    LOUDNESS,
    POWER,
    WARMTH,
    WEIGHT,
    Asked,
    Wording,
    WordTable,
    word_set,
)

_MONTHS = r"(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)"
_DAYS = r"(?:lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?)"
_NUMBERS = (
    r"(?:une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|"
    r"quarante|cinquante|soixante|cent|mille|millions?|milliards?|moitié|demie?|tiers|quart|aucune?|zéro)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,\u00a0\u202f]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:secondes?|minutes?|heures?|jours?|semaines?|mois|trimestres?|semestres?|ans?|années?|décennies?|siècles?|"
    r"min|h)"
)
_CALENDAR = (
    rf"\b(?:1er|\d{{1,2}}) {_MONTHS}\b|\b{_MONTHS} \d{{4}}|\b(?:1[0-9]|20)\d\d\b|\b{_DAYS}\b|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b\d{1,2} ?[h:] ?\d\d\b|\b\d{1,2} ?(?:h|heures?)\b|\b[ivxl]+e siècle|"
    rf"\b(?:quotidien|hebdomadaire|mensuel|annuel|trimestriel)\w*|\bchaque (?:\w+ )?{_SPAN}|\btou(?:s|tes) les \w+|"
    rf"\b(?:aujourd['’]hui|hier|demain|midi|minuit|début|fin|printemps|été|automne|hiver)\b|"
    rf"\b(?:avant|après|depuis|jusqu['’]\w+|dans|sous)\b[^.]{{0,20}} {_SPAN}"
)
_TURNED = r"\w+-(?:t-)?(?:il|elle|ils|elles|on|je|tu|vous|nous|ce)\b"

FRENCH = WordTable(
    code="fr",
    stemmer="french",
    marks="œêûîè",
    letters="àâæçéèêëîïôœùûüÿ",
    groups_by_space=True,
    function_words=word_set(
        """
        le la les un une des du de à au aux et ou où mais donc or ni que qui quoi dont quel quelle quels quelles quand
        comment combien pourquoi lequel laquelle lesquels je tu il elle on nous vous ils elles me te se lui leur leurs
        mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces cela ça ceci celui celle ceux celles en y
        dans par pour sur sous avec sans chez entre vers depuis pendant avant après contre dès jusqu jusque lors selon
        est sont était étaient être été suis es sommes êtes sera seront serait a ai as avons avez ont avait avaient
        avoir eu aura auront peut peuvent peux pouvez pouvoir doit doivent dois devez faut fait font faire ne pas plus
        non oui si aussi très même mêmes tout toute tous toutes autre autres chaque aucun aucune quelque quelques
        comme ainsi lorsque puis alors encore déjà toujours jamais ici là était qu lui eux moi toi soi
        """
    ),
    asking_stems=word_set(
        "trouv nombre nom typ sort appel long grand haut souvent ann dat montr donn différenc nouveau"
    ),
    never_last=word_set(
        """
        mm mme mmes mlle mlles pr me mgr ste pp no env av bd bld ex éd éds coll ann c.-à-d p.ex sq al dir dép
        préf resp hab boul ch janv févr sept oct nov déc inv
        """
    ),
    before_figures=word_set("chap vol fig nos réf tél art tab app appt max min vers"),
    seldom_last=word_set("cie s.a u.e suiv"),
    questions=(
        (Asked.DOCUMENTS, Wording(
            r"^(?:dans )?quel(?:le)?s? (?:documents?|fichiers?|rapports?|procès-verbaux|contrats?|manuels?|"
            r"directives?)\b"
        )),
        (Asked.SUMMARY, Wording(r"\b(?:résume[rz]?|résumé|en bref|en résumé|points principaux)\b")),
        (Asked.REASON, Wording(r"\bpourquoi\b|\b(?:pour )?quelles? (?:sont les )?raisons?\b|\bà quoi est dû")),
        (Asked.STEPS, Wording(
            r"\bcomment (?:puis|peut|peux|faire|dois|doit|faut|fait|est-ce|se |s['’]|\w+(?:er|ir|re)\b)|"
            r"\bque (?:dois|doit|faut|faire)\b|\bquelles (?:sont les )?étapes\b|\bque se passe-t-il (?:si|quand)\b"
        )),
        (Asked.DEFINITION, Wording(
            r"^qu['’]est-ce qu(?:e|['’]) ?(?:une? |l['’]|la |le |les |des )?[\w’'-]+(?: [\w’'-]+){0,3} ?\?*$|"
            r"\bque (?:signifie|veut dire)\b|\bqu['’]entend-on par\b"
        )),
        (Asked.COMPARISON, Wording(r"\bdifférences? entre\b|\bpar rapport (?:à|aux?)\b|\bcomparée?s? (?:à|aux?|"
            r"avec)\b")),
        (Asked.PRICE, Wording(
            r"\b(?:coûte\w*|coût|prix|tarifs?|montant|salaire|loyer|frais)\b|\bcombien (?:d['’](?:argent|euros)|"
            r"vaut|vaux|"
            r"paie|paye|gagne)"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\bcombien de temps\b|\bcombien d(?:e |['’]){_SPAN}\b|\bquel(?:le)? (?:est la |est le )?(?:durée|"
            rf"délai|âge)\b|"
            r"\bà quelle fréquence\b|\bcombien de fois\b"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bcombien\b|\bquel(?:le)? (?:est |était |fut )?(?:le |la |l['’])?(?:\w+ )?(?:nombre|quantité|"
            r"pourcentage|taux|"
            r"proportion|température|taille|hauteur|vitesse|distance|superficie|population|longueur|capacité|limite|puissance|largeur|"
            r"poids)\b"
        )),
        (Asked.WHEN, Wording(
            r"\bquand\b|\bà quelle heure\b|\bquel(?:le)?s? (?:est la |sont les )?(?:année|date|jour|mois|siècle|époque|"
            r"horaires?|moment)\b"
        )),
        (Asked.WHO, Wording(r"^qui\b(?! sont les \w+s de)|\b(?:à|par|de|avec|chez) qui\b|\bquelle personne\b")),
        (Asked.WHERE, Wording(
            r"\boù\b|\bquel(?:le)? (?:ville|pays|lieu|endroit|bâtiment|région|rue|salle|étage|état|continent|île|"
            r"province)\b"
        )),
        (Asked.LIST, Wording(
            r"^(?:énumére[rz]?|liste[rz]?|cite[rz]?|nomme[rz]?)\b|^quel(?:le)?s (?:sont|étaient)\b|"
            r"^quel(?:le)?s \w+s \w+"
        )),
        (Asked.WHICH, Wording(r"\bquel(?:le)?s?\b|\blequel\b|\blaquelle\b|^qu(?:e|oi)\b|^(?:à|de|en|sur) quoi\b|"
            r"^qu['’]")),
        (Asked.YES_NO, Wording(rf"^est-ce qu|\b{_TURNED}")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:résumé|en bref|synthèse|l['’]essentiel)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:quotidien|hebdomadaire|mensuel|annuel)\w*|\bchaque {_SPAN}|"
            r"\btou(?:s|tes) les \w+|\b(?:jamais|toujours|une fois|deux fois|immédiatement)\b|\b(?:1[0-9]|20)\d\d\b"
        ),
        Asked.PRICE: Wording(
            r"[€$£]|\b(?:euros?|centimes?|dollars?|francs?|livres?|gratuit\w*|sans frais|millions?|milliards?|"
            r"pour cent)\b|%"
        ),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(«“\"’'] )[A-ZÀ-Þ][\w’'-]+|\b[A-ZÀ-Þ][\w’'-]+ (?:(?:de|du|la|le|d['’]) ?)*[A-ZÀ-Þ][\w’'-]+|"
            r"\b(?:M\.|Mme|Dr)|\b(?i:direct\w+|responsable|chef\w*|président\w*|gérante?|roi|reine|empereur|ministre|"
            r"service|équipe|comité|commission|gouvernement|parlement|accueil|conseil|maire)s?\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Àà]|[Aa]u|[Aa]ux|[Ee]n|[Dd]ans|[Ss]ur|[Cc]hez|[Dd]e|[Dd]u|[Dd]epuis|[Vv]ers|[Pp]rès d|[Ss]ous|"
            r"[Ee]ntre) "
            r"(?:la |le |l['’]|les )?\w{3,}",
            ignores_case=False,
        ),
        Asked.REASON: Wording(
            r"\b(?:parce qu|car|puisqu|en raison|à cause|grâce à|afin|pour (?:que|\w+r)\b|raison|cause|dû|due|donc)"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:pas|ne|peut|peuvent|doit|doivent|jamais|toujours|seulement|interdit\w*|permis|autorisée?s?|sauf|"
            r"oui|non)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Il|Elle|Ils|Elles|Ce(?:t|tte|s|la|ci|lui|lle)?|Son|Sa|Ses|Leurs?|Aussi|Mais|Donc|Ainsi|Puis|Alors|"
        r"Cependant|"
        r"Toutefois|De plus|En outre|Ensuite)\b",
        ignores_case=False,
    ),
    was=Wording(r"\b(?:été|était|étaient|eut|fut|furent)\b|\b(?:a|ont)(?:-t-(?:il|elle|on))? \w+(?:é|ée|és|ées)\b"),
    planned=Wording(r"\b(?:\w+(?:era|eront)|aura|auront|prévue?s?|prévoit|prévoient)\b"),
    negation=Wording(r"\b(?:pas|jamais|aucune?|rien|personne|sans|ni|interdit\w*|non)\b"),
    conditions=Wording(r"\b(?:si|quand|après|avant|dès|jusqu|pendant|avec|sans|sauf|en(?! \d))\b"),
    limits=Wording(r"\b(?:que|avant|sans|sauf|mais|si|seulement)\b"),
    asks_which=Wording(r"(?:qu['’]est-ce (?:qui|que)|quel(?:le)?s?|qui|où) "),
    asks_leave=Wording(r"\bpermis\b"),
    refused=Wording(r"non"),
    more_days=Wording(r"\b(?:tous les jours|chaque jour|autres jours|sauf)\b"),
    numbers={
        "janvier": "january", "février": "feb.", "mars": "mar.", "avril": "april", "mai": "may", "juin": "june",
        "juillet": "july", "août": "aug.", "septembre": "september", "octobre": "october", "novembre": "november",
        "décembre": "december", "deux": "two", "trois": "three", "quatre": "four", "cinq": "five", "six": "six",
        "sept": "7", "huit": "8", "neuf": "nine", "dix": "ten", "quinze": "15", "vingt": "20", "trente": "thirty",
        "jour": "day", "jours": "days", "semaine": "week", "semaines": "weeks", "mois": "mo.", "an": "yr", "ans": "yrs",
        "année": "year", "années": "years", "heure": "hour", "heures": "hours", "euros": "euros", "chaque": "each",
    },
    definition=Wording(
        r"^(?:qu['’]est-ce qu(?:e|['’])|que signifie|que veut dire|qu['’]entend-on par) ?(?:une? |l['’]|la |le |"
        r"les |des )?"
        r"(?P<term>[^?]{2,60}?)\W*$"
    ),
    defining=r"(?:est|sont|désignent?|signifient?|correspond à|s['’]entend|veut dire)\b",
    because=Wording(
        r"\b(?:parce qu|car\b|puisqu|en raison d|à cause d|grâce (?:à|aux?)\b|afin (?:d|qu)|s['’]expliquent? par|"
        r"faute d|dues? (?:à|aux?)\b|dus? (?:à|aux?)\b|causée?s? par|raison\b|c['’]est pourquoi)"
    ),
    joining=Wording(r"[,;\n]| et | ou "),
    measures=(
        (Wording(r"\bcombien pèse|\bpoids\b"), WEIGHT),
        (Wording(r"\bpuissance\b"), POWER),
        (Wording(r"\btempérature\b"), WARMTH),
        (Wording(r"\bniveau (?:de bruit|sonore)\b"), LOUDNESS),
        (Wording(r"\blargeur\b|\blongueur\b|\bdiamètre\b|\bépaisseur\b"), LENGTH),
    ),
    measured_by={"lourd": ("poids",), "p": ("poids",), "pèsent": ("poids",), "haut": ("hauteur",)},
)  # fmt: skip
