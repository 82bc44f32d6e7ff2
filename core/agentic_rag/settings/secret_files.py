"""`NAME_FILE`: secrets that an orchestrator mounts as files instead of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from agentic_rag.settings.otel import SECRETS
from agentic_rag.settings.variable import Variable

SUFFIX = "_FILE"
_MAX_BYTES = 64 * 1024


def file_names(known: Iterable[Variable]) -> frozenset[str]:
    """The names that may name a file: those of secrets, and of addresses, which hold passwords."""
    own = (one.name for one in known if one.env.is_secret or one.env.is_url)
    return frozenset(f"{name}{SUFFIX}" for name in (*own, *SECRETS))


def read_secret_files(merged: Mapping[str, str], known: Iterable[Variable]) -> tuple[Mapping[str, str], list[str]]:
    """The variables with the contents of the files that others name, without line ends at their end; and a line for
    each that cannot be read. What a file holds is in no problem.
    """
    found, problems = dict(merged), list[str]()
    for name in sorted(file_names(known)):
        path = found.pop(name, "").strip()
        if not path:
            continue
        own = name.removesuffix(SUFFIX)
        if found.get(own):
            problems.append(f"{name}: {own} is set too; set one of them")
            continue
        try:
            content = Path(path).expanduser().read_bytes()
            if len(content) > _MAX_BYTES:
                raise ValueError("it is too large for a secret")
            found[own] = content.decode("utf-8").rstrip("\r\n")
        except OSError as error:
            problems.append(f"{name}={path!r}: {error.strerror or 'cannot be read'}")
        except UnicodeDecodeError:
            problems.append(f"{name}={path!r}: it is no text in UTF-8")
        except ValueError as error:
            problems.append(f"{name}={path!r}: {error}")
        else:
            if not found[own]:
                problems.append(f"{name}={path!r}: the file is empty")
    return found, problems


def without_files_of(environ: Mapping[str, str], given: Iterable[str]) -> dict[str, str]:
    """An environment for variables that are given in another way: no file stands beside them."""
    replaced = {f"{name}{SUFFIX}" for name in given}
    return {name: value for name, value in environ.items() if name not in replaced}
