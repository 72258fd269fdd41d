"""WordPiece: the parts of words that BERT models and most tables of static embeddings have vectors for."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from reverie.embedding.model_files import json_object, read_file
from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIMENSIONS_MAX: Final = 8192  # several times what any such model has
WORD_CHARS: Final = 100  # a longer word is unknown, as in the models' training
_CJK: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))


class WordPiece:
    """A WordPiece vocabulary; `unknown` is the number of the token for words that it cannot split."""

    def __init__(self, vocabulary: dict[str, int], *, lowercase: bool, source: bytes = b"") -> None:
        """Take tokens with their numbers; with `lowercase` texts are folded to small letters without accents.

        `source` is the file that it was read from. Raises ValueError for numbers that no row of a table can have.
        """
        if any(type(number) is not int or number < 0 for number in vocabulary.values()):
            raise ValueError("its vocabulary has numbers that are no rows")
        self.source = source
        self.vocabulary = vocabulary
        self.unknown = vocabulary.get("[UNK]", 0)
        self._lowercase = lowercase
        self._pieces = lru_cache(maxsize=20_000)(self._split)

    @classmethod
    def of_folder(cls, folder: Path) -> WordPiece:
        """Return the vocabulary in a model's folder: `tokenizer.json`, or `vocab.txt` with a token a line.

        Raises:
            EmbedderFailed: there is neither, or the model splits words in another way.
        """
        try:
            source = read_file(folder / "tokenizer.json")
            described = json_object(source, "tokenizer.json")
            model, normalizer = described["model"], described.get("normalizer") or {}
            if model.get("type") != "WordPiece":
                raise EmbedderFailed(
                    f"the model in {folder} splits words by {model.get('type')}, and only WordPiece is known",
                    hint="choose a model of the BERT family, or a static table made from one",
                )
            return cls(dict(model["vocab"]), lowercase=bool(normalizer.get("lowercase", True)), source=source)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise EmbedderFailed(f"{folder / 'tokenizer.json'} cannot be read", hint="copy the model again") from error
        try:
            source = read_file(folder / "vocab.txt")
            lines = source.decode().splitlines()
        except (OSError, ValueError) as error:
            hint = "copy the whole folder of the model"
            raise EmbedderFailed(f"{folder} has neither tokenizer.json nor vocab.txt", hint=hint) from error
        return cls({token: number for number, token in enumerate(lines)}, lowercase=True, source=source)

    def numbers(self, text: str, limit: int) -> list[int]:
        """Return the numbers of the first `limit` tokens of a text, without tokens for its beginning and end."""
        pieces: list[int] = []
        for word in _words(text, lowercase=self._lowercase):
            pieces += self._pieces(word)
            if len(pieces) >= limit:
                break
        return pieces[:limit]

    def _split(self, word: str) -> tuple[int, ...]:
        """Return the numbers of a word's longest known parts from its beginning; the unknown token if none fit."""
        if len(word) > WORD_CHARS:
            return (self.unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                part = word[start:end] if start == 0 else "##" + word[start:end]
                if part in self.vocabulary:
                    pieces.append(self.vocabulary[part])
                    start = end
                    break
            else:
                return (self.unknown,)
        return tuple(pieces)


def check_table(table: Any, tokens: WordPiece) -> None:
    """Check that an array is a table with a row for every token. Raises ValueError."""
    if table.ndim != 2 or len(table) <= max(tokens.unknown, *tokens.vocabulary.values(), 0):
        raise ValueError("its table does not fit its vocabulary")
    if not 0 < table.shape[1] <= DIMENSIONS_MAX:
        raise ValueError(f"its vectors have {table.shape[1]} numbers, and 1 to {DIMENSIONS_MAX} are possible")


def _words(text: str, *, lowercase: bool) -> Iterator[str]:
    """Yield the words of a text, and every punctuation mark and Chinese character alone."""
    if lowercase:
        folded = unicodedata.normalize("NFD", text.lower())
        text = "".join(char for char in folded if unicodedata.category(char) != "Mn")
    word = ""
    for char in text:
        alone = _is_punctuation(char) or _is_cjk(char)
        if alone or char.isspace() or unicodedata.category(char) in {"Cc", "Cf"}:
            if word:
                yield word
            word = ""
            if alone:
                yield char
        else:
            word += char
    if word:
        yield word


def _is_punctuation(char: str) -> bool:
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or (
        unicodedata.category(char).startswith("P")
    )


def _is_cjk(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _CJK)
