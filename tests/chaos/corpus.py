"""Documents to ingest: small ones that share entities, and long ones of many embedding batches."""

from __future__ import annotations

from pathlib import Path

PLACES = ("Brannoch Harbour", "Otter Voe", "Skelda Ness", "Kelpie Sound", "Marwick Head")
PEOPLE = ("Ailsa Drever", "Magnus Flett", "Ingrid Isbister", "Tam Rendall")


def small(folder: Path, count: int, *, first: int = 0, edition: str = "first") -> Path:
    """`count` Markdown files of one to four chunks; neighbours name the same places and people, each also its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        sections = 4 if number % 10 == 0 else 1
        (folder / f"report-{number:04}.md").write_text(
            "\n\n".join(_section(number, section, edition) for section in range(sections)), encoding="utf-8"
        )
    return folder


def long(folder: Path, name: str, chunks: int) -> Path:
    """One Markdown file of about `chunks` chunks of the profile `small`, every one different."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(
        "\n\n".join(_section(9_000 + number, 0, name) for number in range(chunks)), encoding="utf-8"
    )
    return folder


def word(number: int) -> str:
    """A word that stands in this document only."""
    return f"quernstone{number}x"


def _section(number: int, section: int, edition: str) -> str:
    place, person = PLACES[number % len(PLACES)], PEOPLE[number % len(PEOPLE)]
    other = PLACES[(number + section + 1) % len(PLACES)]
    said = " ".join(
        f"The {word(number)} gauge {step} of part {section} in the {edition} edition was read twice."
        for step in range(6)
    )
    return (
        f"# Station {number} part {section}\n\n{person} inspected {place} and compared it with {other}. "
        f"The Valve House of Unit Q{number} lies near {place}. {said}"
    )
