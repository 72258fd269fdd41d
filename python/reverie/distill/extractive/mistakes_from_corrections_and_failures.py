"""Mistakes: what a person corrected, with what it was about, and failed checks that passed later, with the cause."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.distill.commands import Purpose, is_wrapper_line
from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.build_candidates_with_dates_and_tags import build_candidate, with_absolute_dates
from reverie.distill.extractive.detect_talk_that_sets_no_rule import ABOUT_WORK, sincere_messages
from reverie.distill.extractive.detect_undone_or_failed_work import is_removed
from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences
from reverie.distill.extractive.wish_and_correction_cues_by_language import language_of
from reverie.distill.sentences import (
    clip,
    one_line,
    sentences,
    specific_names,
    word_count,
)
from reverie.distill.steps import Interrupted, ToolCall, Utterance
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.distill.facts import Fix, ThreadFacts
    from reverie.distill.steps import Step
    from reverie.models import Candidate

__all__ = ["BROKEN", "corrections", "mended_cause", "mended_failures"]

# An order that can be followed, where the person stopped the agent and says what to do instead.
_ADVICE = lazy_regex(r"^(?:please )?(?:don'?t|do not|never|avoid|stop|always|use|keep|make sure|only)\b", re.IGNORECASE)
# "No, the settings live in conf/, not in etc/": how it is, and how it is not. In a chat people say so of everything.
_STATED = lazy_regex(
    r"^(?:no|nope|wrong)\b[,.!:\s\u2013\u2014-]+(?P<what>(?!(?:that|this|it|they|there|i)\b)\w[^,;]*"
    r"\b(?:is|are|lives?|goes|uses?|belongs?|runs?|needs?|means?|comes?)"
    r" [^,;]+, not (?!yet\b|sure\b|just\b|only\b)[^,;]+)$",
    re.IGNORECASE,
)
_SENTENCE_MAX: Final = 240  # characters
_ADVICE_WORDS_MIN: Final = 3
# Means something only beside what was on the screen: "don't do that", "use the other one", "keep it here".
_POINTING = lazy_regex(
    r"\b(?:this(?! (?:repo|repository|project|codebase|team|package)\b)|that|these|those|it|them|here"
    r"|the (?:other|first|second|last|latter|former|same|above|old|new) (?:one"
    r"|way|version)?)\b|^(?:use|keep|call|run|put|leave) (?:the|your|my) \w+[.!]?$",
    re.IGNORECASE,
)
# The client's text where the person stopped or refused a tool call.
_REFUSED = lazy_regex(r"\[Request interrupted|doesn't want to proceed")

BROKEN: Final = {
    Purpose.TEST: "the tests fail",
    Purpose.BUILD: "the build fails",
    Purpose.LINT: "the linter complains",
}
# An error line that many failures share, or that belongs to one test of one day: no later reader recognizes it.
_VAGUE = lazy_regex(
    r"^(?:\[[\w:.-]+\] )?(?:error:? )?(?:task|command|build|tests?|lint\w*) failed\b"
    r"|\bexit (?:code|status) \d+$|no such file|\bCONFLICT\b|^\S+ \S+$|^\S+:$|, got:$|^(?:panic: )?runtime error"
    r"|nil pointer dereference|SyntaxError|^-+ (?:FAIL|PASS)|^FAIL|\d+ (?:failed|passed)|\(\d+\.\d+s\)"
    r"|no result was recorded"
    r"|_test\.\w+:\d+|\b(?:got|received|actual)\b.*\d",
    re.IGNORECASE,
)
# A guess, which may be wrong: "It is probably the cache."
_HEDGED = lazy_regex(
    r"\b(?:likely|probably|maybe|perhaps|might|seems?|i think|not sure|should be|could be)\b", re.IGNORECASE
)
# An opening without content, removed: "Ah, I see the problem: the path is relative" gives "the path is relative".
_LEAD_IN = lazy_regex(
    r"^(?:(?:wait|ah|oh|ok(?:ay)?|good|great|yeah|right|hmm+|now i (?:see|understand)"
    r"|i (?:see|found) the (?:issue|problem))\b[\s,.:!\u2013\u2014-]*)+",
    re.IGNORECASE,
)
# A cause that needs the sentence before it: "This is because the test changed it."
_POINTS_BACK = lazy_regex(
    r"^(?:this|that|these|those|it|it's|they|so|but|and|both|same|all|there"
    r"|the (?:test|edit|fix|change|output|log)s? (?:shows?|from|above|below|is (?:now|that|wrong|in)))\b",
    re.IGNORECASE,
)
# The agent about its own work, not about the project: "I'll copy the file."
_FIRST_PERSON = lazy_regex(
    r"\b(?:i|i'?m|i'?ve|i'?ll|let'?s|me|my|is wrong|needs? more|not in the|copy)\b", re.IGNORECASE
)
_CODE = lazy_regex(r"`[^`]*`")
_WORD = lazy_regex(r"[a-z][a-z_]{4,}")
# Where an error is: "cmd/main.go:12:3:", "(line 40)", "[lint:go]"; every error of the file has it.
_PLACE = lazy_regex(r"\S*\w\.\w+:\d+(?::\d+)?:?|\(line \d+\)|^\[[\w:.-]+\]")
_SPACE_BEFORE = lazy_regex(r" (?=[,;.])")
# Words of errors in general, by which no cause is related to one error.
_COMMON: Final = frozenset(
    [
        "error",
        "errors",
        "failed",
        "failure",
        "expected",
        "actual",
        "fatal",
        "cannot",
        "could",
        "found",
        "undefined",
        "unknown",
        "invalid",
        "issue",
        "problem",
        "test",
        "tests",
        "value",
        "values",
        "should",
        "there",
        "which",
        "because",
        "where",
        "return",
        "returns",
        "before",
        "after",
    ]
)


def corrections(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the person's corrections, newest first: the order in it, and what the agent was doing.

    A correction begins with a no ("no, use pnpm"), or is an order given right after the person stopped the agent. In a
    thread without tool calls, a chat, it must be about work: commits, tests, files.
    """
    in_earnest = {said.seq for said in sincere_messages(facts.requests, chat=not facts.trace.calls)}
    for said, before in reversed([*_after_agent(facts)]):
        if said.seq not in in_earnest:
            continue
        stopped = isinstance(before, Interrupted) or (
            isinstance(before, ToolCall) and before.failed and _REFUSED.search(before.result) is not None
        )
        for sentence in own_sentences(said.text)[:2]:
            text = _correction(sentence, stopped=stopped, chat=not facts.trace.calls)
            if text and (facts.trace.calls or ABOUT_WORK.search(text)):
                when = said.at or at
                content = with_absolute_dates(f"{text}: the user had to correct this{_about(before)}", when)
                yield build_candidate(MemoryType.MISTAKE, content, when, [said.seq])


