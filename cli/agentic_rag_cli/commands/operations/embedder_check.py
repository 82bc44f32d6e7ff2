"""The embedder and reader checks of `rag doctor`."""

from __future__ import annotations

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations.check import ANSWER_SECONDS, DEGRADED, Check, failure, ok


async def check_embedder(settings: Settings) -> Check:
    """The embedder needs nothing, or its server accepts our key."""
    if settings.models.embedder == "deterministic":
        return ok("embedder", "deterministic (needs no key)")
    if not settings.models.openai_base_url:
        return ok("embedder", f"{settings.models.embedding_model} at the provider's own address (not contacted)")
    import httpx2

    url = f"{settings.models.openai_base_url.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {settings.models.openai_api_key}"}
    through = httpx2.AsyncHTTPTransport(proxy=settings.proxies.of(url))
    try:
        async with httpx2.AsyncClient(timeout=ANSWER_SECONDS, transport=through) as client:
            response = await client.get(url, headers=headers)
    except httpx2.TransportError as error:
        return failure(
            "embedder",
            "EMBEDDER_UNREACHABLE",
            f"OPENAI_BASE_URL does not answer: {error}",
            "Start that server or correct OPENAI_BASE_URL; RAG_EMBEDDER=deterministic needs none.",
        )
    if response.status_code in (401, 403):
        return failure("embedder", "PROVIDER_KEY_REFUSED", "the key was refused", "Correct OPENAI_API_KEY.")
    return ok("embedder", f"{settings.models.embedding_model}, its server answers")


def check_reader(settings: Settings) -> Check:
    """The shipped model reads the sentences that may answer; without onnxruntime their words decide alone."""
    from agentic_rag.bootstrap import reads_units

    if reads_units(settings):
        return ok("reader", "the shipped model reads the sentences that may answer")
    told = "onnxruntime is not installed: sentences are chosen by their words alone"
    return Check("reader", DEGRADED, told, "MODEL_TOOLS_MISSING", "pip install 'agentic-rag[onnx]'")


def check_model(settings: Settings) -> Check:
    """The local model is there, whole."""
    from agentic_rag.bootstrap import local_space

    try:
        space = local_space(settings)
    except Misconfigured as error:
        return failure("embedder", error.code, error.message, "Run rag model get.")
    return ok("embedder", f"{space.name} in {settings.model_directory}")
