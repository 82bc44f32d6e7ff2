"""The floor under answers over HTTP: recorded replies, given again by a bare Strawberry application without any product
code: `python -m tests.bench.replay FILE PORT`. The file maps questions to the `data` of their replies.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import strawberry
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache


@strawberry.type
class TextSpan:
    start: int
    end: int


@strawberry.type
class Citation:
    marker: int
    chunk_id: strawberry.ID
    title: str | None
    source_path: str
    snippet: str
    source_span: TextSpan
    page: int | None
    line_start: int | None
    line_end: int | None
    score: float
    verified: bool


@strawberry.type
class UserError:
    code: str
    message: str


@strawberry.type
class Timing:
    stage: str
    seconds: float


@strawberry.type
class Debug:
    timings: list[Timing]


@strawberry.type
class RagAnswer:
    answer: str
    outcome: str
    citations: list[Citation]
    user_errors: list[UserError]
    debug: Debug


@strawberry.input
class RagAnswerOptions:
    cache: str | None = None


@strawberry.input
class RagAnswerInput:
    workspace_id: strawberry.ID
    question: str
    options: RagAnswerOptions | None = None


@strawberry.type
class Query:
    is_replay: bool = True


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def rag_answer(self, input: RagAnswerInput) -> RagAnswer:
        return _answers()[input.question]


class Endpoint(GraphQL[None, None]):
    """Writes JSON as the product does."""

    def encode_json(self, data: object) -> bytes:
        return orjson.dumps(data)


@cache
def _answers() -> Mapping[str, RagAnswer]:
    recorded: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    return {question: _answer(reply["ragAnswer"]) for question, reply in recorded.items()}


def _answer(reply: Mapping[str, Any]) -> RagAnswer:
    return RagAnswer(
        answer=reply["answer"],
        outcome=reply["outcome"],
        citations=[
            Citation(
                marker=one["marker"],
                chunk_id=one["chunkId"],
                title=one["title"],
                source_path=one["sourcePath"],
                snippet=one["snippet"],
                source_span=TextSpan(**one["sourceSpan"]),
                page=one["page"],
                line_start=one["lineStart"],
                line_end=one["lineEnd"],
                score=one["score"],
                verified=one["verified"],
            )
            for one in reply["citations"]
        ],
        user_errors=[UserError(**one) for one in reply["userErrors"]],
        debug=Debug(timings=[Timing(**one) for one in reply["debug"]["timings"]]),
    )


async def _healthy(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


def main() -> None:
    schema = strawberry.Schema(
        Query, Mutation, extensions=[lambda: ParserCache(maxsize=256), lambda: ValidationCache(maxsize=256)]
    )
    _answers()
    app = Starlette(routes=[Route("/healthz", _healthy), Route("/graphql", Endpoint(schema))])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), loop="uvloop", http="httptools", log_level="warning")


if __name__ == "__main__":
    main()
