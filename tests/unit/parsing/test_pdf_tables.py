"""Tables of PDF pages, found by the places of their words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentic_rag.adapters.parsing.pdf.page_words import PageLine, PdfPage, Word
from agentic_rag.adapters.parsing.pdf.structure import structure
from agentic_rag.adapters.parsing.pdf.tables import lay_tables
from agentic_rag.documents.document import BlockKind

_WIDE = 5.0
"""Points that a letter of these pages takes."""


def _line(base: float, *cells: tuple[float, str], right: bool = False) -> PageLine:
    """Cells with the place where they begin; with `right` all but the first end there."""
    words: list[Word] = []
    for number, (place, text) in enumerate(cells):
        at = place - _WIDE * len(text) if right and number else place
        for word in text.split():
            words.append(Word(word, at, at + _WIDE * len(word), base))
            at += _WIDE * (len(word) + 0.5)
    return PageLine(" ".join(word.text for word in words), words, 10.0)


def _laid(*lines: PageLine) -> list[str]:
    return [line.text for line in lay_tables([PdfPage(lines)])[0].lines]


def _rows(*rows: tuple[str, ...], top: float = 700) -> list[PageLine]:
    places = (50, 300, 380, 460, 540)
    return [
        _line(top - 15 * at, *[(place, cell) for place, cell in zip(places, row, strict=False) if cell], right=True)
        for at, row in enumerate(rows)
    ]


def test_rows_of_figures_stand_under_the_names_of_their_columns() -> None:
    read = _laid(
        *_rows(("Cargo", "2021", "2022"), ("Grain", "1,204", "(88)"), ("Timber", "", "17"), ("Total", "9", "8"))
    )

    assert read == [
        "Cargo | 2021 | 2022",
        "--- | --- | ---",
        "Grain | 1,204 | (88)",
        "Timber |  | 17",
        "Total | 9 | 8",
        "",
    ]


def test_a_name_over_several_columns_stands_in_each_of_them() -> None:
    head = _line(715, (315, "Planned"), (475, "Actual"))
    rows = _rows(("", "2021", "2022", "2021", "2022"), ("Grain", "1", "2", "3", "4"), ("Timber", "5", "6", "7", "8"))

    assert _laid(head, *rows)[0] == "|  | Planned 2021 | Planned 2022 | Actual 2021 | Actual 2022 |"


def test_a_label_on_two_lines_is_one_and_a_section_is_a_row() -> None:
    lines = [
        *_rows(("", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4")),
        _line(655, (50, "By ship:")),
        _line(640, (50, "Vehicles and other")),
        _line(629, (50, "heavy machinery"), (300, "5"), (380, "6"), right=True),
        _line(614, (50, "Cement"), (300, "7"), (380, "9"), right=True),
    ]

    assert _laid(*lines)[4:7] == ["| By ship: |  |  |", "Vehicles and other heavy machinery | 5 | 6", "Cement | 7 | 9"]


def test_the_figures_of_a_chart_below_a_table_are_no_row_of_it() -> None:
    rows = _rows(("Cargo", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4"))
    chart = PageLine("9465 9422", [Word("9465", 300, 320, 650), Word("9422", 460, 480, 650)], 7.0)

    assert _laid(*rows, chart) == [*_laid(*rows), "9465 9422"]


def test_a_table_drawn_by_columns_is_read_by_rows() -> None:
    rows = _rows(("Cargo", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4"))
    columns = [PageLine(line.words[at].text, [line.words[at]], 10.0) for at in range(3) for line in rows]

    assert _laid(*columns)[2:4] == ["Grain | 1 | 2", "Timber | 3 | 4"]


def test_a_sign_of_currency_belongs_to_the_figure_behind_it() -> None:
    head, *rows = _rows(("Cargo", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4"))
    dear = _line(655, (50, "Cement"), (255, "$"), (295, "7"), (335, "$"), (370, "(8)"))

    assert _laid(head, *rows, dear)[4] == "Cement | $ 7 | $ (8)"


def test_prose_beside_a_table_stays_prose() -> None:
    prose = [_line(708 - 12 * at, (50, "these words fill their column well")) for at in range(5)]
    table = [
        _line(700 - 15 * at, (300, name), (440, one), (520, other), right=True)
        for at, (name, one, other) in enumerate(
            (("", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4"), ("Cement", "5", "6"))
        )
    ]

    read = _laid(*prose, *table)

    assert read[:5] == ["these words fill their column well"] * 5
    assert read[5:8] == ["|  | 2021 | 2022 |", "--- | --- | ---", "Grain | 1 | 2"]


def test_two_columns_of_prose_are_no_table() -> None:
    lines = [_line(700 - 12 * at, (50, "Left words of 2021"), (300, "right words of 17")) for at in range(6)]

    assert _laid(*lines) == [line.text for line in lines]


def test_figures_without_names_above_them_stay_lines() -> None:
    lines = _rows(("Grain", "1", "2"), ("Timber", "3", "4"), ("Cement", "5", "6"))

    assert _laid(*lines) == [line.text for line in lines]


def test_a_table_of_contents_stays_lines() -> None:
    lines = [
        _line(715, (50, "Contents"), (290, "Page")),
        *[_line(700 - 15 * at, (50, f"Part {at}"), (300, str(2 * at)), right=True) for at in range(5)],
    ]

    assert _laid(*lines) == [line.text for line in lines]


def test_a_table_goes_on_under_the_names_of_the_page_before() -> None:
    first = PdfPage(_rows(("Cargo", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4")))
    second = PdfPage(_rows(("Cement", "5", "6"), ("Wine", "7", "9")))

    read = lay_tables([first, second])[1].lines

    assert [line.text for line in read][:3] == ["Cargo | 2021 | 2022", "--- | --- | ---", "Cement | 5 | 6"]


def test_each_word_of_a_page_with_a_table_is_read() -> None:
    lines = [
        _line(745, (50, "A title over the page")),
        _line(730, (50, "Table 1. Cargo in tonnes")),
        *_rows(("Cargo", "2021", "2022"), ("Grain", "1,204", "(88)"), ("Total", "9", "8")),
        _line(640, (50, "Words below the table.")),
    ]

    read = _words(_laid(*lines))

    assert read == _words([line.text for line in lines])


def _words(lines: Sequence[str]) -> list[str]:
    return sorted(word for line in lines for word in line.split() if word not in ("|", "---"))


def test_a_table_is_a_block_of_its_own() -> None:
    lines = [
        _line(730, (50, "Table 1. Cargo in tonnes")),
        *_rows(("Cargo", "2021", "2022"), ("Grain", "1", "2"), ("Timber", "3", "4")),
        _line(640, (50, "Words below the table.")),
    ]

    made = structure(lay_tables([PdfPage(lines)]), ())

    assert [block.kind for block in made.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    table = made.blocks[1]
    assert made.text[table.start : table.end].endswith("Timber | 3 | 4")


def test_a_long_cell_that_reaches_the_next_column_leaves_a_table_that_goes_on_its_columns() -> None:
    def row(base: float, company: str, city: str, *figures: str) -> PageLine:
        return _line(base, (50, company), (200, city), *zip((320, 420), figures, strict=True))

    first = PdfPage(
        [
            row(700, "Company", "City", "Notices", "Jobs"),
            *(row(685 - 15 * at, "Alder", "Oakland", "1", "20") for at in range(3)),
        ]
    )
    second = PdfPage(
        [
            row(700, "Birch", "Fresno", "3", "41"),
            row(685, "Cedar Holdings (Santa Clara-", "Santa Clara", "4", "52"),
            row(670, "Dogwood", "Chico", "6", "63"),
        ]
    )

    read = [line.text for line in lay_tables([first, second])[1].lines]

    assert read[2:5] == [
        "Birch | Fresno | 3 | 41",
        "Cedar Holdings (Santa Clara- | Santa Clara | 4 | 52",
        "Dogwood | Chico | 6 | 63",
    ]


@pytest.mark.parametrize("shift", [-5.0, -3.0, 3.0, 5.0])
def test_a_column_that_stands_a_little_above_or_below_the_others_belongs_to_their_rows(shift: float) -> None:
    lines = [_line(715, (50, "Cargo"), (280, "2021"), (360, "2022"), (440, "Kind"))]
    for at, (cargo, one, two, kind) in enumerate(
        [("Grain", "11", "12", "Dry"), ("Oil", "21", "22", "Wet"), ("Wine", "31", "32", "Wet")]
    ):
        base = 700 - 13 * at
        lines += [
            _line(base, (50, cargo), (290, one)),
            _line(base + shift, (370, two), (440, kind)),
        ]

    read = _laid(*lines)

    assert read[2:5] == ["Grain | 11 | 12 | Dry", "Oil | 21 | 22 | Wet", "Wine | 31 | 32 | Wet"]


def test_a_column_as_near_to_the_row_below_is_given_to_neither() -> None:
    lines = [_line(715, (50, "Cargo"), (280, "2021"), (360, "2022"))]
    for at in range(3):
        base = 700 - 13 * at
        lines += [_line(base, (50, f"Cargo{'ABC'[at]}"), (290, f"1{at}")), _line(base - 6.5, (370, f"2{at}"))]

    read = _laid(*lines)

    assert not any("Cargo" in line and f"2{at}" in line.split() for line in read[2:] for at in range(3))


def test_cells_of_several_lines_stay_in_their_row_however_its_figures_stand() -> None:
    lines = [_line(715, (50, "Cargo"), (280, "2021"), (360, "2022"))]
    for at, (above, below) in enumerate(
        [("Grain Of", "Northern Ports"), ("Oil Of", "Southern Ports"), ("Wine", "Casks")]
    ):
        base = 690 - 30 * at
        lines += [
            _line(base + 6, (50, above)),
            _line(base, (290, f"1{at}"), (370, f"2{at}")),
            *([_line(base - 6, (50, below))] if at < 2 else []),
        ]

    read = _laid(*lines)

    assert read[2:5] == ["Grain Of Northern Ports | 10 | 20", "Oil Of Southern Ports | 11 | 21", "Wine | 12 | 22"]


def _payments(*names: tuple[float, str], base: float = 0.0) -> list[str]:
    """Payments whose descriptions take two lines and a third one; figures stand `base` points below the first."""
    lines = [_line(720, *names)] if names else []
    for at, (day, payee, amount) in enumerate(
        [
            ("1 May", "Alder Travel", "920.68"),
            ("2 May", "Birch Hotels", "907.96"),
            ("3 May", "Cedar Print", "737.94"),
            ("4 May", "Elm Cars", "12.10"),
        ]
    ):
        top = 700 - 36 * at
        lines += [
            *([_line(top, (220, "Number 12"))] if base else []),
            _line(top - base, (50, day), (110, payee), *([] if base else [(220, "Number 12")]), (490, amount)),
            _line(top - 12, (220, f"for the delegation that travels {at} times")),
            _line(top - 24, (220, f"in the months before the meeting {at} of it")),
        ]
    return _laid(*lines)


_CARGOES = (("Grain", "41"), ("Oil", "21"), ("Wine", "31"), ("Salt", "11"))
_NAMES = ((50, "Date"), (110, "Payee"), (300, "Description"), (490, "Amount"))


def test_a_column_of_long_descriptions_is_one_where_each_column_is_named() -> None:
    told = [
        f"Number 12 for the delegation that travels {at} times in the months before the meeting {at} of it"
        for at in range(4)
    ]

    assert _payments(*_NAMES)[:6] == [
        "Date | Payee | Description | Amount",
        "--- | --- | --- | ---",
        f"1 May | Alder Travel | {told[0]} | 920.68",
        f"2 May | Birch Hotels | {told[1]} | 907.96",
        f"3 May | Cedar Print | {told[2]} | 737.94",
        f"4 May | Elm Cars | {told[3]} | 12.10",
    ]


@pytest.mark.parametrize("names", [(), (*_NAMES[:2], _NAMES[3])], ids=["none", "one missing"])
def test_long_descriptions_without_a_name_of_their_own_stay_lines(names: tuple[tuple[float, str], ...]) -> None:
    assert not any("|" in line for line in _payments(*names))


def test_lines_below_a_row_with_figures_leave_the_next_row_its_own() -> None:
    rows = [
        _line(700 - 30 * at, (50, cargo), (200, "Ship"), (300, figure)) for at, (cargo, figure) in enumerate(_CARGOES)
    ]
    lower = [_line(688 - 30 * at, (200, "by sea")) for at in range(len(_CARGOES))]
    lines = [line for both in zip(rows, lower, strict=True) for line in both]

    read = _laid(_line(715, (50, "Cargo"), (200, "Way"), (300, "Tonnes")), *lines)

    assert read[2:4] == ["Grain | Ship by sea | 41", "Oil | Ship by sea | 21"]


def test_descriptions_that_begin_above_their_figures_stay_lines() -> None:
    """Nothing tells then whether a line belongs to the row above or below."""
    assert not any("|" in line for line in _payments(*_NAMES, base=12.0))
