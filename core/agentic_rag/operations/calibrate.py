"""Calibrates the support threshold below which a workspace abstains."""

from __future__ import annotations

import random

from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditAction
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


class CalibrateSupport:
    """Samples passages to generate questions from, and stores the threshold."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def passages(self, workspace: WorkspaceRef, most: int, seed: int) -> list[Chunk]:
        """At most `most` readable passages, sampled uniformly; the same corpus and seed give the same passages.

        Errors: `NotFound`.
        """
        access = (DEFAULT_ACCESS_ID,)
        async with self._database.snapshot(workspace) as snapshot:
            ordinals = sorted(await snapshot.documents.ordinals_matching(DocumentFilter(), access))
            drawn = random.Random(seed).sample(ordinals, min(most, len(ordinals)))
            return await snapshot.documents.chunks(drawn, access)

    async def keep(self, workspace: WorkspaceRef, threshold: float | None, actor: str = SYSTEM_ACTOR) -> EmbeddingSpace:
        """From the next question on, abstain below `threshold` (0 to 1; None: the process's default). Returns the
        embedding space to which the threshold applies. Errors: `NotFound` if nothing is embedded yet.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            active = await transaction.workspaces.active_space(workspace)
            if active is None:
                raise NotFound("The workspace has no documents to calibrate on.", code="SPACE_GONE")
            await transaction.spaces.set_support_threshold(workspace, active.space_id, threshold)
            await audit(
                transaction,
                self._telemetry,
                AuditAction.CALIBRATE_SUPPORT,
                workspace,
                active.space.name,
                actor,
                threshold=None if threshold is None else f"{threshold:.6f}",
            )
        return active.space
