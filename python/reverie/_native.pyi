# ruff: noqa: PYI021, A002  # the documentation of the bindings is in this stub, and `id` is the API's name
"""The Python interface of the native core. Only its thin wrapper modules in `reverie` import it.

Every error is a `reverie.errors.ValidationError` with `details["reason"]` and, for text, `details["offset"]` in bytes;
a defect of the core itself is `reverie.errors.CoreFailed`, which names the function.
Texts above 8 KiB are processed without the interpreter lock.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, final

def count(text: str, encoding: str = "o200k_base") -> int:
    """Count the tokens of ordinary text, equal to `len(tiktoken.get_encoding(encoding).encode_ordinary(text))`."""

def count_many(texts: Sequence[str], encoding: str = "o200k_base") -> list[int]:
    """Count the tokens of each text, in order; large batches use all processors."""

def count_items(bodies: Sequence[str], encoding: str = "o200k_base") -> list[int]:
    r"""Count the tokens of `- body\n` for each body."""

def fits(text: str, limit: int, encoding: str = "o200k_base") -> bool:
    """Return whether a text has at most `limit` tokens."""

def truncate(text: str, limit: int, encoding: str = "o200k_base") -> str:
    """Return a prefix of the text with at most `limit` tokens, cut between characters; the text itself if it fits."""

def vocabulary(encoding: str) -> bytes:
    """Return the built-in vocabulary in tiktoken's file format: base64 of the token, a space, its rank, a newline."""

