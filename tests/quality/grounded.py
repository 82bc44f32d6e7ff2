"""What GROUNDED is worth on sets with gold answers: how often an answer says it that lacks the gold answer."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag_eval.metrics import Score
from agentic_rag_eval.records import EvalDocument
from tests.bench.reports import Row
from tests.quality.rows import at_least, at_most, share

WITHOUT_GOLD = {"musique": 25.0, "hotpotqa": 6.0, "hotpotqa-dev100": 6.0}
"""Percent of the answers called GROUNDED."""
FALSE_ABSTENTION = 6.0
"""Percent of the answerable questions of any set."""

STUDIES = "pubmedqa"
CONCLUDED = 65.0
"""Percent of its questions."""


def conclusion_row(asked: Sequence[Score], documents: Sequence[EvalDocument]) -> Row:
    """Questions about studies whose abstracts end with what was found: the share of which one of the first two
    citations stands in that last paragraph.
    """
    last = {one.document_id: _folded(one.text.rstrip().rpartition("\n\n")[2]) for one in documents}
    cited = [
        float(
            any(
                one.source_path in asking.question.gold_ids and _folded(one.snippet) in last[one.source_path]
                for one in asking.record.citations[:2]
            )
        )
        for asking in asked
    ]
    return at_least(f"{STUDIES}: a sentence of the last paragraph cited first or second", cited, CONCLUDED)


def _folded(text: str) -> str:
    return " ".join(text.split())


def grounded_rows(name: str, asked: Sequence[Score]) -> list[Row]:
    """The rows of a set; none of gold answers where it has none."""
    known = [one for one in asked if "answer_contained" in one.figures and not one.abstained]
    rows: list[Row] = []
    lacking = [1.0 - one.figures["answer_contained"] for one in known if _is_grounded(one)]
    if lacking:
        row = f"{name}: GROUNDED without the gold answer, of those GROUNDED"
        rows.append(at_most(row, lacking, WITHOUT_GOLD[name]) if name in WITHOUT_GOLD else share(row, lacking))
    holding = [float(_is_grounded(one)) for one in known if one.figures["answer_contained"]]
    if holding:
        rows.append(share(f"{name}: GROUNDED, of answers with the gold answer", holding))
    wrongly = [one.figures["false_abstention"] for one in asked if "false_abstention" in one.figures]
    if wrongly:
        rows.append(at_most(f"{name}: abstained though answerable, nothing set", wrongly, FALSE_ABSTENTION))
    return rows


def _is_grounded(one: Score) -> bool:
    return one.record.outcome == "GROUNDED"
