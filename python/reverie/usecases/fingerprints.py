"""The fingerprints of redacted values in the store: read when it is opened, written with the commit that first had one.

A value that was redacted once is then found again in every later text, also after a restart. The store has keyed hashes
of such values and their key, never the values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from reverie.redact import Fingerprint, Redactor
from reverie.store import SYSTEM_SPACE, FingerprintRecord, FingerprintsCursor, Store, Write, Writer
from reverie.usecases.entries import ENTRY_NAMES
from reverie.usecases.redactions import RedactRules, allowed

SLOTS: Final = 4096  # as many as the redactor keeps; the newest one takes the slot of the oldest


class FingerprintKeeper:
    """A redactor that remembers what it has redacted, and the writes that keep its fingerprints in the store."""

    def __init__(self, store: Store, literals: Sequence[str], allow: Sequence[str] = ()) -> None:
        """Read the fingerprints of the store; where it has none, they get a random key.

        `allow` are the entries of the setting `redact.allow`.
        """
        with store.reader(SYSTEM_SPACE) as reader:
            cursor = reader.load(FingerprintsCursor, FingerprintsCursor.KEY)
            stored = sorted((record for _, record in reader.records(FingerprintRecord)), key=lambda item: item.number)
        key = b"" if cursor is None else bytes.fromhex(cursor.salt)
        self._literals = list(literals)
        self.allow = list(allow)
        self.redactor = Redactor(literals, fingerprints=key, names=ENTRY_NAMES, allow=allowed(allow))
        self.redactor.add_fingerprints(map(_fingerprint, stored))
        self._written = len(stored)
        # The redactor counts from 1 again, the slots go on from where they were.
        self._offset = stored[-1].number - len(stored) if stored else 0

    @property
    def rules(self) -> RedactRules:
        """What makes a redactor in another process."""
        return RedactRules(self._literals, self.allow, self.redactor.key)

    def forgetful(self) -> Redactor:
        """Return a redactor with the same rules that looks for no remembered value and remembers none."""
        return Redactor(self._literals, fingerprints=self.redactor.key, forgets=True, allow=allowed(self.allow))

    def forget(self, hashes: Collection[bytes]) -> None:
        """Forget values by their hashes, also in what is to be written; between two calls of `pending`."""
        left = self.redactor.forget(hashes)
        written = sum(1 for item in left if item.number <= self._written)
        # The next number in the store stays what it was, since a slot is found by the number.
        self._offset += self._written - written
        self._written = written

    def pending(self) -> tuple[Write[None], Callable[[], None]] | None:
        """Return the write of fingerprints not stored yet and a function to call after its commit; None if all are."""
        new = self.redactor.fingerprints_after(self._written)
        if not new:
            return None

        def body(writer: Writer) -> None:
            writer.save(FingerprintsCursor(salt=self.redactor.key.hex()), FingerprintsCursor.KEY)
            for item in new:
                number = item.number + self._offset
                record = FingerprintRecord(
                    number=number,
                    hash=item.hash.hex(),
                    length=item.length,
                    prefix=item.prefix,
                    marker=item.kind,
                )
                writer.save(record, ((number - 1) % SLOTS,))

        def written() -> None:
            self._written = new[-1].number

        return Write(space=SYSTEM_SPACE, who="redaction", why="redaction.remember", body=body), written


def _fingerprint(record: FingerprintRecord) -> Fingerprint:
    """Return a stored fingerprint as the redactor has it."""
    return Fingerprint(record.number, bytes.fromhex(record.hash), record.length, record.prefix, record.marker)
