"""The REST façades of projects (B8) and agents (E1): every answer as it was promised, over the real use cases."""

import io
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2
import pytest

from agentic_rag.documents.document import DocumentFault, DocumentStatus, document_id_for
from agentic_rag.kernel.errors import BudgetExceeded, DependencyUnavailable, MissingProviderKey, Retryable
from agentic_rag.tenancy.principals import KeyScope, Principal, Role
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.api.builders import ORG, OTHER_ORG, TOKENS, client
from tests.api.golden import golden, seen
from tests.api.rest_product import MAX_UPLOAD_BYTES, RestProduct, rest_product

PDF = b"%PDF-1.7\n% guidelines"
MARKDOWN = b"# Tone\n\nWe write short sentences."
MISSING = UUID(int=99)


NO_KEY = MissingProviderKey(
    "This organisation has no provider key. An admin stores one with `rag provider-key set` or the GraphQL mutation "
    "`setProviderKey`."
)


@dataclass(frozen=True)
class Facade:
    """One façade, as its tests name it."""

    name: str
    kind: WorkspaceKind
    upload: str
    documents: str

    def document(self, key: UUID) -> str:
        return f"{self.documents}/{key}"


GUIDELINES = Facade(
    "guidelines", WorkspaceKind.PROJECT, "/api/projects/web-shop/guidelines/upload", "/api/projects/web-shop/guidelines"
)
AGENTS = Facade(
    "agent_documents",
    WorkspaceKind.AGENT,
    f"/organization/{ORG}/agents/brand-judge/documents",
    f"/organization/{ORG}/agents/brand-judge/documents",
)
BOTH = pytest.mark.parametrize("facade", [GUIDELINES, AGENTS], ids=lambda it: it.name)


@pytest.fixture
async def product() -> RestProduct:
    return await rest_product()


@pytest.fixture
async def http(product: RestProduct) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(product) as found:  # type: ignore[arg-type]
        yield found


async def upload(
    http: httpx2.AsyncClient, facade: Facade, name: str = "tone.md", content: bytes = MARKDOWN, **headers: str
) -> httpx2.Response:
    return await http.post(facade.upload, files={"file": (name, content)}, headers=headers)


def id_of(uploaded: httpx2.Response) -> UUID:
    body = uploaded.json()
    return UUID(body["data"]["id"] if "data" in body else body["id"])


def documents_in(listed: httpx2.Response) -> list[dict[str, Any]]:
    body = listed.json()
    found: list[dict[str, Any]] = body["data"] if "data" in body else body["documents"]
    return found


async def workspaces(product: RestProduct, org_id: UUID = ORG) -> list[tuple[WorkspaceKind, str | None]]:
    async with product.database.transaction(org_id) as transaction:
        return [(one.kind, one.external_ref) for one in await transaction.workspaces.all()]


async def move(product: RestProduct, facade: Facade, path: str, *statuses: DocumentStatus) -> None:
    """Take a document through its states as a worker does."""
    fault = DocumentFault("PROVIDER_KEY_REJECTED", "The provider refused the key: store another one.", 1, False)
    async with product.database.transaction(ORG) as transaction:
        workspace = (await transaction.workspaces.by_reference(facade.kind, facade.documents.split("/")[-2])).ref  # type: ignore[union-attr]
        key = document_id_for(workspace, path)
        await transaction.documents.set_progress(workspace, key, 3, 3)
        for status in statuses:
            assert await transaction.documents.set_status(
                workspace, key, status, fault if status is DocumentStatus.FAILED else None
            )


@BOTH
async def test_an_upload_is_accepted(http: httpx2.AsyncClient, facade: Facade) -> None:
    assert seen(await upload(http, facade, "brand-guidelines.pdf", PDF)) == golden(f"{facade.name}/upload")


