"""Details of a commit, from its message, its command and git's report: title, problem, lesson, paths, changed lines."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.distill.commands import (
    here_documents,
    masked_here_documents,
    without_signatures,
)
from reverie.distill.extractive.wish_and_correction_cues_by_language import words_of
from reverie.distill.sentences import clip, one_line, sentences, unwrapped
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.distill.commands import Commit

__all__ = [
    "TITLE_WORDS_MIN",
    "Message",
    "commit_title",
    "is_correction",
    "is_fix",
    "is_tiny",
    "read_message",
    "same_line",
    "says_change",
    "without_left_out",
    "without_type",
]

_FILLER: Final = {"a", "an", "the", "of", "to", "for", "in", "on", "and", "that", "this", "with", "is", "are", "be"}
"""Dropped first when a title has more than ten words."""

TITLE_WORDS_MIN: Final = 3
"""Words of a title, without small ones; fewer say too little."""

# The type of a conventional commit: "fix(parser): handle tabs" gives "handle tabs".
_PREFIX = lazy_regex(
    r"^(?P<type>feat|fix|docs?|chore|refactor|test|perf|build|ci|style|wip)(?:\((?P<scope>[^)]*)\))?!?:\s*",
    re.IGNORECASE,
)
_MINOR_TYPES: Final = frozenset({"docs", "doc", "chore", "style", "test", "ci", "wip", "build"})
_FIX = lazy_regex(
    r"^(?:\w+(?:\([^)]*\))?!?:\s*)?(?:bug ?|hot)?(?:fix(?:es|ed)?|correct\w*|clarif\w+|repair\w*|restore\w*)\b",
    re.IGNORECASE,
)
_OF_REVIEW = lazy_regex(r"\breview\w*\b.*\b(?:feedback|comments?|findings?|suggestions?|remarks?)\b", re.IGNORECASE)
# Subjects that name no work: merges, what a rebase broke, leftovers, "address review feedback", "fix lint", "more test
# fixes".
_HOUSEKEEPING = lazy_regex(
    r"^(?:merge\b|clean(?:ing|s|ed)?[ -]?up\b|fixup!|squash!|wip\b|revert\b"
    r"|initial\b|init\b|bump\b|release\b|version\b|v?\d+\.\d+|checkpoint\b"
    r"|save\b|temp\b)"
    r"|\b(?:review|pr|code review|copilot|bugbot|coderabbit|lint\w*|typo|formatting|nitpick|nit)s? (?:feedback"
    r"|comments?|findings?"
    r"|issues?|errors?|fixes|warnings?|suggestions?|remarks?)\b|\breview(?:er)? feedback\b"
    r"|^(?:more |some |minor |small |fix(?:ing|es)? |update |address |apply |add |improve |clean ?up |run |tweak )*"
    r"(?:the |some |all |failing |broken |unit |integration |e2e |missing )*(?:tests?|lint\w*|formatting|comments?"
    r"|docs?|documentation"
    r"|readme|changelog|typos?|nits?|test fixes|changes|stuff|things|fixes|feedback|imports|conflicts?"
    r"|merge conflicts)\W*$"
    r"|\b(?:after|during|from) (?:the |a )?(?:rebas|merg)\w*\b|\b(?:merge|rebase) (?:conflicts?|fix\w*|leftovers?)\b"
    r"|^(?:update|add|fix|adjust|extend) .{0,40}\b(?:comments?|changelog|readme|docs|documentation|typos?)$",
    re.IGNORECASE,
)
# A sentence of a commit message that says what it changes ("Adds a retry"); any other describes.
_CHANGES = lazy_regex(
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
_OF_FILE = lazy_regex(r"^[\w./-]+\.\w+: ")
# What was wrong before, and why it is as it is now.
_PROBLEM = lazy_regex(
    r"\b(?:was|were|wasn'?t|weren'?t|previously|before this|used to|caus(?:e|es|ed|ing)|because"
    r"|fail(?:s|ed|ing|ure)?|bugs?"
    r"|broken?|races?"
    r"|missing|wrong|incorrect(?:ly)?|never|could(?:n't)?|flags?|leaks?|crash\w*|interfer\w*|didn'?t|had|did not"
    r"|produced|too many)\b",
    re.IGNORECASE,
)
_REASON = lazy_regex(
    r"\b(?:because|so that|to avoid|to prevent|without th(?:is|ese|at)|otherwise|root cause|due to|must|cannot|can'?t"
    r"|only (?:works?|when|if)|requires?|doesn'?t|does not|don'?t|do not|rather than|won'?t|race)\b",
    re.IGNORECASE,
)
_PROBLEM_SENTENCES: Final = 2
# A sentence that goes on with what the one before it told of the past: "This kept the list from being drawn."
_WENT_ON = lazy_regex(
    r"^(?:so |and |thus |therefore )?(?:this|that|which|it|they|these|those|as a (?:result|consequence),?) "
    r"(?:also |then |in turn |\w+ly )?(?:(?:prevented|caused|meant|made|led|left|kept|let|broke|resulted|hid|lost"
    r"|blocked|stopped|forced|allowed|crashed|failed|triggered|produced|returned|showed|happened|occurred)"
    r"|(?:\w+ )?(?:was|were|had|did|could))\b",
    re.IGNORECASE,
)
# A sentence that says nothing without the one before it.
_POINTS_BACK = lazy_regex(
    r"^(?:this|that|these|those|it|they|such|both|each|so|which|the (?:latter|former))\b", re.IGNORECASE
)
_TEMPORARY = lazy_regex(
    r"\b(?:for now|will be (?:superseded|replaced|removed|added|done|handled|addressed|fixed|implemented)"
    r"|will (?:follow|come|land)|(?:next|later|separate|subsequent|upcoming|future) (?:commit|pr|pull request|change)s?"
    r"|not yet|still (?:needs? to be|missing|to do|open|pending)|follow-?up|interim"
    r"|temporary (?:fix|workaround|solution)|todo|as requested|address(?:es)? (?:\w+ ){0,3}review)\b"
    # Counts of one moment: "All tests pass", "1,309 tests", "12 call sites".
    r"|\ball (?:\d+ |the )?(?:\w+ ){0,2}(?:tests?|checks?) (?:still |now )?(?:pass|are green)"
    r"|\b\d[\d,.]* (?:\w+ )?(?:tests?|call ?sites|occurrences|usages|lines (?:of code|changed|added|removed)"
    r"|files (?:changed|touched|updated))\b",
    re.IGNORECASE,
)
# What a message says of tests and comments, and of tickets: "Update tests for the new format", "parser_test.go: replace
# the stub", "Tests included", "Part of SEA-12".
_OF_TESTS = lazy_regex(
    r"^(?:unit |integration )?tests? (?:are |were )?(?:included|added|updated|cover)\b"
    r"|^(?:part of|refs?|references|closes|fixes|resolves|relates to|related to|see)[: ]+#?[\w/-]*#?\d+\.?$"
    r"|^(?:\S+_test\.\w+|\S+\.(?:test|spec)\.\w+|test_\w+\.py): "
    r"|^(?:also )?(?:add|update|replace|fix|adjust|extend|rename|include)\w* .{0,40}\b(?:tests?|comments?|docs)\b",
    re.IGNORECASE,
)
# Of git's report: "1 file changed, 1 insertion(+), 2 deletions(-)".
_CHANGED_LINES = lazy_regex(r"^ \d+ files? changed.*$", re.MULTILINE)
_TINY: Final = 3  # lines
# Where a commit is made, and the options with its message: "-m 'Fix the parser'", "-am 'Fix it'", "--message=...".
_COMMAND = lazy_regex(r"\bgit (?:-\w+ \S+ |--[\w-]+ )*commit\b")
_OPTION = lazy_regex(r"\s(?:-\w*m|--message)[ =](?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)')")
# A line before a list that its items go on with: "Warn when:". Without it they say something else.
_OPEN_LINE = lazy_regex(
    r"\b(?:when(?:ever)?|where|if|unless|while|because|that|to|for|from|in|on|of|by|with|without|as|before|after|until"
    r"|no longer)\s*:$",
    re.IGNORECASE,
)
_LEAD_WORDS: Final = 5  # of a line before a list; a shorter one is a heading
_SUBSTANCE: Final = 60  # characters of a message's body; less explains nothing


class Message(NamedTuple):
    """The body of a commit's message in parts: the problem, the lesson for the next time, and the other sentences.

    `text` is all of it; `explains` is False where it hardly says anything.
    """

    problem: str
    lesson: str
    rest: tuple[str, ...]
    text: str
    explains: bool


_POINTS = lazy_regex(r"\w+ (?:it|them|this|these|those)\b", re.IGNORECASE)


def commit_title(subject: str) -> str:
    """Return a title made of a commit's subject, or "" for housekeeping and subjects that say too little."""
    prefix = _PREFIX.match(subject)
    if prefix is not None and prefix["type"].lower() in _MINOR_TYPES:
        return ""
    title = _PREFIX.sub("", one_line(subject)).rstrip(".")
    words = [word for word in title.split() if word.lower() not in _FILLER]
    is_open = len(words) <= TITLE_WORDS_MIN or _POINTS.match(title) is not None
    if prefix is not None and prefix["scope"] and is_open:
        title = f"{prefix['scope']}: {title}"  # "extract to dedicated package" does not say what, nor "move it away"
    telling = words_of(" ".join(words)) >= TITLE_WORDS_MIN
    if not telling or _HOUSEKEEPING.search(title):
        return ""
    first = title.split()[0]
    return clip(title[0].upper() + title[1:] if first.isalpha() and first.islower() else title, 100)


