"""Certificates of erasure and their proof in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.erasure import certificate
from agentic_rag.operations import findings as verification
from agentic_rag.operations.prove_erased import ErasureProof as Proof

FindingSeverity = strawberry.enum(
    verification.Severity, name="FindingSeverity", description="How bad a finding is; only errors count against it."
)


@strawberry.type(description="What an erasure did in one store.")
class ErasedStore:
    """A line of a certificate."""

    store: str
    count: int = strawberry.field(description="Rows, entries or blobs.")
    done: bool = strawberry.field(description="False while a job still has to empty it.")


@strawberry.type(description="A place that an erasure does not reach.")
class NotCovered:
    """A limit of a certificate."""

    place: str
    reason: str
    taken_at: datetime | None = strawberry.field(description="When that copy was made, for a single one.")


@strawberry.type(description="The proof of one erasure: numbers only, no word of the document.")
class DeletionCertificate:
    """What left which store."""

    corpus_version: int = strawberry.field(description="The first version without the document.")
    erased_at: datetime
    complete: bool = strawberry.field(description="Whether every store has followed.")
    stores: list[ErasedStore]
    not_covered: list[NotCovered]


@strawberry.type(description="Something in the stores that is not as it should be.")
class Finding:
    """One finding of a check."""

    store: str
    kind: str
    severity: FindingSeverity  # type: ignore[valid-type]
    message: str
    remedy: str


@strawberry.type(description="What every store says now of a document that was erased.")
class ErasureProof:
    """Result of `proveErased`."""

    erased: bool
    certificate: DeletionCertificate | None
    findings: list[Finding]


def show_certificate(shown: certificate.Certificate) -> DeletionCertificate:
    """A certificate of the domain as one of the schema."""
    return DeletionCertificate(
        corpus_version=shown.version,
        erased_at=shown.erased_at,
        complete=shown.is_complete,
        stores=[ErasedStore(store=one.store.value, count=one.count, done=one.done) for one in shown.stores],
        not_covered=[
            NotCovered(place=one.place, reason=one.reason, taken_at=one.taken_at) for one in shown.not_covered
        ],
    )


def show_proof(proof: Proof) -> ErasureProof:
    """A proof of the domain as one of the schema."""
    return ErasureProof(
        erased=proof.is_complete,
        certificate=None if proof.certificate is None else show_certificate(proof.certificate),
        findings=[
            Finding(store=one.store, kind=one.kind, severity=one.severity, message=one.message, remedy=one.remedy)
            for one in proof.findings
        ],
    )
