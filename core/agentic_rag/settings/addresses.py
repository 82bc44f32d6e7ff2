"""Addresses of stores with their login inside, taken apart; and how such an address is printed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

_S3_FORM = "s3://ACCESS_KEY:SECRET_KEY@BUCKET?endpoint=URL&region=NAME"
_SECRETS = (
    # Up to the last @: a password that was not percent-encoded may hold any character.
    re.compile(r"(?:(?<=://)|^(?!\w[\w+.-]*://))(?P<kept>[^:@/?#\s]*:)(?P<secret>.*)(?=@)", re.DOTALL),
    # A login without a colon may be a key as well as a name.
    re.compile(r"(?P<kept>(?<=^s3://)|(?<=^brave://)|(?<=^serpapi://)|(?<=^searxng://))(?P<secret>[^:@/?#\s]+)(?=@)"),
    re.compile(r"(?i)(?P<kept>[?&][a-z_-]*(?:pass|secret|token|key)[a-z_-]*=)(?P<secret>[^&#]*)"),
    # A data source name of libpq.
    re.compile(r"(?i)(?P<kept>\bpassword\s*=\s*)(?P<secret>'(?:[^'\\]|\\.)*'|[^\s&#']+)"),
)
MASK = "********"
_LAST_PORT = 65_535
_LEAST_PIECE = 4
"""Shorter pieces of a password are no secret and may be any word."""


@dataclass(frozen=True, slots=True)
class Neo4jAddress:
    """Where Neo4j is, and the login. `uri` holds no login: it also names the graph in the database."""

    uri: str
    user: str
    password: str = field(repr=False)
    """Empty for a server that asks for none."""


@dataclass(frozen=True, slots=True)
class S3Address:
    """A bucket of an S3-compatible store. An empty `endpoint` means AWS."""

    bucket: str
    access_key: str
    secret_key: str = field(repr=False)
    endpoint: str = ""
    region: str = "us-east-1"


def parse_neo4j(text: str) -> Neo4jAddress:
    """The address of `bolt://USER:PASSWORD@HOST`; the user is `neo4j` unless the text names one."""
    parts = urlsplit(text)
    uri = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return Neo4jAddress(uri, unquote(parts.username or "neo4j"), unquote(parts.password or ""))


def require_ports(text: str) -> None:
    """Every port of an address is one. Errors: ValueError."""
    hosts = re.split("[/?#]", text.partition("://")[2].rpartition("@")[2], maxsplit=1)[0]
    for host in hosts.split(","):
        port = re.search(r":(\d+)$", host)
        if port and int(port[1]) > _LAST_PORT:
            raise ValueError(f"there is no port {port[1]}: the last one is {_LAST_PORT}")


def parse_s3(text: str) -> S3Address:
    """The address of `s3://ACCESS_KEY:SECRET_KEY@BUCKET?endpoint=URL&region=NAME`. Errors: ValueError."""
    parts = urlsplit(text)
    options = dict(parse_qsl(parts.query))
    bucket = parts.netloc.rpartition("@")[2]
    if not (parts.scheme == "s3" and bucket and parts.username and parts.password) or parts.path.strip("/"):
        raise ValueError(
            f"expected {_S3_FORM}; no credentials are looked for elsewhere, and `/`, `@`, `:` and `+` in them are "
            "written %2F, %40, %3A and %2B"
        )
    if not options.keys() <= {"endpoint", "region"}:
        raise ValueError(f"expected {_S3_FORM}")
    return S3Address(bucket, unquote(parts.username), unquote(parts.password), **options)


def parse_s3_folder(text: str) -> tuple[S3Address, str]:
    """The bucket and the folder of `s3://ACCESS_KEY:SECRET_KEY@BUCKET/FOLDER?endpoint=URL&region=NAME`. Errors:
    ValueError, which shows nothing of the text.
    """
    parts = urlsplit(text)
    folder = parts.path.strip("/")
    if not folder or ".." in folder.split("/"):
        raise ValueError(f"expected a folder behind the bucket, as in {_S3_FORM.replace('BUCKET', 'BUCKET/FOLDER')}")
    return parse_s3(parts._replace(path="").geturl()), folder


def mask_password(url: str) -> str:
    """A URL with its passwords replaced, in front of the host and in the query, fit for logs and terminals."""
    for pattern in _SECRETS:
        url = pattern.sub(rf"\g<kept>{MASK}", url)
    return url


def hide_passwords(text: str, urls: Iterable[str]) -> str:
    """A text of another program without the passwords of these URLs and their pieces, which a parser may quote."""
    secrets = {found["secret"].strip("'") for url in urls for pattern in _SECRETS for found in pattern.finditer(url)}
    pieces = {piece for secret in secrets for piece in re.split(r"[/@:?#&\s]", secret) if len(piece) >= _LEAST_PIECE}
    for secret in sorted({*filter(None, secrets), *pieces, *map(unquote, pieces)}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text
