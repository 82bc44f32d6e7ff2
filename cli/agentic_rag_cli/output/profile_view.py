"""Formats what a workspace's profile wants to know of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag_cli.output.terminal import one_line, table

_NEWEST = "Only the newest 20,000 passages were read."


def marketing_text(found: Mapping[str, Any]) -> str:
    """Each figure, and the places behind it."""
    voices = [
        (one["brand"], f"{100 * one['share']:.1f} %", one["mentions"], one["documents"],
         one["positive"], one["negative"], one["neutral"], one["otherLanguage"])
        for one in found["brands"]
    ]  # fmt: skip
    headers = ("BRAND", "SHARE", "MENTIONS", "DOCUMENTS", "POSITIVE", "NEGATIVE", "NEUTRAL", "NOT READ")
    parts = [f"Of {found['documents']} documents:", table(headers, voices)]
    channels = [(one["name"], one["documents"]) for one in found["channels"]]
    parts += [f"Diversity of channels: {found['diversity']:.2f}", table(("CHANNEL", "DOCUMENTS"), channels)]
    tones = [
        (one["brand"], _tone(said["compound"]), ", ".join(said["words"]), _at(said["place"]), said["place"]["text"])
        for one in found["brands"]
        for said in one["sentences"]
    ]
    parts.append(table(("BRAND", "TONE", "BY", "AT", "SENTENCE"), tones))
    parts.append(f"{found['undisclosed']} of {found['promotional']} documents that sell have no label near.")
    labels = [
        (_at(one["promotion"]), one["promotion"]["text"], "none" if one["label"] is None else one["label"]["text"])
        for one in found["disclosures"]
    ]
    parts.append(table(("AT", "SELLS BY", "LABEL"), labels))
    return "\n\n".join([*parts, *([] if found["isComplete"] else [_NEWEST])])


def code_text(found: Mapping[str, Any]) -> str:
    """Each figure, and the places behind it."""
    size = f"{found['lines']} lines in {found['files']} files"
    marks = [(_at(one["place"]), one["symbol"] or "", one["place"]["text"]) for one in found["leftOver"]]
    drift = [
        (
            one["package"],
            one["kind"],
            f"{one['used']} ({_at(one['usedAt'])})",
            f"{one['stated']} ({_at(one['statedAt'])})",
        )
        for one in found["drift"]
    ]
    failed = [(one["name"], _at(one["place"])) for one in found["failed"]]
    parts = [
        f"{found['marks']} marks of work left over in {size}: {found['density']:.1f} for each 1,000.",
        table(("AT", "IN", "MARK"), marks),
        f"{found['drifts']} of the versions of {found['packages']} packages are apart.",
        table(("PACKAGE", "KIND", "USED", "STATED"), drift),
        f"{found['failures']} of {found['testCases']} tests failed, by the reports in the workspace.",
        table(("TEST", "AT"), failed),
        *(f"{one_line(path)} is not what its name says." for path in found["unread"]),
    ]
    return "\n\n".join([*parts, *([] if found["isComplete"] else [_NEWEST])])


def _tone(compound: float | None) -> str:
    return "not read" if compound is None else f"{compound:+.2f}"


def _at(place: Mapping[str, Any]) -> str:
    return f"{place['sourcePath']}:{place['line']}"
