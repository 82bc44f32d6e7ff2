"""Selects the folder to ingest when none is named, and recognises the sample corpus."""

from __future__ import annotations

from pathlib import Path

from agentic_rag.settings import Settings
from agentic_rag.settings.ingestion import DEFAULT_CORPUS

_PACKAGED = Path(__file__).parent / "sample_corpus"
"""The sample corpus inside a wheel; a checkout has it at `simulated_ingestion/`."""

_LANDMARK = "incident-2024-031-skn03-pitch-bearing.md"

SAMPLE_QUESTION = "How many days of paid holiday does an employee get each year besides public holidays?"


def corpus_directory(settings: Settings, given: Path | None) -> Path:
    """The folder `given`, else AGENTIC_RAG_CORPUS_DIR, else the sample corpus of the checkout or the wheel."""
    if given is not None:
        return given
    if settings.ingestion.corpus_dir != DEFAULT_CORPUS or settings.ingestion.corpus_dir.is_dir():
        return settings.ingestion.corpus_dir
    return sample_corpus()


def require_folder(directory: Path) -> Path:
    """A folder that is there, before a server is started or a workspace made for it. Errors: `InvalidInput` codes
    SOURCE_NOT_FOUND and SOURCE_UNREADABLE.
    """
    from agentic_rag.bootstrap import DirectorySource

    DirectorySource(directory).require()
    return directory


def sample_corpus() -> Path:
    """The sample corpus of the checkout or the wheel."""
    checkout = Path(__file__).resolve().parents[2] / DEFAULT_CORPUS
    return checkout if checkout.is_dir() else _PACKAGED


def is_sample(directory: Path) -> bool:
    """Whether a folder is the sample corpus or a copy of it."""
    return (directory / _LANDMARK).is_file()
