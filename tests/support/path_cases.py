"""Labelled document paths: to be accepted, to be refused, or free to be either, but never accepted in another form."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Final

from support.shared import shared_files, shared_rows

_ACCEPT: Final = (
    "a.md", "notes.txt", "facts/team.md", "episodes/2027-11.md", "tidewatch/gauges/north.md", "facts/..draft.md",
    "facts/team..md", "facts/v2.10.md", "facts/two words.md", "facts/under_score-1.md", "facts/50%.md",
    "facts/[draft].md", "facts/it's.md", "facts/#topic.md", "facts/über.md", "facts/smörgåsbord.md", "ノート/計画.md",
    "заметки/план.md", "σημειώσεις.md", "1/2/3/4/5/6/7/8/9/10/x.md", "a" * 250 + ".md", "facts/console.md",
    "facts/com10.md", "facts/auxiliary.md", "facts/a+b=c.md", "facts/a,b;c.md", "UPPER.md", "facts/x.y.z.md",
)  # fmt: skip
_NOT_CANONICAL: Final = (
    "", ".", "..", "/", "//", "./", "../", "./a.md", "../a.md", "../../a.md", "facts/", "facts//a.md", "facts/./a.md",
    "facts/../a.md", "facts/../../a.md", "facts/sub/../../../a.md", "facts/..", "facts/.", "../default/a.md",
    "../default-old/a.md", "a.md/", "a.md/..", "a/../../b/../../c.md", ".../a.md", "....//a.md", "..;/a.md",
    "facts/.. /a.md", "facts/ ../a.md", "..\t/a.md",
)  # fmt: skip
_ABSOLUTE: Final = (
    "/a.md", "/etc/hosts", "//server/share/a.md", "~", "~/a.md", "~ann/a.md", "$HOME/a.md", "${HOME}/a.md",
    "file:///etc/hosts", "http://example.org/a.md", "\\\\server\\share\\a.md", "/proc/self/environ", "/dev/null",
)  # fmt: skip
_WINDOWS: Final = (
    "C:\\a.md", "c:a.md", "C:/a.md", "..\\a.md", "facts\\a.md", "facts\\..\\a.md", "nul.md", "NUL.md", "con.md",
    "Con.txt", "aux.md", "prn.md", "com1.md", "LPT9.txt", "facts/aux.md", "conin$.md", "clock$.md", "com\u00b9.md",
    "FACTSF~1.md", "a.md:stream", "a.md::$DATA", "a.md.", "a.md ", " a.md", "facts /a.md", "facts./a.md", "a?.md",
    "a*.md", "a|b.md", "a<b.md", 'a"b.md',
)  # fmt: skip
_ENCODED: Final = (
    "%2e%2e/a.md", "%2E%2E%2Fa.md", "..%2fa.md", "..%5ca.md", "%252e%252e%252fa.md", "facts%2fa.md",
    "%u002e%u002e/a.md",
    "..%c0%afa.md", "&#46;&#46;/a.md", "&sol;a.md", "a%00.md", "facts/%41.md", "&#x2e;&#x2e;/a.md",
)  # fmt: skip
_UNICODE: Final = (
    "\u2025/a.md", "\u2026/a.md", "\uff0e\uff0e/a.md", "facts\u2215a.md", "facts\u2044a.md", "facts\uff0fa.md",
    "facts\uff3ca.md", "facts\u29f8a.md", "a\u200b.md", "a\u202egpj.md", "a\u2066.md", "\ufeffa.md", "a\u0000.md",
    "a\u0007.md", "a\n.md", "a\u007f.md", "a\u2028.md", "a\u00a0.md", "cafe\u0301.md", "\u212bngstrom.md", "x\ud83d.md",
    "\u1100\u1161.md", "a\ue000.md", "\uff5e/a.md",
)  # fmt: skip
_RESERVED: Final = (
    ".hidden.md", ".git/a.md", "facts/.a.md", "facts/.cache/a.md", "a.md~", "a.md.bak", "a.md.tmp", "a.swp", "#a.md#",
    "a", "a.exe", "a.md.sh", "facts/a.json", "a.MD", "facts.md/a.md", "archives/a.md", "Archives/a.md",
    "MEMORY-INDEX.json", ".reverie", ".reverie/a.md", "a.md.swo", "facts/.DS_Store",
)  # fmt: skip
_TOO_LONG: Final = (
    "a" * 253 + ".md", "é" * 127 + ".md", "facts/" + "b" * 400 + ".md", "a/" * 600 + "x.md", "a/" * 33 + "x.md",
)  # fmt: skip
_EITHER: Final = (
    "-rf.md", "--help.md", "facts/-n.md", "a;reboot.md", "a&b.md", "a`id`.md", "a$(id).md", "facts/$HOME.md",
    "{a,b}.md",
    "[a-z].md", "!a.md", "a\u20ac.md", "facts/~a.md", "@a.md", "a'b'c.md", "=1+1.md",
)  # fmt: skip

PATH_CASES: Final[tuple[tuple[str, str], ...]] = (
    *((path, "accept") for path in _ACCEPT),
    *(
        (path, "reject")
        for group in (_NOT_CANONICAL, _ABSOLUTE, _WINDOWS, _ENCODED, _UNICODE, _RESERVED, _TOO_LONG)
        for path in group
    ),
    *((path, "either") for path in _EITHER),
)
"""Each name with its expected verdict: accept, reject or either."""


def all_path_cases() -> list[tuple[str, str]]:
    """Return our labelled paths, then those of the measurement data where it is present."""
    return [*PATH_CASES, *((row["path"], row["expect"]) for row in shared_rows("data/cases/paths.jsonl"))]


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
