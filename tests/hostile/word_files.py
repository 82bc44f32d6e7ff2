"""Hostile DOCX files and archives that say they are."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

from tests.hostile.case import Hostile, failed, ready

MIB = 1 << 20
WORDS = "The winch must be greased before every tide"
OFFICE = "http://schemas.openxmlformats.org"
TYPES = (
    f'<Types xmlns="{OFFICE}/package/2006/content-types"><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    f'<Relationships xmlns="{OFFICE}/package/2006/relationships"><Relationship Id="r1" Target="word/document.xml" '
    f'Type="{OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
PARAGRAPH = f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>"


def body(inner: str = PARAGRAPH, head: str = "") -> str:
    """A main part."""
    return f'{head}<w:document xmlns:w="{OFFICE}/wordprocessingml/2006/main"><w:body>{inner}</w:body></w:document>'


def docx(changes: Mapping[str, str | bytes | None] | None = None) -> bytes:
    """A DOCX; `changes` replaces, adds or (None) drops parts."""
    parts = {"[Content_Types].xml": TYPES, "_rels/.rels": RELATIONS, "word/document.xml": body(), **(changes or {})}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, part in parts.items():
            if part is not None:
                archive.writestr(name, part)
    return out.getvalue()


def zipped(parts: Mapping[str, bytes]) -> bytes:
    """An archive of `parts`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def nested_zips(levels: int = 12) -> bytes:
    """Archives within archives, ten copies at each level."""
    inner = b"0" * MIB
    for _ in range(levels):
        inner = zipped({f"{number}.zip": inner for number in range(10)})
    return docx({"word/embeddings/bomb.zip": inner})


def laughs() -> str:
    """A thousand million laughs by entities of entities."""
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return body("<w:p><w:r><w:t>&l9;</w:t></w:r></w:p>", f'<!DOCTYPE d [<!ENTITY l0 "ha">{entities}]>')


def outside() -> str:
    """An entity that is a file of this machine."""
    return body("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>", '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>')


def external_relations() -> bytes:
    """A template, a picture and a link on another machine (a closed port of this one)."""
    types = f"{OFFICE}/officeDocument/2006/relationships"
    links = "".join(
        f'<Relationship Id="e{n}" Type="{types}/{kind}" Target="http://127.0.0.1:9/{kind}" TargetMode="External"/>'
        for n, kind in enumerate(("attachedTemplate", "image", "hyperlink", "subDocument"))
    )
    drawing = (
        '<w:p><w:r><w:drawing><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        f'xmlns:r="{types}" r:link="e1"/></w:drawing></w:r></w:p>'
    )
    return docx(
        {
            "word/document.xml": body(PARAGRAPH + drawing),
            "word/_rels/document.xml.rels": (
                f'<Relationships xmlns="{OFFICE}/package/2006/relationships">{links}</Relationships>'
            ),
        }
    )


def bad_checksum() -> bytes:
    """A stored main part of which one byte was changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, part in (("[Content_Types].xml", TYPES), ("_rels/.rels", RELATIONS), ("word/document.xml", body())):
            archive.writestr(name, part)
    return out.getvalue().replace(b"greased", b"grazed!", 1)


def lying_sizes() -> bytes:
    """A main part of 300 MB that the directory says has a hundred bytes."""
    honest = docx({"word/document.xml": body(PARAGRAPH * 3_000_000)})
    directory = honest.rindex(b"PK\x01\x02")
    return honest[: directory + 24] + struct.pack("<I", 100) + honest[directory + 28 :]


def protected_parts() -> bytes:
    """The encryption bit on every part."""
    made = bytearray(docx())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = made.find(mark)
        while at >= 0:
            made[at + place] |= 1
            at = made.find(mark, at + 4)
    return bytes(made)


def deep_tables(levels: int) -> str:
    """Tables within tables."""
    return body("<w:tbl><w:tr><w:tc>" * levels + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * levels)


def with_macros() -> bytes:
    """The content type of a document with macros, and some."""
    types = TYPES.replace("officedocument.wordprocessingml.document.main", "ms-word.document.macroEnabled.main")
    return docx({"[Content_Types].xml": types, "word/vbaProject.bin": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1AutoOpen"})


def traversal() -> bytes:
    """Parts that would leave the folder they are unpacked to."""
    return docx({"../../evil.xml": "<a/>", "/etc/cron.d/evil": "x", "..\\..\\evil.xml": "<a/>", "C:/evil": "x"})


WORD_FILES: tuple[Hostile, ...] = (
    failed("zip-ratio.docx", "TOO_LARGE", lambda: docx({"word/media/a.bin": bytes(40 * MIB)})),
    failed("zip-bomb.docx", "TOO_LARGE", lambda: docx({"word/document.xml": body(" " * (200 * MIB))})),
    failed("many-parts.docx", "TOO_LARGE", lambda: docx({f"word/media/{n}.png": "" for n in range(20_000)})),
    failed(
        "nested-zips.docx",
        "TOO_LARGE",
        lambda: docx({"word/embeddings/b.zip": bytes(30 * MIB)} | {"a": nested_zips(3)}),
    ),
    ready("nested-zip.docx", WORDS, lambda: nested_zips(4)),
    ready("traversal-names.docx", WORDS, traversal),
    failed("external-entity.docx", "CORRUPT", lambda: docx({"word/document.xml": outside()})),
    failed("billion-laughs.docx", "CORRUPT", lambda: docx({"word/document.xml": laughs()})),
    failed("utf16-entities.docx", "CORRUPT", lambda: docx({"word/document.xml": laughs().encode("utf-16")})),
    failed("entities-in-styles.docx", "CORRUPT", lambda: docx({"word/styles.xml": outside()})),
    ready("external-relations.docx", WORDS, external_relations),
    failed("no-main-part.docx", "TYPE_MISMATCH CORRUPT", lambda: docx({"word/document.xml": None})),
    ready(
        "main-part-elsewhere.docx", WORDS, lambda: docx({"_rels/.rels": RELATIONS.replace("document.xml", "no.xml")})
    ),
    failed(
        "three-million-paragraphs.docx",
        "TOO_LARGE TIMEOUT",
        lambda: docx({"word/document.xml": body("<w:p><w:r><w:t>a b</w:t></w:r></w:p>" * 3_000_000)}),
    ),
    failed("lying-sizes.docx", "TOO_LARGE CORRUPT", lying_sizes),
    ready(
        "wrong-content-type.docx",
        WORDS,
        lambda: docx({"[Content_Types].xml": TYPES.replace("wordprocessingml", "presentationml")}),
    ),
    ready("macros.docm", WORDS, with_macros),
    failed("bad-checksum.docx", "CORRUPT", bad_checksum),
    failed("protected-parts.docx", "ENCRYPTED", protected_parts),
    failed("cut.docx", "CORRUPT", lambda: docx()[:-200]),
    failed("open-tags.docx", "CORRUPT", lambda: docx({"word/document.xml": body()[:-20]})),
    failed("deep-tables.docx", "CORRUPT", lambda: docx({"word/document.xml": deep_tables(3_000)})),
    failed("zip-named.docx", "TYPE_MISMATCH", lambda: zipped({"readme.txt": b"not a Word document"})),
    failed("no-words.docx", "NO_TEXT", lambda: docx({"word/document.xml": body("<w:p/>" * 100)})),
)
