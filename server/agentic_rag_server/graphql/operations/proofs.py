"""Proofs of stored runs."""

import base64
from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.operations.proof import verify_run as verification
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.citations import Citation, show_citation
from agentic_rag_server.graphql.answering.runs import Run, show_run
from agentic_rag_server.graphql.erasure.erasures import DeletionCertificate, show_certificate
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema

QuoteState = strawberry.enum(
    verification.QuoteState,
    description="What became of a quote. VERIFIED: it stands in its source, letter by letter. CHANGED: other words "
    "stand there, or the text is not kept any more. ERASED: the document was erased. HIDDEN: the caller may not read "
    "the document.",
)


@strawberry.type(description="A citation of a run, and what became of its quote.")
class QuoteCheck:
    marker: int
    state: QuoteState  # type: ignore[valid-type]
    reason: str = strawberry.field(description="The state in words.")
    stands_now: bool = strawberry.field(description="Whether the newest version still shows the passage.")
    citation: Citation | None = strawberry.field(description="Null for a hidden one.")
    certificate: DeletionCertificate | None = strawberry.field(
        description="Of the erasure; null too where the document came back since."
    )


@strawberry.type(description="A run whose quotes were read back from their sources.")
class RunVerification:
    run: Run
    holds: bool = strawberry.field(description="Whether every quote is verified; true for a run that quotes nothing.")
    checks: list[QuoteCheck] = strawberry.field(description="By marker.")
    checked_at: datetime


@strawberry.type(description="A file that proves a run without server or network; docs/proof.md says how far.")
class RunProof:
    file_name: str
    content: str = strawberry.field(description="The bundle, a ZIP, in Base64.")
    key: str = strawberry.field(description="The public key (Ed25519) of the organisation, which signed it.")
    verification: RunVerification = strawberry.field(description="What was found when it was made.")


@strawberry.type
class ProofQuery:
    @field(
        Action.READ,
        right=Sight.ASKER,
        description="Read every quote of a run back from its source and compare it.",
    )
    async def verify_run(self, info: Info, id: strawberry.ID) -> RunVerification:
        """NOT_FOUND for an unknown run."""
        context, node = info.context, decode(id, NodeKind.RUN)
        found = await context.parts.verify_run.run(context.principal, context.ref(node), node.key)
        return _show_verification(found)

    @field(
        Action.READ,
        right=Sight.ASKER,
        description="A file that proves a run. It holds the blocks of each source that are quoted, with `whole` all of "
        "them; nothing of what was erased, or of what the caller may not read.",
    )
    async def prove_run(self, info: Info, id: strawberry.ID, whole: bool = False) -> RunProof:
        """NOT_FOUND for an unknown run; PROOF_TOO_LARGE, PROOF_OVERTAKEN."""
        context, node = info.context, decode(id, NodeKind.RUN)
        made = await context.parts.prove_run.run(context.principal, context.ref(node), node.key, whole=whole)
        return RunProof(
            file_name=f"proof-{node.key}.zip",
            content=base64.b64encode(made.content).decode(),
            key=made.key,
            verification=_show_verification(made.found),
        )


def _show_verification(found: verification.RunVerification) -> RunVerification:
    workspace_id = found.run.workspace.workspace_id
    checks = [_show_check(one, workspace_id) for one in found.checks]
    return to_schema(RunVerification, found, run=show_run(found.run), checks=checks)


def _show_check(check: verification.QuoteCheck, workspace_id: UUID) -> QuoteCheck:
    return to_schema(
        QuoteCheck,
        check,
        citation=None if check.citation is None else show_citation(check.citation, workspace_id),
        certificate=None if check.certificate is None else show_certificate(check.certificate),
    )
