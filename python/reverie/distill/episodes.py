"""Episodes: one candidate memory for each piece of finished work, with the fields of seed 004.

Work is finished where it was committed, or where a plan was carried out and a check passed after its last edit. The
commit's message names it and says why: it was written last, of what holds at the end. A request alone is no name ("do
these first"), and what the agent said on the way is often wrong by then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.distill.commands import Purpose
from reverie.distill.extractive.build_candidates_with_dates_and_tags import file_tag
from reverie.distill.extractive.commit_kind_title_problem_and_lesson import (
    TITLE_WORDS_MIN,
    commit_title,
    is_tiny,
    read_message,
    same_line,
    without_left_out,
    without_type,
)
from reverie.distill.extractive.committed_files import CommittedFiles
from reverie.distill.extractive.detect_undone_or_failed_work import EndState, Finished, common_words
from reverie.distill.extractive.final_ids_of_rewritten_commits import lasting_ids
from reverie.distill.extractive.later_commits_on_earlier_work import LaterCommits, with_id
from reverie.distill.extractive.messages_that_open_a_task import opens_task
from reverie.distill.extractive.mistakes_from_corrections_and_failures import BROKEN, mended_cause
from reverie.distill.extractive.outdated_sentences_of_episodes import OutdatedSentences
from reverie.distill.extractive.wish_and_correction_cues_by_language import words_of
from reverie.distill.sentences import (
    clip,
    first_sentence,
    sentences,
    specific_names,
    unwrapped,
)
from reverie.distill.tools import EDITS
from reverie.documents.summary import shortened
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.facts import ThreadFacts
    from reverie.distill.steps import ToolCall

__all__ = ["episodes"]

_LONG: Final = 400  # characters of a field, about 100 tokens; of a solution twice as many
_FILES_SHOWN: Final = 6  # of those that a work changed; the others are counted: "and 3 more"
# Words shared by two texts from which they are about the same: "uploads give up after one failed try" and "retries of
# failed uploads" share two, "the uploader gives up after one failure" and "add retries to the uploader" only the thing.
_COMMON_WORDS: Final = 2
# Share of the words of the longer title from which two titles are one: "Fix the login timeout" and "fix(auth): the
# login timeout" (4 of 5), but not "Add a cache for prices" and "Add a cache for price tables" (4 of 6, 0.67).
_SAME_TITLE: Final = 0.7
_WORD = lazy_regex(r"\w+")
# A test, a document or generated: a commit of nothing else is no episode.
_SIDE_FILE = lazy_regex(
    r"(?:^|/)(?:tests?|__tests__|docs?|spec|fixtures|testdata|\.planning|\.claude|\.github)/|_test\.\w+$|\.(?:test"
    r"|spec)\.\w+$|test_\w+\.py$|\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
# The heading of a plan, and the paragraph that says what it is for.
_PLAN_REQUEST = lazy_regex(r"^\W*(?:please )?implement (?:the following|this) plan\b", re.IGNORECASE)
_PLAN_HEADING = lazy_regex(
    r"^#{1,2} +(?:(?:implementation )?plan\b\s*[:\u2013\u2014-]?\s*)?(?P<title>.+?)\s*$", re.MULTILINE | re.IGNORECASE
)
_PLAN_GOAL = lazy_regex(
    r"^#{1,3} +(?:(?P<before>context|problem|background|motivation)|goal|overview|summary|objective)s?\b[^\n]*\n+"
    r"(?P<text>[^#]+)",
    re.MULTILINE | re.IGNORECASE,
)
_GOAL = lazy_regex(
    r"^(?:(?:goal|objective|aim|fix|solution|approach)s?\s*[:–—-]|(?:the|our) (?:goal|aim|fix|idea) is\b|this plan\b)",
    re.IGNORECASE,
)
_GENERIC_TITLE = lazy_regex(
    r"^(?:(?:implementation|revised|updated|final|the)?\s*plan|context|overview|summary|goal|steps?|todo|tasks?"
    r"|phase \d+|next steps)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Plan:
    """An accepted plan: its heading, what it is for, and the range of entries that worked on it."""

    title: str
    goal: str
    seq: int
    end: int
    is_problem: bool  # `goal` tells what is wrong before the plan, and not what is to be


@dataclass(slots=True)
class _Work:
    """One finished piece of work, between two entries: the title and the fields of its episode.

    `sha` is its commit's; a plan that was carried out has none.
    """

    title: str
    at: str | None
    after: int
    until: int
    sha: str = ""
    problem: str = ""
    task: str = ""
    is_problem: bool = False  # `task` tells what was wrong before
    solution: Sequence[str] = ()  # the sentences of the solution, of which the first names the commit
    lesson: str = ""
    edited: Sequence[str] = ()
    files: Sequence[str] = ()  # of its commit, or of `edited`, those that are there at the end, by their names there
    unnamed: int = 0  # files of its commit beyond `files`
    later: str = ""
    seqs: list[int] = field(default_factory=list)


def episodes(facts: ThreadFacts, at: str | None) -> list[Candidate]:
    """Return an episode for each commit that explains itself, and each plan carried out without one; oldest first."""
    plans = _plans(facts)
    works: list[_Work] = []
    planned: set[int] = set()
    before = 0
    aims: set[str] = set()
    ids = lasting_ids(facts.trace.calls, facts.commits)
    files = CommittedFiles(facts.trace)
    for commit in facts.commits:
        work = _of_commit(commit, ids.get(commit.sha, ""), before, plans, facts)
        if work is not None:
            work.files = files.of(commit, before, work.edited)
            work.unnamed = files.unnamed(commit, before, work.files)
            if work.task and work.task in aims:  # said of the plan's first commit already
                work.task, work.is_problem = f"Part of: {first_sentence(work.task)}", False
            aims.add(work.task)
            works.append(work)
        planned |= {plan.seq for plan in plans if _carries_out(commit, plan)}
        before = commit.seq
    works += [work for plan in plans if plan.seq not in planned and (work := _of_plan(plan, facts)) is not None]
    titles: dict[str, _Work] = {}
    for work in _holding(works, facts, ids):  # a commit that was made again, after a rebase, has its title once
        titles[work.title.lower()] = work
    return [_episode(work, at) for work in sorted(titles.values(), key=lambda work: work.seqs)]


def _holding(found: Sequence[_Work], facts: ThreadFacts, ids: Mapping[str, str]) -> Iterator[_Work]:
    """Yield the finished work not undone by the end of the thread, without sentences that later work made doubtful."""
    end_state = EndState(facts, lambda path: path.startswith(("/", ".claude/", "~")) or bool(_SIDE_FILE.search(path)))
    later = LaterCommits(facts, ids)
    outdated = OutdatedSentences(facts, end_state, later)
    for work in found:
        text = "\n".join([work.title, work.problem, *work.solution, work.lesson])
        finished = Finished(work.title, text, work.after, work.until, work.edited, work.sha)
        if end_state.holds(finished):
            out = outdated.among([*work.solution[1:], work.lesson], finished)
            work.solution = [*work.solution[:1], *without_left_out(work.solution[1:], out.__contains__)]
            work.lesson = "" if work.lesson in out else work.lesson
            work.files = later.paths(work.files if work.sha else work.edited, work.until)
            work.later = later.corrections(work.title, text, work.edited, work.until, end_state.taken_back)
            if work.sha == "" or len(work.solution) > 1 or work.problem or work.task or work.lesson:
                yield work


def _episode(work: _Work, at: str | None) -> Candidate:
    when = work.at or at
    shown = work.files[:_FILES_SHOWN]
    beyond = len(work.files) - len(shown) + work.unnamed
    files = f"Files: {', '.join(shown)}{f' and {beyond} more' if beyond else ''}" if shown else ""
    stated = _whole_sentences(work.solution, 2 * _LONG).rstrip(".")
    solution = ". ".join(part for part in (stated, work.later, files) if part)
    fields = [
        ("Summary", shortened(without_type(work.title).rstrip("."))),
        ("Date", (when or "")[:10]),
        ("Problem", clip(work.problem, _LONG)),
        ("Problem" if work.is_problem else "Task", _whole_sentences(sentences(work.task), _LONG) * (not work.problem)),
        ("Solution", solution),
        ("Lesson", clip(work.lesson, _LONG)),
    ]
    kept = tuple((key, value) for key, value in fields if value)
    return Candidate(
        type=MemoryType.EPISODE,
        content="\n".join(f"- {key}: {value}" for key, value in kept),
        tags=tuple(tag for tag in dict.fromkeys(file_tag(path) for path in work.edited) if len(tag) > 2)[:5],
        title=work.title,
        fields=kept,
        at=when,
        provenance={"seqs": sorted(set(work.seqs))},
    )


# Commits


def _of_commit(commit: Commit, lasting: str, before: int, plans: Sequence[_Plan], facts: ThreadFacts) -> _Work | None:
    """Return the finished work of a commit, or None if it explains nothing; `lasting` is its id at the thread's end."""
    title = commit_title(commit.subject)
    edited = _edited(facts, before, commit.seq)
    if not title or (edited and all(_SIDE_FILE.search(path) for path in edited)):
        return None
    call = next((call for call in facts.trace.calls if call.result_seq == commit.seq), None)
    work = _Work(
        title,
        commit.at,
        before,
        commit.seq,
        commit.sha,
        edited=edited,
        seqs=[commit.seq, *([call.seq] if call else [])],
    )
    message = read_message(commit)
    work.problem, work.lesson = message.problem, message.lesson
    work.solution = (f"{with_id(commit.subject, lasting)}.", *message.rest)
    text = f"{title} {message.text}"
    plan = next((plan for plan in reversed(plans) if _carries_out(commit, plan)), None)
    if plan is not None and _related(f"{plan.title} {plan.goal}", text):
        same = same_line(plan.title.lower(), title.lower()) or _same_title(plan.title, title)
        work.task = plan.goal if same else f"{plan.title}. {plan.goal}".strip()
        work.is_problem = same and plan.is_problem
        work.seqs.append(plan.seq)
    elif not message.explains:
        _add_mended_failure(work, before, commit.seq, facts)
    is_reasoned = bool(work.problem or work.lesson or work.task)
    if call is not None and not is_reasoned and is_tiny(call.result, commit.subject):
        return None
    return work if message.explains or work.task or work.lesson else None


