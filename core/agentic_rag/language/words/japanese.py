"""The word table of Japanese."""

from __future__ import annotations

from agentic_rag.language.words.word_table import LOUDNESS, POWER, WARMTH, WEIGHT, Asked, Wording, WordTable

_FIGURE = r"(?:\d[\d.,]*|[〇一二三四五六七八九十百千万億兆]+)"
_SPAN = r"(?:秒|分|時間|日間?|週間?|か月|ヶ月|カ月|ヵ月|箇月|月|年間?|世紀|営業日)"
_ASKS = (
    r"どのくらい|どれくらい|どのような?に?|どの|どれ|どちら|どんな|どこ|"
    r"どうして|どうすれば|なぜ|いつ|いくら|いくつ|誰|だれ|何"
)
_PARTICLES = (
    r"は|が|を|に|で(?!す|し)|と|の|も|へ|から|まで|より|には|では|とは|"
    r"について|において|により|によって|として"
)

JAPANESE = WordTable(
    code="ja",
    has_ideographs=True,
    has_kana=True,
    has_decimal_comma=False,
    unspaced_function_words=Wording(
        rf"(?:{_ASKS})(?:{_PARTICLES})?|(?<![ぁ-ん])(?:{_PARTICLES})(?=[^ぁ-ん]|$|{_ASKS})|"
        r"(?:し(?:てい)?ます|でき(?:てい)?ます|あります|されます|なります|れます|います|ます|でしょう|です|ません)か"
    ),
    questions=(
        (Asked.DOCUMENTS, Wording(r"どの(?:文書|資料|ファイル|報告書|議事録|契約書)")),
        (Asked.SUMMARY, Wording(r"要約|まとめて|概要を")),
        (Asked.REASON, Wording(r"なぜ|どうして|理由|何故|原因は")),
        (Asked.STEPS, Wording(r"どうすれば|どのように(?:して)?(?:.{1,20}(?:ます|できます|する|すれば))|方法|手順|"
            r"やり方|どうやって")),
        (Asked.COMPARISON, Wording(r"違い|比較|比べ")),
        (Asked.PRICE, Wording(r"いくら|料金|価格|費用|値段|何(?:円|ドル|ユーロ)|給料|家賃")),
        (Asked.HOW_LONG, Wording(rf"どのくらいの(?:期間|時間)|どれくらいの(?:期間|時間)|何{_SPAN}(?:間)?(?:かか|"
            rf"以内|前|続|保存|有効)|何回|何歳|"
                                 r"期間は|頻度")),
        (Asked.WHEN, Wording(r"いつ|何(?:年|月|日|時|曜日|世紀)|期限は|日時|何時")),
        (Asked.HOW_MUCH, Wording(r"いくつ|どのくらい|どれくらい|どれだけ|何(?:人|個|件|台|本|枚|名|度|パーセント|%|"
            r"％|メートル|キロ)|数は|上限は|温度は")),
        (Asked.WHO, Wording(r"誰|だれ|どなた|何者|責任者は|担当者は")),
        (Asked.WHERE, Wording(r"どこ|場所は|どの(?:都市|国|町|市|州|地域|建物|部屋|階)")),
        (Asked.DEFINITION, Wording(r"^.{1,30}とは(?:何|なん|どういう|どのような)|の意味は|の定義")),
        (Asked.LIST, Wording(r"列挙|挙げて|一覧|(?:何|どれ|どのような.{1,10})があります")),
        (Asked.WHICH, Wording(r"どの|どれ|どちら|何|どんな|どのような")),
        (Asked.YES_NO, Wording(r"(?:です|ます|でしょう|ません)か[？?。]?$")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:要約|概要|まとめ)"),
        Asked.WHEN: Wording(
            rf"{_FIGURE}(?:年|月|日|時|世紀)|[月火水木金土日]曜|毎(?:日|週|月|年)|午前|午後|\d{{1,2}}:\d\d|今日|"
            rf"明日|昨日|末まで|平日|翌"
        ),
        Asked.HOW_MUCH: Wording(_FIGURE),
        Asked.HOW_LONG: Wording(rf"{_FIGURE}{_SPAN}|毎(?:日|週|月|年)|{_FIGURE}[回歳]|即時|直ちに"),
        Asked.PRICE: Wording(r"[¥￥€$]|円|ドル|ユーロ|無料|[%％]|割"),
        Asked.REASON: Wording(r"ため|ので|から|理由|原因|により|によって"),
        Asked.YES_NO: Wording(r"ない|ません|できます|できる|可能|必要|禁止|許可|はい|いいえ|のみ"),
        Asked.DEFINITION: Wording(r"とは|を指|である|です"),
    },
    leaning=Wording(r"^(?:これ|それ|この|その|また|しかし|そして|ただし|なお|さらに|彼|彼女|同)"),
    negation=Wording(r"ない|ません|なく|禁止|不可"),
    definition=Wording(r"^(?P<term>.{1,30}?)とは(?:何|なん|どういう|どのような)"),
    defining=r"(?:とは|は|を指)",
    because=Wording(r"ため|ので|からです|理由は|原因は|によるもの|おそれがある"),
    joining=Wording(r"[、,;\n]|および|または"),
    measures=(
        (Wording(r"重さ|重量|質量|何(?:キロ|グラム|トン)(?!メートル)"), WEIGHT),
        (Wording(r"消費電力|何(?:キロ)?ワット"), POWER),
        (Wording(r"温度|室温|何度(?!も)"), WARMTH),
        (Wording(r"騒音"), LOUDNESS),
    ),
)  # fmt: skip