def is_fix(subject: str) -> bool:
    """Return True for the subject of a commit that corrects something: "fix(parser): ...", "Clarify that ..."."""
    return _FIX.match(subject) is not None


def is_correction(subject: str) -> bool:
    """Return True if a commit's subject says that it changes earlier work: a fix, or a change asked for in review."""
    return is_fix(subject) or _OF_REVIEW.search(subject) is not None


def without_type(subject: str) -> str:
    """Return a subject on one line, without the type of a conventional commit."""
    return _PREFIX.sub("", one_line(subject))


def read_message(commit: Commit) -> Message:
    """Return problem, lesson and other sentences of a commit's message, without those about tests or only for now."""
    body = _body(commit)
    stated = without_left_out(body, lambda sentence: _TEMPORARY.search(sentence) or _OF_TESTS.search(sentence))
    problem = _problem(stated, commit.body)
    reasons = [one for one in stated if one not in problem and _REASON.search(one) and not says_change(one)]
    lesson = reasons[-1] if reasons else ""
    return Message(
        problem=" ".join(map(_sentence, problem)),
        lesson=lesson,
        rest=tuple(_sentence(sentence) for sentence in stated if sentence not in problem and sentence != lesson),
        text=" ".join(body),
        explains=sum(map(len, stated)) >= _SUBSTANCE,
    )


