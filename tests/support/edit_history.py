"""Generated edit histories of memory documents that record which block continues which."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

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
        """Return the block's markdown: its list mark and its words on one line."""
        between = "" if self.words and self.words[0][0] in CHARACTERS else " "
        return f"{self.mark}{between.join(self.words)}\n"


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
        return Piece(self.some(length), self.pick.choice(("- ", "- ", "- ", "* ", "## ", "")))

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
