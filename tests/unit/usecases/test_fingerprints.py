"""Fingerprints in a store: written beside the first commit after they were learnt, and read when it is opened."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from reverie.redact import Redactor
from reverie.store import SYSTEM_SPACE, FingerprintRecord, Store
from reverie.usecases import redactions
from reverie.usecases.by import By
from reverie.usecases.fingerprints import SLOTS, FingerprintKeeper

AT = "2026-11-21T09:30:00.000Z"


def opened(path: Path) -> Store:
    """Return the opened store, with a redactor that remembers nothing."""
    return Store.open(path, redactor=Redactor(forgets=True))


def keep(store: Store, keeper: FingerprintKeeper) -> bool:
    """Commit the fingerprints that are not stored yet; return True if there were any."""
    pending = keeper.pending()
    if pending is None:
        return False
    store.commit([pending[0]], at=AT)
    pending[1]()
    return True


def value(number: int) -> str:
    """Return a made-up password, random enough to be remembered."""
    letters = "bcdfghjkmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ23456789"
    return "".join(letters[byte % len(letters)] for byte in sha256(b"%d" % number).digest()[:20]) + "4K"


def learn(keeper: FingerprintKeeper, numbers: range) -> None:
    """Redact a made-up password for each number, so that the keeper learns its fingerprint."""
    for number in numbers:
        keeper.redactor.text(f"password: {value(number)}")


def is_known(keeper: FingerprintKeeper, number: int) -> bool:
    """Return True if the password of a number is redacted without its name."""
    return value(number) not in keeper.redactor.text(f"see {value(number)} there")


def test_values_are_known_after_the_store_was_opened_again(tmp_path: Path) -> None:
    """Fingerprints committed before the store was closed are known after it is opened; the write is no operation."""
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        assert not keep(store, keeper)
        learn(keeper, range(300))
        assert keep(store, keeper)
        assert not keep(store, keeper)
        learn(keeper, range(300, 310))
        with store.reader(SYSTEM_SPACE) as reader:
            assert reader.operation() == 0
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        assert all(is_known(keeper, number) for number in range(300))
        assert not any(is_known(keeper, number) for number in range(300, 310))
        assert not keep(store, keeper)


def test_the_newest_take_the_slots_of_the_oldest(tmp_path: Path) -> None:
    """At most SLOTS fingerprints are stored over several starts; the newest replace the oldest."""
    for start, count in ((0, SLOTS - 100), (SLOTS - 100, 150), (SLOTS + 50, 150)):
        with opened(tmp_path / "store") as store:
            keeper = FingerprintKeeper(store, [])
            learn(keeper, range(start, start + count))
            keep(store, keeper)
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        with store.reader(SYSTEM_SPACE) as reader:
            numbers = [record.number for _, record in reader.records(FingerprintRecord)]
        assert sorted(numbers) == list(range(201, SLOTS + 201))
        assert not is_known(keeper, 0)
        assert all(is_known(keeper, number) for number in (200, SLOTS - 1, SLOTS + 199))


def test_a_failed_commit_is_repeated(tmp_path: Path) -> None:
    """Fingerprints whose write was not committed are in the next write, with those learnt since."""
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        learn(keeper, range(1))
        assert keeper.pending() is not None
        learn(keeper, range(1, 2))
        assert keep(store, keeper)
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        assert is_known(keeper, 0)
        assert is_known(keeper, 1)


def test_forgotten_values_are_not_known_and_those_that_follow_are_stored(tmp_path: Path) -> None:
    """A value that is allowed is forgotten, stored or not; what is learnt after that is in the store as ever."""
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        learn(keeper, range(10))
        assert keep(store, keeper)
        learn(keeper, range(10, 12))
        hashes = {item.hash for item in keeper.redactor.fingerprints_after(0) if item.number in {3, 11}}
        names = [redactions.redaction_id(value) for value in hashes]
        store.commit([redactions.forget_fingerprints.write(By(SYSTEM_SPACE, "redaction"), names)], at=AT)
        keeper.forget(hashes)
        assert [number for number in range(12) if not is_known(keeper, number)] == [2, 10]
        learn(keeper, range(20, 22))
        assert keep(store, keeper)
    with opened(tmp_path / "store") as store:
        keeper = FingerprintKeeper(store, [])
        assert [number for number in (*range(12), 20, 21) if not is_known(keeper, number)] == [2, 10]
