"""Updates by a model that drop or turn round what a memory denies, or deny what it affirms: they wait for a person.

"Use pnpm, not npm" becomes "Use npm, not pnpm" only where the person has typed so in the messages at hand. Of a plain
statement, such as "The loader does not read CSV", the agent that has changed that may say so as well. A candidate is no
reason, because its words are the model's.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from reverie.consolidate import Proposal
from reverie.consolidate.denials_dropped_or_reversed_by_new_words import is_supported, is_wish_or_choice, reversals
from reverie.documents.project_document_paths import memory_project
from reverie.models import MemoryType, Update
from reverie.usecases.candidate_word_origins import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.models import Delete, Memory, Message

__all__ = ["Said", "updates_that_reverse"]

_OF_PERSON: Final = "it would say the opposite of the memory, which the person has not said"
_OF_ANYBODY: Final = "it would say the opposite of the memory, which neither the person nor the agent has said"


class Said:
    """The texts of the person and of the agent in the messages from which memories are made."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages

    @cached_property
    def _by_person(self) -> list[str]:
        return texts_of(self._messages, "person")

    @cached_property
    def _by_agent(self) -> list[str]:
        return texts_of(self._messages, "agent")

    def why_reversed(self, memory: Memory, content: str) -> str:
        """Return the reason to hold an update to this content: it reverses the memory without support; else ""."""
        if memory.type is MemoryType.EPISODE:
            return ""
        reversed_clauses = reversals(memory.content, content)
        if not reversed_clauses:
            return ""
        of_person = memory.type is MemoryType.PREFERENCE or is_wish_or_choice(memory.content)
        texts = self._by_person if of_person else [*self._by_person, *self._by_agent]
        project = memory_project(memory)
        if all(is_supported(one, texts, given=project, is_plain=not of_person) for one in reversed_clauses):
            return ""
        return _OF_PERSON if of_person else _OF_ANYBODY


def updates_that_reverse(
    changes: Mapping[str, Update | Delete], existing: Mapping[str, Memory], said: Said
) -> list[Proposal]:
    """Return proposals in place of the updates that reverse their memory without a reason; both are by its id."""
    return [
        Proposal(change, why, "contradiction")
        for change in changes.values()
        if isinstance(change, Update) and (why := said.why_reversed(existing[change.id], change.content))
    ]
