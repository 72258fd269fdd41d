"""The sync status of one folder, as the HTTP API returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reverie.store.codec import from_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reverie.errors import ReverieError
    from reverie.sync.file_status import Refusal
    from reveried.sync_service.folder_condition import Condition
    from reveried.sync_service.folder_state import Guard

__all__ = ["sync_status"]


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
