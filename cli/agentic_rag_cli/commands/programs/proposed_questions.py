"""Questions that someone might ask of a folder: made from what its documents define, measure, date and head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import SpanRequest
from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import System

OPENING_CHARACTERS = 20_000
DOCUMENTS_TRIED = 20
PROPOSED = 3
DEFINITION, HEADING = 4, 5
"""Ranks after those of `_FORMS`, whose last form is a definition too."""

_LINES = re.compile(r"[^\n]+")
_SENTENCE = re.compile(r"[A-Z](?:[^.!?\n|#]|\.(?=\d)){20,240}[.!?](?=\s|$)")
_THING = r"(?P<thing>(?!(?:following|same|first|second|last|next)\b)[a-z][a-z-]*(?: [a-z][a-z-]*){1,5})"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"^The {_THING} (?P<verb>is|was) (?:at most |at least |about )?[£$€]?\d"), "What {verb} the {thing}?"),
    (
        re.compile(rf"^The {_THING} was (?P<verb>built|founded|opened|commissioned|signed|adopted) (?:in|on) "),
        "When was the {thing} {verb}?",
    ),
    (
        re.compile(
            r"^(?P<thing>[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}) was (?P<verb>built|founded|opened|commissioned) (?:in|on) "
        ),
        "When was {thing} {verb}?",
    ),
    (
        re.compile(
            r"^(?:The )?[\w ]{3,50}? (?P<verb>manages|leads|approves|issues|signs off|coordinates|owns) "
            r"(?P<thing>(?:the|all|every) [a-z][a-z -]{4,50}?)(?: by| in| on| at| for| before| after| each|[.,])"
        ),
        "Who {verb} {thing}?",
    ),
    (re.compile(r"^(?:An? )?(?P<thing>[A-Z]?[a-z-]+(?: [a-z-]+){0,2}) is an? [a-z]"), "What is {thing}?"),
)
_DEFINED = re.compile(
    r"^(?:[-*] )?\*\*(?P<thing>[A-Z][a-z]{3,}(?: [A-Za-z][a-z]{3,}){0,2})[.:]?\*\*[.:]?\s*(?:[:—–-]|is\b|means\b|[A-Z])"
)
_HEADING = re.compile(r"^#{2,4} (?:[\d.]+ )?(?P<thing>[A-Z][A-Za-z]+(?: [a-z-]+){1,4})$")
_EMPTY = re.compile(
    r"\b(?:overview|introduction|summary|contents|references?|appendix|annex|other business|further|read)\b", re.I
)


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question and the document that it was made from."""

    question: str
    source_path: str


async def propose_questions(system: System, workspace: WorkspaceRef) -> list[ProposedQuestion]:
    """Up to `PROPOSED` questions of different documents and, where it can be, of different forms. Errors: `NotFound`
    code NOTHING_TO_ASK.
    """
    ready = await system.documents(workspace, (DocumentStatus.READY,), DOCUMENTS_TRIED)
    made = {one.source_path: list(questions_from(await _opening(system, one), one.title)) for one in ready}
    chosen: list[ProposedQuestion] = []
    used: set[str] = set()
    for path, found in sorted(made.items(), key=lambda item: min((rank for rank, _ in item[1]), default=9)):
        best = min(found, key=lambda one: (one[1].split()[0] in used, one[0]), default=None)
        if best is not None and len(chosen) < PROPOSED:
            used.add(best[1].split()[0])
            chosen.append(ProposedQuestion(best[1], path))
    if not chosen:
        raise NotFound(
            f"None of the first {len(ready)} READY documents holds anything to ask about: give a question with "
            "--question.",
            code="NOTHING_TO_ASK",
        )
    return chosen


def questions_from(text: str, title: str) -> Iterator[tuple[int, str]]:
    """Questions that the text answers, each with the rank of its form: what states a value first, headings last."""
    for line in _LINES.finditer(text):
        term, heading = _DEFINED.match(line[0]), _HEADING.match(line[0])
        if term is not None:
            yield DEFINITION, f"What is meant by “{term['thing']}”?"
        if heading is not None and not _EMPTY.search(heading["thing"]):
            thing = heading["thing"]
            yield HEADING, f"What does “{title}” say about {thing[0].lower()}{thing[1:]}?"
    for sentence in _SENTENCE.finditer(text):
        for rank, (pattern, form) in enumerate(_FORMS):
            found = pattern.match(sentence[0])
            if found is not None:
                yield rank, form.format(**found.groupdict())
                break


async def _opening(system: System, document: Document) -> str:
    """The beginning of the published text; empty when nothing is published."""
    if document.revision_id is None:
        return ""
    async with system.container.database.snapshot(document.workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(document.revision_id, 0, OPENING_CHARACTERS)])
    return spans[0].text if spans[0] is not None else ""
