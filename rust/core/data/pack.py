"""Pack a published tiktoken vocabulary into the merge list that the core embeds: `pack.py o200k_base.tiktoken …`.

The list has the 256 single-byte tokens in the order of their ranks, one byte each, and then, for every further rank,
the ranks of the two tokens that merge into it: three bytes each, little-endian. A test restores the published file
from it byte for byte.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

PUBLISHED = {
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
}


def halves(token: bytes, ranks: dict[bytes, int]) -> tuple[int, int]:
    """Return the ranks of the two tokens whose merge is `token`: those left when all merges of lower rank are done."""
    own = ranks[token]
    parts = [token[at : at + 1] for at in range(len(token))]
    while len(parts) > 2:
        pairs = [ranks.get(parts[at] + parts[at + 1], own) for at in range(len(parts) - 1)]
        best = min(pairs)
        if best >= own:
            message = f"token {own} is not reached by merging: {token!r}"
            raise ValueError(message)
        at = pairs.index(best)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    left, right = parts
    return ranks[left], ranks[right]


def pack(published: bytes) -> bytes:
    """Return the merge list of a vocabulary file."""
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in published.splitlines())}
    tokens = sorted(ranks, key=ranks.__getitem__)
    if [ranks[token] for token in tokens] != list(range(len(tokens))) or any(len(token) != 1 for token in tokens[:256]):
        message = "ranks are not dense, or do not begin with the single bytes"
        raise ValueError(message)
    table = bytearray(b"".join(tokens[:256]))
    for token in tokens[256:]:
        for half in halves(token, ranks):
            table += half.to_bytes(3, "little")
    return bytes(table)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        data = Path(name).read_bytes()
        encoding = PUBLISHED[hashlib.sha256(data).hexdigest()]
        (Path(__file__).parent / f"{encoding}.merges").write_bytes(pack(data))
