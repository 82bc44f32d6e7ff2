"""How a client of an S3-compatible store connects."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from agentic_rag.web.proxies import Proxies

if TYPE_CHECKING:
    from collections.abc import Callable

    from obstore.store import ClientConfig, S3Credential

CONNECT_SECONDS = 5
_EVERY_HOST = "*,0.0.0.0/0,::/0"
"""The star means names alone."""


def endpoint_of(endpoint: str, region: str) -> str:
    """The address that is asked; AWS's of the region where none is named."""
    return endpoint or f"https://s3.{region}.amazonaws.com"


def client_options(endpoint: str, proxies: Proxies, seconds: float) -> ClientConfig:
    """For the address that is asked; a call takes `seconds` at most."""
    proxy = proxies.of(endpoint)
    options: ClientConfig = {
        "allow_http": endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=seconds),
        # A client without a proxy reads those of the environment: one that is used for no host keeps it from them.
        "proxy_url": proxy or "http://127.0.0.1",
    }
    if proxy is None:
        options["proxy_excludes"] = _EVERY_HOST
    return options


def login(access_key: str, secret_key: str) -> Callable[[], S3Credential]:
    """The credential that is stated, and nothing beside: to one given as options the client adds AWS_SESSION_TOKEN of
    the environment, which is somebody else's.
    """
    stated: S3Credential = {
        "access_key_id": access_key,
        "secret_access_key": secret_key,
        "token": None,
        "expires_at": None,
    }
    return lambda: stated
