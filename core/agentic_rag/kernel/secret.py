"""Texts that must not be shown."""

from __future__ import annotations


class Secret:
    """A text that shows itself to nobody who only prints, logs or formats it; `reveal` is the one way to it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> str:
        """Pickling would write the text down. Errors: `TypeError`, always."""
        raise TypeError("a Secret is not pickled")
