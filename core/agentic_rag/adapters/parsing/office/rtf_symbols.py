"""Letters of symbol fonts in RTF: striprtf reads them in the code page of the file."""

from __future__ import annotations

import re

from agentic_rag.adapters.parsing.office.symbol_fonts import is_symbol_font, symbol_at

_FONTS = "{\\fonttbl"
_SYMBOL_FONT = re.compile(r"\\f(\d+)(?:(?!\\f\d)[^;])*\\fcharset2(?!\d)[^;]*?([A-Z][A-Za-z0-9 ]*);")
_FIELD = re.compile(
    r"\{\\\*\\fldinst(?![a-z])[^}]*?\bSYMBOL (\d{1,5}) \\\\f \"?(Symbol|W[a-z]+dings(?: [23])?)\"?[^}]*\}+\s*"
    r"(?:\{\\fldrslt(?![a-z])[^{}]*(?:\{[^{}]*\})?[^{}]*\}+)?"
)
"""A field that is a letter of a symbol font; its result is empty, or the letter again."""
_PIECE = re.compile(
    r"(?P<open>\{)|(?P<close>\})|\\f(?P<font>\d+) ?|\\(?P<plain>plain)(?![a-z]) ?"
    r"|\\u(?P<code>-?\d{1,5}) ?(?:\\'[0-9a-f]{2}|\?)?|\\'(?P<byte>[0-9a-f]{2})"
    r"|\\[a-z]+-?\d* ?|\\.|(?P<letters>[^\\{}\r\n]+)",
    re.DOTALL,
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def group_end(content: str, start: int) -> int:
    """Where the group ends that is open at `start`."""
    depth = 1
    for brace in _BRACE.finditer(content, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return len(content)


def font_table(content: str) -> tuple[int, int]:
    """Where the table of fonts begins and ends; both 0 without one."""
    start = content.find(_FONTS)
    return (start, group_end(content, start + 1)) if start >= 0 else (0, 0)


def symbols_written(content: str) -> str:
    """An RTF file with the letters of symbol fonts in Unicode."""
    content = _FIELD.sub(lambda one: (_letter(one[2], int(one[1])) or one[0]) + "}", content)
    start, end = font_table(content)
    fonts = {number: name.strip() for number, name in _SYMBOL_FONT.findall(content, start, end)}
    if not any(map(is_symbol_font, fonts.values())):
        return content
    kept, stack = [content[:end]], [""]
    for piece in _PIECE.finditer(content, end):
        kept.append(piece[0])
        if piece["open"]:
            stack.append(stack[-1])
        elif piece["close"]:
            stack = stack[:-1] or [""]
        elif piece["font"] or piece["plain"]:
            stack[-1] = fonts.get(piece["font"], "")
        elif stack[-1]:
            places = [int(piece["code"]) % 0x10000] if piece["code"] else [*bytes.fromhex(piece["byte"] or "")]
            written = [_letter(stack[-1], place) for place in places or map(ord, piece["letters"] or "")]
            kept[-1] = "".join(written) if written and all(written) else piece[0]
    return "".join(kept)


def _letter(font: str, place: int) -> str:
    letter = symbol_at(font, place)
    return f"{{\\uc0\\u{ord(letter)} }}" if letter else ""
