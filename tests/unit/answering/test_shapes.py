"""The kind of a question decides what its answer looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import ExcludedSpans, PartDraft, draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_blocks import TextBlockKind, find_blocks
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.forms import drafts_below_questions
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind
from agentic_rag.answering.shapes.table import most_sentences, shape_part
from agentic_rag.language.tokenizer import query_terms

ISOLATION = """# Isolation policy

## Why it exists

People rely on locks, earths and paper.

## Five steps to isolate a machine

1. **Plan.** The person in charge writes down every source of energy.
2. **Isolate.** The control room opens the breaker.
   The brake is applied.
3. **Prove dead.** Test the tester, test the circuit, test the tester again.

## The permit

| Class of permit | Colour |
|---|---|
| General | White |
| Diving | Green |
"""
GLOSSARY = """# Glossary

The anode is mentioned in every report.

**Anode.** A block of zinc bolted to a foundation. Each base carries 14.

**Berm.** Stones placed over a cable to shelter it.
"""
FAILS = "## What do I do when the pump fails to start?\n\nCall the workshop."
NOT_RECYCLED, RECYCLED = (
    "## What may not be recycled?\n\nFoil.",
    "## What may be recycled?\n\nPaper and glass.",
)
VISITS = """# Visits

### May I bring my dog?

Yes. Dogs are welcome on a lead, though not on the boat.

### May I fly a drone?

No. Drones are forbidden near the slipway.
"""


def answer(question: str, *texts: str, excluded: ExcludedSpans = frozenset()) -> tuple[str, ...]:
    kind = detect_answer_type(question)
    part = build_subquery(question, kind, dict.fromkeys(query_terms(question), 0.5))
    asked = question_kind(question, kind)
    passages = [passage(at, text.split("\n", 1)[0].strip("# "), text) for at, text in enumerate(texts, 1)]
    draft = draft_part(part, 0, passages, most_sentences(asked, question))
    (draft,) = drafts_below_questions([(part, passages)], [draft], frozenset())
    shaped = shape_part(asked, part, 0, passages, draft, excluded)
    for sentence in shaped.sentences:
        assert passages[sentence.passage].chunk.text[sentence.start : sentence.end].strip()
    return tuple(sentence.text for sentence in shaped.sentences)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do I isolate a machine?", QuestionKind.STEPS),
        ("Something is broken. What should I do?", QuestionKind.STEPS),
        ("What are the classes of permit?", QuestionKind.LIST),
        ("Which tools are we allowed to use?", QuestionKind.LIST),
        ("What percentage of deaths are due to smoke?", QuestionKind.VALUE),
        ("What is an anode?", QuestionKind.DEFINITION),
        ('What exactly are "net sales"?', QuestionKind.DEFINITION),
        ("What is the cost of a permit?", QuestionKind.VALUE),
        ("Who opens the breaker?", QuestionKind.VALUE),
        ("Which agency do we book flights with?", QuestionKind.FACT),
        ("May I bring my dog?", QuestionKind.YES_NO),
        ("Why did the grease fail?", QuestionKind.REASON),
        ("Why is pump 5 less reliable than the others?", QuestionKind.REASON),
        ("Who steps in for the pilot?", QuestionKind.VALUE),
        ("Is a grandmother treated the same way as a parent?", QuestionKind.COMPARISON),
        ("Wie kann ich Urlaub beantragen?", QuestionKind.STEPS),
    ],
)
def test_the_kind_of_a_question_is_read_from_its_words(question: str, kind: QuestionKind) -> None:
    assert question_kind(question, detect_answer_type(question)) is kind


LIFT = """# Procedure: lifting a boat out

The operator may refuse.

## Before the lift

1. Check the wind.
2. Inspect both slings.

## The lift

1. Place the slings.
2. Lift ten centimetres and wait.

Nobody stands below.

## When something goes wrong

