"""Who a credential belongs to."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.domain.tenancy import Principal


class Identity(Protocol):
    """Verifies bearer tokens. Errors: `Unauthenticated`."""

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid token (scheme prefix removed)."""
        ...
