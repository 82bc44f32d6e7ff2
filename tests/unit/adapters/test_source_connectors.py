"""What a connector refuses: one coded error each, before anything is changed."""

import asyncio
import gzip
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contract.ingestion.source_world import GitOrigin, S3Origin, SitemapOrigin, s3_origin, sitemap_origin
from tests.git_server import serving_git
from tests.web_world import answer

from agentic_rag.adapters.sources import git as git_source
from agentic_rag.adapters.sources.git import open_git
from agentic_rag.adapters.sources.s3 import open_s3
from agentic_rag.adapters.sources.sitemap import parse_sitemap
from agentic_rag.ingestion.ports import Changes, SourceItem
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.kernel.errors import AgenticRagError, NotFound
from agentic_rag.kernel.secret import Secret

NOTHING: frozenset[str] = frozenset()


async def code_of(stated: NewSource) -> str:
    with pytest.raises(AgenticRagError) as refusal:
        async with open_git(stated, None, resolve) as source:
            await source.changes(NOTHING, None)
    return refusal.value.code


async def resolve(host: str, port: int) -> list[str]:
    return ["10.0.0.7"]


def git(location: object, *, internal: bool = True, **options: str) -> NewSource:
    return NewSource("code", SourceKind.GIT, str(location), is_internal=internal, options=options)


@pytest.fixture
async def repository(tmp_path: Path) -> GitOrigin:
    origin = GitOrigin(tmp_path / "repository")
    await origin.start()
    await origin.write("docs/pump.md", b"The pump lifts water.")
    return origin


async def test_a_repository_is_read_at_its_newest_commit_and_not_again_at_the_same(repository: GitOrigin) -> None:
    (repository.root / "docs/link.md").symlink_to("pump.md")
    await repository.write(".hidden", b"x")
    async with repository.open() as source:
        found = await source.changes(frozenset({"gone.md"}), None)
        assert found is not None
        [item] = found.upserted
        content = await source.read(item)
        assert content is not None
        again = await source.read(item, content.fingerprint)
        unchanged = await source.changes(NOTHING, found.cursor)
        with pytest.raises(NotFound):
            await source.read(SourceItem("nowhere.md", -1, ""))

    assert (item.path, item.size, content.data) == ("docs/pump.md", 21, b"The pump lifts water.")
    assert found.deleted == ("gone.md",)
    assert {one.path: one.code for one in found.unreadable} == {
        ".hidden": "SOURCE_HIDDEN",
        "docs/link.md": "SOURCE_NOT_A_FILE",
    }
    assert again is None
    assert unchanged is None


