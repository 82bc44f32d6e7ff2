"""Trains the reader of units (adapters/onnx/reader/) on what eval.training.reader.pack packed. Its record stands beside
the reader: README.md. Needs torch and numpy alone; an accelerator is used where there is one.

uv pip install torch
python -m eval.training.reader.train --pack PACK --steps 1000 --out TRAINED
python -m eval.training.reader.export --trained TRAINED/reader --model DIRECTORY --out adapters/onnx/reader
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from eval.training.reader.model import DROPOUT, ReaderModel
from eval.training.reader.texts import CLOSES, OPENS, AskedIds, JointShape, Pack, join, joint_ids, some_of
from torch import Tensor, nn
from torch.nn import functional

LAYERS, UNIT_LAYERS = 6, 1
WINDOW, WINDOWS = 48, 2
"""Sentences of an article beside one another, and windows in a step."""
RIVALS = 45
FIRST = 8
"""Units, by likeness, that are judged where the reader is put to the test."""
RIGHT_WEIGHT = 4.0
"""Of a unit that answers, in the loss of each judgement."""
ALTERED, ALTERED_WEIGHT = 0.5, 0.3
"""Share of the questions that are asked altered too, and the weight of what that loses."""
BARE = 0.25
"""Share of judgements without surroundings."""
TAUGHT, SOFT = 0.5, 1.5
"""The weight of what the judgement teaches the likeness, and what both are divided by for it."""
HEAD_RATE = 1e-3
KEPT = 0.995
"""Of the mean of the weights at each step."""
SHAPE = JointShape()


@dataclass(slots=True)
class Trainer:
    """The model with its tokens: texts in, losses out."""

    model: ReaderModel
    pack: Pack
    options: argparse.Namespace
    chance: random.Random
    told: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def loss(self, text: AskedIds) -> Tensor:
        """Of likeness and of judgement, over the units of each question."""
        scores = self.scores(text)
        right = torch.zeros(scores.shape, dtype=torch.bool)
        for row, answers in enumerate(text.answers):
            right[row, list(answers)] = True
        right = right.to(scores.device)
        answered = right.any(1)
        chosen = self._choose(scores.detach().cpu().numpy(), text)
        joint = [self._joint(text, row, unit) for row, units in enumerate(chosen) for unit in units]
        altered = self._alter(text)
        odds = self.model.judge([*joint, *(self._joint(text, row, unit, other) for row, unit, other in altered)])
        judged, others = odds[: len(joint)].view(len(chosen), -1), odds[len(joint) :]
        rows = torch.tensor(np.array(chosen), device=scores.device)
        truth = right.gather(1, rows)
        weight = torch.where(truth, RIGHT_WEIGHT, 1.0)
        binary = (
            functional.binary_cross_entropy_with_logits(judged, truth.float(), weight) * judged.numel() / weight.sum()
        )
        parts = {"binary": self.options.binary * binary}
        if answered.any():
            ranked = scores.logsumexp(1) - scores.masked_fill(~right, -1e4).logsumexp(1)
            parts["likeness"] = self.options.likeness * ranked[answered].mean()
            parts["listed"] = (judged.logsumexp(1) - judged[:, 0])[answered].mean()
            teacher = (judged.detach()[answered] / SOFT).softmax(1)
            student = (scores.gather(1, rows)[answered] / SOFT).log_softmax(1)
            parts["taught"] = TAUGHT * functional.kl_div(student, teacher, reduction="batchmean")
        if altered:
            own = judged[torch.tensor([row for row, _, _ in altered], device=odds.device), 0]
            parts["altered"] = ALTERED_WEIGHT * (functional.softplus(others - own) + functional.softplus(others)).mean()
        for name, value in parts.items():
            self.told.setdefault(name, []).append(float(value.detach()))
        return torch.stack(list(parts.values())).sum()

    def scores(self, text: AskedIds) -> Tensor:
        """The likenesses: (questions, units)."""
        model, ids = self.model, self.pack.ids
        whole = [(OPENS, *ids[one][: SHAPE.longest - 2], CLOSES) for one in text.units]
        beside = [(OPENS, *ids[one][: SHAPE.longest_heading - 2], CLOSES) for one in text.beside]
        asked = [(OPENS, *ids[one][: SHAPE.longest - 2], CLOSES) for one in text.questions]
        device = model.words.device
        return model.compare(
            model.encode(asked, model.asked),
            model.encode(whole, model.units),
            model.encode(beside, model.units) if beside else None,
            torch.tensor(text.headings, device=device),
            torch.tensor(text.before, device=device),
        )

    def _joint(self, text: AskedIds, row: int, unit: int, other: int = -1) -> list[int]:
        """Now and then without what stands around the unit."""
        return joint_ids(self.pack.ids, text, row, unit, SHAPE, bare=self.chance.random() < BARE, other=other)

    def _choose(self, scores: np.ndarray[Any, Any], text: AskedIds) -> list[list[int]]:
        """Units to judge beside each question: one that answers first where there is one, half of the others by their
        likeness, and the rest by chance among those that come next.
        """
        most = min(self.options.judged, scores.shape[1] - 4)
        found: list[list[int]] = []
        for row, answers in enumerate(text.answers):
            order = [int(one) for one in np.argsort(-scores[row]) if one not in answers]
            own = [self.chance.choice(answers)] if answers else []
            near = order[: (most - len(own) + 1) // 2]
            further = order[len(near) : len(near) + self.options.further] or order
            found.append([*own, *near, *self.chance.choices(further, k=most - len(own) - len(near))])
        return found

    def _alter(self, text: AskedIds) -> list[tuple[int, int, int]]:
        """Questions that are asked altered too: row, unit that answered the true one, and the altered one."""
        return [
            (row, answers[0], self.chance.choice(altered))
            for row, (altered, answers) in enumerate(zip(text.altered, text.answers, strict=True))
            if altered and answers and self.chance.random() < ALTERED
        ]


def main() -> None:
    """Train, judge and write."""
    options = _options()
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pack = Pack.read(options.pack)
    weights = {name: torch.from_numpy(value).float() for name, value in np.load(options.pack / "base.npz").items()}
    model = ReaderModel(weights, LAYERS, UNIT_LAYERS, options.dropout)
    model.asked[: options.frozen].requires_grad_(requires_grad=False)
    if options.begin:
        _load(model, options.begin)
    model.to(device)
    trainer = Trainer(model, pack, options, random.Random(options.seed))
    mean = {name: value.detach().clone() for name, value in model.named_parameters()}
    _train(trainer, _texts(pack, options), mean, options)
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(mean[name])
    model.eval()
    figures = judge(trainer)
    print(options.name, json.dumps(figures), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{options.name}.json").write_text(
        json.dumps({"figures": figures, "options": {k: str(v) for k, v in vars(options).items()}})
    )
    _save(model, options.out, options.name)


def judge(trainer: Trainer) -> dict[str, Any]:
    """What the reader is worth on pairs and documents that were held back."""
    pack = trainer.pack
    found: dict[str, Any] = {}
    for name, texts in pack.judges(RIVALS).items():
        found[name] = _precision(trainer, texts[: trainer.options.judges])
    return found


def _precision(trainer: Trainer, texts: Sequence[AskedIds]) -> dict[str, Any]:
    """In percent, first and first two: by likeness, and by judgement of the first by likeness; and how well the best
    odds tell questions with their answer from those without (AUROC).
    """
    hits, count = np.zeros((2, 2)), 0
    best: dict[str, list[float]] = {"answered": [], "without it": [], "unanswered": []}
    with torch.no_grad():
        for text in texts:
            with _half(trainer.model):
                scores = trainer.scores(text).float().cpu().numpy()
                firsts = np.argsort(-scores, axis=1)[:, :FIRST]
                joint = [
                    joint_ids(trainer.pack.ids, text, row, int(unit), SHAPE, bare=False)
                    for row, first in enumerate(firsts)
                    for unit in first
                ]
                judged = trainer.model.judge(joint).float().cpu().numpy().reshape(firsts.shape)
            for first, odds, answers in zip(firsts, judged, text.answers, strict=True):
                if not answers:
                    best["unanswered"].append(float(odds.max()))
                    continue
                rest = [value for unit, value in zip(first.tolist(), odds, strict=True) if unit not in answers]
                best["answered"].append(float(odds.max()))
                best["without it"].append(float(max(rest, default=odds.min())))
                for place, order in enumerate((first, first[np.argsort(-odds)])):
                    hits[place] += [not set(answers).isdisjoint(order[:most].tolist()) for most in (1, 2)]
                count += 1
    return {
        "questions": count,
        "likeness, both": (100 * hits / max(1, count)).round(1).tolist(),
        "auroc": {name: _auroc(best["answered"], best[name]) for name in ("without it", "unanswered")},
    }


def _auroc(high: Sequence[float], low: Sequence[float]) -> float:
    above = (np.array(high)[:, None] > np.array(low)[None]).mean() if len(high) and len(low) else 0.0
    return round(100 * float(above), 1)


def _train(trainer: Trainer, texts: Iterator[AskedIds], mean: dict[str, Tensor], options: argparse.Namespace) -> None:
    model = trainer.model
    heads = [value for name, value in model.named_parameters() if not name.startswith(("units.", "asked."))]
    groups = [
        {"params": [*model.units.parameters(), *model.asked.parameters()], "lr": options.rate, "weight_decay": 0.01},
        {"params": heads, "lr": HEAD_RATE, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    rates = [group["lr"] for group in groups]
    model.train()
    began = time.monotonic()
    for step in range(options.steps):
        gone = max(step / options.steps, (time.monotonic() - began) / options.seconds)
        if gone >= 1:
            break
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * min((step + 1) / options.warm, max(0.02, 1 - gone))
        with _half(model):
            loss = trainer.loss(next(texts))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            kept = min(KEPT, (1 + step) / (10 + step))
            names, values = zip(*model.named_parameters(), strict=True)
            torch._foreach_lerp_([mean[name] for name in names], list(values), 1 - kept)
        if step % options.tell == options.tell - 1:
            told = {name: round(float(np.mean(values[-options.tell :])), 3) for name, values in trainer.told.items()}
            print(f"{options.name}: {step + 1} steps, {time.monotonic() - began:.0f} s, {told}", flush=True)


def _half(model: ReaderModel) -> torch.autocast:
    """In half precision on an accelerator; processors are slower with it."""
    device = model.words.device.type
    return torch.autocast(device, torch.bfloat16, enabled=device != "cpu")


def _texts(pack: Pack, options: argparse.Namespace) -> Iterator[AskedIds]:
    """Endless: windows of articles, and documents at their share, one or two of a folder at a time."""
    chance = random.Random(options.seed)
    waiting: list[list[AskedIds]] = []
    starts: list[int] = []
    while True:
        if chance.random() < options.documents:
            waiting = waiting or _beside_each_other(pack.documents, chance)
            yield some_of(join(waiting.pop()), chance, options.asked)
            continue
        if len(starts) < WINDOWS:
            starts = [
                start
                for first, last in pack.trained
                for start in range(first + chance.randrange(WINDOW), last - WINDOW, WINDOW)
            ]
            chance.shuffle(starts)
        windows = [pack.window(starts.pop(), WINDOW) for _ in range(WINDOWS)]
        yield some_of(join(windows), chance, options.asked)


def _beside_each_other(folders: Sequence[Sequence[AskedIds]], chance: random.Random) -> list[list[AskedIds]]:
    """All documents, one or two of a folder together, in any order."""
    found: list[list[AskedIds]] = []
    for folder in folders:
        left = chance.sample(folder, len(folder))
        while left:
            many = chance.choice((1, 2))
            found.append(left[:many])
            left = left[many:]
    chance.shuffle(found)
    return found


def _save(model: ReaderModel, out: Path, name: str) -> None:
    """In files of at most 16 MB, in half precision."""
    parts: dict[str, dict[str, Any]] = {}
    for key, value in model.named_parameters():
        where = key.split(".")
        part = "a" if where[0] == "asked" and int(where[1]) < 3 else "b" if where[0] == "asked" else "c"
        parts.setdefault(part, {})[key] = value.detach().cpu().half().numpy()
    for part, held in parts.items():
        np.savez(out / f"{name}-{part}.npz", **held)


def _load(model: ReaderModel, stem: Path) -> None:
    """All parameters; of the shipped reader `sharpness` is not known."""
    state = {
        key: torch.from_numpy(value).float()
        for file in sorted(stem.parent.glob(f"{stem.name}-?.npz"))
        for key, value in np.load(file).items()
    }
    found = model.load_state_dict(state, strict=False)
    if {*found.missing_keys} - {"sharpness"} or found.unexpected_keys:
        raise SystemExit(f"{stem}: not the weights of a reader; {len(found.missing_keys)} are missing.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, required=True, help="folder by eval.training.reader.pack")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="reader")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop then; the rate falls accordingly")
    parser.add_argument("--asked", type=int, default=128, help="questions of a step at most")
    parser.add_argument("--judged", type=int, default=12, help="units that are judged beside a question, one answers")
    parser.add_argument("--documents", type=float, default=0.4, help="share of steps on documents of work places")
    parser.add_argument("--rate", type=float, default=6e-5, help="highest learning rate of the layers")
    parser.add_argument("--from", dest="begin", type=Path, help="what to go on from: DIRECTORY/NAME")
    parser.add_argument("--likeness", type=float, default=1.0, help="weight of the loss of likeness")
    parser.add_argument("--binary", type=float, default=1.0, help="weight of the loss of each judgement")
    parser.add_argument("--further", type=int, default=100_000, help="units after the likeliest that may be judged too")
    parser.add_argument("--dropout", type=float, default=DROPOUT, help="0 saves a processor a third of its time")
    parser.add_argument("--frozen", type=int, default=0, help="lowest layers for questions that stay as they are")
    parser.add_argument("--judges", type=int, default=1000, help="texts of each judge at most")
    parser.add_argument("--warm", type=int, default=60)
    parser.add_argument("--tell", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
