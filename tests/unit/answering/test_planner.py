import pytest

from agentic_rag.answering.plan import AnswerType, SubQuestion, ToolRequest
from agentic_rag.answering.query.planner import (
    FINDING_PLACEHOLDER,
    detect_answer_type,
    may_need_steps,
    plan_question,
)
from agentic_rag.answering.query.rewrite import fill_placeholder
from agentic_rag.answering.tools.calc import find_arithmetic
from agentic_rag.answering.tools.lookup import Lookup


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("What is 12.5 % of 48,000?", "12.5 % of 48,000"),
        ("How much is 17 times 23?", "17 * 23"),
        ("calculate (3 + 4) * 2", "(3 + 4) * 2"),
        ("What is 15 percent of 80?", "15 % of 80"),
        ("2+2", "2+2"),
        ("what is 9 squared minus 1?", "9 ^2 - 1"),
        ("What is \u0663 plus \u0664?", "\u0663 + \u0664"),
    ],
)
def test_a_question_that_is_all_arithmetic_goes_to_calc(question: str, expression: str) -> None:
    made = plan_question(question)
    assert made.answer_type is AnswerType.CALCULATION
    assert made.tools == (ToolRequest("calc", expression),)


@pytest.mark.parametrize(
    "question",
    ["What happened on 2024-03-27?", "2024-03-27", "What is 5?", "How tall is tower 12?", "2019/2020", "24", "x + y"],
)
def test_figures_alone_make_no_calculation(question: str) -> None:
    assert find_arithmetic(question) is None


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many turbines are there?", AnswerType.FIGURE),
        ("What is the maximum wave height?", AnswerType.FIGURE),
        ("What is the fee for members?", AnswerType.FIGURE),
        ("What is the deposit for?", AnswerType.FACT),
        ("What is the salary scale called?", AnswerType.FACT),
        ("What does it cost members to join?", AnswerType.FIGURE),
        ("When was the site commissioned?", AnswerType.DATE),
        ("In which year did it open?", AnswerType.DATE),
        ("Who manages the site?", AnswerType.PERSON),
        ("List the suppliers", AnswerType.LIST),
        ("Is a permit required?", AnswerType.YES_NO),
        ("Why did it trip?", AnswerType.FACT),
    ],
)
def test_the_wording_says_what_kind_of_answer_is_asked_for(question: str, kind: AnswerType) -> None:
    assert detect_answer_type(question) is kind


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Show document Marine access policy", "Marine access policy"),
        ("what is in the file glossary.md?", "glossary.md"),
        ('Open the document "Staff handbook"', "Staff handbook"),
        ("show me turbine-spec.pdf", "turbine-spec.pdf"),
        ("What does the staff handbook say about leave?", None),
        ("Show the wave limits for crew transfer", None),
    ],
)
def test_only_a_document_named_outright_is_looked_up(question: str, name: str | None) -> None:
    assert Lookup().wanted(question) == (() if name is None else (name,))


def test_a_comparison_has_a_part_for_each_side() -> None:
    made = plan_question("What is the difference between the Kelpie 600 and the Selkie 1200 in rotor diameter?")
    assert made.answer_type is AnswerType.COMPARISON
    assert [part.text for part in made.sub_questions] == [
        "Kelpie 600 in rotor diameter",
        "Selkie 1200 in rotor diameter",
    ]


def test_which_of_two_has_a_part_for_each() -> None:
    made = plan_question("Which repair cost more, that of SKN-03 or that of the Brannoch Sound cable?")
    assert made.answer_type is AnswerType.COMPARISON
    assert [part.text for part in made.sub_questions] == [
        "Which repair cost more: SKN-03?",
        "Which repair cost more: Brannoch Sound cable?",
    ]


def test_two_questions_in_one_are_two_parts_and_a_pronoun_waits_for_the_first() -> None:
    made = plan_question("When was Otter Voe commissioned and who manages it?")
    assert made.sub_questions == (
        SubQuestion("When was Otter Voe commissioned?"),
        SubQuestion("who manages it?", depends_on=(0,)),
    )


def test_a_relative_clause_is_a_step_for_a_model_only() -> None:
    question = "Who manages the site whose export cable was crushed by an anchor?"
    assert plan_question(question).sub_questions == (SubQuestion(question),)
    assert may_need_steps(question)
    assert not may_need_steps("Who manages the site?")


@pytest.mark.parametrize(
    "question",
    [
        "What are the rules for food and drink?",
        "What is the name of the trawler that damaged the cable?",
        "Which cable and anchor were used?",
        "Which pass mark applies to the written paper for people who isolate plant?",
        "At what temperature and for how long is resin cured?",
        "What is the reduction under the revised WHO definition of pneumonia?",
    ],
)
def test_what_only_looks_like_parts_stays_whole(question: str) -> None:
    assert plan_question(question).sub_questions == (SubQuestion(question),)


def test_tools_can_be_switched_off() -> None:
    assert plan_question("What is 2 + 2?", use_tools=False).tools == ()


def test_a_later_part_is_filled_with_what_was_found() -> None:
    assert (
        fill_placeholder(SubQuestion(f"Who manages {FINDING_PLACEHOLDER}?", (0,)), ["Brannoch Sound"])
        == "Who manages Brannoch Sound?"
    )
    assert fill_placeholder(SubQuestion("who manages it?", (0,)), ["Otter Voe"]) == "who manages it (Otter Voe)?"
    assert fill_placeholder(SubQuestion("who manages it?", (0,)), []) == "who manages it?"
