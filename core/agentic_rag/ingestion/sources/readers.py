"""The file in a source that says who may read what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.access import parse_principals

READERS_FILE = ".ragreaders"
"""At the root of a source. Each line is a pattern and its principals; the last line that matches a path counts."""


@dataclass(frozen=True, slots=True)
class ReaderRule:
    """A pattern of paths and the principals who may read them."""

    pattern: str
    principals: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether the rule is about the path. `*` stands for any characters, slashes too; a pattern that ends in a
        slash is everything below.
        """
        return fnmatchcase(path, f"{self.pattern}*" if self.pattern.endswith("/") else self.pattern)


def parse_readers(text: str) -> tuple[ReaderRule, ...]:
    """The rules of a readers file. Errors: `InvalidInput` code SOURCE_READERS_INVALID with the line's number."""
    rules: list[ReaderRule] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if len(words) == 1:
                raise InvalidInput("It names no reader: write `everyone`, `group:NAME`, `user:NAME` or `key:NAME`.")
            rules.append(ReaderRule(words[0], parse_principals(words[1:])))
        except InvalidInput as error:
            raise InvalidInput(
                f"Line {number} of {READERS_FILE} is wrong, and nothing was changed: {error.message}",
                code="SOURCE_READERS_INVALID",
                path=("source",),
            ) from error
    return tuple(rules)


def readers_of_path(rules: Sequence[ReaderRule], path: str) -> tuple[str, ...] | None:
    """The principals of the last rule that is about the path; None where none is."""
    return next((rule.principals for rule in reversed(rules) if rule.matches(path)), None)
