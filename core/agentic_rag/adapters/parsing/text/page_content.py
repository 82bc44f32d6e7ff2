"""The part of a web page that is read: neither scripts nor furniture, and what is hidden only where nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agentic_rag.adapters.parsing.pages.own_style import is_still, takes_text_away
from agentic_rag.adapters.parsing.pages.page_facts import PageFacts, read_facts
from agentic_rag.adapters.parsing.text.depth import flatten
from agentic_rag.adapters.parsing.text.formulas import formula_text
from agentic_rag.adapters.parsing.text.page_controls import folded_texts, write_controls
from agentic_rag.adapters.parsing.text.svg import as_picture

_NEVER_READ = [
    "script", "style", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "nav",
    "button", "select", "textarea", "input", "head", "dialog", "menu", "del", "s", "strike", "rt", "rp", "datalist",
    "noembed", "title",
]  # fmt: skip
_HEADING_BUTTONS = ", ".join(f"h{level} button" for level in range(1, 7))
_NAVIGATION_ROLES = frozenset({"navigation", "banner", "search", "menu", "menubar", "toolbar"})
_NAVIGATION_CLASS = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|navbox|dropdown|breadcrumbs?|interlanguage|editsection|skip-?link|cookies?)(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_INSTEAD = frozenset({"noscript", "noframes"})
"""What a page says to programs that cannot show it."""
_STRUCK_OUT = "line-through"
"""No style of an element within takes the line away."""
_NOTE = "epub:type"
"""Books hide notes that they show when somebody asks for them."""
_CONTENT = "h1, main, article"
_FORM_CONTENT = "h1, h2, h3, h4, h5, p, li, table, main, article"
_LEAST_LINKS = 0.5
"""Share of the letters in links from which a part that is named as navigation is one; layouts have such names too."""
_MOST_HIDDEN = 0.5
"""Hidden letters by letters that show. A page that hides more shows it by a script: tabs, forums, shops."""
_LEAST_HIDDEN = 200
"""Letters of a text; fewer only ask for a script to be allowed."""
_LEAST_FOLDED = 20
"""Letters of a part that does not show; fewer are labels."""
_DEEPEST_FORMULA = 100
_LEAST_MAIN = 0.5
"""Share of a page's letters from which its one main part stands for it."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """The element to read, without what is left out; the text of <title>; what the head says. `body` is the element, or
    what it stands in; `hidden` are the texts that do not show.
    """

    element: LexborNode | None
    title: str | None
    facts: PageFacts
    body: LexborNode | None
    hidden: Sequence[str]


def read_page(source: str, *, is_saved: bool = False) -> PageContent:
    """Parse a page and leave out what is never read. Of a page that somebody saved (`is_saved`) the values of its
    controls are read, and all that is left out with its text is among what is hidden.
    """
    tree = _parse(source)
    facts = read_facts(tree)
    named = tree.css_first("head > title")
    title = None if named is None else named.text()
    folded = _write_saved(tree) if is_saved else []
    still = is_still(source)
    letters, hidden = _leave_out(tree, hides=True, still=still, folded=folded)
    if letters > max(_MOST_HIDDEN * letters_of(tree.body), _LEAST_HIDDEN):
        tree = _parse(source)
        folded = _write_saved(tree) if is_saved else []
        _, hidden = _leave_out(tree, hides=False, still=still, folded=folded)
    return PageContent(_main_part(tree), title, facts, tree.body or tree.root, [*hidden, *(folded if is_saved else ())])


def _write_saved(tree: LexborHTMLParser) -> list[str]:
    write_controls(tree)
    return [text for text in folded_texts(tree) if len(text) >= _LEAST_FOLDED]


def children(node: LexborNode) -> Iterator[LexborNode]:
    """Elements and texts right below a node."""
    child = node.child
    while child is not None:
        following = child.next
        yield child
        child = following


def _parse(source: str) -> LexborHTMLParser:
    """The page with every formula as a text in its place, and drawings that say something as pictures."""
    tree = LexborHTMLParser(flatten(source))
    for math in tree.css("math"):
        shown, text = math, formula_text(_element(math, 0))
        while (around := shown.parent) is not None and _is_hidden(around) and letters_of(around) == letters_of(math):
            # The page shows a picture of the formula and keeps this copy for those who listen.
            shown = around
        shown.replace_with(text)
    for drawing in tree.css("svg"):
        if not _is_hidden(drawing) and (picture := as_picture(drawing)) is not None:
            drawing.replace_with(picture)
    return tree


def _element(node: LexborNode, depth: int) -> Element:
    """A formula as XML; parts nested too deeply are left out."""
    made = Element(node.tag or "")
    made.attrib.update({key: value or "" for key, value in node.attributes.items()})
    for child in children(node):
        if child.tag == "-text":
            made.text = (made.text or "") + (child.text_content or "")
        elif depth < _DEEPEST_FORMULA and not (child.tag or "").startswith(("-", "!")):
            made.append(_element(child, depth + 1))
    return made


def _leave_out(tree: LexborHTMLParser, *, hides: bool, still: bool, folded: list[str]) -> tuple[int, list[str]]:
    """Remove what is not read: how many letters of it were hidden, and the texts of those that a script may show.
    Adds the texts of navigation to `folded`.
    """
    for button in tree.css(_HEADING_BUTTONS):
        if button.parent is not None and letters_of(button) > letters_of(button.parent) / 2:
            button.unwrap()  # A heading that opens what stands below it.
    tree.strip_tags(_NEVER_READ)
    letters, hidden = 0, list[str]()
    stack = [tree.root]
    while stack:
        below = [] if (node := stack.pop()) is None else [one for one in children(node) if not _is_text(one)]
        for child, is_away in [(one, takes_text_away(one, still=still)) for one in below]:
            if is_away or (hides and _is_hidden(child)):
                text = " ".join(child.text(separator=" ").split())
                letters += 0 if is_away else len(text) - text.count(" ")
                if text and child.tag not in _INSTEAD:
                    hidden.append(text)
                child.decompose()
            elif _STRUCK_OUT in (child.attributes.get("style") or "").lower():
                child.decompose()
            elif _is_furniture(child):
                text = " ".join(child.text(separator=" ").split())
                folded += [text] if len(text) >= _LEAST_FOLDED else []
                child.decompose()
            else:
                stack.append(child)
    return letters, hidden


def _is_text(node: LexborNode) -> bool:
    return (node.tag or "").startswith(("-", "!"))


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return node.tag in _INSTEAD or (
        ("hidden" in attributes and _NOTE not in attributes)
        or attributes.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None
    )


def _is_furniture(node: LexborNode) -> bool:
    if node.tag == "form":
        return node.css_first(_FORM_CONTENT) is None
    attributes = node.attributes
    if attributes.get("role") in _NAVIGATION_ROLES:
        return node.css_first("main, article") is None
    named = _NAVIGATION_CLASS.search(attributes.get("class") or "") is not None
    return named and node.css_first(_CONTENT) is None and _links(node) >= _LEAST_LINKS


def _links(node: LexborNode) -> float:
    """Share of a node's letters that stand in links."""
    letters = letters_of(node)
    return sum(map(letters_of, node.css("a"))) / letters if letters else 1.0


def letters_of(node: LexborNode | None) -> int:
    """Characters under a node that are no white space."""
    return 0 if node is None else sum(map(len, node.text().split()))


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    """The one <main> or <article> of a page, where it holds most of it; else the page."""
    body = tree.body or tree.root
    for name in ("main, [role=main]", "article"):
        found = tree.css(name)
        if len(found) == 1 and letters_of(found[0]) >= _LEAST_MAIN * letters_of(body):
            return found[0]
    return body
