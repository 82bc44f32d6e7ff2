"""How a failure is written down: its chain of causes, with secrets blotted out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from agentic_rag.kernel.errors import AgenticRagError

MAX_MESSAGE = 2_000
"""Characters kept of one message: enough for a person, too little for a provider's whole HTML page."""

MAX_CAUSES = 16

_HIDDEN = "***"
_NAMED_SECRET = re.compile(
    r"(?i)\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|authorization|credential)[\w-]*['\"]?\s*[=:]\s*['\"]?)"
    r"(?:(?:bearer|basic)\s+)?[^\s'\",;&]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_USERINFO = re.compile(r"(?<=://)[^\s/@]+@")
_PROVIDER_KEY = re.compile(r"\b(?:sk|pk|rk|gsk|xox[abp]|ghp|AIza)[-_]?[A-Za-z0-9_-]{12,}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")


def redact(text: str) -> str:
    """`text` without what looks like a credential, cut to `MAX_MESSAGE` characters."""
    text = _NAMED_SECRET.sub(rf"\1{_HIDDEN}", text)
    text = _BEARER.sub(rf"\1 {_HIDDEN}", text)
    text = _USERINFO.sub(f"{_HIDDEN}@", text)
    text = _JWT.sub(_HIDDEN, _PROVIDER_KEY.sub(_HIDDEN, text))
    # Postgres stores neither NUL nor, in UTF-8, half a surrogate pair (as in the name of a file that is not UTF-8).
    return _UNSTORABLE.sub("\ufffd", text)[:MAX_MESSAGE]


def redact_arguments(arguments: Mapping[str, str]) -> dict[str, str]:
    """A job's arguments as people may see them: no value of a secret's name, nothing that looks like a credential."""
    return {name: _HIDDEN if _NAMED_SECRET.search(f"{name}=x") else redact(value) for name, value in arguments.items()}


def error_chain(error: BaseException) -> tuple[str, ...]:
    """`Type [code]: message` of the error and of each cause below it, redacted, outermost first."""
    return tuple(_line(link) for link in _links(error))


def _links(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen and len(seen) < MAX_CAUSES:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _line(error: BaseException) -> str:
    code = f" [{error.code}]" if isinstance(error, AgenticRagError) else ""
    return redact(f"{type(error).__name__}{code}: {error}")
