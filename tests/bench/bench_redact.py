"""Benchmark of redaction: coverage of labelled secrets, false positives, and speed.

With `--missed`, also the labelled values that are not covered, and what is hit in prose. With `--against PATH`, the
native module of another build at that path is timed in turn with this one.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import math
import random
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable, Sequence

from reverie import _native
from support import planted_secrets, secrets, typed_secrets
from support.generated_sessions import generated_files
from support.prose import generated_pages
from support.secrets import Labelled
from support.shared import real_sessions, shared_files

REDACTOR = _native.Redactor()
COLUMN = 52


def coverage(*, missed: bool) -> None:
    """Print the coverage of each set of secrets, and of the third of its rules that is reserved for estimates."""
    sets = {
        "gitleaks": secrets.gitleaks(),
        "CredSweeper, line by line": secrets.credsweeper(whole_files=False),
        "CredSweeper, whole files": secrets.credsweeper(whole_files=True),
        "detect-secrets keywords": secrets.keywords(),
    }
    for name, rows in sets.items():
        if not rows:
            continue  # a set of ../shared that is not here
        parts = []
        for chosen in (rows, [row for row in rows if row.held_out]):
            hits, total = secrets.coverage(chosen, REDACTOR.spans)
            parts.append(f"{hits / total:7.2%} of {total:5}")
        print(f"{'covered: ' + name:<{COLUMN}} {parts[0]}   held-out rules {parts[1]}")
        if missed:
            show(rows)


def prose() -> list[str]:
    """Return the documentation of the measurement data, or generated pages where it is absent."""
    return [path.read_text() for path in shared_files("data/prose", "*.txt")] or list(generated_pages())


def sessions() -> list[Path]:
    """Return the recorded sessions, or generated ones where they are absent."""
    return real_sessions() or list(generated_files())


def show(rows: list[Labelled]) -> None:
    """Print the secrets that are not covered."""
    for row in rows:
        if not secrets.is_covered(row, REDACTOR.spans):
            before, after = row.text[max(0, row.start - 60) : row.start], row.text[row.end : row.end + 20]
            print("   -", row.rule[:40], repr(before), "<<", row.text[row.start : row.end][:90], ">>", repr(after))


def mistakes(*, missed: bool) -> None:
    """Print false positives."""
    texts = prose()
    hits = [text[start - 50 : end + 10] for text in texts for start, end, _ in REDACTOR.spans(text)]
    words = sum(len(text.split()) for text in texts)
    print(f"{'hits in 100,000 words of prose':<{COLUMN}} {len(hits) / words * 100_000:7.1f}")
    if missed:
        for hit in hits:
            print("   -", repr(hit))
    lines = secrets.benign(1_000)
    for kind in sorted({kind for kind, _ in lines}):
        chosen = [line for label, line in lines if label == kind]
        wrong = [line for line in chosen if REDACTOR.spans(line)]
        print(f"{'hits in 10,000 lines: ' + kind:<{COLUMN}} {len(wrong) / len(chosen) * 10_000:7.1f}")
        if missed:
            for line in wrong[:5]:
                print("   -", repr(line))
    false_hits = sum(len(REDACTOR.spans(text)) for text in secrets.lock_files())
    print(f"{'hits in the lock files of this project':<{COLUMN}} {false_hits:7}")
    messages = secrets.conversations(sessions())
    false_hits, words = sum(len(REDACTOR.spans(text)) for text in messages), sum(len(text.split()) for text in messages)
    print(f"{'hits in 100,000 words of conversations':<{COLUMN}} {false_hits / words * 100_000:7.1f}")


def speed() -> None:
    """Print the best speed over text without secrets, and over records of transcripts."""
    texts = prose()
    size = sum(len(text.encode()) for text in texts)
    print(f"{'text, prose, MB/s':<{COLUMN}} {size / best(REDACTOR.text, texts) / 1e6:7.0f}")
    messages = [text for text in secrets.conversations(sessions()) if len(text) > 200]
    size = sum(len(text.encode()) for text in messages)
    print(f"{'text, conversations, MB/s':<{COLUMN}} {size / best(REDACTOR.text, messages) / 1e6:7.0f}")
    for name, written in hostile(64_000).items():
        longer = hostile(1_024_000)[name]
        short_time, long_time = best(REDACTOR.text, [written]), best(REDACTOR.text, [longer])
        exponent = math.log(long_time / short_time) / math.log(len(longer) / len(written))
        speed_of = len(longer) / long_time / 1e6
        print(f"{f'text, {name}, MB/s':<{COLUMN}} {speed_of:7.1f}   exponent of growth {exponent:.2f}")
    lines = [line for path in sessions()[:8] for line in gzip.decompress(path.read_bytes()).splitlines()]
    values = [orjson.loads(line) for line in lines]
    size = sum(map(len, lines))
    print(f"{'value, lines of transcripts, MB/s':<{COLUMN}} {size / best(REDACTOR.value, values) / 1e6:7.0f}")


def compared(path: str | None) -> None:
    """Print how often the text of prose is redacted in the time of a yardstick, each run beside one of the other.

    The yardstick is the build at `path`, else a search for three words by a regular expression.
    """
    texts = prose()
    if path:
        spec = importlib.util.spec_from_file_location("_native", path)
        assert spec
        assert spec.loader
        earlier = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(earlier)
        other: Callable[[Any], object] = earlier.Redactor().text
    else:
        other = re.compile("password|secret|token").findall
    ratios = sorted(best(other, texts, 1) / best(REDACTOR.text, texts, 1) for _ in range(9))
    name = f"speed beside {'the other build' if path else 'a search for three words'}, median of 9"
    print(f"{name:<{COLUMN}} {ratios[4]:7.2f}   {ratios[0]:.2f} to {ratios[-1]:.2f}")


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


def typed() -> None:
    """Print how many values are covered in the forms in which people type a secret, by the kind of the value."""
    shares = typed_secrets.coverage(REDACTOR.spans, 20)
    for kind in typed_secrets.VALUES:
        chosen = [share for (_, of), share in shares.items() if of == kind]
        print(f"{'typed: ' + kind:<{COLUMN}} {sum(chosen) / len(chosen):7.2%}")
    print(f"{'typed, all':<{COLUMN}} {sum(shares.values()) / len(shares):7.2%}")


def planted() -> None:
    """Print how many of 200 secrets are taken that were planted among ordinary code, and how much else is."""
    taken = covered = 0
    others = []
    for text, secret in planted_secrets.texts(200):
        start = text.index(secret)
        found = REDACTOR.spans(text)
        hits = [span for span in found if span[0] < start + len(secret) and span[1] > start]
        covered += secrets.is_covered(Labelled("planted", text, start, start + len(secret)), REDACTOR.spans)
        taken += len(found)
        others += [text[span[0] : span[1]] for span in found if span not in hits]
    print(f"{'planted secrets that are taken':<{COLUMN}} {covered / 200:7.2%}")
    print(f"{'secrets among all that is taken':<{COLUMN}} {1 - len(others) / max(taken, 1):7.2%}")


def best(function: Callable[[Any], object], items: Sequence[object], runs: int = 5) -> float:
    """Return the seconds of the fastest run over all items."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        for item in items:
            function(item)
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    verbose = "--missed" in sys.argv
    coverage(missed=verbose)
    typed()
    planted()
    mistakes(missed=verbose)
    speed()
    compared(sys.argv[sys.argv.index("--against") + 1] if "--against" in sys.argv else None)
