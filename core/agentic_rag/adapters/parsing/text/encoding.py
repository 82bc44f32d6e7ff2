"""Bytes to text, without ever guessing wrong in silence."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence

from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.web.encodings import encoding_by_mark

_ZERO_PLACES = {
    "utf-32-le": (False, True, True, True),
    "utf-32-be": (True, True, True, False),
    "utf-16-le": (False, True, False, True),
    "utf-16-be": (True, False, True, False),
}
"""Which bytes of four are zero in text of mostly Western letters."""
_WINDOWS = {
    "cp1200": "utf-16-le", "cp20127": "ascii", "cp20866": "koi8-r", "cp21866": "koi8-u", "cp50220": "iso-2022-jp",
    "cp50221": "iso-2022-jp", "cp51932": "euc-jp", "cp51949": "euc-kr", "cp54936": "gb18030",
    **{f"cp{28590 + number}": f"iso8859-{number}" for number in (*range(1, 10), 13, 15)},
}  # fmt: skip
"""Windows' numbers of code pages that Python has under other names."""
_OTHER_NAMES = {
    "x-mac-roman": "mac_roman", "x-mac-cyrillic": "mac_cyrillic", "x-sjis": "cp932", "x-gbk": "gb18030",
    "iso-8859-8-i": "iso8859-8", "iso-8859-8-e": "iso8859-8", "unicode-1-1-utf-7": "utf-7",
}  # fmt: skip
"""Names of code pages that mails state and Python does not have."""
_NUMBERED = re.compile(r"(?:x-)?(?:cp|ibm|dos|windows|x-cp)[-_]?(\d{3,5})")
_WIDE_SAMPLE = 4096
_LEAST_ZEROS = 0.3
_MOSTLY = 0.6
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3,}")
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_FOREIGN_MARK = re.compile("[\u0192\u02c6\u02dc\u2021\u2030¤¦¨¬¯´¸]")
"""Code page 1252 has these, Western text hardly ever uses them, and other code pages have letters in their places."""
_SYMBOL_IN_WORD = re.compile("(?<=[^\\W\\d_])[¡-©«¬®-³¶¹»-¿×÷](?=[^\\W\\d_])")
"""In the code pages of other languages letters stand in the places of these."""
_MOST_INSIDE = 0.1
_ANYWHERE = "ªºµ"
_WESTERN = tuple(
    letters + _ANYWHERE
    for letters in (
        "äöüßé", "àâæçèéêëîïôùûüÿœ", "áéíñóúüç", "àáâãçéêíóôõúü", "àèéìíîòóùú", "áéëïèóöü", "åäöéü", "æøåéèêóòô",
        "áðéíóúýþæö", "àáèéíïóòúüç·",
    )
)  # fmt: skip
"""The letters beyond ASCII of German, French, Spanish, Portuguese, Italian, Dutch, Swedish and Finnish, Danish and
Norwegian, Icelandic, Catalan.
"""
_EASTERN = tuple(
    letters + _ANYWHERE
    for letters in (
        "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "çğıöşüâîû",
        "ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž",
    )
)  # fmt: skip
"""Those of Polish, Czech, Slovak, Hungarian, Romanian, Croatian and Slovenian, Turkish, Lithuanian, Latvian, Estonian.
"""
_EASTERN_PAGES = ("cp1250", "iso8859-2", "cp1254", "cp1257", "iso8859-13", "cp852")
_LEAST_EASTERN = 3
_LEAST_HIGH = 0.01
"""Different letters beyond ASCII, and their share: names in an English text may come from several languages."""
_UNDEFINED = "\ufffd"
_ESCAPES = re.compile(rb"\x1b\$(?:[@B]|\([@BD])")
"""Where ISO-2022-JP goes over to two bytes a letter."""
_STATED = re.compile(
    rb"(?:<meta\b[^>]{0,200}?charset|<\?xml\b[^>]{0,100}?encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I
)
_STATED_WITHIN = 4096
_AS_BROWSERS_READ = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "iso-8859-9": "cp1254", "shift_jis": "cp932",
    "x-sjis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc-kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
