"""Certificates of erasure and their proof in the schema."""

from dataclasses import replace
from datetime import datetime

import strawberry

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.document_ids import find_id
from agentic_rag.erasure import certificate as certificates
from agentic_rag.erasure import delete as deletions
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.operations import findings as verification
from agentic_rag.operations.prove_erased import ErasureProof as Proof
from agentic_rag_server.auth.roles import Action, can_perform
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema

FindingSeverity = strawberry.enum(
    verification.Severity, name="FindingSeverity", description="How bad a finding is; only errors count against it."
)


@strawberry.type(description="What an erasure did in one store.")
class ErasedStore:
    store: str
    count: int | None = strawberry.field(
        description="Rows, entries or blobs; null where it would tell of documents and questions of others, for admins "
        "never."
    )
    done: bool = strawberry.field(description="False while a job still has to empty it.")


@strawberry.type(description="A place that an erasure does not reach.")
class NotCovered:
    place: str
    reason: str
    taken_at: datetime | None = strawberry.field(description="When that copy was made, for a single one.")


@strawberry.type(description="The proof of one erasure: numbers only, no word of the document.")
class DeletionCertificate:
    corpus_version: int = strawberry.field(description="The first version without the document.")
    erased_at: datetime
    complete: bool = strawberry.field(description="Whether every store has followed.")
    stores: list[ErasedStore]
    not_covered: list[NotCovered]


@strawberry.type(description="Something in the stores that is not as it should be.")
class Finding:
    store: str
    kind: str
    severity: FindingSeverity  # type: ignore[valid-type]
    subject: str = strawberry.field(description="What it is about: an id, or a source path.")
    message: str
    remedy: str


@strawberry.type(description="What every store says now of a document that was erased.")
class ErasureProof:
    erased: bool
    certificate: DeletionCertificate | None
    past_certificates: list[DeletionCertificate] = strawberry.field(
        description="Of erasures after which the document came back, newest first; shown to admins."
    )
    findings: list[Finding]


@strawberry.type
class ErasureQuery:
    @field(
        Action.FIND_BY_PATH,
        right=Sight.ORGANISATION,
        description="The id of the document at a source path, or of the one that was erased there last: what "
        "`proveErased` takes. Takes the role admin.",
    )
    async def document_id(self, info: Info, workspace_id: strawberry.ID, source_path: str) -> strawberry.ID | None:
        workspace = await info.context.workspace(workspace_id)
        path = require_no_nul(source_path, "sourcePath")
        async with info.context.parts.database.transaction(workspace.org_id) as transaction:
            found = await find_id(transaction, workspace, path)
        return None if found is None else strawberry.ID(encode(NodeKind.DOCUMENT, workspace.workspace_id, found))

    @field(
        Action.READ,
        Action.DELETE_DOCUMENT,
        right=DocumentRight.KNOW,
        document="document_id",
        description="Look into every store for what an erasure may have left. Takes the role member.",
    )
    async def prove_erased(self, info: Info, document_id: strawberry.ID) -> ErasureProof:
        """NOT_FOUND for a document that was never here."""
        context = info.context
        node = decode(document_id, NodeKind.DOCUMENT, path=("documentId",))
        proof = await context.parts.prove_erasure.run(context.ref(node), node.key)
        if proof.certificate is not None:
            shown = await deletions.show_certificate(
                context.parts.database, context.ref(node), context.principal, proof.certificate
            )
            proof = replace(proof, certificate=shown)
        return show_proof(proof, has_past=can_perform(context.principal, Action.READ_AUDIT_LOG))


def show_certificate(certificate: certificates.Certificate) -> DeletionCertificate:
    """The certificate of an erasure."""
    return to_schema(
        DeletionCertificate,
        certificate,
        corpus_version=certificate.version,
        complete=certificate.is_complete,
        stores=[to_schema(ErasedStore, one, store=one.store.value) for one in certificate.stores],
    )


def show_proof(proof: Proof, *, has_past: bool) -> ErasureProof:
    """What every store says of an erased document. Earlier certificates are for those who know of every document: who
    could read it then may not now, and the reverse.
    """
    certificate = None if proof.certificate is None else show_certificate(proof.certificate)
    past = [show_certificate(one) for one in proof.past] if has_past else []
    return to_schema(ErasureProof, proof, erased=proof.is_complete, certificate=certificate, past_certificates=past)
