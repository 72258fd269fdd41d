"""Build the sections of a structured summary (tier 2), most informative lines first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill.facts import CHECKS, asking
from reverie.distill.next_step import OF_NOW as STEPS_OF_NOW
from reverie.distill.next_step import current_plan, current_request, steps_ahead
from reverie.distill.questions import open_question
from reverie.distill.sentences import clip, one_line, sentences, specific_names
from reverie.distill.state import completed, decided
from reverie.distill.summary_text import (
    ASKED,
    BEGAN,
    DOING,
    DONE,
    EDITED,
    FAILING,
    LAST,
    NEXT,
    NOW,
    REQUESTED,
    SAID,
    TO_DO,
    UNANSWERED,
    USER,
)
from reverie.lazy_regex import lazy_regex
from reverie.models import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.distill.facts import KeySentence, ThreadFacts
    from reverie.models import Summary

_LINE = 320  # characters of one line; longer sentences are lists or logs
_TOGETHER = 3  # lines taken from a list at a time when lists are interleaved, so that neighbours stay together
_RECENT = 40  # entries from the end within which a failing check still describes the present
_JUST_NOW = 12  # and another command
_STATE_LINES = 7  # of what is true now
_LONGEST = 1_000  # characters of a label, uncut
_FAILING = lazy_regex(rf"^{FAILING}(?P<purpose>tests|build|lint): ")


def summary_sections(facts: ThreadFacts, previous: Summary | None) -> dict[Section, tuple[str, ...]]:
    """Return the candidate lines of every section, most informative first; the caller packs what fits.

    Of `previous`, decisions, corrections and completed work are carried on behind the new lines, open threads in
    front unless something since closed them.
    """
    lines = {
        Section.TASK_CONTEXT: _task_context(facts),
        Section.COMPLETED_WORK: _completed_work(facts),
        Section.DECISIONS: _decisions(facts),
        Section.CURRENT_STATE: _current_state(facts),
        Section.OPEN_THREADS: _open_threads(facts),
        Section.CORRECTIONS: [f"{USER}{clip(mark.text, _LINE)}" for mark in reversed(facts.corrections)],
        Section.TONE: [],
    }
    if previous is not None:
        lines = merge_previous(lines, previous, facts)
    return {section: tuple(dict.fromkeys(map(one_line, found))) for section, found in lines.items()}


def _task_context(facts: ThreadFacts) -> list[str]:
    request, _ = current_request(facts)
    if not request:
        return []
    asked = asking(facts.requests)
    lines = [f"{NOW}{request}"]
    if len(asked) > 1:
        lines.append(f"{BEGAN}{clip(asked[0].text, 240)}")
    if facts.root:
        lines.append(f"Files are under {facts.root}")
    return [*lines, *(f"{ASKED}{clip(said.text, 200)}" for said in reversed(asked[1:-1]))]


def _completed_work(facts: ThreadFacts) -> list[str]:
    """Return what was done, and beside it what the agent said of it and found out, in its words."""
    lines = [f"Opened {address}" for address in reversed(facts.pulls)]
    lines += [f"Committed {commit.sha}: {clip(commit.subject, 160)}" for commit in reversed(facts.commits)]
    done = [f"Done: {clip(item.subject, 200)}" for item in reversed(facts.todo) if item.status == "completed"]
    lines = _alternate(lines, _sentence_lines(facts.said), done)
    if facts.edited:
        lines.insert(min(2, len(lines)), f"Files edited: {', '.join(reversed(facts.edited[-12:]))}")
    return lines


def _decisions(facts: ThreadFacts) -> list[str]:
    """Return the person's decisions, newest first; what was taken back is none."""
    return [f"{USER}{text}" for text, _ in reversed(decided(facts, _LINE))]


def _current_state(facts: ThreadFacts) -> list[str]:
    """Return what is true now: in progress, failing, done last, asked last; nothing that was taken back."""
    lines = [f"{DOING}{item.label(200)}" for item in current_plan(facts) if item.status == "in_progress"]
    lines += [
        f"{FAILING}{run.purpose.value if run.purpose in CHECKS else 'command'}: "
        f"{clip(run.description or run.command, 80)} — {run.error}"
        for run in reversed(facts.failing)
        if run.seq >= facts.end - (_RECENT if run.purpose in CHECKS else _JUST_NOW)
    ]
    asked = asking(facts.requests)[-1:]
    lines += [f"{REQUESTED}{clip(said.text, 240)}" for said in asked]
    is_refuted = any(mark.seq > facts.reply_seq for mark in facts.corrections)
    last = [] if is_refuted else [sentence for sentence in sentences(facts.reply) if not sentence.endswith(":")]
    lines += [f"{SAID}{clip(' '.join(last[:3]), _LINE)}"] if last else []
    lines += [f"{DONE}{text}" for text, _ in completed(facts)[-1:]]
    checks = {run.purpose: run for run in facts.runs if run.purpose in CHECKS}
    for run in sorted(checks.values(), key=lambda run: -run.seq):
        end = "failed" if run.failed else "passed"
        lines.append(f"{LAST}{run.purpose.value}: {end} ({clip(run.description or run.command, 80)})")
    if facts.edited:
        lines.insert(_STATE_LINES - 1, f"{EDITED}{', '.join(reversed(facts.edited[-4:]))}")
    return lines[:_STATE_LINES]