The boat is put back at once.
"""


def test_a_procedure_of_several_lists_is_told_whole_under_their_headings() -> None:
    (steps,) = answer("How do I lift a boat out?", LIFT)

    assert steps == (
        "Before the lift\n1. Check the wind.\n2. Inspect both slings.\n"
        "The lift\n1. Place the slings.\n2. Lift ten centimetres and wait."
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What do I do before the lift of a boat?", LIFT),
        ("How do I lift a boat out?", LIFT.replace("# Procedure: lifting a boat out", "# Handbook", 1)),
        ("How do I lift a boat out?", LIFT.replace("## The lift", "## Painting", 1)),
    ],
)
def test_another_task_of_a_document_is_no_part_of_a_procedure(question: str, text: str) -> None:
    said = "\n".join(answer(question, text))

    assert "Check the wind." in said
    assert "Place the slings." not in said


def test_how_to_is_answered_by_all_steps_in_order() -> None:
    (steps,) = answer("How do I isolate a machine?", ISOLATION)

    assert steps == (
        "1. Plan. The person in charge writes down every source of energy.\n"
        "2. Isolate. The control room opens the breaker. The brake is applied.\n"
        "3. Prove dead. Test the tester, test the circuit, test the tester again."
    )


def test_steps_that_the_border_of_a_chunk_cuts_are_joined() -> None:
    question = "How do I change the belt?"
    part = build_subquery(question, detect_answer_type(question), dict.fromkeys(query_terms(question), 0.5))
    text = "## Change the belt\n\n1. Slacken the screw.\n2. Take the belt off.\n3. Put the new one on.\n4. Tension it."
    border = text.index("3.")
    whole = passage(1, "Manual", text)
    first = replace(whole, chunk=replace(whole.chunk, text=text[:border], end=border))
    second = replace(whole, chunk=replace(whole.chunk, ordinal=2, index=1, text=text[border:], start=border))
    draft = draft_part(part, 0, [first, second], 2)

    (steps,) = shape_part(QuestionKind.STEPS, part, 0, [first, second], draft, frozenset()).sentences

    assert steps.text == "1. Slacken the screw.\n2. Take the belt off.\n3. Put the new one on.\n4. Tension it."
    assert [quote.passage for quote in steps.more_quotes] == [1]


def test_a_question_for_things_is_answered_by_all_rows_of_their_table() -> None:
    assert answer("Which classes of permit are there?", ISOLATION) == (
        "- General — Colour: White\n- Diving — Colour: Green",
    )


def test_only_the_rows_that_hold_what_is_said_of_them_are_listed() -> None:
    text = "# Certificates\n\n| Certificate | Needed by |\n|---|---|\n| Sea survival | Everyone who boards a vessel |\n"
    text += "| Offshore medical | Everyone who boards a vessel |\n| First aid | One in four |"

    assert answer("Which certificates do I need to board a vessel?", text) == (
        "Sea survival — Needed by: Everyone who boards a vessel.",
        "Offshore medical — Needed by: Everyone who boards a vessel.",
    )


def test_a_term_is_defined_by_its_entry_before_any_other_sentence() -> None:
    assert answer("What is an anode?", GLOSSARY) == ("Anode. A block of zinc bolted to a foundation.",)


@pytest.mark.parametrize("question", ["What does DRA stand for?", "What does DRA mean?", "What is DRA?"])
def test_an_abbreviation_is_told_by_its_words(question: str) -> None:
    text = "DRA lacks requests. We use Dynamic Resource Allocation (DRA) for pumps. DRA serves devices like pumps."

    assert answer(question, text) == ("We use Dynamic Resource Allocation (DRA) for pumps.",)


def test_a_question_that_a_text_answers_is_answered_by_what_stands_below_it() -> None:
    assert answer("Can I bring my dog?", VISITS) == ("Yes. Dogs are welcome on a lead, though not on the boat.",)


def test_a_sentence_that_only_restates_the_question_is_no_answer() -> None:
    text = (
        "How often are certificates renewed? How often sea certificates are renewed.\n\nThey are renewed every 4 years."
    )

    assert answer("How often are sea certificates renewed?", text)[-1].endswith("every 4 years.")


def test_a_question_for_a_value_is_answered_by_its_sentence_and_not_by_the_section() -> None:
    text = (
        "# Handbook\n\n## Illness\n\nTell your line manager before your shift begins. A note is needed from day five."
    )

    assert answer("At which point does the line want paper if ill?", text) == (
        "Tell your line manager before your shift begins.",
    )


def test_the_value_may_stand_in_the_sentence_after_the_one_with_the_words_of_the_question() -> None:
    text = "# Flats\n\nIn case of a burst pipe close the main valve. It is behind the flap. Take pictures."

    assert answer("A pipe burst, where is the main valve?", text) == (
        "In case of a burst pipe close the main valve.",
        "It is behind the flap.",
    )


def test_lists_tables_and_sections_are_found_with_their_headings() -> None:
    found = [
        (one.kind, len(one.parts), one.heading and ISOLATION[slice(*one.heading)]) for one in find_blocks(ISOLATION)
    ]

    assert found == [
        (TextBlockKind.SECTION, 1, "## Why it exists"),
        (TextBlockKind.LIST, 3, "## Five steps to isolate a machine"),
        (TextBlockKind.SECTION, 1, "## Five steps to isolate a machine"),
        (TextBlockKind.TABLE, 2, "## The permit"),
        (TextBlockKind.SECTION, 1, "## The permit"),
    ]


def test_numbered_headings_are_no_list_and_a_lead_in_belongs_to_its_list() -> None:
    text = "1. Purpose\nThis is why.\n\n2. Oil\nIf oil is seen:\n- stop the source\n- call the controller"
    lists = [one for one in find_blocks(text) if one.kind is TextBlockKind.LIST]

    assert [(len(one.parts), text[slice(*one.lead)] if one.lead else None) for one in lists] == [(2, "If oil is seen:")]


def test_a_question_for_documents_is_answered_by_their_titles() -> None:
    loan = "# Loan agreement\n\nReports are made by Dr Linnea Marchetti on arrival."
    cleaning = "# Cleaning agreement\n\nThe conservator is Dr Linnea Marchetti."
    policy = "# Leave\n\nAgreements on leave are made in writing."

    assert answer("In which agreements does Linnea Marchetti appear?", loan, cleaning, policy) == (
        "Loan agreement — Reports are made by Dr Linnea Marchetti on arrival.",
        "Cleaning agreement — The conservator is Dr Linnea Marchetti.",
    )


def test_a_yes_or_no_question_gets_the_exception_that_the_next_sentence_makes() -> None:
    text = "Office staff may work from home three days a week. Controllers may not: the network is in the room."

    assert answer("May controllers work from home?", f"# Home\n\n{text}") == (text,)


def test_a_value_comes_with_the_exception_that_the_next_sentence_makes_of_what_is_asked() -> None:
    text = "Passwords expire after 90 days. Service accounts have passwords that do not expire."
    page = f"# Accounts\n\n{text} They are long."

    assert answer("After how many days do passwords of service accounts expire?", page) == (text,)
    refused = frozenset({(1, page.index("Service"))})
    named = "After how many days do passwords of service accounts expire?"
    assert answer(named, page, excluded=refused) != (text,)
    assert answer("After how many days do passwords expire?", page)[0] == "Passwords expire after 90 days."
    fees = "# Fees\n\nThe fee is 40 euros. No refunds are given for cancelled lessons."
    assert answer("How much is the fee for lessons?", fees)[0] == "The fee is 40 euros."


@pytest.mark.parametrize(
    "page",
    [
        "# House\n\n### Can I smoke on the balcony?\nNo.\n\n### Who cleans the stairs?\nNobody.",
        "House\n\n**Can I smoke on the balcony?**\n\nNo.\n\n**Who cleans the stairs?**\n\nNobody.",
        "# House\n\nCan I smoke on the balcony?\nNo.\n\nWho cleans the stairs?\nNobody.",
    ],
    ids=["a heading", "bold", "a line"],
)
def test_an_answer_without_a_word_of_its_question_is_quoted_with_it(page: str) -> None:
    assert answer("Can I smoke on the balcony?", page) == ("Can I smoke on the balcony? No.",)
    assert answer("Can I smoke in the cellar?", page) == ()


@pytest.mark.parametrize(
    ("question", "page", "said"),
    [
        ("What may be recycled?", f"# Waste\n\n{NOT_RECYCLED}\n\n{RECYCLED}", "Paper and glass."),
        ("What may not be recycled?", f"# Waste\n\n{RECYCLED}\n\n{NOT_RECYCLED}", "Foil."),
        ("What may be recycled?", f"# Waste\n\n{NOT_RECYCLED}", None),
        ("What do I do if the pump does not start?", f"# Pump\n\n{FAILS}", "Call the workshop."),
    ],
    ids=["what may", "what may not", "what may not alone", "it fails"],
)
def test_another_question_of_the_text_does_not_answer(question: str, page: str, said: str | None) -> None:
    assert answer(question, page) == (() if said is None else (said,))


@pytest.mark.parametrize(
    ("question", "said"),
    [("May cats sleep in the room?", ()), ("May dogs sleep in the room?", ("May dogs sleep in the room? Yes.",))],
    ids=["the title has a word of it", "the same"],
)
def test_a_question_of_the_text_speaks_for_itself_where_no_sentence_has_a_word(
    question: str, said: tuple[str, ...]
) -> None:
    part = build_subquery(question, detect_answer_type(question), {})
    asked = [passage(1, "Cats and dogs", "# Cats and dogs\n\n## May dogs sleep in the room?\n\nYes.")]
    (draft,) = drafts_below_questions([(part, asked)], [PartDraft((), (), conflicting=False)], frozenset())
    assert tuple(one.text for one in draft.sentences) == said


SERVICES = """# Services

