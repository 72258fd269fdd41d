# ruff: noqa: PYI021, A002  # the prose of the binding stands in its stub, and `id` is the word of the design
"""The native core as Python sees it. Only the faces of layer 2 import this module.

Every refusal is `reverie.errors.ValidationError` with `details["reason"]` and, for text, `details["offset"]` in bytes.
Texts above 8 KiB are worked on without the interpreter lock.
"""

from collections.abc import Sequence
from typing import Any, Literal, final

def count(text: str, encoding: str = "o200k_base") -> int:
    """Tokens of ordinary text, equal to `len(tiktoken.get_encoding(encoding).encode_ordinary(text))`."""

def count_many(texts: Sequence[str], encoding: str = "o200k_base") -> list[int]:
    """Tokens of each text, in order; large batches are counted on all processors."""

def count_items(bodies: Sequence[str], encoding: str = "o200k_base") -> list[int]:
    r"""Tokens of `- body\n` for each body."""

def fits(text: str, limit: int, encoding: str = "o200k_base") -> bool:
    """Whether a text has at most `limit` tokens."""

def truncate(text: str, limit: int, encoding: str = "o200k_base") -> str:
    """A beginning of the text with at most `limit` tokens, cut between characters; the text itself if it fits."""

def vocabulary(encoding: str) -> bytes:
    """The built-in vocabulary in tiktoken's file format: base64 of the token, a space, its rank, a newline."""

def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a Python value, or of JSON text given as `bytes`.

    Subclasses of the types of JSON are written as what they are made of; what they override is not asked.
    """

def sha256_canonical(value: Any) -> str:
    """Lower-case hexadecimal SHA-256 of the canonical bytes."""

def check_json(data: bytes) -> None:
    """Refuses what is not one JSON value, or what two readers could understand differently."""

def parse_blocks(
    data: bytes, sections: bool | None = None
) -> list[tuple[str, int, int, int, str, tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """Kind, start, end, level, text, tags and fields of every block; the spans join to the document."""

def align(old: Sequence[tuple[str, bytes | str]], new: Sequence[bytes | str]) -> tuple[list[str | None], list[str]]:
    """For each new block the id of the old one that it carries on or None, and the ids that nothing carries on."""

def apply_changes(
    document: bytes,
    blocks: Sequence[tuple[str, int, int]],
    changes: Sequence[tuple[str, str, str]],
    sections: bool | None = None,
) -> tuple[list[tuple[int, str, str]], bytes, list[tuple[int, str, str]]]:
    """The edits, the document after them, and the edits that undo them.

    A block is id, start and end; a change is its word, the id or heading that it names, and the text of one block; an
    edit is its first byte, what stands there, and what replaces it.
    """

def apply_edits(document: bytes, edits: Sequence[tuple[int, str, str]]) -> bytes:
    """The document after edits that are in order and that find the text that they replace."""

def patch(text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The text with every old text, which occurs exactly once, replaced by its new text; and how many there were."""

def merge3(
    base: str, ours: str, theirs: str
) -> tuple[
    str,
    list[tuple[tuple[str, int, int], tuple[str, int, int], tuple[str, int, int], tuple[int, int], tuple[int, int]]],
]:
    """The merged text, and its conflicts.

    A conflict is text, first line and line behind the last in base, ours and theirs; and the lines of the merged text
    that hold our side, and its characters.
    """

def redact(text: str, literals: Sequence[str] = ()) -> tuple[str, list[tuple[int, int, str]]]:
    """The text without its secrets, and the replaced spans: start and end in characters of the input, kind."""

def kinds() -> list[str]:
    """Every word that can stand in `[REDACTED:<kind>]`, in order."""

def marks() -> list[tuple[str, Literal["begins", "holds", "named"], str]]:
    """What gives a secret of a kind away, in order: the kind, how (`begins`, `holds` or `named`), and the mark."""

@final
class Redactor:
    """The redaction rules compiled with a list of known secret values."""

    def __new__(cls, literals: Sequence[str] = ()) -> Redactor: ...
    def text(self, value: str) -> str:
        """The text without its secrets; the same object if it had none."""

    def spans(self, value: str) -> list[tuple[int, int, str]]:
        """Start and end in characters, and kind, of every secret."""

    def value(self, value: Any) -> tuple[Any, int]:
        """The JSON value without its secrets, the same object if it had none, and how many spans were replaced."""

    def stream(self) -> RedactedStream:
        """A stream that nothing has been fed to."""

@final
class RedactedStream:
    """A text that arrives in pieces, redacted as if it were whole."""

    def feed(self, piece: str) -> str:
        """The next part of the redacted text, which may be empty. Raises ValueError after `finish`."""

    def finish(self) -> str:
        """The rest of it. Raises ValueError if called before."""

@final
class Index:
    """A BM25 index in memory; may be used from several threads."""

    def __new__(cls) -> Index: ...
    def __len__(self) -> int: ...
    def add(
        self, id: str, text: str, tags: Sequence[str] = (), groups: Sequence[str] = (), at: int | None = None
    ) -> None:
        """Adds a text with its tags, in place of what had the same id; filters know it by its groups and its time."""

    def add_many(self, records: Sequence[tuple[str, str, Sequence[str], Sequence[str], int | None]]) -> None:
        """Adds texts given as id, text, tags, groups and time, without the interpreter lock."""

    def remove(self, id: str) -> bool:
        """Removes a text; false if there was none under that id."""

    def search(
        self,
        query: str,
        limit: int,
        any_of: Sequence[Sequence[str]] = (),
        none_of: Sequence[str] = (),
        ids: Sequence[str] | None = None,
        since: int | None = None,
        before: int | None = None,
    ) -> list[tuple[str, float, tuple[tuple[str, float], ...]]]:
        """Id, score and the terms' shares of the best `limit` texts, best first, equal scores by id.

        Of each set of `any_of` a text carries a group, of `none_of` none; it is one of `ids` and its time in
        `since <= at < before`.
        """
