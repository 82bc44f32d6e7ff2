"""How orders to whoever answers are worded: what such a wording consists of, and those of languages that have a word
table. Those of English, German, French and Spanish are in `language/orders.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

QUOTE = r"[\"'“‘„«:]"
_OPENING = r"(?:^|[{ends}\n])(?:[^\S\n]|[-*>])*+"
"""Where a sentence begins. What ends one is no part of the run behind it, so that no part of a text is read twice."""
_NOTE = r" ?:(?! *(?:how|wie|comment|cómo|come|como|hoe|jak|как)\b)"
"""Behind whom a note is for. Titles say what they are about: "Instructions for chatbots: how to set them up"."""


@dataclass(frozen=True)
class OrderPattern:
    """An expression that finds orders, and what a text with one holds in lower case."""

    signs: tuple[str, ...]
    """An order has one of these; looking for them takes a tenth of the pattern's time."""
    particles: tuple[str, ...]
    """And one of these, which texts of other languages seldom have."""
    expression: str
    """A match with a group `people` speaks to them."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a text first holds a sign: all languages together take a tenth of a second, and a process asks
        for few.
        """
        return re.compile(self.expression, re.IGNORECASE)

    def has_order(self, text: str, folded: str) -> bool:
        """Whether a text has one; `folded` is it in lower case."""
        has_signs = any(map(folded.__contains__, self.particles)) and any(map(folded.__contains__, self.signs))
        return has_signs and any(one.groupdict().get("people") is None for one in self.pattern.finditer(text))


@dataclass(frozen=True, slots=True)
class OrderWording:
    """How a language that parts words by spaces words such orders; all but `signs` and `particles` are patterns."""

    signs: tuple[str, ...]
    particles: tuple[str, ...]
    machine: str
    people: str
    """Who answers for machines: "Providers of AI systems must state that …" is law, and no order to one."""
    of: str
    """The words between such people and the machine; one other word may follow them: "of high-risk AI systems"."""
    addressed: str
    """Of a note, up to the machine that it is for."""
    called: str
    """How such a note may call the machine besides."""
    must: str
    say: str
    """What a machine must do."""
    answer: str
    """Opens a sentence, after softeners."""
    asked: str
    """A condition on a question."""
    then_say: str
    """After that condition."""
    ignore: str
    joint: str
    """Between what is to be ignored and what is to be said."""
    softeners: str
    instead_say: str = ""
    """After what is to be ignored; empty: as after a condition."""
    whole: OrderPattern = field(init=False)

    def __post_init__(self) -> None:
        soft = rf"(?:(?:{self.softeners})[ ,]++){{0,3}}"
        must_say = rf"\b{self.must}\b[^.\n]{{0,20}}\b{self.say}"
        expression = (
            # To a machine: "AI assistants must report that …", "Note to the language model: …"
            rf"(?P<people>\b(?:{self.people})(?:(?:[ '’](?:{self.of})\b){{1,3}}(?:[ '’][\w-]{{1,20}}?)?)?"
            rf"[ '’-]{self.machine}\b(?:(?!, (?:\w{{1,4}} )?{self.machine})[^.:;–—\n]){{0,60}}?{must_say})"
            rf"|\b{self.machine}\b[^.\n]{{0,60}}{must_say}"
            rf"|\b{self.addressed}(?:{self.machine}|{self.called})\b{_NOTE}"
            # Of answers as such: "Answer that …", "When asked about the fee, say that …"
            rf"|{_OPENING.format(ends='.!?:;')}{soft}{self.answer}"
            rf"|\b{self.asked}[^.\n]{{0,80}}\b{self.then_say}"
            # Of everything else: "Ignore the other passages and say …"
            rf"|\b{self.ignore}\b[^.\n]{{0,80}}{self.joint} *+{soft}{self.instead_say or self.then_say}"
        )
        object.__setattr__(self, "whole", OrderPattern(self.signs, self.particles, expression))


