"""The same questions asked by several processes, each with its own hash seed: how many different replies come back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from uuid import UUID

from tests.bench import processes
from tests.bench.product import Servers

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.runs.answer_codec import encode
from agentic_rag.bootstrap import build_container
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef


def distinct_answers(servers: Servers, workspace: WorkspaceRef, questions: Sequence[str], several: int) -> int:
    """How many different byte strings so many processes answer the questions with."""
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.determinism", str(workspace.workspace_id), *questions],
            env=processes.environment(servers, PYTHONHASHSEED=str(seed)),
            cwd=processes.ROOT,
            stdout=subprocess.PIPE,
        )
        for seed in range(1, several + 1)
    ]
    digests = [child.communicate(timeout=120)[0] for child in children]
    if any(child.returncode for child in children):
        raise RuntimeError("a process could not answer")
    return len(set(digests))


async def _digest(workspace_id: UUID, questions: Sequence[str]) -> str:
    answers: list[str] = []
    async with build_container(load_settings()) as container:
        for question in questions:
            run = await container.answer.ask(
                Principal(DEFAULT_ORG_ID, "bench", Role.MEMBER),
                Question(
                    WorkspaceRef(DEFAULT_ORG_ID, workspace_id), question, options=AnswerOptions(cache=CacheMode.BYPASS)
                ),
            )
            answer = json.loads(encode(run.answer))
            for call in answer["debug"]["tool_calls"]:
                call["seconds"] = 0
            answers.append(json.dumps(answer))
    return hashlib.sha256("\n".join(answers).encode()).hexdigest()


if __name__ == "__main__":
    print(asyncio.run(_digest(UUID(sys.argv[1]), sys.argv[2:])))
