"""Settings of embedding and chat models, and of the keys that organisations bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.models.billing.prices import FREE, PriceTable, parse_prices
from agentic_rag.models.chat.request import ChatTask
from agentic_rag.models.embedding.local_models import DEFAULT_MODEL, LOCAL_MODELS, LocalModel
from agentic_rag.models.embedding.space import KNOWN_DIMENSIONS, MAX_DIMENSIONS, MODEL_PROVIDER
from agentic_rag.models.providers.provider_keys import Provider, canonical_url, parse_master_keys
from agentic_rag.settings.variable import UNSET_PATH, Env, split_list

PAID_EMBEDDER = "openai"
CHAT_TASKS = tuple(task.value for task in (ChatTask.REWRITE, ChatTask.PLAN, ChatTask.SYNTHESIZE, ChatTask.EXTRACT))
DEFAULT_PROVIDER_URLS = {
    Provider.GEMINI: "https://generativelanguage.googleapis.com/v1beta/openai",
    Provider.ANTHROPIC: "https://api.anthropic.com/v1",
}
"""The OpenAI-compatible interfaces of both."""


def parse_chat_tasks(text: str) -> tuple[str, ...]:
    """The tasks of `rewrite,plan`. Errors: ValueError."""
    tasks = tuple(split_list(text))
    if not set(tasks) <= set(CHAT_TASKS):
        raise ValueError(f"expected some of {', '.join(CHAT_TASKS)}, separated by commas")
    return tasks


def parse_embedding_model(text: str) -> tuple[str, int]:
    """The name and dimensions of `MODEL[:DIMENSIONS]`. Errors: ValueError."""
    model, _, last = text.rpartition(":")
    if not last.isdigit() or text in KNOWN_DIMENSIONS:
        model, last = text, str(KNOWN_DIMENSIONS.get(text, 0))
    if not model or not 1 <= int(last) <= MAX_DIMENSIONS:
        raise ValueError(f"expected MODEL:DIMENSIONS with 1 to {MAX_DIMENSIONS} dimensions: this model's are not known")
    return model, int(last)


def parse_provider_urls(text: str) -> tuple[Mapping[Provider, str], frozenset[str]]:
    """The addresses of Gemini and Anthropic, and those of servers that organisations may name. Errors: ValueError."""
    own = dict(DEFAULT_PROVIDER_URLS)
    allowed: set[str] = set()
    for part in split_list(text):
        name, _, url = part.partition("=")
        provider = next((one for one in own if one.value == name.strip()), None)
        if provider is None:
            allowed.add(canonical_url(part))
        else:
            own[provider] = canonical_url(url)
    return own, frozenset(allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsConfig:
    """The platform's models, and what organisations with keys of their own may reach."""

    embedder: Annotated[
        Literal[
            "deterministic", "onnx", "onnx:minilm", "onnx:bge-small", "onnx:e5-small", "onnx:e5-multilingual", "openai"
        ],
        Env("RAG_EMBEDDER"),
    ] = "deterministic"
    """`deterministic` needs no key; `onnx:NAME` is a model on this machine (`rag model get NAME`), `onnx` alone is
    minilm or the model in AGENTIC_RAG_MODEL_DIR; `openai` is any OpenAI-compatible server. Where this says nothing and
    the database is the embedded one, the command line and `rag up` take minilm once it is installed.
    """
    model_dir: Annotated[Path, Env("AGENTIC_RAG_MODEL_DIR")] = UNSET_PATH
    """Directory with model.onnx and tokenizer.json of a model of your own for the embedder `onnx`; empty means the
    directory of the model's name in HOME/models.
    """
    openai_api_key: Annotated[str, Env("OPENAI_API_KEY", is_secret=True)] = field(default="", repr=False)
    """Key of the OpenAI-compatible server."""
    openai_base_url: Annotated[str, Env("OPENAI_BASE_URL", is_url=True)] = "https://api.openai.com/v1"
    """Base URL of the OpenAI-compatible server."""
    embedding_model: Annotated[str, Env("AGENTIC_RAG_EMBEDDING_MODEL", check=parse_embedding_model)] = (
        "text-embedding-3-small"
    )
    """Model of the embedder `openai`, as `MODEL:DIMENSIONS`; a known model needs no dimensions."""
    timeout_seconds: Annotated[float, Env("AGENTIC_RAG_PROVIDER_TIMEOUT_SECONDS"), Meta(ge=0.1)] = 60.0
    """Time-out of one embedding or chat call; a chat call for an answer gets at most a share of the answer's time."""
    chat_model: Annotated[str, Env("AGENTIC_RAG_CHAT_MODEL")] = ""
    """Chat model at OPENAI_BASE_URL with structured output; empty means rules, and nothing is sent to any model."""
    chat_tasks: Annotated[str, Env("AGENTIC_RAG_CHAT_TASKS", check=parse_chat_tasks)] = "rewrite,plan,synthesize"
    """Tasks of the chat model, of `rewrite` (follow-up questions), `plan`, `synthesize`, and `extract` (entities, while
    documents are ingested, a call for each new chunk); HyDE and the judge have switches of their own.
    """
    chat_temperature: Annotated[float, Env("AGENTIC_RAG_CHAT_TEMPERATURE"), Meta(ge=-1, le=2)] = 0.0
    """Sampling temperature; -1 sends none, for models that refuse the field."""
    enable_llm_judge: Annotated[bool, Env("AGENTIC_RAG_ENABLE_LLM_JUDGE")] = False
    """Let the chat model judge each sentence of an answer against what it cites, and drop what it does not find
    supported; `rag eval` then also has it grade each answer.
    """
    master_keys: Annotated[str, Env("AGENTIC_RAG_MASTER_KEYS", is_secret=True, check=parse_master_keys)] = field(
        default="", repr=False
    )
    """Keys that wrap the provider keys of organisations, as `ID:BASE64[,ID:BASE64]`: the first wraps new keys, the
    others still unwrap old ones. `rag provider-key master` makes one.
    """
    compatible_urls: Annotated[str, Env("AGENTIC_RAG_COMPATIBLE_URLS", check=parse_provider_urls)] = ""
    """Base URLs of OpenAI-compatible servers (Ollama, vLLM) that organisations may name, separated by commas; no other
    address is ever asked on their behalf. `gemini=URL` and `anthropic=URL` replace the addresses that organisations'
    keys for these two go to; keys for OpenAI go to OPENAI_BASE_URL.
    """
    tenants_bring_keys: Annotated[bool, Env("AGENTIC_RAG_TENANTS_BRING_KEYS")] = True
    """Organisations beside the embedded one bring their own key (`rag provider-key set`) where the platform's embedder
    costs money, which every model does whose price is not known to be 0. `rag tenant create --platform-models` makes an
    exception.
    """
    model_prices: Annotated[str, Env("AGENTIC_RAG_MODEL_PRICES", check=parse_prices)] = ""
    """Prices in US dollars per million tokens, `MODEL=INPUT/OUTPUT` or `PROVIDER:MODEL=INPUT/OUTPUT`, separated by
    commas, before the published ones: budgets cannot hold calls of models without a price. `platform:MODEL` is
    AGENTIC_RAG_CHAT_MODEL.
    """

    @property
    def is_local_model(self) -> bool:
        """Whether a model on this machine embeds."""
        return self.embedder.partition(":")[0] == MODEL_PROVIDER

    @property
    def local_model(self) -> LocalModel:
        """The model that RAG_EMBEDDER names, or the default."""
        return LOCAL_MODELS[self.embedder.partition(":")[2] or DEFAULT_MODEL]

    @property
    def embedding(self) -> tuple[str, int]:
        """Name and dimensions of AGENTIC_RAG_EMBEDDING_MODEL."""
        return parse_embedding_model(self.embedding_model)

    @property
    def temperature(self) -> float | None:
        """AGENTIC_RAG_CHAT_TEMPERATURE; None where none is sent."""
        return self.chat_temperature if self.chat_temperature >= 0 else None

    @property
    def tasks(self) -> frozenset[ChatTask]:
        """What the chat model is asked to do, judging included."""
        tasks = {ChatTask(name) for name in parse_chat_tasks(self.chat_tasks)}
        return frozenset(tasks | {ChatTask.JUDGE} if self.enable_llm_judge else tasks)

    @property
    def provider_urls(self) -> Mapping[Provider, str]:
        """Where the keys of organisations go."""
        return {Provider.OPENAI: self.openai_base_url, **parse_provider_urls(self.compatible_urls)[0]}

    @property
    def tenant_urls(self) -> frozenset[str]:
        """The addresses that organisations may name, in canonical form."""
        return parse_provider_urls(self.compatible_urls)[1]

    @property
    def tenants_need_keys(self) -> bool:
        """Whether AGENTIC_RAG_TENANTS_BRING_KEYS applies to the platform's embedder."""
        is_paid = self.embedder == PAID_EMBEDDER and self.prices.of(PAID_EMBEDDER, self.embedding[0]) != FREE
        return self.tenants_bring_keys and is_paid

    @property
    def prices(self) -> PriceTable:
        """What models cost."""
        return PriceTable(parse_prices(self.model_prices))

    def problems(self) -> list[str]:
        """Settings that contradict each other, a line each."""
        problems: list[str] = []
        if self.embedder.startswith(f"{MODEL_PROVIDER}:") and self.model_dir != UNSET_PATH:
            problems.append(f"RAG_EMBEDDER={self.embedder} and AGENTIC_RAG_MODEL_DIR name two models: set one of them")
        if self.embedder == "openai" and not self.openai_api_key:
            problems.append("RAG_EMBEDDER=openai needs OPENAI_API_KEY (any text, for a server that checks none)")
        if self.enable_llm_judge and not self.chat_model:
            problems.append("AGENTIC_RAG_ENABLE_LLM_JUDGE=true needs AGENTIC_RAG_CHAT_MODEL: the chat model judges")
        if self.chat_model and not self.openai_api_key:
            problems.append("AGENTIC_RAG_CHAT_MODEL needs OPENAI_API_KEY (any text, for a server that checks none)")
        return problems
