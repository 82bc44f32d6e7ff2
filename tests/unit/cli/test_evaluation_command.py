"""`rag eval`: the same report in process and over HTTP, and exit code 5 for a missed threshold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.cli.product import HANDBOOK, Product, Terminal, abstained, answered, citation, document
from tests.unit.cli.test_graphql_client import URL, carrying, server

from agentic_rag.answering.prompts.grade import Grade, GradeLevel
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.models.chat.request import LlmError

LINES = (
    {"id": "1", "question": "Who signs?", "answers": ["Oona Pellgrave"], "gold_ids": ["policy.md"], "type": "single"},
    {"id": "2", "question": "Who flies?", "answers": [], "gold_ids": [], "type": "unanswerable"},
)


@pytest.fixture
def dataset(tmp_path: Path) -> str:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES), encoding="utf-8")
    return str(path)


STORED = "Policies.\n" + citation().snippet
"""The text of the cited revision: the quote stands where the citation says."""


def terminal(text: str = STORED) -> Terminal:
    answers = {"Who signs?": answered(), "Who flies?": abstained()}
    return Terminal(Product(answers=answers, held=[document("policy.md", 100)], text=text))


def test_the_report_covers_hits_citations_abstention_and_latency(dataset: str) -> None:
    report = json.loads(terminal().rag("eval", "--dataset", dataset, "--json").stdout)

    figures = report["summary"]["figures"]
    assert figures["hit_rate"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "questions": 1}
    assert {figures[name]["mean"] for name in ("recall@8", "ndcg@10", "mrr", "citation_validity")} == {1.0}
    assert figures["abstention_recall"]["mean"] == 1.0
    assert sorted(report["summary"]["byType"]) == ["single", "unanswerable"]
    assert report["summary"]["latency"]["retrieve"] == {"p50": 0.008, "p95": 0.008}
    assert report["missed"] == []


@pytest.mark.parametrize(
    "text",
    ["", STORED.replace("Oona", "Ada"), f" {STORED}"],
    ids=["no such place", "another text", "another place"],
)
def test_a_quote_that_is_not_the_stored_text_is_invalid_whatever_the_answer_says_of_it(dataset: str, text: str) -> None:
    report = json.loads(terminal(text).rag("eval", "--dataset", dataset, "--json").stdout)

    assert all(one.verified for one in answered().answer.citations)
    assert report["summary"]["figures"]["citation_validity"]["mean"] == 0.0


def test_a_sentence_that_no_quote_covers_is_uncovered_whatever_the_answer_says_of_it(dataset: str) -> None:
    at = terminal()
    run = answered()
    said = replace(run, answer=replace(run.answer, text=f"Nobody else may sign. {run.answer.text}"))
    at.product.answers = {**at.product.answers, "Who signs?": said}

    report = json.loads(at.rag("eval", "--dataset", dataset, "--json").stdout)

    assert run.answer.debug.self_check is not None
    assert run.answer.debug.self_check.citation_coverage == 1.0
    assert report["summary"]["figures"]["citation_coverage"]["mean"] == 0.5


def test_as_text_it_is_a_table(dataset: str) -> None:
    shown = terminal().rag("eval", "--dataset", dataset, "--min-hit-rate", "1.0")

    assert shown.exit_code == 0
    assert shown.stdout.startswith("2 questions")


def test_over_http_it_scores_the_same_way(dataset: str) -> None:
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=carrying(server()))

    report = json.loads(at.rag("eval", "--dataset", dataset, "--url", URL, "--json").stdout)

    assert report["summary"]["figures"]["hit_rate"]["mean"] == 1.0
    assert report["summary"]["figures"]["abstention_recall"]["mean"] == 0.0
    assert report["summary"]["figures"]["citation_validity"]["mean"] == 1.0


def test_over_http_a_quote_is_compared_with_the_text_that_the_server_gives(dataset: str) -> None:
    lying = server(stored="Signed by Ada.")
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=carrying(lying))

    report = json.loads(at.rag("eval", "--dataset", dataset, "--url", URL, "--json").stdout)

    assert report["summary"]["figures"]["citation_validity"]["mean"] == 0.0


def test_a_missed_threshold_is_named_and_ends_with_5(dataset: str) -> None:
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=carrying(server()))

    shown = at.rag("eval", "--dataset", dataset, "--url", URL, "--min-abstention-recall", "0.5")

    assert shown.exit_code == 5
    assert "abstention_recall 0.0000 < 0.5000" in shown.stderr


def test_the_documents_of_a_set_are_ingested_first(dataset: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    lines = [{"id": "d1", "title": "Signing", "text": "Oona Pellgrave signs."}, {"id": "d2", "text": "Nobody flies."}]
    corpus.write_text("\n".join(map(json.dumps, lines)))
    at = terminal()

    shown = at.rag("eval", "--corpus", str(corpus), "--dataset", dataset, "-w", "handbook")

    assert shown.exit_code == 0, shown.stderr
    assert [(one.source_path, one.title) for one in at.product.texts] == [("d1", "Signing"), ("d2", "d2")]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"id": "1"}', "CORPUS_INVALID"),
        ('{"id": "1", "text": " "}', "CORPUS_INVALID"),
        ('{"id": "1", "text": "a"}\n{"id": "1", "text": "b"}', "CORPUS_INVALID"),
        ("", "CORPUS_INVALID"),
        (None, "CORPUS_MISSING"),
    ],
)
def test_a_broken_corpus_is_refused_before_anything_is_asked(
    dataset: str, tmp_path: Path, content: str | None, code: str
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    if content is not None:
        corpus.write_text(content)

    shown = terminal().rag("eval", "--corpus", str(corpus), "--dataset", dataset)

    assert shown.exit_code == 2
    assert f"[{code}]" in shown.stderr


def test_a_report_can_be_the_baseline_of_the_next(dataset: str, tmp_path: Path) -> None:
    last = tmp_path / "last.json"
    last.write_text(terminal().rag("eval", "--dataset", dataset, "--json").stdout, encoding="utf-8")

    shown = terminal().rag("eval", "--dataset", dataset, "--gate", str(last))

    assert shown.exit_code == 0
    assert f"against {last}" in shown.stdout


def test_a_significant_loss_ends_with_5(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    for path, value in ((before, 1.0), (after, 0.0)):
        path.write_text(json.dumps({"questions": [{"id": one, "figures": {"mrr": value}} for one in range(20)]}))

    worse = terminal().rag("eval", "compare", str(before), str(after))
    better = terminal().rag("eval", "compare", str(after), str(before), "--json")

    assert (worse.exit_code, better.exit_code) == (5, 0)
    assert "mrr" in worse.stdout
    assert "LOSS" in worse.stdout
    assert json.loads(better.stdout)["figures"]["mrr"]["difference"]["mean"] == 1.0


@pytest.mark.parametrize(
    "content", ["", "[]", '{"questions": [{}]}', '{"questions": [{"id": 1, "figures": {"mrr": "high"}}]}']
)
def test_what_is_no_report_is_said_plainly(tmp_path: Path, content: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(content)

    shown = terminal().rag("eval", "compare", str(path), str(path))

    assert shown.exit_code == 2
    assert "[REPORT_INVALID]" in shown.stderr


def test_a_missing_dataset_is_a_usage_error() -> None:
    shown = terminal().rag("eval", "--dataset", "nowhere.jsonl")

    assert shown.exit_code == 2
    assert "[DATASET_MISSING]" in shown.stderr


JUDGING = {
    "AGENTIC_RAG_ENABLE_LLM_JUDGE": "true",
    "AGENTIC_RAG_CHAT_MODEL": "a-model",
    "OPENAI_API_KEY": "a-key",
}


def judging(mark: Grade | LlmError, environ: Mapping[str, str] = JUDGING) -> Terminal:
    answers = {"Who signs?": answered(), "Who flies?": abstained()}
    return Terminal(Product(answers=answers, held=[document("policy.md", 100)], mark=mark), environ=dict(environ))


def test_a_judge_marks_each_answer_against_the_expected_one_and_its_sources(dataset: str) -> None:
    at = judging(Grade(GradeLevel.FULL, GradeLevel.PART))

    figures = json.loads(at.rag("eval", "--dataset", dataset, "--json").stdout)["summary"]["figures"]

    assert (figures["judge_correct"]["mean"], figures["judge_grounded"]["mean"]) == (1.0, 0.5)
    [prompt] = at.product.graded
    shown = ("Who signs?", "Oona Pellgrave", answered().answer.text, "off by Oona Pellgrave.")
    assert all(text in prompt for text in shown)


def test_answers_that_the_judge_gave_no_marks_for_are_counted_by_fault(dataset: str) -> None:
    at = judging(LlmError("PROVIDER_RATE_LIMITED"))

    summary = json.loads(at.rag("eval", "--dataset", dataset, "--json").stdout)["summary"]

    assert summary["unjudged"] == {"PROVIDER_RATE_LIMITED": 1}
    assert "judge_correct" not in summary["figures"]
    assert "not judged: 1 answer (PROVIDER_RATE_LIMITED)" in at.rag("eval", "--dataset", dataset).stdout


def test_a_judge_without_a_chat_model_is_refused_before_anything_is_asked(dataset: str) -> None:
    at = judging(LlmError("unused"), {"AGENTIC_RAG_ENABLE_LLM_JUDGE": "true"})

    shown = at.rag("eval", "--dataset", dataset)

    assert shown.exit_code != 0
    assert "AGENTIC_RAG_CHAT_MODEL" in shown.stderr
    assert not at.product.asked


def test_answers_of_a_server_are_not_judged_here(dataset: str) -> None:
    shown = judging(LlmError("unused")).rag("eval", "--dataset", dataset, "--url", URL)

    assert shown.exit_code == 2
    assert "AGENTIC_RAG_ENABLE_LLM_JUDGE" in shown.stderr


def test_the_demonstration_ingests_the_sample_corpus_first(dataset: str) -> None:
    at = terminal()
    at.product.has_worker = False

    shown = at.rag("eval", "--dataset", dataset, "--demo", "--workspace", "handbook")

    assert shown.exit_code == 0, shown.stderr
    assert at.product.dry_runs == [False]
    assert at.workers_started == 1


def test_every_arm_is_switched_off_in_turn_and_what_it_adds_is_told(dataset: str) -> None:
    at = terminal()

    report = json.loads(at.rag("eval", "--dataset", dataset, "--ablate", "--json").stdout)
    shown = at.rag("eval", "--dataset", dataset, "--ablate")

    assert list(report["ablations"]) == ["dense", "lexical", "graph"]
    assert report["ablations"]["graph"]["recall@5"]["difference"]["questions"] == 1
    weights = [one.options.weights for one in at.product.asked[::2]]
    shares = [None if one is None else (one.vector, one.graph, one.lexical_share) for one in weights[:4]]
    assert shares == [None, (0.7, 0.3, 1.0), (0.7, 0.3, 0.0), (0.7, 0.0, None)]
    assert "what an arm adds" in shown.stdout


def test_a_server_cannot_be_asked_without_an_arm(dataset: str) -> None:
    assert terminal().rag("eval", "--dataset", dataset, "--ablate", "--url", URL).exit_code == 2


def test_a_marked_answer_is_looked_for_in_the_places_of_the_retrieved_chunks(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**LINES[0], "gold_spans": [[52, 60]]}))

    report = json.loads(terminal().rag("eval", "--dataset", str(path), "--json").stdout)

    assert report["summary"]["figures"]["span@5"]["mean"] == 1.0


def test_a_report_becomes_a_page_beside_it(dataset: str, tmp_path: Path) -> None:
    kept = tmp_path / "last.json"
    kept.write_text(terminal().rag("eval", "--dataset", dataset, "--ablate", "--json").stdout, encoding="utf-8")

    shown = terminal().rag("eval", "report", str(kept))

    assert shown.stdout.strip() == str(tmp_path / "last.html")
    assert "<svg" in (tmp_path / "last.html").read_text(encoding="utf-8")


def test_a_run_is_asked_again_of_the_version_it_read() -> None:
    at = terminal()
    run_id = json.loads(at.rag("run", "list", "--json").stdout)[0]["id"]

    same = at.rag("run", "replay", run_id)
    at.product.stored_run = answered()
    at.product.answers = {"Who signs?": replace(abstained("Who signs?"), run_id=UUID(int=501))}
    changed = json.loads(at.rag("run", "replay", run_id, "--newest", "--json").stdout)
    shown = at.rag("run", "replay", run_id, "--newest")

    assert "The same as run" in same.stdout
    assert [one.as_of for one in at.product.asked] == [7, None, None]
    assert [one.options.cache.value for one in at.product.asked] == ["BYPASS"] * 3
    assert not changed["same"]
    assert (changed["before"]["outcome"], changed["after"]["outcome"]) == ("GROUNDED", "ABSTAINED")
    assert f"They part in the stage {changed['differences'][0]['stage']}" in shown.stdout
    assert f"- {changed['removed'][0]}" in shown.stdout
    assert changed["conversation"] == "NOT_KEPT"
    assert "the turns before it, if there were any, are not kept" in shown.stdout


def in_background(at: Terminal, dataset: str) -> str:
    return json.loads(at.rag("eval", "--dataset", dataset, "--background", "--json").stdout)["jobId"]


def test_in_the_background_it_is_a_job_whose_report_comes_later(dataset: str) -> None:
    at = terminal()
    job = in_background(at, dataset)

    early = at.rag("eval", "report", job)

    assert early.exit_code != 0
    assert "0 of 2 questions are answered" in early.stderr


def test_the_report_of_a_job_is_the_one_of_the_command(dataset: str, tmp_path: Path) -> None:
    at = terminal()
    job = in_background(at, dataset)
    kept = json.loads(at.rag("eval", "--dataset", dataset, "--json").stdout)

    async def finish() -> None:
        job_id = decode(job, NodeKind.JOB).key
        async with at.product.database.transaction(HANDBOOK.org_id) as transaction:
            await transaction.eval_runs.finish(HANDBOOK, job_id, json.dumps(kept))

    asyncio.run(finish())
    shown = json.loads(at.rag("eval", "report", job, "--json").stdout)
    page = at.rag("eval", "report", job, "--out", str(tmp_path / "page.html"))

    assert shown == kept
    assert page.exit_code == 0, page.stderr
    assert "hit_rate" in (tmp_path / "page.html").read_text()


def test_what_a_worker_cannot_do_does_not_go_with_background(dataset: str) -> None:
    shown = terminal().rag("eval", "--dataset", dataset, "--background", "--ablate")

    assert shown.exit_code != 0
    assert "--background takes --dataset and --workspace" in shown.stderr
