"""Sources that a workspace follows: what was said about each, and how its last synchronisations went."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.provider_keys import SealedKey
from agentic_rag.tenancy.principals import WorkspaceRef


class SourceKind(enum.Enum):
    """What a source is; `adapters.sources.connectors` has a row for each."""

    DIRECTORY = "directory"
    """A folder that the workers see."""
    GIT = "git"
    """A repository at an https address, or one that the workers see."""
    S3 = "s3"
    """A bucket of AWS or of a compatible store, or the keys below a prefix of one."""
    SITEMAP = "sitemap"
    """The pages that a site's sitemap lists."""


OPTIONS: Mapping[SourceKind, frozenset[str]] = {
    SourceKind.DIRECTORY: frozenset(),
    SourceKind.GIT: frozenset({"branch"}),
    SourceKind.S3: frozenset({"endpoint", "region"}),
    SourceKind.SITEMAP: frozenset(),
}
"""What may be said beside the location of each kind."""

_CREDENTIALS: Mapping[SourceKind, tuple[re.Pattern[str], str]] = {
    SourceKind.GIT: (re.compile(r"\S+"), "a token, or `USER:TOKEN`"),
    SourceKind.S3: (re.compile(r"[^\s:]+:\S+"), "`ACCESS_KEY:SECRET_KEY`"),
}
"""The form of a credential of each kind that takes one, in characters and in words."""

DEFAULT_EVERY_SECONDS = 900
SHORTEST_SECONDS = 15
LONGEST_SECONDS = 30 * 24 * 3600
MAX_LOCATION_CHARACTERS = 2048
MOST_SHOWN = 20
MAX_PATTERNS = 50
MAX_PREFIX_CHARACTERS = 200

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class NewSource:
    """A source as somebody states it."""

    name: str
    kind: SourceKind
    location: str
    """A folder, a repository, a bucket with or without `/PREFIX`, or the address of a sitemap."""
    prefix: str | None = None
    """Begins the paths of its documents; None: the name and a slash, nothing for a sitemap."""
    include: tuple[str, ...] = ()
    """Patterns (`*.md`) of the files that are taken; none: all."""
    readable_by: tuple[str, ...] = ()
    """The readers of its documents where the source itself names none; none: the whole workspace."""
    every_seconds: int = DEFAULT_EVERY_SECONDS
    """How often it is looked at; 0: when asked."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    is_internal: bool = False
    """It may reach files of the workers, and addresses that are not public."""

    @property
    def needs_inside(self) -> bool:
        """Whether it cannot work without reaching inside."""
        is_local = self.kind is SourceKind.GIT and not self.location.lower().startswith("https://")
        return self.kind is SourceKind.DIRECTORY or is_local or bool(self.options.get("endpoint"))


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How the last synchronisations of a source went. `counts` has the files by what became of them, of the newest one
    that was not refused.
    """

    cursor: str | None = None
    failures: int = 0
    """Synchronisations that failed one after the other."""
    error_code: str | None = None
    error_message: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    unreadable: tuple[UnreadableItem, ...] = ()
    """The first of the files that it could not read, at most `MOST_SHOWN`."""
    started_at: datetime | None = None
    synced_at: datetime | None = None
    """The end of the last one that did not fail."""
    next_at: datetime | None = None
    """When the schedule looks again; None: when asked."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a workspace follows. The stored credential is not part of it."""

    workspace: WorkspaceRef
    source_id: UUID
    stated: NewSource
    added_by: str
    """Owns the documents that it brings."""
    created_at: datetime
    sealed: SealedKey | None = field(default=None, repr=False)
    """Its credential, encrypted."""
    is_leaving: bool = False
    """It is being removed, with its documents."""
    health: SourceHealth = SourceHealth()

    @property
    def provenance(self) -> str:
        """What its documents carry as their `source`."""
        return f"source:{self.source_id}"

    @property
    def prefix(self) -> str:
        """Begins the paths of its documents."""
        return self.stated.prefix or ""


def validate_source(new: NewSource) -> NewSource:
    """The source with its prefix. Errors: `InvalidInput` code SOURCE_INVALID, whose path names the argument."""
    if _NAME.fullmatch(new.name) is None:
        raise _invalid("A source's name has 1 to 100 letters, digits, dots, dashes and underscores.", "name")
    if not 0 < len(new.location) <= MAX_LOCATION_CHARACTERS or not new.location.isprintable():
        raise _invalid("Say where the source is: a folder, a repository, a bucket or a sitemap.", "location")
    if "@" in new.location.partition("://")[2].partition("/")[0]:
        raise _invalid("A location holds no user name or password: give the credential apart.", "location")
    if new.every_seconds and not SHORTEST_SECONDS <= new.every_seconds <= LONGEST_SECONDS:
        raise _invalid(f"A schedule has {SHORTEST_SECONDS} seconds to 30 days, or 0 for none.", "every")
    if unknown := sorted(new.options.keys() - OPTIONS[new.kind]):
        raise _invalid(f"A source of kind {new.kind.value} has no {', '.join(unknown)}.", *unknown)
    if any(not value or not value.isprintable() or value.startswith("-") for value in new.options.values()):
        raise _invalid("An option is empty, or begins with a dash.", *sorted(new.options))
    if len(new.include) > MAX_PATTERNS or not all(0 < len(one) <= 200 for one in new.include):
        raise _invalid(f"There may be {MAX_PATTERNS} patterns of 1 to 200 characters.", "include")
    if new.needs_inside and not new.is_internal:
        raise _invalid(
            f"A source of kind {new.kind.value} at {new.location!r} reaches inside: an operator adds it as `internal` "
            "(`--internal`).",
            "internal",
        )
    if new.is_internal and new.kind is SourceKind.SITEMAP:
        raise _invalid("A sitemap is read by the guarded client, which reaches nothing inside.", "internal")
    default = "" if new.kind is SourceKind.SITEMAP else f"{new.name}/"
    prefix = default if new.prefix is None else new.prefix
    parts = prefix.split("/")
    if len(prefix) > MAX_PREFIX_CHARACTERS or not prefix.isprintable() or prefix.startswith("/") or ".." in parts:
        raise _invalid("A prefix is a relative path such as `handbook/`.", "prefix")
    return replace(new, prefix=prefix)


def validate_credential(kind: SourceKind, secret: Secret | None) -> Secret | None:
    """The credential without white space around it. Errors: `InvalidInput` code SOURCE_INVALID for one that a source of
    the kind cannot use.
    """
    if secret is None:
        return None
    if kind not in _CREDENTIALS:
        raise _invalid(f"A source of kind {kind.value} takes no credential.", "credential")
    pattern, words = _CREDENTIALS[kind]
    text = secret.reveal().strip()
    if pattern.fullmatch(text) is None or not text.isprintable():
        raise _invalid(f"The credential of a source of kind {kind.value} is {words}, on one line.", "credential")
    return Secret(text)


def _invalid(message: str, *path: str) -> InvalidInput:
    return InvalidInput(message, code="SOURCE_INVALID", path=("input", *path))


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """Something the source names but cannot read; reported, never silently skipped."""

    path: str
    code: str
    message: str
