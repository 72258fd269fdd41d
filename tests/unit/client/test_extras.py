"""Packages of other frameworks: imported when they are used, and named where they are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reverie.client.optional import load


def test_a_missing_package_is_named_with_its_extra() -> None:
    """If a framework's package is missing, the error has the `pip install` command of our extra."""
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'reverie\[langgraph\]'") as caught:
        load("no_such_framework.store", "langgraph")
    assert caught.value.name == "no_such_framework"


def test_a_package_that_lacks_another_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If an installed framework fails to import its own dependency, the error names that dependency."""
    (tmp_path / "half_installed.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        load("half_installed", "langgraph")


def test_no_adapter_imports_its_framework() -> None:
    """Importing all adapters and `reverie.client.session` imports no framework and not `anthropic`."""
    adapters = ("adk", "claude_agent_sdk", "langgraph", "openai_agents")
    frameworks = ("google", "claude_agent_sdk", "langgraph", "agents", "openai", "anthropic", "pydantic")
    modules = [*(f"reverie.adapters.{name}" for name in adapters), "reverie.client.session"]
    code = f"import sys, {', '.join(modules)}\nprint([name for name in {frameworks} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
