"""No import cycle in the product, imports inside of functions and for types alone included."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def modules() -> dict[str, Path]:
    """Return the modules of both distributions by their dotted names."""
    found = {}
    for root in (ROOT / "python", ROOT / "daemon"):
        for path in root.rglob("*.py"):
            found[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imported(tree: ast.AST, names: set[str]) -> set[str]:
    """Return those of `names` that a module imports: at its top, in a function, or for types alone."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            below = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in names else str(node.module) for name in below.values()}
    return found & names


def test_no_import_cycle() -> None:
    """The modules can be sorted so that each comes after all that it imports."""
    paths = modules()
    graph = {name: imported(ast.parse(path.read_text()), set(paths)) - {name} for name, path in paths.items()}
    cycle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1]

    assert cycle == []
    assert graph["reverie.client.http"] >= {"reverie.wire.base"}
