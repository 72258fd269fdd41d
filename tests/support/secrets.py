"""Labelled secrets, secrets as people type them, ordinary texts and identifiers, and how many a redactor covers."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from support.shared import SHARED, all_sessions, shared_rows

_ROOT = Path(__file__).resolve().parents[2]
_HEX = "0123456789abcdef"

# Labelled sets of other projects, in ../shared.
GITLEAKS = "data/secrets/gitleaks/cases.jsonl"
DETECT_SECRETS = "data/secrets/detect-secrets/cases.jsonl"
CREDSWEEPER = "data/secrets/credsweeper"


class Labelled(NamedTuple):
    """A secret at `text[start:end]`, and the rule that labelled it."""

    rule: str
    text: str
    start: int
    end: int

    @property
    def held_out(self) -> bool:
        """True for a third of the rules, chosen by a hash of the name, to estimate services without an own detector."""
        return hashlib.sha256(self.rule.encode()).digest()[0] % 3 == 0


def is_covered(row: Labelled, spans: Callable[[str], Iterable[tuple[int, int, str]]]) -> bool:
    """Return True if every character of the secret lies in a span."""
    at = row.start
    for start, end, _ in sorted(spans(row.text)):
        if start <= at < end:
            at = end
    return at >= row.end


def coverage(rows: Iterable[Labelled], spans: Callable[[str], Iterable[tuple[int, int, str]]]) -> tuple[int, int]:
    """Return how many secrets are fully covered by a redactor's spans, and how many there are."""
    results = [is_covered(row, spans) for row in rows]
    return sum(results), len(results)


def gitleaks() -> list[Labelled]:
    """Return the labelled secrets of the gitleaks cases that are true and have a position."""
    rows = shared_rows(GITLEAKS)
    return [
        Labelled(row["rule"], row["text"], row["start"], row["start"] + row["len"])
        for row in rows
        if row["label"] == "tp" and row["start"] >= 0
    ]


def keywords() -> list[Labelled]:
    """Return lines of code and configuration in which a keyword precedes the expected value."""
    rows = shared_rows(DETECT_SECRETS)
    lines = []
    for row in rows:
        if secret := row.get("expected_secret"):
            start = row["line"].index(secret)
            lines.append(Labelled(row["line"], row["line"], start, start + len(secret)))
    return lines


def credsweeper(*, whole_files: bool) -> list[Labelled]:
    """Return the labelled secrets of credsweeper's findings, each in its line alone or in its whole file."""
    root = SHARED / CREDSWEEPER
    output = root / "tests/data/output.json"
    findings = json.loads(output.read_text()) if output.exists() else []
    rows = {}
    for finding in findings:
        for line in finding["line_data_list"]:
            start, end = line["value_start"], line["value_end"]
            if start < 0 or line["line"][start:end] != line["value"]:
                continue
            position = (line["path"], line["line_num"], start, end)
            row = Labelled(finding["rule"], line["line"], start, end)
            rows[position] = _with_whole_file(row, root / line["path"], line["line_num"]) if whole_files else row
    return list(rows.values())


