"""The row on answers in viewers: whatever a document or a model writes, no viewer runs, loads or follows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from agentic_rag.answering.verification.defang_links import defang_links
from tests.bench.reports import Row, exactly
from tests.security.ground import Ground
from tests.security.renderers import CITED, RENDERERS, live_in, texts
from tests.security.table import Measure

TEXTS = 11_000
SHORT_TEXTS = 60
LEAST_RENDERERS = 11


def live_answers(count: int) -> tuple[Counter[str], int, list[str]]:
    """By renderer, how many texts are live as they are; how many are as answers show them, and which."""
    raw: Counter[str] = Counter()
    found: list[str] = []
    for number, text in enumerate(texts(count)):
        shown = defang_links(text, (CITED,))
        for name, render in RENDERERS.items():
            if live := live_in(render(shown)):
                found.append(f"{name}: {live[:3]} of {text!r} shown as {shown!r}")
            # A hundredth is enough to see that each of them is no filter.
            if number < max(SHORT_TEXTS, count // 100):
                raw[name] += bool(live_in(render(text)))
    return raw, len(found), found


async def answers_in_viewers(ground: Ground, short: bool) -> list[Row]:
    """Each generated text as an answer shows it, in every renderer."""
    count = SHORT_TEXTS if short else TEXTS
    raw, live, found = live_answers(count)
    for line in found[:20]:
        print(f"    {line}")
    seeing = sum(raw[name] > 0 for name in RENDERERS)
    return [
        exactly(f"{count} generated texts in {len(RENDERERS)} renderers: live tags, handlers, addresses", live, 0),
        Row("renderers that show such texts live when nothing is broken", str(seeing), "all", seeing == len(RENDERERS)),
        Row("renderers", str(len(RENDERERS)), f"≥ {LEAST_RENDERERS}", len(RENDERERS) >= LEAST_RENDERERS),
    ]


ROWS: Mapping[str, Measure] = {"answers-in-viewers": answers_in_viewers}
