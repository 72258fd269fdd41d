"""Provides tiktoken with the built-in vocabularies as its cache, to use it as an oracle without a network."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from unittest import mock

import tiktoken

from reverie import _native

# File names in tiktoken's cache: SHA-1 of the address that the vocabulary is published at.
_CACHE_NAMES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}


def prepare(folder: Path) -> dict[str, str]:
    """Write both vocabularies into `folder/tiktoken`; return the environment that makes tiktoken read them."""
    cache = folder / "tiktoken"
    cache.mkdir(parents=True, exist_ok=True)
    for encoding, name in _CACHE_NAMES.items():
        if not (cache / name).exists():
            (cache / name).write_bytes(_native.vocabulary(encoding))
    return {"TIKTOKEN_CACHE_DIR": str(cache)}


@functools.cache
def oracle(encoding: str = "o200k_base") -> tiktoken.Encoding:
    """Return tiktoken's encoding, read by tiktoken itself from the built-in vocabulary, once per process.

    tiktoken checks the bytes against the published SHA-256, and would try to download others.
    """
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", prepare(Path(folder))):
        return tiktoken.get_encoding(encoding)
