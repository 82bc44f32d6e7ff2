"""The parser's child processes: what they may do, how they end, and what that means for the file and the next one."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed, Retryable

CORE = Path(__file__).parents[3] / "core"


def docx(paragraphs: int) -> bytes:
    """A DOCX of that many paragraphs; 100,000 keep mammoth busy for several seconds."""
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    body = "<w:p><w:r><w:t>words</w:t></w:r></w:p>" * paragraphs
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("[Content_Types].xml", "<Types/>")
        target.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Target="word/document.xml" Type="http://schemas.'
            'openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
        )
        target.writestr("word/document.xml", f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>')
    return made.getvalue()


def children() -> set[int]:
    """Process ids of this process's children. A thread that ends while the tasks are read has none."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.update(int(pid) for pid in (task / "children").read_text(encoding="ascii").split())
    return found


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


@pytest.fixture
async def parser() -> AsyncIterator[ProcessParser]:
    made = ProcessParser(children=1)
    yield made
    await made.aclose()


async def busy_child(parser: ProcessParser, paragraphs: int = 100_000) -> tuple[asyncio.Task[object], int]:
    """A parse under way, and the process id of the child that does it."""
    others = children()
    await parser.parse(b"warm", "a.txt", None)
    (pid,) = children() - others
    idle = cpu_ticks(pid)
    task = asyncio.ensure_future(parser.parse(docx(paragraphs), "a.docx", None))
    async with asyncio.timeout(60):
        while cpu_ticks(pid) < idle + 20:  # noqa: ASYNC110 - the kernel counts, and tells nobody
            await asyncio.sleep(0.01)
    return task, pid


async def test_the_text_comes_back_with_its_structure(parser: ProcessParser) -> None:
    parsed = await parser.parse("# Größe\r\n\r\nZwei\x00 Sätze.".encode(), "a.md", None)

    assert parsed.text == "# Größe\n\nZwei Sätze."
    assert [(block.kind, block.level) for block in parsed.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.PARAGRAPH, 0),
    ]
    assert (parsed.title, parsed.media_type, parsed.language) == ("Größe", "text/markdown", None)
    assert (parsed.parser, parsed.parser_version) == ("parsing", parser.version)
    assert re.match(r"parsing-\d+/pypdf-\d", parser.version)


async def test_one_child_serves_many_files_also_after_refused_ones(parser: ProcessParser) -> None:
    others = children()
    await parser.parse(b"x = 1\n", "a.py", None)
    started = children() - others
    with pytest.raises(ParseFailed):
        await parser.parse(b"%PDF-1.4 broken", "a.pdf", None)
    await parser.parse(b"again", "a.txt", None)

    assert children() - others == started
    assert len(started) == 1


async def test_a_child_is_replaced_after_its_share_of_files() -> None:
    parser = ProcessParser(ParserLimits(files_per_child=1), children=1)
    try:
        others = children()
        await parser.parse(b"one", "a.txt", None)
        await parser.parse(b"two", "a.txt", None)
        assert children() - others == set()
    finally:
        await parser.aclose()