_CHE = r"(?: solo| soltanto| sempre| semplicemente)* che\b"
_QUE = r"(?: apenas| só| somente| sempre| simplesmente)* que\b"
_DAT = r"(?: [^.,\n]{1,20})?,? dat\b"
_ZE = r"(?: [^.,\n]{1,20})?,? że\b"
_CHTO = r"(?: [^.,\n]{1,20})?,? что\b"

# Forms of verbs that also tell what somebody says ("indica che", "afirma que") are no orders.
ITALIAN = OrderWording(
    signs=(
        "rispond", "dic", "di' ", "di’ ", "dì ", "dite ", "dire ", "indic", "afferm", "dichiar", "segnal", "cit",
        "conclud", "scriv", "riport", "nota ", "messaggio ", "istruzion", "avviso ",
    ),
    particles=(" che ", " per ", " al", " a ", " ai ", ": ", "«", "“"),
    machine=(
        r"(?:IA|LLM|modell[oi] (?:linguistic[oi]|di linguaggio)|chat-?bot|assistent[ei] (?:virtual[ei]|digital[ei]|IA)|"
        r"(?:assistent[ei]|sistem[ai]|modell[oi]|agent[ei]) (?:di |con )?(?:IA|intelligenza artificiale))(?!-)"
    ),
    people=(
        r"fornitor[ei]|utent[ei]|sviluppator[ei]|fabbricant[ei]|"
        r"operator[ei]|produttor[ei]|importator[ei]|deployer"
    ),
    of=r"di|del|dei|degli|delle|della|dell|un|una|tali",
    addressed=(
        r"(?:nota|messaggio|istruzion[ei]|avviso) (?:per|al?|allo|alla|ai|agli|alle|all['’]) ?"
        r"(?:il |lo |la |l['’]|i |gli |le |tutt[ie] (?:i |gli |le )?|ogni |qualsiasi )?"
    ),
    called=r"(?:intelligenza artificiale)",
    must=r"(?:dev(?:e|ono)|dovrebber?o?|dovr(?:à|anno))",
    say=(
        r"(?:dire|rispondere|indicare|affermare|segnalare|dichiarare|citare|riportare|concludere|scrivere)"
        rf"(?:{_CHE}| ?{QUOTE})"
    ),
    answer=rf"(?:rispondi|risponda|rispondano|rispondete){_CHE}",
    asked=r"(?:se|quando|qualora|ogni volta che)\b[^.\n]{0,40}\b(?:chied|chiest|domand)\w*",
    then_say=(
        r"(?:di['’]|dì|dica|dicano|dite|rispondi|risponda|rispondete|indichi|indicate|affermi|affermate|dichiari|"
        rf"dichiarate|citi|scrivi|scriva|scrivete|concludi|concluda|segnali)(?:{_CHE}| ?{QUOTE})"
    ),
    ignore=(
        r"(?:ignor(?:a|i|ate|ino)|(?<!non )dimentic(?:a|hi|ate)|trascur(?:a|i|ate)|non (?:tenere|tenga|tenete) conto)"
    ),
    joint=r"(?:\be\b|\bpoi\b|,|;)",
    softeners="per favore|per cortesia|sempre|ora|adesso|poi|quindi|semplicemente|solo|soltanto|invece",
)  # fmt: skip
PORTUGUESE = OrderWording(
    signs=(
        "respond", "diga", "dizer", "indi", "afirm", "declar", "inform", "cita", "cite", "conclu", "escrev", "relatar",
        "nota ", "mensagem ", "instru", "aviso ",
    ),
    particles=(" que ", " para ", " ao", " à", " a ", ": ", "«", "“"),
    machine=(
        r"(?:IAs?|LLMs?|modelos? (?:de linguagem|linguísticos?)|chat-?bots?|"
        r"assistentes? (?:virtua(?:l|is)|digita(?:l|is))|"
        r"(?:assistentes?|sistemas?|modelos?|agentes?) de (?:IA|inteligência artificial))(?!-)"
    ),
    people=(
        r"fornecedor(?:es)?|prestador(?:es)?|utilizador(?:es)?|usuários?|"
        r"desenvolvedor(?:es)?|fabricantes?|operador(?:es)?|importador(?:es)?"
    ),
    of=r"de|do|dos|da|das|um|uma|tais",
    addressed=(
        r"(?:nota|mensagem|instruç(?:ão|ões)|aviso) (?:para|a|à|às|aos?) ?(?:o |a |os |as |tod[oa]s? (?:os |as )?|"
        r"qualquer )?"
    ),
    called=r"(?:inteligência artificial)",
    must=r"(?:devem?|deverão|deverá|deveriam?|t[eê]m (?:de|que))",
    say=(
        r"(?:dizer|responder|indicar|afirmar|informar|declarar|citar|concluir|relatar|escrever)"
        rf"(?:{_QUE}| ?{QUOTE})"
    ),
    answer=rf"(?:(?:responda|respondam){_QUE}|responde (?:apenas|só|somente) que\b)",
    asked=r"(?:se|quando|caso|sempre que)\b[^.\n]{0,40}\bpergunt\w*",
    then_say=(
        r"(?:diga|digam|responda|respondam|indique|indiquem|afirme|afirmem|declare|declarem|informe|informem|cite|"
        rf"citem|escreva|escrevam|conclua|concluam)(?:{_QUE}| ?{QUOTE})"
    ),
    ignore=(
        r"(?:ignor(?:a|e|em)|(?<!não )(?:esqueça|esqueçam|esquece)|desconsider(?:e|em)|descart(?:e|em)|"
        r"não (?:leve|levem) em conta)"
    ),
    joint=r"(?:\be\b|\bdepois\b|,|;)",
    softeners="por favor|sempre|agora|depois|então|simplesmente|apenas|só|somente",
)  # fmt: skip
DUTCH = OrderWording(
    signs=(
        "antwoord", "zeg", "meld", "geef ", "schrijf", "schrijven", "conclud", "bewe", "noem", "stellen", "bericht ",
        "instructie", "opmerking ", "boodschap ", "mededeling ",
    ),
    particles=(" dat ", " aan ", " voor ", ":", "“", "„"),
    machine=(
        r"(?:AI[- ](?:assistent(?:en)?|systeem|systemen|modellen|model|agents?|bots?)|AI|LLM(?:'s)?|taalmodel(?:len)?|"
        r"chat-?bots?|(?:virtuele|digitale) assistent(?:en)?)(?!-)"
    ),
    people=(
        r"aanbieders?|gebruikers?|ontwikkelaars?|"
        r"fabrikant(?:en)?|exploitant(?:en)?|leveranciers?|importeurs?"
    ),
    of=r"van|een|het|de|die|deze|zulke",
    addressed=(
        r"(?:bericht|instructies?|opmerking|boodschap|mededeling) (?:aan|voor) (?:het |de |alle |elke? |een |ieder )?"
    ),
    called=r"AI-(?:toepassing(?:en)?|diensten|zoekmachines?|tools?|programma['’]s)",
    must=r"(?:moet(?:en)?|dien(?:t|en)|hoor(?:t|en)|zullen)",
    say=(
        r"(?:te )?(?:zeggen|antwoorden|melden|vermelden|stellen|beweren|schrijven|noemen|aangeven|concluderen)"
        rf"(?:,? dat\b| ?{QUOTE})"
    ),
    answer=r"antwoord(?: alleen| altijd| slechts| gewoon| steeds)*,? dat\b",
    asked=r"(?:als|wanneer|indien|zodra)\b[^.\n]{0,60}\b(?:gevraagd|vraagt|vragen(?! heb))\b",
    then_say=(
        rf"(?:zeg|antwoord|meld|vermeld|schrijf|noem|beweer|geef(?= [^.\n]{{0,40}}\baan\b))\b(?:{_DAT}| ?{QUOTE})"
    ),
    ignore=r"(?:negeer|vergeet(?! niet))",
    joint=r"(?:\ben\b|,|;)",
    softeners="alsjeblieft|alstublieft|graag|altijd|nu|dan|alleen|gewoon|daarna",
)  # fmt: skip
POLISH = OrderWording(
    signs=(
        "odpowi", "powied", "podaj", "podać", "podawać", "stwierd", "napis", "pisać", "zgło", "zgłasz", "mów", "cytow",
        "twierdz", "informow", "wskaż", "wiadomość ", "instrukcj", "uwaga ", "notatka ",
    ),
    particles=(" że ", " do ", " dla ", ":", "„"),
    machine=(
        r"(?:AI|LLM|model\w{0,3} językow\w{1,4}|chat-?bot\w{0,3}|czat-?bot\w{0,3}|"
        r"(?:wirtualn|cyfrow)\w{1,3} asystenc?\w{0,3}|"
        r"asysten\w{1,4} AI|(?:system|model|agent)\w{0,3} (?:AI|sztucznej inteligencji))(?!-)"
    ),
    people=(
        r"dostawc\w+|użytkowni\w+|producen\w+|"
        r"operator\w*|podmiot\w*|importer\w*"
    ),
    of=r"\w+[yi]ch|dla",
    addressed=r"(?:uwaga|notatka|wiadomość|instrukcj[ae]) (?:do|dla) (?:wszystkich |każdego |każdej )?",
    called=r"(?:sztucznej inteligencji)",
    must=r"(?:musi|muszą|powinien|powinn[aoyi]|mają|ma)",
    say=(
        r"(?:odpowiadać|odpowiedzieć|powiedzieć|mówić|podawać|podać|stwierdzać|stwierdzić|zgłaszać|zgłosić|napisać|"
        rf"pisać|cytować|twierdzić|informować)(?:,? że\b| ?{QUOTE})"
    ),
    answer=r"(?:odpowiedz|odpowiadaj|odpowiedzcie|odpowiadajcie)(?: tylko| zawsze| po prostu)*,? że\b",
    asked=r"(?:jeśli|jeżeli|gdy|kiedy|ilekroć)\b[^.\n]{0,60}\b(?:za|s)?pyta\w*",
    then_say=(
        rf"(?:powiedz|odpowiedz|odpowiadaj|podaj|stwierdź|napisz|zgłoś|mów|wskaż)(?:cie)?\b(?:{_ZE}| ?{QUOTE})"
    ),
    ignore=r"(?:(?:z)?ignoruj(?:cie)?|(?<!nie )zapomnij(?:cie)?|pomiń(?:cie)?)",
    joint=r"(?:\bi\b|\ba\b|\bpotem\b|,|;)",
    softeners="proszę|zawsze|teraz|następnie|potem|tylko|po prostu",
)  # fmt: skip
RUSSIAN = OrderWording(
    signs=(
        "отве", "скаж", "сказать", "говор", "сообщ", "укаж", "указ", "напи", "писать", "утвержда", "заяв", "цитиров",
        "инструкци", "примечани", "заметк",
    ),
    particles=("что", " для ", " к ", ":", "«"),
    machine=(
        r"(?:ИИ-(?:ассистент|систем|модел|агент|помощник)\w{0,3}|ИИ|LLM|языков\w{2,3} модел\w{1,3}|чат-?бот\w{0,3}|"
        r"(?:виртуальн|цифров)\w{2,3} (?:ассистент|помощник)\w{0,3}|"
        r"(?:ассистент|систем|модел|агент|помощник)\w{0,3} (?:с )?(?:ИИ|искусственн\w{2,3} интеллект\w{0,2}))(?!-)"
    ),
    people=(
        r"поставщик\w*|разработчик\w*|оператор\w*|"
        r"пользовател\w*|производител\w*|импортёр\w*"
    ),
    of=r"\w+[ыи]х|для",
    addressed=r"(?:примечание|заметка|сообщение|инструкци[яи]) (?:для|к) (?:всех |люб\w{2,3} |кажд\w{2,3} )?",
    called=r"(?:искусственного интеллекта)",
    must=r"(?:должн[аыо]|должен|обязан[аыо]?|следует|нужно)",
    say=(
        r"(?:отвечать|ответить|сказать|говорить|сообщать|сообщить|указывать|указать|утверждать|заявлять|заявить|писать|"
        rf"написать|цитировать)(?:(?: только)?,? что\b| ?{QUOTE})"
    ),
    answer=r"(?:ответь(?:те)?|отвечай(?:те)?)(?: только| всегда| просто)*,? что\b",
    asked=r"(?:если|когда|всякий раз)\b[^.\n]{0,60}\b(?:спрашива|спрос|задад|задас|задаёт|задают)\w*",
    then_say=(
        r"(?:скажи|ответь|отвечай|сообщи|укажи|напиши|заяви|говори)(?:те)?\b"
        rf"(?:{_CHTO}| ?{QUOTE})"
    ),
    ignore=(
        r"(?:(?:про)?игнорируй(?:те)?|(?<!не )забудь(?:те)?|не (?:обращай(?:те)? внимания|учитывай(?:те)?))"
    ),
    joint=r"(?:\bи\b|\bзатем\b|,|;)",
    softeners="пожалуйста|всегда|теперь|затем|потом|только|просто",
)  # fmt: skip

