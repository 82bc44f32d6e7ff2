"""Hostile PDFs, written object by object (ISO 32000-1, 7.5)."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from pypdf import PdfWriter

from tests.hostile.case import Hostile, failed, ready

MIB = 1 << 20
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
WORDS = "The harbour office keeps the original of this letter"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"


def stream(data: bytes, extra: bytes = b"", length: int | None = None) -> bytes:
    """A stream object; `length` may lie."""
    size = len(data) if length is None else length
    return b"<<" + extra + b"/Length %d>>stream\n" % size + data + b"\nendstream"


def flate(data: bytes, extra: bytes = b"") -> bytes:
    """A deflated stream object."""
    return stream(zlib.compress(data, 9), b"/Filter/FlateDecode" + extra)


def repeated(block: bytes, times: int, start: bytes = b"") -> bytes:
    """What zlib inflates to `start` and `times` the block (RFC 1950), where one block alone is deflated."""
    pieces: list[bytes] = []
    for one in (start, block):
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        pieces.append(deflate.compress(one) + deflate.flush(zlib.Z_FULL_FLUSH))
    checksum = zlib.adler32(start)
    for _ in range(times):
        checksum = zlib.adler32(block, checksum)
    return b"\x78\xda" + pieces[0] + pieces[1] * times + b"\x03\x00" + checksum.to_bytes(4, "big")


def shown(words: str = WORDS) -> bytes:
    """A page's content that shows `words`."""
    return f"BT /F 12 Tf 40 700 Td ({words}) Tj ET".encode("latin-1")


def pdf(changes: Mapping[int, bytes] | None = None, trailer: bytes = b"") -> bytes:
    """A one-page PDF with a right cross-reference table; `changes` replaces or adds objects."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: PAGE,
        4: stream(shown()),
        5: FONT,
        **(changes or {}),
    }
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = out.tell()
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start, size = out.tell(), max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        out.write(b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 00000 f \n")
    out.write(b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start))
    return out.getvalue()


def pdf_of_pages(*contents: bytes) -> bytes:
    """A PDF with a page for each content stream."""
    numbers = range(6, 6 + 2 * len(contents), 2)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects = {2: b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % len(contents)}
    for number, content in zip(numbers, contents, strict=True):
        objects |= {number: PAGE.replace(b"4 0 R", b"%d 0 R" % (number + 1)), number + 1: content}
    return pdf(objects)


def xref_stream_pdf(object_stream: bytes, size: int = 7) -> bytes:
    """A PDF whose page tree (object 2) lies in an object stream (object 6), found through a cross-reference stream."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 3: PAGE, 4: stream(shown()), 5: FONT, 6: object_stream}
    for number, body in objects.items():
        places[number] = out.tell()
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start = out.tell()
    rows = [
        b"\0\0\0\0\0\0",
        *(b"\1" + places[n].to_bytes(4, "big") + b"\0" if n != 2 else b"\2\0\0\0\6\0" for n in range(1, 7)),
    ]
    table = stream(b"".join(rows), b"/Type/XRef/W[1 4 1]/Index[0 7]/Size %d/Root 1 0 R" % size)
    out.write(b"7 0 obj\n" + table + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def encrypted(user: str, owner: str, algorithm: str) -> bytes:
    """A PDF protected by passwords."""
    writer = PdfWriter(clone_from=io.BytesIO(pdf()))
    writer.encrypt(user, owner, algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def nested_filters(times: int, size: int) -> bytes:
    """A content stream of `size` spaces that was deflated `times` times over."""
    data = repeated(b" " * MIB, size // MIB, shown())
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    return pdf({4: stream(data, b"/Filter[" + b"/FlateDecode" * times + b"]")})


def mapped(ranges: bytes, words: bytes = b"<000100020003000400050006>") -> bytes:
    """A PDF whose only font says by `ranges` (a ToUnicode map) what its codes mean."""
    unicode_map = b"begincmap 1 begincodespacerange <0000><ffff> endcodespacerange " + ranges + b" endcmap"
    return pdf(
        {
            4: stream(b"BT /F 12 Tf 40 700 Td " + b" Tj ".join([words] * 20) + b" Tj ET"),
            5: b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
            6: b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
            b"/Supplement 0>>>>",
            7: stream(unicode_map),
        }
    )


def glyph_names(count: int = 400, title: str = "") -> bytes:
    """A font that names its glyphs g001, g002 … and has no map to Unicode; the document may have a title."""
    names = b"".join(b"/g%03d" % number for number in range(1, 95))
    text = b"".join(b"%c" % (33 + number * 7 % 90) for number in range(count)).replace(b"(", b"!").replace(b")", b"!")
    return pdf(
        {
            4: stream(b"BT /F 12 Tf 40 700 Td (" + text.replace(b"\\", b"!") + b") Tj ET"),
            5: b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 33/LastChar 126"
            b"/CharProcs<<>>/Encoding<</Type/Encoding/Differences[33" + names + b"]>>>>",
            6: b"<</Title(" + title.encode() + b")>>",
        },
        b"/Info 6 0 R",
    )


def scanned() -> bytes:
    """A page that is nothing but a picture."""
    return pdf(
        {
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</I 6 0 R>>>>>>",
            4: stream(b"q 600 0 0 800 0 0 cm /I Do Q"),
            6: flate(
                bytes(800 * 600),
                b"/Type/XObject/Subtype/Image/Width 600/Height 800/BitsPerComponent 8/ColorSpace/DeviceGray",
            ),
        }
    )


def huge_table() -> bytes:
    """A cross-reference table that promises two thousand million entries."""
    made = pdf()
    return made.replace(b"xref\n0 6\n", b"xref\n0 2000000000\n").replace(b"/Size 6", b"/Size 2000000000")


def with_extras() -> bytes:
    """JavaScript that runs on opening, an embedded program, and a link that launches one."""
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL('file:///etc/passwd'))>>"
            b"/Names<</EmbeddedFiles<</Names[(a.exe) 6 0 R]>>>>>>",
            6: b"<</Type/Filespec/F(../../a.exe)/EF<</F 7 0 R>>>>",
            7: flate(b"MZ\x90\x00" + bytes(1000), b"/Type/EmbeddedFile"),
        }
    )


