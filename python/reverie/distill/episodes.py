"""Episodes: one candidate memory for each finished task, with the fields of seed 004.

A task is finished where it was committed. What is told of it is quoted: the request as the person typed it, the
subjects of the commits, what their messages say behind these, and the files. A commit's message was written last, of
what holds at the end. What no request and no lesson belongs to is left to `git log`, as is a commit without a message.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from reverie.distill.build import file_tag
from reverie.distill.commands import message_texts
from reverie.distill.cues import CAUSE, EXPLAINS, GUESSES, is_question
from reverie.distill.next_step import is_task, leading
from reverie.distill.own_words import own_words
from reverie.distill.sentences import clip, one_line, paragraphs, sentences, specific_names, words_of
from reverie.distill.steps import Utterance
from reverie.distill.tools import EDITS
from reverie.documents.summary import shortened
from reverie.lazy_regex import lazy_regex
from reverie.models import DATE_CHARS, Candidate, MemoryType
from reverie.words import analyze

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.distill.commands import Commit
    from reverie.distill.facts import ThreadFacts

_REQUEST_CHARS: Final = 200
_READ_CHARS: Final = 2_000  # of a request, in which the words of a commit are looked for
_COMMON_WORDS: Final = 2  # of a request and a commit that are about the same
# Of their common words, each divided by the number of requests that have it: "make" of one and "commit" of six (1.17)
# may be chance, "source" and "author" of one each (2) are not.
_RARE_MIN: Final = 1.5
_MESSAGE_CHARS: Final = 500  # of all messages of a task, about 125 tokens
_COMMITS_SHOWN: Final = 5
_FILES_SHOWN: Final = 6  # of those that were edited; the others are counted: "and 3 more"
_LESSON_CHARS: Final = range(40, 301)  # of a sentence; a shorter one says of nothing what it is about
_SUBJECT_WORDS_MIN: Final = 3  # "initial commit" names no task
# Commits that finish no task by themselves, by their subject: "chore: bump deps", "Merge branch", "fix lint".
_MINOR: Final = lazy_regex(
    r"^(?:merge|wip|bump|initial|release|revert)\b|^(?:chore|docs?|style|tests?|ci|build) ?[(:!]"
    r"|^(?:\w+(?:\([^)]*\))?!?: )?(?:add|fix|update|more)\w* (?:[\w-]+ )?(?:tests?|docs?|changelog|readme|comments?)"
    r"(?: fix\w*)?$"
    r"|\b(?:lint(?:er|ing)?|typos?|formatting)\b"
    r"|\b(?:pr|review\w*|severity) (?:\w+ )?(?:feedback|comments?|findings|suggestions|issues)\b",
    re.IGNORECASE,
)
# A commit of nothing but documents, tests or notes of the client is no episode.
_SIDE_FILE: Final = lazy_regex(
    r"\.(?:md|rst|txt)$|(?:^|/)(?:docs?|tests?|__tests__|\.planning|\.claude|\.github)/|[_.](?:test|spec)\.\w+$|(?:^|/)test_",
    re.IGNORECASE,
)
_BLANK: Final = lazy_regex(r"\n\s*\n")
_POINT: Final = lazy_regex(r"(?m)^\s*(?:[-*+\u2022] |\d{1,2}[.)] )")
_ADDED: Final = lazy_regex(r"\bgit (?:-C \S+ )?add (?P<what>[^;&|\n]*)")
_REBASED: Final = lazy_regex(r"\bgit (?:-C \S+ )?(?:pull [^;&|\n]*--rebase|rebase)\b")
_UNDOING: Final = lazy_regex(r"\bgit (?:-C \S+ )?revert\b(?P<what>[^;&|\n]*)")


@dataclass(slots=True)
class _Task:
    """A request, with the commits that finished it, each by its subject, and the files that were edited for them.

    `after` is the entry of the commit before.
    """

    request: Utterance | None = None
    after: int = 0
    commits: dict[str, Commit] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)


def episodes(facts: ThreadFacts, at: str | None) -> list[Candidate]:
    """Return an episode for each task that was committed and is not undone by the thread's end, oldest first.

    Its commits say more than their subjects, and the person asked for it, or it taught something: "rename X" of the
    agent's own is left to `git log`.
    """
    undone, roots = _undone(facts), _roots(facts)
    words = {said.seq: frozenset(analyze(said.text[:_READ_CHARS]).content) for said in facts.requests}
    spread = Counter(word for of_request in words.values() for word in of_request)
    tasks: dict[str, _Task] = {}
    task = _Task()
    last = 0
    for commit in facts.commits:
        edited = _edited(facts, last, commit.seq, roots)
        if commit.sha not in undone and not _is_minor(commit) and not (edited and all(map(_SIDE_FILE.search, edited))):
            near = [one for one in facts.requests if one is task.request or last < one.seq < commit.seq]
            subject = set(analyze(commit.subject).content)
            about = {*subject, *analyze(" ".join([_body(commit), *map(file_tag, edited)])).content}
            said_of = ((one, words[one.seq] & about) for one in near if words[one.seq] & subject)
            request = _best([(one, [spread[word] for word in common]) for one, common in said_of])
            if request is None or request is not task.request:
                task = _Task(request, last)
                tasks.pop(commit.subject.lower(), None)  # a commit that was made again, after a rebase
            task.commits[commit.subject.lower()] = commit
            task.edited += edited
            tasks[next(iter(task.commits))] = task
        last = commit.seq
    return list(filter(None, (_episode(facts, task, at) for task in tasks.values())))


def _best(requests: Sequence[tuple[Utterance, list[int]]]) -> Utterance | None:
    """Return the request that shares most with a commit: each common word counts one by the requests that have it.

    None where the best shares less than two words, or only those of many requests: what is said last before a commit is
    often about the commit itself, as in "yes, please commit it and push".
    """
    best, most = None, _RARE_MIN
    for said, counts in requests:
        score = sum(1 / count for count in counts)
        if len(counts) >= _COMMON_WORDS and score > most:
            best, most = said, score
    return best


def _is_minor(commit: Commit) -> bool:
    return words_of(commit.subject) < _SUBJECT_WORDS_MIN or _MINOR.search(commit.subject) is not None


def _undone(facts: ThreadFacts) -> set[str]:
    """Return the commits that a later `git revert` names, or the last one for its `HEAD`."""
    undone: set[str] = set()
    for call in facts.trace.calls:
        for match in _UNDOING.finditer(call.word("command")) if call.tool == "Bash" and not call.failed else ():
            made = [one.sha for one in facts.commits if one.seq < call.result_seq and one.sha not in undone]
            named = {sha for sha in made for word in match["what"].split() if len(word) >= 7 and _is_same(word, sha)}
            undone |= named or set(made[-1:] if "HEAD" in match["what"] else ())
    return undone


def _is_same(word: str, sha: str) -> bool:
    return sha.startswith(word) or word.startswith(sha)  # both may be shortened


def _edited(facts: ThreadFacts, after: int, until: int, roots: Sequence[str]) -> list[str]:
    calls = (call for call in facts.trace.calls if after < call.seq <= until and call.tool in EDITS and call.path)
    paths = dict.fromkeys(call.path for call in calls if not call.failed)
    of_root = {path: next((root for root in roots if path.startswith(f"{root}/")), "") for path in paths}
    found = (path[len(root) + 1 :] if root else facts.trace.relative(path) for path, root in of_root.items())
    return [path for path in found if not path.startswith(("/", "~", ".claude/"))]


def _roots(facts: ThreadFacts) -> list[str]:
    """Return the folders from which `git add` named edited files, the shortest first.

    The folder with nearly all files may be another one: `/w/app/web`, where `git add web/page.py` tells `/w/app`, or
    one above of `/w/app/.worktrees/2`.
    """
    lines = [line["what"] for call in facts.trace.calls for line in _ADDED.finditer(call.word("command"))]
    added = {f"/{word}" for line in lines for word in line.split() if not word.startswith("-")}
    edited = {call.path for call in facts.trace.calls if call.tool in EDITS}
    return sorted({path.removesuffix(end) for path in edited for end in added if path.endswith(end)}, key=len)


def _episode(facts: ThreadFacts, task: _Task, at: str | None) -> Candidate | None:
    commits = list(task.commits.values())
    message, lesson = _message(commits), _lesson(facts, task)
    if not message or not (task.request or lesson):
        return None
    edited = list(dict.fromkeys(task.edited))
    title = clip(commits[0].subject, 100)
    when = commits[-1].at or at
    rebased = max((call.seq for call in facts.trace.calls if _REBASED.search(call.word("command"))), default=0)
    fields = [
        ("Summary", shortened(title.rstrip("."))),
        ("Date", (when or "")[:DATE_CHARS]),
        ("Task", _asked(task.request)),
        ("Commits", _some([_told(one, rebased) for one in commits], _COMMITS_SHOWN, "; ")),
        ("Message", message),
        ("Files", _some(edited, _FILES_SHOWN, ", ")),
        ("Lesson", f"“{lesson.text}”" if lesson else ""),
    ]
    kept = tuple((key, value) for key, value in fields if value)
    calls = [call.seq for call in facts.trace.calls if call.result_seq in {one.seq for one in commits}]
    seqs = {*calls, *(one.seq for one in commits), *(one.seq for one in (task.request, lesson) if one)}
    return Candidate(
        type=MemoryType.EPISODE,
        content="\n".join(f"- {key}: {value}" for key, value in kept),
        tags=tuple(tag for tag in dict.fromkeys(map(file_tag, edited)) if len(tag) > 2)[:5],
        title=title,
        fields=kept,
        at=when,
        provenance={"seqs": sorted(seqs)},
    )


def _lesson(facts: ThreadFacts, task: _Task) -> Utterance | None:
    """Return the sentence with a cause that has most words in common with a task's subjects, as it was said; else None.

    It names something, is no guess, and does not point back. One that a tool printed before is not the agent's.
    """
    subjects = set(analyze(" ".join(one.subject for one in task.commits.values())).content)
    end = max(one.seq for one in task.commits.values())
    best, most = None, _COMMON_WORDS - 1
    for said in facts.trace.steps:
        if isinstance(said, Utterance) and task.after < said.seq < end:
            for sentence in sentences(said.text if said.role == "assistant" else own_words(said.text)[0]):
                label = sentence.partition(": ")[0]  # a cause behind it is that of an item of a list
                is_cause = len(sentence) in _LESSON_CHARS and EXPLAINS.search(label) and not GUESSES.search(sentence)
                common = len(subjects & set(analyze(sentence).content)) if is_cause else 0
                is_named = common > _COMMON_WORDS or specific_names(sentence)
                if common > most and is_named and not _was_printed(sentence, said.seq, facts):
                    best, most = replace(said, text=one_line(sentence)), common
    return best


def _was_printed(sentence: str, until: int, facts: ThreadFacts) -> bool:
    return any(sentence in call.result for call in facts.trace.calls if call.result_seq < until)


def _asked(request: Utterance | None) -> str:
    """Return a request that opens work, in the person's own words; a paste, a plan and a question are none."""
    own = own_words(request.text)[0] if request and is_task(request) else ""
    return f"“{clip(own, _REQUEST_CHARS)}”" if own and not is_question(own) else ""


