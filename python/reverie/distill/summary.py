"""Build the seven sections of a structured summary (tier 2), most informative lines first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues as cue_phrases
from reverie.distill.commands import Purpose
from reverie.distill.extractive.current_request_and_agreed_proposals import current_request
from reverie.distill.facts import substantial_requests
from reverie.distill.next_step import last_question, steps_ahead
from reverie.distill.sentences import clip, one_line, sentences, specific_names
from reverie.distill.summary_text import (
    ASKED,
    BEGAN,
    DOING,
    EDITED,
    FAILING,
    LAST,
    NEXT,
    NOW,
    OF_NOW,
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


__all__ = ["merge_previous", "summary_sections", "tone_lines"]

# Characters of one line; longer sentences are lists or logs.
_LINE = 320
# Lines taken from a list at a time when lists are interleaved, so that neighbours stay together.
_TOGETHER = 3
_RECENT = 40  # entries from the end within which a failing check still describes the present
_JUST_NOW = 12  # and another command
_CHECKS = {purpose: purpose.value for purpose in (Purpose.TEST, Purpose.BUILD, Purpose.LINT)}
# "still broken!!", "why did you do that again"
_IMPATIENT = lazy_regex(r"!{2,}|\b(?:again|still|wtf|why did you|come on|seriously|ugh)\b", re.IGNORECASE)

_LONGEST = 1_000  # characters of a label, uncut
_FEW = 2  # words, which may stand anywhere by chance
_FAILING = lazy_regex(rf"^{FAILING}(?P<purpose>tests|build|lint): ")


def summary_sections(facts: ThreadFacts, previous: Summary | None) -> dict[Section, tuple[str, ...]]:
    """Return the candidate lines of every section, most informative first; the caller packs what fits.

    Of `previous`, decisions, corrections and completed work are carried on behind the new lines, open threads in
    front unless something since closed them.
    """
    lines_by_section = {
        Section.TASK_CONTEXT: _task_context(facts),
        Section.COMPLETED_WORK: _completed_work(facts),
        Section.DECISIONS: _decisions(facts),
        Section.CURRENT_STATE: _current_state(facts),
        Section.OPEN_THREADS: _open_threads(facts),
        Section.CORRECTIONS: _corrections(facts),
        Section.TONE: tone_lines(facts),
    }
    if previous is not None:
        lines_by_section = merge_previous(lines_by_section, previous, facts)
    return {section: tuple(dict.fromkeys(map(one_line, lines))) for section, lines in lines_by_section.items()}


def _task_context(facts: ThreadFacts) -> list[str]:
    asked = substantial_requests(facts.requests)
    if not asked:
        return []
    lines = [f"{NOW}{current_request(facts)}"]
    if len(asked) > 1:
        lines.append(f"{BEGAN}{clip(asked[0].text, 240)}")
    if facts.trace.root:
        lines.append(f"Files are under {facts.trace.root}")
    lines += [f"{ASKED}{clip(said.text, 200)}" for said in reversed(asked[1:-1])]
    return lines


def _completed_work(facts: ThreadFacts) -> list[str]:
    lines = [f"Opened {address}" for address, _ in reversed(facts.pulls)]
    lines += [f"Committed {commit.sha}: {clip(commit.subject, 160)}" for commit in reversed(facts.commits)]
    done = [item.subject for item in facts.plan if item.status == "completed"]
    outcomes = _sentence_lines(facts.outcomes)
    lines = _alternate(lines, outcomes, [f"Done: {clip(subject, 200)}" for subject in reversed(done)])
    if facts.edited:
        lines.insert(min(2, len(lines)), f"Files edited: {', '.join(reversed(facts.edited[-12:]))}")
    return lines


def _decisions(facts: ThreadFacts) -> list[str]:
    """Return the decisions, newest first: the person's, and the agent's with the sentences around them."""
    lines = [(mark.seq, f"{USER}{clip(mark.text, _LINE)}") for mark in facts.decisions if mark.by_user]
    lines += [
        (answer.seq, f"Asked “{clip(answer.question, 160)}”, the user chose: {answer.answer}")
        for answer in facts.answers
        if "?" not in answer.answer
    ]
    of_person = [line for _, line in sorted(lines, key=lambda line: line[0], reverse=True)]
    made = [mark for mark in facts.decisions if not mark.by_user]
    return _alternate(of_person, _sentence_lines([*made, *_reasons(facts, made)]))


def _reasons(facts: ThreadFacts, made: Sequence[KeySentence]) -> list[KeySentence]:
    """Return the sentences right before and after decisions of the agent, which are usually why."""
    beside = {(mark.seq, mark.place + step) for mark in made for step in (-1, 1)}
    return [mark for mark in (*facts.findings, *facts.remarks) if (mark.seq, mark.place) in beside]


def _current_state(facts: ThreadFacts) -> list[str]:
    lines = [f"{DOING}{item.label(200)}" for item in facts.plan if item.status == "in_progress"]
    end = facts.trace.steps[-1].seq if facts.trace.steps else 0
    lines += [
        f"{FAILING}{_CHECKS.get(run.purpose, 'command')}: {clip(run.description or run.command, 80)} — {run.error}"
        for run in reversed(facts.failing)
        if run.seq >= end - (_RECENT if run.purpose in _CHECKS else _JUST_NOW)
    ]
    spoken = facts.trace.said("assistant")
    if spoken:
        last = [sentence for sentence in sentences(spoken[-1].text) if not sentence.endswith(":")]
        lines += [f"{SAID}{clip(' '.join(last[:3]), _LINE)}"] if last else []
    checks = {run.purpose.value: run for run in facts.runs if run.purpose.value in {"tests", "build", "lint"}}
    lines += [
        f"{LAST}{name}: {'failed' if run.failed else 'passed'} ({clip(run.description or run.command, 80)})"
        for name, run in checks.items()
    ]
    if facts.edited:
        lines.append(f"{EDITED}{', '.join(reversed(facts.edited[-4:]))}")
    return [*lines, *_findings(facts)]


def _findings(facts: ThreadFacts) -> list[str]:
    """Return the agent's findings as lines, then its other statements, without those that are a decision's reason."""
    made = [mark for mark in facts.decisions if not mark.by_user]
    reasons = {id(mark) for mark in _reasons(facts, made)}
    findings = [mark for mark in facts.findings if id(mark) not in reasons]
    remarks = [mark for mark in (*facts.remarks, *facts.pending.weighed) if id(mark) not in reasons]
    strong = {mark.seq for mark in (*made, *facts.findings)}
    strong_lines = _sentence_lines([*findings, *(mark for mark in remarks if mark.seq in strong)])
    return [*strong_lines, *_sentence_lines(mark for mark in remarks if mark.seq not in strong)]


def _open_threads(facts: ThreadFacts) -> list[str]:
    listed = {item.seq for item in facts.plan}
    question = last_question(facts)
    ahead = [] if question else [text for text, seq in steps_ahead(facts) if seq not in listed]
    lines = [f"{NEXT}{clip(ahead[0], 240)}"] if ahead else []
    if question:
        lines.append(f"{UNANSWERED}{clip(question, 240)}")
    lines += [f"{TO_DO}{item.label(200)}" for item in facts.plan if item.status == "pending"]
    spoken = max((said.seq for said in facts.requests), default=0)
    return lines + _sentence_lines(
        mark
        for mark in facts.nexts
        if (mark.seq > spoken or not cue_phrases.is_imminent(mark.text)) and mark.text not in ahead
    )


def _corrections(facts: ThreadFacts) -> list[str]:
    by_user = [f"{USER}{clip(mark.text, _LINE)}" for mark in reversed(facts.corrections)]
    fixed = [
        f"{fix.failed.purpose.value.capitalize()} failed ({fix.failed.error}); "
        f"{'mended: ' + clip(fix.why, 200) if fix.why else 'mended in ' + ', '.join(fix.files[:3])}"
        for fix in reversed(facts.fixes)
        if fix.failed.error
    ]
    failures = _sentence_lines(facts.failures)
    return _alternate(by_user, failures, fixed)


def tone_lines(facts: ThreadFacts) -> list[str]:
    """Return at most four short lines on how the person writes, for the agent to match."""
    said = [request.text for request in facts.requests]
    if not said:
        return []
    lengths = sorted(len(text.split()) for text in said)
    middle = lengths[len(lengths) // 2]
    manner = (
        "short, direct instructions" if middle <= 12 else "full sentences" if middle <= 60 else "long, detailed briefs"
    )
    questions = sum(cue_phrases.is_question(text) for text in said)
    lines = [f"The user writes {manner} (median {middle} words over {len(said)} messages)."]
    if 3 * questions >= len(said):
        lines.append("Many are questions: explains and discusses before building.")
    if sum(_IMPATIENT.search(text) is not None for text in said[-5:]) >= 2:
        lines.append("Lately impatient: the same thing had to be said more than once.")
    if facts.corrections and 4 * len(facts.corrections) >= len(said):
        lines.append("Corrects often; checks what is claimed.")
    return lines


def _sentence_lines(marks: Iterable[KeySentence]) -> list[str]:
    """Return key sentences as lines: messages with specific names before those without, the newest first in each.

    Sentences that stood side by side stay on one line, as they explain each other.
    """
    messages: dict[int, list[KeySentence]] = {}
    for mark in marks:
        messages.setdefault(mark.seq, []).append(mark)
    newest = [sorted(messages[seq], key=lambda mark: mark.place) for seq in sorted(messages, reverse=True)]
    specific = [any(specific_names(mark.text) for mark in said) for said in newest]
    chosen = [said for said, named in zip(newest, specific, strict=True) if named]
    chosen += [said for said, named in zip(newest, specific, strict=True) if not named]
    return [line for said in chosen for line in _joined(said)]


def _joined(said: Sequence[KeySentence]) -> list[str]:
    lines: list[str] = []
    before = -1
    for mark in said:
        if lines and mark.place == before + 1 and len(lines[-1]) + len(mark.text) < _LINE:
            lines[-1] = f"{lines[-1]}{' ' if lines[-1][-1] in '.!?…' else '; '}{mark.text}"
        else:
            lines.append(clip(mark.text, _LINE))
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
    lines. Of the state only what nothing contradicts is left: a check that failed and did not pass since.
    """
    before = {section: list(previous.sections.get(section, ())) for section in Section}
    still_open = _still_open(before, facts)
    finished = [line for line in _merge_open_threads(before) if line not in still_open and line.startswith(TO_DO)]
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
            *_still_failing(before[Section.CURRENT_STATE], facts),
            *(line for line in before[Section.CURRENT_STATE] if not line.startswith(OF_NOW)),
        ],
        Section.OPEN_THREADS: [*still_open, *found[Section.OPEN_THREADS]],
        Section.CORRECTIONS: [*found[Section.CORRECTIONS], *before[Section.CORRECTIONS]],
        Section.TONE: list(found[Section.TONE] or before[Section.TONE]),
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


