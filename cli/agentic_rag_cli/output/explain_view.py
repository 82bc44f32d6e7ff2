"""Formats the explanation of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from agentic_rag.retrieval.candidates import Retriever
from agentic_rag_cli.output.answer_view import path_text
from agentic_rag_cli.output.terminal import shorten, table

_WIDTH = 100
_TITLE = 44

_FATES = {
    "CITED": "cited",
    "NEAREST": "shown as nearest",
    "UNUSED": "not needed",
    "TOP_K": "below the cut",
    "PER_DOCUMENT": "document is full",
    "NEAR_DUPLICATE": "near duplicate",
    "DIVERSITY": "too much alike",
    "MIN_SCORE": "score too low",
    "SIMILARITY": "not similar enough",
    "CONTEXT_BUDGET": "context is full",
    "OUTVOTED": "contradicted",
    "DROPPED": "dropped",
}

_STATES = {
    "BEYOND": "below 1,000",
    "NOTHING_SHARED": "no shared term",
    "NOT_REACHED": "–",
    "NOT_ASKED": "not asked",
}
"""Texts for an arm without a rank."""


def explanation_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON form, with the field names of the GraphQL API."""
    run = found["run"]
    return {
        "runId": run["id"],
        "question": run["question"],
        "outcome": run["outcome"],
        "corpusVersion": run["versions"]["corpusVersion"],
        **{name: found[name] for name in ("searches", "candidates", "whyNot")},
    }


def explanation_text(found: Mapping[str, Any]) -> str:
    """The candidates as a table, the graph paths to them, and the requested why-not verdicts."""
    run, candidates = found["run"], found["candidates"]
    parts = [f"Q: {run['question']}\n{run['outcome']}, read at corpus version {run['versions']['corpusVersion']}"]
    if found["searches"] and found["searches"] != [run["question"]]:
        parts.append("\n".join(["Searched for:", *(f"  {search}" for search in found["searches"])]))
    if candidates:
        parts += [_candidates(candidates), *_paths(candidates)]
    else:
        parts.append("No passage was found, or none was looked for.")
    parts += [_why_not(one) for one in found["whyNot"]]
    return "\n\n".join(parts)


def _candidates(candidates: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["rank"],
            f"{one['score']:.3f}",
            *_arms(one["scores"]),
            " ".join([_FATES[one["fate"]], *(f"[{marker}]" for marker in one["markers"])]),
            shorten(one["title"], _TITLE),
        )
        for one in candidates
    ]
    return table(("RANK", "SCORE", *(arm.name for arm in Retriever), "FATE", "TITLE"), rows) + (
        "\n(in the order of the run; of an arm: the rank in it, and its score from 0 to 1)"
    )


def _arms(scores: Sequence[Mapping[str, Any]]) -> list[str]:
    by_arm = {arm["retriever"]: f"#{arm['rank']} {arm['normalized']:.3f}" for arm in scores}
    return [by_arm.get(arm.name, "–") for arm in Retriever]


def _paths(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"  {one['rank']}  {path_text(one['path'])}" for one in candidates if one["path"]]
    return ["\n".join(["Raised by trails:", *lines])] if lines else []


def _why_not(one: Mapping[str, Any]) -> str:
    name = shorten(one["title"], _TITLE) if one["title"] else one["chunkId"]
    lines = [fill(f"Why not “{name}”? {one['explanation']}", _WIDTH)]
    if one["searches"]:
        rows = [
            (
                "–" if search["rank"] is None else f"#{search['rank']} {search['score']:.3f}",
                *map(_arm_state, search["scores"]),
                search["search"],
            )
            for search in one["searches"]
        ]
        lines.append(table(("FUSED", *(arm.name for arm in Retriever), "SEARCH"), rows))
    return "\n".join(lines)


def _arm_state(arm: Mapping[str, Any]) -> str:
    if arm["rank"] is None or arm["normalized"] is None:
        return _STATES.get(arm["state"], "–")
    return f"#{arm['rank']} {arm['normalized']:.3f}" + (" (too low)" if arm["state"] == "BEYOND" else "")
