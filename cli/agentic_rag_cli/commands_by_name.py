"""The commands of `rag` by their names, each imported when it is asked for: to import and build all seventy takes half
of the time that `rag ask` takes to start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

import typer
import typer.main

from agentic_rag_cli.client.url_option import with_url_option

PLACES: Mapping[str, str] = {
    "up": "programs.up:up",
    "console": "programs.console:console",
    "demo": "programs.demo:demo",
    "ingest": "documents.ingest:ingest",
    "upload": "documents.upload:upload",
    "ask": "answering.ask:ask",
    "search": "answering.search:search",
    "context": "answering.search:prepare_context",
    "explain": "answering.explain:explain",
    "prove": "answering.prove:prove",
    "search-web": "ingestion.web:search_web",
    "crawl": "ingestion.web:crawl",
    "usage": "models.spending:usage",
    "verify": "operations.verify:verify",
    "doctor": "operations.doctor:doctor",
    "serve": "programs.serve:serve",
    "worker": "programs.worker:worker",
    "mcp": "programs.mcp:mcp",
    "template": "answering.template:app",
    "tenant": "workspaces.tenant:app",
    "key": "tenancy.key:app",
    "token": "tenancy.token:app",
    "workspace": "workspaces.workspace:app",
    "doc": "documents.doc:app",
    "source": "ingestion.source:app",
    "knowledge": "ingestion.knowledge:app",
    "run": "answering.run:app",
    "thread": "answering.thread:app",
    "saved": "answering.saved:app",
    "cite": "answering.cite:app",
    "gate": "answering.gate:app",
    "report": "answering.report:app",
    "job": "jobs.job:app",
    "snapshot": "operations.snapshot:app",
    "backup": "operations.backup:app",
    "dlq": "jobs.dlq:app",
    "audit": "tenancy.audit:app",
    "graph": "operations.graph:app",
    "embeddings": "models.embeddings:app",
    "model": "models.model:app",
    "provider-key": "models.provider_key:app",
    "budget": "models.spending:app",
    "eval": "evaluation.group:app",
    "config": "programs.config:app",
    "migrate": "programs.migrate:app",
}
"""In `agentic_rag_cli.commands`, in the order of `rag --help`: a function is a command, a `Typer` a group of them."""


class CommandsByName(Mapping[str, Any]):
    """What a group keeps its commands in."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = with_url_option(name, _built(name, PLACES[name]), self)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


def _built(name: str, place: str) -> Any:
    module, _, member = place.partition(":")
    found = getattr(import_module(f"agentic_rag_cli.commands.{module}"), member)
    around = typer.Typer(add_completion=False, rich_markup_mode=None, callback=_nothing)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    return cast(Any, typer.main.get_command(around)).commands[name]


def _nothing() -> None:
    """A callback makes a group of one command."""
