"""The files that a file holds: attachments of mails, members of archives. Each stands under a heading of its own."""

from __future__ import annotations

from collections.abc import Callable

from agentic_rag.adapters.parsing.dispatch import failure_of, load
from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.nesting import Nesting, TooManyFiles
from agentic_rag.adapters.parsing.signed_mail import content_of, is_signature, is_signed_mail
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed

_SIGNED_NAME = "signed.eml"


class HeldFiles:
    """Appends files to the text of the one that holds them. One that cannot be read is named with the reason, and its
    number is kept. Where files lie too deep or are too many, all of the outermost file is refused, as an archive is
    nothing without them; `is_aside` tells these too as files that were not read.
    """

    def __init__(self, source: SourceFile, built: TextBuilder, called: str, *, is_aside: bool = False) -> None:
        self._source = source
        self._built = built
        self._called = called
        self._is_aside = is_aside
        self._count = 0
        self._unread: list[int] = []
        self._is_any_read = False
        self.first_failure: ParseFailed | None = None

    @property
    def none_was_read(self) -> bool:
        return not self._is_any_read

    def add_file(self, heading: str, name: str, content: Callable[[], bytes], media_type: str | None = None) -> None:
        """Append a file of any format. Errors: those of `add`; what `content` raises is told as text."""
        limits, page_read, careful = self._source.limits, self._source.page_read, self._source.careful

        def read(nesting: Nesting) -> LoadedText:
            return load(content(), name, media_type, limits, page_read, careful=careful, nesting=nesting)[1]

        self.add(heading, read)

    def attach_file(self, name: str, content: Callable[[], bytes], media_type: str | None) -> None:
        """`add_file` for an attachment of a mail; an empty name is none. A signature is left out, and of a signed mail
        what was signed is read.
        """
        if is_signature(name, media_type):
            return
        if is_signed_mail(name, media_type):
            self.add_file("S/MIME message", _SIGNED_NAME, lambda: content_of(content(), media_type))
            return
        name = name or "without a name"
        self.add_file(f"Attachment: {name}", name, content, media_type)

    def attach_message(self, name: str, read: Callable[[Nesting], LoadedText]) -> None:
        """`add` for a mail that is attached to another; an empty name is none."""
        self.add(f"Attached message: {name}" if name else "Attached message", read)

    def add(self, heading: str, read: Callable[[Nesting], LoadedText]) -> None:
        """Append what `read` gives. Errors: `ParseFailed` code PARSE_TOO_LARGE for too much text, and for too many
        files and too much nesting unless they stand aside.
        """
        self._count += 1
        self._built.add(BlockKind.HEADING, heading, level=0)
        try:
            loaded = read(self._source.nesting.enter())
        except TooManyFiles as failure:
            if not self._is_aside:
                raise
            self._tell(failure)
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # noqa: BLE001 - libraries raise anything on damaged files; each is told as text
            self._tell(failure_of(error))
        else:
            self._is_any_read = True
            self._unread += [self._count] if loaded.unread_pages else []
            self._built.append(loaded, deeper=1)
        self._source.limits.require_characters(self._built.length)

    def _tell(self, failure: ParseFailed) -> None:
        self.first_failure = self.first_failure or failure
        self._unread.append(self._count)
        self._built.add(BlockKind.PARAGRAPH, f"This {self._called} was not read: {failure.message.rstrip('.')}.")

    def finish(self, title: str | None) -> LoadedText:
        """The whole text, with the numbers of the files that were not read."""
        return LoadedText(
            self._built.text(),
            tuple(self._built.blocks),
            title=title,
            unread_pages=tuple(self._unread),
            parts=self._count,
        )
