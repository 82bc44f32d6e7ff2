"""The only reader of the environment: every variable, its default and meaning, validated together into one frozen
value.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agentic_rag.answering.evidence.threshold import DEFAULT_THRESHOLD
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.models.billing.prices import PLATFORM, PriceTable, TokenPrice, parse_prices
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.models.providers.master_keys import parse_master_keys
from agentic_rag.models.providers.provider_keys import canonical_url
from agentic_rag.variables import Variable, display_value, parse
from agentic_rag.web.url_policy import parse_host_list
from agentic_rag.workspaces.rate_limits import MAX_PER_MINUTE

T = TypeVar("T")

OWNED_PREFIXES = ("AGENTIC_RAG_", "HYBRID_")
"""A variable with one of these prefixes that we do not know is a mistake worth stopping for."""

UNSET_PATH = Path()
DEVELOPMENT = "development"
PRODUCTION = "production"
DEFAULT_CORPUS = Path("simulated_ingestion")
DEFAULT_MODEL = "all-MiniLM-L6-v2"

CHAT_TASKS = tuple(task.value for task in (ChatTask.REWRITE, ChatTask.PLAN, ChatTask.SYNTHESIZE, ChatTask.EXTRACT))

TEST_PREFIX = "AGENTIC_RAG_TEST_"


class SettingsInvalid(Misconfigured):
    """Some variables are wrong; `problems` has one line for each, all found at once."""

    code = "SETTINGS_INVALID"

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("The configuration is not valid:\n" + "\n".join(f"  - {line}" for line in problems))
        self.problems = problems


def _var(
    name: str,
    default: T,
    meaning: str,
    *,
    group: str,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    secret: bool = False,
    url: bool = False,
) -> T:
    variable = Variable(name, default, meaning, group, minimum, maximum, choices, secret, url)
    return field(default=default, repr=not secret, metadata={"variable": variable})


MIN_SECRET_CHARACTERS = 32
"""RFC 7518, 3.2: a key of HS256 is no shorter than its hash."""

_A, _R, _S, _E, _L, _K, _J, _P, _I, _O, _C = (
    "Answering",
    "Retrieval",
    "Stores",
    "Embeddings",
    "Chat model",
    "Keys of organisations",
    "Jobs and worker",
    "Server",
    "Identity",
    "Observability",
    "Command line and evaluation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The effective configuration of a process."""

    enabled: bool = _var(
        "AGENTIC_RAG_ENABLED", False, "Answer questions at all; off means FEATURE_DISABLED. `rag up` sets it.", group=_A
    )
    top_k: int = _var("AGENTIC_RAG_TOPK", 8, "Passages handed to synthesis.", group=_A, minimum=1, maximum=50)
    use_hyde: bool = _var(
        "AGENTIC_RAG_USE_HYDE",
        False,
        "Embed a hypothetical answer beside the question (HyDE), written by the chat model in a worker.",
        group=_A,
    )
    use_tools: bool = _var("AGENTIC_RAG_USE_TOOLS", True, "Let the plan call `calc` and `lookup`.", group=_A)
    enable_http_fetch: bool = _var(
        "AGENTIC_RAG_ENABLE_HTTP_FETCH",
        False,
        "Let the plan call `http_fetch` for pages that the question itself names, on AGENTIC_RAG_HTTP_FETCH_HOSTS.",
        group=_A,
    )
    http_fetch_hosts: str = _var(
        "AGENTIC_RAG_HTTP_FETCH_HOSTS",
        "",
        "Hosts that `http_fetch` may ask, separated by commas: `docs.example.org`, `*.example.org` for all beneath it, "
        "`*` for every public host.",
        group=_A,
    )
    link_hosts: str = _var(
        "AGENTIC_RAG_LINK_HOSTS",
        "",
        "Hosts whose https links stay live in answers, besides those of cited sources; the same form.",
        group=_A,
    )
    min_support: float = _var(
        "AGENTIC_RAG_MIN_SUPPORT",
        DEFAULT_THRESHOLD,
        "Support below which an answer becomes an abstention (0 never abstains), where `rag eval calibrate` set none.",
        group=_A,
        minimum=0,
        maximum=1,
    )
    timeout_ms: int = _var(
        "AGENTIC_RAG_TIMEOUT_MS", 10_000, "Time budget of one answer, in ms.", group=_A, minimum=50, maximum=600_000
    )
    cache_ttl_seconds: int = _var(
        "AGENTIC_RAG_REDIS_TTL_SECONDS",
        900,
        "How long an answer is cached; 0 switches the cache off.",
        group=_A,
        minimum=0,
    )
    vector_weight: float = _var(
        "HYBRID_VECTOR_WEIGHT",
        0.7,
        "Share of the two text arms (dense and lexical) in fusion.",
        group=_R,
        minimum=0,
        maximum=1,
    )
    graph_weight: float = _var(
        "HYBRID_GRAPH_WEIGHT", 0.3, "Share of the graph arm in fusion.", group=_R, minimum=0, maximum=1
    )
    lexical_share: str = _var(
        "HYBRID_LEXICAL_SHARE",
        "auto",
        "Lexical part of the text arms' share, 0 to 1, or `auto` (per question).",
        group=_R,
    )
    fusion: str = _var(
        "AGENTIC_RAG_FUSION", "weighted", "How the arms are merged.", group=_R, choices=("weighted", "rrf")
    )
    per_document: int = _var(
        "AGENTIC_RAG_PER_DOCUMENT",
        0,
        "At most so many passages of one document in one search; 0: no cap.",
        group=_R,
        minimum=0,
        maximum=50,
    )
    diversity: float = _var(
        "AGENTIC_RAG_DIVERSITY",
        0.0,
        "Weight of being unlike the passages already chosen (maximal marginal relevance); 0: off.",
        group=_R,
        minimum=0,
        maximum=1,
    )
    rerank_timeout_ms: int = _var(
        "AGENTIC_RAG_RERANK_TIMEOUT_MS",
        500,
        "How long a reranker, where one is given, may take for a search before the order stays as it was.",
        group=_R,
        minimum=1,
        maximum=60_000,
    )
    database_url: str = _var(
        "DATABASE_URL", "", "PostgreSQL with pgvector; empty means the embedded server.", group=_S, url=True
    )
    owner_database_url: str = _var(
        "AGENTIC_RAG_OWNER_DATABASE_URL",
        "",
        "Login that migrates; empty means DATABASE_URL (one DSN is enough).",
        group=_S,
        url=True,
    )
    database_pool_size: int = _var(
        "AGENTIC_RAG_DATABASE_POOL_SIZE",
        8,
        "Connections of one process; at most two more look up keys, ceilings and limits.",
        group=_S,
        minimum=1,
        maximum=200,
    )
    redis_url: str = _var("REDIS_URL", "", "Redis; empty means the embedded server.", group=_S, url=True)
    neo4j_uri: str = _var(
        "NEO4J_URI",
        "",
        "Neo4j 5 for the entity graph (bolt:// or neo4j://); empty keeps the graph in PostgreSQL.",
        group=_S,
        url=True,
    )
    neo4j_user: str = _var("NEO4J_USER", "neo4j", "Login of NEO4J_URI.", group=_S)
    neo4j_password: str = _var(
        "NEO4J_PASSWORD", "", "Password of that login; empty for a server that asks for none.", group=_S, secret=True
    )
    graph_max_lag: int = _var(
        "AGENTIC_RAG_GRAPH_MAX_LAG",
        16,
        "Corpus versions that Neo4j may be behind before answers go without it, flagged `GRAPH`.",
        group=_S,
        minimum=0,
    )
    graph_timeout_ms: int = _var(
        "AGENTIC_RAG_GRAPH_TIMEOUT_MS",
        400,
        "How long an answer waits for Neo4j, in ms; after a failure nobody asks it for 2 s.",
        group=_S,
        minimum=10,
        maximum=60_000,
    )
    home: Path = _var(
        "AGENTIC_RAG_HOME", UNSET_PATH, "State of the embedded servers, blobs and development token.", group=_S
    )
    blob_dir: Path = _var(
        "AGENTIC_RAG_BLOB_DIR", UNSET_PATH, "Originals of documents; empty means HOME/blobs.", group=_S
    )
    blob_store: str = _var(
        "AGENTIC_RAG_BLOB_STORE",
        "directory",
        "Where originals are kept: `directory`, or `s3` for any S3-compatible store.",
        group=_S,
        choices=("directory", "s3"),
    )
    s3_endpoint: str = _var(
        "AGENTIC_RAG_S3_ENDPOINT", "", "URL of the S3-compatible store; empty means AWS.", group=_S, url=True
    )
    s3_bucket: str = _var("AGENTIC_RAG_S3_BUCKET", "", "Bucket of the originals.", group=_S)
    s3_region: str = _var("AGENTIC_RAG_S3_REGION", "us-east-1", "Region of the bucket.", group=_S)
    s3_access_key: str = _var("AGENTIC_RAG_S3_ACCESS_KEY", "", "Access key of the store.", group=_S, secret=True)
    s3_secret_key: str = _var("AGENTIC_RAG_S3_SECRET_KEY", "", "Secret key of the store.", group=_S, secret=True)
    exact_scan_bytes: int = _var(
        "AGENTIC_RAG_EXACT_SCAN_BYTES",
        8 << 20,
        "Vectors of a workspace, in bytes, that are scanned exactly; above it an approximate index is built, and used "
        "if it finds 95 % of what exact search finds.",
        group=_R,
        minimum=0,
    )
    max_vector_indexes: int = _var(
        "AGENTIC_RAG_MAX_VECTOR_INDEXES",
        32,
        "Approximate indexes of all workspaces together, each of which costs every search and publish some planning; "
        "workspaces beyond it stay exact.",
        group=_R,
        minimum=0,
        maximum=1000,
    )
    embedder: str = _var(
        "RAG_EMBEDDER",
        "deterministic",
        "`deterministic` needs no key; `onnx` is a model on this machine (`rag model get minilm`); `openai` is any "
        "OpenAI-compatible server.",
        group=_E,
        choices=("deterministic", "onnx", "openai"),
    )
    model_dir: Path = _var(
        "AGENTIC_RAG_MODEL_DIR",
        UNSET_PATH,
        "Directory with model.onnx and tokenizer.json for the embedder `onnx`; empty means "
        "HOME/models/all-MiniLM-L6-v2.",
        group=_E,
    )
    model_threads: int = _var(
        "AGENTIC_RAG_MODEL_THREADS",
        0,
        "Threads of the local model in each process; 0: one for every core.",
        group=_E,
        minimum=0,
        maximum=256,
    )
    model_max_tokens: int = _var(
        "AGENTIC_RAG_MODEL_MAX_TOKENS",
        256,
        "Tokens of a text that the local model reads; what is behind them does not count.",
        group=_E,
        minimum=16,
        maximum=8192,
    )
    openai_api_key: str = _var("OPENAI_API_KEY", "", "Key of the OpenAI-compatible server.", group=_E, secret=True)
    openai_base_url: str = _var(
        "OPENAI_BASE_URL",
        "https://api.openai.com/v1",
        "Base URL of the OpenAI-compatible server.",
        group=_E,
        url=True,
    )
    embedding_model: str = _var(
        "AGENTIC_RAG_EMBEDDING_MODEL", "text-embedding-3-small", "Model of the embedder `openai`.", group=_E
    )
    embedding_dimensions: int = _var(
        "AGENTIC_RAG_EMBEDDING_DIMENSIONS", 1536, "Dimensions of that model.", group=_E, minimum=1, maximum=4000
    )
    embedding_send_dimensions: bool = _var(
        "AGENTIC_RAG_EMBEDDING_SEND_DIMENSIONS",
        False,
        "Ask the server for that many dimensions; some models refuse the field.",
        group=_E,
    )
    embedding_timeout_seconds: float = _var(
        "AGENTIC_RAG_EMBEDDING_TIMEOUT_SECONDS", 30.0, "Time-out of one embedding call.", group=_E, minimum=0.1
    )
    space_grace_seconds: int = _var(
        "AGENTIC_RAG_SPACE_GRACE_SECONDS",
        86_400,
        "How long vectors are kept after a switch to another embedding space: switching back is instant until then.",
        group=_E,
        minimum=0,
    )
    chunk_profile: str = _var(
        "AGENTIC_RAG_CHUNK_PROFILE",
        "default",
        "default 512/64 tokens, small 256/32 tokens, agent 1000/200 characters.",
        group=_E,
        choices=("default", "small", "agent"),
    )
    chat_model: str = _var(
        "AGENTIC_RAG_CHAT_MODEL",
        "",
        "Chat model at OPENAI_BASE_URL with structured output; empty means rules, and nothing is sent to any model.",
        group=_L,
    )
    chat_tasks: str = _var(
        "AGENTIC_RAG_CHAT_TASKS",
        "rewrite,plan,synthesize",
        "What the chat model does, of `rewrite` (follow-up questions), `plan`, `synthesize`, and `extract` (entities, "
        "while documents are ingested, a call for each new chunk); HyDE and the judge have switches of their own.",
        group=_L,
    )
    chat_timeout_seconds: float = _var(
        "AGENTIC_RAG_CHAT_TIMEOUT_SECONDS",
        30.0,
        "Time-out of one chat call; a share of what is left of the answer's time is the bound before that.",
        group=_L,
        minimum=0.1,
    )
    chat_temperature: float = _var(
        "AGENTIC_RAG_CHAT_TEMPERATURE",
        0.0,
        "Sampling temperature; -1 sends none, for models that refuse the field.",
        group=_L,
        minimum=-1,
        maximum=2,
    )
    chat_input_usd: float = _var(
        "AGENTIC_RAG_CHAT_INPUT_USD",
        0.0,
        "Price of a million input tokens of AGENTIC_RAG_CHAT_MODEL in US dollars; 0: that of AGENTIC_RAG_MODEL_PRICES, "
        "else the published one.",
        group=_L,
        minimum=0,
    )
    chat_output_usd: float = _var(
        "AGENTIC_RAG_CHAT_OUTPUT_USD", 0.0, "The same for a million output tokens.", group=_L, minimum=0
    )
    enable_llm_judge: bool = _var(
        "AGENTIC_RAG_ENABLE_LLM_JUDGE",
        False,
        "Let the chat model judge each sentence of an answer against what it cites, and drop what it does not find "
        "supported; `rag eval` then also has it grade each answer.",
        group=_L,
    )
    master_keys: str = _var(
        "AGENTIC_RAG_MASTER_KEYS",
        "",
        "Keys that wrap the provider keys of organisations, as `ID:BASE64[,ID:BASE64]`: the first wraps what is new, "
        "the others still open what they wrapped. `rag provider-key master` makes one.",
        group=_K,
        secret=True,
    )
    gemini_url: str = _var(
        "AGENTIC_RAG_GEMINI_URL",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "Where organisations' keys for Gemini go: its OpenAI-compatible interface. Those for OpenAI go to "
        "OPENAI_BASE_URL.",
        group=_K,
        url=True,
    )
    anthropic_url: str = _var(
        "AGENTIC_RAG_ANTHROPIC_URL",
        "https://api.anthropic.com/v1",
        "Where organisations' keys for Anthropic go: its OpenAI-compatible interface.",
        group=_K,
        url=True,
    )
    compatible_urls: str = _var(
        "AGENTIC_RAG_COMPATIBLE_URLS",
        "",
        "Base URLs of OpenAI-compatible servers (Ollama, vLLM) that organisations may name, separated by commas; no "
        "other address is ever asked on their behalf.",
        group=_K,
    )
    model_prices: str = _var(
        "AGENTIC_RAG_MODEL_PRICES",
        "",
        "Prices in US dollars per million tokens, `MODEL=INPUT/OUTPUT` or `PROVIDER:MODEL=INPUT/OUTPUT`, separated by "
        "commas, before the published ones: budgets cannot hold calls of models without a price.",
        group=_K,
    )
    queue_name: str = _var("AGENTIC_RAG_QUEUE_NAME", "agentic-rag", "Prefix of the queues in Redis.", group=_J)
    job_attempts: int = _var(
        "AGENTIC_RAG_JOB_ATTEMPTS", 3, "Attempts before a job becomes a dead letter.", group=_J, minimum=1, maximum=100
    )
    job_backoff_ms: int = _var(
        "AGENTIC_RAG_JOB_BACKOFF_MS",
        5000,
        "First back-off; doubles with each attempt, full jitter.",
        group=_J,
        minimum=0,
    )
    job_lease_seconds: float = _var(
        "AGENTIC_RAG_JOB_LEASE_SECONDS",
        25.0,
        "A lease lapses after this long without a sign of life.",
        group=_J,
        minimum=0.5,
    )
    job_deadline_seconds: float = _var(
        "AGENTIC_RAG_JOB_DEADLINE_SECONDS",
        0.0,
        "Longest one attempt may take; 0 leaves it to each kind of job (ingestion 1 h).",
        group=_J,
        minimum=0,
    )
    job_stall_seconds: float = _var(
        "AGENTIC_RAG_JOB_STALL_SECONDS",
        0.0,
        "Longest a job may go without progress before it loses its lease; 0 leaves it to each kind (5 minutes).",
        group=_J,
        minimum=0,
    )
    upkeep_seconds: float = _var(
        "AGENTIC_RAG_UPKEEP_SECONDS",
        15.0,
        "How often a worker looks for work that is due by time or size.",
        group=_J,
        minimum=0.1,
    )
    queue_partitions: int = _var(
        "AGENTIC_RAG_QUEUE_PARTITIONS",
        1,
        "Parts of the bulk queue, by workspace; the same for every process.",
        group=_J,
        minimum=1,
        maximum=256,
    )
    worker_partitions: str = _var(
        "AGENTIC_RAG_WORKER_PARTITIONS",
        "",
        "Partitions a worker serves, as `0,2,5`; empty means all. Some worker must serve each.",
        group=_J,
    )
    worker_processes: int = _var(
        "AGENTIC_RAG_WORKER_PROCESSES",
        1,
        "Processes of `rag worker`; each has its own slots and the next metrics port.",
        group=_J,
        minimum=1,
        maximum=64,
    )
    worker_interactive_slots: int = _var(
        "AGENTIC_RAG_WORKER_INTERACTIVE_SLOTS",
        2,
        "Jobs of waiting answers one worker process runs besides.",
        group=_J,
        minimum=1,
        maximum=256,
    )
    worker_concurrency: int = _var(
        "AGENTIC_RAG_WORKER_CONCURRENCY", 8, "Jobs one worker process runs at a time.", group=_J, minimum=1, maximum=256
    )
    worker_metrics_port: int = _var(
        "AGENTIC_RAG_WORKER_METRICS_PORT",
        9464,
        "Port of the worker's /metrics, /healthz, /readyz; 0 for none.",
        group=_J,
        minimum=0,
        maximum=65535,
    )
    drain_seconds: float = _var(
        "AGENTIC_RAG_DRAIN_SECONDS", 20.0, "How long SIGTERM waits for running jobs.", group=_J, minimum=0
    )
    compute_processes: int = _var(
        "AGENTIC_RAG_COMPUTE_PROCESSES",
        2,
        "Processes of one worker for embedding and indexing; 0 for a thread of its own.",
        group=_J,
        minimum=0,
        maximum=64,
    )
    parser_processes: int = _var(
        "AGENTIC_RAG_PARSER_PROCESSES", 1, "Parsing children of one worker.", group=_J, minimum=1, maximum=64
    )
    parser_memory_mb: int = _var(
        "AGENTIC_RAG_PARSER_MEMORY_MB", 512, "Memory limit of a parsing child.", group=_J, minimum=64
    )
    parser_cpu_seconds: int = _var(
        "AGENTIC_RAG_PARSER_CPU_SECONDS",
        240,
        "Most CPU time for one file; below it 10 s for each MB, and more for a PDF whose pages give text.",
        group=_J,
        minimum=1,
        maximum=240,
    )
    leak_canaries_minutes: float = _var(
        "AGENTIC_RAG_LEAK_CANARIES_MINUTES",
        0.0,
        "Attack the walls between the organisations this often, with a canary document in each; 0 for never.",
        group=_J,
        minimum=0,
    )
    snapshot_every_hours: float = _var(
        "AGENTIC_RAG_SNAPSHOT_EVERY_HOURS",
        0.0,
        "Take a snapshot of each changed workspace this often; 0 for none.",
        group=_J,
        minimum=0,
    )
    snapshot_keep: int = _var(
        "AGENTIC_RAG_SNAPSHOT_KEEP",
        7,
        "How many scheduled snapshots of a workspace are kept; those asked for stay until deleted.",
        group=_J,
        minimum=1,
    )
    host: str = _var(
        "AGENTIC_RAG_HOST", "127.0.0.1", "Address the server and the worker's metrics listen on.", group=_P
    )
    port: int = _var("AGENTIC_RAG_PORT", 8080, "Port the server listens on.", group=_P, minimum=0, maximum=65535)
    profile: str = _var(
        "AGENTIC_RAG_PROFILE",
        DEVELOPMENT,
        "`production` switches introspection and the query page off unless their own settings say otherwise, and tells "
        "browsers to come by HTTPS only.",
        group=_P,
        choices=(DEVELOPMENT, PRODUCTION),
    )
    persisted_operations: Path = _var(
        "AGENTIC_RAG_PERSISTED_OPERATIONS",
        UNSET_PATH,
        "A JSON file `{id: document}` of GraphQL operations that clients may name by `documentId`.",
        group=_P,
    )
    persisted_only: bool = _var(
        "AGENTIC_RAG_PERSISTED_ONLY", False, "Run no GraphQL operation that is not in that file.", group=_P
    )
    graphiql: bool = _var("AGENTIC_RAG_GRAPHIQL", False, "Serve the query page at GET /graphql.", group=_P)
    introspection: bool = _var("AGENTIC_RAG_INTROSPECTION", True, "Allow schema introspection.", group=_P)
    max_body_bytes: int = _var(
        "AGENTIC_RAG_MAX_BODY_BYTES", 1_048_576, "Largest GraphQL request body.", group=_P, minimum=1024
    )
    max_upload_bytes: int = _var(
        "AGENTIC_RAG_MAX_UPLOAD_BYTES", 26_214_400, "Largest uploaded file (25 MB).", group=_P, minimum=1024
    )
    asks_per_minute: int = _var(
        "AGENTIC_RAG_ASKS_PER_MINUTE",
        0,
        "Questions that an organisation may ask in a minute, all at once or spread, unless it has a limit of its own "
        "(`rag tenant limits`); 0: no limit.",
        group=_P,
        minimum=0,
        maximum=MAX_PER_MINUTE,
    )
    writes_per_minute: int = _var(
        "AGENTIC_RAG_WRITES_PER_MINUTE",
        0,
        "The same for uploads and every other change.",
        group=_P,
        minimum=0,
        maximum=MAX_PER_MINUTE,
    )
    reads_per_minute: int = _var(
        "AGENTIC_RAG_READS_PER_MINUTE",
        0,
        "The same for requests that only read.",
        group=_P,
        minimum=0,
        maximum=MAX_PER_MINUTE,
    )
    subject_share: float = _var(
        "AGENTIC_RAG_SUBJECT_SHARE",
        1.0,
        "Part of those limits that one caller (user or API key's subject) may use; 1: all of it.",
        group=_P,
        minimum=0.001,
        maximum=1,
    )
    jwks_url: str = _var(
        "AGENTIC_RAG_JWKS_URL",
        "",
        "Where the issuer of tokens publishes its keys (RS256, ES256 or EdDSA); empty means API keys only.",
        group=_I,
        url=True,
    )
    jwt_issuer: str = _var(
        "AGENTIC_RAG_JWT_ISSUER", "", "What a token's `iss` must be; needed with AGENTIC_RAG_JWKS_URL.", group=_I
    )
    jwt_audience: str = _var(
        "AGENTIC_RAG_JWT_AUDIENCE", "", "What a token's `aud` must be or contain; needed with it too.", group=_I
    )
    jwt_leeway_seconds: float = _var(
        "AGENTIC_RAG_JWT_LEEWAY_SECONDS",
        30.0,
        "How far the issuer's clock may be from ours.",
        group=_I,
        minimum=0,
        maximum=300,
    )
    jwt_org_claim: str = _var(
        "AGENTIC_RAG_JWT_ORG_CLAIM",
        "org_id",
        "Claim that names the organisation, by our id or by the one of `rag tenant create --external-ref`; dots lead "
        "into a claim.",
        group=_I,
    )
    jwt_subject_claim: str = _var("AGENTIC_RAG_JWT_SUBJECT_CLAIM", "sub", "Claim that names the caller.", group=_I)
    jwt_role_claim: str = _var(
        "AGENTIC_RAG_JWT_ROLE_CLAIM",
        "role",
        "Claim with the role, or roles of which the strongest known counts; a token without it is a viewer's.",
        group=_I,
    )
    jwt_groups_claim: str = _var(
        "AGENTIC_RAG_JWT_GROUPS_CLAIM", "groups", "Claim with the caller's groups, as documents name them.", group=_I
    )
    jwt_secret: str = _var(
        "AGENTIC_RAG_JWT_SECRET",
        "",
        "Secret of HS256 tokens, for development: taken only by a server that listens on loopback. `rag up` and "
        "`rag serve` make one in HOME for `rag token dev`.",
        group=_I,
        secret=True,
    )
    log_level: str = _var(
        "AGENTIC_RAG_LOG_LEVEL", "info", "Least level logged.", group=_O, choices=("debug", "info", "warning", "error")
    )
    otlp_endpoint: str = _var(
        "OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTLP/HTTP collector; empty means no exporter.", group=_O, url=True
    )
    service_name: str = _var("OTEL_SERVICE_NAME", "agentic-rag", "Service name on spans.", group=_O)
    corpus_dir: Path = _var(
        "AGENTIC_RAG_CORPUS_DIR", DEFAULT_CORPUS, "What `rag ingest` reads without --source.", group=_C
    )
    url: str = _var(
        "AGENTIC_RAG_URL", "", "Server that the command line talks to; empty means HOST:PORT.", group=_C, url=True
    )
    tenant: str = _var(
        "AGENTIC_RAG_TENANT",
        "",
        "Organisation that commands without a server act in (`rag --tenant`): its id, name or external id; empty means "
        "the embedded one.",
        group=_C,
    )
    token: str = _var(
        "AGENTIC_RAG_TOKEN", "", "Token of the command line; empty means HOME/dev-token.", group=_C, secret=True
    )

    @property
    def state_home(self) -> Path:
        """Where state is kept when AGENTIC_RAG_HOME is not given."""
        return self.home if self.home != UNSET_PATH else default_home()

    @property
    def blobs(self) -> Path:
        """The directory of originals."""
        return self.blob_dir if self.blob_dir != UNSET_PATH else self.state_home / "blobs"

    @property
    def models(self) -> Path:
        """Where `rag model get` puts models."""
        return self.state_home / "models"

    @property
    def model(self) -> Path:
        """The directory of the local model."""
        return self.model_dir if self.model_dir != UNSET_PATH else self.models / DEFAULT_MODEL

    @property
    def is_local(self) -> bool:
        """Whether the server listens where only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def partition_numbers(self) -> tuple[int, ...] | None:
        """AGENTIC_RAG_WORKER_PARTITIONS as numbers, each once; None for all."""
        listed = [part.strip() for part in self.worker_partitions.split(",") if part.strip()]
        return tuple(sorted({int(part) for part in listed})) or None

    @property
    def chat_task_names(self) -> tuple[str, ...]:
        """AGENTIC_RAG_CHAT_TASKS as a list."""
        return tuple(part.strip() for part in self.chat_tasks.split(",") if part.strip())

    @property
    def canonical_compatible_urls(self) -> frozenset[str]:
        """AGENTIC_RAG_COMPATIBLE_URLS in canonical form."""
        return frozenset(canonical_url(part) for part in self.compatible_urls.split(",") if part.strip())

    @property
    def prices(self) -> PriceTable:
        """What models cost. Raises ValueError for AGENTIC_RAG_MODEL_PRICES that cannot be read."""
        own = dict(parse_prices(self.model_prices))
        if self.chat_input_usd or self.chat_output_usd:
            own[f"{PLATFORM}:{self.chat_model}"] = TokenPrice(self.chat_input_usd, self.chat_output_usd)
        return PriceTable(own)

    @property
    def lexical_share_value(self) -> float | None:
        """HYBRID_LEXICAL_SHARE as a number; None for `auto`."""
        return None if self.lexical_share == "auto" else float(self.lexical_share)


def variables() -> tuple[tuple[str, Variable], ...]:
    """Field name and variable, in the order of the documentation."""
    return tuple((f.name, typing.cast(Variable, f.metadata["variable"])) for f in fields(Settings))


def default_home() -> Path:
    """`/var/lib/agentic-rag` for root, whose home others cannot enter; otherwise the platform's user data directory."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/agentic-rag")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "agentic-rag"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "agentic-rag"


