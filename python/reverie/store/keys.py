"""Keys as bytes: a space, a kind and a tuple of texts and numbers; they sort as the tuples do. Walks over them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from reverie.errors import Damaged, ValidationError
from reverie.store.kinds import KEY_BYTES_MAX, RULES, SPACE_BYTES_MAX, Key, Kind, rule_by_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    import lmdb

# Type tags of the FoundationDB tuple layer. No tag is 0x00 or 0xFF: the end of a text (0x00) sorts before anything
# that may follow it, and `prefix_end` can close a range with 0xFF.
TEXT = 0x02
DIGEST = 0x03
NUMBER = 0x14  # plus the number of bytes that follow, 0 to 8
_DIGEST_BYTES = 32
_TEXT_TAG, _DIGEST_TAG = bytes((TEXT,)), bytes((DIGEST,))
_NUMBER_TAGS = tuple(bytes((NUMBER + size,)) for size in range(9))
_KIND_TAGS = {kind: bytes((rule.code,)) for kind, rule in RULES.items()}


def encode_key(parts: Key, *, hashed: bool = False) -> bytes:
    """Return `parts` as bytes that sort as the tuples do; only a tuple's own prefix is a prefix of its bytes.

    A text is 0x02, its UTF-8, 0x00. A number (0 to 2^64 - 1) is 0x14 + n, then n big-endian bytes, n as small as can
    be: the tag grows with the length, so 255 (15 FF) sorts before 256 (16 01 00).
    With `hashed` the first part, a text, is 0x03 and its SHA-256. Raises ValidationError.
    """
    out = b""
    for part in parts:
        if type(part) is not str:
            out += encode_number(part)
        elif hashed and not out:
            out = _DIGEST_TAG + sha256(_text(part)).digest()
        else:
            out += _TEXT_TAG + _text(part) + b"\0"
    return out


def _text(part: str) -> bytes:
    """Return the UTF-8 of a text. Raises ValidationError for NUL, which ends a text in a key, and for a surrogate."""
    if "\0" in part:
        raise ValidationError("a key contains a NUL character", hint="leave NUL out of ids and paths")
    try:
        return part.encode()
    except UnicodeEncodeError as error:
        raise ValidationError(
            "a key contains half of a surrogate pair", hint="send text that is valid UTF-8"
        ) from error


def encode_number(part: object) -> bytes:
    """Return the bytes of one number in a key. Raises ValidationError for anything but 0 to 2^64 - 1."""
    if type(part) is not int or not 0 <= part < 1 << 64:
        raise ValidationError(f"{part!r} cannot be part of a key", hint="use texts and numbers from 0 to 2^64 - 1")
    size = (part.bit_length() + 7) >> 3
    return _NUMBER_TAGS[size] + part.to_bytes(size, "big")


def decode_key(data: bytes) -> Key:
    """Return the tuple that `encode_key` encoded, a hashed part as hex. Raises Damaged."""
    parts: list[str | int] = []
    at = 0
    try:
        while at < len(data):
            tag = data[at]
            if tag == TEXT:
                end = data.index(0, at)
                parts.append(data[at + 1 : end].decode())
                at = end + 1
            elif tag == DIGEST:
                parts.append(_exactly(data, at + 1, _DIGEST_BYTES).hex())
                at += 1 + _DIGEST_BYTES
            elif NUMBER <= tag <= NUMBER + 8:
                parts.append(int.from_bytes(_exactly(data, at + 1, tag - NUMBER), "big"))
                at += 1 + tag - NUMBER
            else:
                raise _unreadable(data)
    except ValueError as error:
        raise _unreadable(data) from error
    return tuple(parts)


def last_number(rest: bytes) -> int:
    """Return the number that `rest`, the end of a key, is; `encode_number`'s opposite. Raises Damaged."""
    if not rest or len(rest) != 1 + rest[0] - NUMBER:
        raise Damaged(f"a key of a sequence ends in no number: {rest.hex()}", hint="restore a backup")
    return int.from_bytes(rest[1:], "big")


def _exactly(data: bytes, start: int, size: int) -> bytes:
    """Return `size` bytes from `start` on. Raises Damaged where the key ends before."""
    part = data[start : start + size]
    if len(part) != size:
        raise _unreadable(data)
    return part


