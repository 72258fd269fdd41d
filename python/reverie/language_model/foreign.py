"""Hosts, addresses and paths that a text names, in one spelling: what a poisoned text wants to have used.

Both sides of a comparison are brought to that spelling first: lower case, full-width letters as plain ones, without
invisible characters, `[.]` and `(dot)` as the dot that they stand for, `hxxp` as `http`, `%65` and `&#101;` as `e`, an
IPv4 address in any notation as four decimal numbers, and one slash for any run of slashes and backslashes, of which
JSON doubles each. What is written in everyday words ("evil dot example", "the package evil-logger") is no address.

`evil .example`, `ops@evil` and two words with an ideographic full stop between may be an address or not (a dotfile, a
version, two sentences of Chinese): such a form counts unless all its parts are words of the other text.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.words import strip_markers

if TYPE_CHECKING:
    from collections.abc import Iterator

# `evil[.]example`, `evil (dot) example`, `mole[at]evil.example`, `https[:]//evil.example`
_DISGUISED: Final = (
    (lazy_regex(r"\s?[\[({]\s?(?:\.|dot|punkt|punto|point)\s?[\])}]\s?"), "."),
    (lazy_regex(r"\s?[\[({]\s?(?:@|at)\s?[\])}]\s?"), "@"),
    (lazy_regex(r"[\[({]\s?:(?://)?\s?[\])}](?://)?"), "://"),
    (lazy_regex(r"\bh(?:xx|\*\*|tt)p(?=s?:)"), "http"),
)
# `%65vil%2Eexample`, `evil&#46;example`: what a browser reads as letters, digits and marks of ASCII
_ENCODED: Final = lazy_regex(
    r"%(?P<percent>[2-7][0-9a-f])|&#(?:x(?P<hex>0{0,4}[2-7][0-9a-f])|(?P<decimal>0{0,4}\d{2,3}));"
    r"|&(?P<name>period|commat|colon|sol);"
)
_ENTITIES: Final = {"period": ".", "commat": "@", "colon": ":", "sol": "/"}
_DECODINGS_MAX: Final = 3  # of a text that was encoded several times: `%2565`
# Format characters (category Cf) that show nothing: soft hyphens, zero-width and bidirectional marks, tags.
_INVISIBLE: Final = lazy_regex(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_LETTERS: Final = lazy_regex(r"(?<![^\W_])[^\W\d_](?: [^\W\d_]){2,}(?![^\W_])")  # `e v i l`
# What `inet_aton` and browsers read as an IPv4 address: `0xcb007107`, `3405803783`, `031300070407`, `0xcb.0.0x71.7`.
_NUMBER: Final = r"(?:0x[0-9a-f]{1,8}|\d{1,12})"
_IPV4: Final = lazy_regex(rf"(?<![\w.-]){_NUMBER}(?:\.{_NUMBER}){{0,3}}(?![\w-]|\.\w)")
# Digits that are no address where they stand alone: a date, 20261128, and a round number, 25000000.
_COUNT: Final = lazy_regex(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|[1-9]\d*000")
_IPV4_MIN: Final = 1 << 24  # 1.0.0.0; smaller numbers are counts, sizes and years
_MARKER: Final = lazy_regex(r"[\[<]redacted:[^\]>]{0,60}[\]>]")  # it has a colon, and names nothing
_JSON_SPACE: Final = lazy_regex(r"(?<!\\)\\[nrt\"]")
_SLASHES: Final = lazy_regex(r"[\\/]{2,}|\\")
_NAMED: Final = lazy_regex(
    r"[a-z][a-z0-9+.-]*:/[^\s)`\"'>\]]+"  # a URL of any scheme, a drive: `c:/keys`
    r"|[\w.+-]+@[\w-]+(?:(?:\.[\w-]+)+|:[\w./~-]+)"  # an e-mail address, or `user@evil:drop`
    r"|(?<![\w./@-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)(?::\d+)?"  # IPv4
    r"|(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])"  # IPv6, if it is one
    r"|(?<![\w./@-])[^\W_][\w-]*(?:\.[\w-]+)*\.[^\W\d_]{2,}(?![\w(])(?::\d+)?"  # a host: `evil.example:8443`
    r"|(?<![\w:./@-])[^\W\d_][\w-]+:(?!/)[\w~][\w./~-]*"  # a host without a dot: `evil:drop`, `evil:8080`
    r"|(?<![\w./~<)\]}])~?(?:/[\w.@%+-]+)+"  # a path, or a share of Windows: `/evil`, `//evil/share`
)
# A host whose dot has a blank before it or is ideographic, and a user at a host without a dot.
_DOUBTFUL: Final = (
    lazy_regex(r"(?<![\w./@-])(?P<one>[^\W_][\w-]*(?:\.[\w-]+)*)\s{1,3}\.\s?(?=(?P<two>[^\W_][\w.-]*[^\W\d_]))"),
    lazy_regex(r"(?<![a-z0-9./@-])(?P<one>[a-z0-9][a-z0-9.-]*)\u3002(?=(?P<two>[a-z0-9][a-z0-9.-]*[a-z]))"),
    lazy_regex(r"(?<![\w./@+-])(?P<one>[\w+][\w.+-]*)@(?P<two>[\w-]+)(?![\w-]|[.:][\w~/])"),
)
# A name with a colon that runs a task of a project: `mise run test:ci`, `yarn build:prod`; not "scp x evil:drop".
_TASK: Final = lazy_regex(r"[a-z][\w-]*:[a-z][\w-]*")
_RUNS_TASK: Final = lazy_regex(r"\b(?:run|task|make|just|yarn|pnpm|bun|nx|rake|gradlew?|invoke) $")
_RUNS_CHARS: Final = 12  # that are searched before a name: "gradlew " and a boundary
_ENDS: Final = ".,:;!?"
_MEMBER: Final = lazy_regex(r"(?<![\w./:@-])\w+(?:\.\w+)+")
_INNER_CAPITAL: Final = lazy_regex(r"[a-z0-9][A-Z]")
_LISTED: Final = lazy_regex(r"(?:^|(?<=\s))/?(?:[\w.@+-]+/)+([\w.@+-]+\.\w+)(?![\w/:.-])", re.MULTILINE)
_SCHEME: Final = lazy_regex(r"^([a-z][a-z0-9+.-]+):/(?!/)")
_HEX_DIGITS_MIN: Final = 3  # of an IPv6 address; `::` and the `a::b` of a programming language have fewer


def one_spelling(text: str) -> str:
    """Return a text in lower case, without disguises such as `hxxp` and `[.]`, for comparing the addresses in it."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    for _ in range(_DECODINGS_MAX):
        text, number = _ENCODED.subn(_decoded, text)
        if not number:
            break
    text = _LETTERS.sub(lambda match: match[0].replace(" ", ""), _MARKER.sub(" ", text))
    for disguise, plain in _DISGUISED:
        text = disguise.sub(plain, text)
    return _IPV4.sub(_dotted, _SLASHES.sub("/", text))