def _after_agent(facts: ThreadFacts) -> Iterator[tuple[Utterance, Step]]:
    """Yield each message of the person with the agent's step right before it."""
    before: Step | None = None
    for step in facts.trace.steps:
        if isinstance(step, Utterance) and step.role == "user":
            if before is not None:
                yield step, before
            before = None
        else:
            before = step


def _correction(sentence: str, *, stopped: bool, chat: bool) -> str:
    """Return the order in a correction that makes sense without its context, or the empty string."""
    line = one_line(sentence).replace("\u2019", "'")
    language = language_of(line)
    if language is None or len(line) > _SENTENCE_MAX or cue_phrases.is_question(line):
        return ""
    match = language.correction.search(line)
    if language.name != "en":
        return f"“{match['what'].rstrip('.!。！')}”" if match else ""
    match = match or (None if chat else _STATED.match(line))
    text = (match["what"] or match["choice"]) if match else line if stopped and _ADVICE.match(line) else ""
    if len(text.split()) < _ADVICE_WORDS_MIN or (_POINTING.search(text) and not specific_names(text)):
        return ""
    return f"{text[0].upper()}{text[1:].rstrip('.!')}"


def _about(step: Step) -> str:
    """Return what the agent was doing as the end of a sentence, or the empty string."""
    match step:
        case ToolCall(tool="Bash"):
            return f", about `{clip(step.word('command'), 80)}`" if "`" not in step.word("command") else ""
        case ToolCall(tool=tool) if tool in EDITS and step.path:
            return f", about an edit of {step.path.rsplit('/', 1)[-1]}"
        case Utterance():
            last = next((one for one in reversed(sentences(step.text)) if word_count(one) >= _ADVICE_WORDS_MIN), "")
            return f", about “{clip(last, 120).rstrip('.')}”" if last else ""
        case _:
            return ""


