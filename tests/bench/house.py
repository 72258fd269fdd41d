"""The measures of the house, a column for each checkout: `house.py [-v] TREE [TREE...]`.

A line of code is one that is not blank and no part of a comment or docstring. An importer is a module of the product
that imports another at its top, in a function or for types alone; a circle is modules that import each other in a ring,
so that none can be read first. Classes share fields where the larger of two has 70 % of its own typed fields, three at
least, in common with the other. `-v` lists one-importer modules, circles and pairs of the last tree.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

PRODUCT = ("python", "daemon")
LEAST, SHARED = 3, 0.7
IMPORTS = (ast.Import, ast.ImportFrom)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Sources:
    """The Python files below some folders of a checkout: their texts, and their imports, classes and functions."""

    def __init__(self, tree: Path, folders: tuple[str, ...]) -> None:
        files = sorted(path for folder in folders for path in (tree / folder).rglob("*.py"))
        self.texts = {str(path.relative_to(tree)): path.read_text("utf-8") for path in files}
        self.nodes = {
            name: [node for node in ast.walk(ast.parse(text)) if isinstance(node, (*IMPORTS, *DOCUMENTED))]
            for name, text in self.texts.items()
        }

    def all_nodes(self) -> Iterator[tuple[str, ast.AST]]:
        """Yield every node with the name of its file."""
        return ((name, node) for name, nodes in self.nodes.items() for node in nodes)

    def lines(self) -> int:
        """Return the number of lines."""
        return sum(text.count("\n") for text in self.texts.values())

    def code_lines(self) -> int:
        """Return the number of lines that are not blank, and no part of a comment or docstring."""
        count = 0
        for name, text in self.texts.items():
            documented = (node for node in self.nodes[name] if isinstance(node, DOCUMENTED))
            docs = (node.body[0] for node in documented if ast.get_docstring(node, clean=False) is not None)
            said = {line for doc in docs for line in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
            for number, line in enumerate(text.splitlines(), 1):
                count += number not in said and bool(line.strip()) and not line.lstrip().startswith("#")
        return count


def module_of(name: str) -> str:
    """Return the dotted name of a file below `python` or `daemon`."""
    return ".".join(Path(name).with_suffix("").parts[1:]).removesuffix(".__init__")


def imports(product: Sources) -> dict[str, set[str]]:
    """Return the modules of the product that each of them imports, for types alone too."""
    graph: dict[str, set[str]] = {module_of(name): set() for name in product.texts}
    for name, node in product.all_nodes():
        importer = module_of(name)
        match node:
            case ast.Import(names=names):
                found = {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                below = [f"{module}.{alias.name}" for alias in names]
                found = {inner if inner in graph else module for inner in below}
            case _:
                continue
        graph[importer] |= found & graph.keys() - {importer}
    return graph


def one_importer(graph: dict[str, set[str]], product: Sources) -> list[str]:
    """Return the modules that exactly one other imports, without those of packages themselves."""
    counts = {name: sum(name in imported for imported in graph.values()) for name in graph}
    packages = {module_of(name) for name in product.texts if name.endswith("__init__.py")}
    return [name for name, count in counts.items() if count == 1 and name not in packages]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules each of which imports, by way of others, all of its set."""
    reached = {name: reachable(graph, name) for name in graph}
    found = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in graph}
    return [list(circle) for circle in sorted(found) if circle]


def reachable(graph: dict[str, set[str]], name: str) -> set[str]:
    """Return what a module imports by way of others; itself, if it is in a circle."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def pairs(product: Sources) -> list[str]:
    """Return the pairs of classes that share their fields."""
    classes: dict[str, set[str]] = {}
    for name, node in product.all_nodes():
        if isinstance(node, ast.ClassDef):
            typed = [
                item
                for item in node.body
                if isinstance(item, ast.AnnAssign) and "ClassVar" not in ast.dump(item.annotation)
            ]
            fields = {item.target.id for item in typed if isinstance(item.target, ast.Name)}
            if len(fields) >= LEAST:
                classes[f"{name}:{node.name}"] = fields
    return [
        f"{one}  {other}"
        for one, other in combinations(classes, 2)
        if len(classes[one] & classes[other]) >= SHARED * max(len(classes[one]), len(classes[other]))
    ]


def measures(tree: Path, *, listed: bool) -> dict[str, object]:
    """Return the measures of a checkout by their names."""
    product, tests = Sources(tree, PRODUCT), Sources(tree, ("tests",))
    rust = [path.read_text("utf-8") for path in (tree / "rust").rglob("*.rs") if "target" not in path.parts]
    graph = imports(product)
    single, rings, alike = one_importer(graph, product), circles(graph), pairs(product)
    commands = len(re.findall(r"^    reverie ", (tree / "docs/cli.md").read_text("utf-8"), re.MULTILINE))
    cli = Sources(tree, ("daemon/reveried/cli",)).lines()
    if listed:
        print(*single, *map(" <> ".join, rings), *alike, "", sep="\n")
    return {
        "product: Python files": len(product.texts),
        "product: Python lines": product.lines(),
        "product: lines of code": product.code_lines(),
        "product: Rust lines": sum(text.count("\n") for text in rust),
        "modules with one importer": len(single),
        "circles of imports (modules in them)": f"{len(rings)} ({sum(map(len, rings))})",
        "pairs of classes that share fields": len(alike),
        "commands": commands,
        "CLI lines a command": round(cli / commands),
        "tests: Python files": len(tests.texts),
        "tests: Python lines": tests.lines(),
        "tests: lines of code": tests.code_lines(),
        "tests: functions": sum(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
            for _, node in tests.all_nodes()
        ),
    }


def main() -> None:
    """Print the table."""
    trees = [Path(argument) for argument in sys.argv[1:] if argument != "-v"] or [Path(__file__).parents[2]]
    columns = [measures(tree, listed="-v" in sys.argv and tree is trees[-1]) for tree in trees]
    print(f"{'':38}", *(f"{tree.resolve().name:>14}" for tree in trees))
    for name in columns[0]:
        print(f"{name:38}", *(f"{column[name]!s:>14}" for column in columns))


if __name__ == "__main__":
    main()
