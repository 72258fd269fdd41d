"""The distiller without a model: summary, excerpts, state, digest and candidates by rules over the messages."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from reverie import tokenizer
from reverie.distill import cues, summary_text
from reverie.distill.candidates import candidates, unsure_wishes
from reverie.distill.excerpt_lines import candidate_lines
from reverie.distill.excerpts import rank_excerpts
from reverie.distill.facts import gather_facts
from reverie.distill.procedures import command_uses
from reverie.distill.sentences import clip, first_sentence, words_of
from reverie.distill.state import working_state
from reverie.distill.steps import read_trace
from reverie.distill.summary import summary_sections
from reverie.models import Distillation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.distill.facts import ThreadFacts
    from reverie.models import Candidate, CommandUse, Message, Section, Summary, WorkingState

_NONE: Mapping[str, str] = MappingProxyType({})

# The limit of the digest in a context (seed 001).
MAX_TOKENS = 500
# Tasks named in a digest, newest last.
_MAX_TOPICS = 12
_TOPIC_WORDS = 5  # of a request that says what it is about
_TOPIC = "- Worked on: "


class Extractive:
    """The distiller without a model: the same messages give the same result in every process.

    It keeps what it read out of the last messages: asked about the same tuple again, it does not read it again.
    """

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] | None = None
        self._facts: ThreadFacts | None = None

    def working_state(self, messages: Sequence[Message], previous: WorkingState | None = None) -> WorkingState:
        """Return the working state (tier 1), at most 500 tokens when rendered."""
        return working_state(self.facts(messages), previous)

    def distill(
        self,
        messages: Sequence[Message],
        *,
        number: int,
        previous: Distillation | None,
        tail_from_seq: int,
        passage_tokens: int = 34_000,
        summary_tokens: int = 5_000,
        total_tokens: int | None = None,
        summary: Summary | None = None,
    ) -> Distillation:
        """Return summary, state and digest of all messages, and excerpts of those before entry `tail_from_seq`.

        Excerpts and rendered summary have a ceiling each, in tokens, and `total_tokens` together. A `summary` that is
        given, such as a model's, stands as it is.
        """
        facts = self.facts(messages)
        trace = facts.trace
        packed = summary or summary_text.pack(
            number, summary_sections(facts, previous.summary if previous else None), summary_tokens
        )
        if total_tokens is not None:
            left = total_tokens - tokenizer.count(summary_text.render(packed))
            passage_tokens = max(0, min(passage_tokens, left))
        return Distillation(
            summary=packed,
            passages=rank_excerpts(
                list(candidate_lines(trace)),
                asked=[said for role in ("user", "teammate", "report") for said in trace.said(role) if not said.via],
                stays=[line for section in packed.sections.values() for line in section],
                tail_from_seq=tail_from_seq,
                budget=passage_tokens,
            ),
            state=self.working_state(messages, previous.state if previous else None),
            digest=_digest(facts, previous.digest if previous else ""),
            through_seq=tail_from_seq - 1,
        )

    def candidates(
        self,
        messages: Sequence[Message],
        files: Mapping[str, str] = _NONE,
        working_memory: Mapping[str, str] = _NONE,
        at: str | None = None,
        uses: Sequence[CommandUse] | None = None,
        *,
        unsure: bool = False,
    ) -> tuple[Candidate, ...]:
        """Return proposed memories from `messages`, whole `files` and `working_memory`; episodes come last.

        `uses` are the commands that passed in the threads of the project, this one among them; without them, those of
        `messages`. With `unsure` the wishes follow that are to wait for the person.
        """
        facts = self.facts(messages)
        learnt = candidates(facts, files, working_memory, at, command_uses(facts) if uses is None else uses)
        return (*learnt, *unsure_wishes(facts, at)) if unsure else learnt

    def sections(self, messages: Sequence[Message]) -> dict[Section, tuple[str, ...]]:
        """Return the candidate lines of a summary of `messages`, without what the last reply leaves in the state."""
        return summary_sections(self.facts(messages), None) if messages else {}

    def facts(self, messages: Sequence[Message]) -> ThreadFacts:
        """Return the facts of `messages`, which all else is drawn from."""
        if self._facts is not None and messages is self._messages:
            return self._facts
        facts = gather_facts(read_trace(messages))
        if isinstance(messages, tuple):  # a list could be another one the next time
            self._messages, self._facts = messages, facts
        return facts

    def digest(self, messages: Sequence[Message], previous: str = "") -> str:
        """Return the updated thread digest, at most 500 tokens."""
        return _digest(self.facts(messages), previous)


def _digest(facts: ThreadFacts, previous: str = "") -> str:
    """Return the digest, at most 500 tokens, one fact a line; `previous` lines stay until newer ones replace them."""
    if not facts.requests:
        return previous
    topics = [line for line in previous.split("\n") if line.startswith(_TOPIC)]
    topics += [
        f"{_TOPIC}{(said.at or '')[:10]} {clip(first_sentence(said.text), 100)}".replace("  ", " ")
        for said in facts.requests
        if words_of(said.text) >= _TOPIC_WORDS and said.via in {"", "aside"} and not cues.is_question(said.text)
    ]
    topics = list(dict.fromkeys(reversed(topics)))[:_MAX_TOPICS][::-1]
    return tokenizer.truncate("\n".join(topics), MAX_TOKENS)
