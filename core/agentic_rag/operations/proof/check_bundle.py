"""Checks the proof of a run and its quotes: python check_bundle.py BUNDLE.zip [--key HEX]

It needs Python 3.10 or later and nothing else: no server, no network, no package. It ends with 0 where all holds, with
1 where something was changed. `--key` names the public key of the organisation that must have signed; ask them for it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FORMAT = "agentic-rag-proof-1"
BLOCK = 2_000
"""Code points of a block of a source's text."""
PROOF, SCRIPT, README = "proof.json", "check_bundle.py", "README.txt"
_NAMES = (PROOF, SCRIPT, README)
_QUOTED, _CHANGED, _ERASED, _WITHHELD = "VERIFIED", "CHANGED", "ERASED", "HIDDEN"


class TamperedError(Exception):
    """Something in the bundle is not what was sealed."""


def canonical(value: object) -> bytes:
    """The one form in which the proof may be written."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files: the same bytes always."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in _NAMES:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, files[name])
    return made.getvalue()


def blocks_of(text: str) -> list[str]:
    """A text in blocks; the empty text is one."""
    return [text[start : start + BLOCK] for start in range(0, len(text), BLOCK)] or [""]


def leaf(block: str) -> bytes:
    return hashlib.sha256(b"\x00" + block.encode()).digest()


def _parent(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def levels_of(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """The hash tree over leaves, from them up to its root; one without a neighbour goes up as it is."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        level = levels[-1]
        levels.append(
            [_parent(*level[at : at + 2]) if at + 1 < len(level) else level[at] for at in range(0, len(level), 2)]
        )
    return levels


def path_of(levels: Sequence[Sequence[bytes]], place: int) -> list[str]:
    """The neighbours of a leaf on its way up."""
    found: list[str] = []
    for level in levels[:-1]:
        beside = place ^ 1
        if beside < len(level):
            found.append(level[beside].hex())
        place //= 2
    return found


def root_from(block: str, place: int, count: int, path: Sequence[str]) -> str:
    """The root of the tree that holds a block at its place, by the neighbours on its way up."""
    value, rest = leaf(block), [bytes.fromhex(one) for one in path]
    while count > 1:
        if place ^ 1 < count:
            if not rest:
                raise TamperedError("the path of a block is too short")
            beside = rest.pop(0)
            value = _parent(value, beside) if place % 2 == 0 else _parent(beside, value)
        place, count = place // 2, (count + 1) // 2
    if rest:
        raise TamperedError("the path of a block is too long")
    return value.hex()


def sealed(proof: Mapping[str, Any]) -> bytes:
    """What the seal and the signature cover: all but themselves."""
    return canonical({name: value for name, value in proof.items() if name not in ("seal", "signature")})


