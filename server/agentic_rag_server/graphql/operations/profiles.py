"""What a workspace's profile wants to know of its texts."""

from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.operations.profiles import code, marketing, texts
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema

DriftKind = strawberry.enum(
    code.DriftKind,
    description="What is apart. LOCK: the lock holds a version that the manifest does not take. MANIFESTS: two "
    "manifests want different versions, each the only one. DOCUMENTATION: a document speaks of a newer version.",
)


@strawberry.type(description="A span of a document's text, which is the evidence of a figure.")
class TextPlace:
    document_id: strawberry.ID
    source_path: str
    start: int = strawberry.field(description="In code points of the whole text.")
    end: int
    line: int = strawberry.field(description="From 1.")
    text: str


@strawberry.type(description="A sentence that names a brand.")
class BrandMention:
    place: TextPlace
    compound: float | None = strawberry.field(
        description="Its tone, from -1 to 1; positive from 0.05 on, negative from -0.05; null where it is not in "
        "English, in which alone tone is read."
    )
    words: list[str] = strawberry.field(description="Those of the lexicon that made it.")


@strawberry.type(description="How loud a brand is in the workspace's texts, and in what tone.")
class BrandVoice:
    brand: str
    mentions: int
    documents: int
    share: float = strawberry.field(description="Of the mentions of all brands that were asked for.")
    positive: int = strawberry.field(description="Sentences, as `negative`, `neutral` and `otherLanguage`.")
    negative: int
    neutral: int
    other_language: int = strawberry.field(description="Sentences whose tone is not read.")
    sentences: list[BrandMention] = strawberry.field(description="The clearest in tone, at most 20.")


@strawberry.type(description="A host, or the workspace's own documents (`documents`).")
class Channel:
    name: str
    documents: int = strawberry.field(description="That name a brand.")


@strawberry.type(description="A document that sells, and the label that says so.")
class Disclosure:
    promotion: TextPlace
    label: TextPlace | None = strawberry.field(description="Null where no label stands near.")


@strawberry.type(description="What the texts that the caller may read say of brands. Nothing of it is stored.")
class MarketingReport:
    documents: int
    brands: list[BrandVoice]
    channels: list[Channel]
    diversity: float = strawberry.field(description="Of the channels: entropy of their shares, from 0 to 1.")
    promotional: int = strawberry.field(description="Documents with promotional text.")
    undisclosed: int = strawberry.field(description="Those of which a promotional phrase has no label near it.")
    disclosures: list[Disclosure] = strawberry.field(description="At most 20, those without a label first.")
    is_complete: bool = strawberry.field(description="False where only the newest 20,000 passages were read.")


@strawberry.type(description="A mark of work that is left over (TODO, FIXME, XXX, HACK).")
class LeftOver:
    place: TextPlace
    symbol: str | None = strawberry.field(description="What the file defines last above it.")


@strawberry.type(description="A package of which two files state versions that are apart.")
class Drift:
    kind: DriftKind  # type: ignore[valid-type]
    package: str
    used: str
    used_at: TextPlace
    stated: str
    stated_at: TextPlace


@strawberry.type(description="A test that failed, or broke, in a report in JUnit's form.")
class FailedTest:
    name: str
    place: TextPlace


@strawberry.type(
    description="How stale the code is that the caller may read, by its own files; lists hold at most 50. Nothing is "
    "run, and nothing of it is stored."
)
class CodeReport:
    files: int = strawberry.field(description="Files of programs.")
    lines: int = strawberry.field(description="Their lines that are not blank.")
    marks: int
    density: float = strawberry.field(description="Marks for each 1,000 of these lines.")
    left_over: list[LeftOver]
    packages: int = strawberry.field(description="That manifests or locks name.")
    drifts: int
    drift: list[Drift]
    test_cases: int
    failures: int
    failed: list[FailedTest]
    unread: list[str] = strawberry.field(description="Manifests and locks that are not what their names say.")
    is_complete: bool = strawberry.field(description="False where only the newest 20,000 passages were read.")


@strawberry.type
class ProfileQuery:
    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="Share of voice, tone, channels and disclosures of the texts that the caller may read; with "
        "`since` of those published, else read from their source, since then.",
    )
    async def marketing_report(
        self, info: Info, workspace_id: strawberry.ID, brands: list[str], since: datetime | None = None
    ) -> MarketingReport:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.report_profile.marketing(context.principal, workspace, brands, since)
        shown = _values(found.findings, workspace.workspace_id)
        return MarketingReport(**shown, is_complete=found.is_complete)

    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="Work left over, dependencies apart from each other and tests that failed, in the texts that the "
        "caller may read.",
    )
    async def code_report(self, info: Info, workspace_id: strawberry.ID) -> CodeReport:
        context = info.context
        workspace = await context.workspace(workspace_id)
        found = await context.parts.report_profile.code(context.principal, workspace)
        return CodeReport(**_values(found.findings, workspace.workspace_id), is_complete=found.is_complete)


_KINDS: dict[type, Any] = {
    marketing.Mention: BrandMention,
    marketing.BrandVoice: BrandVoice,
    marketing.Channel: Channel,
    marketing.Disclosure: Disclosure,
    code.LeftOver: LeftOver,
    code.Drift: Drift,
    code.FailedTest: FailedTest,
}


def _values(found: Any, workspace_id: UUID) -> dict[str, Any]:
    """The fields of a value of the core, in types of the schema."""
    return {one.name: _show(getattr(found, one.name), workspace_id) for one in fields(found)}


def _show(value: Any, workspace_id: UUID) -> Any:
    if isinstance(value, tuple):
        return [_show(one, workspace_id) for one in value]
    if isinstance(value, texts.Place):
        return to_schema(TextPlace, value, document_id=encode(NodeKind.DOCUMENT, workspace_id, value.document_id))
    kind = _KINDS.get(type(value))
    return value if kind is None else kind(**_values(value, workspace_id))
