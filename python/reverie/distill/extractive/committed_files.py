"""Find the files of a commit: by git's report, by the `git add` calls for it, and by the edits before it.

An agent edits more files than it commits, and commits files that a shell command wrote. So an edited file counts where
its staging covers it, and a list that is longer than the commit is no list: none is better than a wrong one.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.distill.commands import without_here_documents
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.steps import ToolCall, Trace

__all__ = ["CommittedFiles"]

# Of git's report of a commit: " 3 files changed, 40 insertions(+)", " create mode 100644 src/tide.py".
_COUNT = lazy_regex(r"^ ?(?P<count>\d+) files? changed\b", re.MULTILINE)
_CREATED = lazy_regex(r"^ create mode \d+ (?P<path>.+)$", re.MULTILINE)
_RENAMED = lazy_regex(r"^ (?:rename|copy) (?P<paths>.+) \(\d+%\)$", re.MULTILINE)
_BRACES = lazy_regex(r"\{.*? => (?P<new>.*?)\}")
_NEXT_COMMIT = lazy_regex(r"^\[[^\]\n]*? [0-9a-f]{7,40}\] ", re.MULTILINE)
# The repository of a command: "git -C /home/ann/harbour add ...", "cd /home/ann/harbour && git add ...".
_FOLDER = lazy_regex(r"(?:\bgit -C|(?:^|&& )cd) (?P<folder>/\S+|'/[^']+'|\"/[^\"]+\")")
# A git command that changes what is staged, up to the end of its part of the line.
_STAGING = lazy_regex(
    r"\bgit (?:-C (?:'[^']*'|\"[^\"]*\"|\S+) |-c \S+ |--no-pager )*(?P<verb>add|stage|mv|commit|reset|restore|stash)\b"
    r"(?P<rest>(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^;&|\n'\"\\])*)"
)
_REFUSED: Final = "fatal: pathspec"
_ALL_OPTIONS: Final = frozenset({"-A", "--all", "-u", "--update", "--no-ignore-removal"})
_ALL_PATHS: Final = frozenset({".", ":/", "*", "./", ":/*"})
_BY_HAND: Final = frozenset({"-p", "--patch", "-i", "--interactive", "-e", "--edit", "-N", "--intent-to-add"})
_COMMITS_ALL = lazy_regex(r"(?:^|\s)(?:-(?!-)[a-z]*a[a-z]*|--all)(?=\s|$)")
_GLOB = lazy_regex(r"[*?$`]")
# A path with a suffix is a file's, and `.gitignore`; `.github` and `cmd/harbour` are folders.
_FILE = lazy_regex(r"[^/]\.[A-Za-z]\w{0,9}$|(?:^|/)\.\w*(?:ignore|rc|attributes|env|modules)$")


@dataclass(slots=True)
class _Staged:
    """The paths staged since the last commit, as git commands name them; `is_all` if every change is staged.

    `last` are those of the last command: what was staged before it may have been refused and left out since.
    `is_unknown` where the agent staged in a way that the command does not show.
    """

    paths: dict[str, None] = field(default_factory=dict)
    last: list[str] = field(default_factory=list)
    is_all: bool = False
    is_unknown: bool = False

    def read(self, command: str) -> None:
        """Apply the git commands of one shell call in order; a path below a folder named there becomes absolute."""
        command = without_here_documents(command)
        for match in _STAGING.finditer(command):
            try:
                words = shlex.split(match["rest"])
            except ValueError:  # a quote that goes on behind this part of the line
                words = match["rest"].split()
            folders = [
                folder_match["folder"].strip("'\"") for folder_match in _FOLDER.finditer(command[: match.start("verb")])
            ]
            options = {word for word in words if word.startswith("-")}
            paths = [word for word in words if not word.startswith("-")]
            folder = folders[-1] if folders else ""
            match match["verb"]:
                case "add" | "stage":
                    self._add(options, paths, folder)
                case "mv":
                    self.paths |= dict.fromkeys(_below(folder, path) for path in paths[1:])
                case "commit":
                    self.is_all |= _COMMITS_ALL.search(re.split("['\"]", match["rest"])[0]) is not None
                case _:
                    self._take_back(match["verb"], options, [_below(folder, path) for path in paths if path != "HEAD"])

    def _add(self, options: set[str], paths: Sequence[str], folder: str) -> None:
        is_all = not _ALL_PATHS.isdisjoint(paths) or (not paths and not _ALL_OPTIONS.isdisjoint(options))
        self.is_all |= is_all
        self.is_unknown |= not options.isdisjoint(_BY_HAND) or any(_GLOB.search(path) for path in paths)
        self.last = [] if is_all else [_below(folder, path) for path in paths]
        self.paths |= dict.fromkeys(self.last)

    def _take_back(self, verb: str, options: set[str], paths: Sequence[str]) -> None:
        """Apply `git reset`, `git restore --staged` and `git stash` to the paths; other effects are ignored."""
        if (verb == "restore" and options.isdisjoint({"--staged", "-S"})) or not options.isdisjoint({"--soft"}):
            return
        self.is_unknown |= self.is_all or verb == "stash"
        for path in list(self.paths) if not paths or "." in paths else paths:
            self.paths.pop(path, None)


class CommittedFiles:
    """Finds the files of each commit of a thread: `of` returns a commit's paths, `unnamed` counts those not known."""

    def __init__(self, trace: Trace) -> None:
        """Take a thread's git calls, and find its repositories' folders by the files reported as created."""
        self._root = trace.root
        self._calls = [call for call in trace.calls if call.tool == "Bash" and "git " in call.word("command")]
        self._folders = _repository_folders(trace.calls, self._calls)

    def of(self, commit: Commit, before: int, edited: Sequence[str]) -> tuple[str, ...]:
        """Return the paths of files that a commit has, as git names them; empty where it is not known which.

        `edited` are those that the agent changed since entry `before`, that of the commit before. Deleted files are
        left out, and some that a shell command wrote may be missing.
        """
        calls = [call for call in self._calls if before < call.result_seq <= commit.seq]
        staged = _Staged()
        for call in calls:
            if _REFUSED not in call.result:
                staged.read(call.word("command"))
        folders = [match["folder"].strip("'\"") for match in _FOLDER.finditer(commit.body)]
        words = [word.strip("'\"") for word in without_here_documents(commit.body).split() if "." in word]
        names = {path: self._as_committed(self._full(path), folders, words) for path in edited}
        report = _report(commit, calls)
        reported = _reported(report)
        given = {
            path: self._as_committed(path, folders, ()) if path.startswith("/") else path
            for path in staged.paths
            if _FILE.search(path)
        }
        count = _COUNT.search(report)
        if staged.is_unknown or not (staged.is_all or staged.paths):
            every = _distinct((*reported, *names.values()))
            return every if count is not None and len(every) == _left(count, report) else reported
        covered = [name for path, name in names.items() if staged.is_all or _covers(staged.paths, self._full(path))]
        last = [given[path] for path in staged.last if path in given]
        lists = (_distinct((*covered, *given.values(), *reported)), _distinct((*last, *reported)), reported)
        if count is None:
            return lists[0]
        return next((paths for paths in lists if len(paths) <= _left(count, report)), ())

    def unnamed(self, commit: Commit, before: int, paths: Sequence[str]) -> int:
        """Return how many files a commit has beyond `paths`, without those it deleted; 0 where git's report is cut."""
        report = _report(commit, [call for call in self._calls if before < call.result_seq <= commit.seq])
        count = _COUNT.search(report)
        return 0 if count is None else max(0, _left(count, report) - len(paths))

    def _full(self, path: str) -> str:
        return posixpath.join(self._root, path)

    def _as_committed(self, full: str, folders: Sequence[str], words: Sequence[str]) -> str:
        """Return an absolute path as git names it: relative to the repository's folder, or to one of `folders`.

        Else as one of the `words` of the command has it, or below the folder of all the thread's files.
        """
        for roots in (self._folders, [folder.rstrip("/") for folder in folders]):
            below = [full[len(folder) + 1 :] for folder in roots if full.startswith(f"{folder}/")]
            if below:
                return min(below, key=len) if roots is self._folders else max(below, key=len)
        named = [word for word in words if full.endswith(f"/{word}")]
        return max(named, key=len, default=full.removeprefix(f"{self._root}/") if self._root else full)


