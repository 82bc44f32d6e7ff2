"""The word table of Chinese."""

from __future__ import annotations

from agentic_rag.language.words.word_table import Asked, Wording, WordTable

_FIGURE = r"(?:\d[\d.,]*|[零〇一二两兩三四五六七八九十百千万萬亿億]+)"
_SPAN = r"(?:秒|分钟|分鐘|小时|小時|天|日|周|星期|个?月|個月|季度|年|世纪|世紀|工作日)"

CHINESE = WordTable(
    code="zh",
    has_ideographs=True,
    has_decimal_comma=False,
    unspaced_function_words=Wording(
        r"(?:在|于|於|从|從|由|被|对|對|到|向|以|用)?"
        r"(?:什么时候|什麼時候|什么样|什么|什麼|甚么|哪一?(?:些|个|個|种|種|位|里|裡|儿|年)|哪)的?|"
        r"为什么|為什麼|为何|為何|何时|何時|何处|多少|几个|幾個|是?谁的?|誰的?|如何|怎么样?|怎樣|怎样|是否|能否|是不是|"
        r"有多|多大|多长|多高|多远|多久|多快|吗|嗎|呢|请问|請問|(?<!目)的|(?<!除)了(?!解)|"
        r"(?<![于但可总就只还凡便])是(?!非)|(?<![存现正所自潜实])在(?![线于])|被|(?<![参赋给])与(?!会)|"
        r"(?<![总共温缓随中调饱柔亲])和(?![平谐解约睦])|以及|或者|"
        r"它们?|他们?|她们?|这些?|這些?|那些|其中|之间|之一|之前|之后"
    ),
    questions=(
        (Asked.DOCUMENTS, Wording(r"哪(?:些|份|个|個)(?:文件|文档|文檔|报告|報告|合同|手册|手冊|记录)")),
        (Asked.SUMMARY, Wording(r"总结|總結|概述|摘要|概括")),
        (Asked.REASON, Wording(r"为什么|為什麼|为何|為何|为啥|原因|什么导致")),
        (Asked.STEPS, Wording(r"怎么办|怎麼辦|如何(?!.{0,8}(?:评价|看待))|怎样(?:才能|做|申请)|怎么(?:做|样|申请|"
            r"办理|设置|安装|使用)|步骤|步驟|流程")),
        (Asked.COMPARISON, Wording(r"区别|區別|不同之处|差异|差異|相比|比较")),
        (Asked.PRICE, Wording(r"多少(?:钱|錢|美元|欧元|元|英镑|美金)|价格|價格|费用|費用|工资|工資|租金|收费")),
        (Asked.HOW_LONG, Wording(rf"多(?:长时间|長時間|久)|多少{_SPAN}|几{_SPAN}|幾{_SPAN}|多少次|期限|频率|多大年|"
            rf"几岁|多少岁")),
        (Asked.WHEN, Wording(
            r"什么时候|什麼時候|何时|何時|哪(?:一)?(?:年|天|个月|月|日|个世纪|世纪|段时间|个时期)|几点|幾點|(?:什么|"
            r"什麼)(?:时间|時間|日期|年份|年代)"
        )),
        (Asked.HOW_MUCH, Wording(r"多少|几(?:个|名|人|种|次|位|家)|幾|多(?:大|高|远|遠|深|宽|重|快)|数量|比例|"
            r"百分之几|温度是|人口是")),
        (Asked.WHO, Wording(r"谁|誰|哪(?:位|个人|名)|何人")),
        (Asked.WHERE, Wording(r"哪里|哪裡|哪儿|何处|何處|什么地方|哪(?:个|個|座|一)?(?:城市|国家|國家|地方|地区|"
            r"建筑|州|省|街|岛|房间)")),
        (Asked.DEFINITION, Wording(r"^什么是|^什麼是|是什么意思|是什麼意思|的定义|^.{2,10}是什么[？?]?$")),
        (Asked.LIST, Wording(r"^(?:列出|列举|列舉)|(?:有|是|包括)哪些|哪些")),
        (Asked.WHICH, Wording(r"什么|什麼|哪|何种")),
        (Asked.YES_NO, Wording(r"吗[？?]?$|嗎[？?]?$|是否|能否|可否|是不是|可不可以|能不能")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:摘要|总结|總結|概述)"),
        Asked.WHEN: Wording(
            rf"{_FIGURE}(?:年|月|日|号|點|点|时|世纪|世紀)|(?:星期|周|週)[一二三四五六日天]|每(?:天|周|月|年|日)|"
            rf"上午|下午|\d{{1,2}}:\d\d|"
            r"今天|明天|昨天|年代|初期|末期|春|夏|秋|冬|(?<!\d)[12]\d{3}(?!\d)"
        ),
        Asked.HOW_MUCH: Wording(_FIGURE),
        Asked.HOW_LONG: Wording(rf"{_FIGURE} ?(?:多)?{_SPAN}|每(?:天|周|月|年|日)|{_FIGURE}[次岁]|立即"),
        Asked.PRICE: Wording(r"[¥￥€$£]|元|美元|欧元|英镑|免费|免費|[%％]|百分之|万|亿"),
        Asked.REASON: Wording(r"因为|因為|由于|由於|所以|因此|为了|為了|导致|導致|原因|以便|是因"),
        Asked.YES_NO: Wording(r"不|没|沒|可以|必须|必須|应|能|禁止|允许|是"),
        Asked.DEFINITION: Wording(r"是|指|称为|稱為|即"),
    },
    leaning=Wording(r"^(?:它|他|她|这|這|那|该|該|其|此|但|然而|因此|所以|并且|同时|另外)"),
    negation=Wording(r"不|没有|沒有|未|无|無|禁止|从未"),
    definition=Wording(r"^(?:什么是|什麼是)?(?P<term>.{2,30}?)(?:是什么意思|是什麼意思|是什么)?[？?]?$"),
)  # fmt: skip
