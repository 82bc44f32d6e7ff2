"""The lies of `make console`, by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.plants import Mutant, Patch


def _one_line_down(patch: Patch) -> None:
    from agentic_rag.adapters.parsing.pdf import quoted_lines

    whole = quoted_lines._lines

    def lying(boxes):
        for line in whole(boxes):
            height = line.top - line.bottom
            yield replace(line, bottom=line.bottom - 1.5 * height, top=line.top - 1.5 * height)

    patch(quoted_lines, "_lines", lying)


def _half_as_high_again(patch: Patch) -> None:
    from agentic_rag.adapters.parsing.pdf import quoted_lines

    whole = quoted_lines._lines

    def lying(boxes):
        for line in whole(boxes):
            yield replace(line, top=line.top + 0.5 * (line.top - line.bottom))

    patch(quoted_lines, "_lines", lying)


def _sealed_with_nothing(patch: Patch) -> None:
    """Maker and checker agree on a seal that covers the question only."""
    from agentic_rag.operations.proof import check_bundle

    patch(check_bundle, "sealed", lambda proof: proof["run"]["question"].encode())


def _blind_to_candidates(patch: Patch) -> None:
    from agentic_rag.answering.runs import difference

    seen = tuple(one for one in difference._BEFORE_THE_DRAFT if one[1] != "candidates")
    patch(difference, "_BEFORE_THE_DRAFT", seen)


def _another_reply(patch: Patch) -> None:
    """The last event is made of another answer."""
    from agentic_rag_server.graphql.answering import stream

    whole = stream.show_answer
    patch(stream, "show_answer", lambda run: whole(replace(run, seconds=run.seconds + 1)))


def _half_the_prompt(patch: Patch) -> None:
    from agentic_rag.models.billing.forecast import CallForecasts
    from agentic_rag.models.chat.request import ChatUsage

    whole = CallForecasts.expect

    def lying(self, prompt):
        told = whole(self, prompt)
        return ChatUsage(told.input_tokens // 2, told.output_tokens)

    patch(CallForecasts, "expect", lying)


MUTANTS: Mapping[str, Mutant] = {
    "marks": Mutant("marks lie a line too low", _one_line_down, "marks on another line"),
    "layers": Mutant("marks are half as high again", _half_as_high_again, "with an IoU of 0.9"),
    "proof": Mutant("the seal covers the question only", _sealed_with_nothing, "tamperings that are not found"),
    "stream": Mutant("the last event has another run", _another_reply, "that are not the reply"),
    "estimates": Mutant("half of each prompt is expected", _half_the_prompt, "answers against the bill"),
    "replay": Mutant("candidates are not compared", _blind_to_candidates, "first stage named wrongly"),
}
