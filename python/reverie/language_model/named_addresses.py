"""Hosts, addresses and paths that a text names, in one spelling: what a poisoned text wants to have used.

Both sides of a comparison are brought to that spelling first: lower case, full-width letters as plain ones, `[.]` and
`(dot)` as the dot that they stand for, `hxxp` as `http`, and one slash for any run of slashes and backslashes, of which
JSON doubles each. What is written in everyday words ("evil dot example", "the package evil-logger") is no address.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.sentence_word_analysis import strip_markers

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["foreign_address", "one_spelling", "without_json_escapes"]

# `evil[.]example`, `evil (dot) example`, `mole[at]evil.example`, `https[:]//evil.example`
_DISGUISED: Final = (
    (re.compile(r"\s?[\[({]\s?(?:\.|dot|punkt|punto|point)\s?[\])}]\s?"), "."),
    (re.compile(r"\s?[\[({]\s?(?:@|at)\s?[\])}]\s?"), "@"),
    (re.compile(r"[\[({]\s?:(?://)?\s?[\])}](?://)?"), "://"),
    (re.compile(r"\bh(?:xx|\*\*|tt)p(?=s?:)"), "http"),
)
_MARKER: Final = re.compile(r"[\[<]redacted:[^\]>]{0,60}[\]>]")  # it has a colon, and names nothing
_JSON_SPACE: Final = re.compile(r"(?<!\\)\\[nrt\"]")
_SLASHES: Final = re.compile(r"[\\/]{2,}|\\")
_NAMED: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:/[^\s)`\"'>\]]+"  # a URL of any scheme, a drive: `c:/keys`
    r"|[\w.+-]+@[\w-]+(?:(?:\.[\w-]+)+|:[\w./~-]+)"  # an e-mail address, or `user@evil:drop`
    r"|(?<![\w./@-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)(?::\d+)?"  # IPv4
    r"|(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])"  # IPv6, if it is one
    r"|(?<![\w./@-])[^\W_][\w-]*(?:\.[\w-]+)*\.[^\W\d_]{2,}(?![\w(])(?::\d+)?"  # a host: `evil.example:8443`
    r"|(?<![\w:./@-])[^\W\d_][\w-]+:(?!/)[\w~][\w./~-]*"  # a host without a dot: `evil:drop`, `evil:8080`
    r"|(?<![\w./~<)\]}])~?(?:/[\w.@%+-]+)+"  # a path, or a share of Windows: `/evil`, `//evil/share`
)
_ENDS: Final = ".,:;!?"
_SCHEME: Final = re.compile(r"^([a-z][a-z0-9+.-]+):/(?!/)")
_HEX_DIGITS_MIN: Final = 3  # of an IPv6 address; `::` and the `a::b` of a programming language have fewer


def one_spelling(text: str) -> str:
    """Return a text in lower case, without disguises such as `hxxp` and `[.]`, for comparing the addresses in it."""
    text = _MARKER.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    for disguise, plain in _DISGUISED:
        text = disguise.sub(plain, text)
    return _SLASHES.sub("/", text)


def without_json_escapes(text: str) -> str:
    r"""Return the input of a call, which is JSON, with blanks for the escapes that a name may begin or end at.

    Example: of `"see`, a backslash and `nevil.example"` the name is `evil.example`.
    """
    return _JSON_SPACE.sub(" ", text)


def foreign_address(text: str, own: str) -> str:
    """Return the first host, address or path that `text` names and `own` does not, "" if there is none.

    `own` is in one spelling. A part of a name is not that name: who wrote `logs.harbour.example` and `/srv/quay` wrote
    neither `harbour.example` nor `/quay`, but who wrote `/srv/quay/table` wrote `/srv/quay`.
    """
    foreign = next((name for name in _named(one_spelling(strip_markers(text))) if not _is_in(name, own)), "")
    return _SCHEME.sub(r"\1://", foreign)


def _named(text: str) -> Iterator[str]:
    """Yield the hosts, addresses and paths of a text in one spelling."""
    for found in _NAMED.finditer(text):
        name = found[0].rstrip(_ENDS)
        if name.count(":") > 1 and "/" not in name and "." not in name and not _is_ipv6(name):
            continue  # a time such as 12:30:45, or `crate::module`
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