def _add_mended_failure(work: _Work, after: int, before: int, facts: ThreadFacts) -> None:
    """Add problem and lesson of a failed check that was mended on the way to a commit."""
    for fix in reversed(facts.fixes):
        if after < fix.passed.seq < before and fix.failed.purpose in BROKEN:
            cause, seq = mended_cause(fix, facts)
            if cause:
                work.problem = f"{BROKEN[fix.failed.purpose].capitalize()}: {fix.failed.error}"
                work.lesson = cause
                work.seqs += [fix.failed.seq, seq]
                return


def _whole_sentences(parts: Sequence[str], length: int) -> str:
    """Return the first sentences that fit into `length`, in one text; the first is cut if it alone is too long."""
    kept = ""
    for sentence in parts:
        if kept and len(kept) + len(sentence) >= length:
            break
        kept = f"{kept} {sentence}".strip()
    return clip(kept, length)


def _carries_out(commit: Commit, plan: _Plan) -> bool:
    """Return True for a commit that was made while a plan was worked on, or later under nearly the same title."""
    is_after = plan.seq < commit.seq
    return is_after and (commit.seq <= plan.end or _same_title(plan.title, without_type(commit.subject)))


def _same_title(one: str, other: str) -> bool:
    """Return True where two titles have nearly the same words, in any order and with any marks between them."""
    words, others = (set(_WORD.findall(text.lower())) for text in (one, other))
    return len(words & others) >= _SAME_TITLE * max(len(words), len(others), 1)


