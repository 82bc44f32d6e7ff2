"""What every `LexicalReader` promises; BM25 itself is specified with the domain."""

from tests.builders import EVERYBODY
from tests.contract.backends import Backend

from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import ArmHit, SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef

SCOPE = SearchScope(EVERYBODY)


async def search(adapter: Backend, workspace: WorkspaceRef, words: str, scope: SearchScope = SCOPE) -> list[ArmHit]:
    async with adapter.database.snapshot(workspace) as snapshot:
        return await snapshot.lexical.search(query_terms(words), 10, scope)


async def test_scores_do_not_depend_on_how_publishes_cut_the_corpus(adapter: Backend) -> None:
    passages = ["quorum and lease", "quorum quorum", "lease expires", "nothing alike here"]
    at_once, one_by_one = await adapter.workspace(), await adapter.workspace()
    await adapter.publish(at_once, "a.md", passages)
    for index, passage in enumerate(passages):
        await adapter.publish(one_by_one, f"{index}.md", [passage])

    assert await search(adapter, at_once, "quorum lease") == await search(adapter, one_by_one, "quorum lease") != []


async def test_statistics_count_visible_chunks_only(adapter: Backend) -> None:
    edited, fresh = await adapter.workspace(), await adapter.workspace()
    await adapter.publish(edited, "a.md", ["quorum once", "quorum twice", "other"])
    await adapter.publish(edited, "a.md", ["quorum once", "other"])
    await adapter.publish(fresh, "a.md", ["quorum once", "other"])

    [after] = await search(adapter, edited, "quorum")
    [never] = await search(adapter, fresh, "quorum")

    assert (after.raw, after.score) == (never.raw, never.score)


async def test_a_profile_says_what_chunks_hold_of_a_question(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum and lease", "quorum", "other"])
    terms = query_terms("quorum lease")

    async with adapter.database.snapshot(workspace) as snapshot:
        profile = await snapshot.lexical.profile(terms, [2, 0, 1], SCOPE)
        hits = await snapshot.lexical.search(terms, 10, SCOPE)

    assert profile.present.sum(axis=1).tolist() == [0, 2, 1]
    assert (profile.gain.sum(axis=1) * profile.bound).round(6).tolist() == [
        0.0, *[hit.raw for hit in sorted(hits, key=lambda hit: hit.ordinal)]
    ]  # fmt: skip


async def test_a_scope_narrows_results(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])

    narrowed = await search(adapter, workspace, "quorum", SearchScope(EVERYBODY, frozenset({1})))

    assert [hit.ordinal for hit in narrowed] == [1]
    assert await search(adapter, workspace, "quorum", SearchScope(EVERYBODY, frozenset())) == []
    assert await search(adapter, workspace, "quorum", SearchScope((7,))) == []


async def test_rarity_is_one_for_unknown_terms_and_falls_with_frequency(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["common rare", "common", "common", "other"])
    terms = [term for word in ("common", "rare", "absent") for term in query_terms(word)]

    async with adapter.database.snapshot(workspace) as snapshot:
        rarity = await snapshot.lexical.rarity(terms, SCOPE)

    common, rare, absent = (rarity[term] for term in terms)
    assert 0 < common < rare < absent == 1


async def test_an_empty_workspace_has_no_hits(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    assert await search(adapter, workspace, "quorum") == []
