"""Trains the reader of units (adapters/onnx/reader/) and writes it. Its record stands beside it: README.md.

uv pip install torch
python -m eval.training.train_reader --model DIRECTORY --pairs PAIRS.jsonl.gz --steps 90 --unit-layers 2 --out FIRST
python -m eval.training.train_reader … --from FIRST/state.pt --workplace 0.5 --unit-layers 1 --out SECOND
python -m eval.training.train_reader … --steps 0 --mean SECOND/state.pt THIRD/state.pt --out adapters/onnx/reader
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from eval.training.reader_data import (
    HELD_BACK,
    PAIRS_HELD_BACK,
    TRAIN_PAIRS,
    AskedText,
    Pairs,
    read_pairs,
    read_workplace,
)
from eval.training.reader_export import write_reader
from eval.training.reader_model import ReaderModel, read_weights
from tokenizers import Tokenizer
from torch import Tensor, nn

from agentic_rag.adapters.onnx.embedder import MODEL_FILE, TOKENIZER_FILE
from agentic_rag.adapters.onnx.unit_reader import LONGEST, LONGEST_HEADING

WORKPLACE = Path(__file__).with_name("workplace")
LAYERS = 6
WINDOW, WINDOWS, MOST_ASKED = 32, 2, 72
"""Sentences of an article beside one another, windows in a step, and questions of a step."""
RIVALS = 45
WARM, LEAST = 17, 0.03
"""Steps until the full rate, and the share of it at the end."""
HEAD_RATE = 1e-3


@dataclass(slots=True)
class Trainer:
    """The model with its tokenizer: texts in, scores and losses out."""

    model: ReaderModel
    tokenizer: Tokenizer

    def score(self, text: AskedText) -> Tensor:
        """The scores: (questions, units)."""
        model = self.model
        units = model.encode(self._ids(text.units), model.units)
        beside = (
            model.encode([one[:LONGEST_HEADING] for one in self._ids(text.beside)], model.units)
            if text.beside
            else None
        )
        asked = model.encode(self._ids(text.questions), model.asked)
        return model.compare(asked, units, beside, torch.tensor(text.headings), torch.tensor(text.before))

    def loss(self, text: AskedText) -> Tensor:
        """Over the units of each question that one of them answers."""
        scores = self.score(text)
        right = torch.zeros_like(scores, dtype=torch.bool)
        for row, answers in enumerate(text.answers):
            right[row, list(answers)] = True
        ranked = scores.logsumexp(1) - scores.masked_fill(~right, -1e4).logsumexp(1)
        return ranked[right.any(1)].mean()

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in self.tokenizer.encode_batch([*texts])]


def main() -> None:
    """Train, judge and write."""
    options = _options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    pairs, documents = read_pairs(options.pairs), read_workplace(WORKPLACE / "a") + read_workplace(WORKPLACE / "b")
    held = [one for place, one in enumerate(documents) if place % HELD_BACK == 2]
    tokenizer = Tokenizer.from_file(str(options.model / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    model = ReaderModel(read_weights(options.model / MODEL_FILE), LAYERS, options.unit_layers)
    states = [torch.load(one) for one in options.mean or options.begin]
    if states:
        mean = {name: sum(state[name] for state in states) / len(states) for name in states[0]}
        model.load_state_dict(mean, strict=False)
    trainer = Trainer(model, tokenizer)
    known = [one for one in documents if one not in held]
    _train(trainer, _texts(pairs, known, options.workplace, options.seed), options)
    model.eval()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), options.out / "state.pt")
    chosen = _rivals(pairs, TRAIN_PAIRS, TRAIN_PAIRS + PAIRS_HELD_BACK)
    judged = _rivals(pairs, len(pairs.questions) - PAIRS_HELD_BACK, len(pairs.questions))
    figures = {
        "chosen by": precision(trainer, chosen),
        "pairs": precision(trainer, judged),
        "workplace": precision(trainer, held),
    }
    write_reader(model, options.out)
    shutil.copy(options.model / TOKENIZER_FILE, options.out / TOKENIZER_FILE)
    print(json.dumps(figures))


def precision(trainer: Trainer, texts: Sequence[AskedText]) -> tuple[float, float]:
    """The percentage of questions whose first unit answers, and of whose first two one does."""
    hits, count = np.zeros(2), 0
    with torch.no_grad():
        for text in texts:
            order = trainer.score(text).argsort(dim=1, descending=True).tolist()
            for ranked, answers in zip(order, text.answers, strict=True):
                if answers:
                    hits += [not set(answers).isdisjoint(ranked[:most]) for most in (1, 2)]
                    count += 1
    first, first_two = (100 * hits / max(1, count)).round(1).tolist()
    return first, first_two


def _train(trainer: Trainer, texts: Iterator[AskedText], options: argparse.Namespace) -> None:
    model = trainer.model
    stacks, heads = [*model.units.parameters(), *model.asked.parameters()], []
    heads = [value for name, value in model.named_parameters() if not name.startswith(("units.", "asked."))]
    groups = [
        {"params": stacks, "lr": options.rate, "weight_decay": 0.01},
        {"params": heads, "lr": HEAD_RATE, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    rates = [group["lr"] for group in groups]
    model.train()
    began, losses = time.monotonic(), []
    for step in range(options.steps):
        share = min((step + 1) / WARM, max(LEAST, 1 - step / options.steps))
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share
        loss = trainer.loss(next(texts))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(loss))
        if step % 25 == 24:
            print(f"{step + 1} steps, {time.monotonic() - began:.0f} s, loss {np.mean(losses[-25:]):.3f}", flush=True)


def _texts(pairs: Pairs, documents: Sequence[AskedText], share: float, seed: int) -> Iterator[AskedText]:
    """Endless: windows of articles, and documents at their share."""
    chance = random.Random(seed)
    last = pairs.answers[TRAIN_PAIRS]
    asked: dict[int, list[int]] = {}
    for question in range(TRAIN_PAIRS):
        asked.setdefault(pairs.answers[question], []).append(question)
    waiting: list[AskedText] = []
    starts: list[int] = []
    while True:
        if chance.random() < share:
            waiting = waiting or chance.sample(documents, len(documents))
            yield waiting.pop()
            continue
        if len(starts) < WINDOWS:
            starts = [*range(chance.randrange(WINDOW), last - WINDOW, WINDOW)]
            chance.shuffle(starts)
        windows = [_window(pairs, starts.pop(), asked) for _ in range(WINDOWS)]
        yield _join(windows, chance)


def _window(pairs: Pairs, first: int, asked: dict[int, list[int]]) -> AskedText:
    questions = [one for place in range(first, first + WINDOW) for one in asked.get(place, ())]
    return pairs.window(first, first + WINDOW, questions)


def _join(texts: Sequence[AskedText], chance: random.Random) -> AskedText:
    """Texts without headings as one: the units of each are rivals for the questions of all."""
    units: list[str] = []
    before: list[int] = []
    asked: list[tuple[str, tuple[int, ...]]] = []
    for text in texts:
        behind = len(units)
        units += text.units
        before += [one + behind if one >= 0 else -1 for one in text.before]
        asked += [
            (question, tuple(one + behind for one in answers))
            for question, answers in zip(text.questions, text.answers, strict=True)
        ]
    asked = chance.sample(asked, MOST_ASKED) if len(asked) > MOST_ASKED else asked
    questions, answers = (tuple(one) for one in zip(*asked, strict=True))
    return AskedText(tuple(units), (), (-1,) * len(units), tuple(before), questions, answers)


def _rivals(pairs: Pairs, first: int, last: int) -> list[AskedText]:
    """The questions [first, last), each with the `RIVALS` sentences among which its own stands."""
    start, end = pairs.answers[first], max(pairs.answers[first:last]) + 1
    texts: list[AskedText] = []
    for place in range(start, end, RIVALS):
        place = min(place, len(pairs.sentences) - RIVALS)
        asked = [one for one in range(first, last) if place <= pairs.answers[one] < place + RIVALS]
        if asked:
            texts.append(pairs.window(place, place + RIVALS, asked))
    return texts


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="directory of all-MiniLM-L6-v2 by `rag model get`")
    parser.add_argument("--pairs", type=Path, required=True, help="JSONL, gzipped: `question`, `sentence`")
    parser.add_argument("--out", type=Path, required=True, help="directory of the reader")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--unit-layers", type=int, default=1, help="layers of the stack for units")
    parser.add_argument("--workplace", type=float, default=0.0, help="share of steps on documents of work places")
    parser.add_argument("--rate", type=float, default=4e-5, help="highest learning rate of the layers")
    parser.add_argument("--from", dest="begin", type=Path, nargs="*", default=[], help="a state to go on from")
    parser.add_argument("--mean", type=Path, nargs="+", help="states whose mean is taken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