def _related(one: str, other: str) -> bool:
    """True if two texts share a specific name, or at least two words that carry meaning."""
    names = {name.lower() for name in specific_names(one)} & {name.lower() for name in specific_names(other)}
    return bool(names) or len(common_words(one, other)) >= _COMMON_WORDS


def _is_project_file(call: ToolCall, facts: ThreadFacts) -> bool:
    """True for a call that changed a file of the project, and not one of the client or a temporary one."""
    return (
        bool(call.path) and not call.failed and not facts.trace.relative(call.path).startswith(("/", ".claude/", "~"))
    )


def _edited(facts: ThreadFacts, after: int, before: int) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            facts.trace.relative(call.path)
            for call in facts.trace.calls
            if after < call.seq <= before and call.tool in EDITS and _is_project_file(call, facts)
        )
    )


# Plans


def _plans(facts: ThreadFacts) -> list[_Plan]:
    """Return the plans that the person gave or accepted, each up to the next task or plan."""
    plan_texts = [(said.seq, said.text) for said in facts.requests if _PLAN_REQUEST.match(said.text)]
    plan_texts += [
        (call.result_seq, call.word("plan"))
        for call in facts.trace.calls
        if call.tool == "ExitPlanMode" and call.answered and not call.failed
    ]
    plan_texts.sort()
    openers = [said.seq for said in facts.requests if opens_task(said.text)]
    plans = []
    for seq, text in plan_texts:
        heading = _PLAN_HEADING.search(text)
        title = heading["title"].strip(" *") if heading else ""
        if not title or _GENERIC_TITLE.match(title) or words_of(title) < TITLE_WORDS_MIN:
            continue
        goal = _PLAN_GOAL.search(text)
        aim, is_problem = _aim(sentences(unwrapped(goal["text"]))) if goal else ("", False)
        is_problem = is_problem and goal is not None and goal["before"] is not None
        end = min((other for other in (*openers, *(seq for seq, _ in plan_texts)) if other > seq), default=2**62)
        plans.append(_Plan(clip(title, 100), "" if aim.endswith(":") else aim, seq, end, is_problem))
    return plans


