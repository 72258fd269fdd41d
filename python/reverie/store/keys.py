"""Turns a space, a kind and a tuple of texts and numbers into key bytes that sort as the tuples do."""

from __future__ import annotations

from hashlib import sha256

from reverie.errors import Damaged, ValidationError
from reverie.store.schema import KEY_BYTES_MAX, RULES, SPACE_BYTES_MAX, Key, Kind, rule_by_code

__all__ = [
    "decode",
    "encode",
    "kind_prefix",
    "name",
    "number",
    "prefix_end",
    "record_key",
    "show",
    "space_prefix",
    "split",
]

TEXT = 0x02
DIGEST = 0x03
NUMBER = 0x14  # + how many bytes follow, 0 to 8
_DIGEST_BYTES = 32
_TEXT_TAG, _DIGEST_TAG = bytes((TEXT,)), bytes((DIGEST,))
_NUMBER_TAGS = tuple(bytes((NUMBER + size,)) for size in range(9))
_KIND_TAGS = {kind: bytes((rule.code,)) for kind, rule in RULES.items()}


def encode(parts: Key, *, hashed: bool = False) -> bytes:
    """`parts` as bytes that sort as the tuples do; one tuple is never the byte prefix of another by accident.

    A text is 0x02, its UTF-8, 0x00. A number (0 to 2^64 - 1) is 0x14 + n, then n big-endian bytes.
    With `hashed` the first part, a text, is 0x03 and its SHA-256. Raises ValidationError.
    """
    out = b""
    for part in parts:
        if type(part) is not str:
            out += number(part)
        elif hashed and not out:
            out = _DIGEST_TAG + sha256(_text(part)).digest()
        else:
            out += _TEXT_TAG + _text(part) + b"\0"
    return out


def _text(part: str) -> bytes:
    if "\0" in part:
        raise ValidationError("a key holds a NUL character", hint="leave NUL out of ids and paths")
    try:
        return part.encode()
    except UnicodeEncodeError as error:
        raise ValidationError("a key holds half of a surrogate pair", hint="send text that is valid UTF-8") from error


def number(part: object) -> bytes:
    """One number as it stands in a key. Raises ValidationError for anything but 0 to 2^64 - 1."""
    if type(part) is not int or not 0 <= part < 1 << 64:
        raise ValidationError(f"{part!r} cannot stand in a key", hint="use texts and numbers from 0 to 2^64 - 1")
    size = (part.bit_length() + 7) >> 3
    return _NUMBER_TAGS[size] + part.to_bytes(size, "big")


def decode(data: bytes) -> Key:
    """The tuple that `encode` was given; a hashed part comes back as hex. Raises Damaged."""
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


def _exactly(data: bytes, start: int, size: int) -> bytes:
    part = data[start : start + size]
    if len(part) != size:
        raise _unreadable(data)
    return part


def _unreadable(data: bytes) -> Damaged:
    return Damaged(f"the store holds a key that cannot be read: {data.hex()}", hint="run `reverie check`")


def space_prefix(space: str) -> bytes:
    """What every key of `space` begins with. Raises ValidationError."""
    if not space:
        raise ValidationError("a space needs a name", hint="name the space that this belongs to")
    data = encode((space,))
    if len(data) > SPACE_BYTES_MAX + 2:
        raise ValidationError(f"the name of a space is longer than {SPACE_BYTES_MAX} bytes", hint="shorten it")
    return data


def kind_prefix(space: bytes, kind: Kind) -> bytes:
    """What every key of `kind` begins with, after the encoded `space`."""
    return space + _KIND_TAGS[kind]


def record_key(space: bytes, kind: Kind, key: Key) -> bytes:
    """The whole key of one record. Raises ValidationError where it has the wrong number of parts or is too long."""
    rule = RULES[kind]
    if len(key) != len(rule.parts):
        raise ValidationError(
            f"a {kind} is keyed by {', '.join(rule.parts)}, not by {len(key)} parts", hint="see store/FORMAT.md"
        )
    raw = space + _KIND_TAGS[kind] + encode(key, hashed=rule.hashed)
    if len(raw) > KEY_BYTES_MAX:
        raise ValidationError(
            f"the key of this {kind} is {len(raw)} bytes long, {KEY_BYTES_MAX} are possible", hint="use a shorter id"
        )
    return raw


def split(raw: bytes) -> tuple[str, Kind | int, bytes]:
    """Space, kind (or its unknown byte) and the rest of a whole key. Raises Damaged."""
    end = raw.find(0)
    if raw[:1] != bytes((TEXT,)) or end < 0 or end + 1 >= len(raw):
        raise _unreadable(raw)
    (space,) = decode(raw[: end + 1])
    code = raw[end + 1]
    kind = rule_by_code(code)
    return str(space), code if kind is None else kind, raw[end + 2 :]


def prefix_end(prefix: bytes) -> bytes:
    """The first bytes after every key that begins with `prefix`. No part of a key begins with 0xFF."""
    return prefix + b"\xff"


def show(kind: Kind | int, rest: bytes) -> str:
    """A key as a person reads it: `entry thread_a/17`."""
    try:
        if kind is Kind.VERSION and rest:
            of = rule_by_code(rest[0])
            return f"{kind} of {show(of if of is not None else rest[0], rest[1:])}"
        if kind is Kind.TALLY and rest:
            of = rule_by_code(rest[0])
            return f"{kind} of {show(of if of is not None else rest[0], rest[1:])}".rstrip()
        parts = decode(rest)
    except Damaged:
        return f"{kind} {rest.hex()}"
    return f"{kind} {'/'.join(str(part) for part in parts)}".rstrip()


def name(raw: bytes) -> str:
    """A whole key as a person reads it: `entry thread_a/17 of space default`."""
    try:
        space, kind, rest = split(raw)
    except Damaged:
        return f"key {raw.hex()}"
    return f"{show(kind, rest)} of space {space}"
