"""Formats an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from textwrap import fill, indent
from typing import Any

from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.output.terminal import one_line

_WIDTH = 100
_WITHOUT_LINES = frozenset(
    {
        ".csv",
        ".docx",
        ".eml",
        ".epub",
        ".htm",
        ".msg",
        ".zip",
        ".html",
        ".ipynb",
        ".ods",
        ".odt",
        ".rtf",
        ".tsv",
        ".xhtml",
        ".xlsm",
        ".xlsx",
    }
)
"""Files whose lines nobody sees."""

RECOGNISED = "recognised in a picture of the page (OCR): compare the words with it"
_LINKS = {
    "NAMES": "names",
    "NAMED_BY": "is named in",
    "SHARES": "shares “{via}” with",
    "SAME_TITLE": "has the title of",
    "COVERS": "leaves open what is in",
}
_LEADS = {
    "ABSTAINED": "No answer",
    "PARTIALLY_GROUNDED": "Incomplete",
    "UNCERTAIN": "Maybe no answer",
    "UNDERSPECIFIED": "Several readings",
}


def answer_json(run: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form of a run of the GraphQL API. Its field names are stable."""
    return {
        **{name: run[name] for name in ("question", "answer", "outcome", "abstention", "citations", "degraded")},
        "runId": run["id"],
        "corpusVersion": run["versions"]["corpusVersion"],
        "cache": run["cache"],
        "seconds": run["seconds"],
        "stageSeconds": {stage["stage"]: stage["seconds"] for stage in run["stages"]},
        "standaloneQuestion": run["debug"]["standaloneQuestion"],
        "outside": run.get("outside"),
    }


def answer_text(run: Mapping[str, Any]) -> str:
    """The answer with numbered citations, or the abstention with its reason and the nearest passages."""
    standalone, abstention = run["debug"]["standaloneQuestion"], run["abstention"]
    parts: list[str] = [] if standalone is None else [_wrap(f"Read as: {standalone}")]
    if run["answer"]:
        parts.append(_wrap(run["answer"]))
        if run["outcome"] != "GROUNDED":
            parts.append(f"({run['outcome'].lower().replace('_', ' ')})")
        parts += [_citation_text(one, dated=run["outcome"] == "CONFLICTING") for one in run["citations"]]
    if abstention is not None:
        lead = _LEADS[run["outcome"]]
        parts.append(_wrap(f"{lead} ({abstention['reason']}): {abstention['explanation']}"))
        if abstention["nearest"]:
            parts.append("The nearest passages:")
        parts += [_citation_text(one) for one in abstention["nearest"]]
    if run["degraded"]:
        parts.append(f"Degraded, missing: {', '.join(map(_missing, run['degraded']))}")
    if run.get("outside"):
        parts.append(_wrap(_outside_text(run["outside"])))
    return "\n\n".join(part for part in parts if part)


def citation_place(citation: Mapping[str, Any]) -> str:
    """File with page, headings (of a sheet: its name and the rows) or lines, in words."""
    path, first, last = one_line(citation["sourcePath"]), citation["lineStart"], citation["lineEnd"]
    if citation["page"] is not None:
        return f"{path}, page {citation['page']}"
    if PurePath(path).suffix.lower() in _WITHOUT_LINES:
        return ", ".join((path, *filter(None, (" › ".join(citation["headingPath"]),))))
    return f"{path}, line {first}" if last == first else f"{path}, lines {first}–{last}"


def path_text(path: Sequence[Mapping[str, Any]]) -> str:
    """A path in one line: title —link→ title; empty without hops."""
    if not path:
        return ""
    steps = (f"—{_LINKS[hop['kind']].format(via=hop['via'])}→ {hop['toTitle']}" for hop in path)
    return " ".join((path[0]["fromTitle"], *steps))


def _outside_text(outside: Mapping[str, Any]) -> str:
    found = (
        f"Looked outside: searches answered: {outside['searches']}, "
        f"{format_count(outside['pages'], 'page')} fetched, {outside['ready']} new"
    )
    late = f", {outside['pending']} still being ingested: ask again" if outside["pending"] else ""
    refused = f". Not done: {', '.join(outside['refusals'])}" if outside["refusals"] else ""
    return f"{found}{late}{refused}."


def _missing(part: str) -> str:
    return f"{part} ({'rag graph status' if part == Dependency.GRAPH.value else 'rag doctor'} says why)"


def _citation_text(citation: Mapping[str, Any], *, dated: bool = False) -> str:
    proof = "quote verified" if citation["verified"] else "QUOTE NOT VERIFIED"
    quoted = indent(fill(f"“{' '.join(citation['snippet'].split())}”", _WIDTH - 4), "    ")
    read = f", read {citation['readAt'][:10]}" if dated and citation["readAt"] else ""
    head = f"[{citation['marker']}] {citation_place(citation)}{read}  (score {citation['score']:.2f}, {proof})"
    said = f", published {citation['published']}" if citation.get("published") else ""
    page = [f"    {citation['url']}, fetched {citation['fetchedAt'][:16]}{said}"] if citation.get("fetchedAt") else []
    symbol = citation.get("symbol")
    inside = [f"    in {symbol['name']}, lines {symbol['lineStart']}–{symbol['lineEnd']}"] if symbol else []
    reached = [f"    reached: {path_text(citation['path'])}"] if citation["path"] else []
    pictured = [f"    {RECOGNISED}"] if citation.get("recognised") else []
    unread = (citation.get("document") or {}).get("unreadPages")
    missing = [f"    {unread_text(unread)} of this file could not be read"] if unread else []
    return "\n".join((head, quoted, *page, *inside, *reached, *pictured, *missing))


def unread_text(unread: Mapping[str, Any]) -> str:
    """How much of a file could not be read: "3 of 19 pages", "2 pictures"."""
    count = unread["count"]
    if count == unread["pages"]:
        return format_count(count, unread["unit"])
    return f"{count} of {format_count(unread['pages'], unread['unit'])}"


def _wrap(text: str) -> str:
    return "\n".join(fill(line, _WIDTH) for line in text.splitlines())
