"""`knowledge` of a project's settings.yaml: its name, and the folders that its agents know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b

from agentic_rag.kernel.errors import InvalidInput

SETTINGS_FILES = ("agent/settings.yaml", "settings.yaml")
"""Where a project's settings are looked for."""


@dataclass(frozen=True, slots=True)
class KnowledgeDirectory:
    """A folder, relative to the project. Its files are documents of the domain."""

    path: str
    domain: str = "knowledge"
    description: str = ""


DEFAULT_DIRECTORIES = (
    KnowledgeDirectory("agent/knowledge", "knowledge", "Project knowledge base"),
    KnowledgeDirectory("agent/how-to", "workflow", "How-to guides"),
    KnowledgeDirectory("docs/explanation", "architecture", "Architecture docs"),
    KnowledgeDirectory("agent/skills/knowledge/standards", "standards", "Coding standards"),
)
"""The folders of a project that names none."""

_KEYS = ("path", "domain", "description")
_PROJECT = re.compile(r"[^/\s]([^/]{0,98}[^/\s])?")
_PAIR = re.compile(r"(?P<key>[\w.-]+|\"[^\"]+\"|'[^']+')\s*:(?:\s+(?P<value>.*))?")
_NEARLY = 0.8
"""By the ratio of `difflib`: `directory` is nearly `directories`, `knowledge_base` is another key than `knowledge`."""
_COMMENT = re.compile(r"(?:^|\s)#.*$")


@dataclass(frozen=True, slots=True)
class ProjectKnowledge:
    """What a settings file says; None for what it says nothing of."""

    project: str | None = None
    directories: tuple[KnowledgeDirectory, ...] | None = None


def validate_project(name: str) -> str:
    """The name that a project's folders carry. Errors: `InvalidInput` code SETTINGS_FILE_INVALID."""
    if name.isprintable() and _PROJECT.fullmatch(name):
        return name
    raise InvalidInput(
        f"{name[:100]!r} names no project: it has 1 to 100 characters, no slash, no space at either end. State "
        "one with `--project`, or as `knowledge.project` of the settings.",
        code="SETTINGS_FILE_INVALID",
        path=("knowledge", "project"),
    )


@dataclass(frozen=True, slots=True)
class ProjectIdentity:
    """Whose the folders are. A name that nobody stated is that of the project's folder, as any other folder may have
    it: `place` tells them apart.
    """

    name: str
    place: str = ""
    """Of the folder (`place_of`); empty: somebody stated the name, and means one project wherever it stands."""

    @property
    def prefix(self) -> str:
        """What the names of its sources begin with."""
        return f"checkout:{self.name}/{self.place}/" if self.place else f"project:{self.name}/"


