"""`rag backup`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from agentic_rag.embedded.state import write_private
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.commands.operations.backup_places import open_place, records_of
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import open_system
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag.operations.backups.backup import BackupManifest, TakenAway
    from agentic_rag.settings import Settings

app = typer.Typer(help="Backups of the whole system.", no_args_is_help=True, rich_markup_mode=None)

T = TypeVar("T")

Place = Annotated[
    str,
    typer.Argument(
        metavar="PLACE",
        help="A directory, or a folder of a bucket: s3://KEY:SECRET@BUCKET/FOLDER?endpoint=URL, or @FILE with that.",
    ),
]


@app.command("create")
def create(context: typer.Context, place: Place, as_json: JsonOption = False) -> None:
    """Write everything that the database and the store of originals hold into a new directory, or a new folder of a
    bucket; the product may run. One that broke off is gone on with by the same command.

    The login of AGENTIC_RAG_OWNER_DATABASE_URL, else of DATABASE_URL, must not be bound by row level security. Copy the
    directory to another machine. Not in it: AGENTIC_RAG_MASTER_KEYS and other settings, snapshots, Neo4j.

    Example: rag backup create /mnt/backups/2026-11-27
    """

    async def work(container: Container) -> BackupManifest:
        with terminal.ProgressLine("backup") as line:
            try:
                return await container.create_backup.run(target.store, line.update)
            except DependencyUnavailable as error:
                if (error.dependency, error.code) != ("blobs", "STORAGE_FULL"):
                    raise
                raise DependencyUnavailable(
                    f"The disk of {target} is full: free some space there. Nothing of the backup is left.",
                    dependency="disk",
                    code="STORAGE_FULL",
                ) from error

    target = open_place(place, wiring_of(context).settings().proxies)
    target.make()
    manifest = _with_container(context, work)
    if manifest.missing_originals:
        terminal.note(f"{format_count(manifest.missing_originals, 'original')} could not be copied: rag verify --full")
    terminal.show(_manifest_json(manifest), f"{target}: {_summary(manifest)}", as_json=as_json)


@app.command("verify")
def verify(context: typer.Context, place: Place, as_json: JsonOption = False) -> None:
    """Read a backup from end to end and compare every file with its hash. Exit code 1 when something is wrong.

    Example: rag backup verify /mnt/backups/2026-11-27
    """
    from agentic_rag.operations.backups.verify_backup import BackupCheck, verify_backup
    from agentic_rag_migrations import HEAD

    source = open_place(place, wiring_of(context).settings().proxies)
    source.require()

    async def work() -> BackupCheck:
        with terminal.ProgressLine("verify") as line:
            return await verify_backup(source.store, HEAD, line.update)

    checked = run_async(work())
    shown = {**_manifest_json(checked.manifest), "problems": checked.problems}
    verdict = "\n".join(f"  {problem}" for problem in checked.problems) or "every file is what was written"
    terminal.show(shown, f"{source}: {_summary(checked.manifest)}\n{verdict}", as_json=as_json)
    if checked.problems:
        raise typer.Exit(ExitCode.FAILED)


@app.command("restore")
def restore(
    context: typer.Context,
    place: Place,
    erasures: Annotated[
        list[Path] | None,
        typer.Option("--erasures", help="A list of erasures, or a later backup, to apply; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a backup into an empty database and home, and erase again what was erased since; rights that were narrowed
    since are narrow.

    Everything is checked first; nothing is written over what exists. Erasures and rights are read from --erasures, from
    every backup beside this one, and from erasures.jsonl beside it. Start servers and workers afterwards.

    Example: AGENTIC_RAG_HOME=/srv/rag rag backup restore /mnt/backups/2026-11-27
    """

    async def work(container: Container) -> tuple[BackupManifest, list[TakenAway]]:
        records = [*await _records(erasures or ()), *await source.records_beside()]
        with terminal.ProgressLine("restore") as line:
            return await container.restore_backup.run(source.store, line.update), records

    source = open_place(place, wiring_of(context).settings().proxies)
    source.require()

    wiring = wiring_of(context)
    with wiring.bare_servers(wiring.settings()) as settings:
        manifest, records = run_async(_contained(settings, work))
        erased = run_async(_reapply(settings, records, manifest.taken))
    if settings.stores.neo4j_uri:
        terminal.note("Neo4j is not in a backup: run `rag graph rebuild` for each workspace")
    shown = {**_manifest_json(manifest), "erasedAgain": erased}
    terminal.show(shown, f"restored {_summary(manifest)}\n{_erased_line(erased)}", as_json=as_json)


