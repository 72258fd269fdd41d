"""Generated path traversal names: every spelling of `..` and `/`, to every depth, towards well-known files."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Final

from support.shared import shared_files

_PARENTS: Final = (
    "..", "%2e%2e", "%252e%252e", ".%2e", "..%00", "..;", "...", "....", "\uff0e\uff0e", "\u2025", "%c0%ae%c0%ae",
    "%u002e%u002e", "&#46;&#46;", ".\t.", ". .", "..\udcff",
)  # fmt: skip
_SEPARATORS: Final = ("/", "\\", "//", "%2f", "%5c", "%252f", "\\/", "%c0%af", "\u2215", "\uff0f")
_TARGETS: Final = ("etc/passwd", "proc/self/environ", "windows/win.ini", "outside", "home/ann/.ssh/id_ed25519", "log")
_PREFIXES: Final = ("", "/", "./", "file://", "C:\\", "\\\\host\\share\\", "facts/", "~/", "%00")
_SUFFIXES: Final = ("", "%00", "\0", "%00.md", "?", "#", " ", ".")
_DEPTHS: Final = (1, 2, 3, 6, 9)


@functools.cache
def payloads() -> tuple[str, ...]:
    """Return every generated name once, then the lines of the measurement data; undecodable bytes as surrogates."""
    lines = dict.fromkeys(itertools.chain(_climbing(), _decorated()))
    for path in shared_files("data/paths", "*"):
        lines.update(dict.fromkeys(line.decode("utf-8", "surrogateescape") for line in path.read_bytes().splitlines()))
    return tuple(lines)


def forms(payload: str) -> Iterator[str]:
    """Yield the payload itself, and names of documents that contain it."""
    yield payload
    for form in ("{}/user.md", "facts/{}", "facts/{}.md", "{}.md"):
        yield form.format(payload)


def _climbing() -> Iterator[str]:
    """Yield names that climb: the same parent and separator repeated to some depth, then a target."""
    for parent, separator, depth, target in itertools.product(_PARENTS, _SEPARATORS, _DEPTHS, _TARGETS):
        yield (parent + separator) * depth + target.replace("/", separator)


def _decorated() -> Iterator[str]:
    """Yield names with a prefix and suffix around a path, some of which climb out, and ordinary document names."""
    for prefix, target, suffix, depth in itertools.product(_PREFIXES, _TARGETS, _SUFFIXES, (0, 0, 1, 4)):
        yield f"{prefix}{'../' * depth}{target}{suffix}"
    for number, target in itertools.product(range(60), _TARGETS):  # ordinary names that a document may have
        yield f"{target.replace('.', '').replace('/', '-')}-{number}"
