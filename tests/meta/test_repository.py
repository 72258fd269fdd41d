"""Rules of the repository: one version number, module docstrings and forbidden words."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

from support.outside import INTEGRATION, is_outside

ROOT = Path(__file__).resolve().parents[2]


def tracked(*suffixes: str) -> list[Path]:
    """Return every tracked file that ends with one of `suffixes`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines() if name.endswith(suffixes) and (ROOT / name).is_file()]


def modules() -> list[Path]:
    """Return every Python module of the two distributions."""
    return [path for path in tracked(".py") if path.relative_to(ROOT).parts[0] in {"python", "daemon"}]


def test_there_is_one_version() -> None:
    """The version in Cargo.toml is also the daemon's, that of its pin of the library, and in the changelog."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    daemon = tomllib.loads((ROOT / "daemon" / "pyproject.toml").read_text())["project"]

    assert daemon["version"] == version
    assert f"reverie=={version}" in daemon["dependencies"]
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_module_has_a_docstring() -> None:
    """Every Python file, tests and benchmarks included, has a module docstring."""
    unlike_most = [path for path in tracked(".py") if not re.match(r'"""\w[^"\\]*"""\n', path.read_text())]
    silent = [str(path.relative_to(ROOT)) for path in unlike_most if not ast.get_docstring(ast.parse(path.read_text()))]

    assert silent == []


def test_only_the_wrappers_import_the_native_module() -> None:
    """The extension module is private: only its wrappers import it."""
    names = (
        "redact tokenizer canonical_json markdown_blocks merge "
        "compression text_patch text_index ids "
        "files paths hook_program text_caches"
    )
    faces = {f"{name}.py" for name in names.split()}
    importers = {
        str(path.relative_to(ROOT / "python" / "reverie"))
        for path in modules()
        if path.is_relative_to(ROOT / "python")
        and re.search(r"^\s*(from|import) reverie(\._native|.*import.*_native)", path.read_text(), re.MULTILINE)
    }
    door = re.compile(r"reverie\._native|import _native")
    daemon = [path for path in modules() if path.is_relative_to(ROOT / "daemon") and door.search(path.read_text())]

    assert importers <= faces
    assert daemon == []


def test_only_one_module_decodes_types_with_msgspec() -> None:
    """Only `decode` decodes to types with msgspec: elsewhere two threads at once may crash."""
    unsafe = re.compile(r"msgspec\.(?:convert\(|(?:json|msgpack)\.(?:Decoder\((?!\))|decode\([^\n]*type=))")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in modules()
        if path.relative_to(ROOT).as_posix() != "python/reverie/decode.py"
        for match in unsafe.finditer(path.read_text())
    ]

    assert found == []


def test_no_unfinished_work_or_silenced_checks() -> None:
    """No marker of unfinished work, no swallowed exception, no suppression of a checker without a reason."""
    words = ("TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImplemented" + "Error", "unimple" + "mented!", "to" + "do!")
    silence = "type: " + "ignore"
    mark = re.compile(rf"\b({'|'.join(words)})|{silence}($|[^\[])|except[^\n]*:\s*pass\b")
    marks = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(".py", ".rs", ".pyi", ".toml")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if mark.search(line)
    ]

    assert marks == []


def test_no_machine_path_is_named() -> None:
    """No file contains a path of a development machine or its registries."""
    leak = re.compile("|".join(("/wo" + "rk/", "/ro" + "ot/[.]", "[.]libr" + "ary\\b", "artifact" + "ory")))
    leaks = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(
            ".py", ".rs", ".pyi", ".toml", ".md", ".lock", ".in", "Makefile", "run", ".service", ".socket"
        )
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if leak.search(line)
    ]

    assert leaks == []


def test_readme_names_the_two_commands() -> None:
    """The README names `make run` and `make test`, and CI runs `make test`."""
    readme = (ROOT / "README.md").read_text()

    assert "make run" in readme
    assert "make test" in readme
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_the_contract_has_its_tests(tmp_path: Path) -> None:
    """Many integration tests know the product from outside alone; one that imports more is none of the contract."""
    inner = tmp_path / "test_inner.py"
    inner.write_text("def test() -> None:\n    from reverie.store import Store\n")
    files = [path for path in INTEGRATION.rglob("test_*.py") if is_outside(path)]

    assert not is_outside(inner)
    assert len(files) >= 60
