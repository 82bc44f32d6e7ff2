"""Laws of the reports by profile, and cases in which their rules end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import Chunk
from agentic_rag.operations.profiles.code import DriftKind, report_code
from agentic_rag.operations.profiles.lists import valences, word_lists
from agentic_rag.operations.profiles.marketing import evenness, report_marketing
from agentic_rag.operations.profiles.pins import is_older, read_pins
from agentic_rag.operations.profiles.texts import ReportedText, join_chunks
from agentic_rag.operations.profiles.tone import tone_of

BRANDS = ("Acme", "Globex", "Blue Kite")
SAID = st.lists(
    st.sampled_from(
        [
            "Acme is good.",
            "Globex is not good.",
            "Blue\nKite, ACME and acme!",
            "Acmeology is a word.",
            "Buy now!",
            "Rain.",
        ]
    ),
    max_size=6,
).map(" ".join)
TEXTS = st.lists(st.tuples(SAID, st.sampled_from([None, "http://a.example/", "http://b.example/x"])), max_size=6)


def made(path: str, text: str, url: str | None = None, media_type: str = "text/markdown") -> ReportedText:
    return ReportedText(UUID(int=hash(path) % 2**64), path, url, media_type, text, [(0, 1)])


def texts_of(said: Sequence[tuple[str, str | None]]) -> list[ReportedText]:
    return [made(f"{at}.md", text, url) for at, (text, url) in enumerate(said)]


def sources(**files: str) -> list[ReportedText]:
    return [made(path.replace("__", "/").replace("_", "."), text) for path, text in files.items()]


@given(TEXTS)
def test_shares_sum_to_one_or_to_nothing_and_each_sentence_has_one_tone(said: list[tuple[str, str | None]]) -> None:
    found = report_marketing(texts_of(said), BRANDS)

    total = sum(one.mentions for one in found.brands)
    assert math.fsum(one.share for one in found.brands) == pytest.approx(1.0 if total else 0.0)
    for one in found.brands:
        assert one.documents <= one.positive + one.negative + one.neutral + one.other_language <= one.mentions
    assert found.undisclosed <= found.promotional <= found.documents


@given(TEXTS, st.randoms())
def test_the_order_of_the_texts_decides_nothing(said: list[tuple[str, str | None]], random: object) -> None:
    texts = texts_of(said)
    shuffled = list(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert report_marketing(shuffled, BRANDS) == report_marketing(texts, BRANDS)
    assert report_code(shuffled) == report_code(texts)


@given(st.lists(st.integers(0, 1_000), max_size=12))
def test_evenness_lies_between_nought_and_one_and_is_one_where_all_are_equal(counts: list[int]) -> None:
    found = evenness(counts)

    assert 0 <= found <= 1
    assert found == pytest.approx(evenness(sorted(counts)))
    assert evenness([7] * len(counts)) == pytest.approx(1.0 if len(counts) > 1 else 0.0)


@given(st.lists(st.sampled_from(sorted(valences())[::50]), max_size=30).map(" ".join))
def test_a_tone_lies_between_its_ends_and_a_negation_turns_it(said: str) -> None:
    found = tone_of(said)

    assert -1 < found.compound < 1
    assert not found.words or len(found.words) <= len(said.split())


def test_a_negation_turns_a_word_and_is_none_itself() -> None:
    assert tone_of("It is good.").compound > 0.05
    assert tone_of("It is not very good.").compound < -0.05
    assert tone_of("It isn’t good.").compound < -0.05
    assert tone_of("No, never.").compound == 0
    assert tone_of("Not that we know of, and yet the pump is good.").compound > 0.05


@pytest.mark.parametrize(
    ("sentence", "compound"),
    # "good" is rated 1.9: 1.9 / √(1.9² + 15), and the same of −0.74 · 1.9.
    [("It is good.", 0.4404), ("It is not good.", -0.3412), ("It is not at all good.", -0.3412), ("It is red.", 0.0)],
)
def test_a_tone_is_what_its_formula_says(sentence: str, compound: float) -> None:
    assert tone_of(sentence).compound == pytest.approx(compound, abs=1e-4)


def test_the_tone_of_a_brand_is_not_that_of_its_name() -> None:
    [voice] = report_marketing([made("a", "Best Buy opens at nine.")], ["Best Buy"]).brands
    assert (voice.mentions, voice.neutral) == (1, 1)


@pytest.mark.parametrize(
    ("text", "tone"),
    [
        ("Die Drachen von Acme sind ausgezeichnet.", None),
        ("Wir lieben sie, denn sie sind nicht schlecht und fliegen bei jedem Wind. Acme war super!", None),
        ("Les cerfs-volants de Acme sont les pires.", None),
        ("The kites that Acme makes will die.", -1),
        ("Acme is wonderful.", 1),
        ("Acme wonderful!", 1),
    ],
)
def test_tone_is_read_in_english_alone(text: str, tone: int | None) -> None:
    # "Die" was a bad word, and a German article made every sentence a complaint.
    [voice] = report_marketing([made("a.md", text)], ["Acme"]).brands
    [said] = voice.sentences

    assert said.compound is None if tone is None else said.compound is not None and said.compound * tone > 0.05
    assert voice.other_language == (tone is None)
    assert voice.positive + voice.negative + voice.neutral == (tone is not None)


@pytest.mark.parametrize(("apart", "undisclosed"), [(980, 0), (1_020, 1)])
def test_a_label_counts_near_what_sells_or_at_the_top(apart: int, undisclosed: int) -> None:
    far = "x " * 1_000
    for text in (f"{far}Sponsored{' ' * apart}Buy now", f"{far}Buy now{' ' * apart}Sponsored"):
        assert report_marketing([made("a", text)], ["Acme"]).undisclosed == undisclosed
    assert report_marketing([made("a", f"Sponsored {far} Buy now")], ["Acme"]).undisclosed == 0
    assert report_marketing([made("a", f"Sponsored Buy now {far} Order now {far}")], ["Acme"]).undisclosed == 0
    assert report_marketing([made("a", f"Advertisements work. {far} 20 % off")], ["Acme"]).undisclosed == 1


def test_word_lists_hold_no_phrase_twice() -> None:
    for phrases in word_lists().values():
        assert len({one.casefold() for one in phrases}) == len(phrases)
    assert word_lists()["promotional"]
    assert not {*word_lists()["promotional"]} & {*word_lists()["disclosure"]}


@given(st.text(max_size=200), st.integers(1, 40), st.integers(0, 20))
def test_passages_that_repeat_each_other_join_to_their_text(text: str, size: int, overlap: int) -> None:
    starts = range(0, len(text), size)
    chunks = [
        Chunk(
            at, UUID(int=at), UUID(int=1), UUID(int=2), at, text[start : start + size + overlap], start,
            min(len(text), start + size + overlap), None, text.count("\n", 0, start) + 1, 1, (), "T", "a.md", None,
            "text/plain",
        )
        for at, start in enumerate(starts)
    ]  # fmt: skip
    joined = join_chunks(chunks)

    assert [one.text for one in joined] == ([text] if text else [])
    for one in joined:
        for at in range(len(text)):
            assert one.place(at, at + 1).line == text.count("\n", 0, at) + 1


@pytest.mark.parametrize(
    ("path", "text", "pins"),
    [
        ("a/requirements-dev.txt", "Foo_Bar[x]==1.2 ; python_version > '3'\nbaz>=2\nqux\n# old==1\n",
         {("foo-bar", "1.2", True), ("baz", "2", False)}),
        ("pyproject.toml", '[project]\ndependencies = ["a~=1.4", "b"]\n[dependency-groups]\ndev = ["c==3.0"]\n',
         {("a", "1.4", False), ("c", "3.0", True)}),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.11"\nd = "^2.1"\ne = {version = "~1.0"}\n',
         {("d", "2.1", False), ("e", "1.0", False)}),
        ("package.json", '{"dependencies": {"x": "^1.2.3", "y": "4.0.0", "z": "git+ssh://h/z"}}',
         {("x", "1.2.3", False), ("y", "4.0.0", True)}),
        ("package-lock.json", '{"packages": {"": {"version": "1"}, "node_modules/x": {"version": "1.2.4"}, '
         '"node_modules/x/node_modules/y": {"version": "9"}}}', {("x", "1.2.4", True)}),
        ("Cargo.toml", '[dependencies]\nserde = "1.0"\ntokio = { version = "=1.38" }\n',
         {("serde", "1.0", False), ("tokio", "1.38", True)}),
        ("Cargo.lock", '[[package]]\nname = "serde"\nversion = "1.0.3"\n', {("serde", "1.0.3", True)}),
        ("go.mod", "module x.org/m\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\nrequire c.org/d v0.1.0\n",
         {("github.com/a/b", "1.2.3", False), ("c.org/d", "0.1.0", False)}),
        ("setup.py", "a==1", set()),
    ],
)  # fmt: skip
def test_manifests_and_locks_are_read(path: str, text: str, pins: set[tuple[str, str, bool]]) -> None:
    assert {(one.package, one.version, one.is_exact) for one in read_pins(path, text)} == pins


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "package-lock.json", "Cargo.lock", "uv.lock"])
@given(text=st.text(max_size=60) | st.sampled_from(["[]", "[1]", '{"dependencies": [1]}', "package = 1", "a = [[1]]"]))
def test_no_manifest_raises_anything_but_that_it_is_none(name: str, text: str) -> None:
    try:
        read_pins(name, text)
    except ValueError:
        return


@pytest.mark.parametrize(
    ("version", "other", "older"),
    [("1.2", "1.10", True), ("2", "2.31", False), ("2.31", "2", False), ("1.9.9", "2", True), ("1.0rc1", "1.0", False)],
)
def test_versions_are_compared_by_the_numbers_that_both_state(version: str, other: str, older: bool) -> None:
    assert is_older(version, other) is older


def test_drift_is_told_only_of_versions_that_are_apart() -> None:
    apart = report_code(
        sources(requirements_txt="a==1.0\nb>=2.0\nc==1", uv_lock='[[package]]\nname="a"\nversion="1.0"')
    )
    assert apart.drift == ()

    two = report_code(sources(x__requirements_txt="a==1.0", y__requirements_txt="a==1.1"))
    assert [(one.kind, one.used, one.stated) for one in two.drift] == [(DriftKind.MANIFESTS, "1.0", "1.1")]

    named = report_code(
        sources(requirements_txt="click==8.1\nclick-log==0.3", guide_md="click 8.0; click-log 0.4; Click v8.2")
    )
    assert [(one.package, one.stated) for one in named.drift] == [("click-log", "0.4"), ("click", "8.2")]


def test_a_report_of_tests_resolves_no_entity_and_counts_each_case_once() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><testsuite><testcase name="&c;"><error/></testcase>'
    found = report_code([made("r.xml", bomb)])

    assert [one.name for one in found.failed] == ["&c;"]
    assert report_code([made("r.xml", "<testcase name='a'><failure/>")]).test_cases == 0
