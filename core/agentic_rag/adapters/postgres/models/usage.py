"""`models.billing.ports.UsageStore` on Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from datetime import date
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.models.billing.limits import Expenditure, first_of_month
from agentic_rag.models.billing.usage import UsageKey, UsageLine

# The columns are in the order of the fields of `UsageLine`.
ADD = """
INSERT INTO rag_usage AS u
    (org_id, workspace_id, day, kind, provider, model, own_key, calls, input_tokens, output_tokens, cost_usd,
     unpriced_calls)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
WHERE EXISTS (SELECT FROM rag_workspaces w WHERE w.org_id = $1 AND w.workspace_id = $2)
ON CONFLICT (org_id, workspace_id, day, kind, provider, model, own_key) DO UPDATE SET
    calls = u.calls + excluded.calls,
    input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cost_usd = u.cost_usd + excluded.cost_usd,
    unpriced_calls = u.unpriced_calls + excluded.unpriced_calls
"""

BETWEEN = """
SELECT workspace_id, day, kind, provider, model, own_key, calls, input_tokens, output_tokens, cost_usd, unpriced_calls
FROM rag_usage
WHERE org_id = $1 AND day BETWEEN $2 AND $3 AND ($4::uuid IS NULL OR workspace_id = $4)
ORDER BY workspace_id, day, kind, provider, model, own_key
"""

SPENT = """
SELECT coalesce(sum(cost_usd) FILTER (WHERE day = $2), 0) AS day_usd, coalesce(sum(cost_usd), 0) AS month_usd,
       coalesce(sum(cost_usd) FILTER (WHERE day = $2 AND kind = 'embedding'), 0) AS day_embedding_usd,
       coalesce(sum(cost_usd) FILTER (WHERE day = $2 AND kind = 'chat'), 0) AS day_chat_usd
FROM rag_usage
WHERE org_id = $1 AND day BETWEEN $3 AND $2 AND ($4::uuid IS NULL OR workspace_id = $4)
"""


# Ends with the transaction. The second number keeps it apart from other locks on the same organisation.
TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 21))"


class PostgresUsageStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def add(self, lines: Sequence[UsageLine]) -> None:
        for line in lines:
            key, *sums = astuple(line)
            await self._connection.execute(ADD, self._org_id, *key, *sums)

    async def take_turn(self) -> None:
        await self._connection.execute(TAKE_TURN, self._org_id)

    async def between(self, first: date, last: date, workspace_id: UUID | None = None) -> list[UsageLine]:
        rows = await self._connection.fetch(BETWEEN, self._org_id, first, last, workspace_id)
        return [value_from(UsageLine, row, key=value_from(UsageKey, row)) for row in rows]

    async def spending(self, today: date, workspace_id: UUID | None = None) -> Expenditure:
        row = await self._connection.fetchrow(SPENT, self._org_id, today, first_of_month(today), workspace_id)
        return Expenditure() if row is None else value_from(Expenditure, row)