@BOTH
async def test_a_list_shows_every_state(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> None:
    for name in ("a-waiting.md", "b-working.md", "c-ready.md", "d-failed.md"):
        await upload(http, facade, name, name.encode())
    await move(product, facade, "b-working.md", DocumentStatus.PROCESSING)
    await move(product, facade, "c-ready.md", DocumentStatus.PROCESSING, DocumentStatus.READY)
    await move(product, facade, "d-failed.md", DocumentStatus.PROCESSING, DocumentStatus.FAILED)

    assert seen(await http.get(facade.documents)) == golden(f"{facade.name}/list")


@BOTH
async def test_what_never_had_a_document_has_an_empty_list(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade
) -> None:
    assert seen(await http.get(facade.documents)) == golden(f"{facade.name}/list_empty")
    assert (facade.kind, facade.documents.split("/")[-2]) not in await workspaces(product)


@BOTH
async def test_pages_follow_one_another_by_their_links(http: httpx2.AsyncClient, facade: Facade) -> None:
    names = [f"{number}.md" for number in range(5)]
    for name in names:
        await upload(http, facade, name, name.encode())

    found: list[str] = []
    url: str | None = f"{facade.documents}?first=2"
    while url is not None:
        page = await http.get(url)
        found += [one.get("fileName") or one["filename"] for one in documents_in(page)]
        link = page.headers.get("link")
        url = None if link is None else link.removeprefix("<").removesuffix('>; rel="next"')

    assert found == names


@BOTH
async def test_a_deletion_takes_passages_and_original(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade
) -> None:
    document = UUID(
        (await upload(http, facade)).json().get("id") or (await http.get(facade.documents)).json()["data"][0]["id"]
    )
    held = await product.blobs.keys("")

    deleted = await http.delete(facade.document(document))
    again = await http.delete(facade.document(document))

    assert seen(deleted) == golden(f"{facade.name}/delete")
    assert seen(again) == golden(f"{facade.name}/404")
    assert len(await product.blobs.keys("")) == len(held) - 1


def forms(content: bytes) -> dict[str, Any]:
    return {"files": {"file": ("tone.md", content)}}


async def no_token(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await http.get(facade.documents, headers={"authorization": ""})


async def no_key(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    product.provider.error = NO_KEY
    return await upload(http, facade)


async def a_viewer(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await upload(http, facade, authorization="Bearer viewer-token")


async def no_document(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await http.delete(facade.document(MISSING))


async def a_used_key(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    await upload(http, facade, **{"idempotency-key": "first"})
    return await upload(http, facade, content=b"Another text.", **{"idempotency-key": "first"})


async def too_large(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await upload(http, facade, content=b"a" * (MAX_UPLOAD_BYTES + 1))


async def of_no_kind(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await upload(http, facade, "picture.bin", b"\x89PNG\r\n\x1a\n")


async def empty(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await upload(http, facade, content=b"")


async def over_budget(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    product.provider.error = BudgetExceeded("Today's ceiling of 5.00 USD is reached: 5.00 USD are spent.")
    return await upload(http, facade)


async def malformed(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    media = {"content-type": "multipart/form-data; boundary=edge"}
    return await http.post(facade.upload, content=b"--edge\r\nno header", headers=media)


async def fault(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    product.provider.error = RuntimeError("postgresql://rag:hunter2@db/rag")
    return await upload(http, facade)


async def no_answer(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    down = DependencyUnavailable("PostgreSQL does not answer.", dependency="postgres")
    product.provider.error = down
    return await upload(http, facade)


async def wrong_method(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> httpx2.Response:
    return await http.patch(facade.documents)


REFUSALS: dict[str, Callable[[RestProduct, httpx2.AsyncClient, Facade], Awaitable[httpx2.Response]]] = {
    "400": malformed,
    "401": no_token,
    "402": no_key,
    "403": a_viewer,
    "404": no_document,
    "405": wrong_method,
    "409": a_used_key,
    "413": too_large,
    "415": of_no_kind,
    "422": empty,
    "429": over_budget,
    "500": fault,
    "503": no_answer,
}


@BOTH
@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_has_its_status_code_and_shape(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade, name: str
) -> None:
    answered = seen(await REFUSALS[name](product, http, facade))

    assert answered == golden(f"{facade.name}/{name}")
    assert answered["status"] == int(name)


@BOTH
async def test_a_wrong_method_is_told_the_right_ones(http: httpx2.AsyncClient, facade: Facade) -> None:
    answered = await http.patch(facade.documents)

    expected = {"GET", "HEAD", "POST"} if facade is AGENTS else {"GET", "HEAD"}
    assert set(answered.headers["allow"].split(", ")) == expected


@BOTH
async def test_without_a_key_nothing_is_begun(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> None:
    before = await workspaces(product), await product.blobs.keys("")
    product.provider.error = NO_KEY

    answered = await upload(http, facade)

    assert answered.status_code == 402
    assert "rag provider-key set" in answered.json()["error"]["message"]
    assert (await workspaces(product), await product.blobs.keys("")) == before


@BOTH
async def test_a_wait_that_is_known_is_told(product: RestProduct, http: httpx2.AsyncClient, facade: Facade) -> None:
    product.provider.error = Retryable("Too much at once.", retry_after_seconds=7)

    answered = await upload(http, facade)

    assert (answered.status_code, answered.headers["retry-after"]) == (503, "7")


@BOTH
async def test_the_same_name_is_the_same_document(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade
) -> None:
    first = id_of(await upload(http, facade))
    second = id_of(await upload(http, facade, content=b"We write shorter sentences."))
    await move(product, facade, "tone.md", DocumentStatus.PROCESSING, DocumentStatus.READY)

    assert first == second
    assert len(documents_in(await http.get(facade.documents))) == 1


@BOTH
async def test_a_repetition_under_one_key_is_answered_as_the_first(http: httpx2.AsyncClient, facade: Facade) -> None:
    first = await upload(http, facade, **{"idempotency-key": "once"})
    second = await upload(http, facade, **{"idempotency-key": "once"})

    assert second.json() == first.json()
    assert (first.headers.get("idempotency-replayed"), second.headers["idempotency-replayed"]) == (None, "true")


@BOTH
async def test_another_organisation_sees_and_deletes_nothing(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade
) -> None:
    async with product.database.transaction(OTHER_ORG) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.RAG_GUIDELINES, on=True))
    key = id_of(await upload(http, facade))
    theirs = {"authorization": "Bearer other-token"}

    listed = await http.get(facade.documents.replace(str(ORG), str(OTHER_ORG)), headers=theirs)
    deleted = await http.delete(facade.document(key).replace(str(ORG), str(OTHER_ORG)), headers=theirs)
    missing = await http.delete(facade.document(MISSING).replace(str(ORG), str(OTHER_ORG)), headers=theirs)

    assert seen(listed) == golden(f"{facade.name}/list_empty")
    assert seen(deleted) == seen(missing) == golden(f"{facade.name}/404")
    assert len(await product.blobs.keys("")) == 2


@BOTH
@pytest.mark.parametrize("text", ["upload", "..", "%00", "0" * 32, f"{{{MISSING}}}", "D" * 44])
async def test_what_is_no_id_is_no_document(http: httpx2.AsyncClient, facade: Facade, text: str) -> None:
    await upload(http, facade)

    answered = await http.delete(f"{facade.documents}/{text}")

    assert answered.status_code == 404


@BOTH
@pytest.mark.parametrize("reference", ["%00", "%20", "a" * 201, "%E2%80%AE"])
async def test_an_id_that_no_screen_shows_is_refused(
    product: RestProduct, http: httpx2.AsyncClient, facade: Facade, reference: str
) -> None:
    theirs = facade.upload.replace("web-shop", reference).replace("brand-judge", reference)

    answered = await http.post(theirs, **forms(MARKDOWN))

    assert (answered.status_code, answered.json()["error"]["code"]) == (400, "INVALID_INPUT")
    assert len(await workspaces(product)) == 1


@BOTH
@pytest.mark.parametrize("first", ["0", "101", "-1", "x", "1e1", "٣", ""])
async def test_a_page_has_one_to_a_hundred(http: httpx2.AsyncClient, facade: Facade, first: str) -> None:
    answered = await http.get(facade.documents, params={"first": first})

    assert (answered.status_code, answered.json()["error"]["code"]) == (400, "INVALID_INPUT")


async def test_a_name_that_is_taken_does_not_stop_a_first_upload(
    product: RestProduct, http: httpx2.AsyncClient
) -> None:
    async with product.database.transaction(ORG) as transaction:
        workspace = (await transaction.workspaces.all())[0]
        await transaction.workspaces.create(
            product.ids.new(), "project web-shop", WorkspaceKind.GENERAL, None, workspace.settings
        )

    answered = await upload(http, GUIDELINES)

    assert answered.status_code == 202
    assert (WorkspaceKind.PROJECT, "web-shop") in await workspaces(product)


async def test_guidelines_are_for_admins_and_for_organisations_that_switched_them_on(
    product: RestProduct, http: httpx2.AsyncClient
) -> None:
    member = {"authorization": "Bearer member-token"}
    refused = [await http.get(GUIDELINES.documents, headers=member), await upload(http, GUIDELINES, **member)]
    async with product.database.transaction(ORG) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.RAG_GUIDELINES, on=False))
    product.provider.error = NO_KEY
    off = [
        await upload(http, GUIDELINES),
        await http.get(GUIDELINES.documents),
        await http.delete(GUIDELINES.document(MISSING)),
    ]

    assert {(one.status_code, one.json()["error"]["code"]) for one in refused} == {(403, "FORBIDDEN")}
    assert [seen(one) for one in off] == [golden("guidelines/403_feature")] * 3


@pytest.mark.parametrize("name", ["notes.txt", "page.html", "script.py"])
async def test_guidelines_are_pdf_markdown_or_docx(http: httpx2.AsyncClient, name: str) -> None:
    answered = await upload(
        http, GUIDELINES, name, b"<!doctype html><p>Short.</p>" if name == "page.html" else b"Short."
    )

    assert (answered.status_code, answered.json()["error"]["code"]) == (415, "CONTENT_UNSUPPORTED")
    assert "application/pdf" in answered.json()["error"]["message"]


async def test_guidelines_may_be_a_word_document(http: httpx2.AsyncClient) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")

    answered = await upload(http, GUIDELINES, "tone.docx", file.getvalue())

    assert answered.status_code == 202
    assert answered.json()["mimeType"].endswith("wordprocessingml.document")


async def test_plain_text_guidelines_need_neither_the_feature_nor_a_key(
    product: RestProduct, http: httpx2.AsyncClient
) -> None:
    async with product.database.transaction(ORG) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.RAG_GUIDELINES, on=False))
    product.provider.error = NO_KEY
    path = f"{GUIDELINES.documents}/inline"

    before = await http.get(path)
    changed = await http.put(path, json={"inlineGuidelines": "Use data-testid selectors."})
    after = await http.get(path)
    removed = await http.put(path, json={"inlineGuidelines": None})

    assert seen(before) == seen(removed) == golden("guidelines/inline_empty")
    assert seen(changed) == seen(after) == golden("guidelines/inline")


@pytest.mark.parametrize(
    ("body", "media", "status", "code"),
    [
        (b'{"inlineGuidelines": 3}', "application/json", 400, "INVALID_INPUT"),
        (b'{"inlineGuidelines": "a", "more": 1}', "application/json", 400, "INVALID_INPUT"),
        (b"{}", "application/json", 400, "INVALID_INPUT"),
        (b"[]", "application/json", 400, "INVALID_INPUT"),
        (b"{", "application/json", 400, "BAD_JSON"),
        (b"", "application/json", 400, "BAD_JSON"),
        (b'{"inlineGuidelines": "\xff"}', "application/json", 400, "BAD_JSON"),
        (b"[" * 100_000, "application/json", 400, "INVALID_INPUT"),
        (b'{"inlineGuidelines": "' + b"a" * 50_001 + b'"}', "application/json", 400, "INVALID_INPUT"),
        (b'{"inlineGuidelines": "' + b"a" * 1_100_000 + b'"}', "application/json", 413, "BODY_TOO_LARGE"),
        (b"inlineGuidelines=a", "application/x-www-form-urlencoded", 415, "UNSUPPORTED_MEDIA_TYPE"),
    ],
)
async def test_plain_text_that_does_not_fit_is_refused(
    product: RestProduct, http: httpx2.AsyncClient, body: bytes, media: str, status: int, code: str
) -> None:
    answered = await http.put(f"{GUIDELINES.documents}/inline", content=body, headers={"content-type": media})

    assert (answered.status_code, answered.json()["error"]["code"]) == (status, code)
    assert len(await workspaces(product)) == 1


@pytest.mark.parametrize("org", [str(OTHER_ORG), str(MISSING), "nobody", "%00"])
@pytest.mark.parametrize("token", ["admin-token", "viewer-token"])
async def test_another_organisations_path_answers_as_one_that_does_not_exist(
    http: httpx2.AsyncClient, org: str, token: str
) -> None:
    path = f"/organization/{org}/agents/brand-judge/documents"
    theirs = {"authorization": f"Bearer {token}"}

    answered = [
        await http.get(path, headers=theirs),
        await http.post(path, **forms(MARKDOWN), headers=theirs),
        await http.delete(f"{path}/{MISSING}", headers=theirs),
    ]

    assert [seen(one) for one in answered] == [golden("agent_documents/404_organisation")] * 3


async def test_an_organisation_may_be_named_in_upper_case(http: httpx2.AsyncClient) -> None:
    answered = await http.get(f"/organization/{str(ORG).upper()}/agents/brand-judge/documents")

    assert answered.status_code == 200


async def test_a_member_opens_the_workspace_of_an_agent_where_the_organisation_allows_it(
    product: RestProduct, http: httpx2.AsyncClient
) -> None:
    async with product.database.transaction(ORG) as transaction:
        await transaction.organisations.change(lambda it: it.with_flag(FeatureFlag.MEMBERS_OPEN_WORKSPACES, on=True))
    viewer, member = ({"authorization": f"Bearer {role}-token"} for role in ("viewer", "member"))

    refused = await upload(http, AGENTS, **viewer)
    opened = await upload(http, AGENTS, **member)

    assert (refused.status_code, opened.status_code) == (403, 202)
    assert (WorkspaceKind.AGENT, "brand-judge") in await workspaces(product)


async def test_a_member_uploads_where_an_admin_did_before(product: RestProduct, http: httpx2.AsyncClient) -> None:
    member = {"authorization": "Bearer member-token"}

    too_early = await upload(http, AGENTS, **member)
    await upload(http, AGENTS)
    later = await upload(http, AGENTS, "more.md", **member)
    seen_by_viewer = await http.get(AGENTS.documents, headers={"authorization": "Bearer viewer-token"})

    assert (too_early.status_code, too_early.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert "create a workspace takes the role admin" in too_early.json()["message"]
    assert later.status_code == 202
    assert len(seen_by_viewer.json()["data"]) == 2


async def test_an_agents_originals_stand_under_its_own_name(product: RestProduct, http: httpx2.AsyncClient) -> None:
    await upload(http, AGENTS, "brand-guidelines.pdf", PDF)

    (key,) = await product.blobs.keys(f"agent-documents/{ORG}/brand-judge")

    timestamp, dash, rest = key.rsplit("/", 1)[1].partition("-")
    assert timestamp == "20261121T000000000000Z"
    assert dash + rest.partition("-")[2] == "-brand-guidelines.pdf"


async def test_what_is_hidden_from_a_caller_is_neither_listed_nor_deleted(
    product: RestProduct, http: httpx2.AsyncClient
) -> None:
    hidden = id_of(await upload(http, AGENTS, "salaries.md"))
    await upload(http, AGENTS, "tone.md", b"Short sentences.")
    async with product.database.transaction(ORG) as transaction:
        workspace = await transaction.workspaces.by_reference(WorkspaceKind.AGENT, "brand-judge")
        assert workspace is not None
        board = await transaction.access.intern(workspace.ref, ("group:board",))
        assert await transaction.access.change(workspace.ref, hidden, board) is not None
    member = {"authorization": "Bearer member-token"}

    listed = await http.get(AGENTS.documents, headers=member)
    deleted = await http.delete(AGENTS.document(hidden), headers=member)
    managed = await http.get(AGENTS.documents)

    assert [one["filename"] for one in documents_in(listed)] == ["tone.md"]
    assert seen(deleted) == golden("agent_documents/404")
    assert [one["filename"] for one in documents_in(managed)] == ["salaries.md", "tone.md"]


@BOTH
async def test_a_list_takes_the_scope_of_reading(product: RestProduct, facade: Facade) -> None:
    asker = Principal(ORG, "asker", Role.ADMIN, scopes=frozenset({KeyScope.ASK}))
    product.identity.tokens = {**TOKENS, "asker-token": asker}

    async with client(product, "asker-token") as http:  # type: ignore[arg-type]
        refused = await http.get(facade.documents)

    assert refused.status_code == 403
