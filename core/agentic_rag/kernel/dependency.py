"""The parts a run can go on without."""

from __future__ import annotations

import enum

GRAPH_CHECK, REPLICA_CHECK = "neo4j", "replica"
"""Names in /readyz."""
OPTIONAL_CHECKS = frozenset({GRAPH_CHECK, REPLICA_CHECK})
"""Dependencies whose loss only degrades answers."""


class Dependency(enum.Enum):
    """What was missing while a degraded answer was made."""

    CACHE = "CACHE"
    GRAPH = "GRAPH"
    EMBEDDER = "EMBEDDER"
    CHAT_MODEL = "CHAT_MODEL"
    DATABASE = "DATABASE"
    RERANKER = "RERANKER"
