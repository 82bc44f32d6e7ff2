"""Formulas as a line of text: Office's own notation (ECMA-376 Part 1, 22.1) and MathML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.text.raised_text import Shift, formula_shift
from agentic_rag.kernel.text import strip_unstorable

_DEEPEST = 60
"""Nested parts that are followed; deeper ones are read without their places."""
_UNREAD = frozenset({"annotation", "annotation-xml", "mphantom", "del", "none", "mprescripts"})
_SPACED = frozenset("=+−<>≤≥≠≈≡∈→⇒±·×")
_INVISIBLE = str.maketrans("", "", "\u2061\u2062\u2063\u2064")
"""MathML's operators without a sign."""


def local_name(node: Element) -> str:
    """The name of an element without its namespace."""
    return node.tag.rpartition("}")[2]


def formula_text(node: Element) -> str:
    """`a/b`, `x²`, `√(x + 1)`, `∑_(i=1)^n xᵢ`, and matrices as `[a, b; c, d]`."""
    return " ".join(strip_unstorable(_Formula().write(node)).split())


class _Formula:
    """Depth-first over a formula."""

    def __init__(self) -> None:
        self._depth = 0

    def write(self, node: Element) -> str:
        name = local_name(node)
        if name in _UNREAD or name.endswith("Pr"):
            return ""
        if self._depth >= _DEEPEST:
            return "".join(node.itertext())
        self._depth += 1
        form = _FORMS.get(name)
        text = _leaf(node, name) if len(node) == 0 else "".join(self.parts(node)) if form is None else form(self, node)
        self._depth -= 1
        return text

    def parts(self, node: Element) -> list[str]:
        return [self.write(child) for child in node if not local_name(child).endswith("Pr")]

    def at(self, node: Element, count: int) -> Sequence[str]:
        """The first parts of an element, empty ones for those that are missing."""
        return [*self.parts(node), *[""] * count][:count]


def _leaf(node: Element, name: str) -> str:
    text = (node.text or "").translate(_INVISIBLE)
    if name == "mspace":
        return " "
    return f" {text.strip()} " if name == "mo" and text.strip() in _SPACED else text


def _fraction(formula: _Formula, node: Element) -> str:
    above, below = formula.at(node, 2)
    return f"{_group(above)}/{_group(below)}"


def _superscript(formula: _Formula, node: Element) -> str:
    base, above = formula.at(node, 2)
    return base + formula_shift(above, Shift.RAISED)


def _subscript(formula: _Formula, node: Element) -> str:
    base, below = formula.at(node, 2)
    return base + formula_shift(below, Shift.LOWERED)


def _both(formula: _Formula, node: Element) -> str:
    base, below, above = formula.at(node, 3)
    return base + formula_shift(below, Shift.LOWERED) + formula_shift(above, Shift.RAISED)


def _before(formula: _Formula, node: Element) -> str:
    below, above, base = formula.at(node, 3)
    return formula_shift(below, Shift.LOWERED) + formula_shift(above, Shift.RAISED) + base


def _root(formula: _Formula, node: Element) -> str:
    degree, base = formula.at(node, 2)
    return f"{formula_shift(degree, Shift.RAISED)}√{_group(base)}"


def _math_root(formula: _Formula, node: Element) -> str:
    base, degree = formula.at(node, 2)
    return f"{formula_shift(degree, Shift.RAISED)}√{_group(base)}"


def _square_root(formula: _Formula, node: Element) -> str:
    return f"√{_group(''.join(formula.parts(node)))}"


def _sum(formula: _Formula, node: Element) -> str:
    below, above, base = formula.at(node, 3)
    sign = _property(node, "chr", "∫")
    return f"{sign}{formula_shift(below, Shift.LOWERED)}{formula_shift(above, Shift.RAISED)} {base}"


def _over(formula: _Formula, node: Element) -> str:
    base, above = formula.at(node, 2)
    return base + (above.strip() if _is_accent(above) else formula_shift(above, Shift.RAISED))


def _accent(formula: _Formula, node: Element) -> str:
    return "".join(formula.parts(node)) + _property(node, "chr", "\u0302")


def _brackets(formula: _Formula, node: Element) -> str:
    between = _property(node, "sepChr", "|")
    return _property(node, "begChr", "(") + between.join(formula.parts(node)) + _property(node, "endChr", ")")


def _fence(formula: _Formula, node: Element) -> str:
    between = (node.get("separators", ",").strip() or " ")[0]
    return node.get("open", "(") + f"{between} ".join(formula.parts(node)) + node.get("close", ")")


def _function(formula: _Formula, node: Element) -> str:
    name, of = formula.at(node, 2)
    return f"{name} {of}"


def _rows(formula: _Formula, node: Element) -> str:
    rows = [", ".join(formula.parts(row)) for row in node if not local_name(row).endswith("Pr")]
    return f"[{'; '.join(rows)}]"


def _lines(formula: _Formula, node: Element) -> str:
    return "; ".join(formula.parts(node))


def _first(formula: _Formula, node: Element) -> str:
    return formula.at(node, 1)[0]


_FORMS: Mapping[str, Callable[[_Formula, Element], str]] = {
    "f": _fraction, "mfrac": _fraction, "sSup": _superscript, "msup": _superscript, "sSub": _subscript,
    "msub": _subscript, "sSubSup": _both, "msubsup": _both, "munderover": _both, "sPre": _before, "rad": _root,
    "mroot": _math_root, "msqrt": _square_root, "nary": _sum, "munder": _subscript, "limLow": _subscript,
    "mover": _over, "limUpp": _superscript, "acc": _accent, "d": _brackets, "mfenced": _fence, "func": _function,
    "m": _rows, "mtable": _rows, "eqArr": _lines, "semantics": _first,
}  # fmt: skip
"""By the names of both notations."""


def _property(node: Element, name: str, default: str) -> str:
    """A sign among the properties of an element; an empty one is none."""
    for child in node:
        if local_name(child) == f"{local_name(node)}Pr":
            for one in child:
                if local_name(one) == name:
                    return next((value for key, value in one.attrib.items() if key.rpartition("}")[2] == "val"), "")
    return default


def _is_accent(above: str) -> bool:
    sign = above.strip()
    return len(sign) == 1 and not sign.isalnum()


def _group(text: str) -> str:
    text = text.strip()
    return text if len(text) == 1 or text.isalnum() else f"({text})"
