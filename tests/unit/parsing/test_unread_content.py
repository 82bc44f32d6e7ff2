"""Pictures, attached and embedded files, remarks and objects: their words are read, or the document says that it was
not read whole. None is READY with nothing said.
"""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from typing import Any

import docx
import pytest
from docx.shared import Cm
from openpyxl import Workbook
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx import Presentation
from pptx.util import Cm as SlideCm
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Highlight, Text
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, StreamObject, TextStringObject
from reportlab.pdfgen.canvas import Canvas

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import OFFICE, zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import ParsedDocument
from agentic_rag.documents.unread_pages import UnreadPages, read_unread_pages, unread_provenance
from agentic_rag.kernel.errors import ParseFailed

ODF = "urn:oasis:names:tc:opendocument:xmlns"
PROSE = "The quay was rebuilt in concrete after the storm of that year, as the harbour master says."


def _blank_pdf() -> bytes:
    made, writer = io.BytesIO(), PdfWriter()
    writer.add_blank_page(200, 200)
    writer.write(made)
    return made.getvalue()


BLANK_PDF = _blank_pdf()


def read(content: bytes, name: str) -> LoadedText:
    loaded = load(content, name, None, ParserLimits())[1]
    for block in loaded.blocks:
        assert loaded.text[block.start : block.end].strip() == loaded.text[block.start : block.end] != ""
    return loaded


def told(content: bytes, name: str) -> tuple[int, int, str] | None:
    """Count, total and unit of what the document says was not read, through its provenance."""
    loaded = read(content, name)
    parsed = ParsedDocument(
        loaded.text, loaded.blocks, loaded.pages, None, "x/y", "p", "1",
        unread_pages=loaded.unread_pages, parts=loaded.parts, unread_unit=loaded.unit,
    )  # fmt: skip
    unread: UnreadPages | None = read_unread_pages(unread_provenance(parsed))
    return None if unread is None else (unread.count, unread.pages, unread.unit)


def picture(width: int = 1000, height: int = 700, form: str = "PNG") -> io.BytesIO:
    made = io.BytesIO()
    drawn = Image.effect_noise((width // 4, height // 4), 60).resize((width, height))
    drawn.save(made, form, compress_level=1)
    made.seek(0)
    return made


def word(*sizes: tuple[float, float], prose: str = PROSE, in_header: bool = False, same: bool = False) -> bytes:
    """A DOCX with pictures of these sizes in centimetres."""
    document: Any = docx.Document()
    document.add_paragraph(prose)
    pictures = [picture().getvalue() for _ in sizes]
    for number, (width, height) in enumerate(sizes):
        paragraph = document.sections[0].header.paragraphs[0] if in_header else document.add_paragraph()
        paragraph.add_run().add_picture(io.BytesIO(pictures[0 if same else number]), Cm(width), Cm(height))
    return saved(document)


def saved(document: Any) -> bytes:
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(lambda: word((16, 22)), (1, 1, "picture"), id="scan"),
        pytest.param(lambda: word((14, 8), (12, 5)), (2, 2, "picture"), id="two screenshots"),
        pytest.param(lambda: word((14, 8), (12, 5), same=True), (1, 1, "picture"), id="one picture shown twice"),
        pytest.param(lambda: word((4.6, 4.6), (6, 2), (16, 2)), None, id="portrait, logo, banner"),
        pytest.param(lambda: word((16, 8), in_header=True), None, id="letterhead"),
        pytest.param(lambda: word(), None, id="none"),
    ],
)
def test_large_pictures_of_word_are_told(make: Callable[[], bytes], expected: tuple[int, int, str] | None) -> None:
    assert told(make(), "a.docx") == expected


def test_a_picture_as_older_programs_write_it_is_told() -> None:
    drawn = (
        '<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" style="width:415.3pt;height:300pt">'
        '<v:imagedata r:id="rId90"/></v:shape></w:pict>'
    )
    content = changed(word(), {"word/document.xml": ("</w:p>", f"<w:r>{drawn}</w:r></w:p>")}, image="rId90")

    assert told(content, "a.docx") == (1, 1, "picture")


