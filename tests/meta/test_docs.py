"""Tests of the documentation: its settings, commands, links and examples exist and are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from reverie.places import Layout
from reverie.redact import KINDS, Redactor, indicators
from reverie.sync.scan import Reason, refusal
from reveried.cli.docs import PAGES as GENERATED
from reveried.cli.docs import SHAPES
from reveried.cli.docs import page as generated
from reveried.config import KEYS, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")),
]
BODIES = ("4f9c2b7a1e" * 20, "A1B2C3D4E5F6G7H8J9" * 10, "4f9c2b7a-1e4f-4c2b-8a1e-4f9c2b7a1e4f")


@pytest.mark.parametrize("name", GENERATED)
def test_generated_pages(name: str) -> None:
    """The generated part of each page is what `python -m reveried.cli.docs docs` writes."""
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert text == generated(name, text)


def test_every_setting_is_documented() -> None:
    """docs/configuration.md has every setting."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    assert all(f"`{key.name}`" in text for key in KEYS)


def test_every_kind_of_secret_is_documented() -> None:
    """docs/redaction.md has every kind."""
    text = (ROOT / "docs" / "redaction.md").read_text()
    documented = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", text, re.MULTILINE))

    assert documented.keys() == KINDS
    assert {kind for kind in KINDS if kind not in {mark.kind for mark in indicators()}} <= SHAPES.keys() <= KINDS


def test_documented_token_prefixes_are_redacted() -> None:
    """A documented token prefix with enough characters after it is redacted as that kind or a longer prefix's."""
    redactor = Redactor()
    missed = [
        mark
        for mark in indicators()
        if mark.how == "begins" and not any(redactor.spans(f"x = {mark.text}{body}") for body in BODIES)
    ]

    assert missed == []


def test_the_example_configuration_is_valid(tmp_path: Path) -> None:
    """The TOML example on the page of settings is a valid configuration."""
    example = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "configuration.md").read_text(), re.DOTALL)
    assert example is not None
    layout = Layout.from_env({"REVERIE_HOME": str(tmp_path)}, tmp_path, 1000)

    config = parse(example[1].encode(), {}, layout=layout, home=tmp_path)

    assert config.context.window == tomllib.loads(example[1])["context"]["window"]


def test_every_reason_for_not_reading_a_file_is_documented() -> None:
    """docs/folder.md has the advice of `reverie sync status` for each reason, and names only existing settings."""
    text = (ROOT / "docs" / "folder.md").read_text()

    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert rows == {reason: refusal("x", reason).hint for reason in get_args(Reason)}
    assert set(re.findall(r"`(sync\.\w+)`", text)) <= {key.name for key in KEYS}


@pytest.mark.parametrize("page", PAGES)
def test_named_commands_exist(page: str) -> None:
    """Every `reverie …` in a page is a command, and every `make …` a target of the Makefile."""
    text = (ROOT / page).read_text()
    commands = (ROOT / "docs" / "cli.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    quoted = "\n".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text))

    for command in re.findall(r"^(?:\$ )?reverie ([a-z]+)", quoted, re.MULTILINE):
        assert f"reverie {command}" in commands, command
    for target in re.findall(r"^(?:\$ )?make ([a-z]+)", quoted, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    """Every path of the repository that a page quotes names a file or folder, and every test one that is defined."""
    text = (ROOT / page).read_text()

    for path in re.findall(r"`((?:python|daemon|rust|tests|docs|packaging)/[\w./*-]+?)(?:::\w+)?`", text):
        assert list(ROOT.glob(path.rstrip("/"))), path
    for path, name in re.findall(r"`(tests/[\w./-]+\.py)::(\w+)`", text):
        assert f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"


def test_the_glossary_defines_each_term_once() -> None:
    """No term of the glossary has two definitions."""
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)

    assert len(terms) > 50
    assert len(terms) == len(set(terms))


def test_links_name_existing_files() -> None:
    """A relative link of a page names an existing file."""
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*(ROOT / page for page in PAGES), ROOT / "packaging" / "README.md"]
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []
