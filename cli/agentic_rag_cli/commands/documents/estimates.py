"""`rag ingest --estimate`: chunks, tokens and price before embedding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.kernel.formatting import format_count
from agentic_rag.models.billing.embedding_cost import EmbeddingCost
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.in_process import System
from agentic_rag_cli.output import terminal

if TYPE_CHECKING:
    from agentic_rag.ingestion.estimate import FileEstimate


async def estimate_directory(system: System, workspace: str, directory: Path) -> list[FileEstimate]:
    """An estimate for every file that `rag ingest` would ingest; changes nothing."""
    name = validate_name(workspace, ("workspace",))
    known = await system.find_workspace(name)
    source = system.container.directory_source(directory)
    return await system.container.estimate.run(known.ref if known else None, source)


def estimates_text(workspace: str, found: Sequence[FileEstimate]) -> str:
    """A line for each file, and the sum."""
    rows = [
        (*_cells(one.cost), one.path, f"[{one.fault.code}] {one.fault.message}" if one.fault else "") for one in found
    ]
    total = _total_cost(found)
    price = "price of the model not known" if total["costUsd"] is None else f"about USD {total['costUsd']:.6f}"
    chunks, tokens = format_count(total["chunks"], "chunk"), format_count(total["tokens"], "token")
    table = terminal.table(("CHUNKS", "TOKENS", "REUSED", "USD", "FILE", ""), rows)
    return f"{table}\n{workspace}: {chunks}, {tokens} to embed, {price}"


def estimates_json(workspace: str, source: Path, found: Sequence[FileEstimate]) -> dict[str, Any]:
    """The JSON form, with stable names."""
    return {
        "workspace": workspace,
        "source": str(source),
        **_total_cost(found),
        "files": [
            {
                "path": one.path,
                "code": one.fault.code if one.fault else None,
                "message": one.fault.message if one.fault else None,
                **_cost_json(one.cost),
            }
            for one in found
        ],
    }


def _total_cost(found: Sequence[FileEstimate]) -> dict[str, Any]:
    """The sum over files; the price is None when it is unknown."""
    costs = [one.cost for one in found if one.cost is not None]
    prices = [cost.cost_usd for cost in costs]
    return {
        "chunks": sum(cost.chunks for cost in costs),
        "tokens": sum(cost.tokens for cost in costs),
        "reusedChunks": sum(cost.reused_chunks for cost in costs),
        "costUsd": None if None in prices else sum(price for price in prices if price is not None),
    }


def _cost_json(cost: EmbeddingCost | None) -> dict[str, Any]:
    if cost is None:
        return dict.fromkeys(("chunks", "tokens", "reusedChunks", "costUsd"))
    return {
        "chunks": cost.chunks,
        "tokens": cost.tokens,
        "reusedChunks": cost.reused_chunks,
        "costUsd": cost.cost_usd,
    }


def _cells(cost: EmbeddingCost | None) -> tuple[object, object, object, object]:
    if cost is None:
        return "", "", "", ""
    return cost.chunks, cost.tokens, cost.reused_chunks, "?" if cost.cost_usd is None else f"{cost.cost_usd:.6f}"
