"""Imports and tries out all that reading a file may ever need; afterwards the process needs no access to files."""

from __future__ import annotations

import encodings
import importlib
import pkgutil

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.file_types import FileKind
from agentic_rag.adapters.parsing.process.limits import ParserLimits

_PLATFORM_CODECS = frozenset({"mbcs", "oem"})
"""Windows only."""
_IMPORTED_WHEN_USED = ("subprocess", "xml.sax.expatreader", "pypdf.filters", "pypdf._crypt_providers._fallback")
"""Modules that the libraries, or the tables of their codecs, import at first use."""


def preload() -> None:
    """Read the sample of every format. Errors: `ImportError` and `ParseFailed` when this installation cannot."""
    for name in _IMPORTED_WHEN_USED:
        importlib.import_module(name)
    for codec in pkgutil.iter_modules(encodings.__path__):
        if codec.name not in _PLATFORM_CODECS:
            importlib.import_module(f"encodings.{codec.name}")
    for kind in FileKind:
        load(kind.loader().SAMPLE, f"a.{kind.value.extensions[0]}", None, ParserLimits())
