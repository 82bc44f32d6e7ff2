"""What an agent begins its work with: the system prompt, with the project's knowledge in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentic_rag_client.values import ContextSource

_LINE = "=" * 50
RULES = (
    "Focus ONLY on the mission above",
    "Use the provided tools precisely",
    "If unclear, ask for clarification",
)


@dataclass(frozen=True, slots=True)
class AgentContext:
    """`knowledge_context` is empty where there is nothing to say, where none was wanted, and where something failed;
    then `fault` is the code of the failure.
    """

    system_prompt: str
    mission_brief: str
    constraints: tuple[str, ...] = ()
    relevant_files: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    knowledge_context: str = ""
    sources: tuple[ContextSource, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Mission:
    """What an agent is told to do, and who it is."""

    brief: str
    constraints: Sequence[str] = ()
    relevant_files: Sequence[str] = ()
    role: str = ""
    tools: Sequence[Mapping[str, Any]] = ()

    def context(
        self, knowledge: str = "", sources: tuple[ContextSource, ...] = (), fault: str | None = None
    ) -> AgentContext:
        """The context of this mission with that knowledge."""
        return AgentContext(
            system_prompt=self._system_prompt(knowledge),
            mission_brief=self.brief,
            constraints=tuple(self.constraints),
            relevant_files=tuple(self.relevant_files),
            tools=tuple(self.tools),
            knowledge_context=knowledge,
            sources=sources,
            fault=fault,
        )

    def _system_prompt(self, knowledge: str) -> str:
        abilities = [f"[{one['name']}]: {one.get('description', '')}".rstrip(": ") for one in self.tools]
        parts = [
            f"# ROLE: {self.role}" if self.role else "",
            f"## 📋 CURRENT MISSION (From Orchestrator)\n{_LINE}\n{self.brief}\n{_LINE}",
            knowledge,
            _section("## 🛠️ YOUR CAPABILITIES", abilities),
            _section("## ⚠️ CONSTRAINTS", self.constraints),
            _section("## 📁 RELEVANT FILES", self.relevant_files),
            _section("## 🎯 EXECUTION RULES", RULES),
        ]
        return "\n\n".join(part for part in parts if part)


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {line}" for line in lines)]) if lines else ""
