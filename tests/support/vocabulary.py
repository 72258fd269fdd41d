"""Gives tiktoken the built-in vocabularies as its cache, so that it can be the oracle without a network."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    import tiktoken

# File names in tiktoken's cache: SHA-1 of the address that the vocabulary is published at.
_CACHE_NAMES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}

# What tiktoken itself expects of the files' bytes.
SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


def prepare(folder: Path) -> dict[str, str]:
    """Writes both vocabularies into `folder/tiktoken`; gives the environment that makes tiktoken read them."""
    cache = folder / "tiktoken"
    cache.mkdir(parents=True, exist_ok=True)
    for encoding, name in _CACHE_NAMES.items():
        if not (cache / name).exists():
            (cache / name).write_bytes(_native.vocabulary(encoding))
    return {"TIKTOKEN_CACHE_DIR": str(cache)}


def oracle(encoding: str = "o200k_base") -> tiktoken.Encoding:
    """tiktoken's own encoding, built from the built-in vocabulary after its SHA-256 was found to be the published one.

    It is given the published pattern, so nothing is read from or written to a cache; use `prepare` for a process
    that calls `tiktoken.get_encoding` itself.
    """
    import base64
    import inspect

    import tiktoken
    from tiktoken_ext import openai_public

    data = _native.vocabulary(encoding)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256[encoding]:
        message = f"the built-in {encoding} is not the published vocabulary: {found}"
        raise AssertionError(message)
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in data.splitlines())}
    assert len(ranks) == data.count(b"\n")

    # tiktoken's constructor makes the pattern and the special tokens; only its loader is answered from here.
    build = inspect.unwrap(getattr(openai_public, encoding))
    scope = {**build.__globals__, "load_tiktoken_bpe": lambda *_args, **_kwargs: ranks}
    import types

    arguments = types.FunctionType(build.__code__, scope)()
    return tiktoken.Encoding(**arguments)