def _open_threads(facts: ThreadFacts) -> list[str]:
    plan = [item for item in current_plan(facts) if item.status == "pending"]
    ahead = [text for text, seq in steps_ahead(facts)[:1] if text.startswith(STEPS_OF_NOW)]
    question = open_question(facts.reply) if facts.is_speech and facts.words and facts.words.role == "assistant" else ""
    lines = [f"{UNANSWERED}{clip(question, 240)}"] if question else [f"{NEXT}{clip(text, 240)}" for text in ahead]
    return [*lines, *(f"{TO_DO}{item.label(200)}" for item in plan)]


def _sentence_lines(marks: Iterable[KeySentence]) -> list[str]:
    """Return sentences as lines: messages with specific names first, the newest first in each.

    Sentences that stood side by side stay on one line, as they explain each other.
    """
    messages: dict[int, list[KeySentence]] = {}
    for mark in marks:
        messages.setdefault(mark.seq, []).append(mark)
    newest = [messages[seq] for seq in sorted(messages, reverse=True)]
    newest.sort(key=lambda said: not any(specific_names(mark.text) for mark in said))
    return [line for said in newest for line in _joined(said)]


def _joined(said: Sequence[KeySentence]) -> list[str]:
    lines: list[str] = []
    before = -1
    for mark in said:
        if lines and mark.place == before + 1 and len(lines[-1]) + len(mark.text) < _LINE:
            lines[-1] = f"{lines[-1]}{' ' if lines[-1][-1] in '.!?…' else '; '}{mark.text}"
        else:
            lines.append(clip(f"({mark.speaker}) {mark.text}" if mark.speaker else mark.text, _LINE))
        before = mark.place
    return lines


def _alternate(*lists: Sequence[str]) -> list[str]:
    """Return one list of all lines, taken three at a time from each list, so that neighbouring lines stay together."""
    lines: list[str] = []
    for start in range(0, max((len(one) for one in lists), default=0), _TOGETHER):
        for one in lists:
            lines.extend(one[start : start + _TOGETHER])
    return lines


def merge_previous(
    found: Mapping[Section, Sequence[str]], previous: Summary, facts: ThreadFacts
) -> dict[Section, list[str]]:
    """Return the new sections with the lines of `previous` that still hold, without repetitions.

    What was open stays in front until `facts` closes it. Decisions, corrections and completed work follow the new
    lines. Of the state only a check that failed and did not run since is left.
    """
    before = {section: list(previous.sections.get(section, ())) for section in Section}
    doing = [line for line in before[Section.CURRENT_STATE] if line.startswith(DOING)]
    threads = [*(f"{TO_DO}{line.removeprefix(DOING)}" for line in doing), *before[Section.OPEN_THREADS]]
    still_open = _still_open(threads, facts)
    finished = [line for line in threads if line not in still_open and line.startswith(TO_DO)]
    return {
        Section.TASK_CONTEXT: _merge_task(found[Section.TASK_CONTEXT], before[Section.TASK_CONTEXT]),
        Section.COMPLETED_WORK: [
            *found[Section.COMPLETED_WORK],
            *(f"Done: {line.removeprefix(TO_DO)}" for line in finished),
            *before[Section.COMPLETED_WORK],
        ],
        Section.DECISIONS: [*found[Section.DECISIONS], *before[Section.DECISIONS]],
        Section.CURRENT_STATE: [
            *found[Section.CURRENT_STATE],
            *(
                line
                for line in before[Section.CURRENT_STATE]
                if (match := _FAILING.match(line)) and match["purpose"] not in facts.checked
            ),
        ],
        Section.OPEN_THREADS: [*still_open, *found[Section.OPEN_THREADS]],
        Section.CORRECTIONS: [*found[Section.CORRECTIONS], *before[Section.CORRECTIONS]],
        Section.TONE: before[Section.TONE],
    }


def _merge_task(found: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the task section: the new request, how the thread began, then earlier requests, newest first."""
    if not found or not before:
        return list(found or before)
    began = next((line for line in before if line.startswith(BEGAN)), "")
    older = [line for line in before if line != began] if began else before[1:]
    return [
        found[0],
        began or f"{BEGAN}{before[0].removeprefix(NOW)}",
        *(f"{ASKED}{line.removeprefix(BEGAN)}" if line.startswith(BEGAN) else line for line in found[1:]),
        *(f"{ASKED}{line.removeprefix(NOW)}" if line.startswith(NOW) else line for line in older),
    ]


def _still_open(threads: Sequence[str], facts: ThreadFacts) -> list[str]:
    """Return the open threads of an earlier summary that nothing closed, replaced or answered since."""
    listed = [item.label(_LONGEST) for item in facts.todo]
    kept = []
    for line in threads:
        subject = line.removeprefix(TO_DO).rstrip("…")
        is_over = (line.startswith(NEXT) and facts.end) or (line.startswith(UNANSWERED) and facts.requests)
        is_listed = any(label.startswith(subject) for label in listed) or subject.endswith(facts.plan.closed())
        if not (is_over or is_listed):
            kept.append(line)
    return kept