def place_of(folder: str) -> str:
    """The place of a project's folder, by its resolved path."""
    return blake2b(folder.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def require_own_name(sources: Iterable[str], project: ProjectIdentity) -> None:
    """Errors: `InvalidInput` code PROJECT_AMBIGUOUS for a project whose name nobody stated, where the folders in the
    workspace are those of another project of that name.
    """
    known = [*sources]
    if not project.place or any(one.startswith(project.prefix) for one in known):
        return
    if any(one.startswith((f"checkout:{project.name}/", f"project:{project.name}/")) for one in known):
        raise InvalidInput(
            f"The workspace has documents of a project {project.name!r} that stands elsewhere. State whether this is "
            f"the same one: `--project {project.name}`, or `knowledge.project` in the settings of both; or state "
            "another name. Nothing was changed.",
            code="PROJECT_AMBIGUOUS",
            path=("knowledge", "project"),
        )


def former_identities(sources: Iterable[str], project: ProjectIdentity, place: str) -> tuple[ProjectIdentity, ...]:
    """The projects without a stated name that a stated one goes on with: those of its name, and that of its place."""
    if project.place:
        return ()
    found = {ProjectIdentity(match[1], match[2]) for one in sources if (match := _CHECKOUT.match(one))}
    wanted = [one for one in found if one.name == project.name or one.place == place]
    return tuple(sorted(wanted, key=lambda one: (one.name, one.place)))


def source_name(project: ProjectIdentity, path: str) -> str:
    """What the documents of a project's folder carry as their `source`."""
    return f"{project.prefix}{path}"


def name_without_project(path: str) -> str:
    """The same for folders that were synchronised before sources carried their project."""
    return f"{_WITHOUT_PROJECT}{path}"


def folders_of_project(sources: Iterable[str], project: ProjectIdentity) -> list[str]:
    """The folders of a project among the names of sources, sorted."""
    return _after(sources, project.prefix)


def folders_without_project(sources: Iterable[str]) -> list[str]:
    """The folders among the names of sources that carry no project, sorted."""
    return _after(sources, _WITHOUT_PROJECT)


_WITHOUT_PROJECT = "knowledge:"
_CHECKOUT = re.compile(r"checkout:([^/]+)/([0-9a-f]{16})/")


def _after(sources: Iterable[str], prefix: str) -> list[str]:
    return sorted(one.removeprefix(prefix) for one in sources if one.startswith(prefix))


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def parse_knowledge(text: str, name: str = "settings.yaml") -> ProjectKnowledge:
    """What a settings file says of a project's knowledge. The part of YAML that is read is mappings and lists in lines
    of their own, with plain and quoted values. Errors: `InvalidInput` code SETTINGS_FILE_INVALID with the line's
    number.
    """
    try:
        lines = _lines(text)
        _refuse_misspelling(lines, "knowledge")
        knowledge = _block(lines, "knowledge") or []
        _refuse_misspelling(knowledge, "project", "directories")
        directories = _block(knowledge, "directories")
        return ProjectKnowledge(_project(knowledge), None if directories is None else _directories(directories))
    except _WrongLine as wrong:
        raise InvalidInput(
            f"{name}, line {wrong.number}: {wrong.reason}. Nothing was changed.",
            code="SETTINGS_FILE_INVALID",
            path=("knowledge", "directories"),
        ) from wrong


class _WrongLine(Exception):
    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number
        self.reason = reason


def _lines(text: str) -> list[_Line]:
    """The lines that say something. Errors: `_WrongLine` for a tab in an indentation."""
    found: list[_Line] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        bare = raw.strip()
        if not bare or bare.startswith("#") or bare in ("---", "..."):
            continue
        indent = raw[: len(raw) - len(raw.lstrip())]
        if "\t" in indent:
            raise _WrongLine(number, "it is indented with a tab; write spaces")
        found.append(_Line(number, len(indent), bare))
    return found


def _block(lines: Sequence[_Line], key: str) -> list[_Line] | None:
    """The lines below a key of a mapping; None where the mapping has no such key."""
    stated = _stated(lines, key)
    if stated is None:
        return None
    place, value = stated
    if _COMMENT.sub("", value).strip() not in ("", "[]", "null", "~"):
        raise _WrongLine(lines[place].number, f"`{key}` has its entries on lines of their own")
    return list(_below(lines[place + 1 :], lines[place].indent))


def _project(lines: Sequence[_Line]) -> str | None:
    stated = _stated(lines, "project")
    if stated is None:
        return None
    place, text = stated
    try:
        return validate_project(_value(lines[place], text))
    except InvalidInput as error:
        raise _WrongLine(lines[place].number, error.message.rstrip(".")) from error


def _stated(lines: Sequence[_Line], key: str) -> tuple[int, str] | None:
    """The place of a key of a mapping and what stands on its line; None where the mapping has no such key."""
    found: tuple[int, str] | None = None
    for place, line in enumerate(lines):
        if line.indent > lines[0].indent or line.text.startswith("- "):
            continue
        if line.indent < lines[0].indent:
            raise _WrongLine(line.number, "it is indented less than the line before allows")
        pair = _PAIR.fullmatch(line.text)
        if pair is None:
            raise _WrongLine(line.number, f"{line.text[:40]!r} is not written as `key: value`")
        if pair["key"].strip("\"'") != key:
            continue
        if found is not None:
            raise _WrongLine(line.number, f"`{key}` stands there twice")
        found = place, pair["value"] or ""
    return found


def _refuse_misspelling(lines: Sequence[_Line], *keys: str) -> None:
    """Errors: `_WrongLine` for a key of a mapping that is nearly one of those meant: other tools have keys of their
    own there, but what is misspelt would silently count as not stated.
    """
    for line in lines:
        pair = _PAIR.fullmatch(line.text) if line.indent == lines[0].indent else None
        key = "" if pair is None else pair["key"].strip("\"'")
        meant = get_close_matches(key, keys, n=1, cutoff=_NEARLY)
        if meant and key not in keys:
            raise _WrongLine(line.number, f"`{key}` is not read; write `{meant[0]}`")


def _below(lines: Sequence[_Line], indent: int) -> Iterator[_Line]:
    """The lines that belong to the one before: deeper ones, and a list at the same depth."""
    for line in lines:
        if line.indent < indent or (line.indent == indent and not line.text.startswith("-")):
            return
        yield line


def _directories(lines: Sequence[_Line]) -> tuple[KnowledgeDirectory, ...]:
    found: dict[str, KnowledgeDirectory] = {}
    for entry in _entries(lines):
        directory = _directory(entry)
        if directory.path in found:
            raise _WrongLine(entry[0].number, f"the folder {directory.path!r} stands there twice")
        found[directory.path] = directory
    return tuple(found.values())


def _entries(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """The lines of each entry of a list, without their dash."""
    entry: list[_Line] = []
    for line in lines:
        if line.text == "-" or line.text.startswith("- "):
            if line.indent != lines[0].indent:
                raise _WrongLine(line.number, "its dash does not stand below that of the first entry")
            if entry:
                yield entry
            rest = line.text[1:].lstrip()
            entry = [_Line(line.number, line.indent + len(line.text) - len(rest), rest)]
        elif entry:
            entry.append(line)
        else:
            raise _WrongLine(line.number, "an entry of `directories` begins with a dash")
    if entry:
        yield entry


def _directory(entry: Sequence[_Line]) -> KnowledgeDirectory:
    stated: dict[str, str] = {}
    lines = entry if entry[0].text else entry[1:]
    for line in lines:
        if line.indent != lines[0].indent:
            raise _WrongLine(line.number, "it is not indented as the first line of its entry is")
        pair = _PAIR.fullmatch(line.text)
        if pair is None and len(entry) == 1:
            stated["path"] = _value(line, line.text)
            break
        key = "" if pair is None else pair["key"].strip("\"'")
        if pair is None or key not in _KEYS:
            raise _WrongLine(line.number, f"{line.text[:40]!r} is none of {', '.join(_KEYS)}")
        if key in stated:
            raise _WrongLine(line.number, f"`{key}` stands there twice")
        stated[key] = _value(line, pair["value"] or "")
    path = stated.get("path", "").rstrip("/").removeprefix("./")
    if not path:
        raise _WrongLine(entry[0].number, "the entry names no `path`")
    if path.startswith("/") or ".." in path.split("/") or not path.isprintable():
        raise _WrongLine(entry[0].number, f"the path {path!r} is not relative to the project")
    return KnowledgeDirectory(path, stated.get("domain") or "knowledge", stated.get("description", ""))


def _value(line: _Line, text: str) -> str:
    """A plain or quoted value."""
    bare = text.strip()
    if bare[:1] in ('"', "'"):
        end = bare.find(bare[0], 1)
        if end < 0 or _COMMENT.sub("", bare[end + 1 :]).strip():
            raise _WrongLine(line.number, "its quotes do not close")
        return bare[1:end]
    if bare[:1] in ("|", ">", "{", "[", "&", "*", "!"):
        raise _WrongLine(line.number, f"a value that begins with {bare[0]!r} is not read here; write it in quotes")
    return _COMMENT.sub("", bare).strip()
