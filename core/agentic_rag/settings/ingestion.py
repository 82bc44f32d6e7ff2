"""Settings of getting documents in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.settings.variable import Env, parse_pairs

DEFAULT_CORPUS = Path("simulated_ingestion")
_MEMORY, _OCR = "memory_mb", "ocr"
_LEAST_MEMORY = 64
_LANGUAGES = re.compile(r"[a-z]{3}[a-z_]*(?:\+[a-z]{3}[a-z_]*)*")


@dataclass(frozen=True, slots=True)
class ParserOptions:
    """How files are read. `ocr`: languages as Tesseract names them, `eng+deu`; empty recognises no words."""

    memory_mb: int = 512
    ocr: str = ""


def parse_parser_options(text: str) -> ParserOptions:
    """The values of `memory_mb=512,ocr=eng+deu`. Errors: ValueError."""
    pairs = parse_pairs(text, (_MEMORY, _OCR))
    memory, languages = pairs.get(_MEMORY, str(ParserOptions().memory_mb)), pairs.get(_OCR, "")
    if not memory.isdecimal() or int(memory) < _LEAST_MEMORY or (languages and not _LANGUAGES.fullmatch(languages)):
        raise ValueError(f"expected {_MEMORY} from {_LEAST_MEMORY}, and {_OCR} as languages such as eng+deu")
    return ParserOptions(int(memory), languages)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionConfig:
    """What is ingested, and how much of the machine it may use."""

    corpus_dir: Annotated[Path, Env("AGENTIC_RAG_CORPUS_DIR")] = DEFAULT_CORPUS
    """The directory `rag ingest` reads without --source."""
    chunk_profile: Annotated[Literal["default", "small", "agent"], Env("AGENTIC_RAG_CHUNK_PROFILE")] = "default"
    """default 512/64 tokens, small 256/32 tokens, agent 1000/200 characters."""
    parser: Annotated[str, Env("AGENTIC_RAG_PARSER", check=parse_parser_options)] = "memory_mb=512"
    """How files are read, as `memory_mb=512,ocr=eng+deu`: the memory limit of a parsing child in MiB, and the languages
    in which words are recognised on pages that are pictures (with the extra `ocr`; without `ocr=` none are).
    """
    max_upload_bytes: Annotated[int, Env("AGENTIC_RAG_MAX_UPLOAD_BYTES"), Meta(ge=1024)] = 26_214_400
    """Largest uploaded file (25 MB)."""

    @property
    def parser_options(self) -> ParserOptions:
        """AGENTIC_RAG_PARSER, parsed."""
        return parse_parser_options(self.parser)
