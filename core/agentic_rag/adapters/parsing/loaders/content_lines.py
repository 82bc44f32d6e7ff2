"""Calendars and contacts (RFC 5545, RFC 6350): every event, task and person is a section, every property a line."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.text.encoding import decode_as
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

_FOLD = re.compile(r"\n[ \t]")
_LINE = re.compile(r'(?:[\w-]+\.)?(?P<name>[\w-]+)(?P<parameters>(?:;(?:"[^"]*"|[^":;])*)*):(?P<value>.*)')
_PARAMETER = re.compile(r';([\w-]+)=("[^"]*"|[^";]*)|;([\w-]+)')
_ESCAPED = re.compile(r"\\([nN\\,;:])")
_PARTS = re.compile(r"(?<!\\)[;,]")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_SECTIONS = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VCARD"})
_LEFT_OUT = frozenset({"VTIMEZONE", "VALARM"})
_NAMES = ("SUMMARY", "FN")
_LABELS = {
    "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "DURATION": "Duration", "LOCATION": "Location",
    "DESCRIPTION": "Description", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee", "STATUS": "Status",
    "RRULE": "Repeats", "EXDATE": "Except", "RDATE": "Also", "CATEGORIES": "Categories", "COMMENT": "Comment",
    "CONTACT": "Contact", "COMPLETED": "Completed", "PRIORITY": "Priority", "URL": "URL", "ATTACH": "Attachment",
    "FREEBUSY": "Busy", "RESOURCES": "Resources", "RECURRENCE-ID": "Instead of", "X-WR-CALNAME": "Calendar",
    "ORG": "Organisation", "TITLE": "Title", "ROLE": "Role", "EMAIL": "E-mail", "TEL": "Telephone", "ADR": "Address",
    "BDAY": "Birthday", "ANNIVERSARY": "Anniversary", "NOTE": "Note", "NICKNAME": "Nickname", "RELATED": "Related",
    "IMPP": "Messenger", "LANG": "Language", "MEMBER": "Member", "TZ": "Time zone",
}  # fmt: skip
"""The properties that are read; the others are for programs: identifiers, versions, pictures, keys."""
SAMPLE = b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:warm\nEND:VEVENT\nEND:VCALENDAR\n"


@dataclass(frozen=True, slots=True)
class _Property:
    """A line of the file."""

    name: str
    parameters: dict[str, str]
    value: str


@dataclass(slots=True)
class _Section:
    """What is gathered of an event, a task or a person."""

    name: str = ""
    lines: list[str] = field(default_factory=list[str])


def load(source: SourceFile) -> LoadedText:
    """The entries of a calendar or an address book. Errors: `ParseFailed` code PARSE_CORRUPT."""
    built = TextBuilder()
    open_parts: list[str] = []
    outer, section = _Section(), _Section()
    sections: list[_Section] = []
    for one in _properties(source.text):
        if one.name == "BEGIN":
            open_parts.append(one.value.strip().upper())
            if open_parts[-1] in _SECTIONS:
                section = _Section()
                sections.append(section)
        elif one.name == "END":
            del open_parts[-1:]
        elif open_parts and _LEFT_OUT.isdisjoint(open_parts):
            _gather(one, section if not _SECTIONS.isdisjoint(open_parts) else outer)
    for number, held in enumerate((outer, *sections)):
        built.add(BlockKind.HEADING, held.name, level=1)
        built.add(BlockKind.PARAGRAPH, "\n".join(held.lines))
        if number % 100 == 0:
            source.limits.require_characters(built.length)
    if not built.blocks:
        raise ParseFailed("the file holds no event, task or contact", code="PARSE_CORRUPT")
    return LoadedText(built.text(), tuple(built.blocks), title=sections[0].name or None if len(sections) == 1 else None)


def _gather(one: _Property, section: _Section) -> None:
    value = _display_text(one)
    if one.name in _NAMES:
        section.name = value
    elif value and one.name in _LABELS:
        kinds = one.parameters.get("TYPE", "").lower().replace(",", ", ")
        section.lines.append(f"{_LABELS[one.name]}{f' ({kinds})' if kinds else ''}: {value}")


def _properties(text: str) -> Iterator[_Property]:
    """The lines of a file, folded ones joined. A value in quoted-printable (vCard 2.1) goes on after `=`."""
    lines = iter(_FOLD.sub("", text).split("\n"))
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        parameters = {
            (key or "TYPE").upper(): (value or bare).strip('"')
            for key, value, bare in _PARAMETER.findall(found["parameters"])
        }
        value = found["value"]
        if "QUOTED-PRINTABLE" in (parameters.get("ENCODING", "") + parameters.get("TYPE", "")).upper():
            while value.endswith("=") and (further := next(lines, None)) is not None:
                value = value[:-1] + further
            value = decode_as(quopri.decodestring(value.encode()), parameters.get("CHARSET", "utf-8"))
            parameters.pop("TYPE", None)
        yield _Property(found["name"].upper(), parameters, strip_unstorable(value))


def _display_text(one: _Property) -> str:
    """A value as people read it: moments as dates, people by their names, the parts of an address with commas."""
    if "BINARY" in one.parameters.get("VALUE", "") or one.value.startswith("data:"):
        return ""
    value = one.value.strip()
    if one.name in ("ADR", "ORG", "N"):
        value = ", ".join(filter(None, (part.strip() for part in _PARTS.split(value))))
    value = _ESCAPED.sub(lambda escaped: " " if escaped[1] in "nN" else escaped[1], value)
    value = re.sub(r"(?i)^(?:mailto|tel):", "", value)
    name = one.parameters.get("CN", "")
    if name:
        value = f"{name} <{value}>" if value and value != name else name
    if one.name in ("DTSTART", "DTEND", "DUE", "EXDATE", "RDATE", "COMPLETED", "BDAY", "ANNIVERSARY", "RECURRENCE-ID"):
        value = _MOMENT.sub(lambda found: _moment(found, one.parameters.get("TZID", "")), value)
    return " ".join(value.split())


def _moment(found: re.Match[str], zone: str) -> str:
    year, month, day, hour, minute, is_universal = found.groups()
    if hour is None:
        return f"{year}-{month}-{day}"
    zone = " UTC" if is_universal else f" ({zone})" if zone else ""
    return f"{year}-{month}-{day} {hour}:{minute}{zone}"
