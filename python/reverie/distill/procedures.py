"""Procedures and skills: one command for each project and purpose, chosen by the threads in which it passed.

What one thread happens to run says little: of seven commands that "run the tests" of a project, most run a part of
them. So each thread counts which commands passed (`command_uses`), the store keeps the counts, and a command that
passed in several threads is the project's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reverie.distill.build import build_candidate, file_tag
from reverie.distill.commands import CHECKS, TASK_RUNNER, kind_of, passed_commands, split_command
from reverie.lazy_regex import lazy_regex
from reverie.models import CommandUse, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.distill.commands import Run
    from reverie.distill.facts import ThreadFacts
    from reverie.models import Candidate

DOING: Final = {
    "tests": "run the tests of this project",
    "integration": "run the integration tests of this project",
    "ci": "run the tests of this project as CI does",
    "lint": "lint this project",
    "format": "format the code of this project",
    "types": "check the types of this project",
    "build": "build this project",
}
"""Purposes of commands, and how a procedure names them."""

_USES_MAX: Final = 40  # of one thread, those that passed most often
_QUOTED = lazy_regex(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
# Names something that existed once: "gh pr view 42", "kill 31337", "/tmp/x".
_ONE_OFF = lazy_regex(
    r"/\d+\b|#\d+\b|\b\d{5,}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"  # pull requests, processes, commits
    r"|(?:^|[\s='\"])(?:/(?:Users|home|tmp|private|var)/|~/)"
    r"|<<|\$\w*(?:tmp|id)\b|\$\(|\$\{?\d",
    re.IGNORECASE,
)
# Runs a part of the project: one test, one package, one file, one folder (but "./..." is all of them).
_PART = lazy_regex(
    r"(?:^|\s)(?:-run|-k|-t|-g|--grep|--filter|--testNamePattern|--test|-F|--workspace|-w|-p|--package|-pl|-C"
    r"|--prefix|--cwd"
    r"|--dir)[ =]|\s-c\s|::\w|\btest_\w+\.py\b"
    r"|\s(?!\./\.\.\.(?:\s|$))(?!--)[^\s=]*[\w.]/[^\s]*"
    r"|\s\S*\w\.(?:go|py|ts|tsx|js|jsx|mjs|rs|rb|java|kt|sh|test|spec)\b|\s@\S+"
    # A name of tests behind the program: "cargo test parses_dates", "npm test -- cart".
    r"|\b(?:cargo (?:test|nextest run)|go test|pytest|(?:npm|pnpm|yarn|bun)(?: run)? tests?|jest|vitest)(?: --?\S+)*"
    r" (?:-- )?(?!(?:tests?|run)$)\w"
)
# Plain shell teaches nothing: "ls -la", "cd src".
_PLAIN = lazy_regex(
    r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod|test"
    r"|\[|pkill"
    r"|kill|timeout|time|source|set|exit|return|python3? -c|node -e|for|if|while|do|done|then|fi|else|git|\w+=)(?:\s"
    r"|$)|^\w+="
)
# Starts what a project defines for itself: a task, a script, a service. Other programs an agent knows by itself.
_RUNNER = lazy_regex(
    rf"^(?:(?:npm|pnpm|yarn|bun|mise|make|deno|nx|hatch|pdm|tox|{TASK_RUNNER})\s+\S+"
    r"|docker[ -]compose\s+\S+|cargo (?:xtask|run)\b|go run \./\S+|(?:bash |sh |python3? |uv run "
    r"|node )?(?:\./)?(?:[\w.-]+/)*[\w.-]+\.(?:sh|py|mjs|js))\b"
)
# What any agent runs by itself in a project of the language: knowing it helps nobody.
_OBVIOUS = lazy_regex(
    r"(?:go (?:build|vet|test) \./\.\.\.|cargo (?:build|check|test)(?: --(?:all|workspace|release))*|make)"
)
# Characters; a longer command is a script.
_MAX_COMMAND: Final = 160
_HABIT: Final = 2  # threads, or times in one thread of a plain command; once may be chance
_PLAIN_WORDS_MAX: Final = 4  # of a command that speaks for itself: "mise run test", "pnpm run type-check"
# Threads in which a command of no known purpose passed, and passes in all of them, from which it is a skill. `make
# fixtures` that passed twice in one thread and once in another is one; passed once in each of two it may have been the
# same task.
_SKILL_THREADS: Final = 2
_SKILL_TIMES: Final = 3
_DESCRIPTION_WORDS_MAX: Final = 5  # "Start the API server"; a longer one is of the task at hand, "... with the new URL"


def command_uses(facts: ThreadFacts) -> tuple[CommandUse, ...]:
    """Return how often each command passed that others could run again, those of most runs first, at most 40."""
    uses: dict[tuple[str, str], CommandUse] = {}
    for run, parts in _passed(facts):
        for purpose, command in parts:
            previous_use = uses.get((purpose, command), CommandUse(purpose, command, 0))
            description = run.description or previous_use.description
            uses[purpose, command] = replace(previous_use, times=previous_use.times + 1, description=description)
    return tuple(sorted(uses.values(), key=lambda use: -use.times)[:_USES_MAX])


def merged_uses(one: Iterable[CommandUse], later: Iterable[CommandUse]) -> tuple[CommandUse, ...]:
    """Return the uses of one thread from those of two stretches of it, at most 40."""
    uses = {(use.purpose, use.command): use for use in one}
    for use in later:
        key = (use.purpose, use.command)
        previous_use = uses.get(key)
        uses[key] = use if previous_use is None else replace(use, times=previous_use.times + use.times)
    return tuple(sorted(uses.values(), key=lambda use: -use.times)[:_USES_MAX])


def procedures(facts: ThreadFacts, at: str | None, uses: Sequence[CommandUse]) -> Iterator[Candidate]:
    """Yield the project's command for each purpose, where this thread ran it.

    `uses` has an entry for each thread and command, oldest thread first. No count and no date is stored: the next
    thread's would differ, and make another memory.
    """
    passed = _passed(facts)
    for purpose, doing in DOING.items():
        command = _settled([use for use in uses if use.purpose == purpose])
        ran = [run for run, parts in passed if (purpose, command) in parts]
        if ran and not _OBVIOUS.fullmatch(command):
            yield build_candidate(
                MemoryType.PROCEDURE,
                f"To {doing}: `{command}`.",
                ran[-1].at or at,
                [run.call_seq for run in ran[-3:]],
                purpose,
            )


def skills(facts: ThreadFacts, at: str | None, uses: Sequence[CommandUse]) -> Iterator[Candidate]:
    """Yield a skill for each task or script of the project that passed in several threads, with its stated purpose."""
    by: dict[str, list[CommandUse]] = defaultdict(list)
    for use in uses:
        if use.purpose == "other":
            by[use.command].append(use)
    passed = _passed(facts) if by else ()
    for command, uses_of_command in sorted(by.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        times = sum(use.times for use in uses_of_command)
        ran = [run for run, parts in passed if ("other", command) in parts]
        if len(uses_of_command) < _SKILL_THREADS or times < _SKILL_TIMES or not ran:
            continue
        said = min((use.description.rstrip(".") for use in uses_of_command), key=lambda text: (len(text), text))
        if len(said.split()) > _DESCRIPTION_WORDS_MAX:
            continue
        # "TypeScript" and "API" keep their capitals.
        doing = said[0].lower() + said[1:] if said.split()[0][1:].islower() else said
        seqs = [run.call_seq for run in ran[-3:]]
        yield build_candidate(
            MemoryType.SKILL, f"To {doing}: `{command}`.", ran[-1].at or at, seqs, file_tag(command.split()[0])
        )


def _settled(uses: Sequence[CommandUse]) -> str:
    """Return the command of a project for one purpose, empty where none is settled.

    The first that is a habit stays, so that its memory does not change to and fro, until another one passed in twice as
    many threads, and in two more: `make test` of 3 threads is replaced by `just test` once that passed in 6.
    """
    settled = ""
    threads: Counter[str] = Counter()
    for use in uses:
        threads[use.command] += 1
        is_habit = threads[use.command] >= _HABIT or (use.times >= _HABIT and _is_plain(use.command))
        if (not settled and is_habit) or threads[use.command] >= max(
            2 * threads[settled], threads[settled] + 2, _HABIT
        ):
            settled = use.command
    return settled


def _is_plain(command: str) -> bool:
    words = command.split()
    return len(words) <= _PLAIN_WORDS_MAX and not any(word.startswith("-") for word in words)


def _passed(facts: ThreadFacts) -> tuple[tuple[Run, list[tuple[str, str]]], ...]:
    return _with_parts(facts.runs, facts.trace.root)


@lru_cache(maxsize=1)  # what is counted, chosen and learnt of one thread looks at the same runs one after the other
def _with_parts(runs: tuple[Run, ...], root: str) -> tuple[tuple[Run, list[tuple[str, str]]], ...]:
    return tuple((run, parts) for run in runs if not run.failed and (parts := _parts(run, root)))


def _parts(run: Run, root: str) -> list[tuple[str, str]]:
    """Return purpose and command of each part of a shell line that passed.

    None where it goes into a part of the project, where a command is another one than in its root.
    """
    parts = split_command(run.command)
    folders = [part[3:].strip().strip("'\"").rstrip("/") for part in parts if part.startswith("cd ")]
    if any(not folder.startswith("/") or (root and folder.startswith(f"{root}/")) for folder in folders):
        return []
    passed = passed_commands(run)
    if run.purpose not in CHECKS:
        first = next((part for part in parts if not part.startswith("cd ")), "")
        is_skill = first in passed and run.description and _is_reusable(first) and _RUNNER.match(first)
        return [("other", first)] if is_skill else []
    whole = [part for part in passed if _is_reusable(part) and not _PART.search(part)]
    return list(dict.fromkeys((purpose, part) for part in whole if (purpose := kind_of(part)[0])))


def _is_reusable(command: str) -> bool:
    bare = _QUOTED.sub("", command)
    return (
        0 < len(command) <= _MAX_COMMAND
        and not _PLAIN.match(command)
        and not _ONE_OFF.search(command)
        and not any(mark in bare for mark in "`'\"")
        and "`" not in command
        and all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "{}", "[]"))
    )