async def test_what_is_no_repository_or_has_no_such_branch_is_refused(repository: GitOrigin, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    broken = tmp_path / "broken"
    await repository.git("clone", "-q", "--no-hardlinks", str(repository.root), str(broken))
    for one in (broken / ".git/objects").glob("??/*"):
        one.chmod(0o600)
        one.write_bytes(b"no object")

    assert await code_of(git(tmp_path / "nowhere")) == "SOURCE_NOT_FOUND"
    assert await code_of(git(tmp_path / "plain")) == "SOURCE_NOT_FOUND"
    assert await code_of(git(repository.root, branch="nowhere")) == "SOURCE_NOT_FOUND"
    assert await code_of(git(broken)) == "SOURCE_UNREADABLE"


async def test_of_a_damaged_repository_a_lost_tree_ends_the_look_and_a_lost_file_is_told(tmp_path: Path) -> None:
    origin = GitOrigin(tmp_path / "damaged")
    await origin.start()
    await origin.write("a.md", b"A pump.")
    await origin.write("b.md", b"A valve.")

    async def lose(name: str) -> None:
        printed = await asyncio.create_subprocess_exec(
            "git", "-C", str(origin.root), "rev-parse", name, stdout=asyncio.subprocess.PIPE
        )
        found, _ = await printed.communicate()
        number = found.decode().strip()
        (origin.root / ".git/objects" / number[:2] / number[2:]).unlink()

    await lose("HEAD:a.md")
    async with origin.open() as source:
        found = await source.changes(frozenset({"a.md"}), None)
    await lose("HEAD^{tree}")

    assert found is not None
    assert [one.path for one in found.upserted] == ["b.md"]
    assert [(one.path, one.code) for one in found.unreadable] == [("a.md", "SOURCE_UNREADABLE")]
    assert not found.deleted
    assert await code_of(git(origin.root)) == "SOURCE_UNREADABLE"


@pytest.mark.parametrize(
    "address", ["https://127.0.0.1/code.git", "https://git.example.com/code.git", "https://a:b@c/d"]
)
async def test_a_repository_at_an_address_that_is_not_public_is_not_asked(address: str) -> None:
    assert await code_of(git(address, internal=False)) == "ADDRESS_REFUSED"


@pytest.mark.network
async def test_a_repository_behind_a_login_is_read_with_its_credential_alone(repository: GitOrigin) -> None:
    with serving_git(repository.root.parent, "token:s3cret") as address:
        stated = git(f"{address}/{repository.root.name}/.git")
        async with open_git(stated, Secret("s3cret"), resolve) as source:
            found = await source.changes(NOTHING, None)
            assert found is not None
            content = await source.read(found.upserted[0])
        without = await code_of(stated)
        with pytest.raises(AgenticRagError) as wrong:
            async with open_git(stated, Secret("token:other"), resolve) as source:
                await source.changes(NOTHING, None)
        elsewhere = git(f"{address}/nowhere.git")
        with pytest.raises(AgenticRagError) as missing:
            async with open_git(elsewhere, Secret("s3cret"), resolve) as source:
                await source.changes(NOTHING, None)

    assert content is not None
    assert content.data == b"The pump lifts water."
    assert (without, wrong.value.code) == ("SOURCE_CREDENTIAL_REFUSED", "SOURCE_CREDENTIAL_REFUSED")
    assert missing.value.code == "SOURCE_NOT_FOUND"
    assert "s3cret" not in str(missing.value)


@pytest.mark.slow
@pytest.mark.network
async def test_a_repository_that_is_too_large_to_fetch_is_told(
    repository: GitOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_source, "MAX_FETCHED_BYTES", 1 << 20)
    await repository.write("noise.bin", os.urandom(3 << 20))

    with serving_git(repository.root.parent, "token:s3cret") as address, pytest.raises(AgenticRagError) as refused:
        async with open_git(git(f"{address}/{repository.root.name}/.git"), Secret("s3cret"), resolve) as source:
            await source.changes(NOTHING, None)

    assert refused.value.code == "SOURCE_TOO_LARGE"


@pytest.fixture
async def bucket(tmp_path: Path) -> AsyncIterator[S3Origin]:
    async with s3_origin(tmp_path) as origin:
        assert isinstance(origin, S3Origin)
        for number in range(5):
            await origin.write(f"{number}.md", b"The pump lifts water.")
        yield origin


@pytest.mark.network
async def test_a_bucket_is_listed_page_by_page_and_read_once_a_tag(bucket: S3Origin) -> None:
    async with bucket.open() as source:
        found = await source.changes(NOTHING, None)
        assert found is not None
        content = await source.read(found.upserted[0])
        assert content is not None
        again = await source.read(found.upserted[0], content.fingerprint)

    assert [item.path for item in found.upserted] == [f"{number}.md" for number in range(5)]
    assert content.data == b"The pump lifts water."
    assert again is None


@pytest.mark.network
@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"])
async def test_an_expired_key_is_told_apart_from_an_outage(bucket: S3Origin, code: str) -> None:
    bucket.refusal = code
    with pytest.raises(AgenticRagError) as refusal:
        async with bucket.open() as source:
            await source.changes(NOTHING, None)

    assert refusal.value.code == "SOURCE_CREDENTIAL_REFUSED"
    assert "secret" not in str(refusal.value)


@pytest.mark.network
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("NoSuchBucket", "SOURCE_NOT_FOUND"),
        ("PermanentRedirect", "SOURCE_NOT_FOUND"),
        ("SlowDown", "SOURCE_UNAVAILABLE"),
    ],
)
async def test_a_bucket_that_is_not_there_is_told_apart_from_an_outage(
    bucket: S3Origin, answer: str, code: str
) -> None:
    await bucket.write("NoSuchBucket.md", b"A key may be called so.")
    async with bucket.open() as source:
        found = await source.changes(NOTHING, None)
        assert found is not None
        bucket.refusal = answer
        for attempt in (source.changes(NOTHING, None), source.read(found.upserted[-1])):
            with pytest.raises(AgenticRagError) as refusal:
                await attempt
            assert refusal.value.code == code


