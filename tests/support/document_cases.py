"""Markdown documents that are hard to read, generated versions of others with their edits, and changes of blocks."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from reverie import _native
from support.shared import shared_files, shared_rows

AWKWARD: Final[dict[str, bytes]] = {
    name: text.encode()
    for name, text in {
        "empty": "",
        "only spaces": "  \n\t\n   ",
        "only newlines": "\n\n\n\n",
        "only a mark": "-",
        "only headings": "# Plan\n## Now\n### Next\n#### Later\n",
        "no newline at the end": "# Facts\n\n- uses nvim\n- drinks mate",
        "carriage returns": "# Facts\r\r- one\r- two\r  more\r",
        "mixed endings": "# Facts\r\n\n- one\n- two\r\n- three\r- four\n\r",
        "form feed and vertical tab": "# Facts\n\x0c- one\n\x0b- two\x0c\n- three\x0b more\n\x1c- four\x85- five\n",
        "NUL": "# Facts\n\n- a\x00b\n\x00\n- c\n",
        "byte order marks": "\ufeff# Facts\n- one\n\ufeff- two\n",
        "separators of lines": "- one\u2028- two\u2029- three\u0085- four\n",
        "right to left": "# חוף\n\n- הגל גבוה היום\n- الميناء مغلق\n- mixed עברית and English\n",
        "marks of direction": "- safe \u202etxt.exe\u202c name\n- \u2066isolated\u2069\n- \u200fmark\n",
        "combining": "- e\u0301te\u0301\n- \u00e9t\u00e9\n- n" + "\u0303" * 40 + "\n",
        "joined emoji": "- \U0001f469\u200d\U0001f680 flies\n- \U0001f1f3\U0001f1f4\n- \u2708\ufe0f\n",
        "wide scripts": "# 潮汐\n\n- 水位を毎分読む #水位\n- 조수표는 매일 갱신\n- ไม่มีช่องว่าง\n",
        "one long line": "- " + "level " * 20_000 + "\n",
        "one long word": "- " + "x" * 100_000 + "\n",
        "nested lists": "- a\n  - b\n    - c\n      1. d\n         - e\n    - f\n- g\n\n  h\n\n      i\n",
        "numbered": "1. a\n2) b\n10. c\n007. d\n- 1. e\n",
        "deep list": "".join("  " * depth + "- x\n" for depth in range(120)),
        "deep quotes": ">" * 200 + " deep\n" + "> " * 50 + "- item\n",
        "quoted items": "> - one\n> - two\nlazy\n> > - three\n",
        "fences": "````md\n```py\n- no item\n```\n# no title\n````\n- item\n",
        "open fence": "- item\n```\n- no item\n# no title\n",
        "tilde fences": "~~~ tip\n- no\n```\n~~~\n- yes\n   ~~~\n- no\n   ~~~\n",
        "fence in an item": "- run:\n\n  ```sh\n  - make\n  ```\n\n- then\n",
        "indented code": "    - no item\n\n\t# no title\n\n- item\n\n      code\n",
        "HTML": "<details>\n<summary>x</summary>\n\n- item\n\n</details>\n<!-- - no\n\n# no -->\n<pre>\n- a\n\n",
        "open comment": "- one\n<!--\n- two\n\n- three\n",
        "ids of ours": "- one <!-- id: mem_01 -->\n- two <!-- id: mem_01 -->\n- <!-- id: -->\n<!-- id: mem_02 -->\n",
        "table": "| a | b |\n|---|:-:|\n| - x | # y |\n| \\| | ` | ` |\n",
        "rules": "---\n\n***\n- - -\n___\n* * *\n- item\n",
        "underlined headings": "Facts\n=====\n\nMore\n----\n- item\n-\n",
        "tags": "- a #one #two-three\n- b#no\n- c # no\n- d #123 #4x #é #\n- #only\n- e \\#f `#g`\n",
        "brackets": "- [ ] open\n- [x] done\n- [a](b) ![c](d) [e][f] [[g]] <h:i>\n- ](((\n[f]: /x\n",
        "emphasis": "- **a *b** c*\n- __d_e__\n- ~~f~ g~~\n- ***\n- `` ` ``\n- `open\n",
        "repeated headings": "# T\n## A\n- one\n## A\n- one\n# T\n## A\n## a\n",
        "front matter": "---\nname: tides\ntype: project\ntags: [a, 'b: c']\n---\n\n# Tides\n- one\n",
        "front matter twice": "---\nname: a\n---\n---\nname: b\n---\n- one\n",
        "repeated keys": "---\nname: a\nname: b\n---\n- one\n",
        "open front matter": "---\nname: a\n- one\n# T\n",
        "odd values": "---\nname: no\ntype: 0o17\nday: 2026-02-30\nold: ~\nn: 1_0\nx: !!python/x y\n&a b: *a\n---\n",
        "days": "- 2026-02-30 is no day\n- Updated: 2026-01-01\n- Date: 12/31/99\n## 2026-13\n- Date: x\n",
        "episode": "# 2026-02 Episodes\n\n> Summary: two\n\n## Broken gauge\n- Summary: x\n\n## Bare\n",
        "escapes": "\\- no item\n\\# no title\n- \\*a\\*\\\n  b\n- &lt;c&gt; &#35; &nosuch;\n",
        "tabs": "-\tone\n\t- two\n \t - three\n#\tT\n>\tquote\n",
        "spaces at ends": "- one  \n- two\\\n-   \n-  three   \n   \n",
        "half a merge": "<<<<<<< ours\n- one\n=======\n- two\n>>>>>>> theirs\n",
        "marks of redaction": "- key [REDACTED:token] and [REDACTED:\n- <REDACTED:x>\n",
    }.items()
}
"""Each document by what is hard about it; all of them are UTF-8."""

NOT_UTF8: Final[dict[str, bytes]] = {
    "Latin-1": "- caf\xe9\n".encode("latin-1"),
    "stray continuation": b"- a\x80b\n",
    "cut character": "- caf\xe9".encode()[:-1],
    "overlong slash": b"- \xc0\xaf\n",
    "surrogate": b"- \xed\xa0\x80\n",
    "beyond Unicode": b"- \xf5\x80\x80\x80\n",
    "UTF-16": "- tide\n".encode("utf-16"),
    "binary": bytes(range(256)),
}
"""Documents whose bytes are no UTF-8."""


def awkward_documents() -> dict[str, bytes]:
    """Return our own documents by name, and those of the measurement data where it is present."""
    shared = {path.name: path.read_bytes() for path in shared_files("data/markdown/cases", "*.md")}
    return {**AWKWARD, **NOT_UTF8, **shared}


HISTORIES: Final = 40  # documents
VERSIONS: Final = 12  # of each


@functools.cache
def generated_histories() -> tuple[tuple[str, ...], ...]:
    """Return the versions of each generated document, oldest first."""
    return tuple(_history(seed) for seed in range(HISTORIES))


def history_sets() -> list[list[tuple[str, ...]]]:
    """Return the generated histories as one set, and the recorded ones as another where present."""
    recorded = [tuple(row["versions"]) for row in shared_rows("data/merges/histories.jsonl")]
    return [list(generated_histories()), *([recorded] if recorded else [])]


def recorded_triples() -> list[dict[str, Any]]:
    """Return the recorded merges: base, ours, theirs, and the text of the real merge."""
    return shared_rows("data/merges/triples.jsonl")


def _history(seed: int) -> tuple[str, ...]:
    pairs = list(history(seed, VERSIONS - 1))
    versions = [
        "# T\n\n" + "\n".join(piece.text for piece in blocks) for blocks in (pairs[0][0], *(new for _, new in pairs))
    ]
    return tuple(text.replace("\n", "\r\n") if seed % 10 == 9 else text for text in versions)


Edit: TypeAlias = tuple[int, str, str]
"""At a byte, the old text is replaced by the new one."""

Change: TypeAlias = tuple[str, str, str]
"""A change as the native core takes it: its kind, the id of a block, a text."""


class Applied(NamedTuple):
    """The edits of changes, the document after them, and the edits that undo them."""

    edits: list[Edit]
    document: bytes
    inverse: list[Edit]


def apply(document: bytes, blocks: Iterable[tuple[str, int, int]], changes: Iterable[Change]) -> Applied:
    """Return what changes make of a document."""
    return Applied(*_native.apply_changes(document, list(blocks), list(changes)))


def add(text: str, after: str | None = None) -> Change:
    """Return the change that adds a block after another one, else last."""
    return ("add_end", "", text) if after is None else ("add_after", after, text)


def update(id_: str, text: str) -> Change:
    """Return the change that replaces the text of a block."""
    return "update", id_, text


def delete(id_: str) -> Change:
    """Return the change that deletes a block."""
    return "delete", id_, ""


def under(heading: str, text: str) -> Change:
    """Return the change that adds a block at the end of a section."""
    return "add_under", heading, text


COMMON = (  # noqa: SIM905  # words are easier to read as a text
    "the a of to in is for and with on uses prefers project server test file path build name key never always after "
    "before team works likes wants data cache index table python rust shell editor config default branch release note"
).split()
CHARACTERS = "偏好使用简体中文回复项目服务器测试文件路径构建名称密钥从不总是之后之前团队数据缓存索引默认分支发布"


@dataclass(frozen=True, slots=True)
class Piece:
    """A generated block: its words, its list mark, and the index of the old block that it continues."""

    words: tuple[str, ...]
    mark: str = "- "
    origin: int | None = None

    @property
    def text(self) -> str:
        """Return the block's markdown: its list mark and its words on one line, or a fence around them."""
        line = ("" if self.words and self.words[0][0] in CHARACTERS else " ").join(self.words)
        return f"```sh\n{line}\n```\n" if self.mark == "```" else f"{self.mark}{line}\n"


