"""What is said to a chat model and heard from it: a request for structured output, the reply, and the reader of it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from agentic_rag.kernel.errors import Permanent

T = TypeVar("T")


class ChatTask(enum.Enum):
    """What a chat model is asked for. Rules do each of those that answers are made of when no model does."""

    REWRITE = "rewrite"
    """Make a follow-up question stand alone."""
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
    """Grade an answer of an evaluation: no rule does this, and nobody waits for it."""


CHAT_SHARE: Mapping[ChatTask, float] = MappingProxyType(
    {
        ChatTask.REWRITE: 0.2,
        ChatTask.PLAN: 0.25,
        ChatTask.HYDE: 0.3,
        ChatTask.SYNTHESIZE: 0.75,
        ChatTask.JUDGE: 0.7,
    }
)
"""How much of the time left one call may take: after the longest of all of them a third is left for reading the
sources, and the rules still answer when each of them is late."""

MIN_CHAT_SECONDS = 0.05
"""With less than this for a call none is made."""


class ReplyInvalid(Permanent):
    """A model's reply is not what its schema says, or breaks a rule that no schema can state."""

    code = "CHAT_REPLY_INVALID"


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema of a reply, within what OpenAI's strict structured output allows: every property required, no
    others, no bounds on lengths.
    """

    name: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One exchange: instructions, what they are about, and the form of the reply."""

    system: str
    user: str
    reply_schema: ReplySchema


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens as the provider counted them."""

    input_tokens: int
    output_tokens: int


class FinishReason(enum.Enum):
    """How a reply ended; the value is the error code of those that are none."""

    COMPLETE = ""
    REFUSED = "CHAT_REFUSED"
    """The model, or the provider's filter, declined."""
    TRUNCATED = "CHAT_CUT_SHORT"
    """Its tokens ran out."""
    EMPTY = "CHAT_EMPTY"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The model's word as it came, and what it cost when the provider says so."""

    text: str
    usage: ChatUsage | None
    finish_reason: FinishReason = FinishReason.COMPLETE


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    """A request with the reader of its reply. `read` raises `ReplyInvalid`."""

    task: ChatTask
    request: ChatRequest
    parse: Callable[[str], T]


@dataclass(frozen=True, slots=True)
class LlmResult(Generic[T]):
    """What a model said, read and found valid."""

    value: T


@dataclass(frozen=True, slots=True)
class LlmError:
    """Why there is nothing from the model: an error code of docs/errors.md."""

    code: str
