"""Candidate memories by rule, from three sources: a thread's messages, its working memory, files by an agent."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from reverie.distill.build import build_candidate, dated, without_duplicates
from reverie.distill.episodes import episodes
from reverie.distill.files import file_candidates, working_memory_candidates
from reverie.distill.own_words import own_words
from reverie.distill.procedures import procedures, skills
from reverie.distill.sentences import clip, words_of
from reverie.distill.wishes import wishes
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reverie.distill.facts import ThreadFacts
    from reverie.models import Candidate, CommandUse

_WISHES_MAX: Final = 15  # of one thread, the newest; more are one task's instructions
_UNSURE_MAX: Final = 5  # of one thread that wait for the person
_OF_FILES_MAX: Final = 60
_ANSWER_WORDS_MIN: Final = 5  # of an answer beside the options; a shorter one needs the talk around it


def candidates(
    facts: ThreadFacts,
    files: Mapping[str, str],
    working_memory: Mapping[str, str],
    at: str | None,
    uses: Sequence[CommandUse],
) -> tuple[Candidate, ...]:
    """Return wishes, procedures, skills, facts, choices, memories of files and episodes, in this order.

    Each rests on what holds after the thread: words of the person to the agent, commands that passed (`uses`: in
    all threads of the project) and commits. What agents say of code on the way is not taken: half of it is wrong by
    the end of the same thread. Small talk gives none.
    """
    sure = (wish for wish in wishes(facts, at) if "waits" not in wish.provenance)
    return (
        *islice(sure, _WISHES_MAX),
        *procedures(facts, at, uses),
        *without_duplicates(skills(facts, at, uses)),
        *without_duplicates(working_memory_candidates(working_memory, at)),
        *without_duplicates(_choices(facts, at)),
        *without_duplicates(file_candidates(files, at), _OF_FILES_MAX),
        *episodes(facts, at),
    )


def unsure_wishes(facts: ThreadFacts, at: str | None) -> tuple[Candidate, ...]:
    """Return the wishes that wait for the person, the newest five: `provenance["waits"]` says why."""
    found = list(wishes(facts, at))
    sure = {wish.content.casefold() for wish in found if "waits" not in wish.provenance}
    waiting = (wish for wish in found if "waits" in wish.provenance and wish.content.casefold() not in sure)
    return tuple(islice(waiting, _UNSURE_MAX))


def _choices(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield what the person answered to the agent's questions beside the options, in their own words, newest first.

    Such an answer says what no option did: "we are in a VM, the database runs on the host". A chosen option is the
    agent's words for one task, and often overruled by the next message: the state and the brief tell it. One that asks
    back chooses nothing.
    """
    for one in reversed(facts.answers):
        if one.decides and one.own_words and words_of(own_words(one.answer)[0]) >= _ANSWER_WORDS_MIN:
            when = one.at or at
            choice = dated(f"Asked “{clip(one.question, 160)}”, the user said “{one.answer}”", when)
            yield build_candidate(MemoryType.FACT, choice, when, [one.seq], "decision")
