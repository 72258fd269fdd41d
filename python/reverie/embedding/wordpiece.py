"""WordPiece: the parts of words that BERT models and most tables of static embeddings have vectors for."""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["WordPiece"]

WORD_CHARS: Final = 100  # a longer word is unknown, as in the models' training
_CJK: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))


class WordPiece:
    """The vocabulary of a model. `unknown` is the token of what it has no parts for."""

    def __init__(self, vocabulary: dict[str, int], *, lowercase: bool) -> None:
        """Use a vocabulary of tokens and their numbers; `lowercase` models know no capitals and no accents."""
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
            described = json.loads((folder / "tokenizer.json").read_bytes())
            model, normalizer = described["model"], described.get("normalizer") or {}
            if model.get("type") != "WordPiece":
                raise EmbedderFailed(
                    f"the model in {folder} splits words by {model.get('type')}, and only WordPiece is known",
                    hint="choose a model of the BERT family, or a static table made from one",
                )
            return cls(dict(model["vocab"]), lowercase=bool(normalizer.get("lowercase", True)))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise EmbedderFailed(f"{folder / 'tokenizer.json'} cannot be read", hint="copy the model again") from error
        try:
            lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            hint = "copy the whole folder of the model"
            raise EmbedderFailed(f"{folder} has neither tokenizer.json nor vocab.txt", hint=hint) from error
        return cls({token: number for number, token in enumerate(lines)}, lowercase=True)

    def numbers(self, text: str, limit: int) -> list[int]:
        """Return the numbers of the first `limit` tokens of a text, without those that mark its beginning and end."""
        found: list[int] = []
        for word in _words(text, lowercase=self._lowercase):
            found += self._pieces(word)
            if len(found) >= limit:
                break
        return found[:limit]

    def _split(self, word: str) -> tuple[int, ...]:
        """Return the longest parts of a word from its beginning; the unknown token where there are none."""
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