def _told(commit: Commit, rebased: int) -> str:
    """Return a commit by its subject and id; by its subject alone where a rebase gave it another id later."""
    return commit.subject if commit.seq < rebased else f"{commit.subject} ({commit.sha})"


def _some(items: Sequence[str], count: int, separator: str) -> str:
    beyond = len(items) - count
    return separator.join(items[:count]) + (f" and {beyond} more" if beyond > 0 else "")


def _message(commits: Sequence[Commit]) -> str:
    """Return what the messages say behind their subjects, word for word: how the first begins, and what gives a reason.

    What was changed is in the repository. Of points all are told, or none: of "Two fixes: 1. …" one would be half.
    """
    said = ""
    for number, (text, is_list) in enumerate(part for commit in commits for part in _parts(commit)):
        is_opening = number == 0 and not is_list and text.endswith(".")
        if is_opening or CAUSE.search(text):
            told = text if is_list else leading(text, _MESSAGE_CHARS)
            if len(said) + len(told) <= _MESSAGE_CHARS:
                said += told if not said else f" {told}" if said.endswith((".", "!", "?")) else f"; {told}"
    return said


def _parts(commit: Commit) -> list[tuple[str, bool]]:
    """Return the paragraphs and lists behind a commit's subject, each on one line; True for a list with its heading."""
    parts: list[tuple[str, bool]] = []
    for block in filter(str.strip, _BLANK.split(_body(commit))):
        is_list = _POINT.search(block) is not None
        text = "; ".join(paragraphs(block))
        if is_list and parts and (parts[-1][0].endswith(":") or parts[-1][1]):
            before = parts.pop()[0]
            text = f"{before} {text}" if before.endswith(":") else f"{before}; {text}"
        parts.append((text, is_list))
    return parts


def _body(commit: Commit) -> str:
    texts = message_texts(commit.body)
    first = next((number for number, text in enumerate(texts) if commit.subject in text), len(texts))
    # A second `-m` is the message's next paragraph; what opens a pull request in the same line is another text.
    text = "\n\n".join(texts[first : first + 1 if "gh pr " in commit.body else None])
    return text.partition(commit.subject)[2]
