"""Our summary format against an earlier one at equal length: task, decisions and state.

Old is what seed 001 found: one narrative summary (the client's own, as a model wrote it) and the last 4 messages in at
most 4,000 tokens. New is this project's context at as many tokens. Both are scored by the same three measures, each a
share from 0 to 1, against the transcript itself and what the work went on to use.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from reverie import tokenizer
from reverie.context.text import render
from reverie.evals.after_transcript import context_of
from reverie.evals.continuity import score
from reverie.evals.cuts import Cut, Line, find_cuts
from reverie.importers.find import read_entries
from support.shared import all_sessions, real_sessions
from support.soak import count
from support.story import generated_files

OLD_MESSAGES, OLD_TOKENS = 4, 4_000
DECIDED = re.compile(
    r"\b(?:instead|rather|don'?t|do not|let'?s|should|prefer|only|never|always|agreed?|decided)\b", re.IGNORECASE
)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
WORD = re.compile(r"[a-z][a-z_]{3,}")
COVERED = 0.6  # of a decision's words, within three neighbouring lines


class Scores(NamedTuple):
    """The scores of one text for one cut of a session."""

    task: float
    decisions: float
    state: float


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Scores, Scores]]:
    """Return the scores of the earlier format and of ours for ten compacted sessions (49 in a soak run)."""
    scores: list[tuple[Scores, Scores]] = []
    for path in all_sessions(5 if real_sessions() else 10, step=3):
        cut = next(find_cuts(path.name, list(read_entries(path))), None)
        if cut is None or not cut.asked:
            continue
        old = f"{cut.summary}\n{_tail(cut.before)}"
        new = render(context_of(cut.entries, tokenizer.count(old)).request)
        assert tokenizer.count(new) <= tokenizer.count(old)
        scores.append((scored(old, cut), scored(new, cut)))
        if len(scores) == count(10, 49):
            break
    return scores


@pytest.mark.parametrize("measure", Scores._fields)
def test_our_format_scores_higher(pairs: list[tuple[Scores, Scores]], measure: str) -> None:
    """For task, decisions and state our format has a higher mean score than the earlier, or each has 1.0."""
    old, new = (statistics.fmean(getattr(scores, measure) for scores in side) for side in zip(*pairs, strict=True))
    assert len(pairs) >= 5
    assert new > old or old == new == 1.0


def test_the_scores_of_an_empty_and_a_whole_session() -> None:
    """A text without a word of the session scores 0; the session itself scores 1 for task and decisions."""
    path = generated_files()[0]
    cut = next(find_cuts(path.name, list(read_entries(path))))
    session = "\n".join(line.text for line in cut.before)
    assert scored("nothing of note", cut) == (0.0, 0.0, 0.0)
    assert scored(session, cut).task == scored(session, cut).decisions == 1.0


def scored(text: str, cut: Cut) -> Scores:
    """Return the three scores of `text`."""
    marks = score(text, cut)
    decided = _decided(cut.before)
    windows = _windows(text)
    covered = [max((len(words & window) / len(words) for window in windows), default=0) >= COVERED for words in decided]
    return Scores(
        task=marks.asked or 0.0,
        decisions=statistics.fmean(covered) if covered else 0.0,
        state=marks.in_context,
    )


def _tail(before: Sequence[Line]) -> str:
    lines: list[str] = []
    room = OLD_TOKENS
    for line in reversed(before[-OLD_MESSAGES:]):
        room -= tokenizer.count(line.text)
        if room < 0:
            break
        lines.append(line.text)
    return "\n".join(reversed(lines))


def _decided(before: Sequence[Line]) -> list[set[str]]:
    """Return the words of the last twenty sentences with a decision, correction or preference of the user."""
    sentences = [sentence for line in before if line.role == "user" for sentence in SENTENCE.split(line.words)]
    telling = [sentence for sentence in sentences if DECIDED.search(sentence) and 5 <= len(sentence.split()) <= 40]
    return [words for sentence in telling[-20:] if len(words := set(WORD.findall(sentence.lower()))) >= 4]


def _windows(text: str) -> list[set[str]]:
    lines = [set(WORD.findall(line.lower())) for line in text.split("\n") if line.strip()]
    return [set().union(*lines[first : first + 3]) for first in range(len(lines))]
