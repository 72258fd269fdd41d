"""What a thread has for the brief of its project: quotes of the person and the agent, failures, commands, names.

Everything is quoted. What counts is who said it, where it stands and how often it came back; the words that are looked
for add to that, and none of them decides.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from reverie.distill.answers import answered_questions
from reverie.distill.commands import Purpose, command_runs, here_documents
from reverie.distill.own_words import own_words
from reverie.distill.procedures import split_command
from reverie.distill.sentences import clip, one_line, sentences, specific_names
from reverie.distill.steps import Interrupted, ToolCall, Utterance
from reverie.distill.todo import TodoList
from reverie.lazy_regex import lazy_regex
from reverie.models import BriefLine, ThreadBrief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reverie.distill.commands import Run
    from reverie.distill.steps import Step, Trace

__all__ = ["VERSION", "thread_brief"]

VERSION: Final = 2
"""Changes with what is extracted: the lines of older versions are made anew."""

_LINE_CHARS: Final = (12, 260)  # of a quote; a shorter one says nothing alone, a longer one is a list or a log
_WORDS_MIN: Final = 3  # of a quote
_TASK_WORDS_MIN: Final = 5  # "ok, do both" is no task
_FINDING_CHARS_MIN: Final = 40
_COMMAND_CHARS: Final = 110
_REPEATED_CHARS: Final = 40  # of a sentence that the agent said before
_LOOKED_BACK: Final = 200  # steps in which that is looked for
_OWN_CHARS: Final = 400  # of a message that a person typed; of a longer one most is pasted or a plan
_NAMES_MAX: Final = 250  # of a thread, those used most
_CAUSES_MIN: Final = 3  # of a thread; of one with fewer, as in another language, names and place alone count
_SAID_CHARS: Final = 140  # of the task and of what is open
_TEXT_CHARS: Final = 8_000  # of one text that names are read of
_NAMING_FIELDS: Final = ("command", "file_path", "path", "pattern", "old_string", "new_string", "content", "prompt")
_LINES_MAX: Final = 60  # of a thread and kind

# What should hold: "from now on", "make sure".
_LASTING: Final = lazy_regex(
    r"\b(?:always|never|next time|from now on|(?:don'?t|do not) (?:forget|ever)|make sure|prefer|remember|whenever"
    r"|every ?time|should(?:n'?t)?|must(?:n'?t)?)\b",
    re.IGNORECASE,
)
# What was not right: "that is already fixed", "no, use bun instead".
_CONTRAST: Final = lazy_regex(
    r"\b(?:not|no|nope|wrong|instead|actually|already|rather|no longer|only)\b|n't\b", re.IGNORECASE
)
# What the person thinks of it.
_OPINION: Final = lazy_regex(
    r"\b(?:i think|i agree|i'?d (?:like|prefer)|i (?:just )?want|we (?:also|don'?t))\b", re.IGNORECASE
)
# A question that asks for something.
_ASKS_FOR: Final = lazy_regex(r"^(?:\w+[,.]? )?(?:can|could|should|shall|any chance|do) (?:we|you|i)\b", re.IGNORECASE)
# Words of an agent that gives a cause, or chooses.
_CAUSE: Final = lazy_regex(
    r"\b(?:root cause|because|found (?:it|the|that)|(?:issue|problem|bug|cause|reason) (?:is|was)|turns out|due to"
    r"|caused by|so that|requires?|needs? to)\b",
    re.IGNORECASE,
)
_CHOICE: Final = lazy_regex(r"\b(?:instead of|rather than|decided)\b", re.IGNORECASE)
# What the agent is about to do says nothing of what is so.
_INTENT: Final = lazy_regex(
    r"^(?:(?:ok(?:ay)?|great|good|perfect|excellent|next|first|then|so|but|yes|alright|right)\b[!,.:]? *)*"
    r"(?:now|let me|let's|i'll|i will|i need to|i should|i'm going|we need to)\b",
    re.IGNORECASE,
)
_OF_CLIENT: Final = ("<", "[", "Operation stopped by hook")
_NUMBER: Final = lazy_regex(r"\d+")
_ROOM: Final = lazy_regex(r"\s+")
_COMMAND_WORD: Final = lazy_regex(r"[\w.-]+")
_ERROR_CHARS_MIN: Final = 15  # "FAIL" says nothing
_ERROR_CHARS_MAX: Final = 160
_FIX_CHARS: Final = 140
_TRIES_MAX: Final = 12  # commands after a failed one, among which the one that worked is looked for
_ALIKE: Final = 0.5  # share of the words of two commands that are in both
# Plain shell teaches nothing.
_PLAIN: Final = lazy_regex(
    r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod|test|\["
    r"|sort|printf|xargs|awk|jq|diff|tr|cut|uniq|for|if|while|do|done|then|fi|else|kill|pkill|set|exit|python3? -c)"
    r"(?:\s|$)|^\w+=\S*$"
)
_COMMAND: Final = lazy_regex(r"[\w./~@-]{2,} \S")  # "make check", not "}" nor "done"
_QUOTED: Final = lazy_regex(r"\"[^\"]*\"|'[^']*'|\S*/(?=\S)")


def thread_brief(trace: Trace) -> ThreadBrief:
    """Return what a thread has for the brief of its project; linear in its size."""
    runs = command_runs(trace.calls)
    said = (*_wishes(trace.steps), *_decisions(trace.calls), *_findings(trace.steps))
    return ThreadBrief(
        lines=(*said, *_failures(runs), *_commands(runs)),
        names=_names(trace),
        task=_task(trace),
        open=_open(trace),
        at=trace.last_at,
    )


def _is_typed(step: Step) -> bool:
    return isinstance(step, Utterance) and step.role == "user" and not step.text.startswith(_OF_CLIENT)


def _wishes(steps: Sequence[Step]) -> Iterator[BriefLine]:
    """Yield the sentences that the person typed, each with the weight of its words and its place.

    Words with a refused call, or after an interruption, object to what the agent did.
    """
    found: list[BriefLine] = []
    for number, step in enumerate(steps):
        if not isinstance(step, Utterance) or not _is_typed(step) or len(step.text) > _OWN_CHARS:
            continue
        objects = step.via in {"refusal", "objection"} or (number > 0 and isinstance(steps[number - 1], Interrupted))
        before = steps[max(number - _LOOKED_BACK, 0) : number] if "\n" in step.text else ()
        for sentence in sentences(own_words(step.text)[0]):
            is_long = _LINE_CHARS[0] <= len(sentence) <= _LINE_CHARS[1] and len(sentence.split()) >= _WORDS_MIN
            if is_long and not sentence.endswith(":") and not _is_repeated(sentence, before):
                weight = objects + _weight_of_words(sentence)
                found.append(BriefLine("wish", one_line(sentence), step.seq, step.at, weight=weight))
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
    weight += 0.3 * (_CONTRAST.search(sentence) is not None)
    weight += 0.3 * (_OPINION.search(sentence) is not None)
    # "Can we not keep the PII out of it?" is a wish, "what does it do?" none.
    return weight - 0.8 * (sentence.endswith("?") and _ASKS_FOR.search(sentence) is None)


def _best(lines: Sequence[BriefLine]) -> list[BriefLine]:
    """Return the lines of most weight, the newer first of equals, in the order of the thread."""
    best = sorted(lines, key=lambda line: (-line.weight, -line.seq))[:_LINES_MAX]
    return sorted(best, key=lambda line: line.seq)


def _decisions(calls: Iterable[ToolCall]) -> Iterator[BriefLine]:
    """Yield what the person chose where the agent asked, with the description of the option."""
    for one in answered_questions(calls):
        if one.own_words:
            yield BriefLine("wish", clip(one_line(one.answer), _LINE_CHARS[1]), one.seq, one.at, weight=0.6)
        yield BriefLine("decision", clip(one_line(one.text), _LINE_CHARS[1]), one.seq, one.at, weight=1.0)


def _findings(steps: Sequence[Step]) -> list[BriefLine]:
    """Return the agent's sentences that name something and give a cause or a choice."""
    found = []
    for number, step in enumerate(steps):
        if not isinstance(step, Utterance) or step.role != "assistant":
            continue
        ends = number + 1 == len(steps) or _is_typed(steps[number + 1])
        for sentence in sentences(step.text):
            is_told = _FINDING_CHARS_MIN <= len(sentence) <= _LINE_CHARS[1] and not sentence.endswith((":", "?"))
            if is_told and not _INTENT.match(sentence) and specific_names(sentence):
                choice = _CHOICE.search(sentence) is not None
                weight = float(choice or _CAUSE.search(sentence) is not None) + 0.4 * ends
                kind: Literal["decision", "finding"] = "decision" if choice else "finding"
                found.append(BriefLine(kind, one_line(sentence), step.seq, step.at, weight=weight))
    given = [line for line in found if line.weight >= 1]
    return _best(given if len(given) >= _CAUSES_MIN else found)


