"""Agents that know the project before they begin: `python agents.py WORKSPACE "Fix the login test"`.

The variables AGENTIC_RAG_URL and AGENTIC_RAG_TOKEN name the server.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from agentic_rag_client import AgentContext, AsyncRagClient


class BaseAgent:
    """An agent with a role. What it knows of the project comes from `client`."""

    role = "Senior Architect"
    tools = (
        {"name": "filesystem", "description": "File system operations"},
        {"name": "file_ops", "description": "Read, write, edit files"},
    )

    def __init__(self, client: AsyncRagClient) -> None:
        self.client = client

    async def prepare_context(
        self,
        mission_brief: str,
        constraints: Sequence[str] = (),
        relevant_files: Sequence[str] = (),
        enable_rag: bool = True,
    ) -> AgentContext:
        """The system prompt with the project's knowledge in it. It comes in time, whatever fails."""
        return await self.client.prepare_context(
            mission_brief, constraints, relevant_files, enable_rag, role=self.role, tools=self.tools
        )


class CoderAgent(BaseAgent):
    """Needs the project's patterns and standards."""

    role = "Senior Python Architect"


class ReviewerAgent(BaseAgent):
    """Uses quality tools of its own: asks for no knowledge."""

    role = "Code Reviewer"

    async def prepare_context(
        self,
        mission_brief: str,
        constraints: Sequence[str] = (),
        relevant_files: Sequence[str] = (),
        enable_rag: bool = False,
    ) -> AgentContext:
        """The same without knowledge."""
        return await super().prepare_context(mission_brief, constraints, relevant_files, enable_rag)


async def main(workspace: str, mission: str) -> None:
    """Print what each agent begins with."""
    async with AsyncRagClient(os.environ["AGENTIC_RAG_URL"], os.environ["AGENTIC_RAG_TOKEN"], workspace) as client:
        for agent in (CoderAgent(client), ReviewerAgent(client)):
            context = await agent.prepare_context(mission, constraints=["Write tests for new code"])
            print(context.system_prompt, end="\n\n\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
