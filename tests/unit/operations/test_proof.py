"""Proofs of answers: what became of each quote, and bundles in which every change is found."""

from __future__ import annotations

import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.unit.answering.test_explain import QUESTION, TEXTS, World, filled
from tests.unit.cli.product import answered

from agentic_rag.answering.answer import TextSpan
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.operations.proof import check_bundle
from agentic_rag.operations.proof.bundle import SourceText, make_bundle
from agentic_rag.operations.proof.check_bundle import TamperedError, check
from agentic_rag.operations.proof.prove_run import ProveRun
from agentic_rag.operations.proof.verify_run import QuoteCheck, QuoteState, RunVerification, VerifyRun
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, Role

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
NOW = datetime(2026, 11, 27, tzinfo=UTC)


def sign(message: bytes) -> tuple[str, str]:
    return PUBLIC, KEY.sign(message).hex()


def bundle(seed: int, *, whole: bool = False, characters: int = 5_000) -> bytes:
    """A proof of an answer with quotes at random places of random texts of all kinds of letters."""
    draw = random.Random(seed)
    run, checks, sources = answered(), list[QuoteCheck](), dict[UUID, SourceText]()
    text, cited = "", run.answer.citations[0]
    for marker in range(1, 4):
        source = "".join(draw.choices("abc äß 東京 𝔘\n|", k=draw.randint(10, characters)))
        start = draw.randrange(len(source) - 5)
        span = TextSpan(start, draw.randint(start + 1, len(source)))
        revision, begin = UUID(int=draw.getrandbits(128)), len(text)
        text += f"{source[span.start : span.end]} [{marker}]"
        one = replace(
            cited, marker=marker, revision_id=revision, document_id=UUID(int=marker), source_span=span,
            snippet=source[span.start : span.end], answer_spans=(TextSpan(begin, len(text)),),
        )  # fmt: skip
        sources[revision] = SourceText(UUID(int=marker), source, "ab" * 32)
        checks.append(QuoteCheck(marker, QuoteState.VERIFIED, "It stands there.", one, stands_now=True))
    shown = replace(run, answer=replace(run.answer, text=text))
    return make_bundle(RunVerification(shown, tuple(checks), NOW), sources, 7, sign, whole=whole)


def proof_of(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("proof.json"))


