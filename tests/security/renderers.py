"""What viewers of Markdown and of HTML make of a text, and a judge of what is live in it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from xml.etree.ElementTree import Element

import cmarkgfm
import commonmark
import markdown
import markdown2
import marko
import mistune
import tinyhtml5
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from marko.ext.gfm import gfm
from mdit_py_plugins.attrs import attrs_block_plugin, attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

CITED = "https://source.example/page"
"""The one link that may be live."""

Render = Callable[[str], str]

_COMMON = MarkdownIt("commonmark", {"html": True})
_LINKIFIED = MarkdownIt("gfm-like", {"html": True, "typographer": True})
_EXTENDED = MarkdownIt("commonmark", {"html": True}).use(attrs_plugin).use(attrs_block_plugin)
_EXTENDED.use(deflist_plugin).use(footnote_plugin)
_PLUGINS = ["strikethrough", "footnotes", "table", "url", "task_lists", "def_list", "abbr", "mark", "ruby", "spoiler"]
_MISTUNE = mistune.create_markdown(escape=False, plugins=_PLUGINS)
_EXTRAS = ["footnotes", "tables", "fenced-code-blocks", "header-ids", "task_list", "strike", "markdown-in-html"]

RENDERERS: Mapping[str, Render] = {
    "a page's innerHTML": lambda text: text,
    "innerHTML of what was unescaped once more": unescape,
    "markdown-it": _COMMON.render,
    "markdown-it with links made of addresses": _LINKIFIED.render,
    "markdown-it with attributes, footnotes and definitions": _EXTENDED.render,
    "commonmark": commonmark.commonmark,
    "cmark-gfm": lambda text: cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE),
    "marko": marko.convert,
    "marko, GitHub's": gfm.convert,
    "mistune with its plugins": lambda text: str(_MISTUNE(text)),
    "python-markdown": markdown.markdown,
    "python-markdown with its extras": lambda text: markdown.markdown(text, extensions=["extra", "toc", "sane_lists"]),
    "markdown2 with its extras": lambda text: str(markdown2.markdown(text, extras=_EXTRAS)),
}
"""None of them filters: what stands in the text reaches the page."""

_OWN_TAGS = frozenset(
    re.findall(
        r"\w+",
        "html head body p br hr em strong b i del s code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody "
        "tfoot tr th td a sup section div dl dt dd abbr mark input span ruby rt rp q sub ins label u",
    )
)
"""What the renderers make of Markdown alone; `a` and `input` are judged by their attributes."""
_OWN_ATTRIBUTES = frozenset(
    re.findall(
        r"\w+",
        "id class start align title rel type checked disabled role dir lang value name target cellpadding",
    )
)
_OWN_ADDRESS = re.compile(r"#[\w:.%-]*|mailto:[\w.+-]+@[\w.-]+")
"""A place on the page, and the address of a mailbox, which some viewers link: nothing is loaded."""


def live_in(html: str) -> list[str]:
    """Elements, handlers, styles and addresses of a page that an answer must not bring along."""
    return list(_live(tinyhtml5.parse(html, namespace_html_elements=False)))


def _live(page: Element) -> Iterator[str]:
    for element in page.iter():
        tag = element.tag if isinstance(element.tag, str) else "comment"
        if tag not in _OWN_TAGS:
            yield f"<{tag}>"
        for name, value in element.attrib.items():
            if name in ("href", "cite"):
                if value not in (CITED, f"{CITED}/") and not _OWN_ADDRESS.fullmatch(value):
                    yield f"{name}={value}"
            elif name == "style" and value:
                if not re.fullmatch(r"text-align: ?(?:left|right|center);?", value):
                    yield f"style={value}"
            elif value in (name, "") and not name.startswith(("on", "src", "formaction")):
                continue  # a word in braces: `{x}`
            elif name not in _OWN_ATTRIBUTES or (tag == "input" and name == "type" and value != "checkbox"):
                yield f"{name}={value}"


_TAGS = (
    *(
        "script",
        "img",
        "svg",
        "iframe",
        "a",
        "math",
        "style",
        "base",
        "meta",
        "x-y",
        "form",
        "object",
        "details",
        "body",
    ),
)
_HANDLERS = (
    *("onerror", "onload", "onclick", "ontoggle", "onfocus", "ONMOUSEOVER", "formaction", "srcdoc", "style", "href"),
)
_SCHEMES = (
    *(
        "javascript:",
        "JaVaScRiPt:",
        "java\nscript:",
        "data:text/html,",
        "vbscript:",
        "https://",
        "//",
        "\\\\",
        "ftp://",
        "xmpp:a@",
    ),
    *("javascript&colon;", "&#106;avascript:", "&#x6a;avascript&#58;", "jav&Tab;ascript:", "&amp;#106;x:"),
)
_JOINTS = (
    *("", "", "", " ", "\n", "\n\n", "\t", "    ", "> ", "- ", "1. ", "`", "```\n", "\\", "*", "__", "| ", "~~"),
    *('"', "'"),
)
_WORDS = (
    *("The valve", "opens at 3 bar", "a < b", "AT&T", "x[0](y)", "List<T>", "{x}", "café", "3:4", CITED, "R&D;"),
    "&lt;b&gt;",
)


def texts(count: int, seed: int = 11) -> Iterator[str]:
    """Texts of pieces of markup in every order, each of several forms, with words between."""
    chosen = random.Random(seed)
    for _ in range(count):
        pieces = [_piece(chosen) for _ in range(chosen.randint(1, 6))]
        yield "".join(piece + chosen.choice(_JOINTS) for piece in pieces)


def _piece(chosen: random.Random) -> str:
    address = chosen.choice(_SCHEMES) + chosen.choice(("alert(1)", "e.example/x", "x"))
    tag, handler = chosen.choice(_TAGS), chosen.choice(_HANDLERS)
    quote, space = chosen.choice(('"', "'", "")), chosen.choice((" ", "\n", "/", "\t", "\f"))
    attribute = f"{handler}={quote}{chosen.choice(('alert(1)', address))}{quote}"
    word, label = chosen.choice(_WORDS), chosen.choice(("a", "1", "x y", "^1", "!", "]", "[a]"))
    forms: Sequence[str] = (
        word,
        word,
        f"<{tag}{space}{attribute}>",
        f"<{tag}{space}src=x {attribute}",
        f"<{chosen.choice(('/', '!--', '?', '![CDATA['))}{tag}>",
        f"&lt;{tag} {attribute}&gt;",
        f"&#60;{tag} {attribute}&#x3e;",
        f"&amp;lt;{tag} {attribute}>",
        f"<{address}>",
        f"[{label}]({address})",
        f'[{label}](<{address}> "{attribute}")',
        f"![{label}]({address})",
        f"[{label}]: {address}",
        f"[{label}]:\n  <{address}> '{attribute}'",
        f"[{label}][{label}]\n\n[{label}]: {address}",
        f"[^{label}]: <{tag} {attribute}>",
        f"*[{label}]: {attribute}",
        f"*{label}*{{{attribute}}}",
        f"# {label} {{: {attribute} }}",
        f"*{label}*{{: #i .c {attribute}}}",
        f"`x`{{{attribute}}}",
        f"[[{address}]]",
        f"[[{label}|{address}]]",
        f"| {label} | <{tag} {attribute}> |\n|---|---|\n| {address} | {word} |",
        f"```{attribute}\n<{tag} {attribute}>\n```",
        f"[{label}({address})](x(^{label}))",
        f"www.e.example/{label}",
        "a@e.example <a@e.example> mailto:a@e.example",
        address,
        f"\\<{tag} {attribute}\\>",
        f"<{tag}\n\n{attribute}>",
        f"<<{tag}{space}{attribute}>>",
        f"]({address})",
        f"{{% {tag} %}}${{{attribute}}}$$",
    )
    return chosen.choice(forms)
