"""Keys that organisations bring for the providers of models: what is stored of them and what may be shown."""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.secret import Secret

MIN_KEY_CHARACTERS = 8
"""Shorter texts are typing mistakes, and four shown characters would be half of them."""
MAX_KEY_CHARACTERS = 500
HINT_CHARACTERS = 4
"""Of a key, so that its owner can tell which one is stored."""
MIN_HINTED_KEY_CHARACTERS = 20
"""Of a shorter key nothing is shown."""


class Provider(enum.Enum):
    """Who serves a model."""

    OPENAI = "openai"
    GEMINI = "gemini"
    ANTHROPIC = "anthropic"
    """Chat only: it has no embeddings."""
    COMPATIBLE = "compatible"
    """A server of the organisation's own with OpenAI's interface (Ollama, vLLM), at a URL the operator allows."""


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A key in its envelope: encrypted with a data key of its own, which the master key `master_id` wraps."""

    master_id: str
    wrap_nonce: bytes
    wrapped_key: bytes
    nonce: bytes
    ciphertext: bytes


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """A stored key. `hint` is what may be shown of it: its last four characters, or nothing of a short one."""

    provider: Provider
    sealed: SealedKey
    hint: str
    base_url: str | None
    """Of a `COMPATIBLE` server; None for the others, whose addresses the operator sets."""
    set_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewProviderKey:
    """A key as somebody hands it over, checked."""

    provider: Provider
    key: Secret
    base_url: str | None = None

    @property
    def hint(self) -> str:
        """What may be shown of the key."""
        text = self.key.reveal()
        return text[-HINT_CHARACTERS:] if len(text) >= MIN_HINTED_KEY_CHARACTERS else ""


def validate_key(given: NewProviderKey, allowed_urls: Collection[str]) -> NewProviderKey:
    """A key without the space around it and with its URL in canonical form. `allowed_urls` are canonical, too.

    Errors: `InvalidInput` codes PROVIDER_KEY_INVALID, PROVIDER_URL_REFUSED. Neither message repeats the key.
    """
    text = given.key.reveal().strip()
    if not MIN_KEY_CHARACTERS <= len(text) <= MAX_KEY_CHARACTERS or not (text.isascii() and text.isprintable()):
        raise InvalidInput(
            f"A provider's key has {MIN_KEY_CHARACTERS} to {MAX_KEY_CHARACTERS} printable ASCII characters. For a "
            "server that checks none, give any such text.",
            code="PROVIDER_KEY_INVALID",
            path=("input", "key"),
        )
    if " " in text:
        raise InvalidInput(
            "A provider's key holds no spaces: give the key alone.", code="PROVIDER_KEY_INVALID", path=("input", "key")
        )
    return replace(given, key=Secret(text), base_url=_validate_url(given, allowed_urls))


def _validate_url(given: NewProviderKey, allowed_urls: Collection[str]) -> str | None:
    if given.provider is not Provider.COMPATIBLE:
        if given.base_url:
            raise _url_error(f"The address of {given.provider.value} is set by the operator: give no base URL.")
        return None
    try:
        url = canonical_url(given.base_url or "")
    except ValueError as error:
        raise _url_error(f"A key for `compatible` needs the base URL of the server: {error}.") from error
    if url not in allowed_urls:
        raise _url_error(
            "The operator does not allow this base URL. Ask for it to be added to AGENTIC_RAG_COMPATIBLE_URLS."
        )
    return url


def canonical_url(text: str) -> str:
    """A base URL in the one form in which it is compared: lower-case scheme and host, no slash at its end.

    Errors: `ValueError`, saying what is wrong.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise ValueError("it is no URL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it begins with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("it has no login, query or fragment")
    if not text.isascii() or not text.strip().isprintable() or any(sign in text.strip() for sign in ' \\"<>'):
        raise ValueError("it holds a character that URLs do not")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def _url_error(message: str) -> InvalidInput:
    return InvalidInput(message, code="PROVIDER_URL_REFUSED", path=("input", "baseUrl"))