def read_dotenv(path: Path) -> dict[str, str]:
    """`KEY=VALUE` lines of a file; comments, blank lines, `export ` and quotes are understood. A missing file is
    empty.
    """
    if not path.is_file():
        return {}
    values: dict[str, str] = {}
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip().removeprefix("export ")
        if not line or line.startswith("#") or "=" not in line:
            continue
        key, value = line.split("=", 1)
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        values[key.strip()] = value
    return values


def load_settings(
    environ: Mapping[str, str] | None = None, dotenv: Path | None = None, overrides: Mapping[str, str] | None = None
) -> Settings:
    """Read and validate everything. Order of precedence: overrides, environment, `.env` file, defaults.

    Errors: `SettingsInvalid` with every problem found.
    """
    merged = dict(read_dotenv(dotenv if dotenv is not None else Path(".env")))
    merged.update(os.environ if environ is None else environ)
    merged.update(overrides or {})
    problems: list[str] = _unknown(merged)
    hints = typing.get_type_hints(Settings)
    values: dict[str, Any] = {}
    for name, variable in variables():
        raw = merged.get(variable.name)
        if raw is None or raw == "":
            continue
        try:
            values[name] = parse(raw, hints[name], variable)
        except ValueError as problem:
            problems.append(f"{variable.name}={display_value(raw, variable)!r}: {problem}")
    settings = Settings(**{**_profile_defaults(values), **values})
    problems.extend(_contradictions(settings))
    if problems:
        raise SettingsInvalid(tuple(problems))
    return settings


