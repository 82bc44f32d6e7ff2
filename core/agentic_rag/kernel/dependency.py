"""The parts a run can go on without."""

from __future__ import annotations

import enum

DATABASE_CHECK, REDIS_CHECK, BLOBS_CHECK = "postgres", "redis", "blobs"
GRAPH_CHECK, REPLICA_CHECK = "neo4j", "replica"
"""Names in /readyz."""
OPTIONAL_FOR_WORKERS = frozenset({GRAPH_CHECK, REPLICA_CHECK})
"""Dependencies without which jobs are done."""
OPTIONAL_FOR_SERVERS = OPTIONAL_FOR_WORKERS | {REDIS_CHECK, BLOBS_CHECK}
"""Dependencies without which questions are answered. All servers share them: a server that called itself unready for
one would be taken out of service together with all others, and nobody would get an answer.
"""


class Dependency(enum.Enum):
    """What was missing while a degraded answer was made."""

    CACHE = "CACHE"
    GRAPH = "GRAPH"
    EMBEDDER = "EMBEDDER"
    CHAT_MODEL = "CHAT_MODEL"
    DATABASE = "DATABASE"
    RERANKER = "RERANKER"
