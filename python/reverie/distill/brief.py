"""What a thread has for the brief of its project: quotes of the person and the agent, failures, commands, names.

Everything is quoted. What counts is who said it, where it stands and how often it came back; the words that are looked
for add to that, and none of them decides.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from reverie.distill.commands import (
    CHECKS,
    Purpose,
    changes_something,
    command_runs,
    here_documents,
    passed_commands,
    split_command,
)
from reverie.distill.cues import EXPLAINS, GUESSES
from reverie.distill.facts import gather_facts
from reverie.distill.next_step import current_request, steps_ahead
from reverie.distill.own_words import own_words
from reverie.distill.sentences import clip, one_line, sentences, specific_names
from reverie.distill.steps import ELSEWHERE, Interrupted, ToolCall, Utterance, answered_questions
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex
from reverie.models import BriefLine, ThreadBrief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.distill.commands import Run
    from reverie.distill.steps import Step, Trace

_LINE_CHARS: Final = (12, 260)  # of a quote; a shorter one says nothing alone, a longer one is a list or a log
_WORDS_MIN: Final = 3  # of a quote
_FINDING_CHARS_MIN: Final = 40
_COMMAND_CHARS: Final = 300  # of one that is told as it stands; a longer one is a script
_REPEATED_CHARS: Final = 40  # of a sentence that the agent said before
_LOOKED_BACK: Final = 200  # steps in which that is looked for
_OWN_CHARS: Final = 400  # of a message that a person typed; of a longer one most is pasted or a plan
_NAMES_MAX: Final = 250  # of a thread, those used most
_TEXT_CHARS: Final = 8_000  # of one text that names are read of
_NAMING_FIELDS: Final = ("command", "file_path", "path", "pattern", "old_string", "new_string", "content", "prompt")
_LINES_MAX: Final = 60  # of a thread and kind

# What should hold, or should be otherwise: "make sure", "use bun instead".
_LASTING: Final = lazy_regex(
    r"\b(?:always|never|next time|from now on|(?:don'?t|do not) (?:forget|ever)|make sure|prefer|remember|whenever"
    r"|every ?time|should(?:n'?t)?|must(?:n'?t)?|not|instead|rather)\b",
    re.IGNORECASE,
)
# A question that asks for something to be done, and not what is so or should be.
_ASKS_FOR: Final = lazy_regex(r"^(?:\w+[,.]? )?(?:can|could|any chance) (?:we|you)\b", re.IGNORECASE)
# What is about the moment: it points at something on the screen, or says how to go on.
_OF_MOMENT: Final = lazy_regex(r"\b(?:this|these|it|now|let'?s|continue|keep going|wait)\b", re.IGNORECASE)
_OWN_NAME: Final = 20  # times
# Words of an agent that chooses.
_CHOICE: Final = lazy_regex(r"\b(?:instead of|rather than|decided)\b", re.IGNORECASE)
_OF_CLIENT: Final = ("<", "[", "Operation stopped by hook")
_NUMBER: Final = lazy_regex(r"\d+")
_ROOM: Final = lazy_regex(r"\s+")
_COMMAND_WORD: Final = lazy_regex(r"[\w.-]+")
_ERROR_CHARS_MIN: Final = 15  # "FAIL" says nothing
_ERROR_CHARS_MAX: Final = 160
_TRIES_MAX: Final = 4  # commands after a failed one, among which the one that worked is; more may change too much
_ALIKE: Final = 0.5  # share of the words of two commands that are in both
_HEAD_WORDS: Final = 2  # of a command: its program
# Plain shell teaches nothing.
_PLAIN: Final = lazy_regex(
    r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod|test|\["
    r"|sort|printf|xargs|awk|jq|diff|tr|cut|uniq|for|if|while|do|done|then|fi|else|kill|pkill|set|exit|python3? -c)"
    r"(?:\s|$)|^\w+=\S*$"
)
_COMMAND: Final = lazy_regex(r"[\w./~@-]{2,} \S")  # "make check", not "}" nor "done"
_PROPER: Final = lazy_regex(r"[/._A-Z]")  # not the flags of common commands, "name-only", nor commits
_QUOTED: Final = lazy_regex(r"\"[^\"]*\"|'[^']*'|\S*/(?=\S)")


def thread_brief(trace: Trace) -> ThreadBrief:
    """Return what a thread has for the brief of its project; linear in its size."""
    runs = command_runs(trace.calls)
    edits = [call.seq for call in trace.calls if call.tool in EDITS and not call.failed]
    said = (*_wishes(trace.steps), *_decisions(trace.calls), *_findings(trace.steps))
    facts = gather_facts(trace)
    lines = (*said, *_failures(runs, edits), *_commands(runs))
    return ThreadBrief(
        lines=lines,
        names=_names(trace),
        task=current_request(facts)[0],
        open="\n".join(one_line(step) for step, _ in steps_ahead(facts)),
        at=trace.last_at,
    )


def _is_typed(step: Step) -> bool:
    return isinstance(step, Utterance) and step.role == "user" and not step.text.startswith(_OF_CLIENT)


def _wishes(steps: Sequence[Step]) -> Iterator[BriefLine]:
    found: list[BriefLine] = []
    before: Step | None = None
    for number, step in enumerate(steps):
        if isinstance(step, Utterance) and _is_typed(step) and step.via != "answer":  # answers are decisions
            own = own_words(step.text)[0] if len(step.text) <= _OWN_CHARS else ""
            # Words with a refused call, or after an interruption, object to what the agent did.
            objects = step.via in {"refusal", "objection"} or isinstance(before, Interrupted)
            # What is behind a colon or in quotes is told with the sentence, but only the person's own words count.
            for sentence in sentences(step.text) if own else ():
                said = own_words(sentence)[0]
                if "\n" in step.text and _is_repeated(sentence, steps[max(number - _LOOKED_BACK, 0) : number]):
                    continue
                if _LINE_CHARS[0] <= len(sentence) <= _LINE_CHARS[1] and len(said.split()) >= _WORDS_MIN:
                    weight = 0.3 * objects + _weight_of_words(said)
                    found.append(BriefLine("wish", one_line(sentence), step.seq, step.at, weight=weight))
        before = step
    yield from _best(found)


def _is_repeated(sentence: str, before: Sequence[Step]) -> bool:
    """Return True for a sentence that the agent said or wrote before, which the person pasted into a message."""
    start = sentence[:_REPEATED_CHARS]
    said = (step for step in before if not _is_typed(step))
    return any(
        start in (step.text if isinstance(step, Utterance) else step.word("command"))
        for step in said
        if isinstance(step, Utterance | ToolCall)
    )


def _weight_of_words(sentence: str) -> float:
    weight = 0.6 * (_LASTING.search(sentence) is not None)
    weight -= 0.3 * (_OF_MOMENT.search(sentence) is not None)
    # "Can we keep the PII out of it?" is a wish, "should it do so?" and "what does it do?" are none.
    return weight - 2.0 * (sentence.endswith("?") and _ASKS_FOR.search(sentence) is None)


def _best(lines: Sequence[BriefLine]) -> list[BriefLine]:
    """Return the lines of most weight, the newer first of equals, in the order of the thread."""
    best = sorted(lines, key=lambda line: (-line.weight, -line.seq))[:_LINES_MAX]
    return sorted(best, key=lambda line: line.seq)


def _decisions(calls: Iterable[ToolCall]) -> Iterator[BriefLine]:
    """Yield what the person chose where the agent asked, with the description of the option."""
    for one in answered_questions(calls):
        answer = one_line(one.answer)
        if one.own_words:
            said = clip(answer, _LINE_CHARS[1])
            yield BriefLine("wish", said, one.seq, one.at, weight=0.3 + _weight_of_words(said))
        text = f"{one.question} → {answer}" + (f": {one.option}" if one.option else "")
        yield BriefLine("decision", clip(text, _LINE_CHARS[1]), one.seq, one.at, weight=1.0)


def _findings(steps: Sequence[Step]) -> Iterator[BriefLine]:
    """Yield the agent's sentences that name something and give a cause or a choice."""
    found = []
    for number, step in enumerate(steps):
        if not isinstance(step, Utterance) or step.role != "assistant":
            continue
        ends = number + 1 == len(steps) or _is_typed(steps[number + 1])
        for sentence in sentences(step.text):
            if not _FINDING_CHARS_MIN <= len(sentence) <= _LINE_CHARS[1] or not sentence.endswith((".", "。", "!")):
                continue  # a heading, an item of a list, a question, or the begin of something else
            choice = _CHOICE.search(sentence) is not None
            if GUESSES.search(sentence) or not (choice or EXPLAINS.search(sentence)) or not specific_names(sentence):
                continue
            if any(sentence.count(mark) % 2 for mark in '`"*'):
                continue  # a part of what is quoted
            weight = 1.0 + 0.4 * ends
            kind: Literal["decision", "finding"] = "decision" if choice else "finding"
            found.append(BriefLine(kind, one_line(sentence), step.seq, step.at, weight=weight))
    return iter(_best(found))


