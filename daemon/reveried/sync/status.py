"""The sync status of a folder for the HTTP API, and its condition: why it is not synced, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reverie import wire
from reverie.errors import DiskFull, ReverieError, StorageFailed
from reverie.store import DocumentRecord, Kind, Write
from reverie.store.codec import from_ms
from reverie.sync.unseen_lines import lines_only_in
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.store import Reader, Writer
    from reverie.sync.plan import Baseline, LeftOut
    from reverie.sync.scan import Refusal
    from reveried.sync.folder import Folder
    from reveried.worker import Submit

_FIRST_CHARS: Final = 80  # shown of the first line
_NAMED_MS: Final = 7 * 86_400_000  # a week: later the history still has the operation, and nobody waits for the lines
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


def condition_of(folder: Folder, problem: ReverieError | None) -> Condition | None:
    """Return why a folder is not synced or written, None if all is well; `problem` is the error of a scan."""
    guard, write_error, pending, root = folder.guard, folder.write_error, len(folder.pending), folder.path
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
        reason = f"the folder {root} cannot be written: {files}"
        return Condition("blocked", write_error.code, reason, write_error.hint, pending)
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


async def announce(folder: Folder, submit: Submit) -> None:
    """Announce a folder's condition by an event and in the log, if it differs from the last announced one."""
    condition, before = condition_of(folder, folder.problem), folder.announced
    code = None if condition is None else condition.code
    if code == before:
        return
    folder.announced = code
    log = logger("reveried.sync")
    if condition is None:
        log.info("a folder is synced again", space=folder.space, before=before)
    else:
        log.warning(condition.reason, space=folder.space, code=code, hint=condition.hint)
    try:
        await submit(_announcement(folder.space, condition, before or ""))
    except ReverieError as error:  # the store has no room either: the next change of the condition is announced
        log_failure(folder.space, error, "a folder's condition was not announced")


def log_failure(space: str, error: BaseException, event: str = "files were not written") -> None:
    """Log an error of a space's folder."""
    code = error.code if isinstance(error, ReverieError) else type(error).__name__
    logger("reveried.sync").error(event, space=space, code=code, why=str(error))


def _announcement(space: str, condition: Condition | None, before: str) -> Write[None]:
    """Return the write of the event that a folder's condition changed; `before` is the code of the one before."""

    def body(writer: Writer) -> None:
        if condition is None:
            writer.event("sync.resumed", {"reason": before})
        else:
            data = {"reason": condition.code, "files": condition.files}
            writer.event("sync.stopped" if condition.state == "stopped" else "sync.blocked", data)

    return Write(space=space, who="sync", why="files.announced", body=body)


def status_of(folder: Folder, reader: Reader, *, now_ms: int) -> wire.SyncStatus:
    """Return the sync status of a folder, with `watching` at its default: how changes are noticed is not known here."""
    left_out = _left_out_lines(reader, list(folder.baselines.by_path.values()), now_ms=now_ms)
    condition = condition_of(folder, folder.problem or folder.root_problem())
    guard, projection, scanned_at = folder.guard, folder.projection, folder.scanned_at
    refusals = (folder.unreadable, projection.blocked, folder.index.refused)
    refused = [refusal for by_path in refusals for refusal in list(by_path.values())]
    return wire.SyncStatus(
        state=condition.state if condition is not None else "ok" if scanned_at is not None else "starting",
        root=str(folder.path),
        documents=reader.count(Kind.DOCUMENT),
        pending=len(folder.pending),
        conflicts=reader.count(Kind.CONFLICT),
        missing=sorted(guard.missing or folder.baselines.missing()),
        older=sorted(guard.older_files),
        refused=[
            *_folder_errors(folder.unsaved),
            *_file_errors(refused, folder.failed | projection.failed, projection.set_aside),
        ],
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


def _left_out_lines(reader: Reader, baselines: Iterable[Baseline], *, now_ms: int) -> list[wire.LeftOutLines]:
    """Return the lines that saves left out, with the undo of each; the last operation first.

    A file is not named any more after its next save, once the lines are back, or after a week.
    """
    recent = [
        (baseline.path, baseline.left_out)
        for baseline in baselines
        if baseline.left_out is not None and now_ms - baseline.left_out.at < _NAMED_MS
    ]
    return [
        wire.LeftOutLines(
            path=path,
            lines=left_out.lines,
            memories=left_out.memories,
            first=removed[0].lstrip("-*+ \t")[:_FIRST_CHARS],
            operation=str(left_out.operation),
            at=from_ms(left_out.at),
            undo=f"reverie undo {left_out.operation}",
        )
        for path, left_out in sorted(recent, key=lambda item: -(item[1].operation or 0))
        if (removed := _removed(reader, path, left_out))
    ]


def _removed(reader: Reader, path: str, left_out: LeftOut) -> list[str]:
    """Return the lines that a save left out, or of a file whose memories a move took.

    None if some are back, or the document or that version is gone.
    """
    record = reader.load(DocumentRecord, (path,))
    if record is None:
        return []
    if left_out.memories:
        return [] if record.ids else [line for line in record.content.splitlines() if line.strip()]
    texts = _texts(reader, path)
    before = next((older for (operation, _), (_, older) in pairwise(texts) if operation == left_out.operation), None)
    after = next((text for operation, text in _texts(reader, path) if operation == left_out.operation), None)
    if before is None or after is None:
        return []
    removed = lines_only_in(before, after)
    return removed if len(lines_only_in(before, after, record.content)) == len(removed) else []


def _texts(reader: Reader, path: str) -> Iterator[tuple[int, str]]:
    for version in reader.record_versions(DocumentRecord, (path,)):
        yield version.operation, "" if version.value is None else version.value.content
