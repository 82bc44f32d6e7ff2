"""PDFs made for a measure, whose right reading is known."""

from __future__ import annotations

import io
from random import Random

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

_WORDS = [
    "harbour",
    "crane",
    "ledger",
    "tariff",
    "winter",
    "pilot",
    "anchor",
    "cargo",
    "notice",
    "signal",
    "vessel",
    "berth",
    "depot",
    "quarter",
    "inspection",
]


def form(seed: int) -> tuple[bytes, list[tuple[str, str]]]:
    """A filled form, and its labels with their values."""
    random = Random(seed)
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    pairs: list[tuple[str, str]] = []
    for row in range(8):
        for column in range(random.choice((1, 2))):
            label = f"{random.choice(_WORDS).title()} {row}{column}:"
            value = f"{random.choice(_WORDS)} {random.randrange(10_000)}"
            left, base = 50 + 270 * column, 760 - 40 * row
            canvas.drawString(left, base, label)
            canvas.acroForm.textfield(
                name=f"f{row}{column}", value=value, x=left + 90, y=base - 5, width=150, height=18
            )
            pairs.append((label, value))
    canvas.save()
    return made.getvalue(), pairs


def report(seed: int, pages: int = 6) -> tuple[bytes, str]:
    """A report with a running header and page numbers, and its header."""
    random = Random(seed)
    header = f"{random.choice(_WORDS).title()} authority, report {random.randrange(100, 999)}"
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    for page in range(1, pages + 1):
        canvas.drawString(50, 800, header)
        for line in range(30):
            canvas.drawString(50, 770 - 14 * line, " ".join(random.choices(_WORDS, k=9)))
        canvas.drawString(290, 30, str(page))
        canvas.showPage()
    canvas.save()
    return made.getvalue(), header
