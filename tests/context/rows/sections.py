"""Sections of templates: their exact form, and the budget that none exceeds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from uuid import UUID

from agentic_rag.answering.context import prepare_context
from agentic_rag.answering.context.prepare_context import ContextPart, PreparedContext, assemble_context
from agentic_rag.answering.context.search_passages import FoundPassage
from agentic_rag.answering.context.template import SectionItem, fill
from agentic_rag.documents.document import Chunk
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language import token_estimate
from agentic_rag.retrieval.candidates import Candidate
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.context_template import TEMPLATES, ContextTemplate, require_room
from tests.bench.reports import Row, exactly
from tests.context.ground import PRINCIPAL, Ground

GOLDEN = Path(__file__).parents[1] / "golden"

ITEMS: Mapping[str, tuple[SectionItem, ...]] = {
    "plain": (
        SectionItem("standards/lang-python.md", "Use Pydantic for type validation.\nWrite docstrings.", "{text}"),
        SectionItem("knowledge/security.md", "Always hash passwords with bcrypt."),
    ),
    "unicode": (
        SectionItem("日本語/規則.md", "全ての入力を検証する。🧠 Ünïcode: e\u0301, \u200bé, ½ m².\n  indented"),
        SectionItem("a\nb.md", "## A heading of the passage\n\n- an item"),
    ),
    "right-to-left": (
        SectionItem("נהלים.md", "השסתום נפתח בלחץ של 3 בר. הקוד: AB-12."),
        SectionItem("قواعد.md", "لا تشارك كلمة المرور."),
    ),
    "empty": (),
    "over-budget": (
        SectionItem("long.md", "The first rule is short. " + "The second rule goes on and on. " * 40),
        SectionItem("next.md", "It does not fit any more. " * 90),
        SectionItem("never.md", "Nobody reads this."),
    ),
}
OWN = ContextTemplate(
    name="house-rules",
    heading="=== Rules for {agent} {}",
    item="* {title} ({source})\n    > {text}\n--",
    opening="\n",
    joint="; ",
    item_characters=1_000,
)
"""One that a workspace might keep."""
OVER = 300
"""Tokens of the budget that the last case is over."""


def sections() -> Iterator[tuple[Path, str]]:
    """Each template with each case, and the file that holds what it must be."""
    for template in (*TEMPLATES.values(), OWN):
        for name, items in ITEMS.items():
            tokens = OVER if name == "over-budget" else template.tokens
            yield GOLDEN / f"{template.name}.{name}.txt", fill(template, items, tokens, "Brand\n Judge").text


async def golden(_: Ground, __: bool) -> list[Row]:
    """Byte for byte."""
    made = list(sections())
    other = [file.name for file, text in made if file.read_bytes() != text.encode()]
    print(f"    {', '.join(other)}" if other else f"    {len(made)} golden files")
    return [exactly(f"golden templates: sections of {len(made)} that differ from their files", len(other), 0)]


class Cases:
    """Random contexts: of one to ten agents, with texts of any script, repeated ones among them, and any budget."""

    _ALPHABET = "abcdefghij  ..?!,;:-_\n\n\t0123456789ABCéßøñ字漢かな한글אבגدسжщ🧠🇩🇪\u200b\u0301\u202e#*`{}[]<>|\\\"'"

    def __init__(self, seed: int) -> None:
        self._draw = draw = random.Random(seed)
        self._numbers = count(1)
        words = ("".join(draw.choices(self._ALPHABET, k=draw.randint(1, 12))) for _ in range(20_000))
        self._writing = " ".join(words)

    def text(self, most: int) -> str:
        """A text of at most `most` characters."""
        start = self._draw.randrange(len(self._writing) - most)
        return self._writing[start : start + int(most ** self._draw.random()) + 1].strip() or "x"

    def passage(self) -> FoundPassage:
        """A passage of a document of its own."""
        number = next(self._numbers)
        text = self.text(3_000)
        chunk = Chunk(
            number, UUID(int=number), UUID(int=1), UUID(int=2), 0, text, 0, len(text), None, 1, 1, (), self.text(80),
            self.text(120), None, "text/markdown",
        )  # fmt: skip
        return FoundPassage(chunk, Candidate(number, 0.5, ()), 0.8, 0.5, ())

    def material(self, known: list[FoundPassage]) -> prepare_context._Material:
        """What an agent offers; now and then what another one offered already."""
        draw = self._draw
        part = ContextPart(WorkspaceRef(PRINCIPAL.org_id, UUID(int=draw.randint(1, 5))), self.text(150))
        if draw.random() < 0.15:
            return prepare_context._Material(part, inline=self.text(5_000))
        passages = [self.passage() for _ in range(draw.randint(0, 6))]
        known += passages
        return prepare_context._Material(part, tuple(draw.sample(known, min(len(known), len(passages)))))

    def context(self) -> tuple[PreparedContext, int]:
        """A context and its budget. Budgets that hold no heading are refused before."""
        draw = self._draw
        template: ContextTemplate = draw.choice([*TEMPLATES.values(), OWN])
        known = list[FoundPassage]()
        materials = [self.material(known) for _ in range(draw.choice((1, 1, 1, 2, 3, 10)))]
        while True:
            tokens = int(8_000 ** draw.random()) + 1
            try:
                require_room(template, tokens, [one.part.agent for one in materials])
            except InvalidInput:
                continue
            return assemble_context(template, materials, tokens), tokens


async def budgets(_: Ground, short: bool) -> list[Row]:
    """Counted by the published estimate itself."""
    cases = 100 if short else 10_000
    drawn = Cases(seed=19)
    exceeded = untrue = 0
    for _number in range(cases):
        context, tokens = drawn.context()
        exceeded += token_estimate.estimate_tokens(context.text) > tokens
        untrue += bool(context.text) != (context.step is not prepare_context.ContextStep.NOTHING)
    return [
        exactly(f"budgets of {cases:,} random contexts that are exceeded", exceeded, 0),
        exactly(f"steps of {cases:,} random contexts that are not what the text is made of", untrue, 0),
    ]


ROWS = {"golden": golden, "budgets": budgets}