@app.command("erasures")
def erasures(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; replaced as a whole.")],
    as_json: JsonOption = False,
) -> None:
    """Write the list of what was erased, of the keys that were revoked, and of who may read and change what: ids,
    principals and times, no text. Run it often, and keep the file elsewhere: a restore of an older backup erases and
    revokes again what it names, and gives nobody more rights than it tells.

    Example: rag backup erasures /mnt/backups/erasures.jsonl
    """
    from agentic_rag.operations.backups.backup import ErasureRecord, RevokedKey, encode_line
    from agentic_rag.operations.backups.rights import ListedRights

    async def work(container: Container) -> list[TakenAway]:
        return [one async for one in container.backup_database.erasures()]

    taken = _with_container(context, work)
    write_private(file, b"".join(map(encode_line, taken)).decode())
    counts = {
        "erasures": sum(isinstance(one, ErasureRecord) for one in taken),
        "keys": sum(isinstance(one, RevokedKey) for one in taken),
        "rights": sum(len(one.documents) for one in taken if isinstance(one, ListedRights)),
    }
    told = f"{format_count(counts['erasures'], 'erasure')}, {format_count(counts['keys'], 'revoked key')}"
    rights = f"rights to {format_count(counts['rights'], 'document')}"
    terminal.show(counts, f"{file}: {told}, {rights}", as_json=as_json)


@app.command("reapply")
def reapply(
    context: typer.Context,
    sources: Annotated[list[Path], typer.Argument(metavar="ERASURES", help="Lists of erasures, or backups.")],
    as_json: JsonOption = False,
) -> None:
    """Erase again what was erased after the state that the database is in, and narrow rights to those of the newest
    list: after a point-in-time recovery of Postgres, or a restore that broke off after its rows were in place. May be
    repeated.

    Example: rag backup reapply /mnt/backups/erasures.jsonl
    """
    wiring = wiring_of(context)
    with wiring.bare_servers(wiring.settings()) as settings:
        erased = run_async(_reapply(settings, run_async(_records(sources))))
    terminal.show(erased, _erased_line(erased), as_json=as_json)


async def _reapply(settings: Settings, records: list[TakenAway], since: datetime | None = None) -> dict[str, Any]:
    async with open_system(settings) as system:
        return asdict(await system.container.reapply_erasures.run(records, since))


async def _records(sources: Sequence[Path]) -> list[TakenAway]:
    """The erasures that these files and backups name. Errors: `InvalidInput` code ERASURES_UNREADABLE."""
    return [record for source in sources for record in await records_of(source)]


def _with_container(context: typer.Context, work: Callable[[Container], Awaitable[T]]) -> T:
    """Run `work` with a container on the servers of the settings, at whatever schema they are."""
    wiring = wiring_of(context)
    with wiring.bare_servers(wiring.settings()) as settings:
        return run_async(_contained(settings, work))


async def _contained(settings: Settings, work: Callable[[Container], Awaitable[T]]) -> T:
    from agentic_rag.bootstrap import build_container

    quiet = settings if settings.operations.log_level == "debug" else settings.change(operations={"log_level": "error"})
    async with build_container(quiet) as container:
        return await work(container)


def _summary(manifest: BackupManifest) -> str:
    rows, originals = format_count(manifest.rows, "row"), format_count(manifest.original_count, "original")
    size = format_count(manifest.size, "byte")
    return f"{rows}, {originals}, {size}, of {manifest.taken_at} at schema {manifest.schema}"


def _manifest_json(manifest: BackupManifest) -> dict[str, Any]:
    return {
        "takenAt": manifest.taken_at,
        "schema": manifest.schema,
        "product": manifest.product,
        "server": manifest.server,
        "rows": {one.table.name: one.rows for one in manifest.tables},
        "originals": manifest.original_count,
        "missingOriginals": manifest.missing_originals,
        "bytes": manifest.size,
    }


def _erased_line(erased: dict[str, Any]) -> str:
    again = {name: number for name, number in erased.items() if name != "narrowed"}
    taken, narrowed = _counts(again), _counts(erased["narrowed"])
    lines = [f"erased or revoked again: {taken}" if taken else "nothing was erased or revoked since"]
    return "\n".join([*lines, *([f"rights narrowed again: {narrowed}"] if narrowed else [])])


def _counts(numbers: dict[str, int]) -> str:
    names = {name: name.removesuffix("s").replace("_", " ") for name in numbers}
    return ", ".join(format_count(number, names[name]) for name, number in numbers.items() if number)
