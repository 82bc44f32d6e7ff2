"""A Git repository as a source of documents: the files of one commit.

The `git` of the machine does the work, in an environment of its own: no configuration, hooks or helpers of anybody. An
address on the network is resolved once and checked, and git is told to connect to the checked addresses only.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agentic_rag.adapters.web.dialling import Resolve, resolve_safely, system_resolve
from agentic_rag.ingestion.ports import Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import HIDDEN, changes_of, is_hidden, require_few
from agentic_rag.ingestion.sources.source import NewSource, UnreadableItem
from agentic_rag.kernel.errors import (
    DependencyUnavailable,
    InvalidInput,
    Misconfigured,
    NotFound,
    PolicyRefused,
    Retryable,
)
from agentic_rag.kernel.secret import Secret
from agentic_rag.web.url_policy import AddressRefused, parse_target

LOOK_SECONDS = 60.0
FETCH_SECONDS = 1800.0
MAX_BYTES = 256 * 1024 * 1024
MAX_FETCHED_BYTES = 4 * 1024**3
"""Of one commit, packed: it lies on the worker's disk while it is read."""

# The shell's `ulimit -f` counts blocks of 512 bytes.
_LIMITED = ("/bin/sh", "-c", 'ulimit -f "$0" && exec "$@"')
_TOO_LARGE = ("file too large", "died of signal 25")
_REFUSED = ("authentication failed", "could not read username", "terminal prompts disabled", "error: 401", "error: 403")
_MISSING = (
    "not found",
    "not a git repository",
    "does not exist",
    "does not appear to be a git repository",
    "cannot change to",
    "error: 404",
)
_BROKEN = (
    "bad object",
    "corrupt",
    "bad tree",
    "unable to read",
    "bad config",
    "not a valid object",
    "not a tree object",
    "missing blob",
    "bad file",
)
_LOST = "BAD"
"""What `ls-tree` says for the size of an object that is not there."""
_FILE, _EXECUTABLE = "100644", "100755"


@asynccontextmanager
async def open_git(
    stated: NewSource, secret: Secret | None, resolve: Resolve = system_resolve
) -> AsyncGenerator[SourceConnector]:
    """A repository; what was fetched of it is gone when the block ends. Errors: `Misconfigured` code GIT_MISSING."""
    program = shutil.which("git")
    if program is None:
        raise Misconfigured("A source of kind git needs the program `git` beside the worker.", code="GIT_MISSING")
    with tempfile.TemporaryDirectory(prefix="agentic-rag-git-") as folder:
        yield GitSource(_Git(program, Path(folder), secret), stated, resolve)


class GitSource:
    """Implements `ingestion.ports.SourceConnector` over one branch. The cursor is its commit."""

    def __init__(self, git: _Git, stated: NewSource, resolve: Resolve) -> None:
        self._git = git
        self._location = stated.location
        self._branch = stated.options.get("branch", "")
        self._is_internal = stated.is_internal
        self._resolve = resolve
        self._commit = ""

    @property
    def source_id(self) -> str:
        """`git:` and the location."""
        return f"git:{self._location}"

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes | None:
        """The files of the branch's newest commit; None when it is the one of `cursor`."""
        here = await self._local_repository()
        if here is None:
            await self._guard()
        reference, commit = await self._newest(str(here or self._location))
        if commit == cursor:
            return None
        if here is None:
            commit = await self._git.fetch(self._location, reference)
        else:
            self._git.use(here)
        self._commit = commit
        items, unreadable = _entries(await self._git.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit))
        return changes_of(known, items, unreadable, commit)

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """The content of a file; its fingerprint is the object's id."""
        if item.fingerprint and item.fingerprint == known:
            return None
        try:
            data = await self._git.run("cat-file", "blob", item.fingerprint or f"{self._commit}:{item.path}")
        except InvalidInput as error:
            if item.fingerprint:
                raise
            raise NotFound(f"{item.path} is not in {self._location}.") from error
        return SourceContent(data, item.fingerprint)

    async def _local_repository(self) -> Path | None:
        """The folder of a repository on this machine; None for an address."""
        text = self._location.removeprefix("file://")
        if "://" in text:
            return None
        folder = Path(text)
        if not await asyncio.to_thread(folder.is_dir):
            raise _missing(f"There is no repository at {self._location}.")
        return folder

    async def _guard(self) -> None:
        """Let git connect to the checked addresses of the host alone. Errors: `PolicyRefused` code ADDRESS_REFUSED."""
        if self._is_internal:
            return
        try:
            target = parse_target(self._location)
            addresses = await resolve_safely(target, self._resolve)
        except AddressRefused as refused:
            raise PolicyRefused(
                f"The repository's address is not allowed: {refused}.", code="ADDRESS_REFUSED"
            ) from refused
        joined = ",".join(f"[{one}]" if ":" in one else one for one in addresses)
        self._git.pin(f"{target.host}:{target.port}:{joined}")

    async def _newest(self, location: str) -> tuple[str, str]:
        """The full name of the branch or tag, and its commit. Errors: `InvalidInput` code SOURCE_NOT_FOUND."""
        names = [f"refs/heads/{self._branch}", f"refs/tags/{self._branch}"] if self._branch else ["HEAD"]
        listed = await self._git.run("ls-remote", "--", location, *names, seconds=LOOK_SECONDS)
        found = {name: commit for commit, _, name in (line.partition("\t") for line in listed.decode().splitlines())}
        for name in names:
            if name in found:
                return name, found[name]
        raise _missing(f"{self._location} has no branch or tag {self._branch or 'HEAD'}.")