def _aim(said: Sequence[str]) -> tuple[str, bool]:
    """Return the first two sentences of what a plan is for, or the first and the one that names the goal.

    True beside them where none of them names the goal.
    """
    goal = next((sentence for sentence in said if _GOAL.match(sentence)), "")
    first = [*said[:1], goal] if goal and goal not in said[:2] else said[:2]
    return " ".join(first), not goal


def _of_plan(plan: _Plan, facts: ThreadFacts) -> _Work | None:
    """Return the work of a plan that was carried out (files edited, a check passed after the last edit), or None."""
    edits = [
        call
        for call in facts.trace.calls
        if call.tool in EDITS and _is_project_file(call, facts) and plan.seq < call.seq < plan.end
    ]
    code = [call for call in edits if not _SIDE_FILE.search(facts.trace.relative(call.path))]
    checks = [
        run
        for run in facts.runs
        if edits and edits[-1].seq < run.seq < plan.end and run.purpose in {Purpose.TEST, Purpose.BUILD, Purpose.LINT}
    ]
    if not code or not checks or checks[-1].failed:
        return None
    paths = tuple(dict.fromkeys(facts.trace.relative(call.path) for call in code))
    work = _Work(
        plan.title,
        checks[-1].at,
        plan.seq,
        checks[-1].seq,
        task=plan.goal,
        is_problem=plan.is_problem,
        edited=paths,
        seqs=[plan.seq, checks[-1].seq],
    )
    work.solution = ("Carried out as planned; checks passed",)  # shell commands may have changed more than these files
    return work
