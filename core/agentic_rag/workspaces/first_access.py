"""First access: the default organisation, and a token that may act in it."""

from __future__ import annotations

import hashlib

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role
from agentic_rag.workspaces.ports import Organisations


class FirstAccess:
    """Creates both. Every call may be repeated."""

    def __init__(self, organisations: Organisations, telemetry: Telemetry) -> None:
        self._organisations = organisations
        self._telemetry = telemetry

    async def ensure_organisation(self) -> None:
        """Create the default organisation."""
        await self._organisations.ensure_organisation(DEFAULT_ORG_ID, "default")

    async def ensure_developer(self, token: str) -> None:
        """Give `token` the operator role in the default organisation."""
        await self.ensure_organisation()
        key = hashlib.sha256(token.encode()).digest()
        await self._organisations.ensure_api_key(
            DEFAULT_ORG_ID, NewApiKey(key_hash=key, name="development", subject="developer", role=Role.OPERATOR)
        )

    async def try_developer(self, token: str) -> None:
        """`ensure_developer`; a failure is recorded as an event, since a server may start before its database."""
        try:
            await self.ensure_developer(token)
        except AgenticRagError as error:
            self._telemetry.event("rag_development_access_refused", code=error.code, reason=error.message)
