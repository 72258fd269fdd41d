"""The thread digest: who the person is, how they work, and what they usually do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reverie import token_counter
from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.commands import Purpose
from reverie.distill.extractive.prose import clip, first_sentence
from reverie.distill.extractive.sections import tone_lines

if TYPE_CHECKING:
    from reverie.distill.extractive.thread_facts import ThreadFacts

__all__ = ["MAX_TOKENS", "digest"]

# The limit of the digest in a context (seed 001).
MAX_TOKENS = 500
# Tasks named in a digest, newest last.
_MAX_TOPICS = 12
# Standing preferences named in a digest, newest last.
_MAX_WISHES = 6
_TOPIC = "- Worked on: "
_WISH = "- Wishes: "


def digest(facts: ThreadFacts, previous: str = "") -> str:
    """Return the digest, at most 500 tokens, one fact a line; `previous` lines stay until newer ones replace them."""
    if not facts.requests:
        return previous
    wishes = [f"{_WISH}{clip(mark.text, 160)}" for mark in facts.preferences if cue_phrases.is_lasting(mark.text)]
    topics = [
        f"{_TOPIC}{(said.at or '')[:10]} {clip(first_sentence(said.text), 100)}".replace("  ", " ")
        for said in facts.requests
        if len(said.text.split()) >= 5 and not cue_phrases.is_question(said.text)
    ]
    before = previous.split("\n")
    wishes = _newest([line for line in before if line.startswith(_WISH)] + wishes, _MAX_WISHES)
    topics = _newest([line for line in before if line.startswith(_TOPIC)] + topics, _MAX_TOPICS)
    lines = [*(f"- {line}" for line in tone_lines(facts)[:2]), *_usual_work(facts), *wishes]
    while topics and token_counter.count("\n".join([*lines, *topics])) > MAX_TOKENS:
        topics.pop(0)
    return token_counter.truncate("\n".join([*lines, *topics]), MAX_TOKENS)


def _usual_work(facts: ThreadFacts) -> list[str]:
    """Return lines for the kinds of files edited and the checks run most often."""
    lines = []
    kinds = Counter(path.rsplit(".", 1)[-1] for path in facts.edited if "." in path.rsplit("/", 1)[-1])
    if kinds:
        common = sorted(kinds, key=lambda kind: (-kinds[kind], kind))[:3]
        lines.append(
            f"- Usual work: edits {', '.join(f'.{kind}' for kind in common)} files"
            + (f" under {facts.trace.root}" if facts.trace.root else "")
        )
    checks = [run.purpose.value for run in facts.runs if run.purpose in {Purpose.TEST, Purpose.LINT, Purpose.BUILD}]
    habits = [
        name for name, count in sorted(Counter(checks).items(), key=lambda pair: (-pair[1], pair[0])) if count > 1
    ]
    if facts.commits:
        habits.append("commits")
    if habits:
        lines.append(f"- Usual checks: {', '.join(habits)}")
    return lines


def _newest(lines: list[str], limit: int) -> list[str]:
    return list(dict.fromkeys(reversed(lines)))[:limit][::-1]
