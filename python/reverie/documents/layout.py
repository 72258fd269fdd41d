"""The kind of a document, by its path and front matter, and the memory type of its items."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reverie.documents.front_matter import front_matter_of
from reverie.documents.parts import numbered
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.paths import SEGMENT_BYTES_MAX

if TYPE_CHECKING:
    from reverie.documents.front_matter import FrontMatter


class DocumentKind(StrEnum):
    """The way in which memories are written in a document."""

    FACTS = "facts"  # `facts/**/*.md`: each top-level bullet is a memory
    EPISODES = "episodes"  # `episodes/*.md`: each `##` section is a memory
    WHOLE = "whole"  # another `.md` file with the front matter of Claude Code's auto memory: the file is a memory
    PLAIN = "plain"  # everything else: no memory


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
    r"(?P<stem>[^/]+)(?: \d+| \([^()/]+\)| (?:- )?copy(?: \d+)?)(?P<suffix>\.\w+)$", re.IGNORECASE
)  # iCloud, Finder, Google Drive, browsers; a file manager's "(copy)", "(another copy)" and " copy 2"
_OWN_COPY: Final = lazy_regex(r"\.sync-conflict-\d{8}-\d{6}-[^./]+\.[^./]+$")
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
