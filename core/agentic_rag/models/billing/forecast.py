"""Expects the tokens of a chat call before it is made, and learns from what the provider counts.

A prompt is counted by `language.token_estimate`, and its reply is expected as long as the prompt says. A provider
counts otherwise (another tokenizer, the schema of the reply, a wordier model), but steadily so: the ratio of counted to
expected tokens of the latest calls of a task corrects the next ones.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeVar

from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.chat.request import ChatTask, ChatUsage, Prompt

T = TypeVar("T")

KEPT_SHARE = 0.9
"""How much of what earlier calls weigh is left after one more: the last ten or so decide."""
MAX_RATIO = 8.0
"""Of counted to expected tokens: what is beyond it either way is a provider that counts something else."""
INPUT_MARGIN, OUTPUT_MARGIN = 1.3, 3.0
"""What a call may cost at most for a budget's purposes, by its expected tokens: the estimate of a text may be 30 % low
(`language.token_estimate`), and nothing bounds a reply but the model.
"""


@dataclass(slots=True)
class _Sums:
    """Counted and expected tokens of earlier calls, of input and output; the latest weigh most."""

    counted_input: float = 0.0
    expected_input: float = 0.0
    counted_output: float = 0.0
    expected_output: float = 0.0


class CallForecasts:
    """What one model's calls are expected to use. It is forgotten with the process."""

    def __init__(self) -> None:
        self._sums: dict[ChatTask, _Sums] = {}

    def expect(self, prompt: Prompt[T]) -> ChatUsage:
        """The tokens of a call."""
        measured, sums = measure(prompt), self._sums.get(prompt.task)
        if sums is None:
            return measured
        return ChatUsage(
            round(measured.input_tokens * _ratio(sums.counted_input, sums.expected_input)),
            round(measured.output_tokens * _ratio(sums.counted_output, sums.expected_output)),
        )

    def learn(self, prompt: Prompt[T], counted: ChatUsage) -> None:
        """Take in what the provider counted for a call."""
        measured, before = measure(prompt), self._sums.get(prompt.task, _Sums())
        self._sums[prompt.task] = _Sums(
            before.counted_input * KEPT_SHARE + counted.input_tokens,
            before.expected_input * KEPT_SHARE + measured.input_tokens,
            before.counted_output * KEPT_SHARE + counted.output_tokens,
            before.expected_output * KEPT_SHARE + measured.output_tokens,
        )


def measure(prompt: Prompt[T]) -> ChatUsage:
    """The tokens of a call by the estimator alone."""
    request = prompt.request
    form = json.dumps(dict(request.reply_schema.schema), separators=(",", ":"), default=dict)
    given = estimate_tokens(request.system) + estimate_tokens(request.user) + estimate_tokens(form)
    return ChatUsage(given, prompt.reply_tokens)


def cost_at_most(usage: ChatUsage, price: TokenPrice) -> float:
    """What a call with these expected tokens is taken to cost where a ceiling must hold, in US dollars."""
    return price.of(round(usage.input_tokens * INPUT_MARGIN), round(usage.output_tokens * OUTPUT_MARGIN))


def _ratio(counted: float, expected: float) -> float:
    return 1.0 if expected <= 0 or counted <= 0 else min(MAX_RATIO, max(1 / MAX_RATIO, counted / expected))
