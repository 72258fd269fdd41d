"""The memory tool of the Messages API (`memory_20250818`) over documents: its commands, and its exact texts; no I/O.

The texts are those of the reference in the `anthropic` package, so that a model finds what it was trained with. Paths
begin with `/memories`, which is the folder of the space.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from reverie.decode import convert
from reverie.documents.summary import masked, unmasked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT: Final = "/memories"
LINES_MAX: Final = 999_999
_NUMBER_WIDTH: Final = 6
_CONTEXT: Final = 2  # lines shown before and after a change
_DEPTH: Final = 2  # levels of a listing
_FOLDER_SIZE: Final = 4096  # as most file systems say of a small folder: documents are in no folder of their own


class MemoryToolError(Exception):
    """A command that cannot be done; the text is for the model."""


class View(Struct, tag_field="command", tag="view"):
    """The command `view` of the memory tool: show a file, some lines of it, or the listing of a folder."""

    path: str
    view_range: Annotated[list[int], Meta(max_length=2)] | None = None


class Create(Struct, tag_field="command", tag="create"):
    """The command `create` of the memory tool: create a file; none is overwritten."""

    path: str
    file_text: str


class StrReplace(Struct, tag_field="command", tag="str_replace"):
    """The command `str_replace` of the memory tool: replace a text that occurs once in a file."""

    path: str
    old_str: str
    new_str: str = ""


class Insert(Struct, tag_field="command", tag="insert"):
    """The command `insert` of the memory tool: insert lines after a line of a file."""

    path: str
    insert_line: int
    insert_text: str


class Delete(Struct, tag_field="command", tag="delete"):
    """The command `delete` of the memory tool: delete a file or a folder."""

    path: str


class Rename(Struct, tag_field="command", tag="rename"):
    """The command `rename` of the memory tool: give a file or a folder another path."""

    old_path: str
    new_path: str


MemoryCommand: TypeAlias = View | Create | StrReplace | Insert | Delete | Rename


def command_of(given: Mapping[str, Any]) -> MemoryCommand:
    """Return a command as a model gave it. Raises MemoryToolError."""
    try:
        command: MemoryCommand = convert(dict(given), MemoryCommand)
    except msgspec.ValidationError as error:
        raise MemoryToolError(
            f"Invalid command: {error}. The commands are view, create, str_replace, insert, delete and rename."
        ) from None
    return command


def relative(path: str) -> str:
    """Return a path below `/memories` as the path of a document or folder, empty for the root itself.

    Raises:
        MemoryToolError: it is not below it, or leads out of it.
    """
    if not path.startswith(ROOT):
        raise MemoryToolError(f"Path must start with {ROOT}, got: {path}")
    name = posixpath.normpath(path.removeprefix(ROOT).lstrip("/") or ".")
    if name == ".." or name.startswith("../"):
        raise MemoryToolError(f"Path {path} would escape {ROOT} directory")
    return "" if name == "." else name


def is_folder(name: str, paths: Iterable[str]) -> bool:
    """Return True if there is a document below `name`; the root is always there."""
    return not name or any(path.startswith(f"{name}/") for path in paths)


def view_folder(path: str, name: str, sizes: Mapping[str, int]) -> str:
    """Return the listing of the folder `name`, which the model calls `path`; `sizes` are those of all documents."""
    prefix = f"{name}/" if name else ""
    below = {file.removeprefix(prefix): size for file, size in sizes.items() if file.startswith(prefix)}
    lines = [f"{_size(_FOLDER_SIZE)}\t{path}"]
    lines += [f"{size}\t{path}/{item}" for size, item in _listed(below, 1)]
    return "\n".join(
        [f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:", *lines]
    )


def _listed(below: Mapping[str, int], depth: int) -> list[tuple[str, str]]:
    """Return size and path of everything in a folder, in the order of the names, folders before what is in them."""
    items: list[tuple[str, str]] = []
    for name in sorted({path.partition("/")[0] for path in below if not path.startswith(".")}):
        if name in below:
            items.append((_size(below[name]), name))
            continue
        items.append((_size(_FOLDER_SIZE), f"{name}/"))
        if depth < _DEPTH:
            inner = {path.removeprefix(f"{name}/"): size for path, size in below.items() if path.startswith(f"{name}/")}
            items += [(size, f"{name}/{item}") for size, item in _listed(inner, depth + 1)]
    return items


def _size(size: int) -> str:
    """Return a number of bytes as the reference writes it: `0B`, `1.5K`, `2M`."""
    if size == 0:
        return "0B"
    power = min((size.bit_length() - 1) // 10, 3)
    scaled = size / 1024**power
    return f"{int(scaled) if scaled == int(scaled) else f'{scaled:.1f}'}{'BKMG'[power]}"


def view_file(path: str, content: str, view_range: list[int] | None) -> str:
    """Return a file with line numbers, whole or a range of its lines. Raises MemoryToolError."""
    lines = content.split("\n")
    if len(lines) > LINES_MAX:
        raise MemoryToolError(f"File {path} exceeds maximum line limit of {LINES_MAX:,} lines.")
    first = 1
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        lines = lines[start : len(lines) if view_range[1] == -1 else view_range[1]]
        first = start + 1
    return f"Here's the content of {path} with line numbers:\n" + "\n".join(_numbered(lines, first))


def replaced(path: str, content: str, old: str, new: str) -> tuple[str, str]:
    """Return a text after the replacement, and what the model is shown of it.

    Raises:
        MemoryToolError: the old text is not there, or more than once.
    """
    whole, hidden = content, masked(content)
    if hidden is not None and content.count(old) > 1 and hidden.count(old) == 1:
        content = hidden  # the other one is a quotation in the summary line
    count = content.count(old)
    if count == 0:
        raise MemoryToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        places = ", ".join(map(str, _lines_with(content, old)))
        raise MemoryToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. "
            "Please ensure it is unique"
        )
    line = content[: content.find(old)].count("\n")
    after = content.replace(old, new)
    after = unmasked(after, whole) if content is hidden else after
    lines = after.split("\n")
    start = max(0, line - _CONTEXT)
    snippet = _numbered(lines[start : min(len(lines), line + _CONTEXT + 1)], start + 1)
    heading = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return after, "\n".join([heading, *snippet])


def _lines_with(content: str, text: str) -> list[int]:
    """Return the number of the line of each occurrence of a text, overlapping ones too."""
    lines = []
    start = content.find(text)
    while start != -1:
        lines.append(content[:start].count("\n") + 1)
        start = content.find(text, start + 1)
    return lines


def inserted(content: str, line: int, text: str) -> str:
    """Return a text with lines inserted after a line. Raises MemoryToolError."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise MemoryToolError(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, text.rstrip("\n"))
    after = "\n".join(lines)
    return after if after.endswith("\n") else after + "\n"


def _numbered(lines: Iterable[str], first: int) -> list[str]:
    return [f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]
