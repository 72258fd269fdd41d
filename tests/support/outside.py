"""Which tests use the product as a user or a user's program does: by HTTP, client, command line, tools and files."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

INTEGRATION = Path(__file__).parents[1] / "integration"
DOORS = ("reverie.client", "reverie.wire", "reverie.errors", "reverie.tools", "reveried.cli")
"""What of the product they may import; HTTP and files need no import."""


@functools.cache
def is_outside(file: Path) -> bool:
    """Return True if a file of tests, and what it imports of `support`, imports no more of the product than DOORS."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                imported = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                imported = [f"{module}.{alias.name}" for alias in names]
            case _:
                continue
        for name in imported:
            top, _, rest = name.partition(".")
            if top in ("reverie", "reveried") and not f"{name}.".startswith(tuple(f"{door}." for door in DOORS)):
                return False
            if top == "support" and not is_outside(Path(__file__).with_name(f"{rest.partition('.')[0]}.py")):
                return False
    return True