def _with_whole_file(row: Labelled, path: Path, number: int) -> Labelled:
    """Return the labelled secret in its whole file's text, or unchanged if the file does not have its line."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return row
    offset = sum(len(line) + 1 for line in text.split("\n")[: number - 1])
    if text[offset : offset + len(row.text)] != row.text:
        offset = text.find(row.text)
    if offset < 0:
        return row
    return Labelled(row.rule, text, offset + row.start, offset + row.end)


def _names(pick: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of lines with a commit, a UUID or a digest, one of each kind."""

    def hexadecimal(length: int) -> str:
        return "".join(pick.choices(_HEX, k=length))

    def digest(length: int) -> str:
        return base64.b64encode(pick.randbytes(length)).decode()

    word = pick.choice(["github", "slack", "stripe", "token", "secret", "auth", "keyring", "requests", "password-hash"])
    name = str(uuid.UUID(int=pick.getrandbits(128), version=4))
    commit = hexadecimal(40)
    yield "commit", f"commit {commit}"
    yield "commit", f"{commit[:7]} fix: {word} is read once"
    yield "commit", f"Merge: {commit[:9]} {hexadecimal(9)}"
    yield "commit", f"      - uses: {word}/checkout@{commit}  # v4"
    yield "commit", f"https://github.com/{word}/{word}/commit/{commit}"
    yield "commit", f"index {commit[:10]}..{hexadecimal(10)} 100644"
    yield "commit", f"parent {commit}\ntree {hexadecimal(40)}"
    yield "commit", f"The {word} change landed in {commit}, see there."
    yield "commit", f"git checkout {commit} && cargo test -p {word}"
    yield "uuid", name
    yield "uuid", f'{{"id": "{name}", "name": "{word}"}}'
    yield "uuid", f'"uuid":"{name}","parentUuid":"{pick.getrandbits(128):032x}"'
    yield "uuid", f"request_id={name} status=200 path=/v1/{word}"
    yield "uuid", f"session {name} resumed by {word}"
    yield "uuid", f"/var/lib/{word}/{name}/data.json"
    yield "digest", f"sha256:{hexadecimal(64)}"
    yield "digest", f"{word}@sha256:{hexadecimal(64)}"
    yield "digest", f"{hexadecimal(64)}  {word}-1.2.3.tar.gz"
    yield "digest", f"MD5 ({word}.zip) = {hexadecimal(32)}"
    yield "digest", f'ETag: "{hexadecimal(32)}"'
    yield "digest", f"sha512-{digest(64)}"
    yield "digest", f"checksum of {word}: {hexadecimal(64)}"
    yield "lock", f'[[package]]\nname = "{word}"\nversion = "1.2.3"\nchecksum = "{hexadecimal(64)}"'
    yield "lock", f"{word}==1.2.3 \\\n    --hash=sha256:{hexadecimal(64)}"
    yield "lock", f'"node_modules/{word}": {{\n"version": "1.2.3",\n"integrity": "sha512-{digest(64)}"'
    yield "lock", f'  resolved "https://registry.yarnpkg.com/{word}/-/{word}-1.2.3.tgz#{commit}"'
    yield "lock", f"github.com/{word}/{word} v1.2.3 h1:{digest(32)}"
    yield "lock", f'{{file = "{word}-1.2.3.tar.gz", hash = "sha256:{hexadecimal(64)}"}},'
    yield "lock", f"  /{word}/1.2.3:\n    resolution: {{integrity: sha512-{digest(64)}}}"
    yield "lock", f'"{word}": {{ "rev": "{commit}", "narHash": "sha256-{digest(32)}" }}'
    yield "lock", f'"{word}": {{"hashes": ["sha256:{hexadecimal(64)}"], "version": "==1.0"}}'
    yield "lock", f'"{word}": {{:hex, :{word}, "1.2.3", "{hexadecimal(64)}", [:mix], []}}'
    yield "lock", f'"{word}": ["{word}@1.2.3", "", {{}}, "sha512-{digest(64)}"],'
    yield "lock", f'"identity" : "{word}", "state" : {{ "revision" : "{commit}", "version" : "1.2.3" }}'
    yield "lock", f'gem "{word}", git: "x", ref: "{commit}"'
    yield "lock", f"{word}: {{rev: {commit}, sha256: {hexadecimal(64)}}}"
    yield "digest", f"registry.example/{word}:latest@sha256:{hexadecimal(64)}"
    yield "digest", f"image {word} digest: sha256:{hexadecimal(64)} size: 1234"


def benign(rounds: int) -> list[tuple[str, str]]:
    """Return lines with identifiers, 38 a round: the kind of identifier, and the line."""
    pick = random.Random(7)
    return [line for _ in range(rounds) for line in _names(pick)]


