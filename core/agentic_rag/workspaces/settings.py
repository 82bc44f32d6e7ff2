"""Settings of a workspace; None: the process's value applies."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.workspaces.chunk_profiles import chunk_profile
from agentic_rag.workspaces.context_template import ContextTemplate
from agentic_rag.workspaces.rag_config import RagConfig
from agentic_rag.workspaces.web_access import WebAccess

MAX_INLINE_CHARACTERS = 50_000
"""Most characters of a workspace's plain-text guidelines; a prompt takes 2,000 tokens of them."""

MAX_HISTORY_DAYS = 3650

LEAST_DAYS = {"history_days": 0, "runs_days": 1, "jobs_days": 7, "usage_days": 32, "audit_days": 30}
"""Fewest days that each may be kept: idempotency keys of uploads name jobs for 7 days, budgets count months."""

MAX_DIMENSIONS = 4000
"""As `models.embedding.space.MAX_DIMENSIONS`."""


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """Per-workspace overrides. Raises `InvalidInput` with the path of the value that is out of range."""

    chunk_profile: str | None = None
    history_days: int | None = None
    """Days for which superseded revisions stay readable; 0: not at all."""
    inline_guidelines: str | None = None
    """Plain-text guidelines, used when the documents contain none."""
    rag_config: RagConfig | None = None
    budget: SpendingLimits = SpendingLimits()
    embedding_dimensions: int | None = None
    """Dimensions of the workspace's vectors, whatever the model has: shorter vectors are padded with zeros."""
    runs_days: int | None = None
    jobs_days: int | None = None
    """Days for which finished jobs stay, with their attempts; dead letters stay until an operator purges them."""
    usage_days: int | None = None
    audit_days: int | None = None
    """None: for ever."""
    web: WebAccess = WebAccess()
    templates: tuple[ContextTemplate, ...] = ()
    """Of prompt sections, each with its last versions."""

    def __post_init__(self) -> None:
        if self.chunk_profile is not None:
            chunk_profile(self.chunk_profile)
        if self.embedding_dimensions is not None and not 1 <= self.embedding_dimensions <= MAX_DIMENSIONS:
            raise InvalidInput(f"`embeddingDimensions` takes 1 to {MAX_DIMENSIONS}.", path=("embeddingDimensions",))
        for name, least in LEAST_DAYS.items():
            days: int | None = getattr(self, name)
            if days is not None and not least <= days <= MAX_HISTORY_DAYS:
                shown = name.replace("_d", "D")
                raise InvalidInput(f"`{shown}` takes {least} to {MAX_HISTORY_DAYS}.", path=(shown,))
        if self.inline_guidelines is not None and len(self.inline_guidelines) > MAX_INLINE_CHARACTERS:
            raise InvalidInput(
                f"`inlineGuidelines` takes at most {MAX_INLINE_CHARACTERS} characters.", path=("inlineGuidelines",)
            )
