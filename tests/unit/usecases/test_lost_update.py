"""Tests of the cache of the versions that agents have read."""

from __future__ import annotations

from reverie.usecases import agent_writes
from reverie.usecases.agent_writes import ReadVersion, ReadVersions


def key(path: str) -> tuple[str, str, str, str]:
    """Return the cache key of an owner's file."""
    return "default", "owner", "", path


def test_the_least_recently_used_version_is_evicted() -> None:
    """Eviction starts when all texts together are too long; a version that is stored again is the newest."""
    versions = ReadVersions()
    half = "x" * (agent_writes.CHARS_MAX // 2)
    versions.put(key("a"), ReadVersion(1, half))
    versions.put(key("b"), ReadVersion(1, half))
    versions.put(key("a"), ReadVersion(2, half))
    versions.put(key("c"), ReadVersion(1, "y"))

    assert versions.get(key("a")) == ReadVersion(2, half)
    assert versions.get(key("b")) is None
    assert versions.get(key("c")) == ReadVersion(1, "y")


def test_a_single_text_that_is_too_long_is_stored() -> None:
    """A single text over the limit is stored all the same, and all others are dropped."""
    versions = ReadVersions()
    long = ReadVersion(1, "x" * (agent_writes.CHARS_MAX + 1))
    versions.put(key("a"), ReadVersion(1, "y"))
    versions.put(key("b"), long)
    assert (versions.get(key("a")), versions.get(key("b"))) == (None, long)
