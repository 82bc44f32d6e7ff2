"""How much an organisation may store."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.workspaces.rate_limits import BYTES_PER_MB


async def require_storage(transaction: Transaction, org_id: UUID, standard_mb: int) -> None:
    """Last in a transaction that stores: uploads side by side never pass the limit together. In one before, it spares
    the reading of what would be refused. `standard_mb` holds for organisations without a limit of their own; 0 is none.
    Errors: `InvalidInput` code STORAGE_QUOTA_EXCEEDED where the organisation stores more than it may.
    """
    try:
        own = (await transaction.organisations.current()).settings.rates.stored_mb
    except NotFound:
        own = None
    most = standard_mb if own is None else own
    if most and await transaction.originals.stored_bytes(org_id) > most * BYTES_PER_MB:
        raise InvalidInput(
            f"Your organisation may store {most} MB of documents: delete some, or ask the operator for more.",
            code="STORAGE_QUOTA_EXCEEDED",
            path=("file",),
        )
