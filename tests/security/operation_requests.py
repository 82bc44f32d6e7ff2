"""How each operation of the product is asked: fields of the schema and REST routes, each once, reads before changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.security.rights_world import QUESTION

FILE = ("attached.md", b"# Valve\n\nIt opens at 3 bar.", "text/markdown")


@dataclass(frozen=True)
class Request:
    """How an operation is asked. `seen` is what a caller who has it finds in the answer. With `owns_nothing` it names
    nothing of an organisation, so that another one's caller is served with its own.
    """

    text: str
    sent: Mapping[str, Any] | None = None
    seen: str | None = None
    owns_nothing: bool = False
    is_of_reader: bool = False
    """What it is about belongs to the owner who reads it, so an owner who reads nothing is a stranger to it."""
    is_public: bool = False
    """What it is about is readable by everybody in the organisation."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(re.findall(r"%\((\w+)\)s", f"{self.text} {self.sent}"))

    def body(self, ids: Mapping[str, str]) -> dict[str, Any]:
        """What is sent, with the ids in their places."""
        return _fill(self.sent or {}, ids)


def _fill(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return value % ids if "%(" in value else value
    if isinstance(value, Mapping):
        return {name: _fill(one, ids) for name, one in value.items()}
    return [_fill(one, ids) for one in value] if isinstance(value, list) else value


FAULTS = "userErrors { code }"
ASK = f'ragAnswer(input: {{workspaceId: %(workspace)s, question: "{QUESTION}"}})'
PUSHED = 'input: {workspaceId: %(workspace)s, source: "directory:/srv"}'
SHARED = '{keys: ["owner", "writer", "reader"]}'

FIELDS: Mapping[str, Request] = {
    "Query.node": Request("node(id: %(document)s) { id }"),
    "Query.document": Request("document(id: %(document)s) { id }"),
    "Query.documents": Request("documents(workspaceId: %(workspace)s) { nodes { id } }", seen="document"),
    "Query.chunk": Request("chunk(id: %(chunk)s) { id }", is_public=True),
    "Query.job": Request("job(id: %(job)s) { id }"),
    "Query.jobs": Request("jobs(workspaceId: %(workspace)s, first: 100) { nodes { id } }", seen="job"),
    "Query.deadLetters": Request("deadLetters(workspaceId: %(workspace)s) { nodes { id } }", seen="dead"),
    "Query.workspaces": Request("workspaces { id }", seen="workspace"),
    "Query.workspace": Request("workspace(id: %(workspace)s) { id }"),
    "Query.workspaceByName": Request('workspaceByName(name: "handbook") { id }'),
    "Query.workspaceByReference": Request('workspaceByReference(kind: PROJECT, externalRef: "p-7") { id }'),
    "Query.organisation": Request("organisation { id }", seen="organisation"),
    "Query.caller": Request("caller { subject }", owns_nothing=True),
    "Query.apiKeys": Request("apiKeys { id }", seen="key"),
    "Query.auditLog": Request(
        "auditLog(first: 100, workspaceId: %(workspace)s) { nodes { workspaceId } }", seen="workspace"
    ),
    "Query.workers": Request("workers { slots }", owns_nothing=True),
    "Query.rateLimits": Request("rateLimits { asks }", owns_nothing=True),
    "Query.providerKeys": Request("providerKeys { provider }", owns_nothing=True),
    "Query.modelSettings": Request("modelSettings { mustBringKey }", owns_nothing=True),
    "Query.embeddingSpaces": Request("embeddingSpaces(workspaceId: %(workspace)s) { done }"),
    "Query.usage": Request('usage(from: "2026-11-01", to: "2026-11-02", workspaceId: %(workspace)s) { pricedOn }'),
    "Query.budgets": Request("budgets(workspaceId: %(workspace)s) { scope }"),
    "Query.webBudgets": Request("webBudgets(workspaceId: %(workspace)s) { scope }"),
    "Query.estimateCrawl": Request(
        'estimateCrawl(input: {workspaceId: %(workspace)s, urls: ["https://docs.example.com/"]}) { pages }'
    ),
    "Query.crawlPages": Request("crawlPages(id: %(job)s) { url }"),
    "Query.contextTemplates": Request("contextTemplates(workspaceId: %(workspace)s) { name }"),
    "Query.run": Request("run(id: %(run)s) { id }"),
    "Query.runs": Request('runs(workspaceId: %(workspace)s, filter: {words: "water"}) { nodes { id } }', seen="run"),
    "Query.thread": Request("thread(id: %(thread)s) { id }"),
    "Query.threads": Request("threads(workspaceId: %(workspace)s) { nodes { id } }", seen="thread"),
    "Thread.runs": Request("thread(id: %(thread)s) { runs { nodes { id } } }"),
    "Mutation.renameThread": Request(f'renameThread(id: %(thread)s, title: "Pumps") {{ thread {{ id }} {FAULTS} }}'),
    "Mutation.deleteThread": Request(f"deleteThread(id: %(new_thread)s) {{ deletedRuns {FAULTS} }}"),
    "Mutation.deleteRun": Request(f"deleteRun(id: %(new_run)s) {{ deletedId {FAULTS} }}"),
    "Query.savedQuestions": Request("savedQuestions(workspaceId: %(workspace)s) { id }", seen="saved"),
    "Mutation.saveQuestion": Request(f"saveQuestion(runId: %(run)s) {{ saved {{ id }} {FAULTS} }}"),
    "Mutation.removeSavedQuestion": Request(f"removeSavedQuestion(id: %(new_saved)s) {{ removedId {FAULTS} }}"),
    "Query.explainRun": Request("explainRun(runId: %(run)s) { searches }"),
    "Query.verifyRun": Request("verifyRun(id: %(run)s) { holds }"),
    "Query.proveRun": Request("proveRun(id: %(run)s) { key }"),
    "Query.diffAnswers": Request("diffAnswers(runId: %(run)s, laterRunId: %(run)s) { same }"),
    "Mutation.replayRun": Request(f"replayRun(id: %(run)s) {{ comparison {{ same }} {FAULTS} }}"),
    "Query.gateDecision": Request(
        f'gateDecision(input: {{workspaceId: %(workspace)s, question: "{QUESTION}"}}) '
        f"{{ decision {{ score }} {FAULTS} }}"
    ),
    "Query.gateStatus": Request("gateStatus(workspaceId: %(workspace)s) { mode }"),
    "Query.gateReport": Request('gateReport(workspaceId: %(workspace)s, since: "2026-01-01T00:00:00Z") { runs }'),
    "Query.marketingReport": Request(
        'marketingReport(workspaceId: %(workspace)s, brands: ["Valve"]) { documents disclosures { label { text } } }'
    ),
    "Query.codeReport": Request("codeReport(workspaceId: %(workspace)s) { files leftOver { symbol } }"),
    "Query.gateEvaluation": Request("gateEvaluation(workspaceId: %(workspace)s) { plan }"),
    "Query.gateCases": Request('gateCases(workspaceId: %(workspace)s, since: "2026-01-01T00:00:00Z") { runId }'),
    "Subscription.ragAnswerStream": Request(
        f'ragAnswerStream(input: {{workspaceId: %(workspace)s, question: "{QUESTION}"}}) '
        f"{{ answer {{ outcome {FAULTS} }} }}"
    ),
    "Subscription.jobEvents": Request("jobEvents(workspaceId: %(workspace)s) { seq }"),
    "Subscription.documentEvents": Request("documentEvents(workspaceId: %(workspace)s) { seq }"),
    "Mutation.cancelRun": Request(f"cancelRun(id: %(run)s) {{ cancelled {FAULTS} }}"),
    "Mutation.submitFeedback": Request(f"submitFeedback(input: {{runId: %(run)s, rating: GOOD}}) {{ {FAULTS} }}"),
    "Query.gateReplay": Request('gateReplay(workspaceId: %(workspace)s, since: "2026-01-01T00:00:00Z") { runs }'),
    "Query.evalRun": Request("evalRun(jobId: %(evaluation)s) { dataset }"),
    "Query.snapshots": Request("snapshots(workspaceId: %(workspace)s) { id }", seen="snapshot"),
    "Query.sources": Request("sources(workspaceId: %(workspace)s) { id }", seen="source"),
    "Query.source": Request("source(id: %(source)s) { id }"),
    "Query.pushedDocuments": Request('pushedDocuments(workspaceId: %(workspace)s, source: "directory:/srv") { ready }'),
    "Query.pushedSources": Request("pushedSources(workspaceId: %(workspace)s)"),
    "Query.workspaceErasures": Request("workspaceErasures { subject }", seen="erased"),
    "Query.proveWorkspaceErased": Request("proveWorkspaceErased(workspaceId: %(erased)s) { erased }"),
    "Query.proveTenantErased": Request("proveTenantErased(id: %(organisation)s) { erased }"),
    "Query.storedSnapshots": Request("storedSnapshots { id }", seen="snapshot"),
    "Query.documentChunks": Request("documentChunks(documentId: %(document)s) { nodes { id } }"),
    "Query.samplePassages": Request("samplePassages(workspaceId: %(workspace)s) { text }"),
    "Query.verification": Request("verification(workspaceId: %(workspace)s) { failed }"),
    "Query.denseRecall": Request("denseRecall(workspaceId: %(workspace)s) { recall }"),
    "Query.graphStatus": Request("graphStatus(workspaceId: %(workspace)s) { equal }"),
    "Query.schemaStatus": Request("schemaStatus { head }", owns_nothing=True),
    "Query.tenants": Request("tenants { id }", owns_nothing=True),
    "Query.undecodableMessages": Request("undecodableMessages { nodes { id } }", owns_nothing=True),
    "Query.documentId": Request('documentId(workspaceId: %(workspace)s, sourcePath: "shared.md")', seen="document"),
    "Query.proveErased": Request("proveErased(documentId: %(document)s) { erased }"),
    "Query.estimateEmbeddingSwitch": Request(
        'estimateEmbeddingSwitch(workspaceId: %(workspace)s, to: "deterministic") { tokens }'
    ),
    "Query.estimateAnswer": Request(
        f'estimateAnswer(input: {{workspaceId: %(workspace)s, question: "{QUESTION}"}}) {{ tokens costUsd }}'
    ),
    "Query.ragAnswer": Request(f"{ASK} {{ outcome {FAULTS} }}"),
    "Query.searchPassages": Request(
        f'searchPassages(input: {{workspaceId: %(workspace)s, query: "{QUESTION}"}}) {{ corpusVersion {FAULTS} }}'
    ),
    "Query.entities": Request(f'entities(workspaceId: %(workspace)s, text: "{QUESTION}") {{ name }}'),
    "Query.entity": Request('entity(workspaceId: %(workspace)s, name: "pump") { name }'),
    "Query.context": Request(
        f'context(input: {{workspaces: [{{workspaceId: %(workspace)s}}], query: "{QUESTION}", '
        f'template: "team_guidelines"}}) {{ step {FAULTS} }}'
    ),
    "Passage.document": Request(
        f'searchPassages(input: {{workspaceId: %(workspace)s, query: "{QUESTION}"}}) '
        f"{{ passages {{ document {{ id }} }} {FAULTS} }}",
        is_public=True,
    ),
    "Document.text": Request("document(id: %(document)s) { text(start: 0, end: 4) { characters } }"),
    "Document.readableBy": Request("document(id: %(document)s) { readableBy { keys } }"),
    "Job.arguments": Request("job(id: %(job)s) { arguments { name } }"),
    "Job.attemptHistory": Request("job(id: %(job)s) { attemptHistory { attempt } }"),
    "Job.queuePlace": Request("job(id: %(job)s) { queuePlace { before } }"),
    "Job.document": Request("job(id: %(job)s) { document { id } }"),
    "Workspace.corpusVersion": Request("workspace(id: %(workspace)s) { corpusVersion }"),
    "Workspace.graphVersion": Request("workspace(id: %(workspace)s) { graphVersion }"),
    "DocumentConnection.totalCount": Request(
        "documents(workspaceId: %(workspace)s) { totalCount nodes { id } }", seen="document"
    ),
    "RunConnection.totalCount": Request(
        # Callers of the matrix ask the same question, each after this time.
        'runs(workspaceId: %(workspace)s, filter: {words: "water", before: %(asked)s}) { totalCount nodes { id } }',
        seen="run",
    ),
    "Run.versions": Request("run(id: %(run)s) { versions { corpusVersion } }"),
    "Run.feedback": Request("run(id: %(run)s) { feedback { rating } }"),
    "Workspace.calibration": Request("workspace(id: %(workspace)s) { calibration { space } }"),
    "Workspace.similarityCalibration": Request("workspace(id: %(workspace)s) { similarityCalibration { exponent } }"),
    "Workspace.calibrationTrial": Request("workspace(id: %(workspace)s) { calibrationTrial { space } }"),
    "EvalRun.job": Request("evalRun(jobId: %(evaluation)s) { job { id } }"),
    "Citation.document": Request(f"{ASK} {{ citations {{ document {{ id }} }} {FAULTS} }}", is_public=True),
    "Candidate.text": Request(f"{ASK} {{ debug {{ candidates {{ text }} }} {FAULTS} }}", is_public=True),
    "Mutation.cancelJob": Request(f"cancelJob(id: %(job)s) {{ outcome {FAULTS} }}", is_of_reader=True),
    "Mutation.ragAnswer": Request(f"{ASK} {{ outcome {FAULTS} }}"),
    "Mutation.createWorkspace": Request(
        f"createWorkspace(input: {{name: %(fresh)s}}) {{ {FAULTS} }}", owns_nothing=True
    ),
    "Mutation.setWorkspaceAccess": Request(
        f'setWorkspaceAccess(workspaceId: %(new_workspace)s, readers: ["group:a"]) {{ workspace {{ id }} {FAULTS} }}'
    ),
    "Mutation.renameWorkspace": Request(
        f'renameWorkspace(workspaceId: %(workspace)s, name: "handbook") {{ workspace {{ name }} {FAULTS} }}'
    ),
    "Mutation.calibrateSimilarity": Request(
        f"calibrateSimilarity(input: {{workspaceId: %(workspace)s, questions: []}}) {{ {FAULTS} }}"
    ),
    "Mutation.resetSimilarity": Request(f"resetSimilarity(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.deleteWorkspace": Request(
        f'deleteWorkspace(workspaceId: %(workspace)s, confirmName: "other") {{ {FAULTS} }}'
    ),
    "Mutation.deleteOrganisation": Request(
        f'deleteOrganisation(confirmName: "other") {{ {FAULTS} }}', owns_nothing=True
    ),
    "Mutation.renameOrganisation": Request(f"renameOrganisation(name: %(fresh)s) {{ {FAULTS} }}", owns_nothing=True),
    "Mutation.updateWorkspaceSettings": Request(
        f"updateWorkspaceSettings(input: {{workspaceId: %(workspace)s, historyDays: 5}}) {{ {FAULTS} }}"
    ),
    "Mutation.saveContextTemplate": Request(
        'saveContextTemplate(input: {workspaceId: %(workspace)s, name: "own", heading: "## Own"}) '
        f"{{ template {{ version }} {FAULTS} }}"
    ),
    "Mutation.deleteContextTemplate": Request(
        f"deleteContextTemplate(workspaceId: %(workspace)s, name: %(template)s) {{ {FAULTS} }}"
    ),
    "Mutation.estimateUpload": Request(
        f'estimateUpload(workspaceId: %(workspace)s, file: $file, sourcePath: "shared.md") {{ {FAULTS} }}'
    ),
    "Mutation.uploadDocument": Request(
        f'uploadDocument(workspaceId: %(workspace)s, file: $file, sourcePath: "shared.md") {{ {FAULTS} }}'
    ),
    "Mutation.updateDocument": Request(
        f'updateDocument(id: %(document)s, metadata: {{tags: ["pumps"], domain: "machines"}}) {{ {FAULTS} }}'
    ),
    "Mutation.setDocumentAccess": Request(f"setDocumentAccess(id: %(document)s, readableBy: {SHARED}) {{ {FAULTS} }}"),
    "Mutation.setDocumentWriters": Request(
        f'setDocumentWriters(id: %(document)s, writers: ["key:writer"]) {{ {FAULTS} }}'
    ),
    "Mutation.withdrawDocument": Request(f"withdrawDocument(id: %(new_document)s) {{ {FAULTS} }}"),
    "Mutation.restoreDocument": Request(f"restoreDocument(id: %(document)s) {{ {FAULTS} }}"),
    "Mutation.transferOwnership": Request(f'transferOwnership(id: %(document)s, to: "key:owner") {{ {FAULTS} }}'),
    "Mutation.reingest": Request(f"reingest(documentId: %(document)s) {{ {FAULTS} }}"),
    "Mutation.deleteDocument": Request(f"deleteDocument(id: %(new_document)s) {{ {FAULTS} }}"),
    "Mutation.addSource": Request(
        f"addSource(input: {{workspaceId: %(workspace)s, name: %(fresh)s, kind: SITEMAP, everySeconds: 0, "
        f'location: "https://docs.example.com/sitemap.xml"}}) {{ {FAULTS} }}'
    ),
    "Mutation.searchWeb": Request(f'searchWeb(input: {{workspaceId: %(workspace)s, query: "tide"}}) {{ {FAULTS} }}'),
    "Mutation.crawl": Request(
        f'crawl(input: {{workspaceId: %(workspace)s, urls: ["https://docs.example.com/"]}}) {{ {FAULTS} }}'
    ),
    "Mutation.pushListing": Request(f"pushListing({PUSHED}, file: $file, dryRun: true) {{ {FAULTS} }}"),
    "Mutation.pushFile": Request(f'pushFile({PUSHED}, path: "pushed.md", file: $file) {{ {FAULTS} }}'),
    "Mutation.syncSource": Request(f"syncSource(id: %(source)s) {{ {FAULTS} }}"),
    "Mutation.removeSource": Request(f"removeSource(id: %(new_source)s) {{ {FAULTS} }}"),
    "Mutation.replayDeadLetter": Request(f"replayDeadLetter(id: %(dead)s) {{ {FAULTS} }}"),
    "Mutation.purgeDeadLetter": Request(f"purgeDeadLetter(id: %(dead)s) {{ {FAULTS} }}"),
    "Mutation.createSnapshot": Request(f"createSnapshot(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.restoreSnapshot": Request(f"restoreSnapshot(id: %(snapshot)s, into: %(fresh)s) {{ {FAULTS} }}"),
    "Mutation.deleteSnapshot": Request(f"deleteSnapshot(id: %(snapshot)s) {{ {FAULTS} }}"),
    "Mutation.rebuildGraph": Request(f"rebuildGraph(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.createTenant": Request(f"createTenant(input: {{name: %(fresh)s}}) {{ {FAULTS} }}"),
    "Mutation.updateTenant": Request(f"updateTenant(input: {{id: %(organisation)s}}) {{ {FAULTS} }}"),
    "Mutation.attackTenants": Request(f"attackTenants {{ {FAULTS} }}"),
    "Mutation.purgeUndecodableMessage": Request(f"purgeUndecodableMessage(id: %(organisation)s) {{ {FAULTS} }}"),
    "Mutation.rotateMasterKey": Request(f"rotateMasterKey {{ {FAULTS} }}"),
    "Mutation.switchEmbeddingSpace": Request(
        f'switchEmbeddingSpace(input: {{workspaceId: %(workspace)s, to: "deterministic"}}) {{ {FAULTS} }}'
    ),
    "Mutation.cancelEmbeddingSwitch": Request(f"cancelEmbeddingSwitch(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.startEvalRun": Request(
        f'startEvalRun(input: {{workspaceId: %(workspace)s, dataset: "own", questions: [{{id: "1", '
        f'question: "{QUESTION}", goldIds: ["pump.txt"]}}]}}) {{ {FAULTS} }}'
    ),
    "Mutation.calibrate": Request(f"calibrate(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.resetCalibration": Request(f"resetCalibration(workspaceId: %(workspace)s) {{ {FAULTS} }}"),
    "Mutation.createApiKey": Request(
        f"createApiKey(input: {{name: %(fresh)s, role: VIEWER, scopes: [ADMIN]}}) {{ {FAULTS} }}", owns_nothing=True
    ),
    "Mutation.revokeApiKey": Request(f"revokeApiKey(id: %(key)s) {{ {FAULTS} }}"),
    "Mutation.setFeature": Request(
        "setFeature(flag: RAG_GUIDELINES, on: true) { organisation { name } }", owns_nothing=True
    ),
    "Mutation.setRateLimits": Request(f"setRateLimits(input: {{asks: 1000000}}) {{ {FAULTS} }}", owns_nothing=True),
    "Mutation.setBudget": Request(f"setBudget(input: {{workspaceId: %(workspace)s, dayUsd: 5}}) {{ {FAULTS} }}"),
    "Mutation.updateModelSettings": Request(
        f'updateModelSettings(input: {{defaultModel: ""}}) {{ {FAULTS} }}', owns_nothing=True
    ),
    "Mutation.setProviderKey": Request(
        f'setProviderKey(input: {{provider: OPENAI, key: "sk-canary-0123456789"}}) {{ {FAULTS} }}', owns_nothing=True
    ),
    "Mutation.removeProviderKey": Request(f"removeProviderKey(provider: OPENAI) {{ {FAULTS} }}", owns_nothing=True),
}
"""How each field is asked, reads before changes."""

PARENTS = {
    "Thread.runs": "Query.thread",
    "Document.text": "Query.document",
    "Document.readableBy": "Query.document",
    "Job.arguments": "Query.job",
    "Job.attemptHistory": "Query.job",
    "Job.queuePlace": "Query.job",
    "Job.document": "Query.job",
    "Workspace.calibration": "Query.workspace",
    "Workspace.calibrationTrial": "Query.workspace",
    "Workspace.similarityCalibration": "Query.workspace",
    "Workspace.corpusVersion": "Query.workspace",
    "Workspace.graphVersion": "Query.workspace",
    "DocumentConnection.totalCount": "Query.documents",
    "RunConnection.totalCount": "Query.runs",
    "Run.versions": "Query.run",
    "Run.feedback": "Query.run",
    "EvalRun.job": "Query.evalRun",
    "Citation.document": "Query.ragAnswer",
    "Passage.document": "Query.searchPassages",
    "Candidate.text": "Query.ragAnswer",
}

_DOCUMENT = "/v1/workspaces/%(workspace)s/documents/%(document)s"
_AGENT = "/organization/%(organisation)s/agents/a-7/documents"
_GUIDELINES = "/api/projects/p-7/guidelines"
_STORE = "/v1/vector_stores/%(workspace)s"
FORM = {"files": {"file": FILE}}

ROUTES: Mapping[str, Request] = {
    "getDocument": Request(_DOCUMENT),
    "getOriginal": Request("/v1/documents/%(document)s/source"),
    "getDocumentText": Request("/v1/documents/%(document)s/text?start=0&end=4"),
    "getCitedPage": Request("/v1/runs/%(run)s/citations/1.png"),
    "getCitedOriginal": Request("/v1/runs/%(run)s/citations/1/source"),
    "getChunk": Request("/v1/chunks/%(chunk)s", is_public=True),
    "listModels": Request("/v1/models", owns_nothing=True),
    "getModel": Request("/v1/models/handbook"),
    "createChatCompletion": Request(
        "/v1/chat/completions", {"json": {"model": "handbook", "messages": [{"role": "user", "content": QUESTION}]}}
    ),
    "createResponse": Request("/v1/responses", {"json": {"model": "handbook", "input": QUESTION}}),
    "getResponse": Request("/v1/responses/resp_%(run)s"),
    "listResponseInputItems": Request("/v1/responses/resp_%(run)s/input_items"),
    "cancelResponse": Request("/v1/responses/resp_%(run)s/cancel"),
    "listFiles": Request("/v1/files", owns_nothing=True),
    "getFile": Request("/v1/files/%(document)s"),
    "getFileContent": Request("/v1/files/%(document)s/content"),
    "listVectorStores": Request("/v1/vector_stores", seen="workspace"),
    "getVectorStore": Request(_STORE),
    "searchVectorStore": Request(f"{_STORE}/search", {"json": {"query": QUESTION}}),
    "listVectorStoreFiles": Request(f"{_STORE}/files", seen="document"),
    "getVectorStoreFile": Request(f"{_STORE}/files/%(document)s"),
    "getVectorStoreFileContent": Request(f"{_STORE}/files/%(document)s/content"),
    "listGuidelines": Request(_GUIDELINES, seen="guideline"),
    "getInlineGuidelines": Request(f"{_GUIDELINES}/inline", owns_nothing=True),
    "listAgentDocuments": Request(_AGENT, seen="attached"),
    "searchPassages": Request("/v1/search", {"json": {"query": QUESTION, "workspaceId": "%(workspace)s"}}),
    "prepareContext": Request(
        "/v1/context",
        {
            "json": {
                "query": QUESTION,
                "workspaces": [{"workspaceId": "%(workspace)s"}],
                "template": "team_guidelines",
            }
        },
    ),
    "createFile": Request("/v1/files", FORM, owns_nothing=True),
    "createVectorStore": Request("/v1/vector_stores", {"json": {"name": "%(fresh)s"}}, owns_nothing=True),
    "addVectorStoreFile": Request(f"{_STORE}/files", {"json": {"file_id": "%(document)s"}}),
    "updateVectorStore": Request(_STORE, {"json": {"name": "handbook"}}),
    "deleteVectorStore": Request("/v1/vector_stores/%(new_workspace)s"),
    "updateVectorStoreFile": Request(f"{_STORE}/files/%(document)s", {"json": {"attributes": {"team": "core"}}}),
    "createVectorStoreFileBatch": Request(f"{_STORE}/file_batches", {"json": {"file_ids": ["%(document)s"]}}),
    "getVectorStoreFileBatch": Request(f"{_STORE}/file_batches/%(batch)s"),
    "listVectorStoreFileBatchFiles": Request(f"{_STORE}/file_batches/%(batch)s/files"),
    "cancelVectorStoreFileBatch": Request(f"{_STORE}/file_batches/%(batch)s/cancel"),
    "deleteVectorStoreFile": Request(f"{_STORE}/files/%(new_document)s"),
    "deleteResponse": Request("/v1/responses/resp_%(new_run)s"),
    "deleteFile": Request("/v1/files/%(new_document)s"),
    "listContextTemplates": Request("/v1/workspaces/%(workspace)s/templates"),
    "saveContextTemplate": Request("/v1/workspaces/%(workspace)s/templates/own-2", {"json": {"heading": "## Own"}}),
    "deleteContextTemplate": Request("/v1/workspaces/%(workspace)s/templates/%(template)s"),
    "estimateUpload": Request(
        "/v1/workspaces/%(workspace)s/documents/estimate", {**FORM, "data": {"sourcePath": "shared.md"}}
    ),
    "estimateEmbeddingSwitch": Request("/v1/workspaces/%(workspace)s/embeddings/estimate?to=deterministic"),
    "uploadDocument": Request("/v1/workspaces/%(workspace)s/documents", {**FORM, "data": {"sourcePath": "shared.md"}}),
    "reingestDocument": Request(f"{_DOCUMENT}/reingest"),
    "updateDocument": Request("/v1/documents/%(document)s", {"json": {"metadata": {"tags": ["pumps"]}}}),
    "setDocumentReaders": Request(
        f"{_DOCUMENT}/readers", {"json": {"readableBy": ["key:owner", "key:writer", "key:reader"]}}
    ),
    "setDocumentWriters": Request(f"{_DOCUMENT}/writers", {"json": {"writers": ["key:writer"]}}),
    "withdrawDocument": Request("/v1/workspaces/%(workspace)s/documents/%(new_document)s/withdrawal"),
    "restoreDocument": Request(f"{_DOCUMENT}/withdrawal"),
    "transferOwnership": Request(f"{_DOCUMENT}/owner", {"json": {"owner": "key:owner"}}),
    "deleteDocument": Request("/v1/workspaces/%(workspace)s/documents/%(new_document)s"),
    "uploadGuideline": Request(f"{_GUIDELINES}/upload", FORM, owns_nothing=True),
    "setInlineGuidelines": Request(
        f"{_GUIDELINES}/inline", {"json": {"inlineGuidelines": "Be brief."}}, owns_nothing=True
    ),
    "deleteGuideline": Request(f"{_GUIDELINES}/%(new_guideline)s"),
    "uploadAgentDocument": Request(_AGENT, FORM),
    "deleteAgentDocument": Request(f"{_AGENT}/%(new_attached)s"),
}
"""How each route is asked, reads before changes."""

TOOLS: Mapping[str, Request] = {
    "search": Request("/mcp?workspace=handbook", {"query": QUESTION}),
    "fetch": Request("/mcp", {"id": "%(document)s"}),
    "rag_answer": Request("/mcp", {"question": QUESTION, "workspace": "handbook"}),
    "retrieve_context": Request("/mcp", {"query": QUESTION, "workspaces": ["handbook"]}),
    "code_search": Request("/mcp", {"query": QUESTION, "workspace": "handbook"}),
    "list_documents": Request("/mcp", {"workspace": "handbook", "first": 100}, seen="document"),
    "document_outline": Request("/mcp", {"id": "%(document)s"}),
    "document_section": Request("/mcp", {"id": "%(document)s"}),
    "resources/list": Request("/mcp?workspace=handbook", {}, seen="document"),
    "resources/read": Request("/mcp", {"uri": "rag://documents/%(document)s"}),
}
"""How each tool is called, and how resources are asked, with their arguments."""
