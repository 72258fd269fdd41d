"""Log and status of lines that a save lacks although its writer may not have seen them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reverie import wire
from reverie.store import DocumentRecord
from reverie.store.encode_and_seal_records import from_ms
from reverie.sync.merge_base_search import lines_beyond
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.store import Reader
    from reverie.sync.sync_input_types import Baseline, LeftOut
    from reverie.sync.sync_plan_types import Plan

__all__ = ["left_out_lines", "log_notices"]

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
            operation=str(left_out.operation),
            at=from_ms(left_out.at),
            undo=f"reverie undo {left_out.operation}",
        )
        for path, left_out in sorted(recent, key=lambda item: -(item[1].operation or 0))
        if not _are_back(reader, path, left_out)
    ]


def _are_back(reader: Reader, path: str, left_out: LeftOut) -> bool:
    """Return True if the document has the lines again, or if it or the save's version of it is gone."""
    record = reader.load(DocumentRecord, (path,))
    if record is None:
        return True
    texts = _texts(reader, path)
    before = next((older for (operation, _), (_, older) in pairwise(texts) if operation == left_out.operation), None)
    after = next((text for operation, text in _texts(reader, path) if operation == left_out.operation), None)
    if before is None or after is None:
        return True
    lines = lines_beyond(before, after)
    return lines_beyond(before, after, record.content) < lines


def _texts(reader: Reader, path: str) -> Iterator[tuple[int, str]]:
    """Yield the operations and texts of a document, newest first."""
    for version in reader.record_versions(DocumentRecord, (path,)):
        yield version.operation, "" if version.value is None else version.value.content


def log_notices(space: str, part: Plan, operations: Mapping[str, int]) -> None:
    """Log the newer lines that saves of this part of a plan lack: the kept ones, and the lost ones with the undo."""
    log = logger("reveried.sync_service")
    for notice in part.notices:
        if notice.kept:
            log.info("a save lacks lines that its writer had not seen", space=space, path=notice.path, kept=notice.kept)
        if notice.left_out:
            undo = f"reverie undo {operations[notice.path]}"
            lines = notice.left_out
            log.warning("a save left out newer lines", space=space, path=notice.path, lines=lines, undo=undo)
