"""Changes a file that is one memory: its front matter stays, its text is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.documents.changes import Add, Change, Changed, Delete
from reverie.documents.front import front_of
from reverie.documents.lines import clean, ending_of, escaped_tag, tag, untagged
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.documents.changes import Wording

__all__ = ["whole_changed"]

_FENCES: Final = ("```", "~~~")


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
    new = _tagged(escaped_tag(clean(words.content)), tags, is_behind=_are_behind(told))
    return head + (lead or ending) + new.replace("\n", ending) + tail


def _tagged(content: str, tags: Sequence[str], *, is_behind: bool) -> str:
    """The content with its tags: behind its words if that is where they were, else on a line of their own."""
    if not tags:
        return content
    line = " ".join(f"#{word}" for word in tags)
    behind = f"{content} {line}"
    is_behind = is_behind and content.rpartition("\n")[2][:3] not in _FENCES
    return behind if is_behind and untagged(behind) == (content, tuple(tags)) else f"{content}\n\n{line}"


def _are_behind(body: str) -> bool:
    """Whether tags stand at the end of a line of words."""
    words, tags = untagged(body)
    return bool(tags) and len(words.splitlines()) == len(body.splitlines())
