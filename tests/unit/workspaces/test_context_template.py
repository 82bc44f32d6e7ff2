"""Templates that a workspace keeps: what they may hold, and their versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.workspaces.context_template import (
    KEPT_VERSIONS,
    MAX_NAMES,
    TEMPLATES,
    ContextTemplate,
    add_template,
    drop_template,
    find_template,
    template_from,
)

RULES = ContextTemplate("rules", "## Rules of {agent}", item="> {text}")


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"heading": "## {agnet}"}, "heading"),
        ({"heading": "## {text}"}, "heading"),
        ({"heading": "x" * 501}, "heading"),
        ({"heading": "a\0b"}, "heading"),
        ({"heading": "\ud800"}, "heading"),
        ({"opening": "{agent}"}, "opening"),
        ({"joint": "{source}"}, "joint"),
        ({"item": "{source}"}, "item"),
        ({"item": "{text}{text}"}, "item"),
        ({"item": "{text} {page}"}, "item"),
        ({"name": "Rules"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "rules@2"}, "name"),
        ({"item_characters": 0}, "itemCharacters"),
        ({"tokens": 64_001}, "maxTokens"),
    ],
)
def test_what_a_template_may_not_hold_is_refused_with_its_place(changed: dict[str, Any], part: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        replace(RULES, **changed)

    assert (refused.value.code, refused.value.path) == ("TEMPLATE_INVALID", (part,))


def test_a_budget_below_the_heading_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        replace(RULES, tokens=3)

    assert refused.value.code == "CONTEXT_BUDGET_TOO_SMALL"


def test_braces_that_are_no_placeholder_stay() -> None:
    assert replace(RULES, heading="{} {0} { agent } {agent}").start("A") == "{} {0} { agent } A"


def test_saving_makes_a_version_unless_nothing_changed() -> None:
    own = add_template((), RULES)
    again = add_template(own, RULES)
    changed = add_template(again, replace(RULES, heading="## Rules"))

    assert own == again
    assert [one.version for one in changed] == [1, 2]
    assert find_template("rules", changed).heading == "## Rules"
    assert find_template("rules@1", changed).heading == "## Rules of {agent}"
    assert find_template("team_guidelines", changed) is TEMPLATES["team_guidelines"]


def test_the_last_versions_are_kept_and_numbers_go_on() -> None:
    own = tuple[ContextTemplate, ...]()
    for number in range(KEPT_VERSIONS + 5):
        own = add_template(own, replace(RULES, heading=f"## {number}"))

    assert [one.version for one in own] == list(range(6, KEPT_VERSIONS + 6))


@pytest.mark.parametrize("name", ["rules@9", "rules@x", "other", ""])
def test_what_is_not_there_is_unknown(name: str) -> None:
    own = add_template((), RULES)

    with pytest.raises(InvalidInput) as refused:
        find_template(name, own)

    assert refused.value.code == "TEMPLATE_UNKNOWN"
    assert "rules" in refused.value.message


def test_the_name_of_a_built_in_one_and_too_many_are_refused() -> None:
    full = tuple(replace(RULES, name=f"rules-{number}") for number in range(MAX_NAMES))

    for own, name in (((), "team_guidelines"), (full, "rules")):
        with pytest.raises(InvalidInput) as refused:
            add_template(own, replace(RULES, name=name))
        assert refused.value.code == "TEMPLATE_INVALID"
    assert len(add_template(full, replace(RULES, name="rules-3", heading="## New"))) == MAX_NAMES + 1


def test_dropping_takes_every_version() -> None:
    own = add_template(add_template((), RULES), replace(RULES, heading="## New"))

    assert drop_template(own, "rules") == ()
    with pytest.raises(NotFound) as missing:
        drop_template((), "rules")
    assert missing.value.code == "TEMPLATE_NOT_FOUND"


def test_only_what_is_given_is_fixed() -> None:
    given: dict[str, Any] = {
        "item": "{text}", "opening": "\n", "joint": "\n", "min_similarity": None, "item_characters": None,
        "max_tokens": 500,
    }  # fmt: skip

    assert not template_from("rules", "## Rules", top_k=None, **given).is_fixed
    fixed = template_from("rules", "## Rules", top_k=2, **given)
    assert (fixed.is_fixed, fixed.config.top_k, fixed.config.similarity_threshold) == (True, 2, 0.7)
