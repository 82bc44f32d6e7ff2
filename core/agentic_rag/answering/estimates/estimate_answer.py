"""What answering a question would cost, found out without calling a provider.

The stages run as for an answer, with models that note each call and give nothing (`uncalled_models`): by rules, so
reading takes as long as an answer by rules and the prompts have the size that they would have. Where an embedding
provider would be called, passages are found by words and graph alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from agentic_rag.answering.answer import StageUsage
from agentic_rag.answering.ask import AnswerQuestion
from agentic_rag.answering.estimates.uncalled_models import CallTally
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.answering.runs.record import CacheFill, RunRecorder
from agentic_rag.answering.state_machine import Stage
from agentic_rag.models.chat.request import ChatSpend
from agentic_rag.tenancy.principals import Principal


class KeepsNothing(RunRecorder):
    """Records neither runs nor answers."""

    def submit(self, run: Run, fill: CacheFill | None = None) -> None:
        """Discards them."""

    async def keep(self, run: Run, fill: CacheFill | None) -> None:
        """Discards them."""


@dataclass(frozen=True, slots=True)
class AnswerEstimate:
    """The calls that an answer would make, by stage in the order of a run. Empty where everything is done on this
    machine, or the answer is in the cache.
    """

    usage: tuple[StageUsage, ...]
    total: ChatSpend
    """`cost_usd` is None where a price is not known, and 0 where nothing would be called."""
    cache: CacheOutcome


@dataclass(frozen=True, slots=True)
class EstimateAnswer:
    """The use case behind `estimateAnswer` and `rag ask --estimate`. `build` makes the use case of answers over models
    that note their calls in the tally; what it answers is stored nowhere.
    """

    build: Callable[[CallTally], AnswerQuestion]

    async def run(self, principal: Principal, question: Question) -> AnswerEstimate:
        """The estimate of a question. Errors: those of `AnswerQuestion.ask`, without the budget's."""
        tally = CallTally()
        run = await self.build(tally).ask(principal, replace(question, idempotency_key=None))
        spent = [StageUsage(stage.value, tally.spent[stage]) for stage in Stage if stage in tally.spent]
        total = reduce(ChatSpend.plus, (one.spend for one in spent), ChatSpend(cost_usd=0.0))
        return AnswerEstimate(
            tuple(spent),
            replace(total, cost_usd=None) if tally.unpriced else total,
            run.cache,
        )
