"""Who does something is not who it is done to: the insured is no answer to a question for the insurer."""

from __future__ import annotations

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_other_things import is_other

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.extraction.term_matching import mask_of, weigh_terms

ESTIMATE = "Estimate\n\nInsured name | Bruce Wayne\nPolicy # | IM-BATMAN\nModel | Batmobile"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the insurer of the Batmobile?", "Insured name Bruce Wayne"),
        ("Who is the insurer of the Batmobile?", "Insured | Bruce Wayne"),
        ("Who insures the Batmobile?", "Insured name Bruce Wayne"),
        ("Which insurance company insures the Batmobile?", "Insured | Bruce Wayne"),
        ("Who is insured?", "The insurer is Acme Ltd."),
        ("Who employs Olaf Berg?", "The employee is Olaf Berg of Halden."),
        ("Who is employed by Halden?", "The employer is Halden Ltd."),
        ("Which company is the insurer?", "The insured is Acme Ltd."),
        ("What is the insurer's phone number?", "The insured, Bruce Wayne, has the number 416 555 1234."),
        ("Who is the insured?", "The insurer is Acme Ltd."),
        ("Who is the employer of Olaf Berg?", "The employee is Olaf Berg of Halden."),
        ("Who is the employee?", "The employer is Halden Ltd."),
        ("What is the address of the lessor?", "The lessee lives in Nordby, 4 Main Street."),
        ("Who is the payer?", "Payee: Nora Vik"),
        ("Name of the payee?", "Payer: Nora Vik"),
    ],
)
def test_the_opposite_role_of_a_verb_is_another_thing(question: str, text: str) -> None:
    assert is_other(question, text, title="Batmobile of Olaf Berg")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the insurer of the Batmobile?", "The Batmobile is insured by Acme Ltd."),
        ("Who is the insurer of the Batmobile?", "Insured by: Acme Ltd."),
        ("Who is the insurer of the Batmobile?", "Insured: Bruce Wayne, insurance: Acme Ltd."),
        ("Who is the insurer?", "The insurer pays the insured."),
        ("Who insures the Batmobile?", "The insured has a contract with the insurer Acme Ltd."),
        ("Who insured the Batmobile?", "Acme Ltd. insured the Batmobile in 2019."),
        ("Who approved the estimate?", "Approved: Ann Lee"),
        ("Who pays the employees?", "The employees are paid by Halden Ltd."),
        ("Who is the insurer?", "Acme Ltd. insured the Batmobile in 2019."),
        ("Who is the founder?", "Founded: 1998 by Ann Lee"),
        ("Who is the owner of the yacht?", "The yacht is owned by Ann Lee."),
        ("Who is the inspector?", "Inspected: Ann Lee, 4 May"),
        ("Who is the manager of the managed fund?", "The managed fund is led by Ann Lee."),
        ("Who is the guarantor?", "The guarantee is given by Acme Bank."),
        ("How many days of holiday does the employer give?", "Employees have 25 days of holiday."),
        ("Who is the employer of the employee Olaf Berg?", "The employee Olaf Berg works for Halden Ltd."),
        ("What is the employer obliged to do?", "Employees are given gloves."),
    ],
)
def test_a_verb_of_the_role_or_the_role_itself_is_none(question: str, text: str) -> None:
    assert not is_other(question, text, title="Batmobile of Olaf Berg")


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("insurer", "insured name: bruce wayne", False),
        ("insurer", "the insured shall pay.", False),
        ("insurer", "it is insured by acme", True),
        ("insurer", "the insurance", True),
        ("manag", "he managed the fund", True),
        ("employe", "two employers", False),
        ("employe", "two employees", True),
        ("paye", "the payer", False),
        ("lesse", "the lesser one", False),
        ("make", "the maker", True),
    ],
)
def test_a_term_is_not_found_in_the_opposite_role(term: str, text: str, found: bool) -> None:
    assert bool(mask_of(text, weigh_terms([term], {}))) is found


async def test_a_form_that_names_the_insured_does_not_say_who_insures() -> None:
    corpus = Corpus()
    corpus.add("repair.pdf", "Repair", ESTIMATE, whole=True)

    answer = (await World(corpus).ask("Who is the insurer of the Batmobile?")).answer

    assert answer.outcome is Outcome.ABSTAINED
    assert "Bruce Wayne" in (await World(corpus).ask("Who is the insured of the Batmobile?")).answer.text
