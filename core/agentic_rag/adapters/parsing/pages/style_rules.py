"""Styles of a page, as far as they tell what it shows: declarations, and which rules of its style sheets hide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from selectolax.lexbor import LexborHTMLParser, LexborNode

Declarations = Mapping[str, str]

_NOTHING: Declarations = MappingProxyType({})

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_BRACE = re.compile(r"([{}])")
_TELLS = re.compile(
    r"display|visibility|opacity|font|text-indent|clip|left|right|top|bottom|overflow|scale|color|background", re.I
)
"""Words of the properties that are looked at."""
_SIMPLE = re.compile(r"(?:[a-z][\w-]*)?[.#][\w-]+", re.I)
_FOUND_IN_TREE = re.compile(r"[\w.#-]{1,99}(?:[ >+~]{1,3}[\w.#-]{1,99}){0,2}", re.ASCII)
"""Selectors of a few parts, and of tags: more parts can take time that grows with a power of a page's depth."""
_NAMES = re.compile(r"[.#][\w-]+")
_PARTS = re.compile(r"\s*[\s>+~]\s*")
_ZERO = re.compile(r"[+-]?(?:0+(?:\.0*)?|\.0+)(?:px|r?em|e[xm]|ch|pt|pc|in|cm|mm|q|v[wh]|%)?")
_ZERO_FONT = re.compile(r"(?:^|\s)0+(?:\.0+)?(?:px|r?em|pt|%)?(?:/\S+)?\s+\S")
_LENGTH = re.compile(r"([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|r?em|pt)?", re.ASCII)
_PIXELS = {None: 1.0, "px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0}
_OFF_SCREEN = 900.0
"""Pixels from which a placed element stands beside every screen; drawers that slide in stand nearer."""
_NO_CLIP = re.compile(r"rect\((?:\s*[+]?[01](?:px)?\s*,?){4}\)")
_NO_SHAPE = re.compile(r"inset\(\s*(?:50|100)%|circle\(\s*0(?:px|%)?[\s)]")
_NO_SCALE = re.compile(r"scale(?:3d)?\(\s*0(?:\.0+)?\s*[,)]")
_PLACES = ("left", "right", "top", "bottom")
_SHOWING = frozenset(
    {"display", "visibility", "position", "clip", "clip-path", "height", "max-height", "font-size", "font"}
)
"""Properties that show what another rule hides."""
_MOST_SOUGHT = 30
"""Selectors that are looked for in the tree: each costs a walk through it."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Elements that rules choose: by selectors of one name (`.a`, `p.a`, `#a`), and by themselves."""

    selectors: frozenset[str] = frozenset()
    nodes: frozenset[int] = frozenset()
    shown: frozenset[str] = frozenset()
    """Names of elements that other rules show."""

    def __contains__(self, node: LexborNode) -> bool:
        if not self.selectors and not self.nodes:
            return False
        attributes, tag = node.attributes, node.tag or ""
        named = [f".{one}" for one in (attributes.get("class") or "").split()]
        if identifier := attributes.get("id"):
            named.append(f"#{identifier}")
        return self.shown.isdisjoint(named) and self._means(node, tag, named)

    def _means(self, node: LexborNode, tag: str, named: Sequence[str]) -> bool:
        return node.mem_id in self.nodes or any(
            one in self.selectors or f"{tag}{one}" in self.selectors for one in named
        )


@dataclass(frozen=True, slots=True)
class PageSheets:
    """What the style sheets in a page say; those outside of it are not fetched. Of a page with scripts, which may give
    elements other names, no rule is heard.
    """

    folded: _Chosen
    """Elements that do not show (`is_folded`)."""
    unreadable: _Chosen
    """Those that `is_unreadable` means."""
    sizeless: _Chosen
    """Those whose letters have no size (`font_is_nothing`)."""
    restyles: bool
    """Whether any sheet, also one that is not in the page, may give an element another look."""
    may_change: bool
    """Whether a script or a sheet may let an element appear that is not to be seen at first."""


def read_sheets(tree: LexborHTMLParser) -> PageSheets:
    """Read the style sheets of a page; they must still be in the tree. What any rule shows again is not hidden: which
    of two rules holds is not worked out.
    """
    sheets = [sheet.text() for sheet in tree.css("style")]
    restyles = any("{" in one for one in sheets) or tree.css_first("link[rel~=stylesheet i]") is not None
    if tree.css_first("script") is not None:
        return PageSheets(_Chosen(), _Chosen(), _Chosen(), restyles, may_change=True)
    folded, unreadable, sizeless, shown = list[str](), list[str](), list[str](), set[str]()
    for selectors, body, is_conditional in (rule for sheet in sheets for rule in _rules(sheet)):
        if _TELLS.search(body) is None:
            continue
        said = declarations(body)
        split = [one.strip() for one in selectors.split(",")]
        hides = is_unreadable(said) or is_folded(said) or font_is_nothing(said)
        if hides and is_conditional:
            continue
        if not hides and _SHOWING & said.keys():
            shown.update(name for one in split for name in _last_names(one))
        for into, means in ((folded, is_folded), (unreadable, is_unreadable), (sizeless, font_is_nothing)):
            into += split if means(said) else []
    hidden, gone, small = (_choose(tree, one, frozenset(shown)) for one in (folded, unreadable, sizeless))
    return PageSheets(hidden, gone, small, restyles, may_change=restyles)


def _choose(tree: LexborHTMLParser, selectors: Sequence[str], shown: frozenset[str]) -> _Chosen:
    wanted = [one for one in dict.fromkeys(selectors) if shown.isdisjoint(_last_names(one))]
    simple = frozenset(one for one in wanted if _SIMPLE.fullmatch(one))
    others = [one for one in wanted if one not in simple and _FOUND_IN_TREE.fullmatch(one)]
    found = (node.mem_id for one in others[:_MOST_SOUGHT] for node in tree.css(one))
    return _Chosen(simple, frozenset(found), shown)


def _last_names(selector: str) -> Sequence[str]:
    """The classes and ids of the elements that a selector chooses; their tag where it names none."""
    last = _PARTS.split(selector)[-1]
    return _NAMES.findall(last) or [last.lower()]


def _rules(sheet: str) -> Iterator[tuple[str, str, bool]]:
    """Selectors, declarations, and whether the rule holds under a condition only, as that of a printer."""
    around = list[str]()
    text = ""
    for piece in _BRACE.split(_COMMENT.sub("", sheet)):
        if piece == "{":
            around.append(text.rpartition(";")[2].strip())
        elif piece == "}" and around:
            selectors = around.pop()
            yield selectors, text, any(one.startswith("@") for one in (*around, selectors))
        text = piece


def declarations(style: str) -> Declarations:
    """The declarations of a style attribute or a rule, in lower case; of one property the last."""
    if not style:
        return _NOTHING
    text = _ESCAPE.sub(_unescape, _COMMENT.sub("", style)).lower()
    found = dict[str, str]()
    for one in text.split(";"):
        name, colon, value = one.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def _unescape(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if 0 < code < 0x110000 else ""


def is_folded(said: Declarations) -> bool:
    """Whether an element does not show, which scripts may change: tabs, folded parts."""
    if said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse"):
        return True
    cuts = any(said.get(name, "").startswith(("hidden", "clip")) for name in ("overflow", "overflow-y"))
    return cuts and any(_is_zero(said.get(name)) for name in ("height", "max-height", "width", "max-width"))


def is_faded(said: Declarations) -> bool:
    """Whether an element is there and not to be seen, as before scripts let it appear."""
    return _is_zero(said.get("opacity")) or _NO_SCALE.search(said.get("transform", "")) is not None


def is_unreadable(said: Declarations) -> bool:
    """Whether an element stands off the screen or is cut to nothing: no script shows it."""
    if _NO_SHAPE.search(said.get("clip-path", "")) or _pixels(said.get("text-indent")) <= -_OFF_SCREEN:
        return True
    if said.get("position") not in ("absolute", "fixed"):
        return False
    off = any(abs(_pixels(said.get(name))) >= _OFF_SCREEN for name in _PLACES)
    return off or _NO_CLIP.search(said.get("clip", "")) is not None


def font_is_nothing(said: Declarations) -> bool | None:
    """Whether the letters have no size; None where the size is not said."""
    if (size := said.get("font-size")) is not None:
        return _is_zero(size)
    if (font := said.get("font")) is not None:
        return _ZERO_FONT.search(font) is not None
    return None


def _is_zero(value: str | None) -> bool:
    return value is not None and _ZERO.fullmatch(value) is not None


def _pixels(value: str | None) -> float:
    found = _LENGTH.fullmatch(value or "")
    return float(found[1]) * _PIXELS[found[2]] if found else 0.0