def mended_failures(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield advice for checks that failed and passed after an edit, where a cause of just that error was stated."""
    results = {call.result_seq: call.result for call in facts.trace.calls if call.tool == "Bash"}
    for fix in reversed(facts.fixes):
        cause, seq = mended_cause(fix, facts)
        paths = [path for path in fix.files if not path.startswith("/")]
        printed = [path for path in paths if path.rsplit("/", 1)[-1] in results.get(fix.failed.seq, "")]
        where = ", ".join((printed or paths)[:2])
        error = fix.failed.error
        if cause and _names_removed(cause, printed or paths, fix.failed.seq, facts):
            continue
        if fix.failed.purpose in BROKEN and where and cause and not is_wrapper_line(error) and not _VAGUE.search(error):
            when = fix.passed.at or at
            shown = _SPACE_BEFORE.sub("", " ".join(_PLACE.sub("", error).split())) or error
            advice = f"If {BROKEN[fix.failed.purpose]} with “{clip(shown, 140)}”, look at {where}: {clip(cause, 240)}"
            seqs = [fix.failed.seq, seq, fix.passed.seq]
            yield build_candidate(
                MemoryType.MISTAKE, with_absolute_dates(advice, when), when, seqs, fix.failed.purpose.value
            )


def _names_removed(cause: str, paths: Sequence[str], after: int, facts: ThreadFacts) -> bool:
    """Return True if a cause names something that later edits removed from the mended files.

    A path or a file's name may be just what was wrong.
    """
    calls = [
        call
        for call in facts.trace.calls
        if call.tool in EDITS and call.seq >= after and facts.trace.relative(call.path) in paths
    ]
    return any(is_removed(name, calls) for name in specific_names(cause) if "/" not in name and "." not in name)


def mended_cause(fix: Fix, facts: ThreadFacts) -> tuple[str, int]:
    """Return the last explanation of the error before the check passed, and its entry; empty where none is related.

    Empty also for an error line that says nothing. The last one, since what was thought first is often wrong; related,
    since agents explain many things meanwhile.
    """
    if is_wrapper_line(fix.failed.error) or _VAGUE.search(fix.failed.error):
        return "", 0
    error = _PLACE.sub(" ", fix.failed.error)
    wanted, names = _words(error), {name.lower() for name in specific_names(error)}
    for mark in reversed([m for m in facts.said if m.kind == "finding"]):
        if fix.failed.seq <= mark.seq <= fix.passed.seq:
            why = _LEAD_IN.sub("", mark.text)
            shared = wanted & _words(why)
            if _is_explanation(why) and (shared & names or (shared and 2 * len(shared) >= len(wanted))):
                return why, mark.seq
    return "", 0


def _words(text: str) -> set[str]:
    names = {name.lower() for name in specific_names(text)}
    return (names | set(_WORD.findall(text.lower()))) - _COMMON


def _is_explanation(why: str) -> bool:
    """True if a sentence states a cause that helps a later reader: no guess, no back reference, no plan."""
    return (
        word_count(why) >= 4
        and not _HEDGED.search(why)
        and not _POINTS_BACK.match(why)
        and not _FIRST_PERSON.search(_CODE.sub("", why))
        and why.count('"') % 2 == why.count("`") % 2 == 0
        and why.count("(") == why.count(")")
        and not why.endswith(":")
    )
