"""JSON texts by the grammar of RFC 8259: valid ones, invalid ones, and those that a parser may decide."""

from __future__ import annotations

import itertools
from typing import Final, NamedTuple


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
