"""How a folder stands, as the wire tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.store.codec import from_ms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from reverie.errors import ReverieError
    from reverie.sync.file_status import Refusal

__all__ = ["standing"]


def standing(
    path: Path,
    *,
    problem: ReverieError | None,
    stopped: Collection[str],
    pending: int,
    missing: Iterable[str],
    refused: Iterable[Refusal],
    failed: Mapping[str, ReverieError],
    unkept: Mapping[str, ReverieError],
    set_aside: Iterable[tuple[str, str]],
    scanned_at: int | None,
) -> dict[str, Any]:
    """The record of `GET /v1/sync`; `stopped` are the files whose deletion nobody has confirmed yet.

    `failed` are errors by file, `unkept` those of the folder as a whole.
    """
    reason = problem.message if problem is not None else None
    hint = problem.hint if problem is not None else None
    if stopped and problem is None:
        reason = f"{len(stopped)} files are gone at once"
        hint = "bring them back, or say that it was meant: reverie sync now --accept-deletions"
    return {
        "state": "stopped" if reason is not None else "ok" if scanned_at is not None else "starting",
        "root": str(path),
        "pending": pending,
        "missing": sorted(stopped or missing),
        "refused": [*_whole(unkept), *_refused(refused, failed, set_aside)],
        "reason": reason,
        "hint": hint,
        "lastScanAt": None if scanned_at is None else from_ms(scanned_at),
    }


def _whole(unkept: Mapping[str, ReverieError]) -> list[dict[str, str]]:
    """What cannot be kept of the folder itself, each reason once."""
    told = {(error.code, error.hint or error.message): None for _, error in sorted(unkept.items())}
    return [{"path": ".", "reason": reason, "hint": hint} for reason, hint in told]


def _refused(
    refused: Iterable[Refusal], failed: Mapping[str, ReverieError], set_aside: Iterable[tuple[str, str]]
) -> list[dict[str, str]]:
    """Files that are not read, files that could not be written, and edits of what only Reverie writes."""
    return [
        *({"path": each.path, "reason": each.reason, "hint": each.hint} for each in refused),
        *(
            {"path": path, "reason": error.code, "hint": error.hint or error.message}
            for path, error in sorted(failed.items())
        ),
        *(
            {"path": path, "reason": "projection", "hint": f"it is made by Reverie; your text is at {aside}"}
            for path, aside in set_aside
        ),
    ]
