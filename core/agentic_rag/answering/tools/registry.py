"""The table of tools."""

from __future__ import annotations

from agentic_rag.answering.tools.calc import Calc
from agentic_rag.answering.tools.http_fetch import HttpFetch
from agentic_rag.answering.tools.lookup import Lookup
from agentic_rag.answering.tools.tool import Tool

TOOLS: tuple[Tool, ...] = (Calc(), Lookup(), HttpFetch())
"""In the order in which the planner asks them."""

UNCACHEABLE_TOOLS = frozenset(tool.name for tool in TOOLS if not tool.is_cacheable)
DOCUMENT_NAMING_TOOLS = frozenset(tool.name for tool in TOOLS if tool.names_documents)


def switch_on(configured: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The table with configured tools in the place of those of the same name."""
    by_name = {tool.name: tool for tool in configured}
    return tuple(by_name.get(tool.name, tool) for tool in TOOLS)
