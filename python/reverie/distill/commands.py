"""Shell commands of a thread: purpose, exit status, here-documents, commits and pull requests."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Final

from reverie.distill.sentences import clip
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.steps import ToolCall

_OPENING = lazy_regex(r"<<-?[ \t]*(['\"]?)(?P<tag>\w+)\1\n")
_FIRST_WORD = lazy_regex(r"^[^\S\n]*(?P<word>\w+)", re.MULTILINE)


def here_documents(command: str) -> tuple[list[str], str]:
    """Return the texts of a command's here-documents in their order, and the command without them.

    The name is at the end of a line. It closes as the first word of a line, whatever follows: in `$(cat <<EOF` the
    bracket does. One that is not closed stays in the command.
    """
    openings = list(_OPENING.finditer(command))
    closings: dict[str, list[re.Match[str]]] = {opening["tag"]: [] for opening in openings}
    for first in _FIRST_WORD.finditer(command) if openings else ():
        if first["word"] in closings:
            closings[first["word"]].append(first)
    texts, rest, end = [], [], 0
    for opening in openings:
        of_tag = closings[opening["tag"]]
        at = bisect_left(of_tag, opening.end(), key=re.Match.start)
        if opening.start() >= end and at < len(of_tag):
            texts.append(command[opening.end() : of_tag[at].start()])
            rest.append(command[end : opening.start()])
            end = of_tag[at].end()
    return texts, "".join([*rest, command[end:]])


class Purpose(Enum):
    """The purpose of a shell command."""

    TEST = "tests"
    BUILD = "build"
    LINT = "lint"
    COMMIT = "commit"
    OTHER = "other"


CHECKS: Final = frozenset({Purpose.TEST, Purpose.BUILD, Purpose.LINT})
"""The purposes of commands whose output tells if they failed."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a shell command; `error` is the most informative line of its output if it failed."""

    command: str
    purpose: Purpose
    failed: bool
    error: str
    seq: int
    at: str | None
    description: str
    call_seq: int = 0  # the entry that holds the command itself
    passes: tuple[Purpose, ...] = ()  # further checks of the same command line, where it passed
    finds: bool = False  # it failed by what a check reports


@dataclass(frozen=True, slots=True)
class Commit:
    """A git commit made in the thread: its short hash and the first line of its message.

    `body` is the command that gave it the message: an amended commit may keep that of its predecessor.
    """

    sha: str
    subject: str
    seq: int
    at: str | None
    body: str = ""


