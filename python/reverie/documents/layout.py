"""The kind of a document, by its path and front matter, its project, and the memory type of its items.

Of front matter the part of YAML is parsed that memory files use: scalars, one level of nesting, and lists of tags. What
is not understood is left out, and stays in the file byte for byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.documents.parts import numbered
from reverie.git import slug
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind, parse
from reverie.models import MemoryType
from reverie.paths import SEGMENT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping


class DocumentKind(StrEnum):
    """The way in which memories are written in a document."""

    FACTS = "facts"  # `facts/**/*.md`: each top-level bullet is a memory
    EPISODES = "episodes"  # `episodes/*.md`: each `##` section is a memory
    WHOLE = "whole"  # another `.md` file with the front matter of Claude Code's auto memory: the file is a memory
    PLAIN = "plain"  # everything else: no memory


DIVIDED: Final = frozenset({DocumentKind.FACTS, DocumentKind.EPISODES})
"""The kinds whose documents have several memories."""


# The names that programs give to the other text of a conflict, or to the text before their change.
_COPY: Final = lazy_regex(
    r"""\.sync-conflict- | \.reverie-new\.                                # Syncthing, ours
    | [(\[] [^)\]]* \b(?:conflicted|SFConflict|case\ (?:conflict|clash)) # Dropbox, Nextcloud, pCloud, Seafile
    | [._-]conflict-\d | _(?:Case)?Conflict\.\w+$                        # ownCloud, Synology Drive
    | (?-i:[._](?:BACKUP|BASE|LOCAL|REMOTE)[._]\d+\.\w+$)                # git mergetool
    | ^\#.*\#\.\w+$ | (?:~|\.(?:bak|orig|swp))\.\w+$                    # editors
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NUMBERED: Final = lazy_regex(
    r"(?P<stem>[^/]+?)(?: \d+| \([^()/]+\)| (?:- )?copy(?: \(?\d+\)?)?)(?P<suffix>\.\w+)$", re.IGNORECASE
)  # iCloud, Finder, Google Drive, browsers; a file manager's "(copy)", "(another copy)", " copy 2" and " - Copy (2)"
_OWN_COPY: Final = lazy_regex(r"\.sync-conflict-\d{8}-\d{6}-[^./]+\.[^./]+$")
_KEY: Final = lazy_regex(r"(?P<indent>[ \t]*)(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_ENTRY: Final = lazy_regex(r"[ \t]*-[ \t]+(.*)$")
_COMMENT: Final = lazy_regex(r"(?:^|[ \t])#.*$")
_FOLDED: Final = lazy_regex(r"[|>][+-]?\d?$")
_BOM: Final = "\ufeff"
_INDEX: Final = "MEMORY.md"
_BY_FILE_NAME: Final = {
    "preferences": MemoryType.PREFERENCE,
    "skills": MemoryType.SKILL,
    "procedures": MemoryType.PROCEDURE,
    "observations": MemoryType.OBSERVATION,
    "mistakes": MemoryType.MISTAKE,
}
# The names that Claude Code has for types of memory; our own names are understood as well.
_BY_TYPE_NAME: Final = {
    "user": MemoryType.FACT,
    "feedback": MemoryType.PREFERENCE,
    "project": MemoryType.FACT,
    "reference": MemoryType.FACT,
    **{kind.value: kind for kind in MemoryType},
}


def kind_of(path: str, text: str) -> DocumentKind:
    """Return the kind of the document `text` at `path`; any text has one."""
    return kind_with_front_matter(path, front_matter_of(text))


def kind_with_front_matter(path: str, front_matter: FrontMatter | None) -> DocumentKind:
    """Return the kind of a document with this front matter."""
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(".md") or name == _INDEX or is_conflict_copy(path):
        return DocumentKind.PLAIN
    if path.startswith("facts/"):
        return DocumentKind.FACTS
    if path.startswith("episodes/"):
        return DocumentKind.EPISODES if path.count("/") == 1 else DocumentKind.PLAIN
    return DocumentKind.PLAIN if front_matter is None or type_of_whole(front_matter) is None else DocumentKind.WHOLE


def is_conflict_copy(path: str) -> bool:
    """Return True if a file of this name is a conflict copy, ours or another sync program's."""
    return _COPY.search(path.rsplit("/", 1)[-1]) is not None


def conflict_copy(path: str, stamp: str, id_: str) -> str:
    """Return the path of a conflict copy of `path`: `name.sync-conflict-<stamp>-<id>.md`, cut to 255 bytes.

    `is_conflict_copy` is True for it.
    """
    name = PurePosixPath(path)
    end = f".sync-conflict-{stamp}-{id_}{name.suffix}"
    stem = name.name.removesuffix(name.suffix).encode()[: SEGMENT_BYTES_MAX - len(end.encode())]
    return str(name.with_name(f"{stem.decode(errors='ignore')}{end}"))


def copy_name(path: str) -> str | None:
    """Return the file name of a conflict copy as `conflict_copy` makes it, which no other file has; None for others."""
    name = path.rsplit("/", 1)[-1]
    return name if _OWN_COPY.search(name) else None


def copied_path(path: str) -> str | None:
    """Return the path that a file of this name is a copy of, if their texts say so: `a.md` for `a 2.md`, `a (1).md`."""
    match = _NUMBERED.search(path)
    return None if match is None else f"{path[: match.start()]}{match['stem']}{match['suffix']}"


def stem_of(path: str) -> str:
    """Return the name of a file without its folder and without `.md`."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def type_by_name(path: str) -> MemoryType:
    """Return the type of the memories in a file of facts, by the file's name; `fact` for other names.

    A later part, such as `facts/preferences-2.md`, has the type of the first.
    """
    return _BY_FILE_NAME.get(stem_of(numbered(path)[0]).casefold(), MemoryType.FACT)


def type_of_blocks(path: str) -> MemoryType | None:
    """Return the type of the memories that are blocks of the document at this path, or None if none are."""
    kind = kind_with_front_matter(path, None)
    if kind is DocumentKind.EPISODES:
        return MemoryType.EPISODE
    return type_by_name(path) if kind is DocumentKind.FACTS else None


def type_of_whole(front_matter: FrontMatter) -> MemoryType | None:
    """Return the type of the memory that a file with this front matter is, or None if it is none.

    What Claude Code writes has a `name` and a `metadata.type`; an unknown type is a fact. A plain `type` makes a memory
    only if it is a known type: other programs use that key as well.
    """
    if not front_matter.values.get("name"):
        return None
    type_name = front_matter.values.get("metadata.type")
    if type_name:
        return _BY_TYPE_NAME.get(type_name.casefold(), MemoryType.FACT)
    return _BY_TYPE_NAME.get(front_matter.values.get("type", "").casefold())


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter: its scalars by name (`name`, `metadata.type`), its tags, and the offset of its end."""

    values: dict[str, str]
    tags: tuple[str, ...]
    end: int


def front_matter_of(text: str) -> FrontMatter | None:
    """Return the front matter of a text, or None if it has none; unknown fields are left out."""
    if not text.removeprefix(_BOM).startswith("---"):
        return None
    for block in parse(text.encode("utf-8", "replace"))[:2]:
        if block.kind is BlockKind.FRONT_MATTER:
            values, tags = _values(block.text)
            return FrontMatter(values, tags, block.end)
    return None


def session_of(text: str) -> str | None:
    """Return the session of an agent's client that wrote a file, as Claude Code's auto memory names it; else None."""
    front_matter = front_matter_of(text)
    if front_matter is None:
        return None
    values = front_matter.values
    return values.get("metadata.originSessionId") or values.get("originSessionId")


def _values(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return every scalar by its name, of equal names the first, and the entries of `tags`."""
    values: dict[str, list[str]] = {}
    tags: list[str] = []
    parent = name = ""
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.match(line)
        key = None if entry is not None else _KEY.match(line)
        if entry is not None:
            if name == "tags":
                tags.append(_scalar(entry[1]))
        elif key is not None:
            parent = parent if key["indent"] else key["key"]
            name = f"{parent}.{key['key']}" if key["indent"] else key["key"]
            value = (key["value"] or "").strip()
            if name == "tags":
                tags += map(_scalar, value.strip("[]").split(","))
            elif name not in values:
                values[name] = [] if _FOLDED.match(value) else [_scalar(value)]
            else:
                name = ""
        elif name in values:
            values[name].append(line.strip())  # a further line of the scalar before it
    scalars = {key: " ".join(part for part in parts if part) for key, parts in values.items()}
    words = (word.lstrip("#").strip().lower() for word in tags)
    return {key: value for key, value in scalars.items() if value}, tuple(dict.fromkeys(word for word in words if word))


def _scalar(text: str) -> str:
    """Return a scalar without its quotes, or without a comment after it."""
    text = text.strip()
    quote = text[:1]
    if quote in {'"', "'"} and (close := text.find(quote, 1)) > 0:
        return text[1:close].strip()
    return _COMMENT.sub("", text).strip()


PERSON: Final = ""
"""The project of a memory that is of no project but of the person: it is recalled everywhere."""

_EPISODES: Final = lazy_regex(r"episodes/(?P<project>.+)-\d{4}-\d{2}(?:-\d+)?\.md")


class _OfProject(Protocol):
    """The fields of a memory that its project is computed from."""

    @property
    def project(self) -> str | None: ...
    @property
    def provenance(self) -> Mapping[str, Any]: ...


def memory_project(memory: _OfProject) -> str:
    """Return the name of the project that a memory belongs to, `PERSON` for none.

    Older releases recorded it with the provenance alone, as the folder's name: `My App` counts as `my-app`.
    """
    if memory.project is not None:
        return memory.project
    recorded = memory.provenance.get("project")
    return slug(recorded) if isinstance(recorded, str) else PERSON


def folder_of(path: str) -> str | None:
    """Return the project's name in a document's path, by the path's form alone; None for a path without one.

    Examples: `facts/harbour/mistakes.md` and `episodes/harbour-2026-11.md` are of `harbour`, if that is a project;
    `facts/user.md` and `episodes/2026-11.md` are of nobody.
    """
    if path.startswith("facts/"):
        return path.split("/")[1] if path.count("/") > 1 else None
    match = _EPISODES.fullmatch(path)
    return None if match is None else match["project"]


def in_project(path: str, project: str) -> str:
    """Return a project's own path of the document `path`; for the person the path itself.

    Examples: of `facts/mistakes.md` and `episodes/2026-11.md` it is `facts/harbour/mistakes.md` and
    `episodes/harbour-2026-11.md`.
    """
    if project == PERSON:
        return path
    folder, name = path.split("/", 1)
    return f"{folder}/{project}/{name}" if folder == "facts" else f"{folder}/{project}-{name}"


def moved_to_project(path: str, own: str, project: str) -> str:
    """Return the path of the project `project` for a document that the project `own` has at `path`.

    Example: `facts/harbour/mistakes.md` of `harbour` is `facts/pier/mistakes.md` of `pier`.
    """
    folder, rest = path.split("/", 1)
    return f"{folder}/{project}{rest.removeprefix(own)}"
