"""Words that the person typed while the agent worked, which Claude Code keeps in a queue.

They have no uuid and mostly stand nowhere else. `enqueue` has the words; `remove` says that the agent was given them,
`dequeue` that they become the next prompt, a line of its own with the same words, and `popAll`, with the words, that
they are back in the input line: what is sent after it counts. Neither `remove` nor `dequeue` says which words it is
about, and news of running tasks stand in the same queue: so words are compared, and never counted off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, EntryKind, Json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TYPE: Final = "queue-operation"
_NEWS: Final = lazy_regex(r"\s*<([a-z][\w-]*)[ >]")
_COMMAND: Final = lazy_regex(r"\s*/[\w:.-]+(?:\s|$)")  # a command is a line of its own as well; "/etc/hosts" is none


def is_queue_operation(entry: Entry) -> bool:
    """Return True for an entry by which something enters or leaves the client's queue."""
    return entry.extra.get("type") == _TYPE and entry.id is None


def is_typed(content: Json) -> bool:
    """Return True for content of an `enqueue` that a person typed: no news of the client, no command.

    News are an element ("<task-notification>…</task-notification>") or a JSON object; "<div> is broken" is typed.
    """
    if not isinstance(content, str) or not content.strip() or _COMMAND.match(content):
        return False
    tag = _NEWS.match(content)
    return not (_is_object(content) or (tag is not None and f"</{tag[1]}>" in content))


def queued_words(entry: Entry) -> str:
    """Return the words that the person typed into the queue by this entry; empty for any other entry.

    Threads that were imported earlier have them in `extra`, of an entry that is no speech.
    """
    if not is_queue_operation(entry) or entry.extra.get("operation") != "enqueue":
        return ""
    content = entry.content if entry.kind is EntryKind.SPEECH else entry.extra.get("content")
    return content if isinstance(content, str) and is_typed(content) else ""


def withdrawn(entries: Sequence[Entry]) -> frozenset[int]:
    """Return the positions of queued words that are no message: taken back, or there again as a prompt."""
    waiting: dict[int, str] = {}
    prompted: set[int] = set()  # may have become a prompt
    gone: set[int] = set()
    for index, entry in enumerate(entries):
        if is_queue_operation(entry):
            match entry.extra.get("operation"):
                case "enqueue" if words := queued_words(entry).strip():
                    waiting[index] = words
                    prompted.add(index)
                case "remove":
                    prompted.clear()
                case "dequeue":
                    prompted.update(waiting)
                case "popAll":
                    gone |= _found(waiting, entry.extra.get("content"))
                    waiting.clear()
        elif prompted and entry.kind is EntryKind.SPEECH and entry.role == "user":
            found = prompted & _found(waiting, entry.content)
            gone |= found
            # What was before these in the queue has left it.
            waiting = {place: words for place, words in waiting.items() if place > max(found, default=-1)}
    return frozenset(gone)


def _found(waiting: Mapping[int, str], content: Json) -> set[int]:
    """Return the places whose words are whole lines of a content: what was queued apart may be sent together."""
    if not isinstance(content, str):
        texts = [block.get("text") for block in content or [] if isinstance(block, dict)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    lines = f"\n{content.strip()}\n"
    return {place for place, words in waiting.items() if f"\n{words}\n" in lines}


def _is_object(text: str) -> bool:
    """Return True for a JSON object: the record of a task."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict)
