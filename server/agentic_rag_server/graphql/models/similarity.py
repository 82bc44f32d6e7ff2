"""The scale of similarity thresholds, measured for a workspace's embedding space."""

from datetime import datetime

import strawberry

from agentic_rag.models.embedding import similarity
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, mutation, to_schema
from agentic_rag_server.graphql.models.spaces import GateQuestionInput, read_questions


@strawberry.type(description="What a threshold of the scale keeps and lets through.")
class MeasuredThreshold:
    threshold: float
    cosine: float = strawberry.field(description="The least cosine that passes.")
    recall: float = strawberry.field(description="The share of gold documents whose best passage passes.")
    precision: float | None = strawberry.field(
        description="Of the questions that get a passage, the share whose first one is of a gold document."
    )


@strawberry.type(
    description="A measured scale: similarity is the cosine to the power 1 / `exponent`, so that of the passages that "
    "answer 0.7 keeps 95 in 100 and 0.75 keeps 90. Without one the embedder's holds. "
    + similarity.published_thresholds()
)
class SimilarityCalibration:
    exponent: float
    questions: int
    thresholds: list[MeasuredThreshold]
    measured_at: datetime


@strawberry.input(description="Questions with known answers, 20 to 200.")
class CalibrateSimilarityInput:
    workspace_id: strawberry.ID
    questions: list[GateQuestionInput]
    dry_run: bool = strawberry.field(default=False, description="Measure only.")


@strawberry.type(description="What was measured, or why nothing was.")
class CalibrateSimilarityPayload(Payload):
    calibration: SimilarityCalibration | None = None


@strawberry.type(description="The workspace is on the scale of its model again, or why it is not.")
class ResetSimilarityPayload(Payload):
    done: bool = False


async def find_similarity(context: RequestContext, workspace: WorkspaceRef) -> SimilarityCalibration | None:
    """The scale measured for the space that answers."""
    found = await context.parts.calibrate_support.find(workspace)
    return None if found is None or found.record.similarity is None else _show(found.record.similarity)


def _show(found: similarity.SimilarityCalibration) -> SimilarityCalibration:
    thresholds = [to_schema(MeasuredThreshold, one) for one in found.thresholds]
    return to_schema(SimilarityCalibration, found, thresholds=thresholds)


@strawberry.type
class SimilarityMutation:
    @mutation(
        Action.EVALUATE,
        CalibrateSimilarityPayload,
        right=Sight.ORGANISATION,
        description="Measure the scale of similarity thresholds for the workspace's embedding space, on questions with "
        "known answers, and put it in force unless `dryRun`. Takes the role admin.",
    )
    async def calibrate_similarity(self, info: Info, input: CalibrateSimilarityInput) -> CalibrateSimilarityPayload:
        """Takes effect with the next question."""
        context = info.context
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        found = await context.parts.calibrate_similarity.run(
            workspace, read_questions(input.questions), context.principal.subject_id, is_trial=input.dry_run
        )
        return CalibrateSimilarityPayload(calibration=_show(found))

    @mutation(
        Action.EVALUATE,
        ResetSimilarityPayload,
        right=Sight.ORGANISATION,
        description="Go back to the scale of the model. Takes the role admin.",
    )
    async def reset_similarity(self, info: Info, workspace_id: strawberry.ID) -> ResetSimilarityPayload:
        """Takes effect with the next question."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        await context.parts.calibrate_similarity.reset(workspace, context.principal.subject_id)
        return ResetSimilarityPayload(done=True)
