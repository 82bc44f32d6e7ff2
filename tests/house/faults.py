"""Faults that the suites must notice: one small change each, over all rooms, adapters and entry points."""

from __future__ import annotations

from dataclasses import dataclass

CORE = "core/agentic_rag"


@dataclass(frozen=True, slots=True)
class Fault:
    """`old` stands exactly once in `file`; with `new` in its place the product does wrong what `note` says."""

    file: str
    old: str
    new: str
    note: str
    tests: tuple[str, ...]
    """The tests that are run first; the whole suite follows when they notice nothing."""


FAULTS = (
    Fault(
        f"{CORE}/kernel/ttl_cache.py",
        "now - found.loaded_at < self._seconds",
        "now - found.loaded_at < 2 * self._seconds",
        "a cached value is served for twice its time",
        ("tests/unit/kernel",),
    ),
    Fault(
        f"{CORE}/kernel/public_ids.py",
        "if found is None or (expected and found.kind not in expected):",
        "if found is None:",
        "an id of another kind is taken",
        ("tests/unit/kernel",),
    ),
    Fault(
        f"{CORE}/kernel/error_redaction.py",
        "_JWT.sub(_HIDDEN, _PROVIDER_KEY.sub(_HIDDEN, text))",
        "_PROVIDER_KEY.sub(_HIDDEN, text)",
        "tokens stand in stored error messages",
        ("tests/unit/kernel",),
    ),
    Fault(
        f"{CORE}/language/tokenizer.py",
        "if not index or piece.casefold() not in _CLITICS",
        "if not index or piece not in _CLITICS",
        "clitics in capitals become terms",
        ("tests/unit/language",),
    ),
    Fault(
        f"{CORE}/language/sentences.py",
        "if length < _SHORT_LINE and (",
        "if length <= _SHORT_LINE or (",
        "long lines end sentences",
        ("tests/unit/language",),
    ),
    Fault(
        f"{CORE}/web/url_policy.py",
        "int(text) not in ALLOWED_PORTS",
        "int(text) > 65535",
        "pages are fetched from any port",
        ("tests/unit/web",),
    ),
    Fault(
        f"{CORE}/web/url_policy.py",
        '            "169.254.0.0/16",\n',
        "",
        "the cloud's metadata address may be fetched",
        ("tests/unit/web",),
    ),
    Fault(
        f"{CORE}/tenancy/access.py",
        "if not principals or may_manage_access(setter) or",
        "if not principals or",
        "whoever manages a workspace becomes a reader of what they share",
        ("tests/unit/tenancy", "tests/unit/documents"),
    ),
    Fault(
        f"{CORE}/tenancy/manage_api_keys.py",
        "if scopes is not None and not scopes:",
        "if scopes is None:",
        "an API key of no scope can be made",
        ("tests/unit/tenancy", "tests/api/test_organisations.py"),
    ),
    Fault(
        f"{CORE}/models/billing/usage.py",
        "charge.input_tokens, charge.output_tokens, charge.cost_usd",
        "charge.output_tokens, charge.input_tokens, charge.cost_usd",
        "tokens read and written are exchanged in the bill",
        ("tests/unit/models",),
    ),
    Fault(
        f"{CORE}/models/chat/reply_fields.py",
        "not isinstance(value, int) or isinstance(value, bool)",
        "not isinstance(value, int)",
        "a model's `true` is read as the number 1",
        ("tests/unit/models", "tests/unit/answering/test_prompts.py"),
    ),
    Fault(
        f"{CORE}/models/embedding/space.py",
        "record is None or record.state is not SpaceState.FILLING",
        "record is None or record.state is SpaceState.FILLING",
        "a space that is still filled is searched",
        ("tests/unit/models", "tests/unit/retrieval", "tests/unit/operations"),
    ),
    Fault(
        f"{CORE}/workspaces/settings.py",
        "len(self.inline_guidelines) > MAX_INLINE_CHARACTERS",
        "len(self.inline_guidelines) > 2 * MAX_INLINE_CHARACTERS",
        "guidelines of twice the limit are stored",
        ("tests/unit/workspaces",),
    ),
    Fault(
        f"{CORE}/jobs/job.py",
        "if not transient or attempts_made >= self.attempts:",
        "if not transient or attempts_made > self.attempts:",
        "a job is tried once too often",
        ("tests/unit/jobs",),
    ),
    Fault(
        f"{CORE}/documents/revision_diff.py",
        "        chunk.page,\n        chunk.line_start,",
        "        chunk.line_start,",
        "a chunk that moved to another page keeps its old page",
        ("tests/unit/documents", "tests/unit/ingestion"),
    ),
    Fault(
        f"{CORE}/retrieval/fusion.py",
        "gain = (RRF_K + 1) / (RRF_K + rank)",
        "gain = (RRF_K + 1) / (RRF_K + rank + 1)",
        "the first of every arm has less than the whole weight",
        ("tests/unit/retrieval",),
    ),
    Fault(
        f"{CORE}/retrieval/fusion.py",
        "return lexical / (lexical + dense_trust)",
        "return dense_trust / (lexical + dense_trust)",
        "the shares of the text arms are exchanged",
        ("tests/unit/retrieval",),
    ),
    Fault(
        f"{CORE}/retrieval/lexical/bm25.py",
        "places, frequencies = places[seen], frequencies[seen]",
        "frequencies = frequencies * seen",
        "document frequency counts chunks that are not visible",
        ("tests/unit/retrieval",),
    ),
    Fault(
        f"{CORE}/retrieval/selection.py",
        "self._of_document[chunk.document_id] >= cap",
        "self._of_document[chunk.document_id] > cap",
        "one passage too many of a document",
        ("tests/unit/retrieval",),
    ),
    Fault(
        f"{CORE}/answering/verification/citations.py",
        'line_end=first_line + chunk.text.count("\\n", sentence.start, sentence.end)',
        'line_end=first_line + chunk.text.count("\\n", 0, sentence.end)',
        "citations end at the wrong line",
        ("tests/unit/answering",),
    ),
    Fault(
        f"{CORE}/answering/verification/check.py",
        "< MIN_OVERLAP * len(said)",
        "< 0 * len(said)",
        "a quote that has nothing to do with its sentence proves it",
        ("tests/unit/answering",),
    ),
    Fault(
        f"{CORE}/answering/runs/cache_key.py",
        "        str(context.corpus_version),\n",
        "",
        "a cached answer outlives the documents that it cites",
        ("tests/unit/answering",),
    ),
    Fault(
        f"{CORE}/answering/extraction/contradiction.py",
        "        return about_dates\n",
        "        return False\n",
        "documents that name other years do not contradict each other",
        ("tests/unit/answering",),
    ),
    Fault(
        f"{CORE}/answering/tools/calc.py",
        "if len(digits) > MAX_DIGITS:",
        "if len(digits) > 10 * MAX_DIGITS:",
        "the calculator takes numbers of any length",
        ("tests/unit/answering",),
    ),
    Fault(
        f"{CORE}/erasure/certificate.py",
        "return all(one.done for one in self.stores)",
        "return any(one.done for one in self.stores)",
        "an erasure is complete when one store has followed",
        ("tests/unit/erasure",),
    ),
    Fault(
        f"{CORE}/documents/document_access.py",
        "            if not (is_reader or is_manager or is_owner or",
        "            if not (document or is_manager or is_owner or",
        "a reader learns of documents that are hidden from them",
        ("tests/unit/documents", "tests/api/test_document_access.py", "tests/api/test_facades.py"),
    ),
    Fault(
        f"{CORE}/ingestion/group_commit.py",
        "if error is not None and len(batch) > 1 and not",
        "if error is not None and len(batch) > 2 and not",
        "one bad document of two takes the other with it",
        ("tests/unit/ingestion",),
    ),
    Fault(
        f"{CORE}/operations/snapshots/archive_files.py",
        "if len(lines) != part.rows:",
        "if len(lines) > part.rows:",
        "a snapshot that lost rows is restored",
        ("tests/unit/operations",),
    ),
    Fault(
        f"{CORE}/operations/findings.py",
        "if not np.isfinite(length) or not length:",
        "if not np.isfinite(length):",
        "verification overlooks vectors of length zero",
        ("tests/unit/operations", "tests/integration/jobs/test_verify.py"),
    ),
    Fault(
        f"{CORE}/adapters/openai/client.py",
        "    _forget_key(error)\n",
        "",
        "a provider's refusal repeats the key",
        ("tests/unit/adapters",),
    ),
    Fault(
        f"{CORE}/adapters/postgres/jobs/job_sql.py",
        "WHERE state = 'RUNNING' AND lease_until < clock_timestamp()",
        "WHERE state = 'RUNNING'",
        "running jobs lose their lease at every look",
        ("tests/contract/jobs",),
    ),
    Fault(
        f"{CORE}/adapters/postgres/tenancy/read_scopes.py",
        "len(access_ids) >= self.access_sets",
        "len(access_ids) > 0",
        "everybody reads every document",
        ("tests/contract/tenancy",),
    ),
    Fault(
        "server/agentic_rag_server/auth/roles.py",
        "if not _has_scope(principal, action):",
        "if False:",
        "an API key does what its scopes do not allow",
        ("tests/unit/server", "tests/api/test_organisations.py", "tests/api/test_health.py"),
    ),
    Fault(
        "server/agentic_rag_server/graphql/workspaces/organisations.py",
        "if scopes is None or not scopes <= caller.scopes:",
        "if scopes is None:",
        "an API key makes one of more scopes than its own",
        ("tests/api/test_organisations.py",),
    ),
    Fault(
        "worker/agentic_rag_worker/heartbeat.py",
        "if now >= self._ends:",
        "if now >= 2 * self._ends:",
        "a job runs on after its time",
        ("tests/unit/worker",),
    ),
)
