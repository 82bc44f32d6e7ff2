"""Settings that no longer exist. One found in the environment is a warning, not a problem: an upgrade still starts."""

from __future__ import annotations

from collections.abc import Mapping

_CLAIMS = "AGENTIC_RAG_JWT_CLAIMS=org=…,role=…,groups=…,subject=… replaces it"
_S3 = "AGENTIC_RAG_BLOB_STORE holds the whole address, keys included"
_NEO4J = "NEO4J_URI holds the login"
_PRICE = "AGENTIC_RAG_MODEL_PRICES=MODEL=INPUT/OUTPUT replaces it"
_TIMEOUT = "AGENTIC_RAG_PROVIDER_TIMEOUT_SECONDS replaces it"
_SCHEDULE = "AGENTIC_RAG_SCHEDULE=canaries_minutes=…,snapshots_hours=… replaces it"
_RATES = "AGENTIC_RAG_RATE_LIMITS=asks=…,writes=…,reads=…,caller_share=… replaces it"

REMOVED: Mapping[str, str] = {
    "AGENTIC_RAG_GRAPHIQL": "AGENTIC_RAG_INTROSPECTION=page replaces it",
    "AGENTIC_RAG_TENANT": "`rag --tenant NAME` replaces it",
    "AGENTIC_RAG_RERANK_TIMEOUT_MS": "a reranker always has 500 ms",
    "AGENTIC_RAG_CHAT_INPUT_USD": _PRICE,
    "AGENTIC_RAG_CHAT_OUTPUT_USD": _PRICE,
    "AGENTIC_RAG_PER_DOCUMENT": "the request's option `perDocument` replaces it",
    "AGENTIC_RAG_DIVERSITY": "the request's option `diversity` replaces it",
    "AGENTIC_RAG_FUSION": "the request's option `fusion` replaces it",
    "AGENTIC_RAG_EMBEDDING_DIMENSIONS": "AGENTIC_RAG_EMBEDDING_MODEL=MODEL:DIMENSIONS replaces it",
    "AGENTIC_RAG_EMBEDDING_SEND_DIMENSIONS": "dimensions are sent to the models that are known to take them",
    "AGENTIC_RAG_EMBEDDING_TIMEOUT_SECONDS": _TIMEOUT,
    "AGENTIC_RAG_CHAT_TIMEOUT_SECONDS": _TIMEOUT,
    "AGENTIC_RAG_GRAPH_TIMEOUT_MS": "an answer always waits at most 400 ms for Neo4j",
    "AGENTIC_RAG_GRAPH_MAX_LAG": "Neo4j may always be 16 corpus versions behind",
    "AGENTIC_RAG_EXACT_SCAN_BYTES": "8 MiB of vectors are always scanned exactly",
    "AGENTIC_RAG_MAX_VECTOR_INDEXES": "there are always at most 32 approximate indexes",
    "AGENTIC_RAG_MODEL_THREADS": "the local model always uses one thread for every core",
    "AGENTIC_RAG_MODEL_MAX_TOKENS": "the local model always reads 256 tokens of a text",
    "AGENTIC_RAG_COMPUTE_PROCESSES": "a process always has two for embedding and indexing large batches",
    "AGENTIC_RAG_PARSER_PROCESSES": "a worker always has one parsing child",
    "AGENTIC_RAG_PARSER_MEMORY_MB": "AGENTIC_RAG_PARSER=memory_mb=… replaces it",
    "AGENTIC_RAG_PARSER_CPU_SECONDS": "one file always gets at most 240 s of CPU time",
    "AGENTIC_RAG_JOB_DEADLINE_SECONDS": "each kind of job has its own deadline",
    "AGENTIC_RAG_JOB_STALL_SECONDS": "each kind of job has its own limit",
    "AGENTIC_RAG_UPKEEP_SECONDS": "a worker always looks every 15 s",
    "AGENTIC_RAG_WORKER_INTERACTIVE_SLOTS": "a worker process always has two slots for waiting answers",
    "AGENTIC_RAG_WORKER_PARTITIONS": "AGENTIC_RAG_QUEUE_PARTITIONS=NUMBER:SERVED,… replaces it",
    "AGENTIC_RAG_LEAK_CANARIES_MINUTES": _SCHEDULE,
    "AGENTIC_RAG_SNAPSHOT_EVERY_HOURS": _SCHEDULE,
    "AGENTIC_RAG_SNAPSHOT_KEEP": "AGENTIC_RAG_RETENTION=snapshots=NUMBER replaces it",
    "AGENTIC_RAG_SPACE_GRACE_SECONDS": "vectors are always kept for a day after a switch",
    "AGENTIC_RAG_JWT_LEEWAY_SECONDS": "the issuer's clock may always be 30 s off",
    "AGENTIC_RAG_JWT_ORG_CLAIM": _CLAIMS,
    "AGENTIC_RAG_JWT_ROLE_CLAIM": _CLAIMS,
    "AGENTIC_RAG_JWT_GROUPS_CLAIM": _CLAIMS,
    "AGENTIC_RAG_JWT_SUBJECT_CLAIM": _CLAIMS,
    "AGENTIC_RAG_GEMINI_URL": "AGENTIC_RAG_COMPATIBLE_URLS=gemini=URL replaces it",
    "AGENTIC_RAG_ANTHROPIC_URL": "AGENTIC_RAG_COMPATIBLE_URLS=anthropic=URL replaces it",
    "AGENTIC_RAG_BLOB_DIR": "AGENTIC_RAG_BLOB_STORE=DIRECTORY replaces it",
    "AGENTIC_RAG_S3_ENDPOINT": _S3,
    "AGENTIC_RAG_S3_BUCKET": _S3,
    "AGENTIC_RAG_S3_REGION": _S3,
    "AGENTIC_RAG_S3_ACCESS_KEY": _S3,
    "AGENTIC_RAG_S3_SECRET_KEY": _S3,
    "NEO4J_USER": _NEO4J,
    "NEO4J_PASSWORD": _NEO4J,
    "AGENTIC_RAG_MAX_BODY_BYTES": "a GraphQL request body always has at most 1 MiB",
    "AGENTIC_RAG_PERSISTED_ONLY": "AGENTIC_RAG_PERSISTED_OPERATIONS=only:FILE replaces it",
    "AGENTIC_RAG_ASKS_PER_MINUTE": _RATES,
    "AGENTIC_RAG_WRITES_PER_MINUTE": _RATES,
    "AGENTIC_RAG_READS_PER_MINUTE": _RATES,
    "AGENTIC_RAG_SUBJECT_SHARE": _RATES,
}
"""Removed name → what holds instead."""


def upgrade_warnings(names: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each removed setting that has a value."""
    return tuple(
        f"{name} is no longer a setting and is ignored: {REMOVED[name]}."
        for name in sorted(REMOVED.keys() & names.keys())
        if names[name]
    )
