"""The proof of a run as a file that stands for itself: what was answered, what it quotes, and enough of each source
to find the quotes in it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from agentic_rag.erasure.certificate import certificate_json
from agentic_rag.operations.proof import check_bundle
from agentic_rag.operations.proof.verify_run import QuoteCheck, QuoteState, RunVerification

_README = """The proof of a run of agentic-rag: that its quotes stand in their sources.

  python check_bundle.py BUNDLE.zip [--key HEX]

finds every quote in its source again and every change of this file, with Python's standard library alone. Take the
script from the agentic-rag wheel (agentic_rag/operations/proof/check_bundle.py) if you do not trust this copy.
docs/proof.md says what a bundle proves and what it does not.
"""

Signer = Callable[[bytes], tuple[str, str]]
"""The public key and the signature of a message, both in hexadecimal letters."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The stored text that citations quote. `original`: the SHA-256 of the file behind it, where that is kept."""

    document_id: UUID
    text: str
    original: str | None = None


@dataclass(slots=True)
class _Sources:
    whole: bool
    made: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, revision: UUID, source: SourceText, spans: Sequence[tuple[int, int]]) -> None:
        """The blocks of a text in which the spans lie, each with its way to the root; `whole` takes all of them."""
        blocks = check_bundle.blocks_of(source.text)
        levels = check_bundle.levels_of([check_bundle.leaf(block) for block in blocks])
        wanted = set(range(len(blocks))) if self.whole else set[int]()
        for start, end in spans:
            wanted.update(range(start // check_bundle.BLOCK, max(end - 1, start) // check_bundle.BLOCK + 1))
        self.made[str(revision)] = {
            "document": str(source.document_id),
            "characters": len(source.text),
            "textSha256": check_bundle.digest(source.text.encode()),
            "originalSha256": source.original,
            "root": levels[-1][0].hex(),
            "blocks": {
                str(place): {"text": blocks[place], "path": check_bundle.path_of(levels, place)}
                for place in sorted(wanted)
            },
        }


def make_bundle(
    found: RunVerification, sources: Mapping[UUID, SourceText], shown_version: int, sign: Signer, *, whole: bool = False
) -> bytes:
    """The bundle: a ZIP that is the same for the same proof. `sources` are by revision; `whole` takes all of their
    text, else only the blocks that are quoted. `shown_version` is the corpus version as the caller is shown it.
    """
    run, held = found.run, _Sources(whole)
    quoted = [one for one in found.checks if one.state is QuoteState.VERIFIED and one.citation is not None]
    for revision, source in sources.items():
        spans = [_span(one) for one in quoted if one.citation is not None and one.citation.revision_id == revision]
        if spans:
            held.add(revision, source, spans)
    script = Path(check_bundle.__file__).read_bytes()
    files = {check_bundle.SCRIPT: script, check_bundle.README: _README.encode()}
    proof: dict[str, Any] = {
        "format": check_bundle.FORMAT,
        "madeAt": found.checked_at.isoformat(),
        "files": {name: check_bundle.digest(content) for name, content in files.items()},
        "run": {
            "id": str(run.run_id),
            "workspace": str(run.workspace.workspace_id),
            "question": run.question,
            "answer": run.answer.text,
            "outcome": run.answer.outcome.value,
            "createdAt": run.created_at.isoformat(),
            "corpusVersion": shown_version,
            "pipelineVersion": run.versions.pipeline_version,
            "weightsVersion": run.versions.weights_version,
            "models": list(run.versions.models),
        },
        "citations": [_citation(one) for one in found.checks],
        "sources": held.made,
        "certificates": {
            str(one.citation.document_id): certificate_json(one.certificate)
            for one in found.checks
            if one.citation is not None and one.certificate is not None
        },
    }
    proof["key"] = sign(b"")[0]
    seal = hashlib.sha256(check_bundle.sealed(proof))
    proof |= {"seal": seal.hexdigest(), "signature": sign(seal.digest())[1]}
    return check_bundle.pack({check_bundle.PROOF: check_bundle.canonical(proof), **files})


def _span(check: QuoteCheck) -> tuple[int, int]:
    span = check.citation.source_span if check.citation is not None else None
    return (0, 0) if span is None else (span.start, span.end)


def _citation(check: QuoteCheck) -> dict[str, Any]:
    made: dict[str, Any] = {"marker": check.marker, "state": check.state.value, "reason": check.reason}
    cited = check.citation
    if cited is None:
        return made
    made["document"] = str(cited.document_id)
    if check.state is QuoteState.ERASED:
        return made
    made |= {
        "title": cited.title,
        "sourcePath": cited.source_path,
        "url": cited.url,
        "page": cited.page,
        "lines": [cited.line_start, cited.line_end],
        "headingPath": list(cited.heading_path),
        "readAt": None if cited.read_at is None else cited.read_at.isoformat(),
        "source": str(cited.revision_id),
        "span": list(_span(check)),
        "quote": cited.snippet,
        "answerSpans": [[span.start, span.end] for span in cited.answer_spans],
        "standsNow": check.stands_now,
    }
    return made
