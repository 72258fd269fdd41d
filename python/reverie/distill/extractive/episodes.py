"""Episodes: one candidate memory per finished task, with the fields of seed 004."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.candidate_builder import file_tag
from reverie.distill.extractive.commands import Purpose
from reverie.distill.extractive.prose import clip, one_line, sentences, specific_names
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.distill.extractive.commands import Commit
    from reverie.distill.extractive.thread_facts import KeySentence, ThreadFacts
    from reverie.distill.extractive.trace import Utterance

__all__ = ["episodes", "short_summary"]

# Words of a summary line (seed 004).
_MAX_WORDS = 10
# Characters of a field.
_LONG = 400
# Subjects that name no work: "Merge branch main", "fixup! ...".
_MERGE = re.compile(r"^(?:Merge (?:branch|remote|pull)|fixup!|squash!|wip\b|Revert )", re.IGNORECASE)
# A request about something broken gets the field `Problem`, any other `Task`.
_PROBLEM = re.compile(
    r"\b(?:bugs?|fix|fails?|failing|failed|broken?|errors?|crash\w*|why|wrong|slow\w*|leaks?|regress\w*|conflicts?"
    r"|issues?|problems?|doesn'?t|does not|not working)\b",
    re.IGNORECASE,
)
# "Ok, can you please fix the parser" gives the title "Fix the parser".
_PREAMBLE = re.compile(
    r"^(?:(?:ok|okay|yes|please|let'?s|can you|could you|now|so|hmm+|and|also|then|getting back to(?: only)?)[,:\s]+)+",
    re.IGNORECASE,
)
# Dropped first when a title has more than ten words.
_FILLER = {"a", "an", "the", "of", "to", "for", "in", "on", "and", "that", "this", "with", "is", "are", "be"}
# The type of a conventional commit: "fix(parser): handle tabs" gives "handle tabs".
_PREFIX = re.compile(r"^(?:feat|fix|docs?|chore|refactor|test|perf|build|ci|style)(?:\([^)]*\))?!?:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Task:
    """A request and the range of entries that worked on it: from `first` up to, not including, `end`."""

    request: Utterance
    first: int
    end: int


def episodes(facts: ThreadFacts, at: str | None) -> list[Candidate]:
    """Return an episode per task with edits and a commit, or passing checks and a report; oldest first."""
    found = []
    for task in _tasks(facts.requests):
        episode = _episode(task, facts, at)
        if episode is not None:
            found.append(episode)
    return found


def short_summary(title: str) -> str:
    """Return `title` in at most ten words; articles and prepositions are dropped first."""
    words = _PREFIX.sub("", one_line(title)).rstrip(".").split()
    if len(words) > _MAX_WORDS:
        words = [word for word in words if word.lower() not in _FILLER]
    return " ".join(words[:_MAX_WORDS])


def _tasks(requests: Sequence[Utterance]) -> list[_Task]:
    """Split a thread into tasks: each starts at a request for new work and ends before the next one."""
    openers = [said for said in requests if cue_phrases.opens_task(said.text)]
    ends = [*(said.seq for said in openers[1:]), 2**62][: len(openers)]
    return [_Task(said, said.seq, end) for said, end in zip(openers, ends, strict=True)]


def _episode(task: _Task, facts: ThreadFacts, at: str | None) -> Candidate | None:
    edited = tuple(
        dict.fromkeys(
            facts.trace.relative(call.path)
            for call in facts.trace.calls
            if call.tool in {"Edit", "Write", "MultiEdit", "NotebookEdit"}
            and call.path
            and not call.failed
            and _within(task, call.seq)
        )
    )
    commits = [commit for commit in facts.commits if _within(task, commit.seq) and not _MERGE.match(commit.subject)]
    checked = any(
        _within(task, run.seq) and not run.failed and run.purpose in {Purpose.TEST, Purpose.BUILD, Purpose.LINT}
        for run in facts.runs
    )
    outcomes = [mark for mark in facts.outcomes if _within(task, mark.seq)]
    reported = any(specific_names(mark.text) for mark in outcomes)
    if not edited or not (commits or (checked and reported)):
        return None
    when = (commits[-1].at if commits else None) or task.request.at or at
    title = _title(task, commits)
    problem = clip(" ".join(sentences(task.request.text)[:3]) or task.request.text, _LONG)
    fields = [
        ("Summary", short_summary(title)),
        ("Date", (when or "")[:10]),
        ("Problem" if _PROBLEM.search(problem) else "Task", problem),
        ("Solution", _solution(commits, outcomes, edited)),
        ("Lesson", _lesson(task, facts)),
    ]
    kept = tuple((key, value) for key, value in fields if value)
    return Candidate(
        type=MemoryType.EPISODE,
        content="\n".join(f"- {key}: {value}" for key, value in kept),
        tags=_tags(edited),
        title=title,
        fields=kept,
        at=when,
        provenance={"seqs": sorted({task.first, *(commit.seq for commit in commits)})},
    )


def _within(task: _Task, seq: int) -> bool:
    return task.first <= seq < task.end


def _title(task: _Task, commits: Sequence[Commit]) -> str:
    """Return the episode's title: the subject of its first commit, else the request's own words."""
    if commits:
        return clip(_PREFIX.sub("", commits[0].subject), 80)
    found = sentences(task.request.text)
    heading = next((line[2:] for line in task.request.text.split("\n") if line.startswith("# ")), "")
    asked = _PREAMBLE.sub("", heading or (found[0] if found else task.request.text)).strip()
    title = clip(asked, 80).rstrip("…").rstrip(".?!: ")
    return title[:1].upper() + title[1:]


def _solution(commits: Sequence[Commit], outcomes: Sequence[KeySentence], edited: Sequence[str]) -> str:
    """Return commit subjects and outcomes that the agent reported, else the edited files."""
    said = [f"{commit.subject} ({commit.sha})" for commit in commits[:4]]
    specific = [mark.text for mark in outcomes if specific_names(mark.text) and not mark.text.endswith(":")]
    text = "; ".join(dict.fromkeys([*said, *(text.rstrip(".") for text in specific[-3:])]))
    return clip(f"{text}. Files: {', '.join(edited[:6])}" if text else f"Edited {', '.join(edited[:6])}", 2 * _LONG)


def _lesson(task: _Task, facts: ThreadFacts) -> str:
    """Return why a check failed, else what the agent found out, else the person's correction."""
    for fix in facts.fixes:
        if _within(task, fix.passed.seq) and fix.why:
            return clip(fix.why, _LONG)
    for marks in (facts.findings, facts.corrections):
        telling = [
            mark.text for mark in _of(task, marks) if specific_names(mark.text) and not mark.text.endswith((":", "?"))
        ]
        if telling:
            return clip(telling[-1], _LONG)
    return ""


def _of(task: _Task, marks: Iterable[KeySentence]) -> list[KeySentence]:
    return [mark for mark in marks if _within(task, mark.seq)]


def _tags(edited: Sequence[str]) -> tuple[str, ...]:
    return tuple(tag for tag in dict.fromkeys(file_tag(path) for path in edited) if len(tag) > 2)[:5]
