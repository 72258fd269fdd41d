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
import string
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from bench.run import exponent, in_turns, ratio, row
from reverie import _native
from support import secrets
from support.prose import generated_pages
from support.secrets import Labelled
from support.shared import real_sessions, shared_files
from support.story import generated_files

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"

# A published format: its prefix (cut in two, so that no scanner takes this file for a leak), its alphabet, its length.
_FORMATS = (
    ("sk-" + "ant-api03-", _ALNUM + "_-", 95), ("sk-" + "proj-", _ALNUM, 120), ("gh" + "p_", _ALNUM, 36),
    ("github" + "_pat_", _ALNUM, 82), ("glp" + "at-", _ALNUM, 20), ("AK" + "IA", string.ascii_uppercase + "234567", 16),
    ("AI" + "za", _ALNUM, 35), ("xo" + "xb-", string.digits + "-", 40), ("sk_" + "live_", _ALNUM, 24),
    ("np" + "m_", _ALNUM, 36), ("h" + "f_", _ALNUM, 34), ("S" + "G.", _ALNUM + "_-", 66), ("dop" + "_v1_", _HEX, 64),
    ("da" + "pi", _HEX, 32),
    ("lin" + "_api_", _ALNUM, 40), ("tsk" + "ey-auth-", _ALNUM, 40), ("gls" + "a_", _ALNUM, 41),
)  # fmt: skip

_BARE = (
    "deploying with {S} now",
    "{S}",
    'client = Client("{S}")',
    "curl -H 'X-Auth: {S}' https://tide.example/v1",
    "see <{S}>.",
)
_LABELLED = (
    "DB_PASSWORD={S}", 'password: "{S}"', "api_key = '{S}'", '{"user": "ann", "secret": "{S}"}', "--token {S}",
    "Authorization: Bearer {S}", "export SHOP_API_TOKEN={S}", "postgres://ann:{S}@db.example:5432/shop",
    "db:\n  user: ann\n  password: {S}\n", "the admin password is {S}", "<password>{S}</password>",
    'const clientSecret = "{S}";', "X-Api-Key: {S}", "mysql -u root -p{S} shop", "passphrase: {S}",
)  # fmt: skip

_AROUND = (
    "publicKey: Uint8Array;", "if token is None: return", "password: str = Field(min_length=8)", "PORT=3334",
    "ssh root@$MAP_SERVER_HOST -o ServerAliveInterval=10", "commit 0d19e3163809fa90903826898a1931b9978c7e53",
    "DB_USER=${DB_USERNAME:-postgres}", "tokens = tokenizer.encode(text)", "max_age=15*60",
    "api_key=os.environ['API_KEY']",
    "--- PASS: TestTokenRefresh2 (0.01s)", "hash the password with Argon2id", "secret: process.env.JWT_SECRET",
    "id: 72ee6a2e-f8e4-4b5c-b7d8-c569daff9a0b", "sign up with email and password via Web3Auth",
    "cache_key = f'{user}:{page}'", "the session token expires after 3600 seconds", "tests/e2e/.env.example",
)  # fmt: skip


def _labelled_value(pick: random.Random) -> str:
    """Return a value as generators of passwords and keys make them."""
    length = pick.randint(12, 32)
    return pick.choice(
        (
            "".join(pick.choices(_ALNUM, k=length)),
            "".join(pick.choices(_HEX, k=2 * pick.randint(8, 20))),
            base64.b64encode(pick.randbytes(length)).decode(),
            "".join(pick.choices(_ALNUM + "!#%+~^", k=length)),
        )
    )


def planted(count: int) -> Iterator[tuple[str, str]]:
    """Yield texts of ordinary lines with one secret planted in each, and the secret; half are of published formats."""
    for number in range(count):
        pick = random.Random(number)
        if number % 2:
            prefix, alphabet, length = pick.choice(_FORMATS)
            secret, place = prefix + "".join(pick.choices(alphabet, k=length)), pick.choice(_BARE)
        else:
            secret, place = _labelled_value(pick), pick.choice(_LABELLED)
        lines = pick.sample(_AROUND, 6)
        lines.insert(pick.randint(0, 6), place.replace("{S}", secret))
        yield "\n".join(lines), secret


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
    shares = secrets.typed_coverage(REDACTOR.spans, 20)
    for kind in secrets.TYPED_VALUES:
        typed = [share for (_, of), share in shares.items() if of == kind]
        row(f"typed: {kind}", 100 * sum(typed) / len(typed), "%")
    row("typed, all", 100 * sum(shares.values()) / len(shares), "%")
    taken = covered = others = 0
    for text, secret in planted(200):
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
