"""Slash commands, and words that the person sent while the agent was at work: neither is a prompt of its own.

Claude Code keeps both outside of the conversation: a command as a line of its own kind, and words that are sent
meanwhile as operations of a queue. They stand in the queue (`enqueue`) until the agent is given them (`remove`), they
become the next prompt, which is a line of its own (`dequeue`), or they are taken back to be edited (`popAll`).
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Final

from reverie.importers.claude_code import is_command
from reverie.importers.count_message_tokens import message_tokens
from reverie.importers.detect_rewound_branches import rewound_positions
from reverie.importers.join_main_line_entries_and_pair_tool_results import without_repeats
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, EntryKind, Json, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["is_queue_operation", "typed_asides", "with_asides"]

_NAME: Final = lazy_regex(r"<command-name>\s*/?([^\s<]*)")
_ARGUMENTS: Final = lazy_regex(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SLASH: Final = lazy_regex(r"/([\w:-]+)\s*$")
_NO_SPEECH: Final = ("<", "{")  # how the client's own notices begin: news of running tasks
# Commands to the client itself, which say nothing about the work.
_OF_THE_CLIENT: Final = lazy_regex(
    "add-dir|agents|bashes|bug|clear|compact|config|context|cost|doctor|effort|exit|export|extra-usage|"
    "fast|help|hooks|ide|install-github-app|login|logout|mcp|memory|model|output-style|permissions|"
    "plugin|quit|rate-limit-options|release-notes|rename|resume|rewind|sandbox|skills|stats|status|"
    "statusline|stickers|tasks|terminal-setup|theme|todos|upgrade|usage|vim"
)


def with_asides(messages: Sequence[Message], entries: Iterable[Entry]) -> list[Message]:
    """Return a thread's messages with the slash commands and interjections from all its entries, in order."""
    return sorted([*messages, *typed_asides(entries)], key=lambda message: message.first_seq)


def typed_asides(entries: Iterable[Entry]) -> list[Message]:
    """Return each slash command and each text sent while the agent worked as a message, without rewound ones."""
    entries = list(entries)
    if not any(is_queue_operation(entry) or is_command(entry) for entry in entries):
        return []
    distinct = without_repeats(entries)
    taken = rewound_positions(distinct)
    queue: deque[Entry] = deque()
    messages: list[Message] = []
    for index, entry in enumerate(distinct):
        if index in taken:
            continue
        if is_command(entry):
            name = _NAME.search(_text(entry.content))
            if name is not None and not _OF_THE_CLIENT.fullmatch(name[1]):
                given = _ARGUMENTS.search(_text(entry.content))
                messages.append(_message(entry, f"/{name[1]} {given[1].strip() if given else ''}".rstrip()))
        elif is_queue_operation(entry):
            messages += [_message(sent, text) for sent in _delivered(entry, queue) if (text := _typed(sent))]
    return sorted(messages, key=lambda message: message.first_seq)


def is_queue_operation(entry: Entry) -> bool:
    """Return True for an entry by which words typed meanwhile enter or leave the client's queue."""
    return entry.kind is EntryKind.OTHER and entry.extra.get("type") == "queue-operation"


def _delivered(entry: Entry, queue: deque[Entry]) -> list[Entry]:
    """Apply one operation to the queue of typed words; return the entry whose words the agent gets now, or none."""
    match entry.extra.get("operation"):
        case "enqueue":
            queue.append(entry)
        case "remove" if queue:
            return [queue.popleft()]
        case "dequeue" if queue:
            queue.popleft()
        case "popAll":
            queue.clear()
        case _:
            pass
    return []


def _typed(entry: Entry) -> str:
    """Return the words of a queued operation, empty where no person typed them or they are for the client."""
    text = _text(entry.extra.get("content")).strip()
    command = _SLASH.match(text)
    is_noise = text.startswith(_NO_SPEECH) or (command is not None and bool(_OF_THE_CLIENT.fullmatch(command[1])))
    return "" if is_noise else text


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
