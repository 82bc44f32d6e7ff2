"""How often the tone of a sentence, and whether it sells, are told as people would:
`python -m eval.training.measure_profiles`.

The sentences are our own (profile_sentences.tsv). `dev` and some of `held` were looked at to mend the rules,
`fresh` was not; but one author wrote all of them and the rules, so texts of others will be told less well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.operations.profiles.marketing import phrase_pattern, promotions
from agentic_rag.operations.profiles.tone import CLEAR, tone_of

SENTENCES = Path(__file__).with_name("profile_sentences.tsv")
_BRANDS = phrase_pattern(["Norda", "Belmo"])
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence, what it was said to be, and what it is told to be."""

    part: str
    kind: str
    label: str
    told: str


def main() -> None:
    """Print each part of each kind."""
    counts = agreement()
    for (kind, label, part), (right, whole) in sorted(counts.items()):
        low, high = interval(right, whole)
        print(f"{kind:10}{label:10}{part:7}{right:4} of {whole:3}  [{100 * low:.0f}, {100 * high:.0f}] %")


def agreement() -> Mapping[tuple[str, str, str], tuple[int, int]]:
    """Of each kind, label and part, how many are told as they were labelled, and how many there are."""
    whole = Counter((one.kind, one.label, one.part) for one in labelled())
    right = Counter((one.kind, one.label, one.part) for one in labelled() if one.told == one.label)
    return {key: (right[key], count) for key, count in whole.items()}


def labelled() -> Iterator[Labelled]:
    """Every sentence."""
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            part, kind, _, label, sentence = line.split("\t")
            yield Labelled(part, kind, label, _tone(sentence) if kind == "tone" else _sells(sentence))


def interval(right: int, whole: int) -> tuple[float, float]:
    """Wilson's interval of a share, at 95 %."""
    share, square = right / whole, _Z * _Z / whole
    middle, reach = share + square / 2, _Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole))
    return (middle - reach) / (1 + square), (middle + reach) / (1 + square)


def _tone(sentence: str) -> str:
    compound = tone_of(_BRANDS.sub(" ", sentence)).compound
    return "positive" if compound >= CLEAR else "negative" if compound <= -CLEAR else "neutral"


def _sells(sentence: str) -> str:
    return "yes" if promotions(sentence) else "no"


if __name__ == "__main__":
    main()
