"""Templates of prompt sections: the built-in ones, and those that a workspace keeps. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.text import is_storable
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.workspaces.rag_config import RagConfig

MAX_AGENT_CHARACTERS = 100
MAX_NAMES = 20
"""Templates of one workspace."""
KEPT_VERSIONS = 10
"""Of each; a context may still name an older version until ten newer ones were saved."""
MAX_TOKENS = 64_000
"""As `answering.options.CONTEXT_TOKENS`."""
MAX_ITEM_CHARACTERS = 100_000
_LONGEST: Mapping[str, int] = MappingProxyType({"heading": 500, "opening": 100, "joint": 100, "item": 1_000})
_PLACEHOLDERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "heading": frozenset({"agent"}),
        "opening": frozenset(),
        "joint": frozenset(),
        "item": frozenset({"source", "title", "text"}),
    }
)
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")


def _check_text(part: str, text: str, known: frozenset[str]) -> None:
    if len(text) > _LONGEST[part] or not is_storable(text):
        raise _invalid(f"`{part}` takes at most {_LONGEST[part]} characters, none of them NUL.", part)
    unknown = sorted({*PLACEHOLDER.findall(text)} - known)
    if unknown:
        shown = ", ".join(f"{{{one}}}" for one in sorted(known)) or "none"
        raise _invalid(f"`{part}` has an unknown placeholder {{{unknown[0][:60]}}}; it may hold {shown}.", part)


def _invalid(message: str, part: str) -> InvalidInput:
    return InvalidInput(message, code="TEMPLATE_INVALID", path=(part,))


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """The form of a section. A change of what it writes raises `version`. Raises `InvalidInput` codes TEMPLATE_INVALID
    and CONTEXT_BUDGET_TOO_SMALL with the path of what is wrong.
    """

    name: str
    heading: str
    """`{agent}` stands for the name of the agent whose documents are searched."""
    item: str = "{text}"
    """`{text}`, `{source}` and `{title}` stand for a passage and what it is from. White space and `>` before
    `{text}` stand before each line of the passage.
    """
    opening: str = "\n\n"
    """Between the heading and the first item."""
    joint: str = "\n\n"
    """Between two items."""
    config: RagConfig = RagConfig()
    """What is searched for, unless the request says it."""
    is_fixed: bool = False
    """Whether `config` holds for workspaces with settings of their own too."""
    item_characters: int | None = None
    """Longer texts are cut there and end in three dots."""
    tokens: int = 2_000
    """Of the whole section, as `language.token_estimate` counts them."""
    version: int = 1

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise _invalid("A name is 1 to 60 of a-z, 0-9, - and _, a letter first.", "name")
        for part, known in _PLACEHOLDERS.items():
            _check_text(part, getattr(self, part), known)
        if PLACEHOLDER.findall(self.item).count("text") != 1:
            raise _invalid("`item` holds the placeholder {text} once.", "item")
        if self.item_characters is not None and not 1 <= self.item_characters <= MAX_ITEM_CHARACTERS:
            raise _invalid(f"`itemCharacters` takes 1 to {MAX_ITEM_CHARACTERS}.", "itemCharacters")
        if self.tokens > MAX_TOKENS:
            raise _invalid(f"`maxTokens` takes at most {MAX_TOKENS}.", "maxTokens")
        require_room(self, self.tokens, [""])

    @property
    def names_agent(self) -> bool:
        """Whether the heading holds the name of the agent."""
        return "agent" in PLACEHOLDER.findall(self.heading)

    def start(self, agent: str = "") -> str:
        """The heading for an agent. Its name is one line of at most `MAX_AGENT_CHARACTERS`."""
        name = " ".join(agent.split())[:MAX_AGENT_CHARACTERS]
        return PLACEHOLDER.sub(lambda found: name, self.heading)


def template_from(
    name: str,
    heading: str,
    *,
    item: str,
    opening: str,
    joint: str,
    top_k: int | None,
    min_similarity: float | None,
    item_characters: int | None,
    max_tokens: int,
) -> ContextTemplate:
    """A template as callers describe it. Without `top_k` and `min_similarity` the workspace's settings decide. Errors:
    those of `ContextTemplate`.
    """
    default = RagConfig()
    config = RagConfig(
        default.top_k if top_k is None else top_k,
        default.similarity_threshold if min_similarity is None else min_similarity,
    )
    is_fixed = top_k is not None or min_similarity is not None
    return ContextTemplate(name, heading, item, opening, joint, config, is_fixed, item_characters, max_tokens)


def require_room(template: ContextTemplate, tokens: int, agents: Sequence[str]) -> None:
    """Check that each heading and one more token fit. Errors: `InvalidInput` code CONTEXT_BUDGET_TOO_SMALL."""
    least = sum(estimate_tokens(template.start(agent) + template.opening) + 2 for agent in agents)
    if tokens < least:
        raise InvalidInput(
            f"A budget of {tokens} tokens does not hold the headings; give at least {least}.",
            code="CONTEXT_BUDGET_TOO_SMALL",
            path=("maxTokens",),
        )


PROJECT_KNOWLEDGE = ContextTemplate(
    name="project_knowledge",
    heading="## 🧠 RELEVANT PROJECT KNOWLEDGE",
    opening="\n",
    item="- **{source}**:\n  {text}",
    config=RagConfig(top_k=3, similarity_threshold=0.7),
    is_fixed=True,
    item_characters=800,
)
TEAM_GUIDELINES = ContextTemplate(
    name="team_guidelines",
    heading="## Team Guidelines",
    config=RagConfig(top_k=5, similarity_threshold=0.75),
)
REFERENCE_GUIDELINES = ContextTemplate(name="reference_guidelines", heading="Reference Guidelines:", opening="\n")
MULTI_AGENT = ContextTemplate(
    name="multi_agent", heading="### Context from {agent}'s documents:", opening="\n", tokens=4_000
)

TEMPLATES: Mapping[str, ContextTemplate] = MappingProxyType(
    {one.name: one for one in (PROJECT_KNOWLEDGE, TEAM_GUIDELINES, REFERENCE_GUIDELINES, MULTI_AGENT)}
)
"""Requirements D2, B6, E5 (one agent) and E5 (several)."""

CHOICE = f"One of {', '.join(TEMPLATES)}, or the workspace's own: NAME or NAME@VERSION. Of several the first's."
"""How a template is named in a request."""


def find_template(name: str, own: Sequence[ContextTemplate] = ()) -> ContextTemplate:
    """The built-in template of that name, else the newest version of the workspace's own, or that of `NAME@VERSION`.
    Errors: `InvalidInput` code TEMPLATE_UNKNOWN.
    """
    if name in TEMPLATES:
        return TEMPLATES[name]
    wanted, _, version = name.partition("@")
    found = [one for one in own if one.name == wanted and version in ("", str(one.version))]
    if not found:
        known = ", ".join(sorted({*TEMPLATES, *(one.name for one in own)}))
        raise InvalidInput(
            f"There is no template {name[:100]!r}. Use one of {known}.", code="TEMPLATE_UNKNOWN", path=("template",)
        )
    return max(found, key=lambda one: one.version)


def add_template(own: Sequence[ContextTemplate], wished: ContextTemplate) -> tuple[ContextTemplate, ...]:
    """The templates with a further version of one; the same content again adds none. Errors: `InvalidInput` code
    TEMPLATE_INVALID for the name of a built-in one, and for more than `MAX_NAMES`.
    """
    if wished.name in TEMPLATES:
        raise _invalid(f"{wished.name} is built in; choose another name.", "name")
    if len({one.name for one in own} | {wished.name}) > MAX_NAMES:
        raise _invalid(f"A workspace has at most {MAX_NAMES} templates.", "name")
    others = [one for one in own if one.name != wished.name]
    versions = sorted((one for one in own if one.name == wished.name), key=lambda one: one.version)
    if versions and replace(wished, version=versions[-1].version) == versions[-1]:
        return tuple(own)
    newest = replace(wished, version=versions[-1].version + 1 if versions else 1)
    return (*others, *[*versions, newest][-KEPT_VERSIONS:])


def drop_template(own: Sequence[ContextTemplate], name: str) -> tuple[ContextTemplate, ...]:
    """The templates without every version of one. Errors: `NotFound` code TEMPLATE_NOT_FOUND."""
    left = tuple(one for one in own if one.name != name)
    if len(left) == len(own):
        raise NotFound("The workspace has no template of this name.", code="TEMPLATE_NOT_FOUND")
    return left
