"""`python -m reverie.evals context|knowledge FILE --max-tokens N` prints the text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reverie.evals.texts import context_text, knowledge_text


def main(arguments: list[str] | None = None) -> int:
    """Print the text of one transcript; 0 when done."""
    parser = argparse.ArgumentParser(prog="python -m reverie.evals")
    parser.add_argument("what", choices=("context", "knowledge"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--max-tokens", type=int, default=16_000)
    given = parser.parse_args(arguments)
    make = context_text if given.what == "context" else knowledge_text
    sys.stdout.write(make(given.file, given.max_tokens))
    return 0


if __name__ == "__main__":
    sys.exit(main())
