"""What kinds of workspaces want of the web: how new their answers have to be, and whose pages are read first."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """A row of the table."""

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


GENERAL = WebProfile()

PROFILES: Mapping[ProfileName, WebProfile] = {
    ProfileName.GENERAL: GENERAL,
    # 7 and 30 days are the ages that the product's design asks for.
    ProfileName.MARKETING: WebProfile(newest_days=7, preference=1.0),
    ProfileName.CODE: WebProfile(
        newest_days=30,
        preference=0.5,
        first_hosts=(
            "docs.python.org",
            "peps.python.org",
            "docs.rs",
            "doc.rust-lang.org",
            "pkg.go.dev",
            "go.dev",
            "nodejs.org",
            "developer.mozilla.org",
            "learn.microsoft.com",
            "docs.oracle.com",
            "www.postgresql.org",
            "kubernetes.io",
            "www.rfc-editor.org",
            "datatracker.ietf.org",
            "www.w3.org",
            "nvd.nist.gov",
            "www.cve.org",
        ),
    ),
}
