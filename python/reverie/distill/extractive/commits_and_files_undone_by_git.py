"""Commits that git commands of a thread reverted or reset, and files that they brought back to an earlier state."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.distill.commands import is_same_commit, without_here_documents
from reverie.distill.procedures import split_command
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.steps import ToolCall

__all__ = ["Discard", "TakenBack", "taken_back"]

_GIT = lazy_regex(
    r"^(?:\w+=\S* )*git (?:-C \S+ |-c \S+ |--no-pager )*(?P<verb>revert|reset|checkout|switch|restore|stash)\b"
)
_REFUSED = lazy_regex(r"^(?:Exit code [1-9]|fatal: |error: |CONFLICT )", re.MULTILINE)
# "HEAD~2", "HEAD^", "3f2c1ab~1": a commit, and how many before it.
_REFERENCE = lazy_regex(r"^(?P<commit>HEAD|@|[0-9a-f]{7,40})(?P<before>(?:~\d*|\^)*)$")
# The subject that git gives the commit of a revert, and of the revert of one.
_REVERT = lazy_regex(r'^(?P<again>Reapply|Revert "Revert|Revert) "(?P<subject>.+?)"+$')
_WITH_VALUE: Final = frozenset({"-s", "--source", "-m", "--mainline", "--strategy", "-X", "-b", "-B", "-c", "-C"})
_NO_END: Final = frozenset({"--abort", "--quit", "--skip", "--continue"})
_FILE = lazy_regex(r"\w/.*\w\.\w{1,5}$|^[\w-]+\.[a-z]{1,5}$")
_ALL: Final = (".", "./", ":/", "*")


@dataclass(frozen=True, slots=True)
class Discard:
    """Files that were brought back to an earlier state at entry `seq`: some paths, or all (an empty tuple).

    With `committed` to that of an earlier commit, else to the last one, so that only later edits were lost.
    """

    seq: int
    paths: tuple[str, ...]
    committed: bool

    def covers(self, path: str) -> bool:
        """Return True if the command brought the file at `path`, relative to the project, back to an earlier state."""
        return not self.paths or any(
            path == one
            or path.startswith(f"{one.rstrip('/')}/")
            or one.endswith(f"/{path}")
            or path.endswith(f"/{one}")
            for one in self.paths
        )


class _Arguments(NamedTuple):
    """The options of a command with their values, its plain words, and the paths after `--`."""

    options: dict[str, str]
    words: list[str]
    paths: list[str]


@dataclass(slots=True)
class TakenBack:
    """The commits of a thread that were taken back, by their short hashes, and the files that were brought back."""

    commits: set[str] = field(default_factory=set)
    discards: list[Discard] = field(default_factory=list)


@dataclass(slots=True)
class _History:
    """The commits of the branch that is checked out, oldest first, as far as the thread made them."""

    line: list[Commit]
    every: list[Commit]
    back: TakenBack
    stashed: list[Discard] = field(default_factory=list)

    def add(self, commit: Commit) -> None:
        """Add a commit; a revert marks its target as taken back, the revert of a revert marks it as valid again."""
        revert = _REVERT.match(commit.subject)
        if revert is not None:
            target = next((one for one in reversed(self.every) if one.subject == revert["subject"]), None)
            if target is not None:
                (self.back.commits.add if revert["again"] == "Revert" else self.back.commits.discard)(target.sha)
        self.line.append(commit)
        self.every.append(commit)

    def find(self, reference: str) -> int | None:
        """Return the position of the commit that a reference names, -1 for one before the thread, None if unknown."""
        match = _REFERENCE.match(reference)
        if match is None:
            return None
        steps = sum(int(number or 1) for number in re.findall(r"~(\d*)", match["before"])) + match["before"].count("^")
        if match["commit"] in {"HEAD", "@"}:
            at = len(self.line) - 1
        else:
            at = next((at for at, one in enumerate(self.line) if is_same_commit(one.sha, match["commit"])), -2)
        return None if at == -2 else max(-1, at - steps)


def taken_back(calls: Sequence[ToolCall], commits: Iterable[Commit]) -> TakenBack:
    """Return what the commands among `calls` took back of the `commits` of the thread, and of edits since."""
    history = _History([], [], TakenBack())
    by_entry: dict[int, list[Commit]] = {}
    for commit in commits:
        by_entry.setdefault(commit.seq, []).append(commit)
    for call in calls:
        if call.tool == "Bash" and "git" in call.word("command"):
            if not call.failed and not _REFUSED.search(call.result):
                for part in split_command(without_here_documents(call.word("command"))):
                    _read(part, call.seq, history)
            for commit in by_entry.pop(call.result_seq, []):
                history.add(commit)
    history.back.discards += history.stashed  # never brought back
    return history.back


def _read(command: str, seq: int, history: _History) -> None:
    """Record in `history` what one git command takes back: a revert, reset, restore, checkout or stash."""
    match = _GIT.match(command)
    if match is None:
        return
    given = _arguments(command[match.end() :])
    match match["verb"]:
        case "revert" if not given.options.keys() & _NO_END:
            for word in given.words:
                at = history.find(word)
                if at is not None and at >= 0:
                    history.back.commits.add(history.line[at].sha)
        case "reset" if not given.paths:
            _reset(given, seq, history)
        case "restore" if "--staged" not in given.options:
            source = given.options.get("-s") or given.options.get("--source") or ""
            _restore(source, [*given.words, *given.paths], seq, history)
        case "checkout":
            _checkout(given, seq, history)
        case "switch" if not given.options.keys() & {"-c", "-C", "--create"}:
            history.line.clear()
        case "stash":
            if not given.words or given.words[0] in {"push", "save"}:
                history.stashed.append(Discard(seq, tuple(given.paths), committed=False))
            elif given.words[0] in {"pop", "apply"} and history.stashed:
                history.stashed.pop()


def _reset(given: _Arguments, seq: int, history: _History) -> None:
    at = history.find(given.words[0]) if given.words else len(history.line) - 1
    if at is not None and len(given.words) <= 1:
        history.back.commits |= {commit.sha for commit in history.line[at + 1 :]}
        del history.line[at + 1 :]
        if "--hard" in given.options:
            history.back.discards.append(Discard(seq, (), committed=False))


def _checkout(given: _Arguments, seq: int, history: _History) -> None:
    """Record a checkout of files, or of another branch, whose commits are unknown; a new branch changes nothing."""
    words = given.words
    if given.options.keys() & {"-b", "-B", "--ours", "--theirs", "--merge", "-p", "--patch"}:
        return
    if given.paths:
        _restore(words[0] if words else "", given.paths, seq, history)
    elif words and (words[0] in _ALL or (len(words) == 1 and _FILE.search(words[0]))):
        _restore("", words, seq, history)
    elif len(words) > 1 and history.find(words[0]) is not None:
        _restore(words[0], words[1:], seq, history)
    else:
        history.line.clear()


def _restore(source: str, paths: Sequence[str], seq: int, history: _History) -> None:
    """Record files that were brought back to the state of the commit `source`; an empty one is the last commit."""
    is_last = source in {"", "HEAD", "@"}
    if paths and (is_last or history.find(source) is not None):
        named = () if any(path in _ALL for path in paths) else tuple(path.removeprefix("./") for path in paths)
        history.back.discards.append(Discard(seq, named, committed=not is_last))


def _arguments(rest: str) -> _Arguments:
    """Return the arguments of a command."""
    before, _, behind = f" {rest} ".partition(" -- ")
    options: dict[str, str] = {}
    words: list[str] = []
    given = iter(word.strip("'\"") for word in before.split())
    for word in given:
        if not word.startswith("-"):
            words.append(word)
            continue
        name, _, value = word.partition("=")
        options[name] = value or (next(given, "") if name in _WITH_VALUE else "")
    return _Arguments(options, words, [word.strip("'\"") for word in behind.split()])
