"""The forms of pictures whose words can be recognised, where that is switched on."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PictureForm:
    """A form of picture whose words can be recognised."""

    program: str
    """Its name, as Pillow has it."""
    starts: tuple[bytes, ...]
    """Regular expressions of the bytes that files begin with."""


PICTURES = {
    "image/png": PictureForm("PNG", (rb"\x89PNG\r\n",)),
    "image/jpeg": PictureForm("JPEG", (rb"\xff\xd8\xff",)),
    "image/tiff": PictureForm("TIFF", (rb"II\*\x00", rb"MM\x00\*")),
    "image/webp": PictureForm("WEBP", (rb"RIFF.{4}WEBP",)),
}
"""By media type."""


def picture_type(content: bytes) -> str | None:
    """The media type of a file that is a picture whose words can be recognised; None for any other."""
    for media_type, form in PICTURES.items():
        if any(re.match(start, content[:16], re.DOTALL) for start in form.starts):
            return media_type
    return None