def check(content: bytes, key: str | None = None) -> list[str]:
    """What a bundle proves, line by line. Raises TamperedError."""
    files = _unpack(content)
    try:
        return [*_check_proof(files, key)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise TamperedError(f"{PROOF} is not as this format writes it ({type(error).__name__}: {error})") from error


def _unpack(content: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise TamperedError(f"the archive is damaged: {error}") from error
    if sorted(files) != sorted(_NAMES) or pack(files) != content:
        raise TamperedError("the archive is not as it was made")
    return files


def _check_proof(files: Mapping[str, bytes], key: str | None) -> Iterator[str]:
    proof = json.loads(files[PROOF])
    if canonical(proof) != files[PROOF]:
        raise TamperedError(f"{PROOF} was written by another program")
    if proof["format"] != FORMAT:
        raise TamperedError(f"the format is {proof['format']!r}, not {FORMAT!r}")
    for name in (SCRIPT, README):
        if proof["files"][name] != digest(files[name]):
            raise TamperedError(f"{name} was changed")
    seal = hashlib.sha256(sealed(proof))
    if proof["seal"] != seal.hexdigest():
        raise TamperedError("the seal is broken: something in the proof was changed")
    if not verify_signature(proof["key"], seal.digest(), proof["signature"]):
        raise TamperedError("the signature is not that of the key")
    if key is not None and proof["key"] != key.lower():
        raise TamperedError(f"it was signed with another key: {proof['key']}")
    run = proof["run"]
    yield f"Q: {run['question']}"
    yield f"A: {run['answer']}"
    yield f"{run['outcome']}, answered on {run['createdAt']}, proven on {proof['madeAt']}"
    for source_id, source in proof["sources"].items():
        _check_source(source_id, source)
    for cited in proof["citations"]:
        yield _check_citation(cited, proof)
    yield f"signed with the key {proof['key']}" + ("" if key else " (ask the organisation whether it is theirs)")


def _check_source(source_id: str, source: Mapping[str, Any]) -> None:
    count = max(-(-source["characters"] // BLOCK), 1)
    blocks = {int(place): block for place, block in source["blocks"].items()}
    for place, block in blocks.items():
        length = min(BLOCK, source["characters"] - place * BLOCK)
        if not 0 <= place < count or len(block["text"]) != length:
            raise TamperedError(f"a block of source {source_id} has not its length")
        if root_from(block["text"], place, count, block["path"]) != source["root"]:
            raise TamperedError(f"a block of source {source_id} is not of its text")
    if len(blocks) == count:
        whole = "".join(blocks[place]["text"] for place in range(count))
        if digest(whole.encode()) != source["textSha256"]:
            raise TamperedError(f"the text of source {source_id} is another")


def _check_citation(cited: Mapping[str, Any], proof: Mapping[str, Any]) -> str:
    head = f"[{cited['marker']}] {cited['state']}"
    if cited["state"] == _ERASED:
        certificate = proof["certificates"][cited["document"]]
        return f"{head}: the document was erased on {certificate['erasedAt']}"
    if cited["state"] == _WITHHELD:
        return f"{head}: its reader may not read the document"
    if cited["state"] == _CHANGED:
        return f"{head}: {cited['reason']}"
    if cited["state"] != _QUOTED:
        raise TamperedError(f"citation {cited['marker']} has no known state")
    start, end = cited["span"]
    source = proof["sources"][cited["source"]]
    first, last = start // BLOCK, max(end - 1, start) // BLOCK
    shown = "".join(source["blocks"][str(place)]["text"] for place in range(first, last + 1))
    if shown[start - first * BLOCK : end - first * BLOCK] != cited["quote"] or not cited["quote"]:
        raise TamperedError(f"the quote of citation {cited['marker']} does not stand in its source")
    answer = proof["run"]["answer"]
    if any(f"[{cited['marker']}]" not in answer[begin:stop] for begin, stop in cited["answerSpans"]):
        raise TamperedError(f"a sentence of the answer does not carry its citation {cited['marker']}")
    place = f", page {cited['page']}" if cited["page"] else ""
    return f"{head}: {cited['title']}{place}, characters {start} to {end} of source {cited['source']}"


# Ed25519 as RFC 8032 describes it: verification only, so nothing here is secret.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_Point = tuple[int, int, int, int]


def _add(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c, d = 2 * one[3] * other[3] * _D % _P, 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: _Point) -> _Point:
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = _add(total, point)
        point, number = _add(point, point), number >> 1
    return total


def _across(y: int, sign: int) -> int | None:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P)
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    return _P - x if x & 1 != sign else x


def _point(encoded: bytes) -> _Point | None:
    stated = int.from_bytes(encoded, "little")
    y = stated & ((1 << 255) - 1)
    x = _across(y, stated >> 255)
    return None if x is None else (x, y, 1, x * y % _P)


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE = _point(_BASE_Y.to_bytes(32, "little"))


def verify_signature(key: str, message: bytes, signature: str) -> bool:
    """Whether the holder of the key signed the message; key and signature in small hexadecimal letters."""
    if not re.fullmatch("[0-9a-f]{64}", key) or not re.fullmatch("[0-9a-f]{128}", signature):
        return False
    raw, held = bytes.fromhex(signature), _point(bytes.fromhex(key))
    first, number = _point(raw[:32]), int.from_bytes(raw[32:], "little")
    if held is None or first is None or _BASE is None or number >= _L:
        return False
    mixed = int.from_bytes(hashlib.sha512(raw[:32] + bytes.fromhex(key) + message).digest(), "little") % _L
    left, right = _times(number, _BASE), _add(first, _times(mixed, held))
    return not ((left[0] * right[2] - right[0] * left[2]) % _P or (left[1] * right[2] - right[1] * left[2]) % _P)


def main(arguments: Sequence[str]) -> int:
    """Check the bundle that the command line names."""
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] != "--key"):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    try:
        for line in check(Path(arguments[0]).read_bytes(), arguments[2] if len(arguments) == 3 else None):
            sys.stdout.write(f"{line}\n")
    except TamperedError as found:
        sys.stderr.write(f"TAMPERED: {found}.\n")
        return 1
    sys.stdout.write("All of it holds.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
