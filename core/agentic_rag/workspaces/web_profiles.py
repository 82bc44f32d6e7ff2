"""What kinds of workspaces want of the web: how new their answers have to be, and whose pages are read first."""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import cast

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.web.url_policy import parse_host_list

WORD = r"\w+"


class ProfileName(enum.Enum):
    """The profile of a workspace; the value is its name in settings and on the command line."""

    GENERAL = "general"
    """Only the words of a question say how new its answer has to be."""
    MARKETING = "marketing"
    """Campaigns, launches, competitors: what is said was true last week."""
    CODE = "code"
    """Libraries and interfaces: what is said was true last month, and the makers' own pages say it."""


@dataclass(frozen=True, slots=True)
class WebProfile:
    """What a file of profiles/ states."""

    newest_days: int | None = None
    """Days that an answer may be old where the question names no time; None: any age will do."""
    preference: float = 0.0
    """The gate's signal `profile` where nothing that was found is as new as that; it falls with their age."""
    first_hosts: tuple[str, ...] = ()
    """Sites whose pages are read before others that a search names. Patterns as in AGENTIC_RAG_HTTP_FETCH_HOSTS."""
    seeds: tuple[str, ...] = ()
    """The workspace's own names of brands, campaigns and places (`WebAccess.seeds`)."""

    def searches(self, texts: Sequence[str], most: int) -> tuple[str, ...]:
        """The texts to search for, at most `most`: while there is room, the first with each of the seeds too, unless it
        names one of them itself.
        """
        wanted = dict.fromkeys(texts)
        first = next(iter(wanted), "")
        named = f" {' '.join(re.findall(WORD, first.casefold()))} "
        if first and not any(f" {' '.join(re.findall(WORD, one.casefold()))} " in named for one in self.seeds):
            wanted |= dict.fromkeys(f"{first} {one}" for one in self.seeds)
        return tuple(wanted)[:most]


_DAYS = range(1, 3651)
_MOST_HOSTS = 200


def read_profile(text: str, name: str) -> WebProfile:
    """The profile that a file of this name states (TOML, as those in profiles/). Errors: `Misconfigured` code
    PROFILE_INVALID names the file and what to change.
    """
    try:
        stated = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _invalid(name, f"it is no TOML: {error}") from error
    if unknown := sorted(stated.keys() - {"newest_days", "preference", "first_hosts"}):
        raise _invalid(name, f"nobody knows `{unknown[0][:40]}`; it takes newest_days, preference and first_hosts")
    days, preference, hosts = stated.get("newest_days"), stated.get("preference", 0.0), stated.get("first_hosts", [])
    if days is not None and (type(days) is not int or days not in _DAYS):
        raise _invalid(name, f"`newest_days` takes {_DAYS[0]} to {_DAYS[-1]}, or is left out")
    if type(preference) not in (int, float) or not 0 <= preference <= 1:
        raise _invalid(name, "`preference` takes 0 to 1")
    if days is None and preference:
        raise _invalid(name, "a `preference` for new texts needs `newest_days`")
    return WebProfile(days, float(preference), _hosts(hosts, name))


def _hosts(stated: object, name: str) -> tuple[str, ...]:
    if not isinstance(stated, list):
        raise _invalid(name, "`first_hosts` is a list of hosts")
    given = cast("list[object]", stated)
    hosts = [one for one in given if isinstance(one, str) and one.strip() and not set(one) & {",", " "}]
    if len(hosts) < len(given) or len(hosts) > _MOST_HOSTS:
        raise _invalid(name, f'`first_hosts` is a list of at most {_MOST_HOSTS} hosts, such as "docs.example.org"')
    try:
        parse_host_list(" ".join(hosts))
    except ValueError as error:
        raise _invalid(name, f"`first_hosts`: {error}") from error
    return tuple(hosts)


def _invalid(name: str, why: str) -> Misconfigured:
    return Misconfigured(f"The profile {name} cannot be read: {why}.", code="PROFILE_INVALID")


Profiles = Mapping[ProfileName, WebProfile]


def load_profiles(folder: Path) -> Profiles:
    """The profile of each name, from NAME.toml. Errors: those of `read_profile`, and the same for a missing file."""
    return MappingProxyType({name: _load(folder / f"{name.value}.toml") for name in ProfileName})


def with_own_profiles(folder: Path, profiles: Profiles) -> Profiles:
    """The profiles with those in their place that a folder has, where there is one. Errors: those of `read_profile`,
    and the same for a file of a name that is no profile's.
    """
    names = {f"{name.value}.toml": name for name in ProfileName}
    try:
        own = sorted(one for one in folder.glob("*.toml")) if folder.is_dir() else []
    except OSError as error:
        raise _invalid(str(folder), str(error)) from error
    for path in own:
        if path.name not in names:
            raise _invalid(str(path), f"there is no profile of this name, only {', '.join(names)}")
    return MappingProxyType({**profiles, **{names[path.name]: _load(path) for path in own}})


def _load(path: Path) -> WebProfile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(str(path), str(error)) from error
    return read_profile(text, str(path))


FOLDER = Path(__file__).with_name("profiles")
"""The files of the profiles, a comment beside each value."""
PROFILES: Profiles = load_profiles(FOLDER)
GENERAL = PROFILES[ProfileName.GENERAL]
