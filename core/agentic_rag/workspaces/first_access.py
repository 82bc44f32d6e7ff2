"""First access: the default organisation."""

from __future__ import annotations

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID
from agentic_rag.workspaces.ports import Organisations


class FirstAccess:
    """Every call may be repeated."""

    def __init__(self, organisations: Organisations, telemetry: Telemetry) -> None:
        self._organisations = organisations
        self._telemetry = telemetry

    async def ensure_organisation(self) -> None:
        """Create the default organisation."""
        await self._organisations.ensure_organisation(DEFAULT_ORG_ID, "default")

    async def try_organisation(self) -> None:
        """`ensure_organisation`; a failure is recorded as an event, since a server may start before its database."""
        try:
            await self.ensure_organisation()
        except AgenticRagError as error:
            self._telemetry.event("rag_first_access_refused", level="warning", code=error.code, reason=error.message)
