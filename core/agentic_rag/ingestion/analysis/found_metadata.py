"""What a document's own text says of it: its front matter and the language that it is written in."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from agentic_rag.documents.document import ParsedDocument
from agentic_rag.documents.front_matter import read_front_matter
from agentic_rag.documents.metadata import NO_CHANGE, UNSAID, MetadataChange
from agentic_rag.language.words.word_tables import language_of

_MARKDOWN = "text/markdown"
_SAMPLES = 9
_SAMPLE_CHARACTERS = 1_000
"""Code points of a sample; they are spread evenly, since a cover or an appendix may be in another language."""


def find_metadata(parsed: ParsedDocument) -> MetadataChange:
    """The front matter of a Markdown text, and the language of most of the text where that does not state one."""
    stated = read_front_matter(parsed.text) if parsed.media_type == _MARKDOWN else NO_CHANGE
    if stated.language is not UNSAID or parsed.language is not None:
        return stated
    language = _most_written(parsed.main_text)
    return stated if language is None else replace(stated, language=language)


def _most_written(text: str) -> str | None:
    """The language of most samples of a text, the earlier of two equals; None where none tells one."""
    step = max(_SAMPLE_CHARACTERS, len(text) // _SAMPLES)
    samples = (text[start : start + _SAMPLE_CHARACTERS] for start in range(0, len(text), step))
    told = Counter(language for language in map(language_of, samples) if language is not None)
    return max(told, key=lambda language: told[language]) if told else None
