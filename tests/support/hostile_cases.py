"""Hostile input: labelled document paths, spellings of path traversal, and JSON texts by the grammar of RFC 8259."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

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


class JsonCase(NamedTuple):
    """A text, and the reason for which it is refused, or None if it is read."""

    text: bytes
    reason: str | None


_NUMBERS: Final = (
    "0", "-0", "7", "-12", "1234567890", "0.5", "-0.25", "10.010", "1e5", "1E5", "1e+5", "1e-5", "2.5E+10", "-3.0e-2",
    "0e0", "0.0", "9007199254740993", "1.7976931348623157e308", "4.9e-324", "0E-10",
)  # fmt: skip
_STRINGS: Final = (
    '""', '"a"', '"\\""', '"\\\\"', '"\\/"', '"/"', '"\\b\\f\\n\\r\\t"', '"\\u0000"', '"\\u00e9"', '"\\u2028"',
    '"\\ud83d\\ude80"', '"\\uD834\\uDD1E"', '"é"', '"東京"', '"\u007f"', '"\u2029"', '"\U0001f680"', '"\\\\u0061"',
    '"\\uffff"', '"[]{},:"', '" "', '"\\u0022"',
)  # fmt: skip
_WHOLES: Final = (
    "null", "true", "false", "[]", "{}", "[[]]", "[{}]", '{"":0}', '{"a":{}}', "[1,2,3]", '{"a":1,"b":2}', " [ 1 ] ",
    "\t\r\n{}\n", '{ "a" : [ null , true ] }', "[[[[[]]]]]", '{"a":[{"b":[{"c":0}]}]}', '{"A":0,"a":1}', "[null,null]",
    '{"a b":1}', '{"\\u0000":1}',
)  # fmt: skip
_NO_NUMBERS: Final = (
    "+1", "-", "--1", "01", "-01", "00", ".5", "-.5", "1.", "1.e5", "1e", "1e+", "1E-", "1ee2", "1e1.5", "0x1F",
    "1_000", "1 000", "1,5", "Infinity", "-Infinity", "NaN", "-NaN", "inf", "1f", "0b1", "\uff11", "1/2", "$1",
    "1e\u0665",
)  # fmt: skip
_NO_STRINGS: Final = (
    '"', '"a', 'a"', "'a'", '"\\"', '"\\x41"', '"\\a"', '"\\0"', '"\\u"', '"\\u12"', '"\\u12G4"', '"\\U0041"', '"\n"',
    '"\t"', '"\r"', '"ab\x00c"', '"\x1f"', '"a"b"', '"a" "b"', '"\\ "', "`a`", "\u201ca\u201d", '"\\\u00e9"',
    '"\\u-041"',
)  # fmt: skip
_NO_WHOLES: Final = (
    "", " ", "\n", "nul", "nulll", "Null", "TRUE", "tru", "falsey", "undefined", "[", "]", "[1", "[1,", "[,", "[,1]",
    "[1,]", "[1,,2]", "[1 2]", "[1;2]", "[1}", "[[]", "[]]", "(1)", "{", "}", '{"a"', '{"a":', '{"a":1', '{"a":1,',
    '{"a":1,}', '{,"a":1}', '{"a":1,,"b":2}', '{"a" 1}', '{"a":1 "b":2}', '{"a"::1}', "{a:1}", "{1:1}", "{null:1}",
    '{"a":1]', "{[]:1}", '{"a"}', "[] []", "{}{}", "{} x", "1 2", "[]#", "/* c */ []", "[] // c", "[1]\x00", "\u00a0[]",
    "[\u2003]", "<a/>", "[\x0c]", "[\x0b1]", '{"a":}', '{:"a"}', "*", "[*]", "\\u005b\\u005d", "...", "[...]", "-[]",
)  # fmt: skip
_NO_UTF8: Final = (
    b'"\xff"', b'"\x80"', b'"\xc3"', b'"\xc0\xaf"', b'"\xe0\x80\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"',
    b'"\xf8\x88\x80\x80\x80"', b'"\xe6\x9d"', b'"caf\xe9"', "[1]".encode("utf-16"), "[1]".encode("utf-16-le"),
    "[1]".encode("utf-16-be"), b"\xef\xbb\xbf[]", b"[\xff]", b'{"\xff":1}',
)  # fmt: skip
_HALF_PAIRS: Final = (
    '"\\ud800"', '"\\udfff"', '"\\udc00\\ud800"', '"\\ud800\\ud800\\udc00"', '"\\ud800a"', '"\\ud800\\n"',
    '{"\\ud9ab":1}', '"\\uD800\\u0041"',
)  # fmt: skip
_TOO_LARGE: Final = ("1e309", "-1e999", "1e4000000", "1" + "0" * 400, "-" + "9" * 40, "18446744073709551616")
_REPEATED: Final = ('{"a":1,"a":1}', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"b":{"c":0,"c":0}}]', '{"":0,"":0}')
_ROUNDED: Final = ("1e-400", "-0.0e-9999", "0.1e-999999")  # a double rounds them to zero

JSON_CASES: Final[tuple[JsonCase, ...]] = (
    *(JsonCase(text.encode(), None) for text in (*_NUMBERS, *_STRINGS, *_WHOLES, *_ROUNDED)),
    *(JsonCase(f"[{one},{other}]".encode(), None) for one, other in itertools.pairwise((*_NUMBERS, *_STRINGS))),
    *(JsonCase(f'{{"k":{text}}}'.encode(), None) for text in (*_NUMBERS, *_STRINGS, *_WHOLES)),
    *(JsonCase(text.encode(), "malformed") for text in (*_NO_NUMBERS, *_NO_STRINGS, *_NO_WHOLES)),
    *(JsonCase(f"[{text}]".encode(), "malformed") for text in _NO_NUMBERS if text != "1,5"),
    *(JsonCase(text, "encoding") for text in _NO_UTF8),
    *(JsonCase(text.encode(), "lone_surrogate") for text in _HALF_PAIRS),
    *(JsonCase(text.encode(), "number_out_of_range") for text in _TOO_LARGE),
    *(JsonCase(text.encode(), "duplicate_key") for text in _REPEATED),
    *(JsonCase(opening * 200 + closing * 200, "too_deep") for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"))),
    *(JsonCase(opening * 100_000, "too_deep") for opening in (b"[", b'[{"":')),
)