def _failures(runs: Sequence[Run]) -> Iterator[BriefLine]:
    """Yield the error lines of commands that failed, each with the next command much like it that passed."""
    seen: dict[str, BriefLine] = {}
    for number, run in enumerate(runs):
        if not run.failed or len(run.error) < _ERROR_CHARS_MIN:
            continue
        key = f"E {_normal(run.error)}"
        before = seen.pop(key, BriefLine("mistake", "", 0, None, times=0))
        # A failing test is of the task at hand; a command that was called wrongly fails in the next session too.
        weight = 1.0 if run.purpose is Purpose.OTHER else 0.3
        fix = _what_worked(run, runs[number + 1 : number + 1 + _TRIES_MAX]) or before.fix
        text = clip(run.error, _ERROR_CHARS_MAX)
        times = before.times + 1
        seen[key] = BriefLine("mistake", text, run.seq, run.at, key=key, fix=fix, weight=weight, times=times)
    yield from list(seen.values())[-_LINES_MAX:]


def _what_worked(failed: Run, later: Sequence[Run]) -> str:
    """Return the next command that passed and is much like the failed one, but not the same; or an empty text.

    "rtk bun run test" failed, "bun run test" passed: three of four words. `ls` of another folder is no mended `ls`.
    """
    words = _words_of(failed.command)
    for run in later:
        others = _words_of(run.command)
        alike = len(words & others) >= _ALIKE * len(words | others)
        if not run.failed and alike and split_command(run.command) != split_command(failed.command):
            return clip(run.command.split("\n")[0], _FIX_CHARS)
    return ""


