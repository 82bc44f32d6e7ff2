"""The audit log: one entry per act that an operator may have to account for."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from agentic_rag.kernel.public_ids import NodeKind, encode

_ID_NAMESPACE = UUID("6a1f0c52-3a5e-4c1e-9d0b-2f8f6f1f3b77")

_KINDS = {
    "document": NodeKind.DOCUMENT,
    "dead_letter": NodeKind.JOB,
    "snapshot": NodeKind.SNAPSHOT,
    "source": NodeKind.SOURCE,
    "thread": NodeKind.THREAD,
    "run": NodeKind.RUN,
}
"""The kind of an act's subject, by the first part of the act's name."""

SYSTEM_ACTOR = "system:jobs"
"""The actor of schedules and jobs."""


class AuditAction(enum.Enum):
    """The kind of an act."""

    UPLOAD_DOCUMENT = "document.upload"
    UPDATE_DOCUMENT = "document.update"
    CANCEL_JOB = "job.cancel"
    REINGEST_DOCUMENT = "document.reingest"
    READ_ORIGINAL = "document.original"
    READ_TEXT = "document.text"
    SEARCH_PASSAGES = "passages.search"
    """Passages were handed out, of the documents in the detail; answers are runs, which say so themselves."""
    DELETE_DOCUMENT = "document.delete"
    DELETE_THREAD = "thread.delete"
    DELETE_RUN = "run.delete"
    SET_DOCUMENT_ACCESS = "document.access"
    SET_DOCUMENT_WRITERS = "document.writers"
    TRANSFER_DOCUMENT = "document.owner"
    WITHDRAW_DOCUMENT = "document.withdraw"
    RESTORE_DOCUMENT = "document.restore"
    REPLAY_DEAD_LETTER = "dead_letter.replay"
    PURGE_DEAD_LETTER = "dead_letter.purge"
    PURGE_MESSAGE = "undecodable_message.purge"
    SWITCH_EMBEDDINGS = "embeddings.switch"
    CANCEL_SWITCH = "embeddings.cancel"
    CALIBRATE_SUPPORT = "support.calibrate"
    CALIBRATE_SIMILARITY = "similarity.calibrate"
    EVALUATE = "evaluation.start"
    REBUILD_GRAPH = "graph.rebuild"
    SNAPSHOT = "snapshot.create"
    DELETE_SNAPSHOT = "snapshot.delete"
    RESTORE = "snapshot.restore"
    ADD_SOURCE = "source.add"
    SYNC_SOURCE = "source.sync"
    REMOVE_SOURCE = "source.remove"
    CRAWL = "web.crawl"
    SEARCH_WEB = "web.search"
    SET_PROVIDER_KEY = "provider_key.set"
    REMOVE_PROVIDER_KEY = "provider_key.remove"
    SET_BUDGET = "budget.set"
    REACH_SOFT_LIMIT = "budget.soft_limit"
    SET_RATE_LIMITS = "rate_limits.set"
    CHANGE_MODELS = "models.change"
    ROTATE_MASTER_KEY = "provider_key.rotate"
    CREATE_WORKSPACE = "workspace.create"
    RENAME_WORKSPACE = "workspace.rename"
    CHANGE_WORKSPACE = "workspace.settings"
    SET_WORKSPACE_ACCESS = "workspace.access"
    DELETE_WORKSPACE = "workspace.delete"
    RENAME_ORGANISATION = "organisation.rename"
    DELETE_ORGANISATION = "organisation.delete"
    CREATE_ORGANISATION = "organisation.create"
    CHANGE_ORGANISATION = "organisation.settings"
    CREATE_API_KEY = "api_key.create"
    REVOKE_API_KEY = "api_key.revoke"


@dataclass(frozen=True, slots=True)
class AuditCaller:
    """With what, from where and with which rights an act was done; kept beside its detail."""

    credential: str
    address: str
    role: str
    groups: str
    """Separated by commas."""
    scopes: str | None
    """Separated by commas; None: all rights of the role."""


CALLER = "caller."
"""Begins the names of a caller's properties in a stored detail."""


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
    caller: AuditCaller | None = None
    """None for schedules, jobs and the command line."""

    @property
    def stored_detail(self) -> dict[str, str | int | bool | None]:
        """The detail with the caller's properties."""
        told = {} if self.caller is None else asdict(self.caller)
        return {**self.detail, **{f"{CALLER}{name}": value for name, value in told.items() if value}}


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted; what is None is not looked at."""

    workspace_id: UUID | None = None
    actor: str | None = None
    """As it is stored: `user:ada`."""
    action: str | None = None
    """The whole name of an act, or its first part: `document`."""
    since: datetime | None = None
    until: datetime | None = None
    """Not included."""


EVERY_ENTRY = AuditFilter()

_LONGEST_SHOWN = 200
"""Characters of a setting in a detail; longer ones are texts, of which only the length is told."""


def differences(before: Any, after: Any) -> dict[str, str]:
    """What changed between two values of one dataclass, as the properties `before` and `after` of a detail."""
    names = [one.name for one in fields(after) if getattr(before, one.name) != getattr(after, one.name)]
    return {
        "before": json.dumps({name: _shown(getattr(before, name)) for name in names}),
        "after": json.dumps({name: _shown(getattr(after, name)) for name in names}),
    }


def _shown(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"({len(text)} characters)"


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

    @property
    def public_subject(self) -> str:
        """The public id as lists show it; the name for subjects without one (an embedding space, a workspace)."""
        kind = _KINDS.get(self.action.partition(".")[0])
        if kind is None or self.workspace_id is None:
            return self.subject
        # A snapshot belongs to its source workspace, not to the workspace restored from it.
        source = self.detail.get("source")
        try:
            return encode(kind, self.workspace_id if source is None else UUID(str(source)), UUID(self.subject))
        except ValueError:
            return self.subject

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the caller, by the names of `AuditCaller`."""
        return {name.removeprefix(CALLER): str(value) for name, value in self.detail.items() if name.startswith(CALLER)}

    @property
    def told(self) -> Mapping[str, str | int | bool | None]:
        """The detail without the caller."""
        return {name: value for name, value in self.detail.items() if not name.startswith(CALLER)}
