"""Prompt sections made of passages: the templates, and how each is filled within a budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.workspaces.settings import RagConfig

MAX_AGENT_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class SectionItem:
    """A text for a section, and what it is from."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """The form of a section. A change of what it writes raises `version`."""

    name: str
    version: int
    heading: str
    """`{agent}` stands for the name of the agent whose documents are searched."""
    opening: str
    """Between the heading and the first item."""
    joint: str
    """Between two items."""
    item: Callable[[SectionItem], str]
    config: RagConfig
    """What is searched for, unless the request says it."""
    is_fixed: bool = False
    """Whether `config` holds for workspaces with settings of their own too."""
    item_characters: int | None = None
    """Longer texts are cut there and end in three dots."""
    tokens: int = 2_000
    """Of the whole section, as `language.token_estimate` counts them."""


@dataclass(frozen=True, slots=True)
class UsedText:
    """How much of an item a section holds: its first `characters`."""

    place: int
    characters: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A filled template; empty text without items."""

    text: str
    used: tuple[UsedText, ...] = ()

    @property
    def tokens(self) -> int:
        """The estimated tokens of the text."""
        return estimate_tokens(self.text)


def _bullet(item: SectionItem) -> str:
    """As document [002] prints it. What follows a line break is indented, so that no line of a passage is a heading."""
    return f"- **{' '.join(item.source.split())}**:\n  " + item.text.replace("\n", "\n  ")


def _plain(item: SectionItem) -> str:
    return item.text


PROJECT_KNOWLEDGE = ContextTemplate(
    name="project_knowledge",
    version=1,
    heading="## 🧠 RELEVANT PROJECT KNOWLEDGE",
    opening="\n",
    joint="\n\n",
    item=_bullet,
    config=RagConfig(top_k=3, similarity_threshold=0.7),
    is_fixed=True,
    item_characters=800,
)
TEAM_GUIDELINES = ContextTemplate(
    name="team_guidelines",
    version=1,
    heading="## Team Guidelines",
    opening="\n\n",
    joint="\n\n",
    item=_plain,
    config=RagConfig(top_k=5, similarity_threshold=0.75),
)
REFERENCE_GUIDELINES = ContextTemplate(
    name="reference_guidelines",
    version=1,
    heading="Reference Guidelines:",
    opening="\n",
    joint="\n\n",
    item=_plain,
    config=RagConfig(top_k=5, similarity_threshold=0.7),
)
MULTI_AGENT = ContextTemplate(
    name="multi_agent",
    version=1,
    heading="### Context from {agent}'s documents:",
    opening="\n",
    joint="\n\n",
    item=_plain,
    config=RagConfig(top_k=5, similarity_threshold=0.7),
    tokens=4_000,
)

TEMPLATES: Mapping[str, ContextTemplate] = MappingProxyType(
    {one.name: one for one in (PROJECT_KNOWLEDGE, TEAM_GUIDELINES, REFERENCE_GUIDELINES, MULTI_AGENT)}
)
"""Requirements D2, B6, E5 (one agent) and E5 (several)."""


def find_template(name: str) -> ContextTemplate:
    """Errors: `InvalidInput` code TEMPLATE_UNKNOWN."""
    if name not in TEMPLATES:
        known = ", ".join(sorted(TEMPLATES))
        raise InvalidInput(
            f"There is no template {name[:100]!r}. Use one of {known}.", code="TEMPLATE_UNKNOWN", path=("template",)
        )
    return TEMPLATES[name]


def heading_of(template: ContextTemplate, agent: str = "") -> str:
    """The first line of a section. An agent's name is one line of at most `MAX_AGENT_CHARACTERS`."""
    return template.heading.format(agent=" ".join(agent.split())[:MAX_AGENT_CHARACTERS])


def require_room(template: ContextTemplate, tokens: int, agents: Sequence[str]) -> None:
    """Check that each heading and one more token fit. Errors: `InvalidInput` code CONTEXT_BUDGET_TOO_SMALL."""
    least = sum(estimate_tokens(heading_of(template, agent) + template.opening) + 2 for agent in agents)
    if tokens < least:
        raise InvalidInput(
            f"A budget of {tokens} tokens does not hold the headings; give at least {least}.",
            code="CONTEXT_BUDGET_TOO_SMALL",
            path=("maxTokens",),
        )


def fill(template: ContextTemplate, items: Sequence[SectionItem], tokens: int, agent: str = "") -> Section:
    """The items in their order, as many as `tokens` hold; the last one is cut at the end of a sentence, or left out."""
    text, used = heading_of(template, agent), list[UsedText]()
    for place, item in enumerate(items):
        before = text + (template.joint if used else template.opening)
        whole = _shorten(item, template.item_characters)
        written = before + template.item(whole)
        kept = min(len(item.text), template.item_characters or len(item.text))
        if estimate_tokens(written) <= tokens:
            used.append(UsedText(place, kept, kept < len(item.text)))
            text = written
            continue
        end = _last_end(template, before, item, kept, tokens)
        if end:
            used.append(UsedText(place, end, is_cut=True))
            text = before + template.item(SectionItem(item.source, item.text[:end]))
        break
    return Section(text, tuple(used)) if used else Section("")


def fair_shares(needs: Sequence[int], tokens: int) -> list[int]:
    """How many of `tokens` each gets: what it needs, at most an equal share of what those with smaller needs leave."""
    shares = [0] * len(needs)
    left = tokens
    for waiting, place in zip(range(len(needs), 0, -1), sorted(range(len(needs)), key=needs.__getitem__), strict=True):
        shares[place] = min(needs[place], left // waiting)
        left -= shares[place]
    return shares


def join_sections(sections: Sequence[Section]) -> str:
    """Sections with an empty line between them; empty ones are left out."""
    return JOINT.join(one.text for one in sections if one.text)


JOINT = "\n\n"
"""Between two sections: one token."""


def _shorten(item: SectionItem, characters: int | None) -> SectionItem:
    if characters is None or len(item.text) <= characters:
        return item
    return SectionItem(item.source, item.text[:characters] + "...")


def _last_end(template: ContextTemplate, before: str, item: SectionItem, characters: int, tokens: int) -> int:
    """The end of the last sentence up to which the item fits; 0 when its first sentence does not."""
    ends = [end for _, end in sentence_spans(item.text[:characters])]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        cut = SectionItem(item.source, item.text[: ends[middle - 1]])
        if estimate_tokens(before + template.item(cut)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return ends[low - 1] if low else 0
