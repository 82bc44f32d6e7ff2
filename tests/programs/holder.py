"""A process that serves: it asks what its input tells it to, and holds what a server holds.

Each line of the input is a command as JSON, `["ask", ORG, WORKSPACE, CACHE, QUESTION]`; each has a line of JSON
as its answer.
Signals are left to the test, which reads the memory of this process from outside.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from uuid import UUID

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


async def obey(container: Container, command: list[str]) -> str:
    """The answer to one command. Nothing of it stays with the caller."""
    match command:
        case ["ask", org, workspace, cache, text]:
            ref = WorkspaceRef(UUID(org), UUID(workspace))
            question = Question(ref, text, options=AnswerOptions(cache=CacheMode(cache)))
            run = await container.answer.ask(Principal(ref.org_id, "holder", Role.ADMIN), question)
            await container._residents.settled()
            return run.answer.text
        case ["collect"]:
            gc.collect()
            return ""
        case other:
            raise ValueError(other)


async def main() -> None:
    """Serve until the input ends."""
    container = Container(load_settings())
    container.register.start()
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := await reader.readline():
            print(json.dumps(await obey(container, json.loads(line))), flush=True)
    finally:
        await container.aclose()


if __name__ == "__main__":
    asyncio.run(main())
