"""`--url` for the commands that need nothing but GraphQL: they ask a server as they ask this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from agentic_rag_cli.wiring import wiring_of

BY_GRAPHQL: Mapping[str, tuple[str, ...]] = {
    "": ("explain", "usage"),
    "audit": ("list", "export"),
    "budget": ("show", "set"),
    "doc": ("list", "show", "share", "writers", "transfer", "withdraw", "restore", "reingest"),
    "embeddings": ("list", "status", "switch", "cancel"),
    "key": ("create", "list", "revoke"),
    "provider-key": ("remove", "models"),
    "run": ("list", "show", "replay"),
    "template": ("list", "save", "delete"),
    "tenant": ("rename", "delete"),
    "workspace": ("list", "create", "rename", "keep", "delete", "erasures", "prove-erased"),
}
"""By group. `ask`, `search`, `context`, `upload`, `source` and `eval` have an option of their own."""


def add_url_option(commands: Mapping[str, Any]) -> None:
    """Give each of these commands the option of `ask`; what it names is kept with the wiring."""
    (known,) = (one for one in commands["ask"].params if one.name == "url")
    option = copy(known)
    option.expose_value, option.callback = False, _remember
    for command in _chosen(commands):
        command.params.append(option)


def _chosen(commands: Mapping[str, Any]) -> Iterator[Any]:
    for group, names in BY_GRAPHQL.items():
        members = commands[group].commands if group else commands
        yield from (members[name] for name in names)


def _remember(context: Any, _: Any, address: str | None) -> str | None:
    if address:
        context.find_root().obj = replace(wiring_of(context), address=address)
    return address
