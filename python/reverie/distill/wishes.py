"""The person's standing wishes: their own sentences that hold for good, quoted word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reverie.distill.build import build_candidate
from reverie.distill.cues import CHAT_WISH, LASTING, PASSING, WISH
from reverie.distill.own_words import own_words
from reverie.distill.sentences import one_line, sentences
from reverie.distill.steps import Utterance
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.distill.facts import ThreadFacts
    from reverie.models import Candidate

_COMMAND: Final = lazy_regex(r"\A/[\w:-]+\s+(?=\S)")  # before what was typed behind it: "/work Never use npm."
_CHARS: Final = range(12, 201)  # of a sentence: "Never." says nothing, and a longer one is a paragraph
_TYPED_CHARS_MAX: Final = 600  # of a message that may still be typed: longer ones are read for plain wishes alone
_PASTE_CHARS_MAX: Final = 2_000  # of a message: longer pastes are documents, and full of rules for others


def wishes(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the person's standing wishes, newest first, without a date so that repetitions are equal.

    `provenance["waits"]` names why one waits for the person: "paste" where its words are foreign or may be, "unsure"
    where its message asks something or a lasting word stands elsewhere in it. Example: "Always run the linter." is a
    wish, "Always rotate the keys. Is that still our policy?" and "we should use strict types wherever we can" wait.
    """
    seen: set[tuple[str, bool]] = set()
    for said in reversed(_said(facts)):
        own, foreign = own_words(_COMMAND.sub("", said.text))
        asks = "?" in said.text or "\uff1f" in said.text
        own_wishes = _lasting(own, is_chat=not facts.trace.calls)
        found = [(sentence, "unsure" if asks else "", is_sure) for sentence, is_sure in own_wishes]
        if len(said.text) <= _PASTE_CHARS_MAX:
            found += [
                (sentence, "paste", is_sure)
                for sentence, is_sure in _lasting(foreign, is_chat=False)
                if is_sure or len(said.text) <= _TYPED_CHARS_MAX
            ]
        for sentence, why, is_sure in found:
            waits = why or ("" if is_sure else "unsure")
            key = (sentence.casefold(), bool(waits))
            if key not in seen:
                seen.add(key)
                content = f"The user wants: “{sentence}”"
                one = build_candidate(MemoryType.PREFERENCE, content, said.at or at, [said.seq], about_user=True)
                yield replace(one, provenance={**one.provenance, "waits": waits}) if waits else one


def _said(facts: ThreadFacts) -> list[Utterance]:
    answers = [Utterance("user", one.answer, one.seq, one.at) for one in facts.answers if one.own_words]
    return sorted([*facts.requests, *answers], key=lambda one: one.seq)


def _lasting(text: str, *, is_chat: bool) -> Iterator[tuple[str, bool]]:
    """Yield the sentences that hold beyond the task, without "ok, please", and whether they are wishes by their form.

    In a thread without tool calls people may talk to each other, "Always premium, never regular": there a wish is the
    first thing that a message says.
    """
    for number, sentence in enumerate(sentences(text)):
        line = one_line(sentence).rstrip(".!")
        if len(line) in _CHARS and not line.endswith(("?", "\uff1f")) and not PASSING.search(line):
            match = (CHAT_WISH if is_chat else WISH).search(line)
            if match is not None and not (is_chat and number):
                begins = match.start() == 0 and match["lead"] is not None
                yield line[match.end("lead") :] if begins else line, True
            elif not is_chat and LASTING.search(line):
                yield line, False
