"""The word table of Portuguese."""

from __future__ import annotations

from agentic_rag.language.words.word_table import Asked, Wording, WordTable, word_set

_MONTHS = r"(?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)"
_DAYS = r"(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?|sábados?|domingos?"
_NUMBERS = (
    r"(?:uma?|dois|duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|quinze|vinte|trinta|quarenta|cinquenta|"
    r"sessenta|"
    r"setenta|oitenta|noventa|cem|cento|mil|milhão|milhões|metade|mei[oa]|nenhuma?|zero)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,]*|\b{_NUMBERS}\b)"
_SPAN = r"(?:segundos?|minutos?|horas?|dias?|semanas?|mês|meses|trimestres?|semestres?|anos?|décadas?|séculos?|min|h)"
_CALENDAR = (
    rf"\b\d{{1,2}}º? de {_MONTHS}\b|\b{_MONTHS}\b|\b(?:1[0-9]|20)\d\d\b|\b(?:{_DAYS})\b|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b\d{1,2}[h:]\d\d\b|\b\d{1,2} ?h(?:oras?)?\b|\bàs? \w+|\bséculo [ivxl]+|"
    r"\b(?:diári[oa]\w*|semanal\w*|mensal\w*|anual\w*|trimestral\w*)\b|"
    rf"\bcada (?:\w+ )?{_SPAN}|\b(?:hoje|ontem|amanhã|meio-dia|meia-noite|início|final|fim|primavera|verão|outono|"
    rf"inverno)\b|"
    rf"\b(?:antes|depois|após|dentro|até|desde)\b[^.]{{0,20}} {_SPAN}"
)

PORTUGUESE = WordTable(
    code="pt",
    stemmer="portuguese",
    marks="ãõ",
    letters="áâãàçéêíóôõúü",
    function_words=word_set(
        """
        o a os as um uma uns umas de do da dos das em no na nos nas num numa ao aos à às pelo pela pelos pelas com por
        para
        sem sob sobre entre até desde contra durante após e ou mas porém que quem qual quais quando onde como
        quanto quanta quantos quantas porque por quê quê eu tu ele ela nós vós eles elas você vocês me te se lhe
        lhes meu minha meus minhas teu seu sua seus suas nosso nossa este esta estes estas esse essa esses essas
        aquele aquela isto isso aquilo é são era eram ser sido foi foram será serão seria está estão estava estavam
        tem têm tinha ter há houve pode podem posso deve devem devo faz fazer não mais menos muito muita muitos
        muitas também já ainda sempre nunca aqui ali lá se todo toda todos todas outro outra outros outras mesmo
        mesma algum alguma alguns cada só apenas então assim cujo cuja seja tudo
        custa custam
        """
    ),
    asking_stems=word_set("encontr númer nom tip cham long grand alt frequênc ano dat mostr forn diferenç nov"),
    never_last=word_set(
        """
        sr sra srs sras srta dra drs profa eng arq exmo exma ilmo ilma av trav pç pp núm ed ex p.ex aprox sto
        sta dep obs adj gov gen cel cód qtd incl al
        """
    ),
    before_figures=word_set("nº pág págs vol vols cap caps art arts fig figs tel ref máx mín"),
    seldom_last=word_set("ltda s.a a.m p.m a.c d.c e.u.a cia"),
    questions=(
        (Asked.DOCUMENTS, Wording(r"^(?:em )?qua(?:l|is) (?:documentos?|arquivos?|relatórios?|atas?|contratos?|"
            r"manua(?:l|is))\b")),
        (Asked.SUMMARY, Wording(r"\b(?:resuma|resumo|em resumo|pontos principais)\b")),
        (Asked.REASON, Wording(r"\bpor ?qu[eê]\b|\bqual (?:é|foi) (?:o motivo|a razão)\b|\bpor qual motivo\b|"
            r"\ba que se deve\b")),
        (Asked.STEPS, Wording(
            r"\bcomo (?:posso|se |devo|fazer|faço|podemos|é que|eu|\w+(?:ar|er|ir)\b)|\bo que (?:devo|é preciso|"
            r"fazer|faço)\b|"
            r"\bquais são os passos\b|\bo que acontece (?:se|quando)\b"
        )),
        (Asked.DEFINITION, Wording(
            r"^o que (?:é|são|significa) (?:uma? |o |a |os |as )?[\w-]+(?: [\w-]+){0,3} ?\?*$|\bo que (?:significa|"
            r"se entende por|"
            r"quer dizer)\b"
        )),
        (Asked.COMPARISON, Wording(r"\bdiferenças? entre\b|\bem comparação com\b|\bcomparad[oa]s? com\b")),
        (Asked.PRICE, Wording(
            r"\bcusta(?:m|va)?\b|\b(?:preço|preços|tarifa|custo|valor|salário|aluguel|taxa de)\b|"
            r"\bquanto (?:dinheiro|se paga|"
            r"paga|ganha)"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\bquanto tempo\b|\bquant[oa]s {_SPAN}\b|\bcom que frequência\b|\bquantas vezes\b|"
            rf"\bqual é (?:a duração|o prazo|"
            r"a idade)\b|\bque (?:idade|prazo)\b"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bquant[oa]s?\b|\b(?:qual|que) (?:é |era |foi )?(?:o |a )?(?:\w+ )?(?:número|quantidade|percentagem|"
            r"porcentagem|taxa|"
            r"temperatura|tamanho|altura|velocidade|distância|área|população|comprimento|capacidade|limite|peso)\b"
        )),
        (Asked.WHEN, Wording(
            r"\bquando\b|\ba que horas?\b|\b(?:em )?(?:que|qual|qual é o|qual é a|qual foi o) (?:ano|data|dia|mês|"
            r"século|horário|"
            r"momento|época|década)\b"
        )),
        (Asked.WHO, Wording(r"\bquem\b|\bque pessoa\b")),
        (Asked.WHERE, Wording(
            r"\b(?:a|d)?onde\b|\b(?:em )?(?:que|qual) (?:cidade|país|lugar|local|edifício|região|rua|sala|andar|"
            r"estado|continente|"
            r"ilha|província)\b"
        )),
        (Asked.LIST, Wording(r"^(?:enumere|liste|cite|nomeie)\b|^quais (?:são|eram|foram)\b|^quais \w+s \w+")),
        (Asked.WHICH, Wording(r"\bqua(?:l|is)\b|^(?:o )?que\b|^(?:em|de|a|com|para) que\b")),
        (Asked.YES_NO, Wording(
            r"^(?:é|são|há|tem|têm|pode|podem|posso|deve|devem|devo|existe|existem|está|estão|foi|era|preciso|"
            r"é preciso)\b"
        )),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:resumo|em resumo|síntese)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:diári|semanal|mensal|anual)\w*|\bcada {_SPAN}|"
            r"\b(?:nunca|sempre|uma vez|duas vezes|imediatamente)\b|\b(?:1[0-9]|20)\d\d\b"
        ),
        Asked.PRICE: Wording(
            r"[€$£]|\b(?:euros?|cêntimos?|centavos?|dólar(?:es)?|reais|real|libras?|gratuit[oa]s?|grátis|milhão|"
            r"milhões|bilhões|"
            r"por cento)\b|%"
        ),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(«“\"] )[A-ZÀ-Þ][\w’'-]+|\b[A-ZÀ-Þ][\w’'-]+ (?:(?:de|da|do|dos|das|e) )*[A-ZÀ-Þ][\w’'-]+|"
            r"\b(?:Sr|Sra|Dr|Dra)\.|\b(?i:diretora?|responsável|chefe|gerente|presidente|rei|rainha|imperador|"
            r"ministr[oa]|"
            r"departamento|equipa|equipe|comité|comitê|comissão|governo|parlamento|recepção|receção|conselho|"
            r"prefeito)\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Ee]m|[Nn][oa]s?|[Aa]os?|[Àà]s?|[Dd][oa]s?|[Dd]e|[Dd]esde|[Pp]ara|[Jj]unto|[Ss]ob|[Ee]ntre|"
            r"[Pp]el[oa]) "
            r"(?:o |a |os |as )?\w{3,}",
            ignores_case=False,
        ),
        Asked.REASON: Wording(
            r"\b(?:porque|pois|já que|devido|por causa|graças|para (?:que|\w+r)\b|motivo|razão|causa|portanto|"
            r"uma vez que)\b"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:não|pode|podem|deve|devem|nunca|sempre|só|apenas|proibid\w+|permitid\w+|salvo|sim|sem)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Ele|Ela|Eles|Elas|Este|Esta|Estes|Estas|Esse|Essa|Isto|Isso|Seu|Sua|Seus|Suas|Também|Além disso|Mas|"
        r"Então|Assim|"
        r"Depois|Portanto|Contudo|Ambos|Ambas)\b",
        ignores_case=False,
    ),
    negation=Wording(r"\b(?:não|nunca|jamais|sem|nenhuma?|ninguém|nada|nem|proibid\w+)\b"),
    conditions=Wording(
        r"\b(?:se|quando|depois|antes|após|até|durante|com|sem|salvo|exceto|em(?! \d)|pelo menos|no máximo)\b"
    ),
    asks_leave=Wording(r"\b(?:permitid[oa]s?|pode|podem)\b"),
    refused=Wording(r"não"),
    numbers={
        "janeiro": "january", "fevereiro": "february", "março": "march", "abril": "april", "maio": "may",
        "junho": "june", "julho": "july", "agosto": "august", "setembro": "september", "outubro": "october",
        "novembro": "november", "dezembro": "december", "dois": "two", "duas": "two", "três": "3",
        "quatro": "four", "cinco": "five", "seis": "six", "sete": "7", "oito": "8", "nove": "nine", "dez": "ten",
        "quinze": "15", "vinte": "20", "trinta": "thirty", "dia": "day", "dias": "days", "semana": "week",
        "semanas": "weeks", "mês": "mo.", "meses": "month", "ano": "yr", "anos": "yrs", "hora": "hour",
        "horas": "hours", "euros": "euros", "cada": "each",
    },
    definition=Wording(
        r"^o que (?:é|são|significa|se entende por|quer dizer) (?:uma? |o |a |os |as )?(?P<term>[^?]{2,60}?)\W*$"
    ),
)  # fmt: skip
