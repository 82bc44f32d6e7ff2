"""Where a backup is: a directory, or a folder of a bucket; and the lists of erasures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag.kernel.errors import InvalidInput, Misconfigured, Permanent
from agentic_rag.settings.addresses import mask_password
from agentic_rag.web.proxies import Proxies

if TYPE_CHECKING:
    from agentic_rag.documents.ports import BlobStore
    from agentic_rag.operations.backups.backup import TakenAway

ERASURES_BESIDE = "erasures.jsonl"
"""A list of erasures beside the backups: a restore reads it."""
SCHEME = "s3://"


def open_place(text: str, proxies: Proxies) -> DirectoryPlace | BucketPlace:
    """The place that an argument names; a bucket is asked through the proxies. Errors: `InvalidInput`, which shows no
    secret.
    """
    address = text
    if text.startswith("@"):
        address = _existing(Path(text[1:])).read_text("utf-8").strip()
    if not address.startswith(SCHEME):
        return DirectoryPlace(Path(address))
    place = BucketPlace(address.rstrip("/"), proxies)
    place.open(place.address)
    return place


async def records_of(source: Path) -> list[TakenAway]:
    """The erasures that a file or a backup names. Errors: `InvalidInput` code ERASURES_UNREADABLE."""
    place = DirectoryPlace(source)
    return await _records_in(place.store, str(source)) if place.is_there else _listed(source)


def _listed(file: Path) -> list[TakenAway]:
    from agentic_rag.operations.backups.backup import decode_erasures

    return decode_erasures(_existing(file).read_bytes(), str(file))


@dataclass(frozen=True, slots=True)
class DirectoryPlace:
    """A directory."""

    directory: Path

    def __str__(self) -> str:
        return str(self.directory)

    @property
    def store(self) -> BlobStore:
        """Its files."""
        from agentic_rag.bootstrap import open_directory

        return open_directory(self.directory.absolute())

    @property
    def is_there(self) -> bool:
        """True for a directory, false for a file."""
        return self.directory.is_dir()

    def make(self) -> None:
        """Make the directory, for its owner alone."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def require(self) -> None:
        """Errors: `InvalidInput`, there is none."""
        _existing(self.directory)

    async def records_beside(self) -> list[TakenAway]:
        """Of the backup itself, of those in the same directory, and of the list of erasures there."""
        from agentic_rag.operations.backups.backup import BACKUP_MANIFEST, ERASURES_LIST

        parent = self.directory.absolute().parent
        found = sorted(one.parent for one in parent.glob(f"*/{BACKUP_MANIFEST}"))
        sources = [one for one in found if (one / ERASURES_LIST).is_file()]
        if (parent / ERASURES_BESIDE).is_file():
            sources.append(parent / ERASURES_BESIDE)
        return [record for source in sources for record in await records_of(source)]


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A folder of a bucket."""

    address: str
    """With its secret."""
    proxies: Proxies

    def __str__(self) -> str:
        return mask_password(self.address)

    @property
    def store(self) -> BlobStore:
        """Its objects."""
        return self.open(self.address)

    def make(self) -> None:
        """A folder of a bucket is there with its first object."""

    def require(self) -> None:
        """What is not there has no manifest: whoever reads it says so."""

    async def records_beside(self) -> list[TakenAway]:
        """Of the backup itself, of those beside it, and of the list of erasures there."""
        from agentic_rag.operations.backups.backup import BACKUP_MANIFEST, decode_erasures

        above, _, rest = self.address.partition("?")[0].rpartition("/")
        options = self.address.removeprefix(f"{above}/{rest}")
        if above.count("/") < 3:
            # The backup lies in the bucket itself: what else is there may be anything.
            return await _records_in(self.store, str(self))
        parent = self.open(f"{above}{options}")
        keys = await parent.keys("")
        backups = [key.split("/")[0] for key in keys if key.split("/")[1:] == [BACKUP_MANIFEST]]
        found = [record for one in backups for record in await _records_in(self.open(f"{above}/{one}{options}"), one)]
        if ERASURES_BESIDE in keys:
            found += decode_erasures(await parent.read(ERASURES_BESIDE), ERASURES_BESIDE)
        return found

    def open(self, address: str) -> BlobStore:
        """Errors: `InvalidInput`, the address is none."""
        from agentic_rag.bootstrap import open_bucket_folder

        try:
            return open_bucket_folder(address, self.proxies)
        except ValueError as error:
            raise InvalidInput(f"The place of the backup: {error}.", path=("place",)) from error


async def _records_in(backup: BlobStore, name: str) -> list[TakenAway]:
    """Errors: those of the backup, with its name: several are read beside the one that is asked for."""
    from agentic_rag.operations.backups.verify_backup import list_erasures, read_manifest
    from agentic_rag_migrations import HEAD

    try:
        return await list_erasures(backup, await read_manifest(backup, HEAD))
    except (InvalidInput, Misconfigured, Permanent) as error:
        raise type(error)(f"{name}: {error.message}", code=error.code) from error


def _existing(path: Path) -> Path:
    if not path.exists():
        raise InvalidInput(f"There is no {path}.", path=("place",))
    return path
