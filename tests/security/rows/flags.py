"""Rows on the flags for injections: what they find, and what they say of harmless texts, as the schema states it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import agentic_rag_server.graphql
from agentic_rag.language import prompt_injection
from tests.bench.corpus import load_corpus
from tests.bench.reports import Row
from tests.security.ground import Ground
from tests.security.injections import KINDS
from tests.security.table import Measure
from tests.security.wordings import FAMILIES, LOOKALIKES

PASSAGES = 20_000
SAMPLE = Path(__file__).parents[3] / "simulated_ingestion"
SCHEMA = Path(agentic_rag_server.graphql.__file__).parent / "schema.graphql"
STATED = re.compile(r"(\d+ of \d+) other wordings, (\d+ of \d+) harmless texts about such orders")


async def flags(ground: Ground, short: bool) -> list[Row]:
    """Wordings that patterns were written for, others, harmless lookalikes, and ordinary passages."""
    stated = STATED.search(SCHEMA.read_text("utf-8"))
    assert stated is not None, "the schema does not say what the flags are worth"
    others = _share([text for family in FAMILIES.values() for text in family])
    lookalikes = _share(LOOKALIKES)
    known = sum(map(_is_flagged, (attack for attack, _ in KINDS.values())))
    says = "{}, as the schema says".format
    passages = _sample() if short else [one.text for one in load_corpus(PASSAGES).chunks]
    signs = Counter(sign.value for text in passages for sign in prompt_injection.find_suspicions(text))
    flagged = sum(map(_is_flagged, passages))
    print(f"    {flagged} of {len(passages)} ordinary passages: {dict(signs)}")
    return [
        Row("kinds that signs were written for, flagged", f"{known}/{len(KINDS)}", "≥ 80 %", known >= 0.8 * len(KINDS)),
        Row("other wordings, flagged", others, says(stated[1]), others == stated[1]),
        Row(
            "harmless texts about orders, flagged",
            lookalikes,
            says(stated[2]),
            lookalikes == stated[2],
        ),
        Row("ordinary passages, flagged", f"{flagged}/{len(passages)}", "≤ 1 %", flagged <= 0.01 * len(passages)),
    ]


def _is_flagged(text: str) -> bool:
    return bool(prompt_injection.find_suspicions(text))


def _share(texts: Sequence[str]) -> str:
    return f"{sum(map(_is_flagged, texts))} of {len(texts)}"


def _sample() -> list[str]:
    """The paragraphs of the sample corpus."""
    texts: Iterable[str] = (file.read_text("utf-8") for file in sorted(SAMPLE.rglob("*.md")))
    return [paragraph for text in texts for paragraph in text.split("\n\n") if paragraph.strip()]


ROWS: Mapping[str, Measure] = {"flags": flags}
