"""Originals, the parser, and who may read a document."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.parsing.process.scans import ScanReader, scan_options
from agentic_rag.adapters.parsing.process.syntax_reader import SyntaxReader
from agentic_rag.bootstrap.jobs import JobParts
from agentic_rag.documents.document_access import DocumentAccess
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.documents.ports import Parser
from agentic_rag.documents.read_chunk import ReadChunk
from agentic_rag.documents.read_text import ReadText
from agentic_rag.documents.update_document import UpdateDocument

PARSING_CHILDREN = 1


class DocumentParts(JobParts):
    """The room `documents`."""

    @property
    def parser(self) -> Parser:
        return self._process_parser

    @cached_property
    def _process_parser(self) -> ProcessParser:
        options = self.settings.ingestion.parser_options
        limits = ParserLimits(memory_bytes=options.memory_mb << 20)
        scans = ScanReader(scan_options(options.ocr), on_missing=self._report_walls) if options.ocr else None
        parser = self._owned(
            ProcessParser(limits, children=PARSING_CHILDREN, on_missing=self._report_walls, scans=scans)
        )
        self.memory.is_ended_by(parser.end_children)
        return parser

    @cached_property
    def syntax_reader(self) -> SyntaxReader:
        reader = self._owned(SyntaxReader(on_missing=self._report_walls, reading=partial(self.memory.reading, None)))
        self.memory.is_ended_by(reader.end_children)
        return reader

    def _report_walls(self, missing: Sequence[str]) -> None:
        self.telemetry.event("rag_parser_walls_missing", level="warning", missing=", ".join(missing))

    @cached_property
    def original_keys(self) -> OriginalKeys:
        return OriginalKeys(self.clock, self.ids)

    @cached_property
    def document_access(self) -> DocumentAccess:
        return DocumentAccess(self.database, self.telemetry)

    @cached_property
    def update_document(self) -> UpdateDocument:
        return UpdateDocument(self.database, self.telemetry)

    @cached_property
    def read_chunk(self) -> ReadChunk:
        return ReadChunk(self.database, self.telemetry)

    @cached_property
    def read_text(self) -> ReadText:
        return ReadText(self.database, self.telemetry)
