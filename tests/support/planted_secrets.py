"""Secrets of published formats and labelled values, planted among lines of ordinary code, configuration and logs."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator

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


def texts(count: int) -> Iterator[tuple[str, str]]:
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
