"""Document access: principals, the access sets that store them, and the scope that a caller may read.

A principal is `user:SUBJECT`, `key:SUBJECT` or `group:NAME`. Each principal of a document may read it; a document
without principals is readable by everybody in the workspace.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence, Set
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


class Hiding(enum.Enum):
    """Why nobody may read a document for a time. The mark begins each of its principals, so that the readers are known
    when it is shown again; no caller has a principal with a mark. Marks stand in this order.
    """

    MISSING = "hidden:"
    """Its source no longer has it."""
    WITHDRAWN = "withdrawn:"
    """One of its writers withdrew it."""


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


NO_SCOPE = ReadScope((), is_unrestricted=False)
"""What nobody may read: a workspace that is not there, or that the caller may not enter."""


@dataclass(frozen=True, slots=True)
class ListScope:
    """The documents that a list shows a caller who may not see all: those of the sets, and those that one of
    `principals` owns or writes and could read (`if_restored`) if nobody had withdrawn them.
    """

    access_ids: tuple[int, ...]
    principals: tuple[str, ...]

    @property
    def if_restored(self) -> tuple[str, ...]:
        """The marked principals of the withdrawn documents that the caller could read."""
        return hide_principals((EVERYONE, *self.principals), Hiding.WITHDRAWN)


def read_identity(principal: Principal) -> ReadIdentity:
    """A caller's own principals. Roles add none: a manager of documents need not be able to read them."""
    groups = sorted({f"{GROUP}{group}" for group in principal.groups})
    return ReadIdentity((principal.subject_id, *groups))


def may_manage_access(principal: Principal) -> bool:
    """Whether the caller sees the names of all documents and may change their readers."""
    return principal.role in (Role.ADMIN, Role.OPERATOR)


def only_subject(principal: Principal) -> str | None:
    """Whose runs the caller sees: the caller's own; None: everybody's."""
    return None if may_manage_access(principal) else principal.subject_id


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
    """The principals that two sets have in common: those who may read a text under either. None in common: nobody. What
    is hidden under either is hidden.
    """
    (readers, reasons), (others, more) = split_hidden(principals), split_hidden(held)
    both = tuple(sorted({*readers} & {*others})) or NOBODY if readers and others else readers or others
    return _mark(both, reasons | more)


def include_setter(principals: tuple[str, ...], setter: Principal) -> tuple[str, ...]:
    """Add the caller to the principals that it sets, so that callers cannot lock themselves out by mistake. Callers who
    manage the workspace can regain access and are not added.
    """
    if not principals or may_manage_access(setter) or read_identity(setter).may_read(principals):
        return principals
    return tuple(sorted({*principals, setter.subject_id}))


def include_principal(principals: tuple[str, ...], reader: str) -> tuple[str, ...]:
    """Add a reader; a document without principals has every reader, and what hides one goes on."""
    readers, reasons = split_hidden(principals)
    return _mark(tuple(sorted({*readers, reader})), reasons) if readers else principals


def split_hidden(principals: Sequence[str]) -> tuple[tuple[str, ...], Set[Hiding]]:
    """The principals without their marks, and what the marks say."""
    readers, reasons = tuple(principals), set[Hiding]()
    for one in Hiding:
        if readers and readers[0].startswith(one.value):
            readers = tuple(principal.removeprefix(one.value) for principal in readers)
            reasons.add(one)
    return (PUBLIC_PRINCIPALS if reasons and readers == (EVERYONE,) else readers), reasons


def hide_principals(principals: Sequence[str], reason: Hiding) -> tuple[str, ...]:
    """The principals of a document that nobody may read, and that keeps its readers for `restore_principals`."""
    readers, reasons = split_hidden(principals)
    return _mark(readers, reasons | {reason})


def restore_principals(principals: Sequence[str], reason: Hiding) -> tuple[str, ...]:
    """The principals without what one reason hid; another may still hide the document."""
    readers, reasons = split_hidden(principals)
    return _mark(readers, reasons - {reason})


def is_hidden(principals: Sequence[str], reason: Hiding) -> bool:
    """Whether the reason hides a document with these principals."""
    return reason in split_hidden(principals)[1]


def _mark(readers: tuple[str, ...], reasons: Set[Hiding]) -> tuple[str, ...]:
    mark = "".join(one.value for one in Hiding if one in reasons)
    return tuple(f"{mark}{one}" for one in readers or (EVERYONE,)) if mark else readers


def users_of(principals: Sequence[str]) -> list[str]:
    """The subjects of tokens among some principals."""
    return [one.removeprefix(USER) for one in principals if one.startswith(USER)]


def keys_of(principals: Sequence[str]) -> list[str]:
    """The subjects of API keys among some principals."""
    return [one.removeprefix(KEY) for one in principals if one.startswith(KEY)]


def groups_of(principals: Sequence[str]) -> list[str]:
    """The groups among some principals."""
    return [one.removeprefix(GROUP) for one in principals if one.startswith(GROUP)]
