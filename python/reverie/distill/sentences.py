"""Text helpers: sentences, clipping to a length, specific names (paths, identifiers) and word counts."""

from __future__ import annotations

import re
from functools import lru_cache

from reverie.lazy_regex import lazy_regex

_FENCE = lazy_regex(r"^\s*(?:```|~~~)")
_MARKS = lazy_regex(r"^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)+")
# Only around whole words, and `__` only around several: `2**3`, `src/**/x`, `pkg/__init__.py` are no emphasis.
_EMPHASIS = lazy_regex(
    r"(?<![\w/*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w/*])"
    r"|(?<![^\s(])__(?=\w)((?:(?!__).)+\s(?:(?!__).)+)(?<=\S)__(?![\w/]|\.\w)"
)
# Not behind "Dr.", "e.g." and the like; Chinese and Japanese have no space between sentences.
_END = lazy_regex(
    r"(?<=[.!?…])(?<!\b[DMS]r\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\b[ei]\.[eg]\.)(?<!\bvs\.)(?<!\bz\.B\.)"
    r"[\"')\]]*\s+(?=[\"'(\[`¿¡]?[A-ZÀ-ÖØ-Þ0-9`\"'(\u3040-\u30ff\u3400-\u9fff])|(?<=[。！？])\s*(?=[^\s」』”）)])"
)
# What every end of a sentence has: most lines have none, which this finds in a fraction of the time.
_MAY_END = lazy_regex(r"[.!?…][\"')\]]*\s|[。！？]")
_LIST_MARK = lazy_regex(r"^[-*\u2022]\s+")
_TABLE = lazy_regex(r"^\s*\|.*\|\s*$|^[\s|:\-=*_]+$")

_SUFFIXES = (
    "c|cc|cfg|conf|cpp|cs|css|csv|go|gradle|h|hpp|html|ini|java|js|json|jsonl|jsx|kt|lock|md|mod|php|proto|py|pyi|rb|rs"
    "|rst|scala|sh|sql|sum|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
_NAME = lazy_regex(
    rf"""
    (?P<path>(?:[\w.\-]+/)+[\w.\-]+)              # a/b, ./a/b.c, and the tail of /a/b
  | (?P<file>\b[\w\-]+\.(?:{_SUFFIXES})\b)
  | (?P<flag>(?<![\w-])--[a-z][a-z0-9\-]{{2,}})
  | \b(?:
      [A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+      # snake_case, CONSTANT_CASE, Mixed_Case
    | [A-Za-z]+(?:[A-Z][a-z0-9]+)+                # camelCase, PascalCase
    | (?=[0-9a-f]*[0-9])[0-9a-f]{{7,40}}          # a commit
    | [A-Z]{{2,6}}-[0-9]+                         # a ticket
    )\b
    """,
    re.VERBOSE,
)
# Characters of a specific name; a shorter one is too often in other texts: of "use io.h then main.c" only `main.c` is
# one.
_MIN_LENGTH = 5
_CJK = lazy_regex(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_CHARACTERS_A_WORD = 2  # of Chinese and Japanese
_COUNTED = 2_000  # characters of a text whose words are counted; what is asked for are numbers below 20


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, one a line each; code blocks and tables are skipped."""
    return list(_sentences(text))


@lru_cache(maxsize=16)  # a message is looked at for one thing after the other
def _sentences(text: str) -> tuple[str, ...]:
    parts: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or not line.strip() or _TABLE.match(line):
            continue
        plain = _MARKS.sub("", line)
        if "**" in plain or "__" in plain:
            plain = _EMPHASIS.sub(_inside, plain)
        plain = plain.strip()
        if _MAY_END.search(plain) is None:
            parts += [plain] if plain else []
        else:
            parts.extend(part for part in (piece.strip() for piece in _END.split(plain)) if part)
    return tuple(parts)


def _inside(emphasis: re.Match[str]) -> str:
    return emphasis[1] or emphasis[2]


def paragraphs(text: str) -> list[str]:
    """Return paragraphs and list items, each on one line without its mark; one that ends as "so:" has the next one."""
    found: list[str] = []
    goes_on = False
    for line in text.split("\n"):
        item = line.strip()
        if item and found and (goes_on or found[-1].endswith(":")) and not (goes_on and _LIST_MARK.match(item)):
            found[-1] += f" {_LIST_MARK.sub('', item)}"
        elif item:
            found.append(_LIST_MARK.sub("", item))
        goes_on = bool(item)
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of `text`, or the empty string."""
    return next(iter(sentences(text)), "")


def one_line(text: str) -> str:
    """Collapse every run of white space in `text` to one space."""
    return " ".join(text.split())


def clip(text: str, length: int) -> str:
    """Return `text` on one line of at most `length` characters, cut at a word and marked with an ellipsis."""
    line = one_line(text)
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    if space > length // 2:
        cut = cut[:space]
    return cut.rstrip(" ,;:-(") + "…"


def specific_names(text: str) -> tuple[str, ...]:
    """Return the distinct paths, files, identifiers, commits, flags and ticket numbers in `text`, in order."""
    names: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group().strip(".-/")
        if match.lastgroup == "path":
            name = "/".join(name.split("/")[-2:])
        if len(name) >= _MIN_LENGTH and not name.isdigit():
            names.setdefault(name)
    return tuple(names)


def words_of(text: str) -> int:
    """Return how many words a text has; Chinese and Japanese, written without spaces, have one for two characters.

    Of a long text those at its beginning are counted: what matters is whether there are only a few.
    """
    text = text[:_COUNTED]
    characters = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + -(-characters // _CHARACTERS_A_WORD) if characters else len(text.split())
