"""Document access: principals, the access sets that store them, and the scope that a caller may read.

A principal is `user:SUBJECT`, `key:SUBJECT` or `group:NAME`. Each principal of a document may read it; a document
without principals is readable by everybody in the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, MAX_NAME_CHARACTERS, Principal, Role

USER = "user:"
KEY = "key:"
GROUP = "group:"

MAX_PRINCIPALS = 200
"""Most users and groups that one document names; more should become a group."""

EVERYONE = "everyone"
"""The word for the whole workspace in a list of principals."""

NOBODY = ("nobody",)
"""The principals of a text that no caller may read: a principal that no credential has."""

PUBLIC_PRINCIPALS: tuple[str, ...] = ()
"""The principals of a document that the whole workspace may read."""

_HIDDEN = "hidden:"
"""Marks the principals of a hidden document. No caller has a principal with this prefix."""


@dataclass(frozen=True, slots=True)
class ReadIdentity:
    """The identity that a read uses. Maintenance is unrestricted, since nobody sees the texts that it reads."""

    principals: tuple[str, ...] = ()
    is_unrestricted: bool = False

    def may_read(self, principals: Sequence[str]) -> bool:
        """Whether this identity may read a document with these principals."""
        return self.is_unrestricted or not principals or not set(principals).isdisjoint(self.principals)


ANONYMOUS_READER = ReadIdentity()
"""Reads documents without principals only."""

UNRESTRICTED_READER = ReadIdentity(is_unrestricted=True)
"""Reads all documents, for work whose results show no text: recall measurements, consistency checks."""


@dataclass(frozen=True, slots=True)
class ReadScope:
    """The documents that a caller may read in a workspace at one instant."""

    access_ids: tuple[int, ...] = (DEFAULT_ACCESS_ID,)
    """Ascending."""
    is_unrestricted: bool = True
    """The caller may read every document of the workspace."""
    version: int = 0
    """The corpus version of the last change of access: rights apply to all versions of a document alike."""


def read_identity(principal: Principal) -> ReadIdentity:
    """A caller's own principals. Roles add none: a manager of documents need not be able to read them."""
    groups = sorted({f"{GROUP}{group}" for group in principal.groups})
    return ReadIdentity((principal.subject_id, *groups))


def may_manage_access(principal: Principal) -> bool:
    """Whether the caller sees the names of all documents and may change their readers."""
    return principal.role in (Role.ADMIN, Role.OPERATOR)


def validate_principals(users: Sequence[str], groups: Sequence[str], keys: Sequence[str] = ()) -> tuple[str, ...]:
    """The principals that a caller named, sorted and without duplicates. Errors: `InvalidInput` with path
    `readableBy`.
    """
    named = [*((USER, one) for one in users), *((GROUP, one) for one in groups), *((KEY, one) for one in keys)]
    if len(named) > MAX_PRINCIPALS:
        raise InvalidInput(f"`readableBy` takes {MAX_PRINCIPALS} users, keys and groups at most.", path=("readableBy",))
    for _, name in named:
        usable = 0 < len(name) <= MAX_NAME_CHARACTERS and name.isprintable() and is_storable(name)
        if not usable or name != name.strip():
            raise InvalidInput(
                f"A user, key or group has 1 to {MAX_NAME_CHARACTERS} printable characters, none of them a space at "
                "its ends.",
                path=("readableBy",),
            )
    return tuple(sorted({f"{kind}{name}" for kind, name in named}))


def parse_principals(named: Sequence[str]) -> tuple[str, ...]:
    """Parse principals in their stored form, `user:SUBJECT`, `key:SUBJECT` and `group:NAME`; `everyone` gives none.
    Errors: `InvalidInput` with path `readableBy`.
    """
    wanted = [one for one in named if one != EVERYONE]
    if len(wanted) < len(named) and wanted:
        raise InvalidInput("Name users, keys and groups, or `everyone`, not both.", path=("readableBy",))
    if not all(one.startswith((USER, KEY, GROUP)) for one in wanted):
        raise InvalidInput("Write `user:NAME`, `key:NAME`, `group:NAME` or `everyone`.", path=("readableBy",))
    return validate_principals(users_of(wanted), groups_of(wanted), keys_of(wanted))


def narrow(principals: tuple[str, ...], held: tuple[str, ...]) -> tuple[str, ...]:
    """The principals that two sets have in common: those who may read a text under either. None in common: nobody."""
    if not principals or not held:
        return principals or held
    return tuple(sorted({*principals} & {*held})) or NOBODY


def include_setter(principals: tuple[str, ...], setter: Principal) -> tuple[str, ...]:
    """Add the caller to the principals that it sets, so that callers cannot lock themselves out by mistake. Callers who
    manage the workspace can regain access and are not added.
    """
    if not principals or may_manage_access(setter) or read_identity(setter).may_read(principals):
        return principals
    return tuple(sorted({*principals, setter.subject_id}))


def hide_principals(principals: Sequence[str]) -> tuple[str, ...]:
    """The principals of a document that nobody may read, and that keeps its readers for `restore_principals`."""
    return tuple(f"{_HIDDEN}{one}" for one in principals or (EVERYONE,))


def restore_principals(principals: Sequence[str]) -> tuple[str, ...] | None:
    """The principals before `hide_principals`; None for those of a document that is not hidden."""
    if not any(one.startswith(_HIDDEN) for one in principals):
        return None
    return tuple(name for one in principals if (name := one.removeprefix(_HIDDEN)) != EVERYONE)


def users_of(principals: Sequence[str]) -> list[str]:
    """The subjects of tokens among some principals."""
    return [one.removeprefix(USER) for one in principals if one.startswith(USER)]


def keys_of(principals: Sequence[str]) -> list[str]:
    """The subjects of API keys among some principals."""
    return [one.removeprefix(KEY) for one in principals if one.startswith(KEY)]


def groups_of(principals: Sequence[str]) -> list[str]:
    """The groups among some principals."""
    return [one.removeprefix(GROUP) for one in principals if one.startswith(GROUP)]