def lock_files() -> list[str]:
    """Return the files that pin this project's dependencies."""
    return [(_ROOT / name).read_text() for name in ("Cargo.lock", "packaging/python.lock")]


def conversations(paths: Iterable[Path] | None = None) -> list[str]:
    """Return the texts of sessions, by default 10 generated and all recorded ones; recorded texts are never printed."""
    texts = []
    for path in all_sessions(10) if paths is None else paths:
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            content = (json.loads(line).get("message") or {}).get("content")
            blocks = [{"text": content}] if isinstance(content, str) else content or []
            texts += [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    return texts


# Nobody adds a form to a rule: they measure what the rules cover. `{V}` is in the place of the value.
TYPED_FORMS = (
    # English
    "the password is {V}",
    "My password for the staging server is {V}, don't commit it.",
    "ok so the db password is now {V}",
    "use {V} as the password",
    "please log in with the password {V} and check the page",
    'the admin password is "{V}"',
    "Password: {V}",
    "pw: {V}",
    "the passphrase of the backup key is: {V}",
    "I changed the password to {V}",
    "{V} is the password of the router",
    "here's the api key: {V}",
    "The API key for the weather service is {V}.",
    "api key = {V}",
    "this is my access token: {V}",
    "set the client secret to '{V}'",
    "wifi password -> {V}",
    "credentials are ann / {V}",
    "login: ann:{V}",
    "user ann, password {V}",
    "the secret key is `{V}`",
    "root pw is {V} on all three hosts",
    "Passphrase:\n{V}\n",
    "sudo password: {V}\nthen run the migration",
    # German
    "Das Passwort ist {V}",
    "mein Passwort für den Server lautet {V}.",
    "Passwort: {V}",
    "nimm {V} als Passwort",
    # French
    "le mot de passe est {V}",
    "mot de passe : {V}",
    "le mot de passe de la base est « {V} »",
    "utilise {V} comme mot de passe",
    # Spanish
    "la contraseña es {V}",
    "contraseña: {V}",
    "mi contraseña del servidor es {V}, no la guardes",
    "usa {V} como contraseña",
    # Portuguese
    "a senha é {V}",
    "senha: {V}",
    "a senha do banco é {V}.",
    "use {V} como senha",
)

_SYMBOLS = "!#$%&*+?@^~"
_NOUNS = ("harbour", "lantern", "winter", "saddle", "copper", "meadow", "thunder", "orchard", "velvet", "pepper")


def _any_of(pick: random.Random, alphabet: str, length: int) -> str:
    return "".join(pick.choices(alphabet, k=length))


TYPED_VALUES: dict[str, Callable[[random.Random], str]] = {
    "letters and digits": lambda pick: _any_of(pick, string.ascii_letters + string.digits, pick.randint(10, 24)),
    "with symbols": lambda pick: _any_of(pick, string.ascii_letters + string.digits + _SYMBOLS, pick.randint(10, 18)),
    "hexadecimal": lambda pick: _any_of(pick, "0123456789abcdef", 32),
    "words with a year": lambda pick: f"{pick.choice(_NOUNS).title()}{pick.choice(_NOUNS)}{pick.randint(1970, 2040)}!",
    "words and digits": lambda pick: pick.choice(_NOUNS) + pick.choice(_NOUNS) + str(pick.randint(10, 9999)),
}  # fmt: skip


def typed_coverage(
    spans: Callable[[str], Iterable[tuple[int, int, str]]], each: int = 5
) -> dict[tuple[str, str], float]:
    """Return for each form and kind of value which share of `each` values is covered whole."""
    shares = {}
    for form in TYPED_FORMS:
        for kind, made in TYPED_VALUES.items():
            pick = random.Random(f"{form}{kind}")
            start, values = form.index("{V}"), [made(pick) for _ in range(each)]
            rows = [Labelled(kind, form.replace("{V}", value), start, start + len(value)) for value in values]
            shares[form, kind] = coverage(rows, spans)[0] / each
    return shares
