"""Harmless files under names that are none."""

from __future__ import annotations

from tests.hostile.case import Hostile, failed, ready
from tests.hostile.pdf_files import WORDS, pdf
from tests.hostile.word_files import docx

TEXT = f"{WORDS}.".encode()

NAME_FILES: tuple[Hostile, ...] = (
    ready("n" * 251 + ".txt", WORDS, lambda: TEXT),
    ready("Größe – 港 \u202egpj.txt", WORDS, lambda: TEXT),
    ready("CON", WORDS, lambda: TEXT),
    ready("-rf *;$(true).txt", WORDS, lambda: TEXT),
    ready(".txt", WORDS, lambda: TEXT),
    ready("pdf-named.txt", WORDS, pdf),
    ready("docx-named.pdf", "winch must be greased", docx),
    ready("LETTER.PDF", WORDS, pdf),
    failed("html-named.pdf", "TYPE_MISMATCH", lambda: b"<!doctype html><html><body><p>" + TEXT),
)
