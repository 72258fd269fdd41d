"""Tests of the built wheels: both have every module, and all import from the unpacked wheels alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
names = []
for package in ("reverie", "reveried"):
    top = importlib.import_module(package)
    assert top.__file__.startswith(sys.argv[1]), top.__file__
    for found in pkgutil.walk_packages(top.__path__, package + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
            names.append(found.name)
print(len(names))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return both wheels, built as a packager builds them."""
    out = tmp_path_factory.mktemp("wheels")
    environment = {**os.environ, "VIRTUAL_ENV": str(BIN.parent), "PATH": f"{BIN}:{os.environ['PATH']}"}
    for command in (
        [BIN / "maturin", "build", "--release", "--locked", "--quiet", "--out", out],
        [BIN / "python", "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT / "daemon"],
    ):
        subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, check=True, capture_output=True)
    return sorted(out.glob("*.whl"))


@pytest.mark.timeout(600)
def test_wheel_contents_import(wheels: list[Path], tmp_path: Path) -> None:
    """Every module of both distributions imports from the unpacked wheels, and from nowhere else."""
    assert [wheel.name.split("-")[0] for wheel in wheels] == ["reverie", "reveried"]
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path)

    process = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT_ALL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")},
    )

    assert process.returncode == 0, process.stderr
    sources = [
        path
        for folder in ("python/reverie", "daemon/reveried")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "__main__.py"
    ]
    assert int(process.stdout) >= len(sources) - 2


def test_the_library_wheel_is_abi3_and_typed(wheels: list[Path]) -> None:
    """One wheel serves Python 3.11 and later, and contains its types, its stub and its notices."""
    library = wheels[0]
    with zipfile.ZipFile(library) as archive:
        names = archive.namelist()

    assert "cp311-abi3" in library.name
    assert {"reverie/py.typed", "reverie/_native.pyi", "reverie/store/FORMAT.md"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("NOTICE") for name in names)
    assert not any(name.startswith(("daemon", "tests", "reveried")) for name in names)
