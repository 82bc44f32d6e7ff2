"""Trains the trees that tell a page's main content from its furniture (adapters/parsing/pages) and writes them.

uv pip install lightgbm
python -m eval.training.train_pages WCXB --out core/agentic_rag/adapters/parsing/pages/content_trees.json

WCXB is a folder of pages with their main content made by hand (`html/ID.html.gz`, `truth/ID.json`; Murrough-Foley's
web-content-extraction-benchmark). A block belongs to the main content by the share of its runs of three words that
stand there. The figures are of sites left out, a third of them at a time.
"""

# lightgbm is no dependency of the product.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

import lightgbm
import numpy as np

from agentic_rag.adapters.parsing.loaders.html import decoded
from agentic_rag.adapters.parsing.pages.block_signs import Signs, words_of
from agentic_rag.adapters.parsing.pages.choose_content import Tree, choose_content
from agentic_rag.adapters.parsing.pages.trace_page import TracedPage, trace_page

PARTS = 3
TREES = 130
PARAMETERS: Mapping[str, Any] = {
    "objective": "cross_entropy", "num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 40, "max_bin": 63,
    "feature_fraction": 0.4, "bagging_fraction": 0.7, "bagging_freq": 1, "lambda_l2": 5, "seed": 1,
    "num_threads": 1, "deterministic": True, "verbose": -1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A page, its signs, and how far each of its blocks belongs to the main content."""

    kind: str
    part: int
    page: TracedPage
    signs: Sequence[Signs]
    belongs: Sequence[float]
    truth: Mapping[str, Any]


def read_cases(folder: Path) -> list[Case]:
    """The pages that have blocks."""
    cases: list[Case] = []
    for path in sorted((folder / "truth").glob("*.json")):
        stated = json.loads(path.read_text())
        html = gzip.decompress((folder / "html" / f"{path.stem}.html.gz").read_bytes())
        page = trace_page(decoded(html))
        site = urlsplit(stated.get("url") or "").netloc or path.stem
        truth = stated["ground_truth"]
        kind, part = stated["_internal"]["page_type"]["primary"], zlib.crc32(site.encode()) % PARTS
        cases.append(Case(kind, part, page, page.signs(), belonging(page, truth["main_content"]), truth))
    return cases


def belonging(page: TracedPage, content: str) -> list[float]:
    """Of each block, the share of its runs of three words that stand in the main content."""
    words = words_of(content)
    runs, whole = set(zip(words, words[1:], words[2:], strict=False)), f" {' '.join(words)} "
    shares: list[float] = []
    for one in page.loaded.blocks:
        own = words_of(page.loaded.text[one.start : one.end])
        if len(own) > 2:
            found = [run in runs for run in zip(own, own[1:], own[2:], strict=False)]
            shares.append(sum(found) / len(found))
        else:
            shares.append(float(bool(own) and f" {' '.join(own)} " in whole))
    return shares


def train(cases: Sequence[Case]) -> lightgbm.Booster:
    """Every page weighs by the root of its words, shared by its blocks by the roots of theirs."""
    weights: list[float] = []
    for case in cases:
        roots = np.sqrt(1.0 + np.array(case.page.words()))
        weights.extend(roots / np.sqrt(max(1.0, roots.sum())))
    signs = np.array([one for case in cases for one in case.signs], dtype=np.float32)
    belongs = np.array([one for case in cases for one in case.belongs])
    return lightgbm.train(dict(PARAMETERS), lightgbm.Dataset(signs, belongs, weight=np.array(weights)), TREES)


def trees_of(model: lightgbm.Booster) -> list[Tree]:
    """As the product reads them."""

    def nested(node: Mapping[str, Any]) -> Any:
        if "leaf_value" in node:
            return round(node["leaf_value"], 4)
        low, high = nested(node["left_child"]), nested(node["right_child"])
        return [node["split_feature"], float(f"{node['threshold']:.6g}"), low, high]

    return [nested(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]


def _signs_of(case: Case) -> Sequence[Signs]:
    return case.signs


def report(cases: Sequence[Case], trees: Mapping[int, Sequence[Tree]]) -> str:
    """F1 of the words, by kind, and the share of marked snippets of either kind that is read."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    belongs: list[bool] = []
    furniture: list[bool] = []
    for case in cases:
        page = case.page
        found = partial(_signs_of, case)
        kept = choose_content(page.loaded.blocks, found, page.words(), page.links(), page.parents(), trees[case.part])
        text = " ".join(
            page.loaded.text[one.start : one.end] for one, keeps in zip(page.loaded.blocks, kept, strict=True) if keeps
        )
        ours, theirs = Counter(words_of(text)), Counter(words_of(case.truth["main_content"]))
        both = (ours & theirs).total()
        by_kind[case.kind].append(2 * both / (ours.total() + theirs.total()) if both else 0.0)
        folded = " ".join(words_of(text))
        belongs += [" ".join(words_of(one)) in folded for one in case.truth.get("with") or ()]
        furniture += [" ".join(words_of(one)) in folded for one in case.truth.get("without") or ()]
    kinds = " ".join(f"{kind} {mean(found):.3f}" for kind, found in sorted(by_kind.items()))
    f1 = mean(one for found in by_kind.values() for one in found)
    return f"F1 {f1:.4f} main content read {mean(belongs):.4f} furniture read {mean(furniture):.4f} {kinds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    cases = read_cases(options.folder)
    left_out = {part: trees_of(train([one for one in cases if one.part != part])) for part in range(PARTS)}
    print("sites left out:", report(cases, left_out))
    trees = trees_of(train(cases))
    print("trained on all:", report(cases, {part: trees for part in range(PARTS)}))
    lines = ",\n".join(json.dumps(tree) for tree in trees)
    options.out.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
