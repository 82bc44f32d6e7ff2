"""Reports as texts of several formats, each with the words that a reader sees, in order."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Sequence

from tests.documents.formats.wording import Report, report

Made = tuple[bytes, Sequence[str]]
"""A file, and what stands in it."""
_ANSI = {"de": "1252", "fr": "1252", "es": "1252", "pl": "1250", "ru": "1251", "el": "1253"}
"""The code page in which programs write the RTF of a language."""


def words_of(said: Report) -> Sequence[str]:
    """What a report says, in order."""
    return [said.title, *said.paragraphs, *said.points, *(cell for row in said.table for cell in row)]


def plain(said: Report) -> str:
    """As text."""
    points = "\n".join(f"- {point}" for point in said.points)
    rows = "\n".join("   ".join(row) for row in said.table)
    return "\n\n".join([said.title, *said.paragraphs, points, rows]) + "\n"


def text(language: str) -> Made:
    said = report(language)
    return plain(said).encode(), words_of(said)


def markdown(language: str) -> Made:
    said = report(language)
    head, *rows = (f"| {' | '.join(row)} |" for row in said.table)
    points = "\n".join(f"* {point}" for point in said.points)
    table = "\n".join([head, "|---|--:|--:|", *rows])
    return "\n\n".join([f"# {said.title}", *said.paragraphs, points, table]).encode(), words_of(said)


def page(said: Report, head: str = "") -> str:
    """As a web page."""
    points = "".join(f"<li>{html.escape(point)}</li>" for point in said.points)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in said.table]
    table = f"<table><thead><tr>{rows[0].replace('td>', 'th>')}</tr></thead>" + "".join(
        f"<tr>{row}</tr>" for row in rows[1:]
    )
    body = "".join(f"<p>{html.escape(one)}</p>" for one in said.paragraphs)
    return (
        f"<!DOCTYPE html><html lang='{said.language}'><head>{head}<title>{said.title}</title></head>"
        f"<body><h1>{said.title}</h1>{body}<ul>{points}</ul>{table}</table></body></html>"
    )


def web_page(language: str) -> Made:
    said = report(language)
    return page(said, "<meta charset='utf-8'>").encode(), words_of(said)


def rich_text(language: str) -> Made:
    """RTF as word processors write it: letters of the code page as `\\'xx`, others as `\\uN`."""
    said = report(language)
    code_page = _ANSI.get(language)

    def written(one: str) -> str:
        made = list[str]()
        for letter in one:
            if letter.isascii():
                made.append(letter)
                continue
            try:
                made.append(f"\\'{letter.encode(f'cp{code_page}').hex()}" if code_page else f"\\u{ord(letter)}?")
            except UnicodeEncodeError:
                made.append(f"\\u{ord(letter)}?")
        return "".join(made)

    lines = [said.title, *said.paragraphs]
    body = "".join(f"\\pard {written(line)}\\par\n" for line in lines)
    body += "".join(f"\\pard\\bullet\\tab {written(point)}\\par\n" for point in said.points)
    for row in said.table:
        cells = "".join(f"\\intbl {written(cell)}\\cell" for cell in row)
        body += f"\\trowd\\cellx2000\\cellx4000\\cellx6000{cells}\\row\n"
    head = f"{{\\rtf1\\ansi\\ansicpg{code_page or '1252'}\\deff0{{\\fonttbl{{\\f0 Arial;}}}}{{\\colortbl;}}\n"
    return (head + body + "}").encode("ascii"), words_of(said)


def comma_separated(language: str) -> Made:
    return _delimited(language, ";" if language in ("de", "fr", "es", "pl", "ru") else ",")


def tab_separated(language: str) -> Made:
    return _delimited(language, "\t")


def _delimited(language: str, delimiter: str) -> Made:
    said = report(language)
    rows = [*said.table, *([point, str(number), ""] for number, point in enumerate(said.points, 100))]
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter).writerows(rows)
    return made.getvalue().encode(), [cell for row in rows for cell in row]


def json_text(language: str) -> Made:
    said = report(language)
    held = {
        "title": said.title,
        "sections": [{"text": one, "page": number} for number, one in enumerate(said.paragraphs, 10)],
        "points": said.points,
        "quays": [dict(zip(said.columns, row, strict=True)) for row in said.rows],
    }
    expected = [said.title, *said.paragraphs, *said.points]
    expected += [word for row in said.rows for pair in zip(said.columns, row, strict=True) for word in pair]
    # Half of the writers escape what is not ASCII.
    return json.dumps(held, indent=1, ensure_ascii=language in ("fr", "ru", "ja", "ar")).encode(), expected


def json_lines(language: str) -> Made:
    said = report(language)
    rows = [dict(zip(said.columns, row, strict=True)) | {"note": one} for row, one in zip(
        said.rows, said.points, strict=True
    )]  # fmt: skip
    made = "".join(json.dumps(row, ensure_ascii=language in ("fr", "ru", "ja", "ar")) + "\n" for row in rows)
    return made.encode(), [word for row in rows for pair in row.items() for word in pair]


def notebook(language: str) -> Made:
    said = report(language)
    rows = "\n".join(" ".join(row) for row in said.table)
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [f"# {said.title}\n", "\n", said.paragraphs[0]]},
        {"cell_type": "raw", "metadata": {}, "source": said.paragraphs[1]},
        {"cell_type": "markdown", "metadata": {}, "source": "\n".join(f"- {point}" for point in said.points)},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 1,
            "source": "print(table)",
            "outputs": [{"output_type": "stream", "name": "stdout", "text": rows.splitlines(keepends=True)}],
        },
    ]
    held = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(held).encode(), words_of(said)
