"""The operating-system account an embedded server runs under, and what that account may reach."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.embedded.errors import EmbeddedServerError

UNPRIVILEGED_ID = 65532
"""User and group id of the servers when we are root (Postgres refuses to run as root).

The number is the "nonroot" of distroless images: unlike `nobody`, it owns nothing else on the machine. No account is
created, since the kernel needs only the number.
"""


@dataclass(frozen=True, slots=True)
class OsUser:
    """Ids a server process takes on, or None for both: it stays the user that starts it."""

    uid: int | None
    gid: int | None

    @classmethod
    def for_current_user(cls) -> "OsUser":
        """The unprivileged ids when we are root, ourselves otherwise."""
        return cls(UNPRIVILEGED_ID, UNPRIVILEGED_ID) if os.geteuid() == 0 else cls(None, None)

    @property
    def differs(self) -> bool:
        """Whether a server runs under another account than this process."""
        return self.uid is not None

    @property
    def directory_mode(self) -> int:
        """Mode of the directories on the way to the server's own: passable, but not to be listed, by it."""
        return 0o711 if self.differs else 0o700

    def give(self, path: Path) -> None:
        """Make the server's account the owner of `path`."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def give_tree(self, root: Path) -> None:
        """Make the server's account the owner of `root` and all below it; links are not followed."""
        if self.uid is not None and self.gid is not None:
            for path in (root, *root.rglob("*")):
                os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def with_a_name(self) -> "OsUser":
        """This account if the machine has a name for it, else one that has: initdb insists on a name.

        Raises EMBEDDED_START_FAILED when there is none to be had.
        """
        names = {entry.pw_uid: entry for entry in pwd.getpwall() if entry.pw_uid != 0}
        if (self.uid or os.geteuid()) in names:
            return self
        if self.differs:
            for entry in sorted(names.values(), key=lambda entry: entry.pw_name != "nobody"):
                return OsUser(entry.pw_uid, entry.pw_gid)
        raise EmbeddedServerError(
            "EMBEDDED_START_FAILED",
            f"Postgres needs an account with a name, other than root, and /etc/passwd has none for user id "
            f"{os.geteuid()}: add one, or set DATABASE_URL to a Postgres with pgvector.",
        )

    def barrier(self, path: Path) -> Path | None:
        """The first directory on the way to `path` that this account may not pass, or None.

        Reads permission bits only: access lists that allow more are not seen.
        """
        if not self.differs:
            return None
        for directory in reversed(path.resolve().parents):
            if not self._may_pass(directory):
                return directory
        return None

    def check_owner(self, path: Path) -> None:
        """Raise EMBEDDED_HOME_UNUSABLE when the existing directory `path` is not this account's."""
        expected = os.geteuid() if self.uid is None else self.uid
        owner = path.stat().st_uid
        if owner != expected:
            raise EmbeddedServerError(
                "EMBEDDED_HOME_UNUSABLE",
                f"{path} belongs to user id {owner} and the server runs as {expected}: "
                "use the account that made it, or set AGENTIC_RAG_HOME to another folder.",
            )

    def _may_pass(self, directory: Path) -> bool:
        status = directory.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)
