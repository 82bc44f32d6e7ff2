"""`--url`: every command asks a server as it asks this process, but for those that are local by nature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from agentic_rag_cli.wiring import wiring_of

LOCAL: Mapping[str, str] = {
    "up": "It runs the servers.",
    "demo": "It starts what it asks, and stops it.",
    "serve": "It is the server.",
    "worker": "It is the worker.",
    "doctor": "It looks at this machine and its settings.",
    "config show": "It shows the settings of this process.",
    "migrate up": "It works on a database that no server may run on yet, with the password of its owner.",
    "migrate partition": "It works on a database that no server uses meanwhile, with the password of its owner.",
    "backup create": "It reads every organisation, with the password of a login that row level security does not bind.",
    "backup verify": "It reads files.",
    "backup restore": "It fills a database that no server runs on yet.",
    "backup erasures": "It reads every organisation, as a backup does.",
    "backup reapply": "It acts in every organisation, before a server runs.",
    "model get": "It installs a model on this machine.",
    "key bootstrap": "The database's password stands for the key that nobody has yet.",
    "console": "It signs the link with the secret of this home.",
    "token dev": "It signs with the secret of this home.",
    "provider-key master": "It draws random bytes.",
    "eval compare": "It reads two files.",
    "gate learn": "It reads files of cases.",
}
"""Commands without `--url`, each with why."""


def with_url_option(name: str, command: Any, commands: Mapping[str, Any]) -> Any:
    """The command, or the group with every command in it, with the option of `ask` where it is not local; what the
    option names is kept with the wiring. Commands that have the option themselves keep theirs.
    """
    lacking = [one for full, one in leaves({name: command}) if full not in LOCAL and not takes_url(one)]
    if lacking:
        (known,) = (one for one in commands["ask"].params if one.name == "url")
        option = copy(known)
        option.expose_value, option.callback = False, _remember
        for one in lacking:
            one.params.append(option)
    return command


def leaves(commands: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its full name; a group that runs by itself is one too."""
    for name, command in commands.items():
        full, members = f"{group} {name}".strip(), getattr(command, "commands", None)
        if members is None or command.invoke_without_command:
            yield full, command
        yield from leaves(members or {}, full)


def takes_url(command: Any) -> bool:
    """Whether the command has the option."""
    return any("--url" in one.opts for one in command.params)


def _remember(context: Any, _: Any, address: str | None) -> str | None:
    if address:
        context.find_root().obj = replace(wiring_of(context), address=address)
    return address
