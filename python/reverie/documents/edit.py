"""Changes of documents of memories: create one, edit its items by the smallest edits, append markdown to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.documents.apply import EditState, edit_items
from reverie.documents.episodes import day_of, heading_of, section, updated_line, with_summaries
from reverie.documents.escape import bullet, clean, ending_of, escaped_tag, one_line, tag, untagged
from reverie.documents.header import update_header
from reverie.documents.items import Add, Change, ChangedDocument, Delete, Update, Wording
from reverie.documents.layout import DIVIDED, DocumentKind, front_matter_of, is_conflict_copy, kind_of
from reverie.documents.parse import ids_of_items, is_updated_line, parse_document, parse_source
from reverie.documents.summary import summary_line
from reverie.errors import ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.markdown_blocks import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reverie.documents.items import Item
    from reverie.documents.parse import ParsedSource
    from reverie.markdown_blocks import Block

_LINE_ENDING: Final = lazy_regex(r"\r\n|\r|\n")
_MEMORY_LIST: Final = "MEMORY.md"
_LIST_MARKS: Final = ("- ", "* ", "+ ")
_FENCES: Final = ("```", "~~~")


def new_document(path: str, items: Sequence[tuple[str, Wording]], *, day: str) -> ChangedDocument:
    """Return a new document of facts or episodes with these items, each with its id; episodes in order of their days.

    `day` (`YYYY-MM-DD`) is that of the write. Raises ValidationError, with `details["reason"]`: `no_memories` for a
    path where no such document can be, `no_words` for an item without a word.
    """
    kind = kind_of(path, "")
    _refuse_wordless(kind, items)
    if kind is DocumentKind.FACTS:
        body = "".join(bullet(words.content, words.tags) for _, words in items) + updated_line(day)
    elif kind is DocumentKind.EPISODES:
        items = sorted(items, key=lambda item: day_of(item[1], day))
        body = "\n".join(section(words, day) for _, words in items)
    else:
        raise _no_memories(path)
    summary = summary_line(parse_document(path, body).items)
    text = f"# {heading_of(path)}\n\n> Summary: {summary}\n\n{body}"
    return ChangedDocument(text, tuple(identity for identity, _ in items))


def apply_changes(path: str, text: str, ids: Sequence[str], changes: Sequence[Change], *, day: str) -> ChangedDocument:
    """Return a document with changes of its items applied; `ids` are the ids of its items, in order.

    Only the bytes of changed items, the value of its `> Summary:` line and that of its `- Updated:` line change; where
    an item is added or deleted, an empty line or comment may be needed to separate its neighbours. New facts go behind
    the last one, new episodes behind those of their day; an item that has the same words already stays as it is
    written. `day` (`YYYY-MM-DD`) is that of the write.
    Raises ValidationError, with `details["reason"]`: `stale` if `ids` do not fit the text, `unknown_id`,
    `duplicate_id` or `changed_twice` for changes that cannot be meant, `no_words` for an item without a word,
    `no_memories` for a document that can have none, `breaks_out` if there is no place where an item stays one.
    """
    source = parse_source(path, text)
    document = source.document
    ids = ids_of_items(path, text, ids)
    if len(ids) != len(document.items):
        raise ValidationError(
            f"{path} has {len(document.items)} memories, not {len(ids)}",
            hint="read the document again and decide from its text as it is",
            reason="stale",
        )
    items = dict(zip(ids, document.items, strict=True))
    _refuse_unknown(items, changes)
    _refuse_wordless(document.kind, ((change.id, change.words) for change in changes if not isinstance(change, Delete)))
    effective = [
        change for change in changes if not isinstance(change, Update) or not _has_words(items[change.id], change.words)
    ]
    if not effective:
        return ChangedDocument(text, tuple(ids))
    if document.kind is DocumentKind.WHOLE:
        return _change_whole_file(text, ids, effective)
    if document.kind is DocumentKind.PLAIN:
        raise _no_memories(path)
    if not text.strip("\ufeff \t\r\n"):
        return new_document(
            path, [(change.id, change.words) for change in effective if isinstance(change, Add)], day=day
        )
    after = edit_items(EditState(path, text, tuple(ids), source), effective, day)
    if not after.ids and _has_only_frame(path, after.source):
        return ChangedDocument(None, ())
    return ChangedDocument(update_header(after.source, day=day), after.ids)


def append_entry(path: str, text: str | None, entry: str) -> str:
    """Return the document with markdown at its end; a `text` of None is a document that does not exist yet.

    Lines end as those of the document do. An episode without a summary of ten words gets one. A section, and whatever
    follows a paragraph, is separated by an empty line.
    """
    kind = kind_of(path, text or "")
    if text is None:
        text = f"# {heading_of(path)}\n" if kind in DIVIDED else ""
    ending = ending_of(text) if text else "\n"
    lines = _LINE_ENDING.split(entry.strip("\r\n"))
    if kind is DocumentKind.EPISODES:
        lines = with_summaries("\n".join((*lines, ""))).rstrip("\n").split("\n")
    added = ending.join(lines) + ending
    offset = _append_offset(path, text)
    before, after = text[:offset], text[offset:]
    if before and not before.endswith(("\n", "\r")):
        before += ending
    if before.strip() and not _may_follow(before, lines[0]):
        before += ending
    return before + added + after


def with_blocks_of(path: str, text: str, other: str) -> str | None:
    """Return a file of facts or episodes with all that another text of it has and it lacks, at its end.

    That is how two texts of which neither was made from the other are one: nothing was deleted. Of lines that are
    generated (title, summary, day) it keeps its own. None for other documents, or where no block would stay one.
    Example: "- Ann sails" and "- Bob rows" give "- Ann sails", "- Bob rows".
    """
    source, beside = parse_source(path, text), parse_source(path, other)
    if source.document.kind not in DIVIDED:
        return None
    known = {"", *(_words_of(source, block) for block in source.blocks)}
    title = set(f"# {heading_of(path)}".casefold().split())
    joined, expected = text, len(source.document.items)
    for block in beside.blocks:
        words = _words_of(beside, block)
        if words in known or block.kind is BlockKind.SUMMARY or is_updated_line(block):
            continue
        if block.kind is BlockKind.TITLE and title.issuperset(words.casefold().split()):
            continue
        if words.startswith("---"):
            return None  # the front matter of one file is none in the middle of another
        joined = append_entry(path, joined, words)
        expected += any(item.start == block.start for item in beside.document.items)
    return joined if len(parse_document(path, joined).items) == expected else None


def _words_of(source: ParsedSource, block: Block) -> str:
    return source.data[block.start : block.end].decode().strip("\ufeff\r\n").rstrip()


def is_listed(path: str) -> bool:
    """Return True if agents get the document in the list: any text document but MEMORY.md and conflict copies."""
    return path.endswith((".md", ".txt")) and path != _MEMORY_LIST and not is_conflict_copy(path)


def _append_offset(path: str, text: str) -> int:
    """Return the character at which an entry is appended: before a last `- Updated:` line of facts, else the end."""
    source = parse_source(path, text)
    blocks = [block for block in source.blocks if source.data[block.start : block.end].strip()]
    if source.document.kind is DocumentKind.FACTS and blocks and is_updated_line(blocks[-1]):
        return len(source.data[: blocks[-1].start].decode())
    return len(text)


def _may_follow(before: str, first: str) -> bool:
    """Return True if an entry may go right below a text: an item below an item, anything below an empty line."""
    last = _LINE_ENDING.split(before.rstrip("\r\n"))[-1]
    is_blank = len(_LINE_ENDING.findall(before[len(before.rstrip("\r\n")) :])) > 1
    return is_blank or (first.startswith(_LIST_MARKS) and last.lstrip().startswith(_LIST_MARKS))


def _has_words(item: Item, words: Wording) -> bool:
    """Return True if an item has these words already, however they are written."""
    tags = tuple(dict.fromkeys(word for word in map(tag, words.tags) if word))
    if clean(item.content) != clean(words.content) or tuple(dict.fromkeys(item.tags)) != tags:
        return False
    fields = {(key, one_line(value)) for key, value in item.fields}
    has_title = words.title is None or one_line(words.title) == one_line(item.title or "")
    return has_title and {(key, one_line(value)) for key, value in words.fields} <= fields


def _has_only_frame(path: str, source: ParsedSource) -> bool:
    """Return True if a document has no items or text of its own: only a title, a summary and an Updated line."""
    return all(
        block.kind is BlockKind.SUMMARY
        or (block.kind is BlockKind.TITLE and block.text == heading_of(path))
        or is_updated_line(block)
        or (block.kind is BlockKind.OPAQUE and not source.data[block.start : block.end].decode().strip("\ufeff \t\r\n"))
        for block in source.blocks
    )


def _refuse_unknown(items: Mapping[str, Item], changes: Sequence[Change]) -> None:
    """Raise ValidationError for changes of unknown ids, of one id twice, and for additions of known ids."""
    seen: set[str] = set()
    for change in changes:
        reason = None
        if isinstance(change, Add):
            reason = "duplicate_id" if change.id in items or change.id in seen else None
        elif change.id not in items:
            reason = "unknown_id"
        elif change.id in seen:
            reason = "changed_twice"
        if reason is not None:
            raise ValidationError(
                f"{change.id} cannot be changed by these changes",
                hint="give one change for each memory of the document, and new ids to new ones",
                reason=reason,
                names=[change.id],
            )
        seen.add(change.id)


def _refuse_wordless(kind: DocumentKind, items: Iterable[tuple[str, Wording]]) -> None:
    """Raise ValidationError for an item without a word; a title alone is words of an episode, a bullet has none."""
    for identity, words in items:
        title = "" if kind is DocumentKind.FACTS else words.title or ""
        if not clean(words.content) and not clean(title):
            raise ValidationError(
                f"{identity} would have no text",
                hint="give it some words, or delete it",
                reason="no_words",
                names=[identity],
            )


def _no_memories(path: str) -> ValidationError:
    return ValidationError(
        f"{path} holds no memories",
        hint="choose a path like facts/project.md or episodes/2026-11.md",
        reason="no_memories",
    )


def _change_whole_file(text: str, ids: Sequence[str], changes: Sequence[Change]) -> ChangedDocument:
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
