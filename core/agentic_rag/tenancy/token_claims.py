"""Derives the caller from the verified claims of a token. The operator configures the claim names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, Role

MAX_GROUPS = 200
"""Most groups of one caller; each becomes a principal that documents may name."""


LOCAL_ISSUER = "agentic-rag-development"
LOCAL_AUDIENCE = "agentic-rag"
"""The audience of development tokens when the settings name no issuer."""


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """The names of the claims; dots join names to reach a claim inside another."""

    organisation: str = "org_id"
    role: str = "role"
    groups: str = "groups"
    subject: str = "sub"


@dataclass(frozen=True, slots=True)
class ClaimedIdentity:
    """The caller as the token states it. `organisation` is our id or the issuer's id of it."""

    organisation: str
    subject: str
    role: Role
    groups: tuple[str, ...]


def parse_identity(claims: Mapping[str, Any], names: ClaimNames) -> ClaimedIdentity:
    """The caller that the claims describe. A token without a role gives a viewer; of several roles the strongest known
    one counts. Errors: `Unauthenticated` for a claim that is missing or malformed.
    """
    return ClaimedIdentity(
        organisation=_text(claims, names.organisation),
        subject=_text(claims, names.subject),
        role=_role(_claim(claims, names.role), names.role),
        groups=_groups(_claim(claims, names.groups), names.groups),
    )


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of exactly that name (which may be a URL with dots), else the nested one."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = cast(Mapping[str, Any], found).get(part)
    return found


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = _claim(claims, name)
    if not _is_name(value):
        raise Unauthenticated(f"The token's claim `{name}` is missing or no name.")
    return value


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME_CHARACTERS and is_storable(value)


def _role(value: Any, name: str) -> Role:
    if value is None:
        return Role.VIEWER
    named = cast(Sequence[Any], value) if isinstance(value, list) else [value]
    known = [role for role in Role if role.value in named]
    if not known:
        raise Unauthenticated(f"The token's claim `{name}` names none of {', '.join(role.value for role in Role)}.")
    return known[-1]


def _groups(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unauthenticated(f"The token's claim `{name}` must be a list of names.")
    groups = cast(Sequence[Any], value)
    if len(groups) > MAX_GROUPS or not all(_is_name(group) for group in groups):
        raise Unauthenticated(f"The token's claim `{name}` must be a list of at most {MAX_GROUPS} names.")
    return tuple(dict.fromkeys(cast(Sequence[str], groups)))