async def test_the_child_inherits_no_environment(parser: ProcessParser) -> None:
    others = children()
    await parser.parse(b"x", "a.txt", None)
    (pid,) = children() - others

    names = {entry.split(b"=")[0] for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\x00") if entry}

    assert names == {b"PYTHONPATH", b"PYTHONUTF8"}


@pytest.mark.parametrize(
    ("limits", "content", "name", "code"),
    [
        (ParserLimits(content_bytes=3), b"four", "a.txt", "PARSE_TOO_LARGE"),
        (ParserLimits(text_characters=3), b"four", "a.txt", "PARSE_TOO_LARGE"),
        (ParserLimits(memory_bytes=16 << 20), b"text " * 5_000_000, "a.txt", "PARSE_TOO_LARGE"),
        (ParserLimits(memory_bytes=112 << 20), b"text " * 4_000_000, "a.txt", "PARSE_TOO_LARGE"),
        (ParserLimits(zip_entries=2), docx(1), "a.docx", "PARSE_TOO_LARGE"),
        (ParserLimits(zip_bytes=100), docx(1), "a.docx", "PARSE_TOO_LARGE"),
        (ParserLimits(zip_part_bytes=100), docx(1), "a.docx", "PARSE_TOO_LARGE"),
    ],
)
async def test_each_limit_ends_in_a_stated_failure(limits: ParserLimits, content: bytes, name: str, code: str) -> None:
    parser = ProcessParser(limits, children=1)
    try:
        with pytest.raises(ParseFailed) as refused:
            await parser.parse(content, name, None)
        assert refused.value.code == code
        assert (await parser.parse(b"ok", "a.txt", None)).text == "ok"
    finally:
        await parser.aclose()


@pytest.mark.parametrize(("wall_over_most_cpu", "said"), [(60.0, "CPU time"), (0.1, "longer than")])
async def test_a_file_that_takes_too_long_fails_and_the_next_is_read(wall_over_most_cpu: float, said: str) -> None:
    limits = ParserLimits(most_cpu_seconds=1, wall_over_most_cpu=wall_over_most_cpu)
    parser = ProcessParser(limits, children=1)
    try:
        with pytest.raises(ParseFailed, match=said) as refused:
            await parser.parse(docx(100_000), "a.docx", None)
        assert refused.value.code == "PARSE_TIMEOUT"
    finally:
        await parser.aclose()


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGSEGV, "PARSE_CORRUPT"),
        (signal.SIGABRT, "PARSE_TOO_LARGE"),
        (signal.SIGKILL, "PARSE_TOO_LARGE"),
    ],
)
async def test_the_death_of_a_child_fails_its_file_only(
    parser: ProcessParser, number: signal.Signals, code: str
) -> None:
    task, pid = await busy_child(parser)

    os.kill(pid, number)

    with pytest.raises(ParseFailed) as refused:
        await task
    assert refused.value.code == code
    assert (await parser.parse(b"next", "a.txt", None)).text == "next"


async def test_a_child_that_was_stopped_from_outside_says_nothing_about_the_file(parser: ProcessParser) -> None:
    task, pid = await busy_child(parser)

    os.kill(pid, signal.SIGTERM)

    with pytest.raises(Retryable):
        await task


async def test_cancelling_a_parse_ends_its_child(parser: ProcessParser) -> None:
    task, pid = await busy_child(parser)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert pid not in children()
    assert (await parser.parse(b"next", "a.txt", None)).text == "next"


async def test_the_end_of_children_waits_for_one_that_reads_a_file(parser: ProcessParser) -> None:
    # Few enough to be read to their end.
    parse, child = await busy_child(parser, 8_000)
    assert not parse.done()

    await parser.end_children()

    assert child not in children()
    await parse


async def test_files_are_read_at_the_same_time_by_several_children() -> None:
    parser = ProcessParser(children=2)
    try:
        others = children()
        names = [f"{number}.txt" for number in range(8)]
        parsed = await asyncio.gather(*(parser.parse(name.encode(), name, None) for name in names))
        assert [one.text for one in parsed] == names
        assert len(children() - others) == 2
    finally:
        await parser.aclose()


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket().connect(('127.0.0.1', 9))",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "open(TARGET, 'wb', buffering=0).write(b'x')",
    ],
)
def test_a_confined_process_cannot_reach_out(attempt: str, tmp_path: Path) -> None:
    program = (
        "from agentic_rag.adapters.parsing.process.child import confine\n"
        "from agentic_rag.adapters.parsing.process.limits import ParserLimits\n"
        f"TARGET = {str(tmp_path / 'written')!r}\nconfine(ParserLimits())\n"
        f"try:\n    {attempt}\nexcept OSError as error:\n    print('refused', error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(CORE)}, capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("refused")