def says_change(sentence: str) -> bool:
    """Return True for a sentence that says what a commit changes, also after a file's name ("main.go: use ...")."""
    return _CHANGES.match(_OF_FILE.sub("", sentence)) is not None


def without_left_out(stated: Iterable[str], is_left_out: Callable[[str], object]) -> list[str]:
    """Return sentences without those for which `is_left_out` is true, and "This also ..." sentences after those."""
    kept = []
    missing = False
    for sentence in stated:
        missing = bool(is_left_out(sentence)) or (missing and _POINTS_BACK.match(sentence) is not None)
        if not missing:
            kept.append(sentence)
    return kept


def is_tiny(report: str, subject: str) -> bool:
    """Return True if git reports at most three changed lines, and the commit's subject is not that of a fix."""
    counts = _CHANGED_LINES.search(report)
    return (
        counts is not None and sum(map(int, re.findall(r"(\d+) [id]", counts.group()))) <= _TINY and not is_fix(subject)
    )


def same_line(line: str, subject: str) -> bool:
    """Return True if one line is contained in the other, apart from white space and a final full stop."""
    return one_line(line).rstrip(".") in one_line(subject) or one_line(subject).rstrip(".") in one_line(line)


def _problem(stated: Sequence[str], message: str) -> list[str]:
    """Return the sentences at the beginning of a message that say what was wrong; no items of a list.

    Two at most, and up to the last of them that names a fault: "The handler set the flag early. So the overlay was
    never removed."
    """
    problem: list[str] = []
    for sentence in stated[:_PROBLEM_SENTENCES]:
        if _is_item(sentence, message) or says_change(sentence):
            break
        problem.append(sentence)
    while problem and not _PROBLEM.search(problem[-1]):
        problem.pop()
    for sentence in stated[len(problem) :] if problem else ():
        if not _WENT_ON.match(sentence) or _is_item(sentence, message):
            break
        problem.append(sentence)
    return problem


