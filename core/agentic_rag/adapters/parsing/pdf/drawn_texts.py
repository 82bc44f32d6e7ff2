"""Texts that PDFs hold in the drawings of their annotations only: stamps, watermarks, what a signature shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

import pypdfium2.raw  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.kernel.text import strip_unstorable

pdfium = cast(Any, pypdfium2.raw)
_DRAWN = frozenset({
    pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_WATERMARK, pdfium.FPDF_ANNOT_SQUARE,
    pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_LINE,
})  # fmt: skip
_FLATTENED = 1
"""PDFium drew all annotations into the page."""


def drawn_texts(page: Any, textpage: Any, form: object, again: Callable[[], Any]) -> Iterator[tuple[str, Any]]:
    """The words that annotations without a text of their own draw, each with their rectangle in points. Draws all
    annotations into the page where there are any; `again` opens the page anew, as it is then.
    """
    areas = [*_areas(page.raw, form)]
    if not areas or pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) != _FLATTENED:
        return
    drawn = again()
    after = drawn.get_textpage()
    try:
        for area in areas:
            below = Counter(_text_within(textpage, area).split())
            words: list[str] = []
            for word in _text_within(after, area).split():
                if below[word]:
                    below[word] -= 1
                else:
                    words.append(word)
            if words:
                yield " ".join(words), area
    finally:
        after.close()
        drawn.close()


def _areas(page: object, form: object) -> Iterator[Any]:
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            area = pdfium.FS_RECTF()
            if _draws_text(annotation, form) and pdfium.FPDFAnnot_GetRect(annotation, area):
                yield area
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _draws_text(annotation: object, form: object) -> bool:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN:
        return False
    if not pdfium.FPDFAnnot_HasKey(annotation, b"AP"):
        return False
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        field = pdfium.FPDFAnnot_GetFormFieldType(form, annotation) if form else pdfium.FPDF_FORMFIELD_UNKNOWN
        return field in (pdfium.FPDF_FORMFIELD_SIGNATURE, pdfium.FPDF_FORMFIELD_UNKNOWN)
    # Two bytes end an empty text.
    return kind in _DRAWN and pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0) <= 2


def _text_within(textpage: Any, area: Any) -> str:
    text = textpage.get_text_bounded(area.left, area.bottom, area.right, area.top)
    return strip_unstorable(re.sub("[\ufffe\ud800-\udfff]", "", text))