def _profile_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a profile sets where the operator does not."""
    if values.get("profile") != PRODUCTION:
        return {}
    return {"introspection": False, "graphiql": False}


def child_environment(overrides: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process that this one starts: our own, with `overrides`."""
    return {**os.environ, **overrides}


def mask_secrets(settings: Settings) -> dict[str, str]:
    """Every variable with its effective value, secrets hidden and passwords cut out of URLs."""
    effective: dict[str, str] = {}
    for name, variable in variables():
        value = getattr(settings, name)
        text = str(value).lower() if isinstance(value, bool) else "" if value == UNSET_PATH else str(value)
        effective[variable.name] = display_value(text, variable)
    effective["AGENTIC_RAG_HOME"] = str(settings.state_home)
    return effective


def is_loopback(host: str) -> bool:
    """Whether a host as written in a setting is this machine, whatever a name server says."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _identity_problems(settings: Settings) -> list[str]:
    problems: list[str] = []
    if settings.jwks_url:
        parts = urlsplit(settings.jwks_url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            problems.append("AGENTIC_RAG_JWKS_URL must begin with https:// (http:// only on loopback)")
        if not settings.jwt_issuer or not settings.jwt_audience:
            problems.append("AGENTIC_RAG_JWKS_URL needs AGENTIC_RAG_JWT_ISSUER and AGENTIC_RAG_JWT_AUDIENCE")
    if settings.jwt_secret:
        if settings.jwks_url:
            problems.append("AGENTIC_RAG_JWT_SECRET is for development: unset it where AGENTIC_RAG_JWKS_URL is set")
        if len(settings.jwt_secret) < MIN_SECRET_CHARACTERS:
            problems.append(f"AGENTIC_RAG_JWT_SECRET must have at least {MIN_SECRET_CHARACTERS} characters")
        if settings.profile == PRODUCTION:
            problems.append("AGENTIC_RAG_JWT_SECRET is for development: unset it where AGENTIC_RAG_PROFILE=production")
        if not settings.is_local:
            problems.append("AGENTIC_RAG_JWT_SECRET is for development: AGENTIC_RAG_HOST must be a loopback address")
    return problems


def _unknown(merged: Mapping[str, str]) -> list[str]:
    known = [variable.name for _, variable in variables()]
    problems: list[str] = []
    for name in sorted(merged):
        if not name.startswith(OWNED_PREFIXES) or name.startswith(TEST_PREFIX) or name in known:
            continue
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; docs/configuration.md lists every setting"
        problems.append(f"{name}: unknown setting{hint}")
    return problems


def _contradictions(settings: Settings) -> list[str]:
    problems = _identity_problems(settings)
    if settings.vector_weight == 0 and settings.graph_weight == 0:
        problems.append("HYBRID_VECTOR_WEIGHT and HYBRID_GRAPH_WEIGHT are both 0: no arm would count")
    if settings.embedder == "openai" and not settings.openai_api_key:
        problems.append("RAG_EMBEDDER=openai needs OPENAI_API_KEY (any text, for a server that checks none)")
    if settings.enable_llm_judge and not settings.chat_model:
        problems.append("AGENTIC_RAG_ENABLE_LLM_JUDGE=true needs AGENTIC_RAG_CHAT_MODEL: the chat model is the judge")
    if settings.chat_model and not settings.openai_api_key:
        problems.append("AGENTIC_RAG_CHAT_MODEL needs OPENAI_API_KEY (any text, for a server that checks none)")
    problems.extend(_door_problems(settings))
    unknown = [name for name in settings.chat_task_names if name not in CHAT_TASKS]
    if unknown:
        problems.append(
            f"AGENTIC_RAG_CHAT_TASKS={settings.chat_tasks!r}: expected some of {', '.join(CHAT_TASKS)}, separated by "
            "commas"
        )
    problems.extend(_key_problems(settings))
    if settings.blob_store == "s3" and not (settings.s3_bucket and settings.s3_access_key and settings.s3_secret_key):
        problems.append(
            "AGENTIC_RAG_BLOB_STORE=s3 needs AGENTIC_RAG_S3_BUCKET, AGENTIC_RAG_S3_ACCESS_KEY and "
            "AGENTIC_RAG_S3_SECRET_KEY: no credentials are looked for elsewhere"
        )
    try:
        served = settings.partition_numbers or ()
    except ValueError:
        served = (-1,)
    if not all(0 <= partition < settings.queue_partitions for partition in served):
        problems.append(
            f"AGENTIC_RAG_WORKER_PARTITIONS={settings.worker_partitions!r}: expected numbers from 0 to "
            f"{settings.queue_partitions - 1} (below AGENTIC_RAG_QUEUE_PARTITIONS), separated by commas"
        )
    try:
        share = settings.lexical_share_value
    except ValueError:
        problems.append(f"HYBRID_LEXICAL_SHARE={settings.lexical_share!r}: expected `auto` or a number from 0 to 1")
    else:
        if share is not None and not 0 <= share <= 1:
            problems.append(f"HYBRID_LEXICAL_SHARE={settings.lexical_share!r}: expected `auto` or a number from 0 to 1")
    return problems


def _key_problems(settings: Settings) -> list[str]:
    problems: list[str] = []
    try:
        parse_master_keys(settings.master_keys)
    except ValueError as problem:
        problems.append(f"AGENTIC_RAG_MASTER_KEYS: {problem}")
    try:
        _ = settings.canonical_compatible_urls
    except ValueError as problem:
        problems.append(f"AGENTIC_RAG_COMPATIBLE_URLS={settings.compatible_urls!r}: {problem}")
    try:
        _ = settings.prices
    except ValueError as problem:
        problems.append(f"AGENTIC_RAG_MODEL_PRICES: {problem}")
    return problems


def _door_problems(settings: Settings) -> list[str]:
    problems: list[str] = []
    for name, listed in (
        ("AGENTIC_RAG_HTTP_FETCH_HOSTS", settings.http_fetch_hosts),
        ("AGENTIC_RAG_LINK_HOSTS", settings.link_hosts),
    ):
        try:
            parse_host_list(listed)
        except ValueError as wrong:
            problems.append(f"{name}={listed!r}: {wrong}")
    if settings.persisted_only and settings.persisted_operations == UNSET_PATH:
        problems.append("AGENTIC_RAG_PERSISTED_ONLY needs AGENTIC_RAG_PERSISTED_OPERATIONS: the file with them")
    if settings.enable_http_fetch and not settings.http_fetch_hosts.strip():
        problems.append("AGENTIC_RAG_ENABLE_HTTP_FETCH needs AGENTIC_RAG_HTTP_FETCH_HOSTS: the hosts it may ask")
    return problems