_AI_JA = (
    r"(?:AI(?:アシスタント|システム|モデル|エージェント|ツール)?|人工知能|(?:大規模)?言語モデル|LLM|チャットボット)"
)
_TOLD_JA = r"と(?:だけ|のみ)?(?:必ず|常に)?(?:答え|回答|返答|述べ|伝え|報告|言っ|言う|記載|結論づけ)"
_END_JA = r"(?=[。\s」]|$)"
# Told to do so, and not that somebody did or may.
_BID_JA = rf"(?:[^。\n]{{0,4}}(?:くださ|下さ|なさい|こと{_END_JA})|せ?よ{_END_JA})"
JAPANESE = OrderPattern(
    signs=("答え", "回答", "返答", "述べ", "伝え", "報告", "言", "記載", "結論", "指示", "注意", "メッセージ", "連絡"),
    particles=("と", "へ", "向け", "対する"),
    expression=(
        rf"{_AI_JA}[^。\n]{{0,60}}{_TOLD_JA}(?:[^。\n]{{0,8}}(?:なければな|べき|必要があ)|{_BID_JA})"
        rf"|{_AI_JA}(?:へ|への|に対する|向けの?)(?:注意|指示|メッセージ|連絡|お知らせ)[：:]"
        rf"|(?:聞か|質問さ|尋ねら|問わ)れた(?:場合|とき|時|ら)[^。\n]{{0,60}}{_TOLD_JA}{_BID_JA}"
        r"|と(?:だけ|のみ)?(?:必ず|常に)?(?:(?:答えて|回答して|返答して)(?:ください|下さい)|答えよ|回答せよ|答えなさい|"
        r"回答しなさい)(?=[。\s」]|$)"
        rf"|(?:無視し|忘れ)て?[^。\n]{{0,40}}{_TOLD_JA}{_BID_JA}"
    ),
)
_AI_ZH = (
    r"(?:AI(?:助手|系统|模型|系統|工具)?|人工智能(?:系统|助手)?|大?(?:语言|語言)模型|大模型|LLM|聊天(?:机器人|機器人)|"
    r"(?:智能|虚拟|虛擬)助手)"
)
_TOLD_ZH = (
    r"(?:回答|答复|回复|回覆|答覆|声称|聲稱|[说說](?!明))"
    r"(?![^。\n，]{0,8}(?:问题|問題|提问|咨询|询问|以下|下列|用户|客户))"
)
_IS_ZH = r"(?:是(?!否)|为|為|[：:“「](?!是否))"
CHINESE = OrderPattern(
    signs=(
        "回答",
        "答复",
        "回复",
        "回覆",
        "答覆",
        "声称",
        "聲稱",
        "说",
        "說",
        "提示",
        "指示",
        "指令",
        "消息",
        "备注",
        "注意",
        "：",
    ),
    particles=(
        "必须",
        "必須",
        "应",
        "應",
        "须",
        "須",
        "致",
        "给",
        "給",
        "请",
        "請",
        "问",
        "問",
        "忽略",
        "无视",
        "忘记",
    ),
    expression=(
        rf"{_AI_ZH}[^。\n]{{0,20}}(?:必须|必須|应当|应该|應該|应|應|须|須)(?:一律|始终|只|都|总是){{0,2}}{_TOLD_ZH}"
        rf"|(?:致|给|給|对|對)(?:所有|任何|各)?{_AI_ZH}的?(?:说明|說明|提示|指示|指令|消息|备注|注意)?[：:]"
        rf"|(?:如果|若|当|當|每当|每當)[^。\n]{{0,30}}(?:问|問)[^。\n]{{0,20}}[，,](?:请|請|就|则|则请)?{_TOLD_ZH}[^。\n]{{0,20}}"
        rf"{_IS_ZH}"
        rf"|{_OPENING.format(ends='。！？；')}(?:请|請)?(?:始终|总是|只|仅|一律)?{_TOLD_ZH}[^。\n]{{0,20}}{_IS_ZH}"
        rf"|{_OPENING.format(ends='。！？；：')}(?:请|請)?(?:忽略|无视|無視|忘记|忘記)(?!了)"
        rf"[^。\n]{{0,40}}[，,、并且並和](?:请|請|然后)?{_TOLD_ZH}"
    ),
)
_AI_AR = (
    r"(?:(?:ال)?نماذج (?:ال)?(?:لغة|لغوية)|(?:ال)?نموذج (?:ال)?(?:لغة|لغوي)|(?:ال)?ذكاء الاصطناعي|"
    r"روبوت(?:ات)? (?:ال)?(?:محادثة|دردشة)|"
    r"(?:ال)?مساعد(?:ين|ات)? (?:ال)?(?:افتراضي|رقمي|ذكي)\w{0,3})"
)
_THAT_AR = r"(?: دائم[اًا]{1,2}| فقط)? (?:بأن|أن|إن|بأنه|بأنها|أنه|أنها|إنه|إنها)\w{0,2}\b"
ARABIC = OrderPattern(
    signs=("جيب", "جب", "ذكر", "قل", "قول", "رد", "فيد", "ملاحظة", "رسالة", "تعليمات", "تنبيه"),
    particles=("أن", "إن", "إلى", " ل"),
    expression=(
        rf"(?:يجب|ينبغي)[^.\n]{{0,12}}{_AI_AR}[^.\n]{{0,40}}\b[تي](?:جيب|جيبوا|ذكر|قول|رد|فيد)\w{{0,3}}{_THAT_AR}"
        rf"|(?:ملاحظة|رسالة|تعليمات|تنبيه) (?:إلى |ل)[^.\n:]{{0,10}}{_AI_AR} ?:"
        rf"|{_OPENING.format(ends='.!؟')}(?:من فضلك |رجاء )?(?:أجب|أجيبوا){_THAT_AR}"
        rf"|(?:إذا|عندما|كلما)[^.\n]{{0,40}}(?:سئل|سُئل|سأل|يسأل)[^.\n]{{0,60}}\bف?(?:أجب|قل|اذكر){_THAT_AR}"
        rf"|(?:تجاهل|تجاهلوا|انس)\b[^.\n]{{0,60}}(?:و|ثم )(?:قل|أجب|اذكر){_THAT_AR}"
    ),
)
FURTHER: Mapping[str, OrderPattern] = {
    "it": ITALIAN.whole,
    "pt": PORTUGUESE.whole,
    "nl": DUTCH.whole,
    "pl": POLISH.whole,
    "ru": RUSSIAN.whole,
    "ja": JAPANESE,
    "zh": CHINESE,
    "ar": ARABIC,
}
