"""Report failures of a folder's sync, with retries of failed parts, and lines that a save lacks."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reverie import wire
from reverie.errors import Busy, Conflict, DiskFull, ReverieError, StorageFailed, failure_of
from reverie.store import DocumentRecord
from reverie.store.codec import from_ms
from reverie.sync.unseen_lines import lines_only_in
from reverie.usecases import sync as syncing
from reveried.log import logger
from reveried.sync.status import announcement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.store import Reader
    from reverie.sync.inputs import Baseline, LeftOut
    from reverie.sync.plan import Plan
    from reveried.sync.folder import Folder
    from reveried.sync.state import CommitResult
    from reveried.worker import Submit


async def announce(folder: Folder, submit: Submit) -> None:
    """Announce a folder's condition by an event and in the log, if it differs from the last announced one."""
    condition, before = folder.condition(folder.problem), folder.announced
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
        await submit(announcement(folder.space, condition, before or ""))
    except ReverieError as error:  # the store has no room either: the next change of the condition is announced
        log_failure(folder.space, error, "a folder's condition was not announced")


@contextmanager
def recorded_failure(folder: Folder, what: str) -> Iterator[None]:
    """Record an exception of the with-body in the folder's status under `what`; a body without one removes it."""
    try:
        yield
    except BaseException as error:
        folder.unsaved[what] = failure_of(error)
        raise
    folder.unsaved.pop(what, None)


def retry_parts(space: str, part: Plan, error: BaseException, committed: CommitResult) -> list[Plan]:
    """Return a failed part of a plan as parts of one path each; of a part of one path record the failure, return [].

    So one document that the store refuses fails alone. Raises the error if it is not about the part: a stale plan, a
    full disk, a busy writer.
    """
    stale = isinstance(error, Conflict) and error.details.get("stale")
    failure = failure_of(error)
    if stale or isinstance(error, (StorageFailed, DiskFull, Busy)):
        raise error
    single_paths = list(syncing.split_plan(part, most=1))
    if len(single_paths) > 1:
        return single_paths
    if not isinstance(error, ReverieError):
        logger("reveried.sync").error("a file was not taken in", exc_info=error, space=space)
    committed.failed |= dict.fromkeys(part.paths, failure)
    return []


def log_failure(space: str, error: BaseException, event: str = "files were not written") -> None:
    """Log an error of a space's folder."""
    code = error.code if isinstance(error, ReverieError) else type(error).__name__
    logger("reveried.sync").error(event, space=space, code=code, why=str(error))


_FIRST_CHARS: Final = 80  # shown of the first line
_NAMED_MS: Final = 7 * 86_400_000  # a week: later the history still has the operation, and nobody waits for the lines


def left_out_lines(reader: Reader, baselines: Iterable[Baseline], *, now_ms: int) -> list[wire.LeftOutLines]:
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
    """Yield the operations and texts of a document, newest first."""
    for version in reader.record_versions(DocumentRecord, (path,)):
        yield version.operation, "" if version.value is None else version.value.content


def log_notices(space: str, part: Plan, operations: Mapping[str, int]) -> None:
    """Log each save that lacks lines newer than its editor's copy: how many were kept or removed, and the undo."""
    log = logger("reveried.sync")
    for notice in part.notices:
        if notice.kept:
            log.info("a save lacks lines that its writer had not seen", space=space, path=notice.path, kept=notice.kept)
        if notice.left_out:
            undo = f"reverie undo {operations[notice.path]}"
            lines = notice.left_out
            log.warning("a save left out newer lines", space=space, path=notice.path, lines=lines, undo=undo)
        if notice.memories:
            undo = f"reverie undo {operations[notice.path]}"
            log.warning("a moved file has no memories", space=space, path=notice.path, gone=notice.memories, undo=undo)
