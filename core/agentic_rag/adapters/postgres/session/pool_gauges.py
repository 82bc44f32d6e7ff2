"""Gauges of a connection pool, told whenever a connection is taken, given back, or ends."""

from __future__ import annotations

from typing import Any

from agentic_rag.kernel.telemetry import Telemetry


class PoolGauges:
    """How many connections of a pool are used and idle, and the most there may be. Asks the driver's pool, never the
    server; what did not change is not told again.
    """

    def __init__(self, telemetry: Telemetry | None, pool: str, most: int) -> None:
        self._telemetry = telemetry
        self._pool = pool
        self._told: dict[str, int] = {}
        if telemetry is not None:
            telemetry.gauge("rag_database_connections_max", most, pool=pool)

    def tell(self, driver_pool: Any) -> None:
        """Set the gauges to what the driver's pool has now."""
        if self._telemetry is None:
            return
        idle: int = driver_pool.get_idle_size()
        now = {"used": driver_pool.get_size() - idle, "idle": idle}
        for state, connections in now.items():
            if self._told.get(state) != connections:
                self._telemetry.gauge("rag_database_connections", connections, pool=self._pool, state=state)
        self._told = now
