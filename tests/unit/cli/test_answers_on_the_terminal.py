"""`rag ask` and `rag run`: what a person sees, and what a script can rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest
from tests.unit.cli.product import NOW, Product, Terminal, abstained, answered, reached, workspace

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.symbols import Symbol
from agentic_rag.models.chat.request import ChatSpend
from agentic_rag_cli.output.answer_view import citation_place


def terminal(**environ: str) -> Terminal:
    answers = {"Who signs?": answered(), "Which page?": answered(page=4), "Who flies?": abstained()}
    return Terminal(Product(answers=answers), environ)


def test_an_answer_shows_its_numbered_citations_with_place_score_and_quoted_span() -> None:
    shown = terminal().rag("ask", "Who signs?")

    assert shown.exit_code == 0
    assert shown.stdout.startswith("Oona Pellgrave signs off the audit. [1]\n")
    assert "[1] policy.md, lines 12–13  (score 0.83, quote verified)" in shown.stdout
    assert "“The audit is signed off by Oona Pellgrave.”" in shown.stdout


def test_a_citation_of_source_code_tells_what_it_stands_in() -> None:
    run = answered()
    cited = replace(run.answer.citations[0], symbol=Symbol("Pump.start", 9, 14))
    coded = replace(run, answer=replace(run.answer, citations=(cited,)))

    shown = Terminal(Product(answers={"Who signs?": coded})).rag("ask", "Who signs?")

    assert "    in Pump.start, lines 9–14" in shown.stdout


def test_a_streamed_answer_tells_its_stages_beside_the_result() -> None:
    plain, streamed = (terminal().rag("ask", "Who signs?", "--json", *more) for more in ((), ("--stream",)))

    assert streamed.stdout == plain.stdout
    assert [line.split() for line in streamed.stderr.splitlines()] == [
        [one.stage, f"{one.seconds * 1000:.1f}", "ms", one.outcome] for one in answered().stages
    ]
    assert plain.stderr == ""


def test_a_streamed_question_that_is_refused_ends_as_any_other() -> None:
    shown = terminal().rag("ask", "Who signs?", "--stream", "--workspace", "nowhere")

    assert (shown.exit_code, "WORKSPACE_NOT_FOUND" in shown.stderr) == (1, True)


def test_a_citation_of_a_paged_format_names_the_page() -> None:
    assert "[1] policy.md, page 4" in terminal().rag("ask", "Which page?").stdout


def test_sources_that_disagree_are_dated() -> None:
    disagreeing = answered()
    answer = replace(disagreeing.answer, outcome=Outcome.CONFLICTING)
    asked = Terminal(Product(answers={"Who signs?": replace(disagreeing, answer=answer)}), {})

    shown = asked.rag("ask", "Who signs?").stdout

    assert f"[1] policy.md, lines 12–13, read {NOW:%Y-%m-%d}  (score" in shown
    assert ", read " not in terminal().rag("ask", "Who signs?").stdout


def test_a_citation_over_several_hops_says_how_it_was_reached() -> None:
    asked = Terminal(Product(answers={"Who trained her?": reached()}), {})

    shown = asked.rag("ask", "Who trained her?")
    hops = json.loads(asked.rag("ask", "Who trained her?", "--json").stdout)["citations"][0]["path"]

    assert "    reached: Staff list —names→ Oona Pellgrave —shares “Umea” with→ Policy\n" in shown.stdout
    assert list(hops[1]) == ["kind", "via", "fromChunkId", "fromTitle", "toChunkId", "toTitle"]
    assert (hops[1]["kind"], hops[1]["via"], hops[1]["toTitle"]) == ("SHARES", "Umea", "Policy")


def test_a_degraded_answer_names_the_command_that_tells_why() -> None:
    whole = answered()
    answer = replace(whole.answer, degraded=(Dependency.CACHE, Dependency.GRAPH))
    asked = Terminal(Product(answers={"Who signs?": replace(whole, answer=answer)}), {})

    shown = asked.rag("ask", "Who signs?").stdout

    assert shown.endswith("Degraded, missing: CACHE (rag doctor says why), GRAPH (rag graph status says why)\n")


def test_an_abstention_is_an_outcome_with_reason_and_nearest_passages() -> None:
    shown = terminal().rag("ask", "Who flies?")

    assert shown.exit_code == 0
    assert "No answer (LOW_SUPPORT): No passage supports an answer." in shown.stdout
    assert "The nearest passages:" in shown.stdout
    assert "policy.md, page 3" in shown.stdout


def test_an_answer_to_a_part_is_shown_with_what_is_missing() -> None:
    whole = answered()
    missing = Abstention(AbstentionReason.DEPENDENCY, "The model did not answer; these are the nearest passages.")
    answer = replace(whole.answer, outcome=Outcome.PARTIALLY_GROUNDED, abstention=missing)
    asked = Terminal(Product(answers={"Who signs?": replace(whole, answer=answer)}), {})

    shown = asked.rag("ask", "Who signs?").stdout

    assert shown.startswith("Oona Pellgrave signs off the audit. [1]\n\n(partially grounded)\n")
    assert "“The audit is signed off by Oona Pellgrave.”" in shown
    assert shown.endswith("Incomplete (DEPENDENCY): The model did not answer; these are the nearest passages.\n")


def test_text_that_may_not_be_the_answer_is_shown_with_that_doubt() -> None:
    whole = answered()
    doubt = Abstention(AbstentionReason.NOT_ESTABLISHED, "It is not established that this answers the question.")
    answer = replace(whole.answer, outcome=Outcome.UNCERTAIN, abstention=doubt)
    asked = Terminal(Product(answers={"Who signs?": replace(whole, answer=answer)}), {})

    shown = asked.rag("ask", "Who signs?").stdout

    assert shown.startswith("Oona Pellgrave signs off the audit. [1]\n\n(uncertain)\n")
    assert "Maybe no answer (NOT_ESTABLISHED): It is not established that this answers the question." in shown


def test_each_reading_of_a_question_is_an_item_with_its_citation() -> None:
    whole = answered()
    text = "- Audit › Signature — Oona Pellgrave signs off the audit. [1]\n- Fire drill — Wilf Hastane signs it. [2]"
    why = Abstention(AbstentionReason.UNDERSPECIFIED, "The question fits several things.")
    answer = replace(whole.answer, text=text, outcome=Outcome.UNDERSPECIFIED, abstention=why)
    asked = Terminal(Product(answers={"Who signs?": replace(whole, answer=answer)}), {})

    shown = asked.rag("ask", "Who signs?").stdout

    assert shown.startswith(f"{text}\n\n(underspecified)\n")
    assert shown.endswith("Several readings (UNDERSPECIFIED): The question fits several things.\n")


def test_a_run_shows_what_the_chat_model_cost() -> None:
    whole = answered()
    spend = ChatSpend(calls=2, input_tokens=900, output_tokens=40, cost_usd=0.0021)
    run = replace(whole, answer=replace(whole.answer, debug=replace(whole.answer.debug, chat=spend)))
    asked = Terminal(Product(answers={"Who signs?": run}), {})
    run_id = json.loads(asked.rag("ask", "Who signs?", "--json").stdout)["runId"]

    shown = asked.rag("run", "show", run_id).stdout

    assert "Chat model: 2 calls, 900 + 40 tokens, 0.002100 USD" in shown


def test_the_field_names_of_the_json_answer_are_stable() -> None:
    answer = json.loads(terminal().rag("ask", "Who signs?", "--json").stdout)

    assert list(answer) == [
        "question",
        "answer",
        "outcome",
        "abstention",
        "citations",
        "degraded",
        "runId",
        "corpusVersion",
        "cache",
        "seconds",
        "stageSeconds",
        "standaloneQuestion",
        "outside",
    ]
    assert list(answer["citations"][0]) == [
        "marker",
        "sourcePath",
        "title",
        "page",
        "lineStart",
        "lineEnd",
        "headingPath",
        "snippet",
        "score",
        "verified",
        "documentId",
        "readAt",
        "symbol",
        "url",
        "origin",
        "fetchedAt",
        "published",
        "recognised",
        "path",
        "document",
    ]
    assert answer["citations"][0]["snippet"] == "The audit is signed\noff by Oona Pellgrave."


def test_an_abstention_in_json_holds_reason_explanation_and_nearest() -> None:
    answer = json.loads(terminal().rag("ask", "Who flies?", "--json").stdout)

    assert answer["outcome"] == "ABSTAINED"
    assert list(answer["abstention"]) == ["reason", "explanation", "nearest"]
    assert answer["abstention"]["nearest"][0]["page"] == 3


def test_a_dash_reads_the_question_from_standard_input() -> None:
    shown = terminal().rag("ask", "-", stdin="Who signs?\n")

    assert "Oona Pellgrave" in shown.stdout


def test_an_empty_question_is_a_usage_error() -> None:
    shown = terminal().rag("ask", "  ")

    assert shown.exit_code == 2
    assert shown.stderr == "error [QUESTION_EMPTY]: The question is empty.\n"
    assert shown.stdout == ""


def test_with_several_workspaces_one_must_be_named() -> None:
    several = Terminal(Product(known=[workspace("a", 1), workspace("b", 2)], answers={"Who signs?": answered()}))

    assert several.rag("ask", "Who signs?", "--workspace", "b").exit_code == 0
    refused = several.rag("ask", "Who signs?")
    assert refused.exit_code == 2
    assert "[WORKSPACE_AMBIGUOUS]" in refused.stderr
    assert "a, b" in refused.stderr


def test_an_unknown_workspace_names_those_there_are() -> None:
    refused = terminal().rag("ask", "Who signs?", "--workspace", "handbok")

    assert refused.exit_code == 1
    assert "[WORKSPACE_NOT_FOUND]" in refused.stderr
    assert "handbook" in refused.stderr


def test_without_any_workspace_the_remedy_is_named() -> None:
    refused = Terminal(Product(known=[])).rag("ask", "Who signs?")

    assert refused.exit_code == 1
    assert "rag workspace create" in refused.stderr
    assert "rag ingest" in refused.stderr


def test_a_run_is_shown_again_by_the_id_that_ask_printed() -> None:
    at = terminal()
    run_id = json.loads(at.rag("ask", "Who signs?", "--json").stdout)["runId"]

    shown = at.rag("run", "show", run_id)

    assert shown.exit_code == 0
    assert "Q: Who signs?" in shown.stdout
    assert "retrieve" in shown.stdout


def test_runs_are_listed_as_text_and_as_json() -> None:
    rows = json.loads(terminal().rag("run", "list", "--json").stdout)

    assert [row["outcome"] for row in rows] == ["GROUNDED", "GROUNDED", "ABSTAINED"]
    assert list(rows[0]) == ["id", "question", "outcome", "cache", "seconds", "corpusVersion", "createdAt"]
    assert "Who signs?" in terminal().rag("run", "list").stdout


def test_a_run_is_found_again_by_words_and_outcome() -> None:
    found = json.loads(terminal().rag("run", "list", "--words", "WHO", "--outcome", "abstained", "--json").stdout)
    refused = terminal().rag("run", "list", "--outcome", "certain")

    assert [row["outcome"] for row in found] == ["ABSTAINED"]
    assert refused.exit_code == 2
    assert "'partially_grounded'" in refused.stderr


def test_a_run_that_goes_on_is_cancelled() -> None:
    at = terminal()
    ended = json.loads(at.rag("run", "list", "--json").stdout)[0]["id"]

    assert at.rag("run", "cancel", ended).stdout == "It had ended.\n"
    assert at.rag("run", "cancel", str(UUID(int=77))).stdout == "Cancelled.\n"


def test_a_run_is_deleted_by_its_id() -> None:
    at = terminal()
    run_id = json.loads(at.rag("run", "list", "--json").stdout)[0]["id"]

    deleted = at.rag("run", "delete", run_id, "--json")
    missing = at.rag("run", "delete", str(UUID(int=77)))

    assert json.loads(deleted.stdout) == {"deletedId": run_id}
    assert len(at.product.deleted_runs) == 1
    assert missing.exit_code == 1
    assert "[RUN_NOT_FOUND]" in missing.stderr


def test_something_that_is_no_id_is_a_usage_error() -> None:
    refused = terminal().rag("run", "show", "latest")

    assert refused.exit_code == 2
    assert "[INVALID_ID]" in refused.stderr


@pytest.mark.parametrize(
    ("path", "page", "headings", "place"),
    [
        ("a.md", None, ["One"], "a.md, lines 2–3"),
        ("a.pptx", 4, ["One"], "a.pptx, page 4"),
        ("a.XLSX", None, ["Costs", "Rows 2–9"], "a.XLSX, Costs › Rows 2–9"),
        ("a.docx", None, [], "a.docx"),
    ],
)
def test_a_place_is_one_that_a_person_can_find(path: str, page: int | None, headings: list[str], place: str) -> None:
    cited = {"sourcePath": path, "page": page, "lineStart": 2, "lineEnd": 3, "headingPath": headings}

    assert citation_place(cited) == place