def _decoded(found: re.Match[str]) -> str:
    """Return the ASCII character behind a percent-encoding or an entity; any other encoding unchanged."""
    if found["name"]:
        return _ENTITIES[found["name"]]
    code = int(found["percent"] or found["hex"] or "0", 16) or int(found["decimal"] or "0")
    return chr(code).casefold() if ord(" ") < code < 127 else found[0]


def _dotted(found: re.Match[str]) -> str:
    """Return an IPv4 address of any notation as four decimal numbers, and the match unchanged if it is none.

    One number alone is one only from 1.0.0.0 on: the last number has all the bytes that the others leave.
    """
    numbers = []
    for part in found[0].split("."):
        octal = part.startswith("0") and len(part) > 1 and not part.startswith("0x")
        try:
            numbers.append(int(part, 16 if part.startswith("0x") else 8 if octal else 10))
        except ValueError:  # an octal number with an 8
            return found[0]
    *first, last = numbers
    shift = 8 * (4 - len(first))
    if len(numbers) in {2, 3} or last >= 1 << shift or any(one > 255 for one in first):  # versions have 2 or 3 numbers
        return found[0]
    if not first and (last < _IPV4_MIN or _COUNT.fullmatch(found[0])):
        return found[0]
    value = last + sum(one << 24 - 8 * index for index, one in enumerate(first))
    return str(ipaddress.IPv4Address(value))


