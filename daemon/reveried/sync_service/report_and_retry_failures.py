"""Failures of a folder's sync: what of them is logged, announced, recorded for the status, and tried again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from reverie.errors import Busy, Conflict, DiskFull, ReverieError, StorageFailed, unexpected
from reverie.usecases import sync_snapshot_and_commit as syncing
from reveried.log import logger
from reveried.sync_service.folder_status import announcement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.sync.sync_plan_types import Plan
    from reveried.commit_worker import Submit
    from reveried.sync_service.in_memory_folder_state import CommitResult
    from reveried.sync_service.scan_plan_and_apply import SpaceFolder

__all__ = ["announce", "log_failure", "recorded_failure", "retry_parts"]


async def announce(folder: SpaceFolder, submit: Submit) -> None:
    """Announce a folder's condition by an event and in the log, if it differs from the last announced one."""
    condition, before = folder.condition(folder.problem), folder.announced
    code = None if condition is None else condition.code
    if code == before:
        return
    folder.announced = code
    log = logger("reveried.sync_service")
    if condition is None:
        log.info("a folder is synced again", space=folder.space, before=before)
    else:
        log.warning(condition.reason, space=folder.space, code=code, hint=condition.hint)
    try:
        await submit(announcement(folder.space, condition, before or ""))
    except ReverieError as error:  # the store has no room either: the next change of the condition is announced
        log_failure(folder.space, error, "a folder's condition was not announced")


@contextmanager
def recorded_failure(folder: SpaceFolder, what: str) -> Iterator[None]:
    """Record an exception of the with-body in the folder's status under `what`; a body without one removes it."""
    try:
        yield
    except Exception as error:
        folder.unsaved[what] = error if isinstance(error, ReverieError) else unexpected(error)
        raise
    folder.unsaved.pop(what, None)


def retry_parts(space: str, part: Plan, error: BaseException, committed: CommitResult) -> list[Plan]:
    """Split a failed part of a plan into parts of one path each, to try again; record a part of one path as failed.

    So one document that the store refuses fails alone. Raises the error if it is not about the part: a stale plan, a
    full disk, a busy writer.
    """
    stale = isinstance(error, Conflict) and error.details.get("stale")
    if stale or not isinstance(error, Exception) or isinstance(error, (StorageFailed, DiskFull, Busy)):
        raise error
    single_paths = list(syncing.split_plan(part, most=1))
    if len(single_paths) > 1:
        return single_paths
    if not isinstance(error, ReverieError):
        logger("reveried.sync_service").error("a file was not taken in", exc_info=error, space=space)
        error = unexpected(error)
    committed.failed |= dict.fromkeys(part.paths, error)
    return []


def log_failure(space: str, error: Exception, event: str = "files were not written") -> None:
    """Log an error of a space's folder."""
    code = error.code if isinstance(error, ReverieError) else type(error).__name__
    logger("reveried.sync_service").error(event, space=space, code=code, why=str(error))
