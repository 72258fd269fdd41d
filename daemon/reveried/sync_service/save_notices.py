"""Log and status of lines that a save lacks although its writer may not have seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.sync.plan import Plan

__all__ = ["log_notices"]


def log_notices(space: str, part: Plan, operations: Mapping[str, int]) -> None:
    """Log what became of the lines that the committed saves of a part lack."""
    log = logger("reveried.sync_service")
    for notice in part.notices:
        if notice.kept:
            log.info("a save lacks lines that its writer had not seen", space=space, path=notice.path, kept=notice.kept)
        if notice.left_out:
            undo = f"reverie undo {operations[notice.path]}"
            lines = notice.left_out
            log.warning("a save left out newer lines", space=space, path=notice.path, lines=lines, undo=undo)
