"""Estimates of costs for the terminal."""

from __future__ import annotations

from typing import Any

from agentic_rag.kernel.formatting import format_count

FREE = "Nothing: every step is done on the server."
CACHED = "Nothing: the answer is in the cache."
UNPRICED = "price unknown"


def estimate_text(found: dict[str, Any]) -> str:
    """A line for each stage of an answer that would call a provider, and their sum."""
    if not found["usage"]:
        return CACHED if found["cache"] == "HIT" else FREE
    lines = [f"{one['stage']:<12}{one['tokens']:>8,} tokens  {usd(one['costUsd'])}" for one in found["usage"]]
    return "\n".join((*lines, f"{'about':<12}{found['tokens']:>8,} tokens  {usd(found['costUsd'])}"))


def embedding_text(found: dict[str, Any]) -> str:
    """What embedding would cost, in a line."""
    reused = f", {found['reusedChunks']:,} reused" if found["reusedChunks"] else ""
    chunks, tokens = format_count(found["chunks"], "chunk"), format_count(found["tokens"], "token")
    return f"{chunks}{reused}, {tokens}  {usd(found['costUsd'])}  {found['space']}"


def upload_text(files: list[dict[str, Any]]) -> str:
    """A line for each file."""
    return "\n".join(
        f"{one['file']}  {embedding_text(one['embedding'])}"
        if one["embedding"]
        else f"{one['file']}  [{one['errorCode']}] {one['errorMessage']}"
        for one in files
    )


def crawl_text(found: dict[str, Any]) -> str:
    """What a crawl would come to, and what that is reckoned by."""
    known = f"{format_count(found['knownPages'], 'page')} of these sites" if found["knownPages"] else "pages at large"
    at_most, left = format_count(found["pages"], "page"), format_count(found["pagesLeft"], "page")
    return (
        f"at most {at_most}, about {found['size'] / 1e6:.1f} MB in {format_count(found['seconds'], 'second')}\n"
        f"about {format_count(found['tokens'], 'token')} to embed  {usd(found['costUsd'])}\n"
        f"by the size of {known}; {left} left today"
    )


def usd(amount: float | None) -> str:
    """An amount of US dollars that may be unknown."""
    return UNPRICED if amount is None else f"{amount:.6f} USD"