class _Git:
    """Runs git with nothing of its surroundings."""

    def __init__(self, program: str, folder: Path, secret: Secret | None) -> None:
        self._program = program
        self._folder = folder
        self._secret = secret
        self._pinned = ""
        self._repository: Path = folder

    def pin(self, pinned: str) -> None:
        """Connect to these addresses only."""
        self._pinned = pinned

    def use(self, repository: Path) -> None:
        """Read from this repository."""
        self._repository = repository

    async def fetch(self, location: str, reference: str) -> str:
        """Fetch one commit; its id."""
        self._repository = self._folder / "repository"
        await self.run("init", "-q", "--bare", str(self._repository), inside=False)
        words = ("fetch", "-q", "--depth", "1", "--no-tags", "--", location, reference)
        await self.run(*words, seconds=FETCH_SECONDS, most_bytes=MAX_FETCHED_BYTES)
        return (await self.run("rev-parse", "--verify", "FETCH_HEAD^{commit}")).decode().strip()

    async def run(
        self, *words: str, seconds: float = LOOK_SECONDS, inside: bool = True, most_bytes: int | None = None
    ) -> bytes:
        """What git prints; no file that it writes is larger than `most_bytes`. Errors: those of `_fault`."""
        limited = () if most_bytes is None else (*_LIMITED, str(most_bytes // 512))
        place = ["-C", str(self._repository)] if inside else []
        process = await asyncio.create_subprocess_exec(
            *limited,
            self._program,
            *place,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment(),
        )
        try:
            async with asyncio.timeout(seconds):
                printed, said = await process.communicate()
        except TimeoutError as error:
            raise Retryable("The repository did not answer in time.", code="SOURCE_UNAVAILABLE") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise _fault(said.decode("utf-8", "replace").strip())
        return printed

    def _environment(self) -> Mapping[str, str]:
        """Credentials go by the environment, which only this user sees, and not by the command line."""
        settings = {
            "safe.directory": "*",
            "protocol.allow": "never",
            "protocol.https.allow": "always",
            "protocol.file.allow": "always",
            "protocol.http.allow": "never" if self._pinned else "always",
            "http.followRedirects": "false",
            "credential.helper": "",
            "core.hooksPath": "/dev/null",
            "transfer.fsckObjects": "true",
            "gc.auto": "0",
        }
        if self._pinned:
            settings["http.curloptResolve"] = self._pinned
        if self._secret is not None:
            login = self._secret.reveal()
            pair = login if ":" in login else f"token:{login}"
            settings["http.extraHeader"] = f"Authorization: Basic {base64.b64encode(pair.encode()).decode()}"
        stated = {f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(settings)}
        values = {f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(settings.values())}
        return {
            "PATH": str(Path(self._program).parent),
            "HOME": str(self._folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": str(len(settings)),
            **stated,
            **values,
        }


def _entries(listed: bytes) -> tuple[Sequence[SourceItem], Sequence[UnreadableItem]]:
    """The files of `ls-tree`, and what cannot be read. Errors: `InvalidInput` code SOURCE_TOO_MANY_ITEMS."""
    items: list[SourceItem] = []
    unreadable: list[UnreadableItem] = []
    for line in listed.split(b"\0"):
        described, tab, name = line.partition(b"\t")
        if not tab:
            continue
        mode, _, object_id, size = described.decode("ascii").split()
        path = name.decode("utf-8", "backslashreplace")
        if path.encode() != name or not path.isprintable():
            unreadable.append(UnreadableItem(path, "SOURCE_NAME_UNUSABLE", "The name is not printable UTF-8."))
        elif is_hidden(path):
            unreadable.append(UnreadableItem(path, HIDDEN, "Hidden entries are left out."))
        elif mode not in (_FILE, _EXECUTABLE):
            unreadable.append(UnreadableItem(path, "SOURCE_NOT_A_FILE", "It is a link or a submodule."))
        elif size == _LOST:
            unreadable.append(
                UnreadableItem(path, "SOURCE_UNREADABLE", "The repository lost it: `git fsck` says more.")
            )
        elif int(size) > MAX_BYTES:
            unreadable.append(UnreadableItem(path, "SOURCE_TOO_LARGE", f"It is larger than {MAX_BYTES} bytes."))
        else:
            items.append(SourceItem(path, int(size), object_id))
            require_few(len(items))
    return items, unreadable


def _fault(said: str) -> InvalidInput | DependencyUnavailable:
    """What git says, as an error: never its text, which may name hosts and paths."""
    text = said.lower()
    if any(sign in text for sign in _REFUSED):
        return InvalidInput(
            "The repository refuses the credential, or needs one: add the source again with a token that may read it.",
            code="SOURCE_CREDENTIAL_REFUSED",
            path=("source",),
        )
    if any(sign in text for sign in _TOO_LARGE):
        return InvalidInput(
            f"The repository is larger than {MAX_FETCHED_BYTES:,} bytes, and nothing was changed. Follow a branch that "
            "is smaller, or a folder with a checkout of the documents.",
            code="SOURCE_TOO_LARGE",
            path=("source",),
        )
    if any(sign in text for sign in _MISSING):
        return _missing("There is no repository at the source's location, or worker or credential may not read it.")
    if any(sign in text for sign in _BROKEN):
        return InvalidInput(
            "The repository cannot be read: it is damaged. `git fsck` says where.",
            code="SOURCE_UNREADABLE",
            path=("source",),
        )
    error = DependencyUnavailable("The repository does not answer.", dependency="source", code="SOURCE_UNAVAILABLE")
    error.__cause__ = RuntimeError(said[:1000])
    return error


def _missing(message: str) -> InvalidInput:
    return InvalidInput(message, code="SOURCE_NOT_FOUND", path=("source",))
