"""What is said of documents: its form, its bounds, front matter, and filters as text."""

from __future__ import annotations

from datetime import date
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.front_matter import read_front_matter
from agentic_rag.documents.metadata import (
    MAX_FIELDS,
    NO_CHANGE,
    Comparison,
    DocumentMetadata,
    FieldCondition,
    FieldType,
    FieldValue,
    MetadataChange,
    change_json,
    field_label,
    field_type,
    normalise_field,
    require_room,
    validate_change,
)
from agentic_rag.documents.where import (
    glob_pattern,
    literal_prefix,
    merge_filters,
    parse_where,
    split_words,
    where_terms,
)
from agentic_rag.kernel.errors import InvalidInput

WORKSPACE = UUID(int=7)


def test_a_change_is_stored_in_one_form() -> None:
    said = MetadataChange(
        title="As it is",
        tags=("HR", " hr ", "A  b"),
        domain="People Ops",
        language="de_AT",
        document_date=date(2024, 1, 31),
        fields={"n": 3.0, "s": " text ", "gone": None},
    )

    stored = validate_change(said)

    assert change_json(stored) == {
        "title": "As it is",
        "tags": ["a b", "hr"],
        "domain": "people ops",
        "language": "de-at",
        "date": "2024-01-31",
        "fields": {"n": 3, "s": "text", "gone": None},
    }
    assert stored.names == ("title", "tags", "domain", "language", "date", "fields.n", "fields.s", "fields.gone")
    assert NO_CHANGE.is_empty
    assert not stored.is_empty


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (MetadataChange(tags=("",)), ("tags", "0")),
        (MetadataChange(tags=("ok", "x" * 65)), ("tags", "1")),
        (MetadataChange(tags=tuple(map(str, range(51)))), ("tags",)),
        (MetadataChange(domain="a\x00b"), ("domain",)),
        (MetadataChange(language="german"), ("language",)),
        (MetadataChange(fields={"two words": 1}), ("fields",)),
        (MetadataChange(fields={"n": float("nan")}), ("fields", "n")),
        (MetadataChange(fields={"n": 1e16}), ("fields", "n")),
        (MetadataChange(fields={"s": "x" * 501}), ("fields", "s")),
        (MetadataChange(fields={f"f{n}": n for n in range(51)}), ("fields",)),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(change: MetadataChange, path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        validate_change(change, ("metadata",))

    assert (refused.value.code, refused.value.path) == ("METADATA_INVALID", ("metadata", *path))


def test_patches_do_not_exceed_the_number_of_fields() -> None:
    full = DocumentMetadata(fields={f"f{n}": n for n in range(MAX_FIELDS)})

    require_room(full, MetadataChange(fields={"f0": None, "new": 1}))
    with pytest.raises(InvalidInput, match="51"):
        require_room(full, MetadataChange(fields={"new": 1}))


@pytest.mark.parametrize(
    ("value", "kind", "label"),
    [
        ("core", FieldType.STRING, 'field.f="core"'),
        ('say "a\\b"', FieldType.STRING, r'field.f="say \"a\\b\""'),
        ("2024-02-30", FieldType.STRING, 'field.f="2024-02-30"'),
        ("2024-02-29", FieldType.DATE, 'field.f="2024-02-29"'),
        (True, FieldType.BOOLEAN, "field.f=true"),
        (3, FieldType.NUMBER, "field.f=3"),
        (1e-7, FieldType.NUMBER, "field.f=0.0000001"),
    ],
)
def test_values_have_types_and_labels(value: FieldValue, kind: FieldType, label: str) -> None:
    assert field_type(value) is kind
    assert field_label("f", value) == label


def test_front_matter_of_yaml() -> None:
    text = """---
title: "Leave"
tags: [HR, 'Leave policy']
date: 2024-03-01T08:00:00Z
lang: de-AT   # Austria
domain: people
team: core
version: 3
draft: false
summary: >
  folded text
nested:
  deep: 1
reviewers:
  - ada
  - bob
"two words": no
---
# Leave
"""

    assert read_front_matter(text) == MetadataChange(
        tags=("hr", "leave policy"),
        domain="people",
        language="de-at",
        document_date=date(2024, 3, 1),
        fields={"team": "core", "version": 3, "draft": False},
    )


def test_front_matter_of_toml_and_lists_in_lines() -> None:
    toml = '+++\ntags = ["a"]\ndate = 2024-03-01\nweight = 1.5\n[deep]\nx = 1\n+++\nText'
    lines = "---\nkeywords:\n  - One\n  - two\n---\n"

    assert read_front_matter(toml) == MetadataChange(
        tags=("a",), document_date=date(2024, 3, 1), fields={"weight": 1.5}
    )
    assert read_front_matter(lines) == MetadataChange(tags=("one", "two"))


@pytest.mark.parametrize(
    "text",
    ["", "# No front matter", "---\nnever closed: 1", "+++\nbroken = \n+++", "---\nlanguage: x y\ndate: soon\n---"],
)
def test_front_matter_that_does_not_fit_says_nothing(text: str) -> None:
    assert read_front_matter(text) == NO_CHANGE


@given(st.text(max_size=300))
def test_no_front_matter_hinders(text: str) -> None:
    for fence in ("---", "+++"):
        assert isinstance(read_front_matter(f"{fence}\n{text}\n{fence}"), MetadataChange)


def test_a_filter_reads_as_written() -> None:
    text = (
        'tag=a,b tag=c language=de date>2024-01-01 date<=2024-12-31 field.team=core,"3" field.n>=2.5 type=text/plain '
    )
    text += 'words="Annual REPORT",2023,annual'

    assert parse_where(text, WORKSPACE) == DocumentFilter(
        tags=(("a", "b"), ("c",)),
        languages=("de",),
        date_from=date(2024, 1, 2),
        date_to=date(2024, 12, 31),
        fields=(
            FieldCondition("team", Comparison.EQUALS, ("core", "3")),
            FieldCondition("n", Comparison.AT_LEAST, (2.5,)),
        ),
        media_types=("text/plain",),
        words=("annual", "report", "2023"),
    )
    assert parse_where("  ", WORKSPACE).is_empty


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tag", 4),
        ("tag=", 5),
        ("tag=a,", 7),
        ("=a", 1),
        ("tag=a colour=red", 7),
        ("tag>a", 4),
        ("date=soon", 6),
        ("date>9999-12-31", 6),
        ("date!=2024-01-01", 5),
        ("date=2024-01-01,2024-01-02", 17),
        ('tag="a', 5),
        ('tag="a"b', 8),
        ("tag=a language=german", 16),
        ("domain=a domain=b", 10),
        ("field.team>core", 12),
        ("field.n!=3", 8),
        ("field.=3", 1),
        ("id=nonsense", 4),
    ],
)
def test_a_broken_filter_says_where(text: str, place: int) -> None:
    with pytest.raises(InvalidInput, match=f"at character {place}:") as refused:
        parse_where(text, WORKSPACE)

    assert (refused.value.code, refused.value.path) == ("FILTER_INVALID", ("where",))


