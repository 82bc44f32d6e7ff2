"""The plan of a question, and the calls of its tools."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID


class AnswerType(enum.Enum):
    """The kind of answer that a question asks for."""

    FACT = "fact"
    FIGURE = "figure"
    DATE = "date"
    PERSON = "person"
    LIST = "list"
    YES_NO = "yes_no"
    COMPARISON = "comparison"
    CALCULATION = "calculation"
    LOOKUP = "lookup"


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """A part of a question; `depends_on` are positions of parts that must be answered first."""

    text: str
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool that the plan calls, with its argument. Retrieved text never makes one."""

    tool: str
    argument: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Sub-questions, answer type and tools of a question."""

    sub_questions: tuple[SubQuestion, ...]
    answer_type: AnswerType
    tools: tuple[ToolRequest, ...]
    planner: str
    """`rules` or the model's name."""


NO_DURATION = 0.0
"""The seconds of a tool call. Durations stand in the stage records: an answer, tool calls included, must be equal for
equal input."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A finished call of a tool, with its result or error code."""

    tool: str
    argument: str
    result: str | None
    error_code: str | None
    seconds: float
    document_id: UUID | None = None
    """The document that the result names."""