"""By the WHATWG's Encoding Standard: the names that stand for a larger code page."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x80-\x9f]")


def decode_text(content: bytes) -> str:
    """`content` as text: by its byte order mark, else by the places of its NUL bytes as UTF-16 or UTF-32, else by the
    escapes of ISO-2022-JP, else as UTF-8, else as Windows-1252 (which holds ISO-8859-1) if it reads like Western text,
    else in the code page in which all letters are those of one language.

    Raises ParseFailed PARSE_ENCODING when the encoding cannot be told.
    """
    marked = encoding_by_mark(content)
    if marked is not None:
        try:
            return content.decode(marked)
        except UnicodeDecodeError as error:
            raise _unknown(f"it claims to be {marked.upper()} and is not") from error
    wide = _wide_encoding(content)
    if wide is None and _ESCAPES.search(content) is not None:
        wide = "iso2022_jp_ext"
    try:
        return content.decode(wide or "utf-8")
    except UnicodeDecodeError as error:
        if wide:
            raise _unknown(f"it looks like {wide.upper()} and is not") from error
        return _western(content, error)


def decode_as(content: bytes, encoding: str) -> str:
    """`content` in the encoding that it states, a name of Python's or `cp` and Windows' number; as `decode_text` reads
    it where that fails. Errors: `ParseFailed` code PARSE_ENCODING.
    """
    try:
        return content.decode(_python_name(encoding))
    except (LookupError, UnicodeError):
        return decode_text(content)


def _python_name(encoding: str) -> str:
    name = encoding.lower()
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        name = f"cp{numbered[1]}"
    return _WINDOWS.get(name, _OTHER_NAMES.get(name, name))


def decode_stated(content: bytes, charset: str) -> str:
    """A text whose server states a code page: as `decode_text` reads what is UTF-8 or has a mark, else in that code
    page, which web servers name as browsers read it; as `decode_text` for an empty one.

    Errors: `ParseFailed` code PARSE_ENCODING.
    """
    if not charset or encoding_by_mark(content) is not None:
        return decode_text(content)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        name = charset.lower()
        return decode_as(content, _AS_BROWSERS_READ.get(name, name))
    return decode_text(content)


def decode_page(content: bytes, charset: str = "") -> str:
    """A web page as text, by `decode_stated`: the code page that its server states, if there is such a one, goes before
    that which the page states, as in browsers.

    Errors: `ParseFailed` code PARSE_ENCODING.
    """
    if not _is_known(charset):
        stated = _STATED.search(content[:_STATED_WITHIN])
        charset = "" if stated is None else stated[1].decode("ascii")
    return decode_stated(content, charset)


def _is_known(charset: str) -> bool:
    try:
        codecs.lookup(charset)
    except LookupError:
        return False
    return True


def _wide_encoding(content: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, told by which bytes of each code unit are mostly zero; None for neither."""
    sample = content[:_WIDE_SAMPLE]
    if sample.count(0) < len(sample) * _LEAST_ZEROS or len(content) < 4:
        return None
    zeros = [sample[place::4].count(0) / len(sample[place::4]) for place in range(4)]
    for encoding, wanted in _ZERO_PLACES.items():
        if all((share > _MOSTLY) == zero for share, zero in zip(zeros, wanted, strict=True)):
            return encoding
    return None


def _western(content: bytes, cause: UnicodeDecodeError) -> str:
    high = len(_HIGH.findall(content))
    if sum(map(len, _UTF8_SEQUENCE.findall(content))) > high / 2:
        raise _unknown(f"it is UTF-8 with damage at byte {cause.start}") from cause
    # Accented letters stand alone or in pairs; whole words of high bytes are another script's code page.
    in_runs = sum(map(len, _HIGH_RUN.findall(content)))
    is_latin = in_runs <= high / 4 and high <= len(content) / 4
    text = content.decode("cp1252", "replace")
    if is_latin and not _is_in_one_alphabet(text, _WESTERN):
        eastern = _eastern(content) if high > len(content) * _LEAST_HIGH else None
        if eastern is not None:
            return eastern
        is_latin = len(_SYMBOL_IN_WORD.findall(text)) <= max(1, high * _MOST_INSIDE)
    odd = len(_FOREIGN_MARK.findall(text))
    if not is_latin or _CONTROL.search(text) or _UNDEFINED in text or odd > high / 4:
        raise _unknown("it does not read as UTF-8 or as Western text") from cause
    return text


def _eastern(content: bytes) -> str | None:
    """Text of a language whose letters one other code page of Latin letters holds, and all of them; None for others."""
    for code_page in _EASTERN_PAGES:
        text = content.decode(code_page, "replace")
        if _is_in_one_alphabet(text, _EASTERN) and len({*_letters(text)}) >= _LEAST_EASTERN:
            return text
    return None


def _is_in_one_alphabet(text: str, alphabets: Sequence[str]) -> bool:
    used = {*_letters(text)}
    return (
        _CONTROL.search(text) is None
        and _UNDEFINED not in text
        and _SYMBOL_IN_WORD.search(text) is None
        and any(used.issubset(alphabet) for alphabet in alphabets)
    )


def _letters(text: str) -> Iterator[str]:
    """The letters beyond ASCII, in lower case."""
    return (letter for letter in text.lower() if letter > "\x7f" and letter.isalpha())


def _unknown(why: str) -> ParseFailed:
    return ParseFailed(f"the text's encoding cannot be detected ({why}): save it as UTF-8", code="PARSE_ENCODING")
