"""Tables made for a measure: what stands in them, how they look, and the question that each is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

_TOWNS = [
    "Alderton",
    "Brackwell",
    "Corvale",
    "Dunmere",
    "Elsworth",
    "Fernhope",
    "Garrick",
    "Hollins",
    "Iverley",
    "Jessop",
    "Kelmore",
    "Lindale",
    "Marsden",
    "Norwick",
    "Oakham",
    "Penbury",
    "Quarley",
    "Rothwell",
    "Selby",
    "Tarrant",
]
_BODIES = [
    "Harbour Authority",
    "Water Board",
    "Transit Company",
    "Hospital Trust",
    "Energy Cooperative",
    "Museum Foundation",
    "Housing Society",
    "Airport Office",
    "College Council",
    "Forestry Service",
]
"""Each town has each of them: 200 documents of as many organisations."""
_SUBJECTS: Sequence[tuple[str, str, str]] = (
    (
        "Cargo handled",
        "thousand tonnes",
        "Grain;Crude oil;Timber;Containers;Cement;Fertiliser;Iron ore;Vehicles and machinery;"
        "Frozen food and other refrigerated goods shipped in bulk",
    ),
    (
        "Operating expenses",
        "thousand euros",
        "Salaries;Energy;Maintenance;Insurance;Office rent;Training;Legal advice;Security;"
        "Depreciation of buildings, vehicles and technical equipment",
    ),
    (
        "Visitors",
        "thousands",
        "Schools;Members;Day tickets;Guided tours;Families;Groups;Online exhibitions;Evening openings;"
        "Holders of annual passes of partner institutions in the region",
    ),
    (
        "Staff",
        "full-time posts",
        "Administration;Nursing;Kitchen;Laboratory;Transport;Workshops;Reception;Gardens;"
        "Information technology and support of digital services",
    ),
    (
        "Investments",
        "million euros",
        "Pipes;Pumping stations;Meters;Reservoirs;Vehicles;Treatment plants;Control room;Laboratory devices;"
        "Replacement of lead connections in residential buildings",
    ),
    (
        "Income",
        "thousand pounds",
        "Grants;Donations;Membership fees;Ticket sales;Shop;Restaurant;Interest;Licences;"
        "Contributions of municipalities under the regional agreement",
    ),
)
_GROUPED: Sequence[tuple[Sequence[str], Sequence[str], str]] = (
    (("2022", "2023"), ("Planned", "Actual"), "{low} in {group}"),
    (("2022", "2023"), ("Q1", "Q2", "Q3"), "in {leaf} {group}"),
    (("First half", "Second half"), ("2021", "2022"), "in the {low_group} of {leaf}"),
    (("North", "South"), ("2022", "2023"), "in the {group} in {leaf}"),
)
_PLAIN: Sequence[tuple[Sequence[str], str]] = (
    (("2020", "2021", "2022", "2023"), "in {leaf}"),
    (("January", "February", "March", "April"), "in {leaf}"),
    (("Budget", "Forecast", "Result"), "in the {low}"),
    (("East district", "West district", "Old town"), "in the {leaf}"),
)
_PROSE = (
    "The board discussed the report in its spring meeting and thanked everyone who had contributed to it.",
    "Details of the method are described in the appendix, which was revised after the last audit.",
    "Differences between totals and the sum of their parts are due to rounding.",
    "The next report follows in twelve months and will use the same definitions.",
    "Comments may be sent to the secretary, who collects them for the committee on statistics.",
)


@dataclass(frozen=True, slots=True)
class TableLook:
    """How a table is drawn in a PDF; other formats heed `pages` and `second`."""

    ruled: bool
    wrapped: bool
    """Long labels stand on two lines."""
    beside_text: bool
    """A column of prose stands to the left of the table."""
    by_column: bool
    """Drawn column after column, as some programs do."""
    currency: bool
    """A currency sign stands apart from the first row's figures."""
    pages: int
    second: bool
    """Another table with the same rows stands above."""


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table in a document of its own. `groups` is empty, or names as many columns each."""

    owner: str
    subject: str
    unit: str
    unit_in_header: bool
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """Labels and their cells."""
    prose: tuple[str, ...]
    look: TableLook

    @property
    def title(self) -> str:
        return f"{self.owner}: {self.subject}"

    @property
    def caption(self) -> str:
        return f"Table {2 if self.look.second else 1}. {self.subject}" + (
            "" if self.unit_in_header else f" ({self.unit})"
        )

    @property
    def stub(self) -> str:
        """What stands above the labels."""
        return self.unit.capitalize() if self.unit_in_header else ""

    def group_of(self, column: int) -> str:
        return self.groups[column * len(self.groups) // len(self.columns)] if self.groups else ""


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question for a cell: words of its row's label, of the names of its column, and what it holds."""

    file: str
    question: str
    row: str
    columns: tuple[str, ...]
    value: str
    other_row: str = ""
    """A row of another table of the file that holds the same cell."""


