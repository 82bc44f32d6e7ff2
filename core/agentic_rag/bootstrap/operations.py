"""What operators run."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.postgres.operations.archive import PostgresWorkspaceArchive
from agentic_rag.adapters.postgres.operations.backup import PostgresBackup
from agentic_rag.adapters.postgres.operations.graph_feed import PostgresGraphFeed
from agentic_rag.adapters.postgres.operations.inspection import PostgresInspector
from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder
from agentic_rag.bootstrap.web import WebParts
from agentic_rag.erasure.confirm_drops import ConfirmDrops
from agentic_rag.erasure.erase_workspace import EraseWorkspace
from agentic_rag.erasure.ports import ExternalGraph
from agentic_rag.ingestion.ingest_chunks import IngestChunks
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.backups.create import CreateBackup
from agentic_rag.operations.backups.restore_backup import ReapplyErasures, RestoreBackup
from agentic_rag.operations.calibrate import CalibrateSupport
from agentic_rag.operations.calibrate_similarity import CalibrateSimilarity
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.operations.graph.sync import GraphCheck, GraphSync
from agentic_rag.operations.leak_canaries import LeakCanaries
from agentic_rag.operations.measure_switch import MeasureSwitch
from agentic_rag.operations.profiles.report import ReportProfile
from agentic_rag.operations.proof.prove_run import ProveRun
from agentic_rag.operations.proof.verify_run import VerifyRun
from agentic_rag.operations.prove_erased import ProveErasure
from agentic_rag.operations.prove_workspace_erased import ProveWorkspaceErasure
from agentic_rag.operations.snapshots.ports import WorkspaceArchive
from agentic_rag.operations.snapshots.restore import RestoreSnapshot
from agentic_rag.operations.snapshots.take import TakeSnapshot
from agentic_rag.operations.start_evaluation import Evaluations
from agentic_rag.operations.switch_embedding import SwitchEmbedding
from agentic_rag.operations.vector_index import IndexLimits, MaintainVectorIndex
from agentic_rag.operations.verify import VerifyStores
from agentic_rag.retrieval.ports import IndexBuilder
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.catalogue import TABLES

if TYPE_CHECKING:
    from agentic_rag_migrations.upgrade import MigrationStatus

MAX_VECTOR_INDEXES = 32
"""Of all workspaces together: each index costs every search and publish some planning."""
SPACE_GRACE = timedelta(days=1)
"""How long vectors are kept after a switch to another space: switching back is instant until then."""


class OperationsParts(WebParts):
    """The room `operations`."""

    @cached_property
    def graph_sync(self) -> GraphSync:
        """Brings Neo4j to the corpus version, and reports its state."""
        writer = None
        if self._graph_home:
            from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter

            writer = Neo4jGraphWriter(self._neo4j())
        return GraphSync(
            PostgresGraphFeed(self._pool, self._graph_home), writer, self.telemetry, reading=self.memory.reading
        )

    @cached_property
    def verify(self) -> VerifyStores:
        checks = [GraphCheck(self.graph_sync).run]
        return VerifyStores(
            PostgresInspector(self._pool), self.database, self.blobs, lambda: self.embedder.space, checks
        )

    async def schema_status(self) -> MigrationStatus:
        """Where the database stands. Errors: `DependencyUnavailable`, `Misconfigured` code SCHEMA_TOO_NEW."""
        from agentic_rag_migrations.upgrade import status

        return await status(self.settings.stores.migrating_url)

    @cached_property
    def _graph_traces(self) -> ExternalGraph | None:
        if not self._graph_home:
            return None
        from agentic_rag.adapters.neo4j.traces import Neo4jTraces

        return Neo4jTraces(self._neo4j())

    @cached_property
    def report_profile(self) -> ReportProfile:
        return ReportProfile(self.database, self.telemetry, self.memory.reading)

    @cached_property
    def prove_erasure(self) -> ProveErasure:
        return ProveErasure(self.database, self.cache, self._graph_traces)

    @cached_property
    def verify_run(self) -> VerifyRun:
        return VerifyRun(self.database, self.read_runs, self.clock)

    @cached_property
    def prove_run(self) -> ProveRun:
        return ProveRun(self.database, self.verify_run, self.telemetry)

    @cached_property
    def prove_workspace_erasure(self) -> ProveWorkspaceErasure:
        return ProveWorkspaceErasure(self.database, self.cache, self.blobs, self._graph_traces)

    @cached_property
    def confirm_drops(self) -> ConfirmDrops:
        """The body of FORGET jobs."""
        return ConfirmDrops(self.database, self.telemetry)

    @cached_property
    def erase_workspace(self) -> EraseWorkspace:
        """The body of ERASE jobs."""
        return EraseWorkspace(
            self.database, self.cache, self.blobs, self._index_builder, self._graph_traces, self.telemetry
        )

    @cached_property
    def _index_builder(self) -> IndexBuilder:
        return PostgresIndexBuilder(self.settings.stores.migrating_url)

    @cached_property
    def _archive(self) -> WorkspaceArchive:
        return PostgresWorkspaceArchive(self._pool)

    @cached_property
    def take_snapshot(self) -> TakeSnapshot:
        keep = self.settings.operations.retention_times.snapshots
        return TakeSnapshot(self.database, self._archive, self.blobs, self.clock, self.telemetry, keep)

    @cached_property
    def restore_snapshot(self) -> RestoreSnapshot:
        return RestoreSnapshot(self.database, self._archive, self.blobs, self.cache, self.telemetry, HEAD)

    @cached_property
    def backup_database(self) -> PostgresBackup:
        """The database as backups see it: the login that migrates reads and writes it."""

        async def migrate(to: str | None) -> object:
            from agentic_rag_migrations.upgrade import upgrade

            return await upgrade(self.settings.stores.migrating_url, to)

        return PostgresBackup(self.settings.stores.migrating_url, tuple(TABLES), migrate)

    @cached_property
    def create_backup(self) -> CreateBackup:
        rows = self.backup_database
        return CreateBackup(rows.dump, rows.erasures, self.blobs, HEAD, self.telemetry)

    @cached_property
    def restore_backup(self) -> RestoreBackup:
        rows = self.backup_database
        return RestoreBackup(rows.load, rows.finish, self.new_blobs, HEAD)

    @cached_property
    def reapply_erasures(self) -> ReapplyErasures:
        """Erases again what was erased after a backup."""
        return ReapplyErasures(
            self.database, self.organisations, self.delete, self.request_erasure, self.cache, self.telemetry
        )

    @cached_property
    def switch_spaces(self) -> SwitchEmbedding:
        """Switches workspaces between embedding spaces; the body of REEMBED jobs."""
        measurement = MeasureSwitch(self.database, self.embedders, self.retrieve, self.fusion_weights)
        prices = self.settings.models.prices
        return SwitchEmbedding(
            self.database,
            self.embedders,
            measurement,
            self.telemetry,
            SPACE_GRACE,
            prices,
            reading=self.memory.reading,
        )

    @cached_property
    def keep_index(self) -> MaintainVectorIndex:
        """The body of INDEX jobs."""
        limits = IndexLimits(self.exact_scan_bytes, MAX_VECTOR_INDEXES)
        return MaintainVectorIndex(self.database, self._index_builder, self.recall_check, self.telemetry, limits)

    @cached_property
    def calibrate_support(self) -> CalibrateSupport:
        """Sets the support below which a workspace abstains."""
        return CalibrateSupport(self.database, self.telemetry)

    @cached_property
    def calibrate_similarity(self) -> CalibrateSimilarity:
        """Sets the scale of similarity thresholds."""
        return CalibrateSimilarity(self.database, self.embedders, self.clock, self.telemetry)

    @cached_property
    def evaluations(self) -> Evaluations:
        return Evaluations(self.database, self.telemetry, self.settings.answering.top_k)

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(self.database, self.telemetry)

    @cached_property
    def leak_canaries(self) -> LeakCanaries:
        """The self-attack. It embeds by a rule, so that no tenant pays for it, and stores no run."""
        embedders = only(DeterministicEmbedder())
        ingest = IngestChunks(self.database, embedders, self._analysis)
        return LeakCanaries(self._answer_ports(embedders), ingest, self.organisations)
