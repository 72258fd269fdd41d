"""The daemon about itself: health, status, metrics, backups and the OpenAPI description."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import tokenizer, wire
from reverie.api.system import System
from reverie.errors import Forbidden, StorageFailed, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.private_folder import make_private
from reverie.store import SYSTEM_SPACE, BackupEntry, Kind
from reverie.store.backup import backup
from reverie.usecases import dream, restored, usage
from reverie.usecases import sessions as use_sessions
from reverie.usecases.by import By
from reverie.usecases.waiting import WaitingCandidates
from reveried import __version__
from reveried.actions.compact import compact
from reveried.actions.hooks import SessionMemory
from reveried.drive import write
from reveried.http.metrics import family
from reveried.http.route import serves
from reveried.models.anthropic import DEFAULT_MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader
    from reveried.http.types import Call
    from reveried.services import Services

COUNTED_KINDS = {
    "threads": Kind.THREAD,
    "memories": Kind.MEMORY,
    "documents": Kind.DOCUMENT,
    "archives": Kind.ARCHIVE,
    "dreams": Kind.DREAM,
    "operations": Kind.OPERATION,
    "events": Kind.EVENT,
}
ARCHIVE_RETENTION = "P100Y"  # ISO 8601: archives stay until they are purged
DRAFT_RANDOM_BYTES = 16  # of the name of an unfinished copy
DRAFT_KEPT_S = 86_400.0  # far longer than a copy is written or moved
_DRAFT = lazy_regex(r"\.reverie-(?:backup-[0-9a-f]{32}|[0-9a-f]{32}\.part)")  # of `reverie backup`, and our own


@serves(System.status)
async def status(call: Call) -> wire.Status:
    """Return counts, schedules with their next run, the last dream, the folder's state, the engine, token spend."""
    return await asyncio.to_thread(_status, call)


def _status(call: Call) -> wire.Status:
    services = call.services
    with services.store.reader(call.space) as reader:
        schedules = services.scheduler.list(call.space)
        last = dream.last_dream(reader)
        paused = use_sessions.privacy_of(reader).pauses
        return wire.Status(
            space=call.space,
            root=str(services.sync_service.root_of(call.space)),
            counts={name: reader.count(kind) for name, kind in COUNTED_KINDS.items()},
            distillation=wire.DistillationSupport(
                supported=True,
                max_token_budget=services.config.dream.max_token_budget,
                scheduled=bool(schedules),
                index_emitted=True,
                tokenizer_name=tokenizer.TOKENIZER,
                archive_retention=ARCHIVE_RETENTION,
            ),
            model=_model_in_use(services),
            spend=_spend(services, reader),
            schedules=schedules,
            last_dream=dream.dream_answer(last) if last else None,
            open_conflicts=reader.count(Kind.CONFLICT),
            sync=services.sync_service.status(call.space),
            operation=str(reader.operation()) if reader.operation() else None,
            candidates=services.made(WaitingCandidates).count(reader),
            paused_since=paused[-1][0] if use_sessions.is_paused(paused) else None,
            late_hooks=services.made(SessionMemory).late(call.space),
        )


def _model_in_use(services: Services) -> wire.ModelInUse:
    """Return the distiller that the settings choose, with the name of its strong model where there is one."""
    settings = services.config.distiller
    name = settings.strong_model or (DEFAULT_MODELS["strong"] if settings.kind == "anthropic" else None)
    return wire.ModelInUse(engine=settings.kind, name=None if settings.kind == "extractive" else name)


def _spend(services: Services, reader: Reader) -> wire.TokenSpend:
    """Return the tokens of the space's distillations, today's requests to models, and the ceilings of those."""
    settings, at = services.config.distiller, services.clock()
    asks = settings.kind != "extractive"
    sessions, per_session = usage.session_cost(reader) if asks else (0, None)
    return msgspec.structs.replace(
        usage.spend(reader, at),
        models=usage.model_spend(services.store, at),
        daily_tokens=settings.daily_tokens if asks else None,
        daily_calls=settings.daily_calls if asks else None,
        model_sessions=sessions,
        model_tokens_per_session=per_session,
    )


@serves(System.metrics)
async def metrics(call: Call) -> str:
    """Return counts of requests, connections, queues, processes, streams and model calls in Prometheus text format."""
    spent = await asyncio.to_thread(usage.model_spend, call.services.store, call.services.clock())
    lines = [*_process_lines(call.services), *_model_lines(spent), *call.services.metrics.lines(), ""]
    return "\n".join(lines)