def canonical(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of a Python value, or of JSON text given as `bytes`.

    Subclasses of built-in types are written by their built-in content; overridden methods are not called.
    """

def sha256_canonical(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON in lower-case hexadecimal."""

def check_json(data: bytes) -> None:
    """Raise ValidationError unless `data` is one JSON value that no two readers understand differently."""

def clear_pools() -> None:
    """Drop the working memory that is kept for later calls: caches of token counts, contexts of zstd."""

def pack(data: bytes) -> bytes | None:
    """Return bytes packed with the store's dictionary; None if there is no memory for it."""

def unpack(packed: bytes, limit: int) -> bytes | None:
    """Return what `pack` packed; None for other bytes, or for more than `limit` bytes of content."""

def pack_edit(base: bytes, data: bytes) -> bytes | None:
    """Return the edit that makes `data` of `base`; None if there is no memory for it."""

def apply_edit(base: bytes, edit: bytes, limit: int) -> bytes | None:
    """Return what an edit makes of `base`; None for bytes that are no edit of it, or for more than `limit` bytes."""

def verified_body(key: bytes, record: bytes, limit: int) -> bytes | None:
    """Return the JSON text in the record under `key`, unpacked.

    None where a checksum does not fit, where the body is of another form or elsewhere, or has more than `limit` bytes.
    """

def verified_bodies(records: list[tuple[bytes, bytes]], limit: int) -> list[bytes | None]:
    """Return what `verified_body` returns for each key and record, in order."""

@final
class ZstdDecoder:
    """Unpacks the zstd frames of another program, one after another, as their bytes arrive."""

    def __new__(cls) -> ZstdDecoder: ...
    def step(self, packed: bytes, room: int) -> tuple[int, bytes, bool] | None:
        """Return how many packed bytes were taken, at most `room` unpacked ones, and whether a frame ended with them.

        None for bytes that are no zstd frame, or a damaged one.
        """

def parse_blocks(
    data: bytes, sections: bool | None = None
) -> list[tuple[str, int, int, int, str, tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """Return kind, start, end, level, text, tags and fields of every block; the spans join to the document."""

def parse_blocks_beside(
    before: bytes, data: bytes, sections: bool | None = None
) -> tuple[int, int, list[tuple[str, int, int, int, str, tuple[str, ...], tuple[tuple[str, str], ...]]]]:
    """Return how many first and last blocks of `data` are as those of `before`, and the blocks between."""

def align(old: Sequence[tuple[str, bytes | str]], new: Sequence[bytes | str]) -> tuple[list[str | None], list[str]]:
    """Return for each new block the id of the old one that it continues or None, and the deleted ids."""

def apply_changes(
    document: bytes,
    blocks: Sequence[tuple[str, int, int]],
    changes: Sequence[tuple[str, str, str]],
    sections: bool | None = None,
) -> tuple[list[tuple[int, str, str]], bytes, list[tuple[int, str, str]]]:
    """Return the edits, the document after them, and the edits that undo them.

    A block is id, start and end; a change is its kind, the id or heading that it refers to, and the text of one block;
    an edit is its first byte, the old text and the new text.
    """

def apply_edits(document: bytes, edits: Sequence[tuple[int, str, str]]) -> bytes:
    """Apply edits, which are ascending, to a document; each must find the text that it replaces."""

def patch(text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Replace every old text, which must occur exactly once, by its new text; return the result and the number."""

def merge3(
    base: str, ours: str, theirs: str
) -> tuple[
    str,
    list[tuple[tuple[str, int, int], tuple[str, int, int], tuple[str, int, int], tuple[int, int], tuple[int, int]]],
]:
    """Return the merged text and its conflicts.

    A conflict is (text, first line, line after the last) of base, ours and theirs; and the range of our version in the
    merged text, in lines and in characters.
    """

def kinds() -> list[str]:
    """Return every kind that can occur in `[REDACTED:<kind>]`, sorted."""

def rule_names() -> list[str]:
    """Return the stable name of every rule, sorted."""

def marks() -> list[tuple[str, Literal["begins", "holds", "named"], str]]:
    """Return the indicators of secrets, sorted: kind, manner (`begins`, `holds` or `named`), and the string."""

@final
class Redactor:
    """The redaction rules, compiled with a list of secret values."""

    def __new__(
        cls, literals: Sequence[str] = (), *, fingerprints: bytes | None = None, forgets: bool = False
    ) -> Redactor: ...
    def text(self, value: str) -> str:
        """Return the text with its secrets replaced; the same object if it has none."""

    def spans(self, value: str) -> list[tuple[int, int, str]]:
        """Return start and end in characters, and kind, of every secret."""

    def findings(self, value: str) -> list[tuple[int, int, str, str, str, bytes]]:
        """Return start and end in characters, kind, rule, shape, and keyed hash, of every secret."""

    def allow(self, rules: list[str], values: list[str], hashes: list[bytes]) -> None:
        """Leave from now on what these rules find, and these values: patterns with `*`, and keyed hashes."""

    def value(self, value: Any, names: Sequence[str] = ()) -> tuple[Any, list[tuple[str, str, str, bytes]]]:
        """Return the JSON value with its secrets replaced (the same object if none), and what was taken.

        Of each replacement these are its rule, kind, shape and keyed hash.

        Strings under the keys `names` of the outermost object are compared with no remembered value.
        """

    def fingerprints_as_bytes(self) -> bytes:
        """Return the key and the fingerprints, for a redactor in another process."""

    def fingerprints_after(self, number: int) -> tuple[bytes, list[tuple[int, bytes, int, int, str]]]:
        """Return the key, and number, hash, length, prefix and kind of the fingerprints added after `number`."""

    def add_fingerprints(self, fingerprints: Sequence[tuple[bytes, int, int, str]]) -> None:
        """Add hash, length, prefix and kind of fingerprints made under the same key."""

def panic_with(text: str) -> None:
    """Panic, as a defect of the core would: with this the tests check what becomes of it."""

def hook_program() -> bytes:
    """Return the program that agents' clients run as a hook, for this platform; empty where it was not compiled."""

def passage(text: str, query: str, limit: int) -> str:
    """Return the run of whole sentences or lines with most of a query's words, at most `limit` characters long."""

@final
class Index:
    """A BM25 index of saved segments and what is in memory; thread-safe. Raises OSError for an unusable file."""

    def __len__(self) -> int: ...
    @staticmethod
    def open(segments: Sequence[tuple[Path, bytes]], k1: float, b: float) -> Index:
        """Return an index of saved segments, each a file and its removed documents, with parameters of BM25."""

    @staticmethod
    def merge(segments: Sequence[tuple[Path, bytes]], path: Path) -> None:
        """Write a new segment with the documents of several."""

    def flush(self, path: Path) -> None:
        """Write what is in memory only to a new segment."""

    def replace(self, segments: Sequence[tuple[Path, bytes]], path: Path) -> None:
        """Put the result of `merge` in the place of its inputs."""

    def segments(self) -> list[tuple[Path, bytes, str, int, int]]:
        """Return file, removed documents, digest, number of documents and of removed ones of each segment."""

    def buffered(self) -> int:
        """Return the number of documents that are in memory only."""

    def ids(self, any_of: Sequence[Sequence[str]], after: str, limit: int) -> list[str]:
        """Return the ids behind `after` of documents in a group of each set, in the order of the ids."""

    def add(
        self, id: str, text: str, tags: Sequence[str] = (), groups: Sequence[str] = (), at: int | None = None
    ) -> None:
        """Add a document, replacing an older one with the same id; filters select by its groups and its time `at`."""

    def add_many(self, records: Sequence[tuple[str, str, Sequence[str], Sequence[str], int | None]]) -> None:
        """Add documents (id, text, tags, groups, time), without the interpreter lock."""

    def remove(self, id: str) -> bool:
        """Remove a document; return False if there was none with this id."""

    def search(
        self,
        query: str,
        limit: int,
        within: tuple[Sequence[Sequence[str]], Sequence[str], Sequence[str] | None, int | None, int | None],
        how: tuple[
            int,
            float,
            Sequence[tuple[str, float]],
            str | None,
            Sequence[tuple[str, float, str | None, str | None, tuple[int, int] | None]],
        ]
        | None = None,
    ) -> list[tuple[str, float, tuple[tuple[str, float], ...], float]]:
        """Return id, score, term scores and relevance of the best `limit` documents, best first, equal scores by id.

        `within` is `any_of`, `none_of`, `ids`, `since`, `before`: a document belongs to a group of each set in the
        first and to none of the second; its id is in `ids`, its time in `since <= at < before`.

        With `how`, messages are ranked with their neighbours: the number of candidates, the weight of a window, groups
        with factors, a group that is in no window, and boosts: name, score, and a group, a group of the message before,
        or a time range.
        """
