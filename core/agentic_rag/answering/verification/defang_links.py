"""Links in an answer: those to cited sources and listed hosts stay live, the others are written as plain text."""

from __future__ import annotations

import re
from collections.abc import Collection
from html.entities import html5
from urllib.parse import urlsplit

from agentic_rag.web.url_policy import HostList

NO_HOSTS = HostList(())

# Without lists of tags: whatever a viewer may take for markup is broken, so a tag that nobody thought of is broken too.
_LINK = re.compile(
    r"(?P<bang>!)(?=\[)|"
    r"(?P<bracket>\])(?=[(:])|"
    r"(?P<tag><)(?=[a-z/!?])|"
    r"&(?P<reference>#|[a-z][a-z0-9]*;|lt|gt|amp|quot)|"
    r"(?P<url>(?<![a-z0-9])(?:https?|ftps?|wss?|file|gopher|ldaps?|sftp|ssh|git|svn|blob|intent|tel|sms|mailto|data|javascript|"
    r"vbscript|[a-z][a-z0-9+.-]{1,30}(?=:[/\\]{2})):(?=[^\s])[^\s<>\"'`)\]}]*)|"
    r"(?P<bare>(?<![\w@/.])(?:www\.|[/\\]{2}(?=[\w.-]+\.[a-z]{2,}))[^\s<>\"'`)\]}]*)",
    re.IGNORECASE,
)
_LINK_HINT = re.compile(r"[<:&]|\]\(|!\[|[/\\]{2}|www\.", re.IGNORECASE)
"""A text without any of these has no link, image or tag. This check takes a tenth of the time of `_LINK`."""
_BROKEN = {"<": "‹", "!": "", "]": "] "}
_ENDING = ".,;:!?…"


def defang_links(text: str, cited: Collection[str], hosts: HostList = NO_HOSTS) -> str:
    """`text` with every link that is neither one of `cited` nor to a listed host written so that no viewer follows it:
    `https://x.example/y` becomes `hxxps[:]//x[.]example/y`. Images, tags and character references are never live.
    """

    def rewrite(match: re.Match[str]) -> str:
        if match["url"] is not None:
            return _defang_url(match["url"], cited, hosts)
        if match["bare"] is not None:
            return _no_markup(_break_dots(match["bare"])).replace("//", "/ /").replace("\\\\", "\\ \\")
        if (name := match["reference"]) is not None:
            return match.group() if name[-1] == ";" and name not in html5 else f"& {name}"
        return _BROKEN[match.group()]

    return text if _LINK_HINT.search(text) is None else _no_markup(_LINK.sub(rewrite, text))


def _defang_url(url: str, cited: Collection[str], hosts: HostList) -> str:
    link = url.rstrip(_ENDING)
    if _may_stay_clickable(link, cited, hosts):
        return url
    scheme, _, rest = link.partition(":")
    hidden = {"http": "hxxp", "https": "hxxps"}.get(scheme.lower(), scheme)
    return _no_markup(f"{hidden}[:]{_break_dots(rest)}") + url[len(link) :]


def _no_markup(text: str) -> str:
    """The inserted brackets must not form an image, a link or the address of one with their neighbours."""
    return text.replace("![", "! [").replace("](", "] (").replace("]:", "] :")


def _break_dots(rest: str) -> str:
    return rest.replace(".", "[.]").replace("@", "[at]").replace(":/", "[:]/")


def _may_stay_clickable(link: str, cited: Collection[str], hosts: HostList) -> bool:
    if link in cited:
        return True
    try:
        parts = urlsplit(link)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    return parts.scheme.lower() == "https" and "@" not in parts.netloc and bool(host) and hosts.allows(host)
