"""`reverie eval`: what an agent would get after a transcript, as text; needs no daemon."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import NotFound, ReverieError, ValidationError
from reveried.cli.output import as_json, complain

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["measure", "quick"]

DEFAULT_TOKENS = 16_000
_USAGE = "reverie eval context|knowledge FILE --max-tokens N"


def quick(arguments: Sequence[str]) -> int:
    """`context|knowledge FILE [--max-tokens N] [--json]`, read by hand; the exit code."""
    try:
        what, path, tokens, json = _read(arguments)
        measure(what, path, tokens, json=json)
    except ReverieError as error:
        complain("reverie eval", error, json="--json" in arguments)
        return error.exit_status
    return 0


def measure(what: str, path: Path, max_tokens: int, *, json: bool) -> None:
    """Print the text of one transcript, at most `max_tokens` long."""
    from reverie import evals, tokens  # noqa: PLC0415 - the measures load the native core

    if not path.is_file():
        raise NotFound(f"{path} is not a file", hint="give a session file (*.jsonl or *.jsonl.gz)")
    make = evals.context_text if what == "context" else evals.knowledge_text
    text = make(path, max_tokens)
    if text and not text.endswith("\n"):
        if max_tokens > 1 and tokens.count(text + "\n") > max_tokens:
            text = make(path, max_tokens - 1)  # so that there is room for the newline
        text = text if text.endswith("\n") else text + "\n"
    if json:
        as_json({"what": what, "file": str(path), "tokens": tokens.count(text), "maxTokens": max_tokens, "text": text})
        return
    sys.stdout.write(text)


def _read(arguments: Sequence[str]) -> tuple[str, Path, int, bool]:
    what, *rest = arguments
    tokens, json, places = DEFAULT_TOKENS, False, []
    words = iter(rest)
    for word in words:
        name, equals, value = word.partition("=")
        if name == "--max-tokens":
            tokens = _number(value if equals else next(words, ""))
        elif word == "--json":
            json = True
        elif word.startswith("--"):
            raise ValidationError(f"no such option: {word}", hint=_USAGE)
        else:
            places.append(word)
    if len(places) != 1:
        raise ValidationError(f"one FILE is needed, {len(places)} were given", hint=_USAGE)
    return what, Path(places[0]), tokens, json


def _number(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValidationError(f"--max-tokens must be a whole number above 0, not {text!r}", hint=_USAGE)
    return int(text)
