"""The audit log: one entry per act that an operator may have to account for."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid5

_ID_NAMESPACE = UUID("6a1f0c52-3a5e-4c1e-9d0b-2f8f6f1f3b77")

SYSTEM_ACTOR = "system:jobs"
"""The actor of schedules and jobs."""


class AuditAction(enum.Enum):
    """The kind of an act."""

    UPLOAD_DOCUMENT = "document.upload"
    REINGEST_DOCUMENT = "document.reingest"
    DELETE_DOCUMENT = "document.delete"
    SET_DOCUMENT_ACCESS = "document.access"
    SET_DOCUMENT_WRITERS = "document.writers"
    TRANSFER_DOCUMENT = "document.owner"
    REPLAY_DEAD_LETTER = "dead_letter.replay"
    PURGE_DEAD_LETTER = "dead_letter.purge"
    SWITCH_EMBEDDINGS = "embeddings.switch"
    CANCEL_SWITCH = "embeddings.cancel"
    CALIBRATE_SUPPORT = "support.calibrate"
    EVALUATE = "evaluation.start"
    SNAPSHOT = "snapshot.create"
    DELETE_SNAPSHOT = "snapshot.delete"
    RESTORE = "snapshot.restore"
    SET_PROVIDER_KEY = "provider_key.set"
    REMOVE_PROVIDER_KEY = "provider_key.remove"
    SET_BUDGET = "budget.set"
    REACH_SOFT_LIMIT = "budget.soft_limit"
    SET_RATE_LIMITS = "rate_limits.set"
    CHANGE_MODELS = "models.change"
    ROTATE_MASTER_KEY = "provider_key.rotate"
    CREATE_WORKSPACE = "workspace.create"
    CHANGE_WORKSPACE = "workspace.settings"
    CHANGE_ORGANISATION = "organisation.settings"
    CREATE_API_KEY = "api_key.create"
    REVOKE_API_KEY = "api_key.revoke"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One act. `subject` is the id of its object as the database has it (the name, for an embedding space); readers of
    the log convert it to the public id. `detail` contains ids, codes and counts, never content.
    """

    action: AuditAction
    subject: str
    actor: str = SYSTEM_ACTOR
    workspace_id: UUID | None = None
    detail: Mapping[str, str | int | bool | None] = field(default_factory=dict[str, str | int | bool | None])
    trace_id: str | None = None


def idempotent_id(entry: AuditEntry, key: str) -> UUID:
    """The id of an entry that is written once per organisation, however many processes write it. `key` distinguishes
    the entries that may each be written once about the subject.
    """
    return uuid5(_ID_NAMESPACE, f"{entry.action.value} {entry.subject} {key}")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A stored entry. `action` is text, since another version of the product may know more actions."""

    audit_id: UUID
    created_at: datetime
    action: str
    subject: str
    actor: str
    workspace_id: UUID | None
    detail: Mapping[str, str | int | bool | None]
    trace_id: str | None
