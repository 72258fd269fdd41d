"""The ids that the commits of a thread have at its end: a rebase, an amended commit or a reset gives them new ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill.commands import is_same_commit, without_here_documents
from reverie.distill.procedures import split_command
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.steps import ToolCall

__all__ = ["lasting_ids"]

_COMMAND = lazy_regex(
    r"^(?:\w+=\S* )*(?:git (?:-C \S+ |-c \S+ |--no-pager )*(?P<verb>commit|cherry-pick|revert|rebase|pull|merge|reset"
    r"|checkout|switch|filter-branch|filter-repo|reflog)|gh pr (?P<pull>merge))\b(?P<rest>.*)",
    re.DOTALL,
)
_REFUSED = lazy_regex(
    r"^(?:fatal: |error: (?:cannot|could not (?!apply)|pathspec|your local changes))|\bno rebase in progress\b"
    r"|\bCurrent branch \S+ is up to date|\bAlready up[ -]to[ -]date\b",
    re.MULTILINE | re.IGNORECASE,
)
_REBASE_OPTION = lazy_regex(r"\s(?:--rebase(?!=false)|-r)\b")
_REBASED = lazy_regex(r"\bSuccessfully rebased\b|(?:^|\r)Rebasing \(", re.MULTILINE)
# How git counts the commits that it makes again: "Rebasing (1/3)"; those that it skips are there under other ids.
_COUNT = lazy_regex(r"\bRebasing \(\d+/(?P<count>\d+)\)")
_SKIPPED = "skipped previously applied commit"
_INTERACTIVE = lazy_regex(r"\s(?:-i|--interactive|--autosquash)\b")
_NO_CHANGE = lazy_regex(r"\s--(?:quit|edit-todo|show-current-patch)\b")
_SQUASHED = lazy_regex(r"\s(?:--squash|-s|--rebase|-r)\b")
_MODE = lazy_regex(r"\s--(?:soft|mixed|hard|keep|merge)\b")
_STEPS = lazy_regex(r"^(?:HEAD|@)(?P<before>(?:~\d*|\^)*)$")
# A file behind `checkout` leaves the branch: "checkout -- .", "checkout --theirs lib/parse.py".
_OF_FILES = lazy_regex(r"\s--(?:\s|theirs\b|ours\b)|^ \.$")
# A line of `git log`: "3f2c1ab Fix the parser", "* 3f2c1ab (HEAD -> main) Fix the parser".
_LOGGED = lazy_regex(r"^[*|\\/ ]*(?P<sha>[0-9a-f]{7,40}) (?:\([^)\n]*\) )?(?P<subject>\S.*)$", re.MULTILINE)
# What git says of a push: "   3f2c1ab..9d0e2f4  main -> main", "+ 3f2c1ab...9d0e2f4 main -> main (forced update)".
# A fetch ends at "origin/main".
_PUSHED = lazy_regex(
    r"^[+ ]+[0-9a-f]{7,40}\.{2,3}(?P<sha>[0-9a-f]{7,40}) +(?P<branch>\S+) +-> (?P=branch)(?!\S)", re.MULTILINE
)
# Lists that hold commits from before they were rewritten, and one of the branch that is checked out alone.
_OLD_LISTS = lazy_regex(r"\breflog\b|\bORIG_HEAD\b|\s--all\b|\bgit (?:\S+ )?fsck\b")
_OWN_LIST = lazy_regex(r"^git (?:-C \S+ |--no-pager )*log(?: -\S+| \d+)*$")
_ALL: Final = 2**31


def lasting_ids(calls: Sequence[ToolCall], commits: Iterable[Commit]) -> dict[str, str]:
    """Return the short hash that each commit has after the last call, by the short hash that it was given at first.

    It is empty where a later command rewrote the commit, and no output shows which one it has now.
    """
    history = _History()
    by_entry: dict[int, list[Commit]] = {}
    for commit in commits:
        by_entry.setdefault(commit.seq, []).append(commit)
    for call in calls:
        command = call.word("command")
        if call.tool == "Bash" and call.answered and ("git " in command or "gh " in command):
            history.read(call, by_entry.pop(call.result_seq, []))
    return history.ids


class _History:
    """The commits of a thread up to one of its commands, oldest first: their present ids by their first ones."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self._subjects: dict[str, str] = {}
        self._known: set[str] = set()  # every id that a commit was given or shown with
        self._head = ""  # the commit, if it was made in the thread, on which the branch ends; by its first id
        self._branch = ""  # where it was made
        self._switched = 0  # the number of commits when another branch was checked out
        self._before_rebase: dict[str, str] | None = None

    def read(self, call: ToolCall, made: list[Commit]) -> None:
        """Apply what the git commands of one call did to the commits' ids; `made` are commits that it confirmed."""
        command = without_here_documents(call.word("command"))
        parts = list(split_command(command))
        before = dict(self.ids)
        for part in parts:
            match = _COMMAND.match(part)
            if match is None:
                continue
            if match["verb"] in {"commit", "cherry-pick", "revert"} and made:
                self._add(made, call.result)
                made = []
            elif match["verb"] == "commit":
                if "--amend" in match["rest"] and not call.failed and not _REFUSED.search(call.result):
                    self._lose(1)
            else:
                self._read(match["verb"] or "squash", match["rest"], call.result)
        self._add(made, call.result)
        if not _OLD_LISTS.search(command):
            has_own = any(_OWN_LIST.match(part) for part in parts)
            self._find(call.result, may_be_old=has_own and self.ids == before)

    def _add(self, made: Sequence[Commit], report: str) -> None:
        """Add commits; one that was made again under the same subject has the id of the last."""
        for commit in made:
            for other, subject in self._subjects.items():
                if subject == commit.subject:
                    self.ids[other] = commit.sha
            self.ids[commit.sha] = commit.sha
            self._subjects[commit.sha] = commit.subject
            self._known.add(commit.sha)
            branch = re.search(rf"^\[(\S+)[^\]\n]* {commit.sha}\]", report, re.MULTILINE)
            self._head, self._branch = commit.sha, branch[1] if branch else ""

    def _read(self, verb: str, rest: str, report: str) -> None:
        """Apply what one git command other than a commit did to the commits' ids."""
        match verb:
            case "rebase":
                self._rebase(rest, report)
            case "pull" if _REBASED.search(report) or (_REBASE_OPTION.search(rest) and not _REFUSED.search(report)):
                self._rebase("", report)
            case "reset" if _MODE.search(rest):
                self._reset(rest)
            case "squash" | "merge" if _SQUASHED.search(rest):
                self._lose(_ALL)
            case "filter-branch" | "filter-repo":
                self._lose(_ALL)
            case "checkout" | "switch" if not _OF_FILES.search(rest):
                self._switched, self._head = len(self.ids), ""
            case "pull" | "merge":
                self._head = ""

    def _rebase(self, rest: str, report: str) -> None:
        if "--abort" in rest:
            self.ids.update(self._before_rebase or {})
        elif not _NO_CHANGE.search(rest) and (_REBASED.search(report) or not _REFUSED.search(report)):
            if "--continue" not in rest and "--skip" not in rest:
                self._before_rebase = dict(self.ids)
            counts = [int(count) for count in _COUNT.findall(report)]
            head = "" if _INTERACTIVE.search(rest) else self._head
            self._lose(max(counts) + report.count(_SKIPPED) if counts else _ALL)
            self._head = head

    def _reset(self, rest: str) -> None:
        words = [word for word in rest.split() if not word.startswith("-")]
        steps = _STEPS.match(words[0]) if words else None
        indexes = [number for number, sha in enumerate(self.ids) if words and is_same_commit(sha, words[0])]
        if steps is not None:
            before = steps["before"]
            self._lose(sum(int(count or 1) for count in re.findall(r"~(\d*)", before)) + before.count("^"))
        elif words:
            self._lose(len(self.ids) - indexes[0] - 1 if indexes else _ALL)

    def _lose(self, count: int) -> None:
        """Forget the ids of the last `count` commits, and of those on branches that were left."""
        if count:
            for number, sha in enumerate(self.ids):
                if number < self._switched or number >= len(self.ids) - count:
                    self.ids[sha] = ""
            self._head = ""

    def _find(self, report: str, *, may_be_old: bool) -> None:
        """Give commits whose old ids were lost the new ids that a log or a push shows.

        A list of the branch as it is may also show the old one, which was not rewritten then.
        """
        if "" not in self.ids.values():
            return
        shown: dict[str, str] = {}
        for line in _LOGGED.finditer(report):
            if may_be_old or not any(is_same_commit(line["sha"], old) for old in self._known):
                shown.setdefault(line["subject"].strip(), line["sha"])
        for sha, subject in self._subjects.items():
            if not self.ids[sha] and subject in shown:
                self._show(sha, shown[subject])
        for pushed in _PUSHED.finditer(report):
            if self._head and not self.ids[self._head] and pushed["branch"] == self._branch:
                self._show(self._head, pushed["sha"])

    def _show(self, sha: str, shown: str) -> None:
        self.ids[sha] = shown
        self._known.add(shown)
