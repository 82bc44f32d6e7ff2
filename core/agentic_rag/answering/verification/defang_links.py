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
    r"vbscript|xmpp|sips?|skype|callto|facetime|magnet|view-source|search-ms|ms-[a-z-]{2,30}|itms-services|[a-z][a-z0-9+.-]{1,30}(?=:[/\\]{2})):(?=[^\s])[^\s<>\"'`)\]}]*)|"
    r"(?P<bare>(?<![^\W_])(?<![@/.])(?:www\.|[/\\]{2}(?=[\w.-]+\.[a-z]{2,}|\S{1,300}@))[^\s<>\"'`)\]}]*)",
    re.IGNORECASE,
)
_LINK_HINT = re.compile(r"[<:&{]|\]\(|!\[|[/\\]{2}|www\.", re.IGNORECASE)
"""A text without any of these has no link, image or tag. This check takes a tenth of the time of `_LINK`."""
_REFERENCE = re.compile(r"&(?=#|[a-z][a-z0-9]*;|lt|gt|amp|quot)", re.IGNORECASE)
_BRACED = re.compile(r"\{[^}\n]*+")
_ATTRIBUTE = re.compile(r"=|\bon[a-z]{3}", re.IGNORECASE)
"""In braces behind a word some viewers read attributes: `*a*{onclick=x}`."""
_END = re.compile(r"\)?[.,:!?]*(?:\s|$)")
"""What ends a link in every viewer."""
_MAILBOX = re.compile(r"\S{1,300}@")
"""Some viewers take `//x` and what stands before an @ for the user of a host."""
_BROKEN = {"<": "‹", "!": "", "]": "] "}
_ENDING = ".,;:!?…"


def defang_links(text: str, cited: Collection[str], hosts: HostList = NO_HOSTS) -> str:
    """`text` with every link that is neither one of `cited` nor to a listed host written so that no viewer follows it:
    `https://x.example/y` becomes `hxxps[:]//x[.]example/y`. Images, tags and character references are never live.
    """

    def rewrite(match: re.Match[str]) -> str:
        if (url := match["url"]) is not None:
            link = url.rstrip(_ENDING)
            # What follows must not become a part of it.
            if not _may_stay_clickable(link, cited, hosts):
                gap = " " if _MAILBOX.match(text, match.end()) else ""
                return f"{_defang_url(link)}{url[len(link) :]}{gap}"
            ends = _END.match(text, match.start() + len(link))
            return url if ends else f"{link} {url[len(link) :]}"
        if match["bare"] is not None:
            bare = _REFERENCE.sub("& ", _break_dots(match["bare"]))
            return _no_markup(bare).replace("//", "/ /").replace("\\\\", "\\ \\")
        if (name := match["reference"]) is not None:
            return match.group() if name[-1] == ";" and name not in html5 else f"& {name}"
        return _BROKEN[match.group()]

    if _LINK_HINT.search(text) is None:
        return text
    return _BRACED.sub(_no_attributes, _no_markup(_LINK.sub(rewrite, text)))


def _defang_url(link: str) -> str:
    scheme, _, rest = link.partition(":")
    hidden = {"http": "hxxp", "https": "hxxps"}.get(scheme.lower(), scheme)
    return _no_markup(f"{hidden}[:]{_REFERENCE.sub('& ', _break_dots(rest))}")


def _no_markup(text: str) -> str:
    """The inserted brackets must not form an image, a link or the address of one with their neighbours."""
    return text.replace("![", "! [").replace("](", "] (").replace("]:", "] :")


def _no_attributes(braced: re.Match[str]) -> str:
    return braced.group() if _ATTRIBUTE.search(braced.group()) is None else braced.group().replace("{", "｛")


def _break_dots(rest: str) -> str:
    return rest.replace(".", "[.]").replace("@", "[at]").replace(":/", "[:]/")


def _may_stay_clickable(link: str, cited: Collection[str], hosts: HostList) -> bool:
    if _REFERENCE.search(link) is not None:
        return False
    if link in cited:
        return True
    try:
        parts = urlsplit(link)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    return parts.scheme.lower() == "https" and "@" not in parts.netloc and bool(host) and hosts.allows(host)