async def test_a_credential_of_a_bucket_has_two_parts() -> None:
    with pytest.raises(AgenticRagError) as refusal:
        async with open_s3(NewSource("s", SourceKind.S3, "bucket"), Secret("only-one")):
            raise AssertionError("it was opened")

    assert refusal.value.code == "SOURCE_CREDENTIAL_REFUSED"
    assert "only-one" not in str(refusal.value)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[SitemapOrigin]:
    async with sitemap_origin(tmp_path) as origin:
        assert isinstance(origin, SitemapOrigin)
        yield origin


async def listed(site: SitemapOrigin, entries: str, root: str = "urlset") -> Changes | None:

    body = f"<{root} xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</{root}>".encode()
    site.web.pages["/sitemap.xml"] = answer(body, media="application/xml")
    async with site.open() as source:
        return await source.changes(NOTHING, None)


@pytest.mark.slow
@pytest.mark.network
async def test_a_packed_sitemap_is_read_as_what_is_in_it(site: SitemapOrigin) -> None:
    body = gzip.compress(b"<urlset><url><loc>http://public.test/ok</loc></url></urlset>")
    site.web.pages["/sitemap.xml"] = answer(body, media="application/x-gzip")
    async with site.open() as source:
        found = await source.changes(NOTHING, None)

    assert found is not None
    assert [one.url for one in found.upserted] == ["http://public.test/ok"]


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ("<url><loc>http://10.0.0.1/</loc></url>", "ADDRESS_REFUSED"),
        ("<url><loc>http://localhost/</loc></url>", "ADDRESS_REFUSED"),
        ("<url><loc>http://other.test/ok</loc></url>", "ADDRESS_REFUSED"),
        ("<url><loc>file:///etc/passwd</loc></url>", "ADDRESS_REFUSED"),
        ("<url><lastmod>2026-11-01</lastmod></url>", "SOURCE_SITEMAP_INVALID"),
        ("<url><loc>http://public.test/a</loc></url>" * 50_001, "SOURCE_TOO_MANY_ITEMS"),
        ("<url>", "SOURCE_SITEMAP_INVALID"),
    ],
    ids=["private", "localhost", "other host", "file", "no address", "too many", "not closed"],
)
async def test_a_sitemap_with_one_bad_entry_is_refused_whole(site: SitemapOrigin, entries: str, code: str) -> None:
    good = "<url><loc>http://public.test/ok</loc></url>"
    with pytest.raises(AgenticRagError) as refusal:
        await listed(site, good + entries)

    assert refusal.value.code == code
    assert site.web.forbidden == []


@pytest.mark.network
async def test_an_index_of_sitemaps_is_followed_one_level_deep(site: SitemapOrigin) -> None:
    await site.write("guide/", b"Welcome.")
    site.web.pages["/inner.xml"] = site.web.pages["/sitemap.xml"]
    found = await listed(site, "<sitemap><loc>http://public.test/inner.xml</loc></sitemap>", root="sitemapindex")

    assert found is not None
    assert [(one.path, one.url) for one in found.upserted] == [
        ("public.test/guide/index.html", "http://public.test/guide/")
    ]


def test_entities_are_not_expanded() -> None:
    with pytest.raises(AgenticRagError) as refusal:
        parse_sitemap(b"<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset/>")

    assert refusal.value.code == "SOURCE_SITEMAP_INVALID"
