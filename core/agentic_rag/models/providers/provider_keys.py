"""API keys of model providers that organisations bring: their stored form, the part that may be shown, and
the text form of the master keys that wrap their data keys.
"""

from __future__ import annotations

import base64
import binascii
import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.secret import Secret

MIN_KEY_CHARACTERS = 8
"""A shorter text is a typing mistake; the four characters shown would be half of it."""
MAX_KEY_CHARACTERS = 500
HINT_CHARACTERS = 4
"""Last characters of a key that are shown, so that its owner can recognise it."""
MIN_HINTED_KEY_CHARACTERS = 20
"""Keys shorter than this have no hint."""


class Provider(enum.Enum):
    """A provider of models."""

    OPENAI = "openai"
    GEMINI = "gemini"
    ANTHROPIC = "anthropic"
    """Chat only: Anthropic offers no embeddings."""
    COMPATIBLE = "compatible"
    """An organisation's own server with OpenAI's interface (Ollama, vLLM), at a URL the operator allows."""


@dataclass(frozen=True, slots=True)
class SealedKey:
    """An envelope: the key is encrypted with its own data key, and the master key `master_id` wraps that data key."""

    master_id: str
    wrap_nonce: bytes
    wrapped_key: bytes
    nonce: bytes
    ciphertext: bytes


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """A stored key. `hint` is the part that may be shown: its last four characters, or nothing for a short key."""

    provider: Provider
    sealed: SealedKey
    hint: str
    base_url: str | None
    """Set for `COMPATIBLE` only; the operator sets the addresses of the other providers."""
    set_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NewProviderKey:
    """A validated key that a caller wants to store."""

    provider: Provider
    key: Secret
    base_url: str | None = None

    @property
    def hint(self) -> str:
        """The part of the key that may be shown."""
        text = self.key.reveal()
        return text[-HINT_CHARACTERS:] if len(text) >= MIN_HINTED_KEY_CHARACTERS else ""


def validate_key(given: NewProviderKey, allowed_urls: Collection[str]) -> NewProviderKey:
    """Strip the key and put its URL into canonical form. `allowed_urls` are canonical.

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
    """The canonical form in which base URLs are compared: lower-case scheme and host, no trailing slash.

    Errors: `ValueError` with the reason.
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


KEY_BYTES = 32
"""AES-256."""


def format_master_key(master_id: str, key: bytes) -> str:
    """A master key in the form of AGENTIC_RAG_MASTER_KEYS: `ID:BASE64`."""
    return f"{master_id}:{base64.b64encode(key).decode()}"


def parse_master_keys(text: str) -> Mapping[str, bytes]:
    """Parse `ID:BASE64[,ID:BASE64…]` into keys by id. Errors: `ValueError`; its message repeats no key."""
    masters: dict[str, bytes] = {}
    for place, part in enumerate((one.strip() for one in text.split(",") if one.strip()), 1):
        master_id, _, encoded = part.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"entry {place} is not ID:BASE64") from error
        if not master_id or not master_id.isascii() or not master_id.isprintable() or len(master_id) > 100:
            raise ValueError(f"entry {place} has no id of printable ASCII characters before its colon")
        if len(key) != KEY_BYTES:
            raise ValueError(f"entry {place} has {len(key)} bytes; AES-256 takes {KEY_BYTES}")
        if master_id in masters:
            raise ValueError(f"the id {master_id!r} stands there twice")
        masters[master_id] = key
    return masters
