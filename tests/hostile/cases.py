"""All hostile files."""

from __future__ import annotations

from tests.hostile.case import Hostile
from tests.hostile.markup_files import MARKUP_FILES
from tests.hostile.name_files import NAME_FILES
from tests.hostile.nested_files import NESTED_FILES
from tests.hostile.pdf_files import PDF_FILES
from tests.hostile.text_files import TEXT_FILES
from tests.hostile.word_files import WORD_FILES


def hostile_files() -> tuple[Hostile, ...]:
    """Every file, with its name (unique), builder and expected end; building all of them takes a few seconds."""
    return (*PDF_FILES, *WORD_FILES, *TEXT_FILES, *MARKUP_FILES, *NAME_FILES, *NESTED_FILES)