@dataclass
class Writer:
    """A random editor of block lists; its seed determines every edit."""

    pick: random.Random
    vocabulary: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.pick.random() < 0.1:
            self.vocabulary = list(CHARACTERS)
        else:
            size = self.pick.choice((40, 200, 2000))
            self.vocabulary = [self.word() for _ in range(size)] + COMMON

    def word(self) -> str:
        """Return a made-up word, a number or a name with digits."""
        letters = "".join(self.pick.choices("aeioulnrstmdpkbg", k=self.pick.randint(3, 9)))
        return letters if self.pick.random() < 0.85 else f"{letters[:2]}{self.pick.randrange(1000)}"

    def some(self, count: int) -> tuple[str, ...]:
        """Return a number of random words."""
        return tuple(self.pick.choices(self.vocabulary, k=count))

    def new(self) -> Piece:
        """Return a new block."""
        length = self.pick.choice((3, 5, 8, 12, 20, 60))
        return Piece(self.some(length), self.pick.choice(("- ", "- ", "- ", "* ", "## ", "", "```")))

    def edit(self, blocks: list[Piece]) -> None:
        """Replace, insert, remove or append words of a block: less than half of them."""
        at = self.pick.randrange(len(blocks))
        words = list(blocks[at].words)
        for _ in range(self.pick.randint(1, max(1, len(words) // 4))):
            where = self.pick.randrange(len(words))
            match self.pick.randrange(4):
                case 0:
                    words[where] = self.some(1)[0]
                case 1:
                    words[where:where] = self.some(1)
                case 2 if len(words) > 2:
                    del words[where]
                case _:
                    words += self.some(1)
        blocks[at] = replace(blocks[at], words=tuple(words))

    def move(self, blocks: list[Piece]) -> None:
        """Move one block."""
        block = blocks.pop(self.pick.randrange(len(blocks)))
        blocks.insert(self.pick.randint(0, len(blocks)), block)

    def split(self, blocks: list[Piece]) -> None:
        """Split one block into two; the longer part keeps the origin, the shorter one is new."""
        at = self.pick.randrange(len(blocks))
        block = blocks[at]
        cut = self.pick.randint(1, max(1, len(block.words) - 1))
        if len(block.words) < 5 or 2 * cut == len(block.words):
            return
        parts = [replace(block, words=block.words[:cut]), replace(block, words=block.words[cut:])]
        shorter = min((0, 1), key=lambda part: len(parts[part].words))
        parts[shorter] = replace(parts[shorter], origin=None)
        blocks[at : at + 1] = parts

    def copy(self, blocks: list[Piece]) -> None:
        """Duplicate a block anywhere but beside it."""
        at = self.pick.randrange(len(blocks))
        to = self.pick.randint(0, len(blocks))
        if abs(to - at) > 1:
            blocks.insert(to, replace(blocks[at], origin=None))

    def delete(self, blocks: list[Piece]) -> None:
        """Delete a block."""
        del blocks[self.pick.randrange(len(blocks))]

    def add(self, blocks: list[Piece]) -> None:
        """Add a new block anywhere."""
        blocks.insert(self.pick.randint(0, len(blocks)), self.new())

    def reorder(self, blocks: list[Piece]) -> None:
        """Shuffle, reverse or sort a range of blocks."""
        start = self.pick.randrange(len(blocks))
        stretch = blocks[start : start + self.pick.randint(2, 12)]
        match self.pick.randrange(3):
            case 0:
                self.pick.shuffle(stretch)
            case 1:
                stretch.reverse()
            case _:
                stretch.sort(key=lambda block: block.text)
        blocks[start : start + len(stretch)] = stretch

    def saves(self, blocks: list[Piece]) -> list[Piece]:
        """Return the blocks after one editing session, each with the index of the block that it continues."""
        edited = [replace(block, origin=index) for index, block in enumerate(blocks)]
        acts: list[Callable[[list[Piece]], None]] = [
            self.edit, self.edit, self.edit, self.move, self.split, self.copy, self.delete, self.add, self.reorder,
        ]  # fmt: skip
        for act in self.pick.choices(acts, k=self.pick.randint(1, max(2, len(blocks) // 4))):
            if len(edited) > 2:
                act(edited)
        return edited


def history(seed: int, saves: int = 5) -> Iterator[tuple[list[Piece], list[Piece]]]:
    """Yield successive versions of one document, each with the one before."""
    writer = Writer(random.Random(seed))
    blocks = [writer.new() for _ in range(writer.pick.randint(4, 60))]
    for _ in range(saves):
        edited = writer.saves(blocks)
        yield blocks, edited
        blocks = edited