_DAYS = st.none() | st.dates()
_WORDS = st.text('abc ,"\\=*?.-é7', min_size=1, max_size=6)
_LABELS = _WORDS.map(lambda text: " ".join(text.split())).filter(bool)
_VALUES = (
    st.booleans() | st.integers(-99, 99) | st.floats(-9, 9).map(lambda one: round(one, 3)) | _WORDS.filter(str.strip)
)


@given(
    st.builds(
        DocumentFilter,
        document_ids=st.lists(st.uuids(), max_size=2).map(tuple),
        without_ids=st.lists(st.uuids(), max_size=2).map(tuple),
        media_types=st.lists(_WORDS, max_size=2).map(tuple),
        path_globs=st.lists(_WORDS, max_size=2).map(tuple),
        tags=st.lists(st.lists(_LABELS, min_size=1, max_size=2, unique=True).map(sorted).map(tuple), max_size=2).map(
            tuple
        ),
        domains=st.lists(_LABELS, max_size=2).map(tuple),
        languages=st.lists(st.sampled_from(["de", "de-at"]), max_size=2).map(tuple),
        words=st.lists(_WORDS, max_size=3).map(lambda words: split_words(" ".join(words))),
        date_from=_DAYS,
        date_to=_DAYS,
        fields=st.lists(
            st.builds(lambda value: FieldCondition("own_1", Comparison.EQUALS, (normalise_field(value),)), _VALUES),
            max_size=2,
        ).map(tuple),
    )
)
def test_a_filter_as_text_is_the_same_filter(wanted: DocumentFilter) -> None:
    assert parse_where(" ".join(where_terms(wanted, WORKSPACE)), WORKSPACE) == wanted


def test_filters_join_unless_both_name_the_same() -> None:
    one, other = (
        DocumentFilter(tags=(("a",),), date_from=date(2024, 1, 1)),
        DocumentFilter(tags=(("b",),), date_from=date(2023, 1, 1), domains=("x",)),
    )

    assert merge_filters(one, other) == DocumentFilter(
        tags=(("a",), ("b",)), date_from=date(2024, 1, 1), domains=("x",)
    )
    with pytest.raises(InvalidInput, match="domains"):
        merge_filters(other, other)


def test_a_literal_prefix_is_what_all_globs_begin_with() -> None:
    assert literal_prefix(("docs/a*.md", "docs/b/**")) == "docs/"
    assert literal_prefix(("docs/a", "**")) == ""
    assert glob_pattern("a.b/") == r"^a\.b/.*$"


@pytest.mark.parametrize("text", ["x" * 201, "a\0b", "\ud800"])
def test_words_that_no_title_holds_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        split_words(text, ("filter", "words"))

    assert (refused.value.code, refused.value.path) == ("FILTER_INVALID", ("filter", "words"))
