"""Episodes: one candidate memory for each piece of finished work, with the fields of seed 004.

Work is finished where it was committed, or where a plan was carried out and a check passed after its last edit. The
commit's message names it and says why: it was written last, of what holds at the end. A request alone is no name ("do
these first"), and what the agent said on the way is often wrong by then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.candidate_builder import file_tag
from reverie.distill.extractive.commands import (
    FILLER,
    TITLE_WORDS_MIN,
    Purpose,
    commit_title,
    message_texts,
    without_type,
)
from reverie.distill.extractive.corrections import BROKEN, mended_cause
from reverie.distill.extractive.end_state import EndState, Finished, common_words
from reverie.distill.extractive.language_cues import words_of
from reverie.distill.extractive.prose import clip, first_sentence, one_line, sentences, specific_names, unwrapped
from reverie.distill.extractive.tool_kinds import EDITS
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.extractive.commands import Commit
    from reverie.distill.extractive.thread_facts import ThreadFacts
    from reverie.distill.extractive.trace import ToolCall

__all__ = ["episodes", "short_summary"]

# Words of a summary line (seed 004).
_MAX_WORDS: Final = 10
# Characters of a field.
_LONG: Final = 400
_FILES_SHOWN: Final = 6
# A sentence of a commit message that says what it changes ("Adds a retry"); any other describes.
_CHANGES = re.compile(
    r"^(?:now |also |this (?:adds|change|commit|fix|moves|removes|makes)\b|instead|\d+ )|^(?:add|adjust|allow|apply"
    r"|bump|change|check|clarif|clean"
    r"|combine|comput|convert|consolidat|correct|create|delete|deduplicat|display|document|drop|enable|ensure|error|explicit"
    r"|extend|extract"
    r"|fall|filter|fix|handle|hide|implement|improve|include|increase|inline|introduce|keep|limit|load|log|make|mark"
    r"|merge|migrate"
    r"|modify|move|only|pass|persist|prefer|prevent|preserve|read|reduce|refactor|remove|rename|reorder|replace"
    r"|report|require|reset"
    r"|restore|return|reuse|rewrite|run|set|show|simplify|skip|sort|split|store|support|switch|track|trim|truncate"
    r"|unify|update|use"
    r"|validat|verif|warn|wire|wrap|write)(?:s|e|ed|d|es|ied|ies|y|ing)?\b",
    re.IGNORECASE,
)
_OF_FILE = re.compile(r"^[\w./-]+\.\w+: ")
# What was wrong before, and why it is as it is now.
_PROBLEM = re.compile(
    r"\b(?:was|were|wasn'?t|weren'?t|previously|before this|used to|caused?|because|fail(?:s|ed|ing|ure)?|bugs?"
    r"|broken?|races?"
    r"|missing|wrong|incorrect(?:ly)?|never|could(?:n't)?|flags?|leaks?|crash\w*|interfer\w*|didn'?t|had|did not"
    r"|produced|too many)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|so that|to avoid|to prevent|without th(?:is|ese|at)|otherwise|root cause|due to|must|cannot|can'?t"
    r"|only (?:works?|when|if)|requires?|doesn'?t|does not|don'?t|do not|rather than|won'?t|race)\b",
    re.IGNORECASE,
)
_PROBLEM_SENTENCES: Final = 2
_TEMPORARY = re.compile(
    r"\b(?:for now|will be (?:superseded|replaced|removed)|follow-?up|interim"
    r"|temporary (?:fix|workaround|solution)|todo|as requested"
    r"|address(?:es)? review)\b",
    re.IGNORECASE,
)
# What a message says of tests and comments: "Update tests for the new format", "parser_test.go: replace the stub".
_OF_TESTS = re.compile(
    r"^(?:\S+_test\.\w+|\S+\.(?:test|spec)\.\w+|test_\w+\.py): "
    r"|^(?:also )?(?:add|update|replace|fix|adjust|extend|rename|include)\w* .{0,40}\b(?:tests?|comments?|docs)\b",
    re.IGNORECASE,
)
_SUBSTANCE: Final = 60  # characters of a message's body; less explains nothing
_COMMON_WORDS: Final = 2
# A test, a document or generated: a commit of nothing else is no episode.
_SIDE_FILE = re.compile(
    r"(?:^|/)(?:tests?|__tests__|docs?|spec|fixtures|testdata|\.planning|\.claude|\.github)/|_test\.\w+$|\.(?:test"
    r"|spec)\.\w+$|test_\w+\.py$|\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
# The heading of a plan, and the paragraph that says what it is for.
_PLAN_REQUEST = re.compile(r"^\W*(?:please )?implement (?:the following|this) plan\b", re.IGNORECASE)
_PLAN_HEADING = re.compile(
    r"^#{1,2} +(?:(?:implementation )?plan\b\s*[:\u2013\u2014-]?\s*)?(?P<title>.+?)\s*$", re.MULTILINE | re.IGNORECASE
)
_PLAN_GOAL = re.compile(
    r"^#{1,3} +(?:goal|context|overview|problem|background|summary|motivation|objective)s?\b[^\n]*\n+(?P<text>[^#]+)",
    re.MULTILINE | re.IGNORECASE,
)
_GENERIC_TITLE = re.compile(
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
    solution: str = ""
    lesson: str = ""
    edited: Sequence[str] = ()
    seqs: list[int] = field(default_factory=list)


def episodes(facts: ThreadFacts, at: str | None) -> list[Candidate]:
    """Return an episode for each commit that explains itself, and each plan carried out without one; oldest first."""
    plans = _plans(facts)
    found: list[_Work] = []
    planned: set[int] = set()
    before = 0
    aims: set[str] = set()
    for commit in facts.commits:
        work = _of_commit(commit, before, plans, facts)
        if work is not None:
            if work.task and work.task in aims:  # said of the plan's first commit already
                work.task = f"Part of: {first_sentence(work.task)}"
            aims.add(work.task)
            found.append(work)
        planned |= {plan.seq for plan in plans if plan.seq < commit.seq <= plan.end}
        before = commit.seq
    found += [work for plan in plans if plan.seq not in planned and (work := _of_plan(plan, facts)) is not None]
    titles: dict[str, _Work] = {}
    for work in _holding(found, facts):  # a commit that was made again, after a rebase, has its title once
        titles[work.title.lower()] = work
    return [_episode(work, at) for work in sorted(titles.values(), key=lambda work: work.seqs)]


def _holding(found: Sequence[_Work], facts: ThreadFacts) -> Iterator[_Work]:
    """Yield the work that the thread's end did not undo, without sentences about what later edits removed."""
    end_state = EndState(facts, lambda path: path.startswith(("/", ".claude/", "~")) or bool(_SIDE_FILE.search(path)))
    for work in found:
        text = f"{work.title}\n{work.problem}\n{work.solution}\n{work.lesson}"
        finished = Finished(work.title, text, work.after, work.until, work.edited, work.sha)
        if end_state.holds(finished):
            gone = end_state.gone_names(finished)
            if gone:
                first, *rest = sentences(work.solution)
                work.solution = " ".join([first, *(one for one in rest if not gone & {*specific_names(one)})])
                work.lesson = "" if gone & {*specific_names(work.lesson)} else work.lesson
            yield work