@pytest.mark.slow
@pytest.mark.parametrize("prose", ["", " "])
def test_a_document_that_is_one_picture_is_not_ready(prose: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        read(word((16, 22), prose=prose), "a.docx")
    assert refused.value.code == "PARSE_NO_TEXT"


def changed(package: bytes, edits: dict[str, tuple[str, str]], image: str = "", **parts: bytes) -> bytes:
    """A package with texts replaced, an image relation and parts added."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name in edits:
                text = text.replace(*(one.encode() for one in edits[name]), 1)
            if name == "word/_rels/document.xml.rels" and image:
                kind = f"{OFFICE}/officeDocument/2006/relationships/image"
                added = f'<Relationship Id="{image}" Type="{kind}" Target="media/x.png"/></Relationships>'
                text = text.replace(b"</Relationships>", added.encode())
            new.writestr(name, text)
        for name, part in parts.items():
            new.writestr(name.replace("__", "/").replace("_DOT_", "."), part)
    return made.getvalue()


def related(kind: str, target: str) -> dict[str, tuple[str, str]]:
    relation = f'<Relationship Id="rId91" Type="{OFFICE}/officeDocument/2006/relationships/{kind}" Target="{target}"/>'
    return {"word/_rels/document.xml.rels": ("</Relationships>", f"{relation}</Relationships>")}


def test_a_text_inserted_by_reference_is_read() -> None:
    page = b"<html><body><p>The inserted okapi weighs 240 kg.</p></body></html>"
    content = changed(word(), related("aFChunk", "chunk.html"), word__chunk_DOT_html=page)

    loaded = read(content, "a.docx")

    assert "The inserted okapi weighs 240 kg." in loaded.text
    assert told(content, "a.docx") is None


def test_a_workbook_inside_a_document_is_read() -> None:
    book = Workbook()
    sheet: Any = book.active
    sheet.append(["Animal", "Weight"])
    sheet.append(["Okapi", 240])
    content = changed(word(), related("package", "embeddings/b.xlsx"), word__embeddings__b_DOT_xlsx=saved(book))

    assert "Okapi | 240" in read(content, "a.docx").text


@pytest.mark.slow
def test_objects_and_unreadable_files_in_a_document_are_told() -> None:
    objects = changed(word(), related("oleObject", "embeddings/o.bin"), word__embeddings__o_DOT_bin=b"\xd0\xcf\x11\xe0")
    locked = changed(
        word((16, 9)), related("aFChunk", "chunk.doc"), word__chunk_DOT_doc=b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    )

    assert told(objects, "a.docx") == (1, 1, "object")
    assert told(locked, "a.docx") == (2, 2, "part")
    assert "was not read" in read(locked, "a.docx").text


def workbook(*sizes: tuple[int, int], rows: int = 1) -> bytes:
    book = Workbook()
    sheet: Any = book.active
    for _ in range(rows):
        sheet.append(["Region", PROSE])
    for number, size in enumerate(sizes):
        sheet.add_image(SheetImage(picture(*size)), f"B{number * 9 + 2}")
    return saved(book)


def test_large_pictures_of_a_sheet_are_told() -> None:
    assert told(workbook((800, 500), (60, 40), (500, 300)), "a.xlsx") == (2, 2, "picture")
    assert told(workbook((60, 40)), "a.xlsx") is None
    with pytest.raises(ParseFailed) as refused:
        read(workbook((800, 500), rows=0), "a.xlsx")
    assert refused.value.code == "PARSE_NO_TEXT"


def open_file(kind: str, content: str) -> bytes:
    names = " ".join(f'xmlns:{room}="{ODF}:{room}:1.0"' for room in ("office", "text", "table", "drawing", "form"))
    names += f' xmlns:svg="{ODF}:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return zip_parts(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {names}><office:body><office:{kind}>{content}</office:{kind}>"
            "</office:body></office:document-content>",
        }
    )


def framed(width: str, height: str, address: str = "Pictures/a.png", beside: str = "") -> str:
    return (
        f'<drawing:frame svg:width="{width}" svg:height="{height}"><drawing:image xlink:href="{address}"/>{beside}'
        "</drawing:frame>"
    )


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (framed("16cm", "9cm"), (1, 1, "picture")),
        (framed("6.5in", "300pt") + framed("160mm", "90mm", "Pictures/b.png"), (2, 2, "picture")),
        (framed("0.847cm", "0.847cm") + framed("5cm", "2cm"), None),
        (framed("16cm", "9cm", beside='<drawing:object xlink:href="./Object 1"/>'), (1, 1, "object")),
    ],
)
def test_large_pictures_of_open_files_are_told(frames: str, expected: tuple[int, int, str] | None) -> None:
    cell = f"<table:table-cell><text:p>{PROSE}</text:p>{frames}</table:table-cell>"

    assert told(open_file("text", f"<text:p>{PROSE}{frames}</text:p>"), "a.odt") == expected
    assert (
        told(open_file("spreadsheet", f"<table:table><table:table-row>{cell}</table:table-row></table:table>"), "a.ods")
        == expected
    )


def test_an_open_workbook_of_empty_sheets_or_pictures_only_is_not_ready() -> None:
    empty = '<table:table table:name="Plan"><table:table-row><table:table-cell/></table:table-row></table:table>'
    drawn = f'<table:table table:name="Plan"><table:shapes>{framed("16cm", "9cm")}</table:shapes></table:table>'
    for content in (empty, drawn):
        with pytest.raises(ParseFailed) as refused:
            read(open_file("spreadsheet", content), "a.ods")
        assert refused.value.code == "PARSE_NO_TEXT"


@pytest.mark.parametrize(
    ("content", "name", "recognised", "remedy"),
    [
        (b" \n\t", "a.txt", None, "it is blank"),
        (b"<script>var root</script>", "a.html", None, "scripts"),
        (BLANK_PDF, "a.pdf", None, "Switch on text recognition"),
        (BLANK_PDF, "a.pdf", {}, "export it with its text"),
    ],
    ids=["blank text", "page of a script", "PDF", "PDF where words are recognised"],
)
def test_a_file_without_text_says_what_helps(
    content: bytes, name: str, recognised: Mapping[int, None] | None, remedy: str
) -> None:
    with pytest.raises(ParseFailed, match=remedy) as refused:
        load(content, name, None, ParserLimits(), recognised=recognised)

    assert (refused.value.code, "ocr" in refused.value.message) == ("PARSE_NO_TEXT", "Switch" in remedy)


def with_object(held: str | None, tag: str = "object") -> bytes:
    """An ODT with an embedded object, whose body is given."""
    frame = f'<drawing:frame><drawing:{tag} xlink:href="./Object 1"/></drawing:frame>'
    text = open_file("text", f"<text:p>{PROSE}{frame}</text:p>")
    if held is None:
        return text
    inner = f'<office:document-content xmlns:office="{ODF}:office:1.0" xmlns:table="{ODF}:table:1.0" '
    inner += f'xmlns:text="{ODF}:text:1.0"><office:body>{held}</office:body></office:document-content>'
    return changed(text, {}, **{"Object 1__content_DOT_xml": inner.encode()})


def test_sheets_embedded_in_open_text_are_read_and_other_objects_told() -> None:
    cells = "".join(f"<table:table-cell><text:p>{one}</text:p></table:table-cell>" for one in ("Okapi", "240"))
    sheet = f"<table:table><table:table-row>{cells}</table:table-row></table:table>"

    assert "Okapi | 240" in read(with_object(f"<office:spreadsheet>{sheet}</office:spreadsheet>"), "a.odt").text
    assert told(with_object(f"<office:spreadsheet>{sheet}</office:spreadsheet>"), "a.odt") is None
    assert told(with_object("<office:presentation/>"), "a.odt") == (1, 1, "object")
    assert told(with_object(None), "a.odt") == (1, 1, "object")
    assert told(with_object(None, "object-ole"), "a.odt") == (1, 1, "object")


def test_forms_of_open_text_are_read() -> None:
    form = (
        '<office:forms><form:form><form:text form:name="Berth" form:current-value="Quay 7"/>'
        '<form:checkbox form:label="Okapi aboard" form:current-state="checked"/>'
        '<form:checkbox form:label="Crane needed" form:state="unchecked"/>'
        '<form:password form:name="Code" form:current-value="hunter2"/>'
        '<form:listbox form:name="Cargo"><form:option form:label="Grain"/>'
        '<form:option form:label="Timber" form:current-selected="true"/></form:listbox></form:form></office:forms>'
    )

    text = read(open_file("text", f"{form}<text:p>{PROSE}</text:p>"), "a.odt").text

    assert text.endswith("Form\n\nBerth: Quay 7\n\nOkapi aboard: ☒\n\nCargo: Timber")


@pytest.mark.slow
def test_a_slide_with_a_title_and_a_large_picture_is_told() -> None:
    show: Any = Presentation()
    for title, size, said in (("Results", 12, ""), ("Berths", 12, PROSE), ("Crew", 2, "")):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = title
        slide.shapes.add_picture(picture(), 0, 0, SlideCm(size), SlideCm(size / 2))
        if said:
            slide.shapes.add_textbox(0, 0, SlideCm(5), SlideCm(5)).text_frame.text = said

    assert told(saved(show), "a.pptx") == (1, 3, "page")


def test_large_pictures_of_a_book_are_told_but_for_its_cover() -> None:
    book = io.BytesIO()
    chapter = f'<html><body><p>{PROSE}</p><img src="../i/a%20b.png"/><img src="../i/icon.png"/></body></html>'
    items = "".join(
        f'<item id="{name[0]}" href="{name}" media-type="image/png"/>' for name in ("i/a%20b.png", "i/icon.png")
    )
    with zipfile.ZipFile(book, "w") as made:
        made.writestr("mimetype", "application/epub+zip")
        made.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="o/b.opf"/></rootfiles></container>',
        )
        made.writestr(
            "o/b.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}<item id="a" href="t/a.xhtml" '
            'media-type="application/xhtml+xml"/><item id="v" href="t/v.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="z" href="i/cover.jpg" media-type="image/jpeg" properties="cover-image"/></manifest>'
            '<spine><itemref idref="v"/><itemref idref="a"/></spine></package>',
        )
        made.writestr("o/t/a.xhtml", chapter)
        made.writestr("o/t/v.xhtml", '<html><body><svg><image xlink:href="../i/cover.jpg"/></svg></body></html>')
        made.writestr("o/i/a b.png", picture().getvalue())
        made.writestr("o/i/icon.png", picture(32, 32).getvalue())
        made.writestr("o/i/cover.jpg", picture(form="JPEG").getvalue())

    assert told(book.getvalue(), "a.epub") == (1, 1, "picture")


@pytest.mark.parametrize(
    ("form", "size", "expected"),
    [
        ("PNG", (640, 480), (1, 1, "picture")),
        ("JPEG", (640, 480), (1, 1, "picture")),
        ("GIF", (640, 480), (1, 1, "picture")),
        ("BMP", (640, 480), (1, 1, "picture")),
        ("JPEG", (200, 100), None),
        ("PNG", (640, 100), None),
    ],
)
def test_pictures_that_a_page_holds_itself_are_told(
    form: str, size: tuple[int, int], expected: tuple[int, int, str] | None
) -> None:
    held = f"data:image/{form.lower()};base64,{base64.b64encode(picture(*size, form=form).getvalue()).decode()}"
    page = f'<html><body><p>{PROSE}</p><img src="{held}"><img src="{held}"></body></html>'
    mail = EmailMessage()
    mail["Subject"] = "Berths"
    mail.set_content(page, subtype="html")

    assert told(page.encode(), "a.html") == expected
    assert told(mail.as_bytes(), "a.eml") == expected


@pytest.mark.parametrize(
    "address", ["data:image/png;base64,%%%", "data:image/png;base64,", "https://h/a.png", "data:,x"]
)
def test_broken_and_outside_addresses_are_no_pictures(address: str) -> None:
    assert told(f'<html><body><p>{PROSE}</p><img src="{address}"></body></html>'.encode(), "a.html") is None


def test_equations_and_pictures_of_rich_text_are_told() -> None:
    drawn = rb"{\*\shppict{\pict\picwgoal8500\pichgoal4800\pngblip 89504e47}}"
    drawn += rb"{\nonshppict{\pict\picwgoal8500\pichgoal4800 00}}"
    logo = rb"{\pict\picwgoal1700\pichgoal600\pngblip 89}"
    equation = rb"{\mmath{\*\moMath{\mr x = 7}}}"

    assert told(rb"{\rtf1 " + PROSE.encode() + drawn + logo + rb"\par}", "a.rtf") == (1, 1, "picture")
    assert told(rb"{\rtf1 " + PROSE.encode() + equation + rb"\par}", "a.rtf") == (1, 1, "equation")
    assert told(rb"{\rtf1 " + PROSE.encode() + logo + rb"\par}", "a.rtf") is None


def test_plots_of_a_notebook_are_told() -> None:
    plot = base64.b64encode(picture(640, 480).getvalue()).decode()
    notebook = (
        f'{{"cells":[{{"cell_type":"code","source":"plot()","outputs":[{{"data":{{"image/png":"{plot}",'
        '"text/plain":"<Figure size 640x480 with 1 Axes>"}}]}]}'
    )

    assert told(notebook.encode(), "a.ipynb") == (1, 1, "picture")


def pdf(change: Callable[[PdfWriter], None], *lines: str) -> bytes:
    drawn = io.BytesIO()
    canvas = Canvas(drawn)
    for _ in range(2):
        for number, line in enumerate(lines):
            canvas.drawString(50, 700 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(drawn))
    change(writer)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def note(text: str, author: str = "", page: int = 0) -> Callable[[PdfWriter], None]:
    return lambda writer: writer.add_annotation(
        page, Text(text=text, rect=(50, 500, 70, 520), title_bar=author or None)
    )


def test_sticky_notes_are_read_on_their_page() -> None:
    loaded = read(pdf(note("The okapi was moved to quay 9.", "Jane Roe"), PROSE), "a.pdf")

    first, second = (loaded.text[page.start : page.end] for page in loaded.pages)
    assert first == f"{PROSE}\n\nComment by Jane Roe: The okapi was moved to quay 9."
    assert "okapi" not in second
    assert loaded.unread_pages == ()


def test_a_pdf_with_text_only_in_remarks_is_read() -> None:
    assert "Comment: The okapi weighs 240 kg." in read(pdf(note("The okapi weighs 240 kg.")), "a.pdf").text


def test_remarks_that_repeat_the_marked_words_are_left_out() -> None:
    corners = ArrayObject([FloatObject(one) for one in (50, 710, 500, 710, 50, 690, 500, 690)])

    def mark(writer: PdfWriter) -> None:
        for said in ("rebuilt in concrete", "In wood, I think."):
            marked = Highlight(rect=(50, 690, 500, 710), quad_points=corners)
            marked[NameObject("/Contents")] = TextStringObject(said)
            writer.add_annotation(0, marked)

    text = read(pdf(mark, PROSE), "a.pdf").text

    assert text.count("rebuilt in concrete") == 2  # once a page
    assert "Comment: In wood, I think." in text


def test_files_attached_to_a_pdf_are_read_and_stand_on_no_page() -> None:
    content = pdf(lambda writer: writer.add_attachment("rates.csv", b"Berth,Rate\nQuay 9,240\n"), PROSE)

    loaded = read(content, "a.pdf")

    assert "Attachment: rates.csv" in loaded.text
    assert "Quay 9 | 240" in loaded.text
    assert told(content, "a.pdf") is None
    assert loaded.pages[-1].end < loaded.text.index("Attachment")


def test_attached_files_that_cannot_be_read_are_told() -> None:
    content = pdf(lambda writer: writer.add_attachment("scan.png", picture().getvalue()), PROSE)

    assert told(content, "a.pdf") == (1, 1, "file")
    assert "Attachment: scan.png\n\nThis attachment was not read" in read(content, "a.pdf").text


def test_of_files_in_files_the_outer_ones_are_read() -> None:
    inner = pdf(note("deepest okapi"), PROSE)
    for _ in range(5):
        inner = pdf(lambda writer, held=inner: writer.add_attachment("inner.pdf", held), PROSE)

    loaded = read(inner, "a.pdf")

    assert loaded.text.count("Attachment: inner.pdf") == 4
    assert "This attachment was not read: it holds more than 5000 files, or files nested deeper than 3." in loaded.text
    assert told(inner, "a.pdf") == (1, 1, "file")


def test_a_file_pinned_to_a_page_is_read() -> None:
    def pin(writer: PdfWriter) -> None:
        held = StreamObject()
        held.set_data(b"The pinned okapi weighs 240 kg.")
        name = TextStringObject("okapi.txt")
        files = DictionaryObject({NameObject("/F"): writer._add_object(held)})
        spec = {NameObject("/Type"): NameObject("/Filespec"), NameObject("/F"): name, NameObject("/EF"): files}
        pinned = DictionaryObject({
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/FileAttachment"),
            NameObject("/Rect"): ArrayObject([FloatObject(one) for one in (50, 500, 70, 520)]),
            NameObject("/FS"): DictionaryObject(spec),
            NameObject("/Contents"): TextStringObject("As agreed with Jane."),
        })  # fmt: skip
        writer.add_annotation(0, pinned)

    text = read(pdf(pin, PROSE), "a.pdf").text

    assert "Comment: As agreed with Jane." in text
    assert text.endswith("Attachment: okapi.txt\n\nThe pinned okapi weighs 240 kg.")
