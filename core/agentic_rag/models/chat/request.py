"""A request to a chat model for structured output, its reply, and the reader of the reply."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from agentic_rag.kernel.errors import Permanent

T = TypeVar("T")


class ChatTask(enum.Enum):
    """A task for a chat model. Without a model, rules do every task that answers need."""

    REWRITE = "rewrite"
    """Rewrite a follow-up question as a stand-alone question."""
    PLAN = "plan"
    """Divide a question into sub-questions."""
    HYDE = "hyde"
    """Write a passage that would answer, to be embedded."""
    SYNTHESIZE = "synthesize"
    """Write the answer from the passages."""
    JUDGE = "judge"
    """Judge whether a sentence follows from what it cites."""
    EXTRACT = "extract"
    """List what a passage names and relates, while it is ingested."""
    GRADE = "grade"
    """Grade an answer of an evaluation. No rule replaces it, and no user waits for it."""


CHAT_SHARE: Mapping[ChatTask, float] = MappingProxyType(
    {
        ChatTask.REWRITE: 0.2,
        ChatTask.PLAN: 0.25,
        ChatTask.HYDE: 0.3,
        ChatTask.SYNTHESIZE: 0.75,
        ChatTask.JUDGE: 0.7,
    }
)
"""The largest share of the remaining time for one call. When every call takes its full share, a third of the time is
left for reading the sources; when every call times out, the rules still answer.
"""

MIN_CHAT_SECONDS = 0.05
"""No call is made with less time than this."""


class ReplyInvalid(Permanent):
    """A model's reply violates its schema, or a rule that the schema cannot express."""

    code = "CHAT_REPLY_INVALID"


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema of a reply, within OpenAI's strict structured output: every property required, no others, no
    bounds on lengths.
    """

    name: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One exchange: instructions, their subject, and the schema of the reply."""

    system: str
    user: str
    reply_schema: ReplySchema


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens as the provider counts them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ChatSpend:
    """The calls of a chat model for one run, and what they cost as far as their price is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    estimated_usd: float | None = None
    """What the calls were expected to cost just before each was made."""

    def plus(self, other: ChatSpend) -> ChatSpend:
        """Both together."""
        return ChatSpend(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _sum_known(self.cost_usd, other.cost_usd),
            _sum_known(self.estimated_usd, other.estimated_usd),
        )

    def since(self, earlier: ChatSpend | None) -> ChatSpend:
        """What came after `earlier`, which is a part of this."""
        if earlier is None:
            return self
        return ChatSpend(
            self.calls - earlier.calls,
            self.input_tokens - earlier.input_tokens,
            self.output_tokens - earlier.output_tokens,
            None if self.cost_usd is None else self.cost_usd - (earlier.cost_usd or 0.0),
            None if self.estimated_usd is None else self.estimated_usd - (earlier.estimated_usd or 0.0),
        )


def _sum_known(*amounts: float | None) -> float | None:
    known = [one for one in amounts if one is not None]
    return sum(known) if known else None


class FinishReason(enum.Enum):
    """The way a reply ended. The value of a failure is its error code."""

    COMPLETE = ""
    REFUSED = "CHAT_REFUSED"
    """The model or the provider's filter declined."""
    TRUNCATED = "CHAT_CUT_SHORT"
    """The token limit was reached."""
    EMPTY = "CHAT_EMPTY"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The model's raw reply, and its cost when the provider reports it."""

    text: str
    usage: ChatUsage | None
    finish_reason: FinishReason = FinishReason.COMPLETE
    model: str = ""
    """The model that replied, as the provider names it; empty where it does not say."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    """A request and the parser of its reply. `parse` raises `ReplyInvalid`."""

    task: ChatTask
    request: ChatRequest
    parse: Callable[[str], T]
    reply_tokens: int = 0
    """About how many tokens the reply has, for estimates of its cost."""


@dataclass(frozen=True, slots=True)
class LlmResult(Generic[T]):
    """A model's reply, parsed and validated."""

    value: T


@dataclass(frozen=True, slots=True)
class LlmError:
    """The reason why the model gave no result: an error code of docs/errors.md."""

    code: str
