"""`workspaces.ports.Organisations` and `workspaces.ports.OrganisationStore` in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.store import MemoryStore, Working

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.workspaces.organisation import Organisation, OrganisationSettings


class MemoryOrganisations:
    """Makes organisations."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Make the organisation when it does not exist."""
        async with self._store.transaction(org_id) as working:
            state = working.organisation(org_id)
            if state.organisation is None:
                made = Organisation(org_id, name, None, working.now())
                working.put_organisation(org_id, replace(state, organisation=made))


class MemoryOrganisationStore:
    """Inside a transaction of one organisation. Errors of every call: `NotFound` when it was never made."""

    def __init__(self, working: Working, org_id: UUID) -> None:
        self._working = working
        self._org_id = org_id

    async def current(self) -> Organisation:
        """The organisation of the transaction."""
        organisation = self._working.organisation(self._org_id).organisation
        if organisation is None:
            raise NotFound("There is no such organisation.")
        return organisation

    async def rename(self, name: str) -> Organisation:
        """Give it another name. Errors: `InvalidInput` code ORGANISATION_EXISTS."""
        renamed = replace(await self.current(), name=name)
        if name in self._working.names_of_others(self._org_id):
            raise InvalidInput(
                f"An organisation with the name {name!r} exists already.", code="ORGANISATION_EXISTS", path=("name",)
            )
        state = self._working.organisation(self._org_id)
        self._working.put_organisation(self._org_id, replace(state, organisation=renamed))
        return renamed

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        """Replace the settings by what `apply` makes of them."""
        before = await self.current()
        after = replace(before, settings=apply(before.settings))
        state = self._working.organisation(self._org_id)
        self._working.put_organisation(self._org_id, replace(state, organisation=after))
        return after
