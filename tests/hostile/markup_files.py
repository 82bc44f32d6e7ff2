"""Markup and code that make readers recurse, backtrack or copy without end."""

from __future__ import annotations

from tests.hostile.case import Hostile, failed, ready

WORDS = "The pilot boards at the outer buoy."


def page(body: str) -> bytes:
    """An HTML page."""
    return f"<!doctype html><html><body>{body}</body></html>".encode()


def list_of_depth(levels: int) -> bytes:
    """A Markdown list of which every item lies in the one before."""
    return "".join(f"{'  ' * level}- item {level}\n" for level in range(levels)).encode() + WORDS.encode()


MARKUP_FILES: tuple[Hostile, ...] = (
    ready("deep.html", WORDS, lambda: page("<div>" * 30_000 + WORDS)),
    ready("deep-lists.html", WORDS, lambda: page("<ul><li>" * 10_000 + WORDS)),
    ready("deep-tables.html", WORDS, lambda: page("<table><tr><td>" * 5_000 + WORDS)),
    ready("wide-table.html", WORDS, lambda: page("<table>" + "<tr><td>1<td>2<td>3" * 60_000 + f"</table><p>{WORDS}")),
    ready("one-row.html", WORDS, lambda: page("<table><tr>" + "<td>1" * 200_000 + f"</table><p>{WORDS}")),
    ready("unclosed.html", WORDS, lambda: page("<p>" * 50_000 + "<b><i><a href=" * 2_000 + f'"">{WORDS}')),
    ready(
        "huge-attribute.html", WORDS, lambda: page(f'<p title="{"a" * 5_000_000}" style="{"x:y;" * 200_000}">{WORDS}')
    ),
    ready("entities.html", WORDS, lambda: page("&lt;&#x1F600;&#0;&nosuch;&amp;" * 20_000 + WORDS)),
    failed(
        "script-only.html",
        "NO_TEXT",
        lambda: page("<script>" + "while(1);" * 10_000 + "</script><noscript>on</noscript>"),
    ),
    failed("open-comment.html", "NO_TEXT", lambda: b"<html><body><!-- " + b"- " * 500_000 + WORDS.encode()),
    ready("deep-list.md", WORDS, lambda: list_of_depth(3_000)),
    ready("deep-quotes.md", WORDS, lambda: b">" * 500_000 + WORDS.encode()),
    ready("brackets.md", WORDS, lambda: (b"[" * 300_000) + (b"](" * 100_000) + b"\n\n" + WORDS.encode()),
    ready("emphasis.md", WORDS, lambda: b"*a **a _a `a " * 100_000 + b"\n\n" + WORDS.encode()),
    ready("fences.md", WORDS, lambda: b"".join(b"`" * (3 + n % 400) + b"\n" for n in range(4_000)) + WORDS.encode()),
    ready("table-rule.md", WORDS, lambda: b"| a |\n|" + b"-|" * 200_000 + b"x\n\n" + WORDS.encode()),
    ready("table-rule-spaces.md", WORDS, lambda: b"| a |\n" + b"| - " + b" " * 400_000 + b"x\n\n" + WORDS.encode()),
    ready(
        "thematic.md", WORDS, lambda: b"- - " * 150_000 + b"x\n\n" + b"*" + b" " * 300_000 + b"x\n\n" + WORDS.encode()
    ),
    ready(
        "long-table.md", WORDS, lambda: b"| a | b |\n|---|---|\n" + b"| 1 | 2 |\n" * 200_000 + b"\n" + WORDS.encode()
    ),
    ready("blank-lines.md", WORDS, lambda: b"- a\n" + b"\n \t" * 400_000 + b"\n" + WORDS.encode()),
    ready("open-front-matter.md", WORDS, lambda: b"---\n" + b"title: a\n" * 100_000 + WORDS.encode()),
    ready("deep-brackets.py", WORDS, lambda: b"x = " + b"(" * 50_000 + b")" * 50_000 + b"\n# " + WORDS.encode()),
    ready("operators.py", WORDS, lambda: b"x = " + b"-" * 300_000 + b"1\n# " + WORDS.encode()),
    ready("deep.json", WORDS, lambda: b"[" * 500_000 + f'"{WORDS}"'.encode() + b"]" * 500_000),
    ready("comments.c", WORDS, lambda: b"// a\n" * 200_000 + b"int main(void) { }\n// " + WORDS.encode()),
)
