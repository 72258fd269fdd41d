"""Redaction: coverage of labelled secrets, false positives, and speed.

`coverage show` also prints the labelled values that are not covered, and what is hit in prose. `speed PATH` takes turns
with the native module of another build.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import random
import re
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from bench.run import exponent, in_turns, ratio, row
from reverie import _native
from support import planted_secrets, secrets, typed_secrets
from support.generated_sessions import generated_files
from support.prose import generated_pages
from support.secrets import Labelled
from support.shared import real_sessions, shared_files

REDACTOR = _native.Redactor()


def labelled() -> dict[str, list[Labelled]]:
    """Return the sets of secrets that are here."""
    sets = {
        "gitleaks": secrets.gitleaks(),
        "CredSweeper, line by line": secrets.credsweeper(whole_files=False),
        "CredSweeper, whole files": secrets.credsweeper(whole_files=True),
        "detect-secrets keywords": secrets.keywords(),
    }
    return {name: rows for name, rows in sets.items() if rows}


def coverage(show: str = "") -> None:
    """Print the coverage of each set, of what people type, and of planted secrets with all else that is taken.

    A third of each set's rules is reserved for estimates: nothing was made for them.
    """
    for name, rows in labelled().items():
        for part, chosen in {name: rows, f"{name}, held-out rules": [one for one in rows if one.held_out]}.items():
            hits, total = secrets.coverage(chosen, REDACTOR.spans)
            row(f"covered: {part}", 100 * hits / total, "%", note=f"of {total}")
    shares = typed_secrets.coverage(REDACTOR.spans, 20)
    for kind in typed_secrets.VALUES:
        typed = [share for (_, of), share in shares.items() if of == kind]
        row(f"typed: {kind}", 100 * sum(typed) / len(typed), "%")
    row("typed, all", 100 * sum(shares.values()) / len(shares), "%")
    taken = covered = others = 0
    for text, secret in planted_secrets.texts(200):
        start, end = text.index(secret), text.index(secret) + len(secret)
        found = REDACTOR.spans(text)
        covered += secrets.is_covered(Labelled("planted", text, start, end), REDACTOR.spans)
        taken += len(found)
        others += sum(not (span[0] < end and span[1] > start) for span in found)
    row("planted secrets that are taken", covered / 2, "%")
    row("secrets among all that is taken", 100 * (1 - others / max(taken, 1)), "%")
    if show:
        list_mistakes()


def prose() -> list[str]:
    """Return the documentation of the measurement data, or generated pages where it is absent."""
    return [path.read_text() for path in shared_files("data/prose", "*.txt")] or list(generated_pages())


def sessions() -> list[Path]:
    """Return the recorded sessions, or generated ones where they are absent."""
    return real_sessions() or list(generated_files())


def list_mistakes() -> None:
    """Print the secrets that are not covered, and what is hit in prose and in lines without secrets."""
    for one in (one for rows in labelled().values() for one in rows):
        if not secrets.is_covered(one, REDACTOR.spans):
            before, after = one.text[max(0, one.start - 60) : one.start], one.text[one.end : one.end + 20]
            print("   -", one.rule[:40], repr(before), "<<", one.text[one.start : one.end][:90], ">>", repr(after))
    for text in prose():
        for start, end, _ in REDACTOR.spans(text):
            print("   -", repr(text[start - 50 : end + 10]))
    for kind, line in secrets.benign(1_000):
        if REDACTOR.spans(line):
            print("   -", kind, repr(line))


def mistakes() -> None:
    """Print false positives."""

    def hits(texts: Sequence[str]) -> int:
        return sum(len(REDACTOR.spans(text)) for text in texts)

    for name, texts in {"prose": prose(), "conversations": secrets.conversations(sessions())}.items():
        words = sum(len(text.split()) for text in texts)
        row(f"hits in 100,000 words of {name}", hits(texts) / words * 100_000, "")
    lines = secrets.benign(1_000)
    for kind in sorted({kind for kind, _ in lines}):
        chosen = [line for label, line in lines if label == kind]
        row(
            f"hits in 10,000 lines: {kind}", sum(bool(REDACTOR.spans(one)) for one in chosen) / len(chosen) * 10_000, ""
        )
    row("hits in the lock files of this project", hits(secrets.lock_files()), "")


def speed(path: str = "") -> None:
    """Print the speed over text without secrets and over records of transcripts, and prose beside a yardstick.

    The yardstick is the build at `path`, else a search for three words by a regular expression.
    """
    texts = prose()
    rate("text, prose", REDACTOR.text, texts)
    rate("text, conversations", REDACTOR.text, [text for text in secrets.conversations(sessions()) if len(text) > 200])
    longer = hostile(1_024_000)
    for name, written in hostile(64_000).items():
        times = [rate(f"text, {len(text):,} bytes: {name}", REDACTOR.text, [text]) for text in (written, longer[name])]
        row(f"  growth of {name}", exponent([len(written), len(longer[name])], times), "")
    lines = [line for file in sessions()[:8] for line in gzip.decompress(file.read_bytes()).splitlines()]
    rate("value, lines of transcripts", REDACTOR.value, [orjson.loads(line) for line in lines], sum(map(len, lines)))
    other: Callable[[Any], object] = re.compile("password|secret|token").findall
    if path:
        spec = importlib.util.spec_from_file_location("_native", path)
        assert spec
        assert spec.loader
        earlier = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(earlier)
        other = earlier.Redactor().text
    times_of = in_turns({"ours": partial(each, REDACTOR.text, texts), "other": partial(each, other, texts)}, 9)
    name = "the other build" if path else "a search for three words"
    row(f"prose, to {name}", min(times_of["ours"]), "ms", times=ratio(times_of["ours"], times_of["other"]))


def each(function: Callable[[Any], object], items: Sequence[object]) -> None:
    """Call a function with every item."""
    for item in items:
        function(item)


def rate(title: str, function: Callable[[Any], object], items: Sequence[Any], size: int = 0) -> float:
    """Print the best speed over all items; return its milliseconds."""
    ms = min(in_turns({"": partial(each, function, items)}, 5)[""])
    row(title, (size or sum(len(text.encode()) for text in items)) / 1000 / ms, "MB/s")
    return ms


def hostile(size: int) -> dict[str, str]:
    """Return texts of about so many bytes in which every byte might begin a secret, or is part of an identifier."""
    pick = random.Random(size)
    identifiers = [str(uuid.UUID(int=pick.getrandbits(128))) for _ in range(size // 37)]
    encoded = base64.b64encode(pick.randbytes(size * 3 // 4)).decode()
    return {
        "one letter": "A" * size,  # what zero bytes are in base64: it begins like a token everywhere
        "list of UUIDs": "\n".join(identifiers),
        "UUIDs in JSON": orjson.dumps(identifiers).decode(),
        "sk-sk-": "sk-" * (size // 3),
        "base64": encoded,
        "lines of base64": "\n".join(encoded[at : at + 76] for at in range(0, size, 76)),
        "beginnings of JWTs": "eyJ" * (size // 3),
        "beginnings of key blocks": ("-----BEGIN RSA PRIVATE" + " KEY-----") * (size // 31),
    }


CASES = {"coverage": coverage, "mistakes": mistakes, "speed": speed}