def made_table(seed: int) -> MadeTable:
    """The table of a seed; the owners of two hundred seeds differ."""
    random = Random(seed)
    owner = f"{_TOWNS[seed % len(_TOWNS)]} {_BODIES[seed // len(_TOWNS) % len(_BODIES)]}"
    subject, unit, labels = _subject(random)
    grouped = random.random() < 0.4
    groups, columns = _columns(random, grouped=grouped)
    look = TableLook(
        ruled=random.random() < 0.4,
        wrapped=random.random() < 0.5,
        beside_text=random.random() < 0.15 and not grouped,
        by_column=random.random() < 0.15,
        currency="euro" in unit and random.random() < 0.5,
        pages=2 if random.random() < 0.15 else 1,
        second=random.random() < 0.2,
    )
    if look.pages > 1:
        labels = [f"{label} {kind}" for kind in ("A", "B", "C", "D", "E", "F") for label in labels[:-1]]
    rows = [(label, tuple(_cell(random) for _ in columns)) for label in labels]
    rows.append(("Total", tuple(_figure(random, 60_000, 99_000) for _ in columns)))
    prose = tuple(random.sample(_PROSE, 3))
    return MadeTable(owner, subject, unit, random.random() < 0.5, groups, columns, tuple(rows), prose, look)


def other_table(made: MadeTable, seed: int) -> MadeTable:
    """Another table about the same rows, which stands above: shares of them by region."""
    random = Random(-seed - 1)
    rows = [
        (label, tuple(f"{random.randrange(1, 99)}.{random.randrange(9)}" for _ in range(2))) for label, _ in made.rows
    ]
    return replace(
        made,
        subject=f"Shares of {made.subject.lower()}",
        unit="per cent",
        unit_in_header=False,
        groups=(),
        columns=("Men", "Women"),
        rows=tuple(rows[:6]),
        look=replace(made.look, second=False, pages=1, beside_text=False),
    )


def question_of(made: MadeTable, file: str, seed: int) -> TableQuestion:
    """A question for one filled cell of a table."""
    random = Random(seed + 1_000)
    places = [
        (row, at)
        for row, (_, cells) in enumerate(made.rows)
        for at, cell in enumerate(cells)
        if any(sign.isdigit() for sign in cell) and sum(cell == other for _, held in made.rows for other in held) == 1
    ]
    row, column = random.choice(places)
    label, cells = made.rows[row]
    leaf, group = made.columns[column], made.group_of(column)
    forms = [form for _, leaves, form in _GROUPED if leaf in leaves] if group else []
    forms = [one for one in forms if _fits(one, group, made.columns)] or [
        form for leaves, form in _PLAIN if leaf in leaves
    ]
    where = forms[0].format(leaf=leaf, low=leaf.lower(), group=group, low_group=group.lower())
    said = label[0].lower() + label[1:]
    subject = made.subject.lower()
    wording = random.choice(
        (
            "What does the table of the {owner} on {subject} say for {said} {where}?",
            "How high was the figure of {subject} for {said} {where} at the {owner}?",
            "{subject} of the {owner}: what is the value for {said} {where}?",
            "At the {owner}, what was the {subject} figure for {said} {where}?",
        )
    )
    question = wording.format(owner=made.owner, subject=subject, said=said, where=where)
    names = tuple(name for name in (group, leaf) if name)
    return TableQuestion(file, question[0].upper() + question[1:], label, names, cells[column])


def _fits(form: str, group: str, columns: Sequence[str]) -> bool:
    return any(form == known and group in groups and {*leaves} == {*columns} for groups, leaves, known in _GROUPED)


def _subject(random: Random) -> tuple[str, str, list[str]]:
    subject, unit, listed = random.choice(_SUBJECTS)
    labels = listed.split(";")
    kept = [*random.sample(labels[:-1], 6), labels[-1]]
    random.shuffle(kept)
    return subject, unit, kept


def _columns(random: Random, *, grouped: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not grouped:
        return (), tuple(random.choice(_PLAIN)[0])
    groups, leaves, _ = random.choice(_GROUPED)
    return tuple(groups), tuple(leaves) * len(groups)


def _cell(random: Random) -> str:
    kind = random.random()
    if kind < 0.06:
        return ""
    if kind < 0.1:
        return "–"
    figure = _figure(random, 11, 39_999)
    return f"({figure})" if kind < 0.2 else figure


def _figure(random: Random, least: int, most: int) -> str:
    return f"{random.randrange(least, most):,}"
