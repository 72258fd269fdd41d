"""Slash commands, which are no prompts of their own, and words from the client's queue in threads imported earlier.

Claude Code keeps a command as a line of its own kind, and words that are sent while the agent works as operations of a
queue. Those words are messages; in threads that were imported before they were, they stand in entries of no kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.importers.claude_code import is_command
from reverie.importers.join import without_repeats
from reverie.importers.message_tokens import message_tokens
from reverie.importers.queue import is_queue_operation, queued_words
from reverie.importers.rewinds import rewound_positions
from reverie.lazy_regex import lazy_regex
from reverie.models import EntryKind, Json, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Entry

_NAME: Final = lazy_regex(r"<command-name>\s*/?([^\s<]*)")
_ARGUMENTS: Final = lazy_regex(r"<command-args>(.*?)</command-args>", re.DOTALL)
# Commands to the client itself, which say nothing about the work; what is typed behind `/compact` does.
_OF_THE_CLIENT: Final = lazy_regex(
    "add-dir|agents|bashes|bug|clear|compact|config|context|cost|doctor|effort|exit|export|extra-usage|"
    "fast|help|hooks|ide|install-github-app|login|logout|mcp|memory|model|output-style|permissions|"
    "plugin|quit|rate-limit-options|release-notes|rename|resume|rewind|sandbox|skills|stats|status|"
    "statusline|stickers|tasks|terminal-setup|theme|todos|upgrade|usage|vim"
)


def with_asides(messages: Sequence[Message], entries: Iterable[Entry]) -> list[Message]:
    """Return a thread's messages with what was typed aside in all its entries, in order."""
    return sorted([*messages, *typed_asides(entries)], key=lambda message: message.first_seq)


def typed_asides(entries: Iterable[Entry]) -> list[Message]:
    """Return each slash command, and each text of a queue that is no speech, as a message, without rewound ones."""
    entries = list(entries)
    if not any(is_queue_operation(entry) or is_command(entry) for entry in entries):
        return []
    distinct = without_repeats(entries)
    taken = rewound_positions(distinct)
    messages: list[Message] = []
    for index, entry in enumerate(distinct):
        if index in taken:
            continue
        if is_command(entry):
            name = _NAME.search(_text(entry.content))
            given = _ARGUMENTS.search(_text(entry.content))
            words = given[1].strip() if given else ""
            if name is not None and (not _OF_THE_CLIENT.fullmatch(name[1]) or (name[1] == "compact" and words)):
                messages.append(_message(entry, f"/{name[1]} {words}".rstrip()))
        elif entry.kind is EntryKind.OTHER and (words := queued_words(entry)):
            messages.append(_message(entry, words))
    return sorted(messages, key=lambda message: message.first_seq)


def _message(entry: Entry, text: str) -> Message:
    """Return a message of the person with this text, and the number and time of the entry."""
    tokens = message_tokens(text)
    return Message(role="user", content=text, first_seq=entry.seq, last_seq=entry.seq, at=entry.at, tokens=tokens)


def _text(content: Json) -> str:
    """Return the text of a content, a string or a list of blocks (their texts on lines); empty for anything else."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
