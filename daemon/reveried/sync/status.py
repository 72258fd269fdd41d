"""The sync status of one folder for the HTTP API, and its condition: why it is not synced, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import wire
from reverie.errors import DiskFull, ReverieError, StorageFailed
from reverie.store import Write
from reverie.store.codec import from_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reverie.store import Writer
    from reverie.sync.scan import Refusal
    from reveried.sync.state import Guard

_FULL_HINT: Final = "free some space on its disk; what waits is then written by itself"
_READ_ONLY_HINT: Final = "make it writable again (its mount, owner and mode); what waits is then written by itself"


@dataclass(frozen=True, slots=True)
class Condition:
    """Why a folder is `stopped` (nothing is synced, or a person must decide) or `blocked` (it cannot be written).

    `code` is stable; `files` is the number of files that wait for it.
    """

    state: str
    code: str
    reason: str
    hint: str | None = None
    files: int = 0


def folder_condition(
    root: Path, *, problem: ReverieError | None, guard: Guard, write_error: ReverieError | None, pending: int
) -> Condition | None:
    """Return the condition of a folder, None if all is well.

    `problem` is the error of the last scan, `write_error` that of the last writes if it concerns the folder as a whole,
    and `pending` the number of documents that are not on disk.
    """
    if problem is not None:
        code = str(problem.details.get("reason", problem.code))
        return Condition("stopped", code, problem.message, problem.hint, pending)
    if guard.older:
        return _older_condition(len(guard.older_files), len(guard.missing))
    if guard.stopped:
        hint = (
            "restore them; or confirm the deletions: reverie sync now --accept-deletions; "
            "or have them written again: reverie sync now --put-back"
        )
        count = len(guard.stopped)
        return Condition("stopped", "mass_deletion", f"{count} files are missing at once", hint, count)
    if write_error is None:
        return None
    files = f"{pending} file{'s wait' if pending != 1 else ' waits'} to be written"
    if isinstance(write_error, DiskFull):
        return Condition("blocked", write_error.code, f"the folder {root} is full: {files}", _FULL_HINT, pending)
    if isinstance(write_error, StorageFailed) and write_error.details.get("reason") != "read_only":
        return Condition(
            "blocked", write_error.code, f"the folder {root} cannot be written: {files}", write_error.hint, pending
        )
    return Condition("blocked", "read_only", f"the folder {root} is read-only: {files}", _READ_ONLY_HINT, pending)


def _older_condition(older: int, missing: int) -> Condition:
    """Return the condition of a folder in which `older` files have earlier texts, as from a restored copy."""
    what = f"{older} file{'s have' if older != 1 else ' has'} an older text than before"
    if missing:
        what += f" and {missing} {'are' if missing != 1 else 'is'} missing"
    hint = (
        "to have the stored texts written again: reverie sync now --put-back; "
        "to take the older ones (undo reverts that): reverie sync now --accept-older"
    )
    return Condition("stopped", "older_files", f"{what}, as if an older folder was put back", hint, older + missing)


def announcement(space: str, condition: Condition | None, before: str) -> Write[None]:
    """Return the write of the event that a folder's condition changed; `before` is the code of the one before."""

    def body(writer: Writer) -> None:
        if condition is None:
            writer.event("sync.resumed", {"reason": before})
        else:
            data = {"reason": condition.code, "files": condition.files}
            writer.event("sync.stopped" if condition.state == "stopped" else "sync.blocked", data)

    return Write(space=space, who="sync", why="files.announced", body=body)


def sync_status(
    path: Path,
    *,
    condition: Condition | None,
    guard: Guard,
    pending: int,
    missing: Iterable[str],
    refused: Iterable[Refusal],
    failed: Mapping[str, ReverieError],
    unsaved: Mapping[str, ReverieError],
    set_aside: Iterable[tuple[str, str]],
    scanned_at: int | None,
    documents: int,
    conflicts: int,
    left_out: list[wire.LeftOutLines],
) -> wire.SyncStatus:
    """Return the sync status of a folder; `guard` has the missing and older files that wait for a decision.

    `failed` are errors by file, `unsaved` those of the folder as a whole, `set_aside` the projections that a person
    edited, each with the path of the edited text, `left_out` the lines that saves left out.
    """
    return wire.SyncStatus(
        state=condition.state if condition is not None else "ok" if scanned_at is not None else "starting",
        root=str(path),
        documents=documents,
        pending=pending,
        conflicts=conflicts,
        missing=sorted(guard.missing or missing),
        older=sorted(guard.older_files),
        refused=[*_folder_errors(unsaved), *_file_errors(refused, failed, set_aside)],
        left_out=left_out,
        reason=None if condition is None else condition.reason,
        hint=None if condition is None else condition.hint,
        last_scan_at=None if scanned_at is None else from_ms(scanned_at),
    )


def _folder_errors(unsaved: Mapping[str, ReverieError]) -> list[wire.SyncRefusal]:
    """Return the reasons why baselines or projections of the folder cannot be saved, each reason once."""
    reasons = {(error.code, error.hint or error.message): None for _, error in sorted(unsaved.items())}
    return [wire.SyncRefusal(path=".", reason=reason, hint=hint) for reason, hint in reasons]


def _file_errors(
    refused: Iterable[Refusal], failed: Mapping[str, ReverieError], set_aside: Iterable[tuple[str, str]]
) -> list[wire.SyncRefusal]:
    """Return the files that are not read, those that could not be written, and edits of projections."""
    return [
        *(wire.SyncRefusal(path=refusal.path, reason=refusal.reason, hint=refusal.hint) for refusal in refused),
        *(
            wire.SyncRefusal(path=path, reason=error.code, hint=error.hint or error.message)
            for path, error in sorted(failed.items())
        ),
        *(
            wire.SyncRefusal(
                path=path, reason="projection", hint=f"Reverie generates this file; your text is at {aside}"
            )
            for path, aside in set_aside
        ),
    ]
