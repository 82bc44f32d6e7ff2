"""A page of an original as people see it, with the words of a quote marked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

CONTEXT_CHARACTERS = 20_000
"""Code points of the page's stored text that tell on either side which of several equal places is meant: all of an
ordinary page.
"""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A part of a line that a quote covers, in points from the lower left corner of the page's own coordinates."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class QuotedPlace:
    """A quote on a page, counted from 1, with the page's stored text around it."""

    page: int
    quote: str
    before: str = ""
    after: str = ""
    is_recognised: bool = False
    """Whether an engine recognised the page's words in a picture of it."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """A PNG. `lines` is empty where the quote is not found letter by letter at one place: the page then has no mark.
    `first`: where the first mark begins, by the height of the image; 0 without one.
    """

    png: bytes
    lines: tuple[MarkedLine, ...]
    first: float = 0.0


RenderPage = Callable[[bytes, QuotedPlace], Awaitable[PageImage]]
"""Renders a page of a PDF. Errors: `ParseFailed` where it cannot be read, `Retryable`."""
