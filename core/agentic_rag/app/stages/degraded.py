"""How a stage says that it went on without the chat model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.domain.answers import Dependency
from agentic_rag.domain.chat import Fault
from agentic_rag.domain.run_state import RunState


def without_chat(state: RunState) -> RunState:
    """The state of a run that misses what the model would have said."""
    return replace(state, degraded=tuple(dict.fromkeys((*state.degraded, Dependency.CHAT_MODEL))))


def outcome_of(faults: Sequence[Fault]) -> str:
    """The stage's outcome."""
    return "degraded: " + ", ".join(dict.fromkeys(fault.code for fault in faults))
