"""The page that Outlook keeps within RTF ([MS-OXRTFEX] 2.1.3)."""

from __future__ import annotations

import re

_FROM_HTML = re.compile(r"\\fromhtml1(?![0-9])")
_HEAD = 1_000
"""Characters in which an RTF file says what it was made from."""
_CODE_PAGE = re.compile(r"\\ansicpg(\d{1,5})")
_TOKEN = re.compile(
    r"\\(?P<hex>'[0-9a-fA-F]{2})|\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\(?P<sign>[^a-zA-Z])|"
    r"(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_TEXT_OF = {
    "par": "\n", "line": "\n", "tab": "\t", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "endash": "–", "emdash": "—",
}  # fmt: skip
_SIGNS = {"{": "{", "}": "}", "\\": "\\", "~": "\u00a0", "_": "-"}
_DESTINATIONS = frozenset({"fonttbl", "colortbl", "stylesheet", "info", "pict", "mhtmltag", "object", "pntext"})


def html_of(rtf: str) -> str | None:
    """The page of an RTF file, given as one character a byte; None where it was not made from one."""
    if _FROM_HTML.search(rtf, 0, _HEAD) is None:
        return None
    page = _CODE_PAGE.search(rtf, 0, _HEAD)
    return _Reader(f"cp{page[1]}" if page else "cp1252").read(rtf)


class _Reader:
    def __init__(self, code_page: str) -> None:
        self._code_page = code_page
        self._is_hidden = self._is_rtf = False
        """Within a destination that holds no page; within what only readers of RTF see."""
        self._outer: list[tuple[bool, bool]] = []
        self._found: list[str] = []
        self._bytes = bytearray()
        self._to_skip, self._repeated = 0, 1
        """Bytes behind a character of Unicode that are written for older readers."""

    def read(self, rtf: str) -> str:
        is_optional = False
        for token in _TOKEN.finditer(rtf):
            if token["brace"]:
                self._open_or_close(token["brace"])
            elif token["word"]:
                self._take_word(token["word"], token["number"], is_optional=is_optional)
            elif token["hex"]:
                self._take_bytes(bytes.fromhex(token["hex"][1:]))
            elif token["text"]:
                self._take_bytes(token["text"].encode("latin-1", "replace"))
            elif token["sign"] in _SIGNS:
                self._say(_SIGNS[token["sign"]])
            is_optional = token["sign"] == "*"
        self._decode()
        # Characters of two halves come one by one.
        return "".join(self._found).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _open_or_close(self, brace: str) -> None:
        if brace == "{":
            self._outer.append((self._is_hidden, self._is_rtf))
        elif self._outer:
            self._is_hidden, self._is_rtf = self._outer.pop()

    def _take_word(self, word: str, number: str | None, *, is_optional: bool) -> None:
        if word == "htmlrtf":
            self._is_rtf = number != "0"
        elif word in _DESTINATIONS or (is_optional and word != "htmltag"):
            self._is_hidden = True
        elif word == "u" and number is not None:
            self._say(chr(int(number) % 65536))
            self._to_skip = self._repeated
        elif word == "uc" and number is not None:
            self._repeated = int(number)
        elif word in _TEXT_OF:
            self._say(_TEXT_OF[word])

    def _take_bytes(self, text: bytes) -> None:
        held = text[max(0, self._to_skip) :]
        self._to_skip = max(0, self._to_skip - len(text))
        if not self._is_hidden and not self._is_rtf:
            self._bytes += held

    def _say(self, text: str) -> None:
        if not self._is_hidden and not self._is_rtf:
            self._decode()
            self._found.append(text)

    def _decode(self) -> None:
        if self._bytes:
            try:
                self._found.append(self._bytes.decode(self._code_page, "replace"))
            except LookupError:
                self._found.append(self._bytes.decode("cp1252", "replace"))
            self._bytes.clear()
