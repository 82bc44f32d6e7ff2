"""Makes the bundle that proves a run without server or network."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from hmac import new as keyed_hash
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agentic_rag.documents.document import SpanRequest
from agentic_rag.documents.originals import original_behind
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import InvalidInput, Retryable
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.proof.bundle import SourceText, make_bundle
from agentic_rag.operations.proof.verify_run import QuoteState, RunVerification, VerifyRun
from agentic_rag.tenancy.access import read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit_read
from agentic_rag.tenancy.shown_versions import show_versions

MAX_CHARACTERS = 20_000_000
"""Of all cited sources together: they are read whole, to tell their hash."""
_ALL = 2**31 - 1
_PURPOSE = b"agentic-rag proof key 1"


@dataclass(frozen=True, slots=True)
class RunProof:
    """A bundle, the public key that it is signed with, and what was found when it was made."""

    content: bytes
    key: str
    found: RunVerification


@dataclass(frozen=True, slots=True)
class ProveRun:
    """The use case behind `proveRun` and `rag prove`. Whose text is in a bundle is in the audit log."""

    database: Database
    verify: VerifyRun
    telemetry: Telemetry

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, *, whole: bool = False
    ) -> RunProof:
        """Prove a run to a caller who may see it: what he may not read, and what was erased, is not in the bundle.
        `whole` puts in all of each quoted source instead of the blocks around the quotes.

        Errors: `NotFound` code RUN_NOT_FOUND, `InvalidInput` code PROOF_TOO_LARGE, `Retryable` code PROOF_OVERTAKEN
        where a document was erased meanwhile, `DependencyUnavailable`.
        """
        found = await self.verify.run(principal, workspace, run_id)
        sources = await self._sources(principal, found)
        (version,) = await show_versions(
            self.database, workspace, read_identity(principal), [found.run.versions.corpus_version]
        )
        signer = await self._signer(workspace)
        bundle = make_bundle(found, sources, version, signer.sign, whole=whole)
        again = await self.verify.run(principal, workspace, run_id)
        if [one.state for one in again.checks] != [one.state for one in found.checks]:
            raise Retryable(
                "A document of this run was changed, hidden or erased while the proof was made: ask again.",
                code="PROOF_OVERTAKEN",
            )
        fetched = {page.revision_id for page in found.run.answer.debug.fetched}
        act, who, told = AuditAction.READ_TEXT, principal.subject_id, {"run": str(run_id), "whole": whole}
        for document_id in {one.document_id for revision, one in sources.items() if revision not in fetched}:
            await audit_read(self.database, self.telemetry, act, workspace, document_id, who, **told)
        return RunProof(bundle, signer.key, found)

    async def _sources(self, principal: Principal, found: RunVerification) -> dict[UUID, SourceText]:
        """The text of each quoted source by revision, with the hash of the file behind it, where that is kept."""
        run = found.run
        sources = {page.revision_id: page.text for page in run.answer.debug.fetched}
        versions = dict[UUID, str]()
        quoted = [one.citation for one in found.checks if one.state is QuoteState.VERIFIED and one.citation is not None]
        documents = {one.revision_id: one.document_id for one in quoted}
        wanted = [one for one in documents if one not in sources]
        total = sum(len(sources.get(one, "")) for one in documents)
        async with self.database.snapshot(run.workspace, readers=read_identity(principal)) as snapshot:
            for revision in wanted:
                (span,) = await snapshot.documents.revision_spans([SpanRequest(revision, 0, _ALL)])
                sources[revision], versions[revision] = ("", "") if span is None else (span.text, span.parser_version)
                total += len(sources[revision])
                if total > MAX_CHARACTERS:
                    raise InvalidInput(
                        f"The sources of this run have more than {format_bytes(MAX_CHARACTERS)} of text, which one "
                        "proof may hold.",
                        code="PROOF_TOO_LARGE",
                        path=("id",),
                    )
        async with self.database.transaction(run.workspace.org_id) as transaction:
            known = await transaction.documents.get_many(run.workspace, [*set(documents.values())])
            kept = {one: await transaction.originals.of(run.workspace, one) for one in known}
        made: dict[UUID, SourceText] = {}
        for revision, document_id in documents.items():
            document = known.get(document_id)
            is_published = document is not None and document.revision_id == revision
            original = document.content_hash if document is not None and is_published else None
            held = original_behind(document_id, revision, versions.get(revision, ""), kept.get(document_id, ()))
            original = original if held is None else held.content_hash
            made[revision] = SourceText(document_id, sources[revision], original.hex() if original else None)
        return made

    async def _signer(self, workspace: WorkspaceRef) -> _ProofSigner:
        async with self.database.transaction(workspace.org_id) as transaction:
            secret = await transaction.documents.id_key(workspace)
        return _ProofSigner(keyed_hash(secret, _PURPOSE, sha256).digest())


class _ProofSigner:
    """Signs for an organisation with a key that follows from its secret."""

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.key = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()

    def sign(self, message: bytes) -> tuple[str, str]:
        """The public key and the signature of a message."""
        return self.key, self._private.sign(message).hex()