def _message(commit: Commit) -> str:
    """Return the message of a commit from the command that made it, without signatures; "" if it is not found.

    A command may make several commits, and write other texts: the message is the one that begins with the subject.
    """
    starts = [match.end() for match in _COMMAND.finditer(masked_here_documents(commit.body))]
    ends = [*starts[1:], len(commit.body)]
    messages = [_given(commit.body, start, end) for start, end in zip(starts, ends, strict=False)]
    same = [text for text in messages if same_line(text.partition("\n")[0], commit.subject)]
    return next(iter(same), messages[0] if len(messages) == 1 else "")


def _given(command: str, start: int, end: int) -> str:
    """Return the commit message in a part of a command: its here-document, else its `-m` options as paragraphs."""
    first = next((one for one in here_documents(command) if start <= one.start < end), None)
    if first is not None and "\n" not in command[start : first.start]:
        return without_signatures(first.text)
    options = _OPTION.finditer(command, start, end)
    return without_signatures(
        "\n\n".join((one["double"] or one["single"] or "").replace('\\"', '"') for one in options)
    )


def _body(commit: Commit) -> list[str]:
    """Return the sentences of a commit's message after its subject."""
    text = _message(commit)
    lines = [one_line(sentence) for sentence in sentences(unwrapped(text))]
    if lines and same_line(lines[0], commit.subject):
        lines = lines[1:]
    joined = _with_open_lines(lines, text)
    return [sentence for sentence in joined if not sentence.endswith(":") and len(sentence.split()) > 2]


def _with_open_lines(found: Sequence[str], text: str) -> list[str]:
    """Return the sentences, with list items joined to an introducing line that is no sentence without them.

    A line that names a fault ("These were lost:") is kept as well: its items alone would read as what is right. One
    that says what the commit did ("Move the bell to its own file:") is a sentence, where its items are sentences too.
    """
    joined: list[str] = []
    goes_on = is_open = False
    for sentence, after in zip_longest(found, found[1:], fillvalue=""):
        if goes_on or (is_open and _is_item(sentence, text)):
            joined[-1] += f"{' ' if joined[-1].endswith(':') else '; '}{sentence.rstrip('.')}"
            goes_on = False
            continue
        is_line = sentence.endswith(":") and after != ""
        has_items = is_line and _is_item(after, text)
        is_long = len(sentence.split()) >= _LEAD_WORDS
        goes_on = is_line and not has_items and len(sentence.split()) > 2
        is_open = (has_items and _TEMPORARY.search(sentence) is None) and (
            _OPEN_LINE.search(sentence) is not None
            or _PROBLEM.search(sentence) is not None
            or (is_long and not says_change(after))
        )
        is_sentence = has_items and not is_open and is_long and says_change(sentence)
        joined.append(f"{sentence[:-1]}." if is_sentence else sentence)
    return joined


def _is_item(sentence: str, text: str) -> bool:
    """Return True for a sentence that begins an item of a list in a text."""
    return re.search(rf"^[^\S\n]*[-*•] +{re.escape(sentence[:20])}", text, re.MULTILINE) is not None


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
