"""Privacy settings: folders that are ignored, and times in which no session is recorded.

Both apply to the lines of transcripts, wherever they come from: a session that is followed and a file that is imported
later. So what was said during a pause is not stored by an import of the whole file either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reverie.errors import Conflict, NotFound, ValidationError
from reverie.importers.detect import folder_of
from reverie.store import PrivacyCursor
from reverie.usecases.by import By, writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.models import Entry
    from reverie.store import Reader, Writer

IGNORED_MAX: Final = 1_000  # folders
PAUSES_MAX: Final = 1_000  # the oldest are forgotten: lines of that time are in the store, or their files are gone


def settings(reader: Reader) -> PrivacyCursor:
    """Return the folders that are ignored and the pauses of a space."""
    return reader.load(PrivacyCursor, PrivacyCursor.KEY) or PrivacyCursor()


def is_paused(pauses: Sequence[tuple[str, str | None]]) -> bool:
    """Return True while recording is paused."""
    return bool(pauses) and pauses[-1][1] is None


def is_ignored(folder: str | None, ignored: Iterable[str]) -> bool:
    """Return True for an ignored folder and every one below it."""
    if folder is None:
        return False
    return any(folder == path or folder.startswith(path.rstrip("/") + "/") for path in ignored)


def recordable(
    entries: Sequence[Entry],
    ignored: Sequence[str],
    pauses: Sequence[tuple[str, str | None]],
    *,
    at: str,
    folder: str | None = None,
) -> Iterator[Entry]:
    """Yield the entries that may be stored: of no ignored folder, and of no time in which recording was paused.

    An entry without a time is of the time of the one before it, and the first ones are of `at`, the time of the import:
    a followed line is read when it is written. An entry without a folder is of the folder of the one before it;
    `folder` is that of the first ones.
    """
    if not ignored and not pauses:
        yield from entries
        return
    for entry in entries:
        at, folder = entry.at or at, folder_of(entry.extra) or folder
        if not is_ignored(folder, ignored) and not in_pause(at, pauses):
            yield entry


def in_pause(at: str, pauses: Sequence[tuple[str, str | None]]) -> bool:
    """Return True for a time (RFC 3339 UTC) in which nothing of a session is recorded."""
    return any(begin <= at and (end is None or at < end) for begin, end in pauses)


@writes("privacy.pause")
def pause(to: Writer, _: By) -> PrivacyCursor:
    """Pause the recording of sessions. Raises Conflict where it is paused already."""
    here = settings(to)
    if is_paused(here.pauses):
        raise Conflict("recording is paused already", hint="reverie resume goes on")
    return _saved(to, replace(here, pauses=[*here.pauses, (to.at, None)][-PAUSES_MAX:]))


@writes("privacy.resume")
def resume(to: Writer, _: By) -> PrivacyCursor:
    """End a pause. Raises Conflict where recording is not paused."""
    here = settings(to)
    if not is_paused(here.pauses):
        raise Conflict("recording is not paused", hint="reverie pause stops it")
    return _saved(to, replace(here, pauses=[*here.pauses[:-1], (here.pauses[-1][0], to.at)]))


@writes("privacy.ignore")
def change_ignored(to: Writer, _: By, path: str, *, remove: bool) -> PrivacyCursor:
    """Ignore the folder at an absolute path, or no longer.

    Raises NotFound for the removal of a folder that is not ignored, ValidationError for one too many.
    """
    here = settings(to)
    if remove and path not in here.ignored:
        raise NotFound(f"{path} is not ignored", hint="reverie ignore lists the folders that are")
    if len(here.ignored) >= IGNORED_MAX and not remove:
        raise ValidationError(f"{IGNORED_MAX} folders are ignored already", hint="ignore a folder above them")
    ignored = [folder for folder in here.ignored if folder != path] + ([] if remove else [path])
    return _saved(to, replace(here, ignored=ignored))


def _saved(writer: Writer, settings: PrivacyCursor) -> PrivacyCursor:
    writer.save(settings, PrivacyCursor.KEY)
    return settings
