"""Count the pairs of classes that share 70 % of their typed fields, of the larger one's: `similar_structs.py [ROOT]`.

Classes with fewer than three fields of their own do not count. `-v` lists the pairs.
"""

from __future__ import annotations

import ast
import sys
from itertools import combinations
from pathlib import Path

LEAST, SHARED = 3, 0.7


def fields_of(node: ast.ClassDef) -> frozenset[str]:
    """Return the names of a class's own fields."""
    typed = (item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name))
    return frozenset(ast.unparse(item.target) for item in typed if "ClassVar" not in ast.unparse(item.annotation))


def main() -> None:
    """Print how many classes and pairs there are."""
    roots = [argument for argument in sys.argv[1:] if argument != "-v"]
    root = Path(roots[0]) if roots else Path(__file__).parents[2]
    classes = {
        f"{file.relative_to(root)}:{node.name}": fields
        for folder in ("python", "daemon")
        for file in sorted((root / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef) and len(fields := fields_of(node)) >= LEAST
    }
    pairs = [
        (one, other)
        for one, other in combinations(classes, 2)
        if len(classes[one] & classes[other]) >= SHARED * max(len(classes[one]), len(classes[other]))
    ]
    print(f"{len(classes)} classes, {len(pairs)} pairs")
    if "-v" in sys.argv:
        print(*(f"{one}  {other}" for one, other in pairs), sep="\n")


if __name__ == "__main__":
    main()
