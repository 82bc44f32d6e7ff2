"""Where the choice among sentences is unsure, what stands together is quoted whole."""

from __future__ import annotations

from tests.unit.answering.test_shapes import answer


def test_a_list_is_quoted_whole_where_several_of_its_items_come_close() -> None:
    text = (
        "# Reception\n\n## Calling the doctor\n\n- a baby with a fever\n- a fever after a journey\n- chest pain\n\n"
        "## Closing\n\nLock the door."
    )

    assert answer("With a fever of which kind is the doctor fetched?", text) == (
        "- a baby with a fever.\n- a fever after a journey.\n- chest pain.",
    )


def test_a_short_section_is_quoted_whole_where_its_sentences_come_equally_close() -> None:
    text = (
        "# Leaflet\n\nComplaints\nComplaints go to Mrs Farrant. She answers complaints in a week. Whoever is not "
        "content takes complaints to the ombudsman.\n\nParking\nThere are eleven spaces."
    )

    found = answer("What does the surgery do about complaints?", text)

    assert len(found) == 1
    assert "Farrant" in found[0]
    assert "ombudsman" in found[0]
    assert "spaces" not in found[0]


def test_a_place_is_no_reason_to_quote_a_section() -> None:
    text = "# Yard\n\nSmoking\nSmoking is allowed behind the store. Smoking is fined elsewhere. Smoking ends at ten."

    assert len(answer("Where is smoking allowed?", text)) <= 2


def test_a_comparison_gets_the_paragraph_with_the_other_side() -> None:
    text = (
        "# Prescriptions\n\nA repeat request takes two working days. Controlled drugs take three working days because "
        "they are signed by hand.\n\nThe pharmacist is in the house on Monday."
    )

    found = answer("How long do controlled drugs take compared with a repeat request?", text)

    assert found == (
        "A repeat request takes two working days. Controlled drugs take three working days because they are signed by "
        "hand.",
    )


def test_a_question_why_gets_the_sentence_beside_the_best_one_that_gives_the_reason() -> None:
    text = (
        "# Minutes\n\nThe rule of three days was put to all and not accepted. Dr Mbeki objected, as patients would "
        "run out."
    )

    assert answer("Why was the rule of three days not accepted?", text) == (
        "The rule of three days was put to all and not accepted.",
        "Dr Mbeki objected, as patients would run out.",
    )


def test_a_menu_holds_no_steps() -> None:
    text = (
        "- Home\n- Repair grant\n- Apply\n\nApplying for the repair grant\nFill in the form and send it. You are told "
        "of the next steps."
    )

    found = answer("How do I apply for the repair grant?", text)

    assert "Fill in the form" in found[0]
    assert "Home" not in found[0]
