"""Writes the PDF and DOCX files of the sample corpus from the texts in ``scripts/sample_corpus/``.

Run from the repository root: ``python -m scripts.make_sample_corpus [FOLDER]``. The Markdown, HTML, text and
Python files of the corpus are kept in ``simulated_ingestion/`` as they are and are not touched.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.sample_corpus.blocks import read_source
from scripts.sample_corpus.pdf import write_pdf
from scripts.sample_corpus.word import write_docx

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = REPOSITORY / "scripts" / "sample_corpus"
CORPUS = REPOSITORY / "simulated_ingestion"

WRITERS = {".pdf": write_pdf, ".docx": write_docx}


def make_sample_corpus(folder: Path) -> list[Path]:
    """Render every source into ``folder`` and return the paths written, in name order of the sources."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for path in sorted(SOURCES.glob("*.md")):
        source = read_source(path)
        target = folder / source.output
        WRITERS[target.suffix](source, target)
        written.append(target)
    return written


if __name__ == "__main__":
    for made in make_sample_corpus(Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS):
        print(made)
