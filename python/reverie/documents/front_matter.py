"""Front matter of memory files: parse the part of YAML that they use, and replace the text below it.

The part is scalars, one level of nesting, and lists of tags. What is not understood is left out, and stays in the file
byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.documents.escape import clean, ending_of, escaped_tag, tag, untagged
from reverie.documents.items import Add, Change, ChangedDocument, Delete
from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.documents.items import Wording

_KEY: Final = lazy_regex(r"(?P<indent>[ \t]*)(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_ENTRY: Final = lazy_regex(r"[ \t]*-[ \t]+(.*)$")
_COMMENT: Final = lazy_regex(r"(?:^|[ \t])#.*$")
_FOLDED: Final = lazy_regex(r"[|>][+-]?\d?$")
_BOM: Final = "\ufeff"
_FENCES: Final = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter: its scalars by name (`name`, `metadata.type`), its tags, and the offset of its end."""

    values: dict[str, str]
    tags: tuple[str, ...]
    end: int


def front_matter_of(text: str) -> FrontMatter | None:
    """Return the front matter of a text, or None if it has none; unknown fields are left out."""
    if not text.removeprefix(_BOM).startswith("---"):
        return None
    for block in parse(text.encode("utf-8", "replace"))[:2]:
        if block.kind is BlockKind.FRONT_MATTER:
            values, tags = _values(block.text)
            return FrontMatter(values, tags, block.end)
    return None


def session_of(text: str) -> str | None:
    """Return the session of an agent's client that wrote a file, as Claude Code's auto memory names it; else None."""
    front_matter = front_matter_of(text)
    if front_matter is None:
        return None
    values = front_matter.values
    return values.get("metadata.originSessionId") or values.get("originSessionId")


def _values(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return every scalar by its name, of equal names the first, and the entries of `tags`."""
    values: dict[str, list[str]] = {}
    tags: list[str] = []
    parent = name = ""
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.match(line)
        key = None if entry is not None else _KEY.match(line)
        if entry is not None:
            if name == "tags":
                tags.append(_scalar(entry[1]))
        elif key is not None:
            parent = parent if key["indent"] else key["key"]
            name = f"{parent}.{key['key']}" if key["indent"] else key["key"]
            value = (key["value"] or "").strip()
            if name == "tags":
                tags += map(_scalar, value.strip("[]").split(","))
            elif name not in values:
                values[name] = [] if _FOLDED.match(value) else [_scalar(value)]
            else:
                name = ""
        elif name in values:
            values[name].append(line.strip())  # a further line of the scalar before it
    scalars = {key: " ".join(part for part in parts if part) for key, parts in values.items()}
    words = (word.lstrip("#").strip().lower() for word in tags)
    return {key: value for key, value in scalars.items() if value}, tuple(dict.fromkeys(word for word in words if word))


def _scalar(text: str) -> str:
    """Return a scalar without its quotes, or without a comment after it."""
    text = text.strip()
    quote = text[:1]
    if quote in {'"', "'"} and (close := text.find(quote, 1)) > 0:
        return text[1:close].strip()
    return _COMMENT.sub("", text).strip()


def change_whole_file(text: str, ids: Sequence[str], changes: Sequence[Change]) -> ChangedDocument:
    """Return the text and ids of a file that is one memory, changed. Raises ValidationError for a second memory."""
    after: str | None = text
    ids_after = tuple(ids)
    for change in changes:
        if isinstance(change, Add):
            raise ValidationError(
                "a file with front matter is one memory", hint="write the new one elsewhere", reason="no_memories"
            )
        if isinstance(change, Delete):
            after, ids_after = None, ()
        else:
            after = _with_body(text, change.words)
    return ChangedDocument(after, ids_after)


def _with_body(text: str, words: Wording) -> str:
    """Return the file with other words below its front matter; the empty lines around them and line endings stay."""
    front_matter = front_matter_of(text)
    assert front_matter is not None
    data = text.encode()
    head, body = data[: front_matter.end].decode(), data[front_matter.end :].decode()
    ending = ending_of(text)
    old = body.strip()
    lead, tail = body[: len(body) - len(body.lstrip())], body[len(body.rstrip()) :] if old else ending
    if not head.endswith(("\n", "\r")):
        head += ending
    tags = [word for word in dict.fromkeys(map(tag, words.tags)) if word and word not in front_matter.tags]
    new = _with_tags(escaped_tag(clean(words.content)), tags, is_inline=_has_inline_tags(old))
    return head + (lead or ending) + new.replace("\n", ending) + tail


def _with_tags(content: str, tags: Sequence[str], *, is_inline: bool) -> str:
    """Return the content with its tags: at the end of its last line if they were there before, else on a line below."""
    if not tags:
        return content
    line = " ".join(f"#{word}" for word in tags)
    inline = f"{content} {line}"
    is_inline = is_inline and content.rpartition("\n")[2][:3] not in _FENCES
    return inline if is_inline and untagged(inline) == (content, tuple(tags)) else f"{content}\n\n{line}"


def _has_inline_tags(body: str) -> bool:
    """Return True if a text has tags at the end of a line of words."""
    words, tags = untagged(body)
    return bool(tags) and len(words.splitlines()) == len(body.splitlines())