def short_summary(title: str) -> str:
    """Return `title` in at most ten words; articles and prepositions are dropped first."""
    words = without_type(title).rstrip(".").split()
    if len(words) > _MAX_WORDS:
        words = [word for word in words if word.lower() not in FILLER]
    return " ".join(words[:_MAX_WORDS])


def _episode(work: _Work, at: str | None) -> Candidate:
    when = work.at or at
    files = f"Files: {', '.join(work.edited[:_FILES_SHOWN])}" if work.edited else ""
    solution = ". ".join(part for part in (clip(work.solution.rstrip("."), 2 * _LONG), files) if part)
    fields = [
        ("Summary", short_summary(work.title)),
        ("Date", (when or "")[:10]),
        ("Problem", clip(work.problem, _LONG)),
        ("Task", _whole_sentences(work.task) if not work.problem else ""),
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


def _of_commit(commit: Commit, before: int, plans: Sequence[_Plan], facts: ThreadFacts) -> _Work | None:
    """Return the work of a commit, or None where it names or explains nothing."""
    title = commit_title(commit.subject)
    edited = _edited(facts, before, commit.seq)
    if not title or (edited and all(_SIDE_FILE.search(path) for path in edited)):
        return None
    body = _body(commit)
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
    told = [sentence for sentence in body if not _TEMPORARY.search(sentence) and not _OF_TESTS.search(sentence)]
    problem = _problem(told, commit.body)
    reasons = [one for one in told if one not in problem and _REASON.search(one) and not _changes(one)]
    work.problem, work.lesson = " ".join(map(_sentence, problem)), reasons[-1] if reasons else ""
    rest = [sentence for sentence in told if sentence not in problem and sentence != work.lesson]
    work.solution = " ".join([f"{commit.subject} ({commit.sha}).", *map(_sentence, rest)])
    text = " ".join([title, *body])
    plan = next((plan for plan in reversed(plans) if plan.seq < commit.seq <= plan.end), None)
    explains = sum(len(sentence) for sentence in told) >= _SUBSTANCE
    if plan is not None and _related(f"{plan.title} {plan.goal}", text):
        same = _same_line(plan.title.lower(), title.lower())
        work.task = plan.goal if same else f"{plan.title}. {plan.goal}".strip()
        work.seqs.append(plan.seq)
    elif not explains:
        _add_mended_failure(work, before, commit.seq, facts)
    return work if explains or work.task or work.lesson else None


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


def _changes(sentence: str) -> bool:
    """True for a sentence that says what the commit changes, also behind the name of a file ("main.go: use ...")."""
    return _CHANGES.match(_OF_FILE.sub("", sentence)) is not None


def _problem(told: Sequence[str], message: str) -> list[str]:
    """Return the sentences at the beginning of a message that say what was wrong, at most two; no items of a list."""
    found: list[str] = []
    for sentence in told[:_PROBLEM_SENTENCES]:
        listed = re.search(rf"^\s*[-*•] +{re.escape(sentence[:20])}", message, re.MULTILINE) is not None
        if listed or _changes(sentence) or not _PROBLEM.search(sentence):
            break
        found.append(sentence)
    return found


def _body(commit: Commit) -> list[str]:
    """Return the sentences of a commit's message after its subject."""
    text = next(iter(message_texts(commit.body)), "")
    found = [one_line(sentence) for sentence in sentences(unwrapped(text))]
    if found and _same_line(found[0], commit.subject):
        found = found[1:]
    return [sentence for sentence in found if not sentence.endswith(":") and len(sentence.split()) > 2]


def _same_line(line: str, subject: str) -> bool:
    return one_line(line).rstrip(".") in one_line(subject) or one_line(subject).rstrip(".") in one_line(line)


def _whole_sentences(text: str) -> str:
    """Return the first sentences of a text that fit into a field; the first is cut if it alone is too long."""
    kept = ""
    for sentence in sentences(text):
        if kept and len(kept) + len(sentence) >= _LONG:
            break
        kept = f"{kept} {sentence}".strip()
    return clip(kept, _LONG)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."


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
    found = [(said.seq, said.text) for said in facts.requests if _PLAN_REQUEST.match(said.text)]
    found += [
        (call.result_seq, call.word("plan"))
        for call in facts.trace.calls
        if call.tool == "ExitPlanMode" and call.answered and not call.failed
    ]
    found.sort()
    openers = [said.seq for said in facts.requests if cue_phrases.opens_task(said.text)]
    plans = []
    for seq, text in found:
        heading = _PLAN_HEADING.search(text)
        title = heading["title"].strip(" *") if heading else ""
        if not title or _GENERIC_TITLE.match(title) or words_of(title) < TITLE_WORDS_MIN:
            continue
        goal = _PLAN_GOAL.search(text)
        aim = " ".join(sentences(unwrapped(goal["text"]))[:2]) if goal else ""
        end = min((other for other in (*openers, *(seq for seq, _ in found)) if other > seq), default=2**62)
        plans.append(_Plan(clip(title, 100), "" if aim.endswith(":") else aim, seq, end))
    return plans


def _of_plan(plan: _Plan, facts: ThreadFacts) -> _Work | None:
    """Return the work of a plan that was carried out: files were edited, and a check passed after the last edit."""
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
        edited=paths,
        seqs=[plan.seq, checks[-1].seq],
    )
    work.solution = f"Carried out as planned in {len(paths)} {'file' if len(paths) == 1 else 'files'}; checks passed"
    return work
