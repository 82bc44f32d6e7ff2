"""Certificates of erasure and their proof in the schema."""

from datetime import datetime

import strawberry

from agentic_rag.erasure import certificate as certificates
from agentic_rag.operations import findings as verification
from agentic_rag.operations.prove_erased import ErasureProof as Proof
from agentic_rag_server.graphql.http.fields import to_schema

FindingSeverity = strawberry.enum(
    verification.Severity, name="FindingSeverity", description="How bad a finding is; only errors count against it."
)


@strawberry.type(description="What an erasure did in one store.")
class ErasedStore:
    store: str
    count: int = strawberry.field(description="Rows, entries or blobs.")
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
