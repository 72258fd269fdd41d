"""`reverie eval context|knowledge` without the command tree: the text that an agent would get after a transcript."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import NotFound, ReverieError, ValidationError
from reveried.cli.output import print_error, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.language_model.requests import ModelAnswer, ModelRequest

DEFAULT_TOKENS = 16_000
_USAGE = "reverie eval context|knowledge FILE --max-tokens N"


def run_fast_path(arguments: Sequence[str]) -> int:
    """Run `context|knowledge FILE [--max-tokens N] [--json]` without typer; return the exit code."""
    try:
        what, path, max_tokens, json = _parse(arguments)
        print_text(what, path, max_tokens, json=json)
    except ReverieError as error:
        print_error(f"reverie eval {arguments[0]}", error, json="--json" in arguments)
        return error.exit_status
    return 0


def print_text(
    what: str,
    path: Path,
    max_tokens: int,
    *,
    json: bool,
    ask: Callable[[ModelRequest], ModelAnswer | None] | None = None,
) -> None:
    """Print the `context` or `knowledge` text of one transcript, at most `max_tokens` long with its last newline."""
    from reverie import evals, tokenizer  # noqa: PLC0415 - the evaluations load the native core
    from reverie.importers import find  # noqa: PLC0415 - as above

    if not path.is_file():
        raise NotFound(f"{path} is not a file", hint="give a session file (*.jsonl, also .gz or .zst)")
    find.read_identity(path)  # refuses what is no session, as the import does
    make_text = evals.context_text if what == "context" else partial(evals.knowledge_text, ask=ask)
    text = make_text(path, max_tokens)
    if text and not text.endswith("\n"):
        if max_tokens > 1 and tokenizer.count(text + "\n") > max_tokens:
            text = make_text(path, max_tokens - 1)  # leaves room for the newline
        text = text if text.endswith("\n") else text + "\n"
    if json:
        count = tokenizer.count(text)
        print_json({"what": what, "file": str(path), "tokens": count, "maxTokens": max_tokens, "text": text})
        return
    sys.stdout.write(text)


def _parse(arguments: Sequence[str]) -> tuple[str, Path, int, bool]:
    """Parse the arguments into what to print, the file, the token limit and whether as JSON."""
    what, *rest = arguments
    max_tokens, json, paths = DEFAULT_TOKENS, False, []
    words = iter(rest)
    for word in words:
        name, equals, value = word.partition("=")
        if name == "--max-tokens":
            max_tokens = _positive_number(value if equals else next(words, ""))
        elif word == "--json":
            json = True
        elif word.startswith("--"):
            raise ValidationError(f"no such option: {word}", hint=_USAGE)
        else:
            paths.append(word)
    if len(paths) != 1:
        raise ValidationError(f"one FILE is needed, {len(paths)} were given", hint=_USAGE)
    return what, Path(paths[0]), max_tokens, json


def _positive_number(text: str) -> int:
    """Return the value of --max-tokens."""
    if not text.isdigit() or int(text) < 1:
        raise ValidationError(f"--max-tokens must be a whole number above 0, not {text!r}", hint=_USAGE)
    return int(text)