def _words_of(command: str) -> set[str]:
    """Return the words of a command, numbers as 0."""
    return set(_COMMAND_WORD.findall(_NUMBER.sub("0", here_documents(command)[1])))


def _normal(text: str) -> str:
    """Return a text without what differs from case to case: numbers, folders, quoted words."""
    return _ROOM.sub(" ", _NUMBER.sub("0", _QUOTED.sub("", text))).strip().lower()[:100]


def _head(command: str) -> str:
    return " ".join(command.split()[:2])


def _commands(runs: Iterable[Run]) -> Iterator[BriefLine]:
    """Yield the commands that passed, without plain shell, each once with its number of times."""
    seen: dict[str, BriefLine] = {}
    failed: set[str] = set()  # the beginnings of commands that failed: one that passed after them was learnt
    for run in runs:
        if run.failed:
            failed.update(map(_head, split_command(run.command)))
            continue
        line = here_documents(run.command)[1].strip()
        for part in split_command(line) if "\n" not in line else ():
            if _PLAIN.match(part) or not _COMMAND.match(part):
                continue
            key = "C " + _NUMBER.sub("0", part.split("'", 1)[0].split('"', 1)[0]).strip()
            before = seen.pop(key, None)
            times = 1 if before is None else before.times + 1
            shown = part.split("'", 1)[0].split('"', 1)[0].rstrip()
            text = clip(shown, _COMMAND_CHARS) + (" …" if shown != part else "")
            weight = max(0.3 * (_head(part) in failed), 0.0 if before is None else before.weight)
            seen[key] = BriefLine("command", text, run.call_seq, run.at, key=key, weight=weight, times=times)
    yield from sorted(seen.values(), key=lambda line: (-line.times, line.seq))[:_LINES_MAX]


def _names(trace: Trace) -> dict[str, int]:
    """Return how often the person and the agent used each specific name, without what tools answered."""
    counts: Counter[str] = Counter()
    for step in trace.steps:
        if isinstance(step, Utterance):
            counts.update(specific_names(step.text[:_TEXT_CHARS]))
        elif isinstance(step, ToolCall):
            for field in _NAMING_FIELDS:
                counts.update(specific_names(step.word(field)[:_TEXT_CHARS]))
    best = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_NAMES_MAX]
    return dict(best)


def _task(trace: Trace) -> str:
    """Return what the person asked for last, in their words."""
    typed = [step for step in trace.steps if isinstance(step, Utterance) and _is_typed(step)]
    long = [step for step in typed if len(step.text.split()) >= _TASK_WORDS_MIN] or typed
    return clip(long[-1].text, _SAID_CHARS) if long else ""


def _open(trace: Trace) -> str:
    """Return the agent's question at the end, or else what is open on its list, or else its last sentence."""
    last = trace.steps[-1] if trace.steps else None
    said = sentences(last.text) if isinstance(last, Utterance) and last.role == "assistant" else []
    if said and said[-1].endswith("?"):
        return clip(said[-1], _SAID_CHARS)
    left = [
        item.subject for item in TodoList().follow(trace.calls).items() if item.status in {"in_progress", "pending"}
    ]
    return clip("; ".join(left) if left else said[-1], _SAID_CHARS) if left or said else ""
