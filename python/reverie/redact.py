"""Redaction: secrets in texts and JSON values are replaced by `[REDACTED:<kind>]`."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reverie import _native
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from reverie.models import Json

KINDS = frozenset(_native.kinds())
"""Every kind that can occur in `[REDACTED:<kind>]`."""


RULES = frozenset(_native.rule_names())
"""The stable name of every rule: `label`, `sentence`, `remembered`, ..., and for published formats their kinds."""


class Span(NamedTuple):
    """A secret in a text: characters `start` to before `end`, and its kind."""

    start: int
    end: int
    kind: str


class Finding(NamedTuple):
    """A secret in a text as `Span` has it, with what is reported of it: see `Taken`."""

    start: int
    end: int
    kind: str
    rule: str
    shape: str
    hash: bytes


class Taken(NamedTuple):
    """A secret that was replaced, without its value.

    `shape` is its length in characters and their classes (`24:Aa0-`); `hash` its HMAC under the redactor's key.
    """

    rule: str
    kind: str
    shape: str
    hash: bytes


class TakenLog:
    """What redactors took in one piece of work and what it called, as long as the work lasts."""

    __slots__ = ("is_open", "taken")

    def __init__(self) -> None:
        self.is_open = True
        self.taken: list[Taken] = []

    def drain(self) -> list[Taken]:
        """Return what was taken since the last call."""
        taken, self.taken = self.taken, []
        return taken


_LOG: Final[ContextVar[TakenLog | None]] = ContextVar("taken", default=None)


@contextmanager
def logged() -> Iterator[TakenLog]:
    """Log what redactors take in the block; a task that it starts and that goes on after it logs nothing more."""
    log = TakenLog()
    token = _LOG.set(log)
    try:
        yield log
    finally:
        log.is_open = False
        _LOG.reset(token)


def current_log() -> TakenLog | None:
    """Return the log of the work that is going on, None where none is kept."""
    log = _LOG.get()
    return log if log is not None and log.is_open else None


class Allow(NamedTuple):
    """What stays although a rule finds it: rules switched off, values, and values by `Taken.hash` (under one key).

    In `values`, `*` stands for any characters; one matches only a whole value, in the case that it has.
    """

    rules: Sequence[str] = ()
    values: Sequence[str] = ()
    hashes: Sequence[bytes] = ()


class Fingerprint(NamedTuple):
    """The keyed hash of a redacted value, which finds the value again; `number` is its position among all added.

    `length` is in bytes; `prefix` is 16 bits of another keyed hash, of the value's first bytes.
    """

    number: int
    hash: bytes
    length: int
    prefix: int
    kind: str


class Indicator(NamedTuple):
    """A string that indicates a kind of secret: the secret begins with it or has it inside, or its name has it."""

    kind: str
    how: Literal["begins", "holds", "named"]
    text: str


_SPACED = lazy_regex(r"(?:\S ){15,}\S")
"""At least 16 characters with a space between each two: the length of a short secret."""

_EDGE_CHARS = 256
"""Characters at the end of one text and the beginning of the next that are searched for a split secret."""

_NUMBER_MAX = (1 << 64) - 1

_BY_CONTEXT = frozenset({"label", "sentence", "remembered", "key-line"})
"""Rules that go by what is beside a value, which means nothing in reversed or joined texts."""


class Redactor:
    """The redaction rules, compiled once together with the secret values that the owner has listed (`literals`).

    A value that was found by its name is found again without it, in the same text or JSON value; with `fingerprints`
    (empty at first) in every later one too, for as long as this object lives. Keyed hashes are kept, never values.
    Only values that nobody types by chance are remembered (50 bits, no names). With `forgets`, nothing is.
    Redaction is idempotent: an existing marker stays as it is, and so does the bare word REDACTED.
    Foreign markers `[BYOK:x]` and `<REDACTED:x>` become `[REDACTED:byok]` and `[REDACTED:foreign]`.
    `generation` counts how often `allow` was called.
    """

    __slots__ = ("_allow", "_forgets", "_literals", "_names", "_native", "generation")

    def __init__(
        self,
        literals: Sequence[str] = (),
        *,
        fingerprints: bytes | None = None,
        forgets: bool = False,
        names: Sequence[str] = (),
        allow: Allow | None = None,
    ) -> None:
        """Compile the rules; under the outermost keys in `names` no remembered (fingerprinted) value is replaced.

        Raises ValueError for `fingerprints` that are neither empty, nor a key of 32 bytes, nor those of a redactor.
        """
        self._native = _native.Redactor(list(literals), fingerprints=fingerprints, forgets=forgets)
        self._literals, self._forgets, self._names = list(literals), forgets, list(names)
        self.generation = 0
        self.allow(allow or Allow())

    def allow(self, allow: Allow) -> None:
        """Replace what is allowed, from the next text on; a fingerprint of an allowed value finds nothing.

        Raises ValueError for a hash that has not 16 bytes.
        """
        self._native.allow(list(allow.rules), list(allow.values), list(allow.hashes))
        self._allow = allow
        self.generation += 1

    def text(self, text: str) -> str:
        """Return `text` with its secrets replaced; the same object if it has none.

        Raises ValidationError for an unpaired surrogate.
        """
        log = current_log()
        if log is None:
            return self._native.text(text)
        redacted, taken = self._native.value(text, [])
        log.taken += [Taken(*one) for one in taken]
        return redacted if taken else text

    def value(self, value: Json) -> tuple[Json, int]:
        """Return a JSON value with its secrets replaced (the same object if none), and the number of replacements.

        A key announces its value as a name does in text (`{"password": ...}`), and so does a `name` or `key` beside a
        `value`. Strings under keys of identifiers (`id`, `uuid`, `tool_use_id`, `sessionId`, `model`, ...) are only
        searched for listed values and published token formats. The signature of a thinking block, and the base64
        `data` of an image or a document, are never changed.
        Raises ValidationError for an unpaired surrogate and for nesting beyond 1024.
        """
        redacted, taken = self.taken(value)
        return redacted, len(taken)

    def taken(self, value: Json) -> tuple[Json, list[Taken]]:
        """Return what `value` returns, and of each replacement what may be told, in the order of the texts."""
        redacted, found = self._native.value(value, self._names)
        taken = [Taken(*one) for one in found]
        if taken and (log := current_log()) is not None:
            log.taken += taken
        return redacted, taken

    def findings(self, text: str) -> list[Finding]:
        """Return what `spans` returns, and of each secret what may be told."""
        return [Finding(*found) for found in self._native.findings(text)]

    @property
    def fingerprints(self) -> bytes:
        """The key and all fingerprints, for a redactor in another process of this version."""
        return self._native.fingerprints_as_bytes()

    @property
    def key(self) -> bytes:
        """The key of the fingerprints, 32 random bytes unless it was given."""
        return self._native.fingerprints_after(_NUMBER_MAX)[0]

    def fingerprints_after(self, number: int) -> list[Fingerprint]:
        """Return the fingerprints that were added after the one with this number, oldest first."""
        return [Fingerprint(*added) for added in self._native.fingerprints_after(number)[1]]

    def add_fingerprints(self, fingerprints: Iterable[Fingerprint]) -> None:
        """Add fingerprints made with the same key by another redactor; they are numbered anew here."""
        self._native.add_fingerprints([added[1:] for added in fingerprints])

    def forget(self, hashes: Collection[bytes]) -> list[Fingerprint]:
        """Forget the values with these hashes; return the fingerprints that are left, numbered as they were before."""
        left = [item for item in self.fingerprints_after(0) if item.hash not in hashes]
        native = _native.Redactor(self._literals, fingerprints=self.key, forgets=self._forgets)
        native.allow(list(self._allow.rules), list(self._allow.values), list(self._allow.hashes))
        native.add_fingerprints([item[1:] for item in left])
        self._native = native
        return left

    def suspects(self, texts: Sequence[str]) -> list[tuple[int, str]]:
        """Return (index, how hidden) of texts that may hide a secret that cannot be redacted, for a person to review.

        "spaced": with a space between each two characters; "reversed": written backwards; "split": the first part at
        the end of this text, the rest at the beginning of the next.
        """
        suspects = []
        for index, text in enumerate(texts):
            if any(self._has_formatted_secret(run.replace(" ", "")) for run in _SPACED.findall(text)):
                suspects.append((index, "spaced"))
            if self._has_formatted_secret(text[::-1]):
                suspects.append((index, "reversed"))
            if index + 1 < len(texts):
                end, begin = text.rstrip()[-_EDGE_CHARS:], texts[index + 1].lstrip()[:_EDGE_CHARS]
                spans = self.findings(end + begin) if end and begin else []
                if any(span.start < len(end) < span.end and span.rule not in _BY_CONTEXT for span in spans):
                    suspects.append((index, "split"))
        return suspects

    def _has_formatted_secret(self, text: str) -> bool:
        """Return whether a text has a secret that is recognized by its own format."""
        return any(found.rule not in _BY_CONTEXT for found in self.findings(text))

    def spans(self, text: str) -> list[Span]:
        """Return the secrets of `text` in order, without overlap."""
        return [Span(*span) for span in self._native.spans(text)]


def indicators() -> list[Indicator]:
    """Return every indicator of the rule tables, sorted; a kind without one is recognized by its shape or context."""
    return [Indicator(*indicator) for indicator in _native.marks()]
