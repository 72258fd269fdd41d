"""Tests that token counts equal tiktoken's, for every character and all kinds of texts."""

from __future__ import annotations

import hashlib
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest

from reverie import _native, tokenizer
from reverie.count_and_truncate_tokens import count as count_by_former_name
from reverie.errors import ValidationError
from support.soak import count as campaign
from support.vocabulary import oracle

# What tiktoken itself expects of the files' bytes.
SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


ENCODINGS = get_args(tokenizer.Encoding)
VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "tokens.jsonl"

# What the split rules of the encodings turn on, and what usually breaks them.
PIECES = (
    *(
        "a",
        "B",
        "é",
        "É",
        "ß",
        "\u02bc",
        "'s",
        "'LL",
        "'\u017f",
        "中",
        "の",
        "한",
        "1",
        "\u0663",
        "\u2167",
        "½",
        "ǅ",
        "ʰ",
    ),
    *(
        "/",
        "//",
        "!",
        "...",
        "<|endoftext|>",
        "👍🏽",
        "$",
        "_",
        "-",
        "(",
        ";",
        "Don't",
        "HTTPServer",
        "\u10d0",
        "\u1c90",
    ),
    *("\ufb01", "\u24d0", " ", "  ", "\n", "\r\n", "\r", "\t", "\u3000", "\u2028", "\x1c", "\x85", "\u0301", "\u0e31"),
    "\u200d",
)


def check(texts: list[str], encoding: tokenizer.Encoding) -> None:
    """Assert that every text has tiktoken's number of tokens."""
    reference = oracle(encoding)
    found = tokenizer.count_many(texts, encoding)

    assert [
        (text, ours) for text, ours in zip(texts, found, strict=True) if ours != len(reference.encode_ordinary(text))
    ] == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_vocabularies_equal_the_published_ones(encoding: tokenizer.Encoding) -> None:
    """The built-in vocabulary, in tiktoken's format, has the published SHA-256."""
    assert hashlib.sha256(_native.vocabulary(encoding)).hexdigest() == SHA256[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_vectors_equal_tiktoken(encoding: tokenizer.Encoding) -> None:
    """The counts of the golden vectors are tiktoken's."""
    vectors = [json.loads(line) for line in VECTORS.read_text().splitlines()]

    check([vector["text"] for vector in vectors], encoding)
    assert [tokenizer.count(vector["text"], encoding) for vector in vectors] == [vector[encoding] for vector in vectors]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_characters(encoding: tokenizer.Encoding) -> None:
    """Characters of Unicode, alone and inside words, count as in tiktoken: a sample, or under soak every one."""
    step = campaign(29, 1)
    characters = [chr(point) for point in range(0, 0x110000, step) if not 0xD800 <= point <= 0xDFFF]

    check(characters, encoding)
    check([f"a{character}B {character}\n" for character in characters], encoding)
    check([f"so{character}me SO{character}ME '{character}s 1{character}2" for character in characters], encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_random_texts(encoding: tokenizer.Encoding) -> None:
    """Random texts of the pieces that the pre-tokenizer distinguishes count as in tiktoken."""
    pick = random.Random(7)
    rounds = campaign(8_000, 200_000)

    check(["".join(pick.choices(PIECES, k=pick.choice((3, 14, 60)))) for _ in range(rounds)], encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_pieces(encoding: tokenizer.Encoding) -> None:
    """Words and runs of up to 2,000 characters, longer than one merge window, count as in tiktoken."""
    pick = random.Random(19)
    alphabets = (
        "a",
        "ab",
        "abcdefghijklmnop",
        "=",
        " ",
        "-=",
        "中",
        "中文字",
        "привет",
        "ñandú",
        "नमस्ते",
        "\u0e01\u0e32",
    )
    texts = [
        "".join(pick.choices(alphabet, k=length + pick.randint(0, 9)))
        for alphabet in alphabets
        for length in (60, 64, 120, 510, 600, 2_000)
    ]

    check([*texts, *(f"x {text}\ny" for text in texts)], encoding)


def test_batches_equal_single_counts() -> None:
    """Batches on several processors equal single counts, in order, also with concurrent callers."""
    pick = random.Random(23)
    texts = ["".join(pick.choices(PIECES, k=400)) for _ in range(campaign(1_500, 6_000))]
    alone = [tokenizer.count(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(tokenizer.count_many, [texts, texts[::-1], texts, texts[:10]]))

    assert found == [alone, alone[::-1], alone, alone[:10]]


def test_unpaired_surrogates_count_as_in_tiktoken() -> None:
    """An unpaired surrogate counts as U+FFFD, a pair of halves as its character."""
    for text in ("a\ud800b", "\udc00", "\ud83d\ude00", "\ud800\ud800"):
        assert tokenizer.count(text) == len(oracle().encode_ordinary(text))


def test_an_unknown_encoding_is_rejected() -> None:
    """The message names the encoding, and the hint the built-in ones."""
    with pytest.raises(ValidationError, match="p50k") as refused:
        _native.count("x", "p50k")

    assert refused.value.hint is not None
    assert "o200k_base" in refused.value.hint


def test_fits_and_truncate_agree_with_count() -> None:
    """A truncated text is a prefix that fits, and `fits` agrees with `count`."""
    pick = random.Random(13)
    for _ in range(campaign(500, 20_000)):
        text = "".join(pick.choices(PIECES, k=pick.randint(0, 12)))
        limit = pick.randint(-1, 12)
        cut = tokenizer.truncate(text, limit)

        assert tokenizer.fits(text, limit) == (tokenizer.count(text) <= limit)
        assert text.startswith(cut)
        assert tokenizer.count(cut) <= max(limit, 0)
        assert (cut == text) == (tokenizer.count(text) <= max(limit, 0))


def test_truncate_keeps_as_much_as_it_can() -> None:
    """Ordinary text is cut exactly at its limit, and a text that fits is the same object."""
    text = "one two three four five six seven eight"

    assert [tokenizer.truncate(text, limit) for limit in (3, 0)] == ["one two three", ""]
    assert tokenizer.truncate(text, 8) is text
    assert tokenizer.truncate("naïve 👍🏽👍🏽👍🏽", 4).encode()  # never half a character


@pytest.mark.timeout(120)
@pytest.mark.parametrize("text", ["a", " ", "\n", "aB", "中", "é", "!", "a ", "' ", "\u0301", "1"])
def test_long_pieces_take_linear_time(text: str) -> None:
    """300 KB without a split point are counted, cut and tested in linear time."""
    hostile = text * (300_000 // len(text.encode()))
    total = tokenizer.count(hostile)

    assert 0 < total <= 300_000
    assert tokenizer.fits(hostile, total)
    assert not tokenizer.fits(hostile, total - 1)
    assert tokenizer.count(tokenizer.truncate(hostile, total // 2)) <= total // 2


def test_former_name() -> None:
    assert count_by_former_name("a b c") == tokenizer.count("a b c") == 3
