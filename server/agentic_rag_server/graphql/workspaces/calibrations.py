"""Calibrations of the support below which a workspace abstains."""

from datetime import datetime

import strawberry

from agentic_rag.models.embedding import calibration as calibrations
from agentic_rag.operations.calibrate import DEFAULT_ERROR, CalibrationWish
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, mutation, to_schema
from agentic_rag_server.graphql.jobs.jobs import Job, show_job

CalibrationSource = strawberry.enum(
    calibrations.CalibrationSource,
    description="CORPUS: questions made from the workspace's passages. GIVEN: a dataset.",
)


@strawberry.type(description="A threshold of support, and what speaks for it.")
class CalibratedLine:
    kind: str | None = strawberry.field(description="The kind of question; null: every kind without its own line.")
    threshold: float
    questions: int = strawberry.field(description="Answerable questions it was drawn from.")
    bound: float = strawberry.field(
        description="A further question like them is abstained on with at most this probability: (those below the "
        "threshold + 1) / (questions + 1)."
    )
    abstained: int = strawberry.field(
        description="Questions abstained on, each judged by a threshold from the other half of them."
    )
    low: float = strawberry.field(description="With `high` the exact 95 % interval of the share abstained on.")
    high: float


@strawberry.type(description="What a calibration of the support measured.")
class Calibration:
    space: str = strawberry.field(description="The embedding space it was measured in and holds for.")
    in_force: bool = strawberry.field(description="False for one that was only to measure.")
    error: float = strawberry.field(description="The share of answerable questions that may be abstained on.")
    source: CalibrationSource  # type: ignore[valid-type]
    pooled: CalibratedLine
    kinds: list[CalibratedLine]
    chunks: int = strawberry.field(description="Passages of the workspace then.")
    corpus_version: int
    measured_at: datetime


@strawberry.type(description="The job that calibrates, or why there is none.")
class CalibratePayload(Payload):
    job: Job | None = None


@strawberry.type(description="The embedding space whose default holds again.")
class ResetCalibrationPayload(Payload):
    space: str | None = None


async def find_calibration(context: RequestContext, workspace: WorkspaceRef, *, trial: bool) -> Calibration | None:
    """The calibration in force, or the newest trial, of the space that answers."""
    found = await context.parts.calibrate_support.find(workspace)
    if found is None:
        return None
    chosen = found.record.trial if trial else found.record.in_force
    return None if chosen is None else _show(chosen, found.space.name, in_force=not trial)


@strawberry.type
class CalibrationMutation:
    @mutation(
        Action.EVALUATE,
        CalibratePayload,
        right=Sight.ORGANISATION,
        description="Have a worker measure the support below which a workspace abstains, on questions made from its "
        "passages, and put it in force unless `dryRun`; an unfinished calibration is returned. Takes the role admin.",
    )
    async def calibrate(
        self, info: Info, workspace_id: strawberry.ID, error: float = DEFAULT_ERROR, dry_run: bool = False
    ) -> CalibratePayload:
        """The result is the workspace's `calibration`, or its `calibrationTrial`."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        wish = CalibrationWish(error, is_trial=dry_run)
        job = await context.parts.calibrate_support.start(workspace, wish, context.principal.subject_id)
        return CalibratePayload(job=show_job(job))

    @mutation(
        Action.EVALUATE,
        ResetCalibrationPayload,
        right=Sight.ORGANISATION,
        description="Go back to the server's threshold; the workspace is calibrated again only when somebody asks for "
        "it. Takes the role admin.",
    )
    async def reset_calibration(self, info: Info, workspace_id: strawberry.ID) -> ResetCalibrationPayload:
        """Takes effect with the next question."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        space = await context.parts.calibrate_support.reset(workspace, context.principal.subject_id)
        return ResetCalibrationPayload(space=space.name)


def _show(found: calibrations.SupportCalibration, space: str, *, in_force: bool) -> Calibration:
    return to_schema(
        Calibration,
        found,
        space=space,
        in_force=in_force,
        pooled=to_schema(CalibratedLine, found.pooled, kind=None),
        kinds=[to_schema(CalibratedLine, line, kind=kind) for kind, line in sorted(found.kinds.items())],
    )