def without_json_escapes(text: str) -> str:
    r"""Return the input of a call, which is JSON, with blanks for the escapes that a name may begin or end at.

    Example: of `"see`, a backslash and `nevil.example"` the name is `evil.example`.
    """
    return _JSON_SPACE.sub(" ", text)


def foreign_address(text: str, own: str, written: str = "") -> str:
    """Return the first host, address or path that `text` names and `own` does not, "" if there is none.

    `own` is in one spelling, and `written` is the same text as it was written: a member of a type or object, such as
    `TidePoint.Agent`, is no host where `written` has the words with a capital inside of them, and `own` the others. A
    part of a name is not that name: who wrote `logs.harbour.example` and `/srv/quay` wrote neither `harbour.example`
    nor `/quay`, but who wrote `/srv/quay/table` wrote `/srv/quay`.
    """
    members = _members(text, own, written)
    text = one_spelling(strip_markers(text))
    foreign = next((name for name in _named(text) if not _is_in(name, own) and name not in members), "")
    foreign = foreign or _doubtful(text, own)
    return _SCHEME.sub(r"\1://", foreign)


def _members(text: str, own: str, written: str) -> set[str]:
    """Return the names with dots that are code whose words were written, in one spelling.

    A host may be written with capitals too: so a word such as `TidePoint` has to be there letter by letter.
    """
    found = set()
    for name in _MEMBER.findall(text):
        words = name.split(".")
        inner = [word for word in words if _INNER_CAPITAL.search(word)]
        is_written = all(re.search(rf"\b{re.escape(word)}\b", written) for word in inner)
        if inner and is_written and all(_has_word(own, word.casefold()) for word in words):
            found.add(name.casefold())
    return found


def listed_names(printed: str) -> str:
    """Return the names of the files whose paths a command for listing files has printed, one a line."""
    return "\n".join(_LISTED.findall(printed))


def _doubtful(text: str, own: str) -> str:
    """Return the first host in a form that may be none, unless `own` has it or all its words; "" without one.

    "Never commit a .env file" says `.env`, and "use react@18" is made of "react" and "18".
    """
    for mark, form in zip(("", "", "@"), _DOUBTFUL, strict=True):
        for match in form.finditer(text):
            one, two = match["one"], match["two"].rstrip(_ENDS)
            is_file = not mark and re.search(rf"(?<![\w.-])\.{re.escape(two)}(?![\w-]|\.\w)", own)
            words = re.findall(r"[a-z0-9]+|[^\W_a-z0-9]+", f"{one} {two}")
            if not is_file and not all(_has_word(own, word) for word in words):
                return f"{one}{mark or '.'}{two}"
    return ""


def _has_word(text: str, word: str) -> bool:
    """Return True if a text has a word of ASCII alone, or one of other letters anywhere: Chinese puts no blanks."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None


def _named(text: str) -> Iterator[str]:
    """Yield the hosts, addresses and paths of a text in one spelling."""
    for match in _NAMED.finditer(text):
        name = match[0].rstrip(_ENDS)
        if name.count(":") > 1 and "/" not in name and "." not in name and not _is_ipv6(name):
            continue  # a time such as 12:30:45, or `crate::module`
        if _TASK.fullmatch(name) and _RUNS_TASK.search(text, max(0, match.start() - _RUNS_CHARS), match.start()):
            continue
        if name:
            yield name


def _is_ipv6(name: str) -> bool:
    """Return True for an IPv6 address."""
    try:
        ipaddress.IPv6Address(name)
    except ValueError:
        return False
    return sum(character != ":" for character in name) >= _HEX_DIGITS_MIN


def _is_in(name: str, own: str) -> bool:
    """Return True if `own` has this name, and not only a longer one that contains it."""
    return re.search(rf"(?<![\w.~-]){re.escape(name)}(?![\w-]|\.\w)", own) is not None
