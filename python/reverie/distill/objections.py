"""What a thread says or does against older memories: the person's corrections that name things, reverted commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.distill.sentences import specific_names
from reverie.doubts import Objection
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.distill.facts import ThreadFacts

# `git revert 1a2b3c4`, and the body that git gives such a commit. `HEAD` names no commit that a memory could.
_REVERTED = lazy_regex(r"(?:\bgit revert (?:-\S+ )*|This reverts commit )(?P<sha>[0-9a-f]{7,40})\b")


def objections(facts: ThreadFacts) -> Iterator[Objection]:
    """Yield the person's corrections with specific names, and the commits that were reverted."""
    for said in facts.corrections:
        names = specific_names(said.text)
        if names:
            yield Objection(said.text, said.at, said.seq, names=names)
    reverted = [(run.command, run.seq) for run in facts.runs if not run.failed]
    reverted += [(commit.body, commit.seq) for commit in facts.commits]
    for text, seq in reverted:
        for match in _REVERTED.finditer(text):
            yield Objection(match["sha"], None, seq, commits=(match["sha"],))