| Class | Examples | Recovery |
|---|---|---|
| Platinum | Care, contacts | 2 hours |
| Gold | Payroll | 8 hours |
| Silver | Intranet | 2 days |

A test of a platinum or gold service takes a day.
"""


def test_a_comparison_of_two_rows_of_a_table_is_answered_by_both() -> None:
    assert answer("How quickly must a platinum service be up again compared with a gold one?", SERVICES) == (
        "Platinum — Examples: Care, contacts; Recovery: 2 hours.",
        "Gold — Examples: Payroll; Recovery: 8 hours.",
    )


def test_a_row_about_what_the_question_names_goes_before_the_list_of_all() -> None:
    text = "# Messages\n\n| Message | Remedy |\n|---|---|\n| E11 | Remove the case |\n| E12 | Unload the drive |\n"

    assert answer("What must I do when E11 shows up?", text)[0] == "E11 — Remedy: Remove the case."


def test_a_list_is_quoted_below_the_heading_that_asks_for_its_items() -> None:
    text = "# Workshop\n\nIt took a day.\n\n3. WHAT WE WILL DO DIFFERENTLY\n\na) A list of interfaces.\nb) A rehearsal."

    assert answer("Which things will we do differently?", text) == ("a) A list of interfaces.\nb) A rehearsal.",)


def test_a_line_that_names_the_document_is_no_answer_unless_the_document_is_asked_about() -> None:
    text = "# Handbook of the harbour\n\nHarbour Ltd · version 11, 20 March 2025 · Head of harbour: Ida Holm\n\n"
    text += "## Opening\n\nThe gate opens on 2 May 2025 at nine."

    assert answer("When does the harbour open?", text)[0] == "The gate opens on 2 May 2025 at nine."
    assert "version 11" in answer("When was this version of the handbook of the harbour made?", text)[0]


def test_of_a_long_section_without_steps_the_paragraph_is_quoted_that_says_how() -> None:
    said = "Complaints about cleaning are entered in the book at the lodge. The porter passes them on."
    rest = "The monthly price rose on 1 March, since wages were raised. " * 9
    text = f"# Overview\n\n## Cleaning\n\n{said}\n\n{rest.strip()}"

    assert answer("How do I enter complaints about cleaning?", text) == (said,)


def test_two_questions_in_one_have_room_for_two_answers() -> None:
    assert most_sentences(QuestionKind.VALUE, "Whom do I call, and do the police have to know?") == 4
    assert most_sentences(QuestionKind.VALUE, "Whom do I call?") == 2


def test_code_is_quoted_as_it_stands() -> None:
    text = "## How to install\n\nRun this:\n\n```\n# first\npip install product\n```\n\nThen restart the product."

    assert answer("How do I install the product?", text) == (
        "Run this:\n```\n# first\npip install product\n```\nThen restart the product.",
    )


def test_minutes_that_something_is_discussed_in_are_documents():
    for question in ("In which board minutes is the crane discussed?", "Which reports mention the crane?"):
        assert question_kind(question, detect_answer_type(question)) is QuestionKind.DOCUMENTS, question
    assert question_kind("Which report is the newest?", detect_answer_type("Which report is the newest?")) is not (
        QuestionKind.DOCUMENTS
    )


def test_steps_in_prose_are_the_sentences_that_give_directions() -> None:
    text = (
        "## Kiln\n\nThe kiln was bought in 2011 and stands in the yard. The door is red. To fire the kiln, first open "
        "the damper. Then light the burner and wait for ten minutes. After that, close the damper by half. The kiln "
        "reaches 1,200 degrees. It weighs two tonnes."
    )

    assert answer("How do I fire it, the kiln?", text) == (
        "To fire the kiln, first open the damper. Then light the burner and wait for ten minutes. After that, close "
        "the damper by half.",
    )


def test_a_heading_that_names_what_is_to_be_done_heads_the_steps() -> None:
    text = (
        "## Boats\n\nThe club has four boats. A boat is moored on Sundays. Ropes lie in the shed.\n\n"
        "## Mooring\n\nSlow down early. Put the fenders out. Tie the bow first. Nobody jumps ashore.\n\n"
        "Ropes are changed in May. Moored boats are looked after by the warden."
    )

    assert answer("How do I moor a boat?", text) == (
        "Slow down early. Put the fenders out. Tie the bow first. Nobody jumps ashore.",
    )


def test_a_sentence_that_names_several_things_is_the_list() -> None:
    text = (
        "## Hall\n\nThe hall seats forty. On Sundays the kitchen, the stage and the foyer are open. Chairs are "
        "stacked. Dogs stay outside. The key hangs at the door. Smoking is not allowed. The piano is tuned in May."
    )

    assert answer("Which rooms are open on Sundays?", text) == (
        "On Sundays the kitchen, the stage and the foyer are open.",
    )


def test_sentences_that_begin_alike_belong_to_the_one_that_announces_them() -> None:
    text = (
        "## Roof\n\nThree tenders came in for the roof. Tender A asks 40. Tender B asks 55. Tender C asks 61. "
        "The board met again in June."
    )

    assert answer("Which tenders are there for the roof?", text) == (
        "Three tenders came in for the roof. Tender A asks 40. Tender B asks 55. Tender C asks 61.",
    )


def test_sentences_that_begin_with_an_article_do_not_begin_alike() -> None:
    text = (
        "## Dach\n\nFür das Dach liegen drei Angebote vor. Die Leiter bleibt im Keller. Die Sitzung endete um neun. "
        "Die Gemeinde zahlt später. " + "Im Juni traf sich der Vorstand wieder und besprach den Haushalt. " * 8
    )

    assert answer("Welche Angebote gibt es für das Dach?", text) == ("Für das Dach liegen drei Angebote vor.",)


RANGES = (
    "# Ranges\n\n| Range | Price (£) | Delivery | Built |\n|---|---|---|---|\n| Ash | 1,240 | 2 weeks | 2004 |\n"
    "| Elm | 980 | 20 days | 2011 |\n| Oak | 1,015 | 1 month | 1998 |"
)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("Which range is the cheapest?", "Elm"),
        ("What is the most expensive range?", "Ash"),
        ("Which range has the shortest delivery?", "Ash"),
        ("Which range has the longest delivery?", "Oak"),
        ("What is the oldest range?", "Oak"),
        ("Which range has the highest price?", "Ash"),
    ],
)
def test_a_superlative_is_answered_by_the_row_with_the_extreme(question: str, row: str) -> None:
    (said,) = answer(question, RANGES)

    assert said.startswith(f"{row} — ")


@pytest.mark.parametrize("question", ["Which range is the finest?", "What is the hottest range?"])
def test_a_superlative_without_a_column_for_it_chooses_no_row(question: str) -> None:
    assert len(answer(question, RANGES)) != 1


def test_what_stands_below_the_last_item_at_the_margin_is_no_part_of_it() -> None:
    (items, _) = find_blocks("Bring\na) a coat,\nb) boots.\nDogs stay outside.")

    assert [one.kind for one in (items,)] == [TextBlockKind.LIST]
    assert items.end == len("Bring\na) a coat,\nb) boots.")


def test_a_numbered_line_heads_the_paragraph_below_it() -> None:
    text = (
        "CHARTER\n\nArticle 1 - Name\nThe club is called Skerry.\n\nArticle 2 - Moving a boat\nA boat is moved by "
        "the warden. Others ask the warden ten days before. Silence is no consent."
    )

    assert [text[slice(*one.heading)] for one in find_blocks(text) if one.heading] == [
        "Article 1 - Name", "Article 2 - Moving a boat",
    ]  # fmt: skip
    assert answer("How can I move a boat?", text) == (
        "A boat is moved by the warden. Others ask the warden ten days before. Silence is no consent.",
    )


def test_a_row_with_a_cell_of_several_things_is_the_list() -> None:
    text = (
        "# Settings\n\n| Setting | Meaning |\n|---|---|\n| dampers | open, half or closed |\n| fans | how many turn |\n"
        "| lamps | the number lit |"
    )

    assert answer("Which values can dampers have?", text) == ("dampers — Meaning: open, half or closed.",)


def test_how_a_row_changed_is_answered_by_it_in_each_issue_of_the_table() -> None:
    head = "| Stage | Planned | Forecast |\n|---|---|---|\n"
    march = f"# Report March\n\n{head}| Roof finished | 3 May | 9 June |\n| Doors hung | 1 July | 2 July |"
    june = f"# Report June\n\n{head}| Roof finished | 3 May | 1 June |\n| Doors hung | 1 July | 4 July |"

    assert answer("How did the forecast for the roof change?", march, june) == (
        "Report March — Roof finished — Planned: 3 May; Forecast: 9 June.",
        "Report June — Roof finished — Planned: 3 May; Forecast: 1 June.",
    )


def test_a_question_for_a_value_of_two_named_rows_is_answered_by_both() -> None:
    text = (
        "# Alarm\n\n| Level | Reply | Told |\n|---|---|---|\n| A | 5 minutes | all |\n| B | 1 hour | chief |\n"
        "| C | a day | nobody |"
    )

    assert answer("How fast must we reply at level A and at level C?", text) == (
        "A — Reply: 5 minutes; Told: all.",
        "C — Reply: a day; Told: nobody.",
    )


def test_a_menu_holds_no_steps() -> None:
    text = (
        "- Home\n- Repair grant\n- Apply\n\nApplying for the repair grant\nFill in the form and send it. You are told "
        "of the next steps."
    )

    found = answer("How do I apply for the repair grant?", text)

    assert "Fill in the form" in found[0]
    assert "Home" not in found[0]


def test_what_another_code_asks_for_is_no_step() -> None:
    faults = (
        "## Faults\n\nE03: the door is not locked. Close it again and press RESET.\n"
        "E07: the tank is empty. Refill it with distilled water.\n"
        "E11: the sensor failed. Do not use the machine and call Medivolt."
    )

    assert answer("What do I do when the machine shows E07?", faults) == (
        "E07: the tank is empty. Refill it with distilled water.",
    )


def test_lines_of_codes_that_the_question_does_not_name_are_steps_together() -> None:
    driver = (
        "## Driver\n\nInstall the driver on each system as follows.\nWin10: open Settings and install the driver.\n"
        "Win11: open the Store and install the driver. Then restart.\nUbuntu22.04: run apt and install the driver."
    )

    said = "\n".join(answer("How do I install the driver?", driver))

    assert "open Settings" in said
    assert "open the Store" in said


def test_a_code_within_a_line_does_not_end_what_is_to_be_done() -> None:
    faults = (
        "## Faults\n\nE03: the door is not locked. Close it again and press RESET.\n"
        "E07: the tank is empty. Refill it with water. H2O: then press RESET."
    )

    assert answer("What do I do when the machine shows E07?", faults)[0].endswith("H2O: then press RESET.")


def test_what_the_next_code_asks_for_is_no_step() -> None:
    faults = (
        "## Faults\n\nE03: the door is not locked. Close it again.\nE07: the tank is empty. Refill it with water.\n"
        "E11: wait, then press STOP."
    )

    assert "STOP" not in answer("What do I do when the machine shows e07?", faults)[0]


def test_lines_of_numbered_steps_are_no_codes_that_the_question_names() -> None:
    steps = (
        "## Pump\n\nS1: Open the valve to start pump Kelm. Then wait.\nS2: Then press the green key of the pump.\n"
        "S3: Then turn the tap until it stops."
    )

    assert "turn the tap" in answer("How do I start pump Kelm?", steps)[0]
