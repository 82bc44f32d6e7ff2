"""Administration of workspaces, their settings, and the features of organisations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction, differences
from agentic_rag.tenancy.principals import WorkspaceRef, validate_name
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation, OrganisationSettings
from agentic_rag.workspaces.ports import OrganisationRegister
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """The workspace that a caller requests."""

    name: str
    kind: WorkspaceKind = WorkspaceKind.GENERAL
    external_ref: str | None = None
    settings: WorkspaceSettings = WorkspaceSettings()


class Administer:
    """Each act is recorded in the audit log, in the transaction of the act."""

    def __init__(self, database: Database, ids: Ids, telemetry: Telemetry) -> None:
        self._database = database
        self._ids = ids
        self._telemetry = telemetry

    async def create_workspace(self, org_id: UUID, wish: NewWorkspace, actor: str) -> Workspace:
        """Create a workspace. Errors: `InvalidInput` (WORKSPACE_EXISTS when name or external ref is taken)."""
        name = validate_name(wish.name, ("input", "name"))
        reference = wish.external_ref
        if reference is not None:
            reference = validate_name(reference, ("input", "externalRef"))
        async with self._database.transaction(org_id) as transaction:
            made = await transaction.workspaces.create(self._ids.new(), name, wish.kind, reference, wish.settings)
            subject = made.ref.workspace_id
            await audit(transaction, self._telemetry, AuditAction.CREATE_WORKSPACE, made.ref, subject, actor)
        return made

    async def rename_workspace(self, workspace: WorkspaceRef, wished: str, actor: str) -> Workspace:
        """Give a workspace, of an agent and of a project too, another name; ids, links and answers stay as they are.
        Errors: `InvalidInput` (WORKSPACE_EXISTS when the name is taken), `NotFound` code WORKSPACE_NOT_FOUND.
        """
        name, key = validate_name(wished, ("name",)), workspace.workspace_id
        async with self._database.transaction(workspace.org_id) as transaction:
            before = await transaction.workspaces.get(key)
            renamed = await transaction.workspaces.rename(key, name)
            told = {"before": before.name if before else None, "after": name}
            await audit(transaction, self._telemetry, AuditAction.RENAME_WORKSPACE, workspace, key, actor, **told)
        return renamed

    async def set_workspace_access(
        self,
        workspace: WorkspaceRef,
        readers: tuple[str, ...] | None,
        writers: tuple[str, ...] | None,
        actor: str,
    ) -> Workspace:
        """Let exactly these principals enter a workspace (None: everybody), and these change its documents (None:
        everybody who enters), from the next request on. Errors: `NotFound` code WORKSPACE_NOT_FOUND.
        """
        key = workspace.workspace_id
        async with self._database.transaction(workspace.org_id) as transaction:
            before = await transaction.workspaces.get(key)
            changed = await transaction.workspaces.set_access(key, readers, writers)
            told = {"before": _access_text(before) if before else None, "after": _access_text(changed)}
            await audit(transaction, self._telemetry, AuditAction.SET_WORKSPACE_ACCESS, workspace, key, actor, **told)
        return changed

    async def change_workspace(
        self, workspace: WorkspaceRef, apply: Callable[[WorkspaceSettings], WorkspaceSettings], actor: str
    ) -> tuple[Workspace, int]:
        """Change a workspace's settings; the workspace, and how many crawls that cancelled (of web access switched
        off). Errors: `NotFound` code WORKSPACE_NOT_FOUND, those of `apply`, and `InvalidInput` for dimensions other
        than those of the existing vectors.
        """
        key = workspace.workspace_id
        async with self._database.transaction(workspace.org_id) as transaction:
            before = await transaction.workspaces.get(key)
            changed = await transaction.workspaces.change_settings(key, apply)
            dimensions = changed.settings.embedding_dimensions
            if dimensions is not None and before and dimensions != before.settings.embedding_dimensions:
                await _fits(transaction, workspace, dimensions)
            told: dict[str, Any] = dict(differences(before.settings, changed.settings)) if before else {}
            purged = 0
            if before and before.settings.web.allow and not changed.settings.web.allow:
                purged = told["purged_crawls"] = await transaction.jobs.cancel_crawls(key)
            await audit(transaction, self._telemetry, AuditAction.CHANGE_WORKSPACE, workspace, key, actor, **told)
        return changed, purged

    async def create_organisation(
        self,
        register: OrganisationRegister,
        name: str,
        external_ref: str | None,
        settings: OrganisationSettings,
        actor: str,
    ) -> Organisation:
        """Make an organisation; the entry is the first in its own log. Errors: `InvalidInput` (ORGANISATION_EXISTS when
        name or external ref is taken), `Misconfigured` (a right is missing).
        """
        reference = None if external_ref is None else validate_name(external_ref, ("input", "externalRef"))
        made = await register.create(self._ids.new(), validate_name(name, ("input", "name")), reference, settings)
        async with self._database.transaction(made.org_id) as transaction:
            act = AuditAction.CREATE_ORGANISATION
            await audit(transaction, self._telemetry, act, None, made.org_id, actor, name=made.name)
        return made

    async def organisation(self, org_id: UUID) -> Organisation:
        """The organisation. Errors: `NotFound`."""
        async with self._database.transaction(org_id) as transaction:
            return await transaction.organisations.current()

    async def rename_organisation(self, org_id: UUID, wished: str, actor: str) -> Organisation:
        """Give an organisation another name; its id, tokens and workspaces stay as they are. Errors: `NotFound`,
        `InvalidInput` (ORGANISATION_EXISTS when the name is taken).
        """
        name = validate_name(wished, ("name",))
        async with self._database.transaction(org_id) as transaction:
            before = await transaction.organisations.current()
            renamed = await transaction.organisations.rename(name)
            told = {"before": before.name, "after": name}
            await audit(transaction, self._telemetry, AuditAction.RENAME_ORGANISATION, None, org_id, actor, **told)
        return renamed

    async def set_feature(self, org_id: UUID, flag: FeatureFlag, *, on: bool, actor: str) -> tuple[Organisation, int]:
        """Switch a feature of the organisation on or off; the organisation, and how many crawls that cancelled (of
        WEB_ACCESS switched off). Errors: `NotFound`.
        """
        async with self._database.transaction(org_id) as transaction:
            before = (await transaction.organisations.current()).settings.is_on(flag)
            changed = await transaction.organisations.change(lambda settings: settings.with_flag(flag, on=on))
            told: dict[str, Any] = {"feature": flag.value, "before": before, "after": on}
            purged = 0
            if flag is FeatureFlag.WEB_ACCESS and before and not on:
                purged = told["purged_crawls"] = await transaction.jobs.cancel_crawls(None)
            await audit(transaction, self._telemetry, AuditAction.CHANGE_ORGANISATION, None, org_id, actor, **told)
        return changed, purged


def _access_text(workspace: Workspace) -> str:
    """Readers and writers in an entry of the audit log."""
    lists = {"readers": workspace.readers, "writers": workspace.writers}
    return "; ".join(f"{name}: {'all' if one is None else ','.join(one) or 'none'}" for name, one in lists.items())


async def _fits(transaction: Transaction, workspace: WorkspaceRef, dimensions: int) -> None:
    space = await transaction.workspaces.active_space(workspace)
    if space is not None and space.space.dimensions != dimensions:
        raise InvalidInput(
            f"The workspace's vectors have {space.space.dimensions} dimensions, which stay as they are: make a "
            "workspace for others, or switch the embedding space.",
            path=("input", "embeddingDimensions"),
        )