def cyclic_outline() -> bytes:
    """Bookmarks that follow each other in a circle."""
    return pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            6: b"<</Type/Outlines/First 7 0 R/Last 8 0 R/Count 2>>",
            7: b"<</Title(One)/Parent 6 0 R/Next 8 0 R/Dest[3 0 R/Fit]/First 6 0 R>>",
            8: b"<</Title(Two)/Parent 6 0 R/Next 7 0 R/Dest[3 0 R/Fit]>>",
        }
    )


def endless_forms() -> bytes:
    """A form that draws itself ten times."""
    resources = b"/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>"
    return pdf(
        {
            3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R" + resources + b">>",
            4: stream(shown() + b" /X Do"),
            6: stream(b"/X Do " * 10, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + resources),
        }
    )


def doubling_forms(levels: int = 24) -> bytes:
    """Forms that each draw the next one twice: 2 to the power of `levels` drawings of one text."""
    font = b"/Font<</F 5 0 R>>"
    forms = {
        10 + level: stream(
            b"/X Do /X Do" if level < levels else shown("again"),
            b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<" + font + b"/XObject<</X %d 0 R>>>>" % (11 + level),
        )
        for level in range(levels + 1)
    }
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<" + font
    return pdf({3: page + b"/XObject<</X 10 0 R>>>>>>", 4: stream(shown() + b" /X Do"), **forms})


