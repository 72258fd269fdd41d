"""Changes a file that is one memory: its front matter stays, its text is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.documents.changes import Add, Change, Changed, Delete
from reverie.documents.front import front_of
from reverie.documents.lines import clean, ending_of, escaped_tag, tag
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.documents.changes import Wording

__all__ = ["whole_changed"]


def whole_changed(text: str, ids: Sequence[str], changes: Sequence[Change]) -> Changed:
    """The file after changes of its one item. Raises ValidationError for a second item."""
    after: str | None = text
    kept = tuple(ids)
    for change in changes:
        if isinstance(change, Add):
            raise ValidationError(
                "a file with front matter is one memory", hint="write the new one elsewhere", reason="no_memories"
            )
        if isinstance(change, Delete):
            after, kept = None, ()
        else:
            after = _with_body(text, change.words)
    return Changed(after, kept)


def _with_body(text: str, words: Wording) -> str:
    """The file with other words below its front matter; the empty lines around them and line endings stay."""
    front = front_of(text)
    assert front is not None
    data = text.encode()
    head, body = data[: front.end].decode(), data[front.end :].decode()
    ending = ending_of(text)
    told = body.strip()
    lead, tail = body[: len(body) - len(body.lstrip())], body[len(body.rstrip()) :] if told else ending
    if not head.endswith(("\n", "\r")):
        head += ending
    tags = [word for word in dict.fromkeys(map(tag, words.tags)) if word and word not in front.tags]
    new = escaped_tag(clean(words.content)) + ("\n\n" + " ".join(f"#{word}" for word in tags) if tags else "")
    return head + (lead or ending) + new.replace("\n", ending) + tail
