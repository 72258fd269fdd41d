"""Validation of relative paths inside a space's folder."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

PATH_BYTES_MAX = 1024
SEGMENT_BYTES_MAX = 255
DEPTH_MAX = 32
DOCUMENT_SUFFIXES: frozenset[str] = frozenset({".md", ".txt"})

_RESERVED = lazy_regex(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_HIDDEN = lazy_regex(r"\.(?!\.\w)")  # `.x`, `..` and `...` are hidden; `..user.md` is an ordinary name
_SHORT_NAME = lazy_regex(r"[^.]*~[0-9]+(?:\.[^.]*)?")  # FACTS~1, a short (8.3) alias of another name on Windows
_ENCODED = lazy_regex(r"%[0-9A-Fa-f]{2}|%u[0-9A-Fa-f]{4}|&#|&[A-Za-z]+;")
_TEMPORARY = lazy_regex(r".*(?:~|\.tmp(?:[\d._-].*)?|\.swp|\.swo|\.bak)|#.*#", re.IGNORECASE)
# Letters, digits, `_` and `-`, and one suffix: only a reserved word can be wrong with it. A fast path for most names.
_ORDINARY = lazy_regex(r"[A-Za-z0-9_-]+(?:\.(?!tmp|swp|swo|bak)[A-Za-z]+)?", re.ASCII | re.IGNORECASE)
_FORBIDDEN = frozenset('\\:<>"|?*')  # not allowed in file names on other systems
_SHELL = frozenset("~$")  # a shell expands them to a home folder or a variable
_STRUCTURAL = frozenset("./\\:%~")
# They look like `/`, `\` or `.`; NFKC does not map all of them to these.
_LOOK_ALIKES = frozenset("\u2215\u2044\u29f8\u29f9\u2216\u2571\u2572\u27cb\u27cd\ufe68\u2024\u2025\u2026")
_REASONS = {
    "empty": "it is empty",
    "too_long": f"it has more than {PATH_BYTES_MAX} bytes, or a name in it more than {SEGMENT_BYTES_MAX}",
    "too_deep": f"it has more than {DEPTH_MAX} parts",
    "absolute": "it does not begin in the folder of the space",
    "encoded": "it has an escape of a URL or of HTML",
    "not_canonical": "it has an empty part",
    "hidden": "a name in it begins with a dot",
    "not_portable": "a name in it is not possible on every system",
    "not_nfc": "a name in it is not in Unicode's normal form NFC",
    "control": "it has a character that cannot be seen",
    "look_alike": "it has a character that looks like a separator",
    "temporary": "a name in it is that of a temporary file or of an editor's copy",
    "folder": "a folder in it has a file's ending",
    "suffix": f"it does not end with {' or '.join(sorted(DOCUMENT_SUFFIXES))}",
    "reserved": "only Reverie writes this file",
}  # what the error says for each `details.reason`
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def safe_relative(path: str, *, suffixes: Collection[str] | None = DOCUMENT_SUFFIXES) -> PurePosixPath:
    """Validate `path` as a relative path in a space's folder that names the same file on every system.

    Nothing is decoded, normalized or resolved: a path that would need it is rejected by a ValidationError with
    `details.reason`. `suffixes` are the file suffixes allowed, which no folder may have; None allows any (files that an
    agent hands over for reading). The file system is not accessed: `sync.root` and `files.*_beneath` reject symbolic
    links when the path is used.
    """
    if not path:
        raise _error(path, "empty")
    if _byte_length(path) > PATH_BYTES_MAX:
        raise _error(path, "too_long")
    segments = path.split("/")
    if len(segments) > DEPTH_MAX:
        raise _error(path, "too_deep")
    if path[0] == "/" or path[0] in _SHELL:
        raise _error(path, "absolute")
    if _ENCODED.search(path):
        raise _error(path, "encoded")
    for segment in segments:
        reason = segment_error(segment)
        if reason is not None:
            raise _error(path, reason)
    relative = PurePosixPath(path)
    if suffixes is not None and any(folder.endswith(tuple(suffixes)) for folder in segments[:-1]):
        raise _error(path, "folder")
    if suffixes is not None and relative.suffix not in suffixes:
        raise _error(path, "suffix")
    if is_reserved(relative):
        raise _error(path, "reserved")
    return relative


def segment_error(segment: str, *, first: bool = False) -> str | None:
    """Return why a path segment is not allowed, as a reason of `safe_relative` (`hidden`, `temporary`, ...), or None.

    `first`: it is the first segment, which a shell must not expand.
    """
    if first and segment[:1] in _SHELL:
        return "absolute"
    if _ORDINARY.fullmatch(segment) and len(segment) <= SEGMENT_BYTES_MAX and not _RESERVED.fullmatch(segment):
        return None
    if segment == "":
        return "not_canonical"
    if _byte_length(segment) > SEGMENT_BYTES_MAX:
        return "too_long"
    if _ENCODED.search(segment):
        return "encoded"
    if _HIDDEN.match(segment):
        return "hidden"
    if segment != segment.strip() or segment.endswith("."):
        return "not_portable"
    if unicodedata.normalize("NFC", segment) != segment:
        return "not_nfc"
    if any(char != " " and unicodedata.category(char) in _REFUSED_CATEGORIES for char in segment):
        return "control"
    if any(_looks_structural(char) for char in segment if not char.isascii()):
        return "look_alike"
    if not _FORBIDDEN.isdisjoint(segment) or _RESERVED.fullmatch(segment) or _SHORT_NAME.fullmatch(segment):
        return "not_portable"
    if _TEMPORARY.fullmatch(segment):
        return "temporary"
    return None


def fold_name(name: str) -> str:
    """Return a name folded for case and Unicode normalization: equal results are one file on other systems."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())


def existing_spelling(path: str, others: Iterable[str]) -> str | None:
    """Return `path` in the spelling of one of `others` with which it would collide on other systems, or None.

    Folders count too: FACTS/user.md collides with the folder of facts/project.md and becomes facts/user.md.
    """
    segments = path.split("/")
    folded = [fold_name(segment) for segment in segments]
    for other in others:
        for number, (existing, segment, key) in enumerate(zip(other.split("/"), segments, folded, strict=False)):
            if existing == segment:
                continue
            if fold_name(existing) == key:
                return "/".join([*segments[:number], existing, *segments[number + 1 :]])
            break
    return None


def same_file(path: str, others: Iterable[str]) -> str:
    """Return that of `others` which is one file with `path` on other systems, else `path`."""
    key = fold_name(path)
    return next((other for other in others if fold_name(other) == key), path)


def is_reserved(relative: PurePosixPath) -> bool:
    """Return whether only Reverie writes this path: machine index, archives, JSON projection, the `.reverie` folder."""
    return relative.parts[0].casefold() in {"archives", "memory-index.json", ".reverie"} or (
        relative.as_posix().casefold() == "memory/long-term-memory.json"
    )


def _looks_structural(char: str) -> bool:
    """Return whether a character looks like, or normalizes to, a separator or another structural character."""
    return char in _LOOK_ALIKES or not _STRUCTURAL.isdisjoint(unicodedata.normalize("NFKC", char))


def _error(path: str, reason: str) -> ValidationError:
    """Return the error for a rejected path."""
    shown = ascii(path if len(path) <= 80 else path[:80] + "...")
    return ValidationError(
        f"{shown} cannot be a path in a space: {_REASONS[reason]}",
        hint="use a plain relative name such as facts/user.md",
        reason=reason,
    )


def _byte_length(text: str) -> int:
    """Return the length in UTF-8 bytes; surrogates count 3."""
    return len(text.encode("utf-8", "surrogatepass"))
