"""`knowledge.directories`: what is read of a settings file, and the line of what is wrong."""

import pytest

from agentic_rag.ingestion.sources.knowledge import (
    KnowledgeDirectory,
    ProjectIdentity,
    ProjectKnowledge,
    folders_of_project,
    folders_without_project,
    former_identities,
    parse_knowledge,
    place_of,
    require_own_name,
    source_name,
    validate_project,
)
from agentic_rag.kernel.errors import InvalidInput

SEED = """\
# agent/settings.yaml
model: {name: "x"}   # not ours
knowledge:
  templates:
    - name: own
  directories:
    - path: "agent/knowledge"
      domain: "knowledge"
      description: "Project knowledge base"   # shown in lists
    - path: agent/how-to/
      domain: 'workflow'

    - docs/explanation
other:
  - a
"""


def test_the_folders_of_a_project_are_read() -> None:
    assert parse_knowledge(SEED).directories == (
        KnowledgeDirectory("agent/knowledge", "knowledge", "Project knowledge base"),
        KnowledgeDirectory("agent/how-to", "workflow", ""),
        KnowledgeDirectory("docs/explanation", "knowledge", ""),
    )


@pytest.mark.parametrize(
    "text", ["", "model: x\n", "knowledge:\n", "knowledge:\n  templates: []\n", "---\n# nothing\n"]
)
def test_a_file_that_says_nothing_of_folders_leaves_the_defaults(text: str) -> None:
    assert parse_knowledge(text) == ProjectKnowledge()


def test_keys_of_other_tools_are_passed_over() -> None:
    text = "knowledge_base: x\nknowledge:\n  project_path: y\n  enabled: true\n  directories:\n    - docs\n"

    assert parse_knowledge(text).directories == (KnowledgeDirectory("docs"),)


def test_an_empty_list_means_no_folder() -> None:
    assert parse_knowledge("knowledge:\n  directories: []\n").directories == ()


def test_a_list_may_stand_at_the_depth_of_its_key() -> None:
    assert parse_knowledge("knowledge:\n  directories:\n  - path: a\n    domain: b\n").directories == (
        KnowledgeDirectory("a", "b"),
    )


def test_a_project_may_have_a_name() -> None:
    assert parse_knowledge("knowledge:\n  project: 'the shop'  # ours\n") == ProjectKnowledge("the shop")
    assert parse_knowledge("knowledge:\n  directories:\n    - a\n  project: shop\n").project == "shop"


@pytest.mark.parametrize("name", ["", "a/b", " a", "a ", "a\nb", "x" * 101])
def test_a_name_that_a_source_cannot_carry_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        validate_project(name)

    assert wrong.value.code == "SETTINGS_FILE_INVALID"


def test_the_sources_of_projects_are_told_from_each_other_and_from_those_of_before() -> None:
    shop = ProjectIdentity("shop")
    sources = ["directory:/a", "knowledge:a", "project:shop/b", source_name(shop, "a/b"), "project:shopping/a"]

    assert folders_of_project(sources, shop) == ["a/b", "b"]
    assert folders_without_project(sources) == ["a"]


HEAD = "knowledge:\n  directories:\n"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (f"{HEAD}    - path: a\n      domian: b\n", 4, "domian"),
        (f"{HEAD}\t- path: a\n", 3, "tab"),
        (f"{HEAD}    - domain: b\n", 3, "names no `path`"),
        (f"{HEAD}    - path: /etc\n", 3, "not relative"),
        (f"{HEAD}    - path: ../up\n", 3, "not relative"),
        (f"{HEAD}    - path: a\n    - path: a/\n", 4, "twice"),
        (f"{HEAD}    - path: a\n      path: b\n", 4, "twice"),
        (f'{HEAD}    - path: "a\n', 3, "do not close"),
        (f"{HEAD}    - path: a\n      description: |\n        long\n", 4, "not read here"),
        (f"{HEAD}    path: a\n", 3, "begins with a dash"),
        (f"{HEAD}    - path: a\n     domain: b\n", 4, "not indented"),
        (f"{HEAD}    - path: a\n    domain: b\n", 4, "not indented"),
        (f"{HEAD}    -\n      path: a\n        domain: b\n", 5, "not indented"),
        (f"{HEAD}    - path: a\n   - path: b\n", 4, "dash"),
        (f"{HEAD}    - path: a\n      - path: b\n", 4, "dash"),
        ("knowledge:\n  directories: here\n", 2, "lines of their own"),
        ("knowledge:\n  project: a/b\n", 2, "names no project"),
        ("knowledge:\n  project:\n", 2, "names no project"),
        ("knowledge\n", 1, "key: value"),
        ("knowledge:\n  directories:\n    - a\nknowledge:\n", 4, "twice"),
        ("knowledge:\n  directory:\n    - docs\n", 2, "`directory` is not read; write `directories`"),
        ("agent: x\nknowlege:\n  project: sea\n", 2, "`knowlege` is not read; write `knowledge`"),
        ("knowledge:\n  projet: sea\n", 2, "`projet` is not read; write `project`"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as wrong:
        parse_knowledge(text, "agent/settings.yaml")

    assert wrong.value.code == "SETTINGS_FILE_INVALID"
    assert f"agent/settings.yaml, line {line}:" in wrong.value.message


HERE, ELSEWHERE = place_of("/home/ada/shop"), place_of("/home/bob/shop")


@pytest.mark.parametrize(
    ("held", "is_refused"),
    [
        ([], False),
        (["directory:/shop/a", "project:shopping/a", f"checkout:shops/{ELSEWHERE}/a"], False),
        ([f"checkout:shop/{HERE}/a"], False),
        ([f"checkout:shop/{HERE}/a", f"checkout:shop/{ELSEWHERE}/a"], False),
        ([f"checkout:shop/{ELSEWHERE}/a"], True),
        (["project:shop/a"], True),
    ],
)
def test_a_name_that_nobody_stated_is_refused_where_another_project_has_it(held: list[str], is_refused: bool) -> None:
    require_own_name(held, ProjectIdentity("shop"))
    if not is_refused:
        require_own_name(held, ProjectIdentity("shop", HERE))
        return
    with pytest.raises(InvalidInput) as refused:
        require_own_name(held, ProjectIdentity("shop", HERE))
    assert refused.value.code == "PROJECT_AMBIGUOUS"


def test_a_project_with_a_stated_name_goes_on_with_what_came_before_it_was_stated() -> None:
    held = [f"checkout:shop/{ELSEWHERE}/a", f"checkout:old/{HERE}/b", f"checkout:old/{HERE}/c", "project:shop/a"]
    held += [f"checkout:bank/{ELSEWHERE}/a"]

    assert former_identities(held, ProjectIdentity("shop"), HERE) == (
        ProjectIdentity("old", HERE),
        ProjectIdentity("shop", ELSEWHERE),
    )
    assert former_identities(held, ProjectIdentity("shop", HERE), HERE) == ()