def _merge_open_threads(before: Mapping[Section, Sequence[str]]) -> list[str]:
    """Return open threads; an item that was in progress counts as still to do."""
    doing = [line for line in before[Section.CURRENT_STATE] if line.startswith(DOING)]
    return [*(f"{TO_DO}{line.removeprefix(DOING)}" for line in doing), *before[Section.OPEN_THREADS]]


def _still_open(before: Mapping[Section, Sequence[str]], facts: ThreadFacts) -> list[str]:
    ended = " ".join(mark.text for mark in facts.outcomes).lower()
    listed = [item.label(_LONGEST) for item in facts.plan]
    kept = []
    for line in _merge_open_threads(before):
        subject = line.removeprefix(TO_DO).rstrip("…")
        answered = line.startswith(UNANSWERED) and facts.requests
        if line.startswith(NEXT) and facts.trace.steps:
            continue
        ended_already = len(subject.split()) > _FEW and subject.lower() in ended
        settled = ended_already or any(label.startswith(subject) for label in listed)
        if not (answered or settled or any(subject.endswith(mark) for mark in facts.closed)):
            kept.append(line)
    return kept


def _still_failing(before: Sequence[str], facts: ThreadFacts) -> list[str]:
    """Return earlier failing checks that no later run of the same kind replaced."""
    purposes = {run.purpose.value for run in facts.runs}
    return [line for line in before if (match := _FAILING.match(line)) is not None and match["purpose"] not in purposes]