def repacked(content: bytes, proof: dict[str, Any]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return check_bundle.pack({**files, "proof.json": check_bundle.canonical(proof)})


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every leaf of a proof."""
    if isinstance(value, dict):
        return [place for name, one in value.items() for place in places(one, (*path, name))]
    if isinstance(value, list):
        return [place for at, one in enumerate(value) for place in places(one, (*path, at))]
    return [path]


def changed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool) or value is None:
        return "other"
    if isinstance(value, int):
        return value + draw.choice((-1, 1))
    return value[:-1] if value and draw.random() < 0.5 else f"{value}x"


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
def test_what_was_made_holds(whole: bool) -> None:
    for seed in range(20):
        lines = check(bundle(seed, whole=whole), PUBLIC)
        assert sum("VERIFIED" in line for line in lines) == 3


@pytest.mark.parametrize("characters", [11, 2_000, 2_001, 4_000, 16_001])
def test_texts_of_every_length_have_a_tree(characters: int) -> None:
    text = "".join(random.Random(characters).choices("abc ", k=characters))
    blocks = check_bundle.blocks_of(text)
    levels = check_bundle.levels_of([*map(check_bundle.leaf, blocks)])

    roots = {
        check_bundle.root_from(block, place, len(blocks), check_bundle.path_of(levels, place))
        for place, block in enumerate(blocks)
    }

    assert roots == {levels[-1][0].hex()}


def test_every_changed_byte_is_found() -> None:
    draw = random.Random(23)
    for seed in range(10):
        content = bundle(seed, characters=600)
        for _ in range(60):
            at = draw.randrange(len(content))
            other = bytes([content[at] ^ draw.randint(1, 255)])
            with pytest.raises(TamperedError):
                check(content[:at] + other + content[at + 1 :])


@pytest.mark.slow
@pytest.mark.parametrize("reseal", [False, True])
def test_every_changed_field_is_found(reseal: bool) -> None:
    draw = random.Random(int(reseal))
    for seed in range(10):
        content = bundle(seed, characters=600)
        found = [place for place in places(proof_of(content)) if not reseal or place != ("seal",)]
        for _ in range(10):
            proof = proof_of(content)
            *path, last = draw.choice(found)
            holder = proof
            for name in path:
                holder = holder[name]
            holder[last] = changed(holder[last], draw)
            if reseal:
                proof["seal"] = hashlib.sha256(check_bundle.sealed(proof)).hexdigest()
            with pytest.raises(TamperedError):
                check(repacked(content, proof))


def test_a_bundle_that_is_longer_shorter_or_none_is_refused() -> None:
    content = bundle(1)

    for other in (content + b"\n", content[:-1], content[1:], b"", b"PK", b"{}", content + content):
        with pytest.raises(TamperedError):
            check(other)


def resigned(proof: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    proof["key"] = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
    seal = hashlib.sha256(check_bundle.sealed(proof))
    return {**proof, "seal": seal.hexdigest(), "signature": key.sign(seal.digest()).hex()}


def test_who_makes_a_whole_proof_anew_is_told_by_the_key_and_by_nothing_else() -> None:
    content = bundle(1)
    forged = repacked(content, resigned({**proof_of(content), "madeAt": "yesterday"}, Ed25519PrivateKey.generate()))

    assert check(forged)
    with pytest.raises(TamperedError, match="signed with another key"):
        check(forged, PUBLIC)


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        (lambda proof: proof["citations"][0].update(quote="Words that stand nowhere."), "does not stand in its source"),
        (lambda proof: proof["citations"][0].update(answerSpans=[[0, 1]]), "does not carry its citation"),
        (lambda proof: proof["citations"][0].update(state="FINE"), "no known state"),
        (lambda proof: proof["citations"][0].update(state="ERASED"), "not as this format"),
        (lambda proof: next(iter(proof["sources"].values())).update(root="00" * 32), "is not of its text"),
        (lambda proof: next(iter(proof["sources"].values())).update(characters=1), "has not its length"),
        (lambda proof: next(iter(proof["sources"].values()))["blocks"]["0"]["path"].append("00" * 32), "too long"),
    ],
)
def test_even_with_the_key_a_proof_cannot_contradict_itself(lie: Callable[[Any], None], told: str) -> None:
    proof = proof_of(bundle(2, characters=600))
    lie(proof)

    with pytest.raises(TamperedError, match=told):
        check(repacked(bundle(2, characters=600), resigned(proof, KEY)))


def test_signatures_are_those_of_the_standard() -> None:
    draw = random.Random(5)
    for _ in range(10):
        key, message = Ed25519PrivateKey.from_private_bytes(draw.randbytes(32)), draw.randbytes(draw.randrange(100))
        public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
        signature = key.sign(message)
        raised = (int.from_bytes(signature[32:], "little") + check_bundle._L).to_bytes(33, "little")[:32]

        assert check_bundle.verify_signature(public, message, signature.hex())
        assert not check_bundle.verify_signature(public, message + b"x", signature.hex())
        assert not check_bundle.verify_signature(public, message, (signature[:32] + raised).hex())
        assert not check_bundle.verify_signature("ff" * 32, message, signature.hex())


def test_the_script_in_the_bundle_needs_nothing_but_python(tmp_path: Any) -> None:
    path, content = tmp_path / "proof.zip", bundle(3)
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        archive.extract("check_bundle.py", tmp_path)
    script = [sys.executable, "-I", "-S", str(tmp_path / "check_bundle.py")]

    fine = subprocess.run([*script, str(path), "--key", PUBLIC], capture_output=True, text=True, check=False)
    path.write_bytes(content[:-1])
    broken = subprocess.run([*script, str(path)], capture_output=True, text=True, check=False)

    assert (fine.returncode, fine.stdout.splitlines()[-1]) == (0, "All of it holds.")
    assert (broken.returncode, broken.stderr[:9]) == (1, "TAMPERED:")
    assert len((tmp_path / "check_bundle.py").read_text().splitlines()) <= 300


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with filled(World()) as made:
        yield made


def verifier(world: World) -> VerifyRun:
    clock = world.store.clock
    return VerifyRun(world.database, ReadRuns(world.database, world.runs, clock, world.recorder), clock)


async def states(world: World, run: Run, who: Principal | None = None) -> list[str]:
    found = await verifier(world).run(who or world.asker, world.workspace, run.run_id)
    return [one.state.value for one in found.checks]


async def proof(world: World, run: Run, who: Principal | None = None, *, whole: bool = False) -> bytes:
    made = ProveRun(world.database, verifier(world), world.telemetry)
    return (await made.run(who or world.asker, world.workspace, run.run_id, whole=whole)).content


async def erase(world: World, document_id: UUID) -> None:
    deletion = DeleteDocument(world.database, world.cache, None, world.telemetry)  # pyright: ignore[reportArgumentType]
    await deletion.run(world.workspace, document_id, "tests")


@pytest.mark.parametrize("whole", [False, True])
async def test_whose_text_is_in_a_bundle_is_in_the_audit_log(world: World, whole: bool) -> None:
    run = await world.ask()

    await proof(world, run, whole=whole)

    async with world.database.transaction(world.workspace.org_id) as transaction:
        entries = (await transaction.audit.page(PageRequest(10))).items
    read = [one for one in entries if one.action == AuditAction.READ_TEXT.value]
    assert {one.subject for one in read} == {str(one.document_id) for one in run.answer.citations}
    assert [(one.actor, one.detail) for one in read] == [
        (world.asker.subject_id, {"run": str(run.run_id), "whole": whole})
    ] * len(read)


async def test_a_run_is_proven_again_and_the_bundle_holds(world: World) -> None:
    run = await world.ask()

    content = await proof(world, run, whole=True)

    assert await states(world, run) == ["VERIFIED"] * len(run.answer.citations)
    lines = check(content)
    assert lines[0] == f"Q: {QUESTION}"
    assert TEXTS["Norrland Hockey League"] in json.dumps(proof_of(content))


async def test_the_words_of_an_erased_document_are_in_no_bundle_and_its_certificate_is(world: World) -> None:
    run = await world.ask()
    gone = run.answer.citations[0]

    await erase(world, gone.document_id)
    content = await proof(world, run, whole=True)

    assert (await states(world, run))[0] == "ERASED"
    text = json.dumps(proof_of(content), ensure_ascii=False)
    assert gone.snippet not in text
    assert gone.source_path not in text
    assert proof_of(content)["certificates"][str(gone.document_id)]["erasedAt"]
    assert any("erased on" in line for line in check(content))


async def test_other_words_at_the_place_of_a_quote_are_told(world: World) -> None:
    run = await world.ask()
    revision = run.answer.citations[0].revision_id
    async with world.store.transaction(world.workspace.org_id) as working:
        state = working.write(world.workspace)
        stored = state.revisions[revision]
        other = replace(stored.revision, text="z" * len(stored.revision.text))
        state.revisions[revision] = replace(stored, revision=other)

    assert (await states(world, run))[0] == "CHANGED"
    assert "CHANGED" in "\n".join(check(await proof(world, run)))


async def test_a_run_of_somebody_else_is_no_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag.answering.runs.read._FRESH_SECONDS", 0.1)
    run = await world.ask()

    with pytest.raises(NotFound):
        await proof(world, run, Principal(world.workspace.org_id, "eve", Role.MEMBER))


async def test_of_a_hidden_document_only_the_number_of_its_citation_is_told(world: World) -> None:
    run = await world.ask()
    hidden = run.answer.citations[0]
    async with world.database.transaction(world.workspace.org_id) as transaction:
        secret = await transaction.access.intern(world.workspace, ("user:boss",))
        await transaction.access.change(world.workspace, hidden.document_id, secret)

    found = await verifier(world).run(world.asker, world.workspace, run.run_id)
    content = await proof(world, run, whole=True)

    assert found.checks[0] == QuoteCheck(1, QuoteState.HIDDEN, "You may not read the document of this citation.")
    text = json.dumps(proof_of(content), ensure_ascii=False)
    assert hidden.snippet not in text
    assert hidden.source_path not in text
    assert str(hidden.document_id) not in text
    assert any("may not read" in line for line in check(content))
    assert await states(world, run, Principal(world.workspace.org_id, "boss", Role.ADMIN)) == ["VERIFIED"] * 2
