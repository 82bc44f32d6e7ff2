"""Prompt sections made of passages: how a template is filled within a budget. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.workspaces.context_template import PLACEHOLDER, ContextTemplate


@dataclass(frozen=True, slots=True)
class SectionItem:
    """A text for a section, and what it is from."""

    source: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class UsedText:
    """How much of an item a section holds: its first `characters`."""

    place: int
    characters: int
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A filled template; empty text without items. It has at most `tokens` estimated tokens."""

    text: str
    used: tuple[UsedText, ...] = ()
    tokens: int = 0


def fill(template: ContextTemplate, items: Sequence[SectionItem], tokens: int, agent: str = "") -> Section:
    """The items in their order, as many as `tokens` hold; the last one is cut at the end of a sentence, or left out."""
    written, used = [template.start(agent)], list[UsedText]()
    # Parts cost at least what they cost together (`estimate_tokens`), so that each is counted once.
    spent = estimate_tokens(written[0])
    for place, item in enumerate(items):
        before = template.joint if used else template.opening
        kept = min(len(item.text), template.item_characters or len(item.text))
        whole = before + _write(template, _shorten(item, template.item_characters))
        cost = estimate_tokens(whole)
        if spent + cost <= tokens:
            used.append(UsedText(place, kept, kept < len(item.text)))
            written.append(whole)
            spent += cost
            continue
        end = _last_end(template, before, item, kept, tokens - spent)
        if end:
            cut = before + _write(template, replace(item, text=item.text[:end]))
            used.append(UsedText(place, end, is_cut=True))
            written.append(cut)
            spent += estimate_tokens(cut)
        break
    return Section("".join(written), tuple(used), spent) if used else Section("")


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
    return replace(item, text=item.text[:characters] + "...")


def _write(template: ContextTemplate, item: SectionItem) -> str:
    """An item in the template's form. White space and `>` before the text stand before each of its lines: where the
    form has them, no line of a passage can be a heading.
    """
    form = template.item
    line = form[: form.index("{text}")].rpartition("\n")[2]
    indent = "" if line.strip(" \t>") else line
    shown = {
        "source": " ".join(item.source.split()),
        "title": " ".join(item.title.split()),
        "text": item.text.replace("\n", f"\n{indent}"),
    }
    return PLACEHOLDER.sub(lambda found: shown[found[1]], form)


def _last_end(template: ContextTemplate, before: str, item: SectionItem, characters: int, tokens: int) -> int:
    """The end of the last sentence up to which the item fits; 0 when its first sentence does not."""
    ends = [end for _, end in sentence_spans(item.text[:characters], table_of(item.text))]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        cut = replace(item, text=item.text[: ends[middle - 1]])
        if estimate_tokens(before + _write(template, cut)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return ends[low - 1] if low else 0
