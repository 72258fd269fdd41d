"""Decides what happens to each file of a space's folder, so that nobody's edit is ever overwritten.

A file is ours as long as its bytes are those that were last written. A file that somebody changed, made or removed is
left alone; if there is something new to say, it goes beside it as `name.reverie-new.md`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Action", "Leave", "Nothing", "Remove", "Write", "beside", "plan", "published_after", "watched"]

_MARK = ".reverie-new"


@dataclass(frozen=True, slots=True)
class Write:
    """Write these bytes; whatever is there now was last written by us, or nothing is."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Leave:
    """Somebody else's bytes: not touched. `beside` names the file that has what we would have written, if anything."""

    path: str
    beside: str | None


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove it: it is as we wrote it, and no longer wanted."""

    path: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """It is as it should be; `sha256` is what is there, None when it is gone and should be."""

    path: str
    sha256: str | None


Action: TypeAlias = Write | Leave | Remove | Nothing


def plan(
    desired: Mapping[str, bytes], published: Mapping[str, str], on_disk: Mapping[str, str | None]
) -> tuple[Action, ...]:
    """One action for each path that is wanted or was written, by path; files to be put beside others included.

    `published` has the SHA-256 of what was last written, `on_disk` of what is there now; `watched` says of which
    paths.
    """
    mains = [_judge(path, desired.get(path), published, on_disk) for path in _mains(desired, published)]
    wanted = {action.beside: desired[action.path] for action in mains if isinstance(action, Leave) and action.beside}
    others = {path for path in published if _is_beside(path) and path not in desired} | wanted.keys()
    sides = [_judge(path, wanted.get(path), published, on_disk) for path in others]
    # A file beside that somebody edited is left as well, and gets none beside itself.
    told = [Leave(side.path, None) if isinstance(side, Leave) else side for side in sides]
    return tuple(sorted((*mains, *told), key=lambda action: action.path))


def watched(desired: Iterable[str], published: Iterable[str]) -> list[str]:
    """Every path whose bytes `plan` needs to know."""
    paths = set(desired) | set(published)
    return sorted(paths | {beside(path) for path in paths if not _is_beside(path)})


def published_after(published: Mapping[str, str], done: Iterable[Action]) -> dict[str, str]:
    """What was last written at each path, once these actions were carried out."""
    after = dict(published)
    for action in done:
        match action:
            case Write(path, data):
                after[path] = _sha256(data)
            case Nothing(path, str() as sha256):
                after[path] = sha256
            case Nothing(path) | Remove(path):
                after.pop(path, None)
            case Leave():
                pass
    return after


def beside(path: str) -> str:
    """The name beside a file: `facts/user.md` -> `facts/user.reverie-new.md`."""
    name = PurePosixPath(path)
    return str(name.with_name(f"{name.stem}{_MARK}{name.suffix}"))


def _is_beside(path: str) -> bool:
    return PurePosixPath(path).stem.endswith(_MARK)


def _mains(desired: Mapping[str, bytes], published: Mapping[str, str]) -> list[str]:
    return sorted({*desired, *(path for path in published if not _is_beside(path))})


def _judge(path: str, wanted: bytes | None, published: Mapping[str, str], on_disk: Mapping[str, str | None]) -> Action:
    """The table: wanted or not, written before or not, there or not, and whose bytes they are."""
    new = None if wanted is None else _sha256(wanted)
    last, there = published.get(path), on_disk.get(path)
    if there == new:
        return Nothing(path, new)
    if wanted is None:
        if there is None:
            return Nothing(path, None)
        return Remove(path) if there == last else Leave(path, None)
    if there == last:  # as we left it, or neither written nor there
        return Write(path, wanted)
    # Somebody changed, made or removed it. What they have seen already is not put beside it.
    return Leave(path, None if new == last else beside(path))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
