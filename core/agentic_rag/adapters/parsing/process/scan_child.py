"""The child process that recognises words: `python -m …process.scan_child LIMITS-AS-JSON LANGUAGES DATA-DIRECTORY`.

It is as confined as the one that reads files, once its engine and the data of its languages are in memory.
"""

from __future__ import annotations

import sys
from typing import Any

from agentic_rag.adapters.parsing.loaders.pdf import SAMPLE
from agentic_rag.adapters.parsing.pdf.render import marked
from agentic_rag.adapters.parsing.process.child import Answer, CpuLimit, run
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.wire import count_frame, image_frame, place_of, recognised_frame
from agentic_rag.adapters.parsing.scans.page_pictures import count_pictures, draw, page_of, prepare
from agentic_rag.adapters.parsing.scans.places import recognised_lines
from agentic_rag.adapters.parsing.scans.tesseract import TesseractEngine


def main() -> None:
    """Serve requests until standard input ends."""
    run(_ready)


def _ready() -> Answer:
    engine = TesseractEngine(sys.argv[2], sys.argv[3])
    prepare()

    def answer(content: bytes, header: dict[str, Any], limits: ParserLimits, allowance: CpuLimit) -> bytes:
        if "count" in header:
            return count_frame(count_pictures(content))
        if "recognise" in header:
            with page_of(content, header["recognise"]) as page:
                return recognised_frame(engine.read(draw(page)))
        if "picture" in header:
            with page_of(content, header["picture"], in_colour=True) as page:
                return image_frame(marked(page, ()))
        place = place_of(header)
        with page_of(content, place.page, in_colour=True) as page:
            return image_frame(marked(page, recognised_lines(page, engine.read(draw(page)), place)))

    # The engine and PDFium load parts of themselves when they look at their first page.
    limits = ParserLimits()
    answer(SAMPLE, {"recognise": 1}, limits, CpuLimit(limits, 0))
    return answer


if __name__ == "__main__":
    main()