def _unreadable(data: bytes) -> Damaged:
    return Damaged(f"the store has a key that cannot be read: {data.hex()}", hint="run `reverie check`")


def space_prefix(space: str) -> bytes:
    """Return the bytes that every key of `space` begins with. Raises ValidationError for an impossible name."""
    if not space:
        raise ValidationError("a space needs a name", hint="name the space that this belongs to")
    data = encode_key((space,))
    if len(data) > SPACE_BYTES_MAX + 2:
        raise ValidationError(f"the name of a space is longer than {SPACE_BYTES_MAX} bytes", hint="shorten it")
    return data


def kind_prefix(space: bytes, kind: Kind) -> bytes:
    """Return the bytes that every key of `kind` begins with; `space` is the encoded space."""
    return space + _KIND_TAGS[kind]


def record_key(space: bytes, kind: Kind, key: Key) -> bytes:
    """Return the whole key of one record. Raises ValidationError for a wrong number of parts or a key too long."""
    rule = RULES[kind]
    if len(key) != len(rule.parts):
        raise ValidationError(
            f"a {kind} is keyed by {', '.join(rule.parts)}, not by {len(key)} parts", hint="see store/FORMAT.md"
        )
    raw = space + _KIND_TAGS[kind] + encode_key(key, hashed=rule.hashed)
    if len(raw) > KEY_BYTES_MAX:
        raise ValidationError(
            f"the key of this {kind} is {len(raw)} bytes long, {KEY_BYTES_MAX} are possible", hint="use a shorter id"
        )
    return raw


def split_key(raw: bytes) -> tuple[str, Kind | int, bytes]:
    """Return space, kind (its byte where it is unknown) and encoded parts of a whole key. Raises Damaged."""
    end = raw.find(0)
    if raw[:1] != bytes((TEXT,)) or end < 0 or end + 1 >= len(raw):
        raise _unreadable(raw)
    (space,) = decode_key(raw[: end + 1])
    code = raw[end + 1]
    kind = rule_by_code(code)
    return str(space), code if kind is None else kind, raw[end + 2 :]


def versions_prefix(space: bytes, raw: bytes) -> bytes:
    """Return the bytes that the keys of the superseded versions of the record under `raw` begin with."""
    return kind_prefix(space, Kind.VERSION) + raw[len(space) :]


def prefix_end(prefix: bytes) -> bytes:
    """Return bytes greater than every key that begins with `prefix`: no part of a key begins with 0xFF."""
    return prefix + b"\xff"


def key_text(kind: Kind | int, rest: bytes) -> str:
    """Return a key as people read it: `entry thread_a/17`. Unreadable parts are shown in hex."""
    try:
        if kind in (Kind.VERSION, Kind.CHECKSUM) and rest:
            # The key of a version or checksum has the kind byte and key of what it belongs to.
            owner = rule_by_code(rest[0])
            return f"{kind} of {key_text(rest[0] if owner is None else owner, rest[1:])}".rstrip()
        parts = decode_key(rest)
    except Damaged:
        return f"{kind} {rest.hex()}"
    return f"{kind} {'/'.join(str(part) for part in parts)}".rstrip()


def record_name(raw: bytes) -> str:
    """Return a whole key as people read it: `entry thread_a/17 of space default`."""
    try:
        space, kind, rest = split_key(raw)
    except Damaged:
        return f"key {raw.hex()}"
    return f"{key_text(kind, rest)} of space {space}"


def forward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Yield (key, value) pairs under `prefix` with keys greater than `beyond`, in rising order of keys."""
    end = prefix_end(prefix)
    cursor = txn.cursor()
    if not cursor.set_range(prefix if beyond is None else max(prefix, beyond + b"\0")):
        return
    for key, record in cursor.iternext(keys=True, values=True):
        if key >= end:
            return
        yield key, record


def backward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Yield (key, value) pairs under `prefix` with keys less than `beyond`, in falling order of keys."""
    cursor = txn.cursor()
    at_end = not cursor.set_range(prefix_end(prefix) if beyond is None else min(beyond, prefix_end(prefix)))
    if not (cursor.last() if at_end else cursor.prev()):
        return
    for key, record in cursor.iterprev(keys=True, values=True):
        if key < prefix:
            return
        yield key, record