def _process_lines(services: Services) -> list[str]:
    worker, admission = services.worker.status(), services.admission
    figures: list[tuple[str, str, str, float]] = [
        ("reverie_uptime_seconds", "gauge", "Age of the process.", time.monotonic() - services.started),
        ("reverie_connections", "gauge", "Open connections.", admission.open_connections),
        ("reverie_connections_total", "counter", "Connections accepted.", admission.accepted),
        ("reverie_body_bytes_held", "gauge", "Bytes of request bodies being received.", admission.reserved_bytes),
        ("reverie_writes_queued", "gauge", "Writes of agents that wait.", worker.queued),
        ("reverie_bulk_writes_queued", "gauge", "Pieces of bulk work that wait.", worker.bulk_queued),
        ("reverie_commits_total", "counter", "Durable commits.", worker.commits),
        ("reverie_writes_total", "counter", "Writes committed.", worker.writes),
        ("reverie_commit_seconds_max", "gauge", "Longest commit so far.", worker.longest_commit_s),
        ("reverie_storage_failed", "gauge", "1 when the store takes no more writes.", int(worker.failed)),
        ("reverie_compute_processes", "gauge", "Compute processes now.", len(services.compute.pids())),
        ("reverie_compute_started_total", "counter", "Compute processes started.", services.compute.started),
        ("reverie_compute_crashed_total", "counter", "Compute processes that ended early.", services.compute.crashed),
        ("reverie_jobs_running", "gauge", "Jobs that run.", services.jobs.running),
        ("reverie_event_streams", "gauge", "Readers of the events.", services.events.readers),
    ]
    version: list[tuple[str, float]] = [(f'version="{__version__}"', 1)]
    lines = family("reverie_build_info", "gauge", "The version that runs.", version)
    for name, kind, says, value in figures:
        lines += family(name, kind, says, [("", value)])
    refused: list[tuple[str, float]] = [(f'why="{why}"', count) for why, count in sorted(admission.refused.items())]
    return lines + family("reverie_refused_total", "counter", "Connections and requests refused, by reason.", refused)


def _model_lines(spent: Sequence[wire.ModelSpend]) -> list[str]:
    """Return today's requests to models and their tokens, by role, as lines in Prometheus text format."""
    families = {
        "calls": "Requests sent to models on this UTC day.",
        "failed": "Requests that brought no answer.",
        "input_tokens": "Tokens that models read.",
        "output_tokens": "Tokens that models wrote.",
        "cached_tokens": "Tokens read from a provider's cache.",
        "reserved_tokens": "Tokens of open requests at most.",
    }
    lines = []
    for field, says in families.items():
        samples: list[tuple[str, float]] = [(f'role="{entry.role}"', getattr(entry, field)) for entry in spent]
        lines += family(f"reverie_model_{field}_today", "gauge", says, samples)
    return lines


@serves(System.backup, once=True, owner="copy the whole store", hint="run `reverie backup FILE` as the daemon's owner")
async def make_backup(call: Call) -> wire.BackupMade:
    """Copy the store to a file below the backup folder.

    It contains every space, so a token, which is bound to one, may not request it. An agent without a token is the
    owner to the daemon, and may not write where it likes in the owner's name; `reverie backup FILE` moves the copy to
    its place itself.
    """
    body = call.into(wire.CreateBackup)
    path = await asyncio.to_thread(_backup_path, Path(body.path), call.services.config.backup.folder)
    await asyncio.to_thread(_remove_drafts, path.parent)
    suffix = call.services.random(DRAFT_RANDOM_BYTES).hex()
    made = await asyncio.to_thread(backup, call.services.store, path, draft_suffix=suffix)
    entry = BackupEntry(body.moved_to or str(path), call.services.clock())
    await write(call.services, restored.add, By(SYSTEM_SPACE, "backup"), entry)
    return wire.BackupMade(path=body.path, size=made.byte_count, counts=made.counts)


def _remove_drafts(folder: Path) -> None:
    """Remove the drafts that interrupted backups left in a folder, but those that may still be written or moved."""
    for file in folder.glob(".reverie-*"):
        with suppress(OSError):  # another backup has removed it
            if _DRAFT.fullmatch(file.name) and time.time() - file.lstat().st_mtime > DRAFT_KEPT_S:
                file.unlink()


def _backup_path(path: Path, folder: Path) -> Path:
    """Return the path without links and `..` of a backup below the backup folder, which is made if it is missing.

    Raises:
        Forbidden: the path is elsewhere, also by a link or `..`.
        StorageFailed: the backup folder cannot be made.
        ValidationError: the path is not one.
    """
    try:
        parent = path.parent.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL, or what no file system can encode
        raise ValidationError(
            "the path of the backup is not one", hint="name a new file in the backup folder", field="path"
        ) from error
    if not parent.is_relative_to(folder.resolve()):
        raise Forbidden(
            f"a backup may be written below {folder} only",
            hint="name a file there, run `reverie backup FILE`, or set `backup.folder`, where / allows any folder",
        )
    try:
        make_private(folder)
    except OSError as error:
        raise StorageFailed(
            f"{error.filename} cannot be made: {error.strerror}", hint="make the folder, or set `backup.folder`"
        ) from error
    return parent / path.name


@serves(System.compact, once=True, owner="compact the store", hint="run `reverie compact` as the daemon's owner")
async def compact_store(call: Call) -> wire.Compacted:
    """Rewrite the store's file without free pages; only for the owner, since it is the store of every space."""
    freed = await compact(call.services)
    return wire.Compacted(freed_bytes=freed, size=(call.services.store.path / "data.mdb").stat().st_size)


@serves(System.openapi)
async def description(call: Call) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of all routes."""
    return call.services.description()
