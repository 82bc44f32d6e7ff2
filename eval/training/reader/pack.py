"""Packs what the reader is trained on into two small files, so that the training itself needs torch and numpy alone and
runs on a machine that has nothing else.

    python -m eval.training.reader.pack --model DIRECTORY --pairs PAIRS.jsonl.gz --out PACK
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from eval.training.reader.data import (
    HELD_BACK,
    READ,
    SINGLE,
    UNREAD,
    WORKPLACE,
    AskedText,
    Pairs,
    folders_of,
    read_pairs,
    read_workplace,
)
from eval.training.reader.weights import WORDS, quantise_words, read_weights
from tokenizers import Tokenizer

from agentic_rag.models.embedding.local_models import MODEL_FILE, TOKENIZER_FILE

PACK_FILE, WEIGHTS_FILE = "texts.json.gz", "base.npz"
POSITIONS = 192
"""Places that the longest input of the judgement has."""
SPECIAL = (0, 101, 102)
"""Padding, and what opens and closes a text."""
MOST_SENTENCES = 40
"""Sentences that hold a word which is taken for telling."""
AROUND = 100
"""Questions before and behind from which another word of the same sort is taken."""
ALTERED = 2
"""Of a question at most."""
_WORD = re.compile(r"\w[\w'-]*")


@dataclass(slots=True)
class _Texts:
    """Each text once, as numbers of its tokens without the first and the last."""

    tokenizer: Tokenizer
    ids: list[list[int]] = field(default_factory=list[list[int]])
    places: dict[str, int] = field(default_factory=dict[str, int])

    def place(self, text: str) -> int:
        if text not in self.places:
            self.places[text] = len(self.ids)
            self.ids.append(self.tokenizer.encode(text).ids[1:-1])
        return self.places[text]

    def all(self, texts: Sequence[str]) -> list[int]:
        return [self.place(text) for text in texts]


def main() -> None:
    """Read, pack and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="directory of all-MiniLM-L6-v2 by `rag model get`")
    parser.add_argument("--pairs", type=Path, required=True, help="JSONL, gzipped: `question`, `sentence`")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.model / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.enable_truncation(POSITIONS)
    texts = _Texts(tokenizer)
    pairs = read_pairs(options.pairs)
    single = [one for part in SINGLE for one in read_workplace(WORKPLACE / part)]
    folders = [(part, read_workplace(one)) for part in (READ, UNREAD) for one in folders_of(WORKPLACE / part)]
    found: dict[str, Any] = {
        "pairs": {
            "sentences": texts.all(pairs.sentences),
            "questions": texts.all(pairs.questions),
            "answers": pairs.answers,
            "altered": [texts.all(one) for one in alter_pairs(pairs)],
        },
        "documents": [{**_packed(one, texts), "held": place % HELD_BACK == 2} for place, one in enumerate(single)],
        "folders": [
            {"documents": [_packed(one, texts) for one in folder], "held": part == UNREAD} for part, folder in folders
        ],
        "texts": texts.ids,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    with gzip.open(options.out / PACK_FILE, "wt", encoding="utf-8") as file:
        json.dump(found, file, separators=(",", ":"))
    weights = read_weights(options.model / MODEL_FILE)
    table = "embeddings.position_embeddings.weight"
    weights[table] = weights[table][:POSITIONS]
    used = np.zeros(len(weights[WORDS]), np.bool_)
    used[[*SPECIAL, *(one for ids in texts.ids for one in ids)]] = True
    words, scales = quantise_words(weights.pop(WORDS) * used[:, None])
    halves = {name: value.astype(np.float16) for name, value in weights.items()}
    held: dict[str, Any] = {**halves, "words": words, "scales": scales}
    np.savez_compressed(options.out / WEIGHTS_FILE, **held)


def _packed(text: AskedText, texts: _Texts) -> dict[str, Any]:
    return {
        "units": texts.all(text.units),
        "beside": texts.all(text.beside),
        "headings": text.headings,
        "before": text.before,
        "questions": texts.all(text.questions),
        "answers": text.answers,
        "altered": [texts.all(one) for one in alter_document(text)],
    }


def alter_pairs(pairs: Pairs) -> list[list[str]]:
    """For each question others that its sentence does not answer: a telling word that both have stands exchanged for
    one that tells in a question near by.
    """
    said = [frozenset(_words(one)) for one in pairs.sentences]
    counts = Counter(word for words in said for word in words)
    asked = [
        _telling(question, said[answer], counts)
        for question, answer in zip(pairs.questions, pairs.answers, strict=True)
    ]
    chance = random.Random(1)
    return [
        _alter(question, asked[place], asked[max(0, place - AROUND) : place + AROUND], said[answer], chance)
        for place, (question, answer) in enumerate(zip(pairs.questions, pairs.answers, strict=True))
    ]


def alter_document(text: AskedText) -> list[list[str]]:
    """The same for the questions of a document."""
    held = [frozenset(_words(unit)) for unit in text.units]
    counts = Counter(word for words in held for word in words)
    said = [frozenset(word for one in answers for word in held[one]) for answers in text.answers]
    asked = [_telling(question, own, counts) for question, own in zip(text.questions, said, strict=True)]
    chance = random.Random(2)
    return [_alter(question, asked[place], asked, said[place], chance) for place, question in enumerate(text.questions)]


def _words(text: str) -> list[str]:
    return [one.lower() for one in _WORD.findall(text)]


def _telling(question: str, said: frozenset[str], counts: Counter[str]) -> list[str]:
    """The words of a question that its answer has and few other sentences have."""
    return [
        word
        for word in _WORD.findall(question)
        if word.lower() in said and counts[word.lower()] <= MOST_SENTENCES and (len(word) > 3 or word.isdigit())
    ]


def _sort(word: str) -> tuple[bool, bool]:
    """Words of one sort often stand in one another's place."""
    return word[0].isdigit(), word[0].isupper()


def _alter(
    question: str, telling: Sequence[str], near: Sequence[Sequence[str]], said: frozenset[str], chance: random.Random
) -> list[str]:
    kept = said | frozenset(_words(question))
    others = sorted({word for words in near for word in words if word.lower() not in kept})
    found: list[str] = []
    for word in chance.sample(list(telling), min(ALTERED, len(telling))):
        alike = [one for one in others if _sort(one) == _sort(word)]
        if alike:
            found.append(re.sub(rf"\b{re.escape(word)}\b", chance.choice(alike), question, count=1))
    return found


if __name__ == "__main__":
    main()
