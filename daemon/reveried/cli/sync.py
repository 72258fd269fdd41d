"""`reverie sync`: status of folder and store, a scan on demand, and conflicts with both texts side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Literal

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reveried.cli.command import Answer, Argument, Ended, Limit, Option
from reveried.cli.ids import ID_END, all_items, by_end
from reveried.cli.output import clean, console, counted, print_fields, print_table, say, when
from reveried.cli.status import UNSYNCED, print_sync_status

_MISSING_MAX_S = 10.0  # wait at most so long for missing files to count as deleted; then the status lists them
_RESCAN_S = 0.5
CONTEXT_LINES = 2  # equal lines shown around a difference
WIDTH_MIN = 60  # characters of a terminal: less is not readable in two columns
WIDTH_MAX = 160  # also the width in a pipe
_GUTTER = 3  # characters between the columns: blank, mark, blank
ConflictId = Annotated[str, Argument("ID", "A conflict's id, or its last characters.")]


def status(client: Client) -> Answer:
    """Show whether folder and store agree.

    Example: reverie sync status
    """
    sync_status = client.sync_status()
    yield Ended(sync_status, 4 if sync_status.state in UNSYNCED else 0)
    print_sync_status(sync_status)


def now(
    client: Client,
    *,
    accept_deletions: Annotated[
        bool, Option("--accept-deletions", help="Files missing from the folder were deleted on purpose.")
    ] = False,
    accept_folder: Annotated[
        bool, Option("--accept-folder", help="Use the folder that is there now; deletes nothing.")
    ] = False,
    accept_older: Annotated[
        bool, Option("--accept-older", help="Take the older texts of a folder that was put back; undo reverts.")
    ] = False,
    put_back: Annotated[
        bool, Option("--put-back", help="Write the stored texts over older files, and missing files again.")
    ] = False,
    deep: Annotated[bool, Option("--deep", help="Read every file, even if mtime and size are unchanged.")] = False,
) -> Answer:
    """Scan the whole folder now, and wait until it and the store agree.

    Example: reverie sync now
    """
    outcome = client.sync_now(
        accept_deletions=accept_deletions,
        accept_folder=accept_folder,
        accept_older=accept_older,
        put_back=put_back,
        deep=deep,
    )
    outcome = _wait_for_missing(client, outcome)
    yield Ended(outcome, 4 if outcome.status.state in UNSYNCED else 0)
    say(_summary(outcome))
    if not _agrees(outcome.status) or outcome.status.left_out:
        print_sync_status(outcome.status)


def conflicts(
    client: Client,
    conflict: Annotated[str | None, Argument("[ID]", "Show this one, both texts side by side.")] = None,
    limit: Limit = 50,
) -> Answer:
    """List the conflicts, where a person and the store changed the same lines; with an id, show both texts.

    Example: reverie sync conflicts
    """
    if conflict is not None:
        yield from conflict_texts(client, _whole_id(client, conflict))
        return
    page = client.conflicts(limit=limit)
    yield page
    if not page.items:
        say("No conflicts.")
        return
    print_table(
        "Conflict, File*, Conflict copy*, Since, Regions>",
        [(item.id, item.path, item.copy or "-", when(item.opened_at), item.regions) for item in page.items],
        drop=(4, 3),
    )
    say("To see one: reverie sync conflicts ID   To resolve it: reverie sync resolve ID --keep file|store|both")


def resolve(
    client: Client,
    conflict: ConflictId,
    keep: Annotated[
        Literal["file", "store", "both"] | None,
        Option("--keep", metavar="SIDE", help="file (as it is), store (the other text) or both."),
    ] = None,
    content: Annotated[Path | None, Option("--content", metavar="FILE", help="A file with the resolved text.")] = None,
) -> Answer:
    """Resolve a conflict; undo reverts that.

    Example: reverie sync resolve ID --keep file
    """
    if keep is not None and content is not None:
        raise ValidationError("--keep and --content exclude each other", hint="give one of them")
    if keep is None and content is None:
        raise ValidationError("give --keep or --content", hint="reverie sync resolve ID --keep file|store|both")
    body = wire.Resolve(keep=keep, content=None if content is None else _read_text(content))
    answer = client.resolve(_whole_id(client, conflict), body)
    yield answer
    say(f"Resolved: {answer.path}. To revert that: reverie undo {answer.operation}")


def _read_text(path: Path) -> str:
    """Return a file's text.

    Raises:
        ValidationError: it cannot be read or is not UTF-8.
    """
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ValidationError(f"{path} cannot be read: {error.strerror}", hint="name a text file") from error
    except UnicodeDecodeError as error:
        raise ValidationError(f"{path} is not UTF-8 (byte {error.start})", hint="save it as UTF-8") from error


def _whole_id(client: Client, id_end: str) -> str:
    return by_end(all_items(client.conflicts), id_end, "open conflict", hint="reverie sync conflicts lists them").id


def conflict_texts(client: Client, name: str) -> Answer:
    """Show one conflict with both texts."""
    conflict = client.conflict(name)
    yield conflict
    print_fields(
        ("Conflict", conflict.id),
        ("File", conflict.path),
        ("Conflict copy", conflict.copy),
        ("Since", conflict.opened_at),
    )
    say()
    print_side_by_side("The file", conflict.file_text, "The store", conflict.store_text)
    say()
    say(f"To resolve it: reverie sync resolve {conflict.id[-ID_END:]} --keep file|store|both")


def _summary(outcome: wire.SyncOutcome) -> str:
    """Return what a scan did, in one sentence."""
    actions = [
        (outcome.adopted, "stored"),
        (outcome.written, "written"),
        (outcome.deleted, "deleted"),
        (outcome.conflicts, "in conflict"),
    ]
    parts = ", ".join(f"{number:,} {action}" for number, action in actions if number)
    if parts:
        return (f"{counted(outcome.read, 'file')} read" if outcome.read else "Files") + f": {parts}."
    return "Folder and store agree." if _agrees(outcome.status) else "No file was stored or written."


def _agrees(status: wire.SyncStatus) -> bool:
    return status.state == "ok" and not (status.pending or status.missing or status.refused)


def _wait_for_missing(client: Client, outcome: wire.SyncOutcome) -> wire.SyncOutcome:
    """Rescan until no file is missing any more (each counts as deleted after a while); return the sum of the scans."""
    deadline = time.monotonic() + _MISSING_MAX_S
    while outcome.status.state == "ok" and outcome.status.missing and time.monotonic() < deadline:
        time.sleep(_RESCAN_S)
        rescan = client.sync_now()
        outcome = wire.SyncOutcome(
            read=outcome.read + rescan.read,
            adopted=outcome.adopted + rescan.adopted,
            written=outcome.written + rescan.written,
            deleted=outcome.deleted + rescan.deleted,
            conflicts=outcome.conflicts + rescan.conflicts,
            status=rescan.status,
        )
    return outcome


def print_side_by_side(left_name: str, left: str, right_name: str, right: str) -> None:
    """Print two texts in two columns with a mark on each line that differs; long equal stretches are left out."""
    width = min(max(console().width, WIDTH_MIN), WIDTH_MAX)
    column = (width - _GUTTER) // 2
    say(f"{_padded(left_name, column)} | {right_name}".rstrip())
    say("-" * width)
    for mark, left_line, right_line in diff_rows(left, right):
        for left_part, right_part in zip_longest(_chop(left_line, column), _chop(right_line, column), fillvalue=""):
            say(f"{_padded(left_part, column)} {mark} {right_part}".rstrip())


def diff_rows(left: str, right: str) -> Iterator[tuple[str, str, str]]:
    """Yield aligned lines: a mark (` ` equal, `|` changed, `<` only left, `>` only right), left line, right line."""
    left_lines, right_lines = left.splitlines(), right.splitlines()
    matcher = SequenceMatcher(None, left_lines, right_lines, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            yield from _equal_rows(left_lines[i:i_end])
            continue
        for left_line, right_line in zip_longest(left_lines[i:i_end], right_lines[j:j_end]):
            mark = "<" if right_line is None else ">" if left_line is None else "|"
            yield mark, left_line or "", right_line or ""


def _equal_rows(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield equal lines; of a long stretch only the first and last CONTEXT_LINES."""
    if len(lines) <= 2 * CONTEXT_LINES + 1:
        yield from ((" ", line, line) for line in lines)
        return
    yield from ((" ", line, line) for line in lines[:CONTEXT_LINES])
    omitted = f"… {len(lines) - 2 * CONTEXT_LINES} equal lines …"
    yield " ", omitted, omitted
    yield from ((" ", line, line) for line in lines[-CONTEXT_LINES:])


def _chop(line: str, width: int) -> list[str]:
    """Split a line into parts of at most `width` terminal cells: a Chinese character takes two."""
    from rich.cells import chop_cells

    return chop_cells(clean(line), width) or [""]


def _padded(text: str, width: int) -> str:
    from rich.cells import cell_len

    return text + " " * (width - cell_len(text))
