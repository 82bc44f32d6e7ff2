"""Asks for the names in a passage and their relations: entities for the graph, besides those of the rules."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import TEXT, fence_instruction, fence_text, list_of, strict_object
from agentic_rag.kernel.text import fold_text
from agentic_rag.models.chat.reply_fields import as_fields, items_in, parse_fields, raw_text_in
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplySchema

MAX_NAMES = 24
MAX_RELATIONS = 12
MAX_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class ClaimedGraph:
    """The names that a model reads in a passage, and the pairs of them it relates."""

    names: tuple[str, ...]
    relations: tuple[tuple[str, str], ...]


_RELATION = strict_object({"subject": TEXT, "relation": TEXT, "object": TEXT})
_FORM = ReplySchema(
    "graph", strict_object({"names": list_of(strict_object({"name": TEXT})), "relations": list_of(_RELATION)})
)

_SYSTEM = (
    "You list what a passage is about, so that passages can be linked. names: the people, organisations, places, "
    "products, works, events, documents, identifiers and technical terms that it names, each exactly as it is written "
    f"there, the most telling first, at most {MAX_NAMES}; no pronouns, no common words, no numbers alone. relations: "
    f"pairs of these names that the passage relates, each with a word or two for how, at most {MAX_RELATIONS}."
)


def extract_prompt(title: str, text: str, nonce: str) -> Prompt[ClaimedGraph]:
    """The names and relations of a passage."""
    passage = fence_text(nonce, "PASSAGE", f"From: {title}\n{text}")
    user = f"{passage}\nList what PASSAGE names and relates."

    def read(reply: str) -> ClaimedGraph:
        fields = parse_fields(reply, "names", "relations")
        named = [raw_text_in(as_fields(one, "name"), "name") for one in items_in(fields, "names")[:MAX_NAMES]]
        relations = [as_fields(one, "subject", "relation", "object") for one in items_in(fields, "relations")]
        return ClaimedGraph(
            tuple(name for name in map(fold_text, named) if len(name) <= MAX_NAME_CHARACTERS),
            tuple((raw_text_in(one, "subject"), raw_text_in(one, "object")) for one in relations[:MAX_RELATIONS]),
        )

    return Prompt(ChatTask.EXTRACT, ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM), read)
