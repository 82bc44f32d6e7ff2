"""`estimateAnswer`: what an answer would cost."""

import strawberry

from agentic_rag.models.chat.request import ChatSpend
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.inputs import RagAnswerInput, read_question
from agentic_rag_server.graphql.answering.runs import CacheOutcome
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema


@strawberry.type(description="The calls of providers that one stage would make.")
class EstimatedUsage:
    stage: str = strawberry.field(description="As in `stages` of a run.")
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = strawberry.field(description="Null without a known price.")

    @strawberry.field(description="Of input and output together.")
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@strawberry.type(
    description="What an answer would cost. Where everything is done on the server, or the answer is in the cache, "
    "that is nothing."
)
class AnswerEstimate:
    usage: list[EstimatedUsage] = strawberry.field(description="In the order of the stages.")
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = strawberry.field(description="Null where the price of a needed model is unknown.")
    cache: CacheOutcome  # type: ignore[valid-type]

    @strawberry.field(description="Of input and output together.")
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@strawberry.type
class EstimateQuery:
    @field(
        Action.ASK,
        right=Sight.ORGANISATION,
        description="What a question would cost, by its plan and the size of each prompt, without calling a provider "
        "and without storing a run. It is read as far as rules go, and counts as a question. A look outside is not "
        "in it; where embedding calls a provider the passages are those that words and graph find.",
    )
    async def estimate_answer(self, info: Info, input: RagAnswerInput) -> AnswerEstimate:
        """Errors: those of `ragAnswer`, among the errors."""
        context = info.context
        question = read_question(input, await context.named_workspace(input.workspace_id, input.workspace))
        found = await context.parts.estimate_answer.run(context.principal, question)
        total: ChatSpend = found.total
        return to_schema(
            AnswerEstimate,
            total,
            usage=[to_schema(EstimatedUsage, one, one.spend) for one in found.usage],
            cache=found.cache,
        )