def _failures(runs: Sequence[Run], edits: Sequence[int]) -> Iterator[BriefLine]:
    """Yield the error lines of commands that failed, each with what worked; `edits` are the entries that edit files."""
    seen: dict[str, BriefLine] = {}
    for number, run in enumerate(runs):
        if not run.failed or len(run.error) < _ERROR_CHARS_MIN:
            continue
        key = f"E {_normal(run.error)}"
        before = seen.pop(key, BriefLine("mistake", "", 0, None, times=0))
        fix = _what_worked(run, runs[number + 1 : number + 1 + _TRIES_MAX], edits) or before.fix
        text = clip(run.error, _ERROR_CHARS_MAX)
        times = before.times + 1
        seen[key] = BriefLine("mistake", text, run.seq, run.at, key=key, fix=fix, times=times)
    yield from list(seen.values())[-_LINES_MAX:]


def _what_worked(failed: Run, later: Sequence[Run], edits: Sequence[int]) -> str:
    """Return the next command much like the failed one, where it is not the same, and nothing was changed between.

    "rtk bun run test" failed, "bun run test" passed: three of four words. A push that passes after a merge was mended
    by that, a lint by the edit before it; `go test ./a` that passes where `go test ./...` failed mends nothing, nor
    does `git stash && go test ./...`, which tests other code.
    """
    words = _words_of(failed.command)
    programs = set(map(_head, split_command(here_documents(failed.command)[1])))
    for run in later:
        others = _words_of(run.command)
        parts = split_command(here_documents(run.command)[1])
        alike = len(words & others) >= _ALIKE * len(words | others)
        if not alike or (len(programs) > 1 and not programs <= set(map(_head, parts))):
            if changes_something(run.command):
                return ""
            continue
        is_edited = bisect_left(edits, failed.seq) < bisect_left(edits, run.call_seq)
        is_part = failed.purpose is Purpose.TEST and _head(run.command) == _head(failed.command)
        is_other_code = failed.purpose in CHECKS and any(part.startswith("git ") for part in parts)
        passed = passed_commands(run)
        is_same = set(passed) <= set(split_command(failed.command))
        if (
            is_edited
            or is_part
            or is_other_code
            or is_same
            or any(map(_PLAIN.match, parts))
            or "\n" in run.command.strip()
        ):
            return ""
        return " && ".join(passed) if all(len(part) <= _COMMAND_CHARS for part in passed) else ""
    return ""


