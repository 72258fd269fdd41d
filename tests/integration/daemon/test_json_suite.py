"""JSON bodies over the socket: texts by the grammar, the public parsing suite, and hostile bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from support.daemon import Answer, Daemon, request, running_daemon, status_bytes
from support.hostile_cases import JSON_CASES
from support.shared import shared_files

# What `reverie.canonical_json.check_json` says; any other refusal means that the text itself was understood.
TEXT_REASONS = frozenset(
    {"malformed", "duplicate_key", "number_out_of_range", "lone_surrogate", "too_deep", "encoding"}
)

# Two of the files that a parser may take repeat a key. We refuse repeated keys: two readers could understand them
# differently.
REPEATED_KEYS = frozenset({"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"})

# Of the 35 whose outcome the suite leaves open we take two: numbers that a double rounds to zero. The others hold
# numbers beyond 64 bits or a double, halves of surrogate pairs, another encoding, a byte order mark, or 500 arrays.
OPEN_AND_READ = frozenset({"i_number_double_huge_neg_exp.json", "i_number_real_underflow.json"})


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """One daemon for the whole suite, which must survive all of it."""
    with running_daemon() as running:
        yield running


def post(daemon: Daemon, body: bytes) -> Answer:
    """Post a body to a route that reads JSON and writes nothing."""
    return daemon.ask("POST", "/v1/recall", body)


def rejection_reason(answer: Answer) -> str | None:
    """Return the reason for which the text is refused, or None if it is read."""
    assert answer.status < 500, answer.body
    envelope = answer.json()
    if answer.status < 400:
        return None
    assert set(envelope) == {"error", "message", "details"}
    reason = envelope["details"].get("reason")
    if answer.status == 400 and reason in TEXT_REASONS:
        assert isinstance(envelope["details"]["offset"], int)
        return str(reason)
    return None


def test_every_text_by_the_grammar(daemon: Daemon) -> None:
    """Each text is read or refused for its expected reason, without much more memory, and the daemon stays healthy."""
    before = status_bytes(daemon.pid, "RssAnon")
    reasons = [(case, rejection_reason(post(daemon, case.text))) for case in JSON_CASES]
    assert [pair for pair in reasons if pair[0].reason != pair[1]] == []
    assert status_bytes(daemon.pid, "RssAnon") - before < 16 << 20
    assert daemon.ask("GET", "/v1/health").status == 200


@pytest.mark.measures("data/json/test_parsing")
def test_every_file_of_the_suite(daemon: Daemon) -> None:
    """All `y_` files are read, all `n_` files refused, and the rest as listed here; no hang, no growth, no 500."""
    files = shared_files("data/json/test_parsing", "*.json")
    assert len(files) == 318
    before = status_bytes(daemon.pid, "RssAnon")
    wrong = []
    for file in files:
        reason = rejection_reason(post(daemon, file.read_bytes()))
        expected = {"y": file.name not in REPEATED_KEYS, "n": False, "i": file.name in OPEN_AND_READ}[file.name[0]]
        if (reason is None) != expected:
            wrong.append((file.name, reason))
    assert wrong == []
    assert status_bytes(daemon.pid, "RssAnon") - before < 16 << 20
    assert daemon.ask("GET", "/v1/health").status == 200


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"query": "a", "query": "b"}', "duplicate_key"),
        (b'{"query": NaN}', "malformed"),
        (b'{"query": Infinity}', "malformed"),
        (b'{"limit": 1' + b"0" * 5000 + b"}", "number_out_of_range"),
        (b'{"limit": 1e400}', "number_out_of_range"),
        (b'{"query": "\\ud800"}', "lone_surrogate"),
        (b"[" * 100_000, "too_deep"),
        (b"[" * 100_000 + b"]" * 100_000, "too_deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too_deep"),
        ('{"query": "a"}'.encode("utf-16-le"), "encoding"),
        ('{"query": "a"}'.encode("utf-16"), "encoding"),
        (b'\xef\xbb\xbf{"query": "a"}', "encoding"),
        (b'{"query": "\xff\xfe\x80"}', "encoding"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", None),
    ],
)
def test_hostile_text(daemon: Daemon, body: bytes, reason: str | None) -> None:
    """Each hostile text is refused, with its reason where the case names one."""
    rejection = rejection_reason(post(daemon, body))

    assert rejection is not None
    if reason is not None:
        assert rejection == reason


def test_names_of_the_language_are_plain_fields(daemon: Daemon) -> None:
    """Field names such as `__proto__` and `__class__` get 200 or 400, and the daemon stays healthy."""
    for name in ("__proto__", "constructor", "__class__", "__dict__"):
        answer = post(daemon, json.dumps({"query": "a", name: {"x": 1}}).encode())
        assert answer.status in {200, 400}
        assert daemon.ask("GET", "/v1/health").status == 200


def test_empty_body_reads_as_an_empty_object(daemon: Daemon) -> None:
    """A POST without a body equals one with `{}`; an empty body declared as JSON is refused."""
    with daemon.wire() as wire:
        wire.send(request("POST", "/v1/recall"))
        answer = wire.answer()
    assert answer is not None
    assert answer.body == post(daemon, b"{}").body
    assert rejection_reason(post(daemon, b"")) == "malformed"