TASK_RUNNER: Final = (
    r"(?:just|(?:go-)?task|poe|mise(?: run| r)?|moon run|nox -s|nox --sessions?|(?:python3? -m )?(?:invoke|inv)|hatch"
    r" run|pdm run|rye run|(?:bundle exec |bin/)?rake|deno task|composer(?: run(?:-script)?)?|(?:npx )?turbo(?: run)?"
    r"|ant|sbt|lein|mix|(?:\./)?gradlew?(?: --?[\w-]+)*|(?:\./)?mvnw?(?: -\S+| clean)*|bazel(?:isk)?|pants|buck2?)"
)
"""Programs that run a task of the project by its name, up to that name."""
# Where a command begins: "just test" in the text of a pull request is none.
_BEGINS: Final = r"^(?:\w+=\S* )*(?:(?:time|sudo|uv run|poetry run|npx) )?"
_NPM: Final = r"(?:npm|pnpm|yarn|bun)(?: (?:--filter|-F)[ =]\S+)*(?: run)?"
# Of these programs the environment's name tells: `tox -e lint` tests nothing.
_ENVIRONMENTS: Final = r"(?:tox|nox)\b(?!.*\b(?:lint|mypy|types?|typing|typecheck|format|fmt|docs|build|flake8|ruff)\b)"
_TESTS: Final = (
    rf"\b(?:pytest|go test|cargo (?:test|nextest)|{_NPM} tests?|jest|vitest|mocha|rspec|phpunit|make (?:test|check)"
    r"|mise run test\S*|ctest|unittest|(?:dotnet|swift|deno|flutter|node --|zig build |playwright) ?test"
    rf"|cypress run|bats|gotestsum|{_ENVIRONMENTS})\b"
    rf"|{_BEGINS}{TASK_RUNNER} (?:unit-?)?(?:tests?|check|spec|verify)(?![\w./-])"
)
_BUILDS: Final = (
    rf"\b(?:go build|cargo (?:build|check)|make|cmake|{_NPM} build|docker build|dotnet build|swift build)\b"
    rf"|{_BEGINS}{TASK_RUNNER} (?:build|compile|package|install|assemble)(?![\w./-])"
)
_E2E: Final = r"\b(?:tests?|check|playwright|cypress)\b.*\b(?:integration|e2e)\b|\b(?:integration|e2e)\b.*\btests?\b"
_LINTS: Final = r"\b(?:golangci-lint|ruff|eslint|clippy|prettier|flake8|pylint|lint|vet|biome|stylelint)\b"
_FORMATS: Final = r"\b(?<!-)(?:fmt|gofmt|goimports|format|black)\b|\bprettier\b.* (?:--write|-w)\b"
# The first that matches what a command runs decides: `mise run test:integration` runs integration tests.
_KINDS: Final = (
    ("format", Purpose.LINT, lazy_regex(_FORMATS)),
    ("types", Purpose.LINT, lazy_regex(r"\b(?:tsc|mypy|pyright|type-?check|check-types)\b")),
    ("lint", Purpose.LINT, lazy_regex(_LINTS)),
    ("ci", Purpose.TEST, lazy_regex(r"\btest[:-]ci\b|\bci[:-]test\b")),
    ("integration", Purpose.TEST, lazy_regex(_E2E)),
    ("tests", Purpose.TEST, lazy_regex(_TESTS)),
    ("build", Purpose.BUILD, lazy_regex(_BUILDS)),
)
_COMMITS: Final = lazy_regex(r"\bgit (?:-C \S+ )?commit\b")
# Between two commands of one line.
_SEPARATOR = lazy_regex(r"\s*(?:&&|\|\||;|\n)\s*")
# Redirections and output filters say nothing about the command: "go test ./... 2>&1 | tail -5".
_FILTER = lazy_regex(r"\s*(?:\d?>&\d|&?\d?>>?\s*[^\s&|]+|\|\s*(?:head|tail|grep|cat|less|wc|tee)\b.*)")
# Filters whose output does not show how the command ended.
_SELECTS = lazy_regex(r"\b(?:grep|wc)\b")
_IN_QUOTES = lazy_regex(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_CONTINUED = lazy_regex(r"\\\n\s*")
# Programs that run nothing of the project, whatever files or words they are given.
_READS = lazy_regex(r"(?:cat|echo|find|gh|git|grep|head|ls|printf|rg|sed|tail|cd|rm)\b")
_PROGRAM_ENDS = lazy_regex(r"(?<!c )['\"]|\|")
# git's own confirmation: "[main 3f2c1ab] Fix the parser".
_COMMITTED = lazy_regex(r"^\[(?P<branch>[^\]\n]*?) (?P<sha>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE)
_PULL = lazy_regex(r"https?://[^\s)>\"']+/(?:pull|merge_requests)/\d+")
_QUOTED = lazy_regex(r"(?:-[a-z]*m|--(?:message|body|title))[ =]\"(?P<text>(?:[^\"\\]|\\.)*)\"", re.DOTALL)
# Trailers of a commit message, which say nothing about the change: "Signed-off-by: ...".
_SIGNED = lazy_regex(r"^[ \t]*(?:[A-Z][\w-]*-[Bb]y: .*|\W*Generated with .*)$\n?", re.MULTILINE)
_MANY = 4  # words; fewer are a label
# Commands that change something; without one an agent only looked.
_CHANGING = lazy_regex(
    r"\bgit (?:-C \S+ )?(?:commit|push|merge|rebase|cherry-pick|revert|mv|rm|apply|checkout|switch|tag|stash|restore"
    r"|reset|add)\b|\bgh (?:pr|issue|release|api|run)\b"
    r"|\b(?:mv|cp|rm|mkdir|touch|patch|sed -i|tee|install|deploy|publish)\b|[^-=2&]>\s?[\w./~]"
)
# The client's text for a command that it did not run: refused by the person, or cancelled with another one.
_NOT_RUN = lazy_regex(r"\s*(?:<tool_use_error>|The user doesn't want to proceed)")
# How the client reports a non-zero exit status.
_EXIT = lazy_regex(r"^Exit code (\d+)", re.MULTILINE)
# A line by which test runners, compilers and linters report failure, for output that was piped through `head`.
_BAD = lazy_regex(
    r"^(?:--- FAIL|FAIL\b|FAILED\b|ERROR\b|Error:|error(?:\[\w+\])?:|E  |panic:|fatal:|Traceback|\w+Error:)"
    r"|: (?:undefined|error|cannot|fatal|syntax error)\b"
    r"|\b[1-9]\d* (?:failed|errors?+(?! \(\d+ fixed, 0 remaining)|issues?:)",
    re.MULTILINE,
)
# What shells, make and npm say themselves of a command that failed: "sh: acme: command not found".
_STOPPED = lazy_regex(r"\bcommand not found\b|^make(?:\[\d+\])?: \*\*\*|^npm (?:ERR!|error)\b", re.MULTILINE)
# What they say of a command that is not there.
_MISSING = lazy_regex(r"\bcommand not found\b|\bNo rule to make target\b|\bMissing script\b", re.IGNORECASE)
# What gives a line the exit code of another command than the check: a pipe, `;`, `|| true`, `&`, several lines.
_MASKED = lazy_regex(r"\||;|\S\s*\n\s*\S|(?<![>&])&(?![&\d>])")
# How test runners end without a failure: "1274 pass\n 0 fail", "12 passed in 3 s".
_ALL_PASSED = lazy_regex(
    r"\A(?!.*\b[1-9]\d* (?:fail|error)).*(?:\b[1-9]\d* pass(?:ed|ing)?\b|\b0 fail(?:ed|ing|ures?)?\b)",
    re.DOTALL | re.IGNORECASE,
)
_SUMMARY = 400  # characters at the end of an output
# Words that make an output line an explanation: "undefined: parseLine".
_TELLING = lazy_regex(
    r"(?:error|fatal|panic|undefined|cannot|not found|no such|denied|expected|mismatch|conflict|invalid|unexpected)",
    re.IGNORECASE,
)


# What the program around a check says of its end: "[lint] ERROR task failed", "make: *** [test] Error 1".
_WRAPPER = lazy_regex(
    r"^(?:\[[\w:.-]+\] )?(?:ERROR )?(?:task|command|script|step|process|recipe)\b.*\b(?:failed|exited|completed)"
    r"|^\[[\w:.-]+\] ERROR\b|^make(?:\[\d+\])?: \*\*\*|^npm ERR!|ELIFECYCLE|^error: (?:script|recipe) "
    r"|^exit (?:status|code) \d+$|\berror: process didn't exit",
    re.IGNORECASE,
)


def command_runs(calls: Sequence[ToolCall]) -> list[Run]:
    """Return every shell command that ran, with its purpose and outcome, oldest first."""
    runs = []
    for call in calls:
        if call.tool != "Bash" or not call.answered or _NOT_RUN.match(call.result):
            continue
        command = call.word("command")
        purposes = _purposes(command)
        purpose = purposes[0]
        failed = _has_failed(call, purpose)
        runs.append(
            Run(
                command=command,
                purpose=purpose,
                failed=failed,
                error=_error_line(call.result) if failed else "",
                seq=call.result_seq,
                at=call.at,
                description=call.word("description"),
                call_seq=call.seq,
                passes=() if failed else tuple(purposes[1:]),
                finds=failed and purpose in CHECKS and not _MISSING.search(call.result),
            )
        )
    return runs


def add_commits(commits: list[Commit], call: ToolCall) -> None:
    """Add the commits that git confirmed in a call to those made before; an amended one replaces its predecessor.

    A commit holds where the rest of its line failed: `git commit ... && git push`.
    """
    command = call.word("command")
    if call.tool != "Bash" or "git" not in command:
        return
    for match in _COMMITTED.finditer(call.result):
        subject, body = match["subject"].strip(), command
        if "--amend" in command and commits:
            replaced = commits.pop()
            body = replaced.body if "--no-edit" in command and replaced.subject == subject else command
        commits.append(Commit(match["sha"], subject, call.result_seq, call.at, body))


def message_texts(command: str) -> list[str]:
    """Return texts passed to a command: here-documents, and quoted strings of several lines or many words.

    Who signed a commit is no part of what it says.
    """
    texts, rest = here_documents(command)
    quoted = (match["text"] for match in _QUOTED.finditer(rest))
    texts += [text.replace('\\"', '"') for text in quoted if len(text.split()) >= _MANY]
    return [_SIGNED.sub("", text).rstrip() for text in texts]


def pull_requests(calls: Sequence[ToolCall]) -> list[tuple[str, int]]:
    """Return the URL of every pull request that was opened, with the entry it came from."""
    seqs: dict[str, int] = {}
    for call in calls:
        if call.tool == "Bash" and "pr create" in call.word("command"):
            for match in _PULL.finditer(call.result):
                seqs.setdefault(match.group(), call.result_seq)
    return list(seqs.items())


def changes_something(command: str) -> bool:
    """Return True if a shell command may change files, a repository or a service."""
    return _CHANGING.search(command) is not None


def _purposes(command: str) -> list[Purpose]:
    """Return the purposes of a command line, a commit first: `git commit -m "fix lint"` lints nothing."""
    line = here_documents(command)[1]
    if _COMMITS.search(line):
        return [Purpose.COMMIT]
    found = {purpose for part in split_command(line) if (purpose := kind_of(part)[1])}
    return [purpose for purpose in (Purpose.TEST, Purpose.LINT, Purpose.BUILD) if purpose in found] or [Purpose.OTHER]


def kind_of(command: str) -> tuple[str, Purpose | None]:
    """Return what a command checks, "tests" or "types", and that as a purpose; up to its first quote or pipe.

    What a shell is given is read: `sh -c 'npm test'`.
    """
    program = "" if _READS.match(command) else _PROGRAM_ENDS.split(command, maxsplit=1)[0]
    return next(((kind, purpose) for kind, purpose, pattern in _KINDS if pattern.search(program)), ("", None))


def split_command(command: str) -> list[str]:
    """Split a shell line into its commands, without redirections and output filters; quoted text stays intact."""
    return [part for part, _, _ in _parts(command)]


def passed_commands(run: Run) -> list[str]:
    """Return the commands of a line that passed, of which its exit status or its output tells that they did.

    A status of 0 says so of both in `a && b`, of neither in `a || b`, of the last in `a; b`. In `a | tail` it is that
    of the filter: a check is judged by its output, if the filter leaves that; of another command nothing is known.
    """
    passed: list[str] = []
    for part, operator, pipe in _parts(here_documents(run.command)[1]) if not run.failed else ():
        is_judged = run.purpose in CHECKS and kind_of(part)[1] is not None and not _SELECTS.search(pipe)
        if operator != "&&":
            passed.clear()
        if operator != "||" and (not pipe or is_judged):
            passed.append(part)
    return passed


def _parts(command: str) -> Iterator[tuple[str, str, str]]:
    """Yield the commands of a shell line, each with the operator before it and the filters of its output after it."""
    line = _CONTINUED.sub(" ", command.strip())
    masked = _IN_QUOTES.sub(lambda match: "q" * len(match.group()), line)
    start, operator = 0, ""
    for match in [*_SEPARATOR.finditer(masked), None]:
        end = len(line) if match is None else match.start()
        part = _without_filters(line[start:end], masked[start:end])
        if part:
            found = _FILTER.findall(masked[start:end])
            yield part, operator, "".join(one for one in found if one.lstrip().startswith("|"))
        if match is not None:
            start, operator = match.end(), match.group().strip()


def _without_filters(command: str, masked: str) -> str:
    kept, start = [], 0
    for match in _FILTER.finditer(masked):
        kept.append(command[start : match.start()])
        start = match.end()
    return "".join([*kept, command[start:]]).strip()


def _has_failed(call: ToolCall, purpose: Purpose) -> bool:
    """True if the client or the exit code reports failure.

    A test or build is judged by its output where no success is reported, or the success may be that of another command
    of the line: `pytest | tail`.
    """
    if call.failed:
        return "[Request interrupted" not in call.result
    code = _EXIT.search(call.result[:200])
    if code is not None:
        return code.group(1) != "0"
    if call.succeeded and not _MASKED.search(call.word("command")):
        return False  # "Found 3 errors (3 fixed, 0 remaining)"
    if purpose is Purpose.TEST and _ALL_PASSED.search(call.result[-_SUMMARY:]):
        return False  # tests of errors print errors
    return purpose in CHECKS and any(said.search(call.result) for said in (_BAD, _STOPPED))


def _error_line(result: str) -> str:
    lines = [line.strip() for line in result.split("\n") if line.strip() and not line.startswith("Exit code")]
    lines = [line for line in lines if not _WRAPPER.search(line)] or lines
    telling = [line for line in lines if _TELLING.search(line)]
    best = (line for line in telling if _BAD.search(line) and len(line.split()) > 2)
    return clip(next(chain(best, telling, filter(_BAD.search, lines), lines), ""), 200)