def _words_of(command: str) -> set[str]:
    """Return the words of a command, numbers as 0."""
    return set(_COMMAND_WORD.findall(_NUMBER.sub("0", here_documents(command)[1])))


def _normal(text: str) -> str:
    """Return a text without what differs from case to case: numbers, folders, quoted words."""
    return _ROOM.sub(" ", _NUMBER.sub("0", _QUOTED.sub("", text))).strip().lower()[:100]


def _head(command: str) -> str:
    return " ".join(command.split()[:_HEAD_WORDS])


def _commands(runs: Iterable[Run]) -> Iterator[BriefLine]:
    """Yield the commands that passed, without plain shell, each once with its number of times.

    That is 0 for one that failed by itself since, as `make check` without such a target: a red test is no such failure.
    """
    seen: dict[str, BriefLine] = {}
    failed: set[str] = set()  # the beginnings of commands that failed: one that passed after them was learnt
    for run in runs:
        line = here_documents(run.command)[1].strip()
        parts = split_command(line) if run.failed else passed_commands(run)
        told = [part for part in parts if not _PLAIN.match(part)]
        if run.failed:
            failed.update(map(_head, parts))
            told = told if len(told) == 1 and not run.finds else []  # of several nobody knows which one failed
        for part in told if "\n" not in line else ():
            if not _COMMAND.match(part) or len(part) > _COMMAND_CHARS:
                continue
            key = "C " + _NUMBER.sub("0", part.split("'", 1)[0].split('"', 1)[0]).strip()
            if run.failed and key != f"C {part}":
                continue  # another number or text may pass
            before = seen.pop(key, None)
            times = 0 if run.failed else 1 if before is None else before.times + 1
            weight = max(0.3 * (_head(part) in failed), 0.0 if before is None else before.weight)
            seen[key] = BriefLine("command", part, run.call_seq, run.at, key=key, weight=weight, times=times)
    yield from sorted(seen.values(), key=lambda line: (-line.times, line.seq))[:_LINES_MAX]


def _names(trace: Trace) -> dict[str, int]:
    """Return how often the person and the agent used each specific name, without what tools answered.

    Files of calls and their folders count more, and a path is one of the project's alone: "dev/null", "encoding/json"
    and "origin/main" are in nearly every project. `strategy/old.go` is told where calls were about files of `strategy`.
    """
    counts: Counter[str] = Counter()
    own: set[str] = set()
    folders: set[str] = set()
    for step in trace.steps:
        if isinstance(step, Utterance):
            counts.update(specific_names(step.text[:_TEXT_CHARS]))
        elif isinstance(step, ToolCall):
            for field in _NAMING_FIELDS:
                counts.update(specific_names(step.word(field)[:_TEXT_CHARS]))
            if step.path and not ELSEWHERE.search(step.path):
                own.update(specific_names(step.path))
                folders.update(step.path.split("/")[3:-1])
    weighed = {
        name: times * (_OWN_NAME if name in own else 1)
        for name, times in counts.items()
        if _PROPER.search(name) and ("/" not in name or name.split("/")[0] in folders)
    }
    best = sorted(weighed.items(), key=lambda pair: (-pair[1], pair[0]))[:_NAMES_MAX]
    return dict(best)