def pdf_and_zip() -> bytes:
    """Both a PDF and a ZIP archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("../evil.txt", "The archive's own words")
    return pdf() + archive.getvalue()


def cut(share: float) -> bytes:
    """The first part of a PDF of several pages."""
    many = {n: PAGE for n in range(10, 40)}
    kids = b" ".join(b"%d 0 R" % n for n in many)
    whole = pdf({2: b"<</Type/Pages/Kids[%s]/Count 30>>" % kids, **many})
    return whole[: int(len(whole) * share)]


def updated() -> bytes:
    """Incremental updates: one that points nowhere, then trash."""
    return pdf() + b"9 0 obj\n<</Broken[(\nxref\n0 1\ntrailer\n<</Root 99 0 R/Prev 999999>>\n" + b"\x00\xff%junk" * 500


def run_length_bomb() -> bytes:
    """300 MB out of 5 MB by run lengths."""
    return pdf({4: stream(b"\x81 " * (300 * MIB // 128), b"/Filter/RunLengthDecode")})


PDF_FILES: tuple[Hostile, ...] = (
    failed(
        "page-tree-of-itself.pdf", "CORRUPT NO_TEXT", lambda: pdf({2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"})
    ),
    failed(
        "page-tree-cycle.pdf",
        "CORRUPT NO_TEXT",
        lambda: pdf(
            {2: b"<</Type/Pages/Kids[6 0 R]/Count 9>>", 6: b"<</Type/Pages/Kids[2 0 R]/Parent 2 0 R/Count 9>>"}
        ),
    ),
    ready("page-count-lies.pdf", WORDS, lambda: pdf({2: b"<</Type/Pages/Kids[3 0 R]/Count 9>>"})),
    failed("no-pages.pdf", "NO_TEXT", lambda: pdf({2: b"<</Type/Pages/Kids[]/Count 0>>"})),
    ready(
        "object-stream.pdf",
        WORDS,
        lambda: xref_stream_pdf(flate(b"2 0 <</Type/Pages/Kids[3 0 R]/Count 1>>", b"/Type/ObjStm/N 1/First 4")),
    ),
    failed(
        "object-stream-bomb.pdf",
        "CORRUPT TOO_LARGE",
        lambda: xref_stream_pdf(
            stream(repeated(b"2 0 " * MIB, 100), b"/Filter/FlateDecode/Type/ObjStm/N 100000000/First 400000000")
        ),
    ),
    failed(
        "object-stream-of-itself.pdf",
        "CORRUPT",
        lambda: xref_stream_pdf(stream(b"6 0 6 0 R", b"/Type/ObjStm/N 1/First 4/Extends 6 0 R")),
    ),
    failed(
        "flate-bomb.pdf",
        "TOO_LARGE CORRUPT",
        lambda: pdf({4: stream(repeated(b" " * MIB, 300), b"/Filter/FlateDecode")}),
    ),
    ready("filters-over-filters.pdf", WORDS, lambda: nested_filters(12, 200 * MIB)),
    failed("run-length-bomb.pdf", "TOO_LARGE CORRUPT", run_length_bomb),
    ready(
        "giant-page.pdf",
        WORDS,
        lambda: pdf({3: PAGE.replace(b"[0 0 600 800]", b"[-99999999999999 -9 99999999999999 99999999999999]")}),
    ),
    ready("huge-xref.pdf", WORDS, huge_table),
    ready("negative-length.pdf", WORDS, lambda: pdf({4: stream(shown(), length=-1)})),
    ready("length-too-long.pdf", WORDS, lambda: pdf({4: stream(shown(), length=10**9)})),
    failed("cut-at-10.pdf", "CORRUPT NO_TEXT", lambda: cut(0.1)),
    failed("cut-at-50.pdf", "CORRUPT NO_TEXT", lambda: cut(0.5)),
    failed("cut-before-its-end.pdf", "CORRUPT", lambda: cut(0.995)),
    failed("password-rc4.pdf", "ENCRYPTED", lambda: encrypted("secret", "owner", "RC4-128")),
    failed("password-aes.pdf", "ENCRYPTED", lambda: encrypted("secret", "owner", "AES-256")),
    ready("empty-password-aes.pdf", WORDS, lambda: encrypted("", "owner", "AES-256")),
    ready("trash-after-its-end.pdf", WORDS, updated),
    ready("junk-before-its-header.pdf", WORDS, lambda: b"HTTP/1.1 200 OK\r\n\r\n" + pdf()),
    failed("scanned.pdf", "NO_TEXT", scanned),
    failed("glyph-names.pdf", "GARBLED", glyph_names),
    failed("glyph-names-of-a-report.pdf", "GARBLED", lambda: glyph_names(3_000, "Report of the harbour office")),
    ready(
        "glyph-names-of-a-cover.pdf", "Report 3 of the harbour", lambda: glyph_names(60, "Report 3 of the harbour.pptx")
    ),
    failed("private-use.pdf", "GARBLED", lambda: mapped(b"1 beginbfrange <0000><ffff><e000> endbfrange")),
    failed(
        "map-bomb.pdf",
        "CORRUPT TOO_LARGE GARBLED NO_TEXT TIMEOUT",
        lambda: mapped(b"1 beginbfrange " + b"<00000000><7fffffff><0041> " * 50 + b"endbfrange"),
    ),
    ready("scripts-and-attachments.pdf", WORDS, with_extras),
    ready("outline-cycle.pdf", WORDS, cyclic_outline),
    ready("form-of-itself.pdf", WORDS, endless_forms),
    ready("doubling-forms.pdf", WORDS, doubling_forms),
    failed("deep-arrays.pdf", "CORRUPT", lambda: pdf({3: b"[" * 200_000 + b"]" * 200_000})),
    ready("pdf-and-zip.pdf", WORDS, pdf_and_zip),
)
