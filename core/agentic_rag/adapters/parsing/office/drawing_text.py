"""What drawings of Office Open XML say (ECMA-376 Part 1, 20 and 21): paragraphs, alternative texts and charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.office.package import OFFICE
from agentic_rag.adapters.parsing.text.formulas import formula_text, local_name
from agentic_rag.adapters.parsing.text.number_formats import number_text
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.kernel.text import strip_unstorable

_TEXT = f"{{{OFFICE}/drawingml/2006/main}}"
_CHART = f"{{{OFFICE}/drawingml/2006/chart}}"
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?")
_SPACE = re.compile(r"[^\S\n]+")
_NOT_STRUCK = "noStrike"
_LEAST_WORDS = 3
"""Words of a picture's alternative text; fewer name a sign or a logo."""
_GUESSED = re.compile(r"automatically generated|AI-generated content", re.IGNORECASE)
"""What a program says of the texts that it wrote about a picture by itself."""
_FILE_NAME = re.compile(r"\S*[/\\]|.*\.(?:png|jpe?g|gif|bmp|tiff?|svg|webp|emf|wmf)", re.IGNORECASE)
_FURTHER = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
"""Charts of the kinds that Office 2016 brought: treemaps, waterfalls, funnels."""


@dataclass(frozen=True, slots=True)
class ChartData:
    """What a chart shows: its title with what its axes measure, and a row a category under the names of its series."""

    caption: str
    rows: Sequence[Sequence[str]]


def shown_elements(tree: Element) -> Iterator[Element]:
    """The elements of a part in their order, without the second copies for older programs."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in reversed(node) if local_name(child) != "Fallback"]


def paragraphs(shape: Element) -> Iterator[str]:
    """The paragraphs of a shape, each on the lines that it has; blank ones are left out."""
    for paragraph in shown_elements(shape):
        if paragraph.tag != f"{_TEXT}p":
            continue
        pieces = [""]
        for piece in paragraph:
            pieces.append(_run(piece, pieces[-1]))
        line = _SPACE.sub(" ", strip_unstorable("".join(pieces))).strip()
        if line:
            yield line


def _run(piece: Element, before: str) -> str:
    """The text of a run, a field or a formula, empty where it is struck out; that of a line break is the break."""
    if piece.tag == f"{_TEXT}br":
        return "\n"
    formulas = [one for one in shown_elements(piece) if local_name(one) == "oMath"]
    if formulas:
        return " ".join(map(formula_text, formulas))
    text = "".join(one.text or "" for one in piece.iter(f"{_TEXT}t"))
    properties = piece.find(f"{_TEXT}rPr")
    if properties is None:
        return text
    if properties.get("strike", _NOT_STRUCK) != _NOT_STRUCK:
        return ""
    baseline = properties.get("baseline", "0")
    if baseline.strip("0%") == "":
        return text
    return shifted_text(text, Shift.LOWERED if baseline.startswith("-") else Shift.RAISED, before)


def alternative_text(stated: str) -> str:
    """What is said of a picture: empty where that is a name, a file, or a program's own guess."""
    text = " ".join(strip_unstorable(stated).split())
    named = len(text.split()) < _LEAST_WORDS or _FILE_NAME.fullmatch(text) is not None
    return "" if named or _GUESSED.search(text) is not None else f"Picture: {text}"


def alternative_texts(tree: Element) -> list[str]:
    """What a drawing says of its pictures and charts (the attribute `descr`)."""
    return [text for one in shown_elements(tree) if (text := alternative_text(one.get("descr", "")))]


def chart_data(chart: Element) -> ChartData:
    """The figures behind a chart, as the program stored them when it drew it."""
    if chart.tag.startswith(_FURTHER):
        return _further_chart(chart)
    series = list(chart.iter(f"{_CHART}ser"))
    names = [" ".join(_points(one.find(f"{_CHART}tx")).values()) for one in series]
    categories = next(filter(None, (_points(_first(one, "cat", "xVal")) for one in series)), dict[int, str]())
    columns = [_points(_first(one, "val", "yVal")) for one in series]
    places = sorted({*categories}.union(*columns))
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    titles = [one.find(f"{_CHART}title") for one in chart.iter() if one.tag in (f"{_CHART}chart", *_AXES)]
    return ChartData(_caption([_title(one) for one in titles]), [["", *names], *rows] if rows else [])


_AXES = tuple(f"{_CHART}{name}" for name in ("catAx", "valAx", "dateAx", "serAx"))


def _caption(titles: Sequence[str]) -> str:
    """The title, then the titles of the axes in brackets."""
    axes = "; ".join(dict.fromkeys(filter(None, titles[1:])))
    title = titles[0] if titles else ""
    return f"{title} ({axes})".strip() if axes else title


def _title(title: Element | None) -> str:
    """A title that was written, else one that a cell holds."""
    if title is None:
        return ""
    return " ".join(paragraphs(title)) or " ".join(_points(title.find(f"{_CHART}tx")).values())


def _further_chart(chart: Element) -> ChartData:
    names = [
        " ".join(one.itertext()).strip()
        for series in chart.iter(f"{_FURTHER}series")
        for one in series.findall(f"{_FURTHER}tx/{_FURTHER}txData/{_FURTHER}v")
    ]
    columns: list[dict[int, str]] = []
    for held in chart.iter(f"{_FURTHER}data"):
        for size, dimension in enumerate(held):
            levels = dimension.findall(f"{_FURTHER}lvl")
            if size == 0 and columns:
                continue
            columns += [
                {int(one.get("idx", "0")): " ".join((one.text or "").split()) for one in level.iter(f"{_FURTHER}pt")}
                for level in reversed(levels)
            ]
    places = sorted(set[int]().union(*columns))
    head = ["" for _ in columns]
    head[len(columns) - len(names) :] = names[: len(columns)]
    titles = [" ".join(paragraphs(one)) for one in chart.iter(f"{_FURTHER}title")]
    rows = [[column.get(place, "") for column in columns] for place in places]
    return ChartData(_caption(titles), [head, *rows] if rows else [])


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := series.find(f"{_CHART}{name}")) is not None), None)


def _points(held: Element | None) -> dict[int, str]:
    """By place: the values of the innermost level of a stored list."""
    if held is None:
        return {}
    level, code = held.find(f".//{_CHART}lvl"), held.findtext(f".//{_CHART}formatCode", "")
    return {
        int(point.get("idx", "0")): _value_text(point.findtext(f"{_CHART}v", ""), code)
        for point in (held if level is None else level).iter(f"{_CHART}pt")
    }


def _value_text(stored: str, code: str) -> str:
    text = " ".join(strip_unstorable(stored).split())
    return number_text(float(text), code) if code and _NUMBER.fullmatch(text) else text