def _report(commit: Commit, calls: Iterable[ToolCall]) -> str:
    """Return git's output about a commit, up to the output of the next commit of the same call."""
    result = next((call.result for call in calls if call.result_seq == commit.seq), "")
    _, _, rest = result.partition(f" {commit.sha}] ")
    after = _NEXT_COMMIT.search(rest)
    return rest if after is None else rest[: after.start()]


def _reported(report: str) -> tuple[str, ...]:
    """Return the files that git reports as created or renamed, by their new paths."""
    names = [match["path"].strip() for match in _CREATED.finditer(report)]
    for match in _RENAMED.finditer(report):
        paths = _BRACES.sub(lambda braces: braces["new"], match["paths"]).replace("//", "/")
        names.append(paths.rpartition(" => ")[2])
    return tuple(dict.fromkeys(names))


def _left(count: re.Match[str], report: str) -> int:
    """Return how many files of a commit still exist after it: its count of files without the deleted ones."""
    return int(count["count"]) - report.count("\n delete mode ")


def _repository_folders(calls: Iterable[ToolCall], git_calls: Iterable[ToolCall]) -> list[str]:
    """Return the folders of repositories: those below which git reports files that the agent wrote there."""
    by_name: dict[str, set[str]] = {}
    for call in calls:
        if call.tool in EDITS and call.path.startswith("/"):
            by_name.setdefault(posixpath.basename(call.path), set()).add(call.path)
    return sorted(
        {
            full[: -len(path) - 1]
            for call in git_calls
            for path in _reported(call.result)
            if "/" in path
            for full in by_name.get(posixpath.basename(path), ())
            if full.endswith(f"/{path}")
        }
    )


def _below(folder: str, path: str) -> str:
    """Return a path of a command, joined to the folder that the command names, without `.` and `..`."""
    return posixpath.normpath(posixpath.join(folder, path))


def _covers(staged: Iterable[str], full: str) -> bool:
    """Return True if one of the staged paths is the file `full` (absolute), or a folder above it."""
    return any(f"{full}/".startswith(f"{path}/") or f"/{path}/" in f"{full}/" for path in map(_without_parents, staged))


def _without_parents(path: str) -> str:
    return re.sub(r"^(?:\.\./)+", "", path)


def _distinct(paths: Iterable[str]) -> tuple[str, ...]:
    """Return distinct paths, without one that is the end of another: `a.py` beside `src/a.py` is the same file."""
    once = tuple(dict.fromkeys(map(_without_parents, paths)))
    return tuple(path for path in once if not any(other.endswith(f"/{path}") for other in once))
