"""Who the command line is when it runs the system in its own process."""

from __future__ import annotations

from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role

OPERATOR = Principal(org_id=DEFAULT_ORG_ID, subject="cli", role=Role.OPERATOR)
"""Who the command line is in process: whoever holds the database's password may do everything."""
