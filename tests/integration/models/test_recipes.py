"""The recipes of docs/models.md: each is a valid setting, and gets an answer of the program that it names."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reverie.language_model.answers import read_answer
from reverie.language_model.extraction import Answer
from reverie.language_model.requests import ModelMessage, ModelRequest, new_request
from reveried.config import BY_NAME
from reveried.models.command import CommandTransport
from support.waiting import wait_until

DOCS = Path(__file__).resolve().parents[3] / "docs" / "models.md"
ROW = re.compile(r'^\| [^|]+ \| `(\["[^`]+"\])` \| `(text|json)` \|$', re.MULTILINE)
RECIPES = [(json.loads(command), stdin) for command, stdin in ROW.findall(DOCS.read_text())]
PROGRAMS = [command[0] for command, _ in RECIPES]
ANSWER = '{"memories": [], "episodes": [], "wrong": []}'


def request() -> ModelRequest:
    """Return a small request."""
    return new_request(
        purpose="extract",
        role="strong",
        system="Extract memories from the record. Where there are none, answer with empty lists.",
        messages=[ModelMessage("user", "The record:\n\n[1] person\nHello.\n")],
        schema={"type": "object"},
        max_output_tokens=500,
        prompt_version="extract-5",
    )


def asked(command: list[str], stdin: str, folder: Path, model: str) -> Answer:
    """Return the answer of the program behind a recipe."""
    transport = CommandTransport(
        command,
        stdin="text" if stdin == "text" else "json",
        models={"strong": model},
        folder=folder,
        redact=lambda text: text,
    )
    return read_answer(asyncio.run(transport.answer(request(), 120)), Answer)


def test_there_is_a_recipe_for_each_program() -> None:
    """The four programs that the documentation names have a recipe that the settings take."""
    assert PROGRAMS == ["claude", "codex", "ollama", "llm"]
    for command, _ in RECIPES:
        assert BY_NAME["distiller.command"].checked(command) == tuple(command)


@pytest.mark.parametrize(("command", "stdin"), RECIPES, ids=PROGRAMS)
def test_a_recipe_reaches_its_program(
    command: list[str], stdin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program that a recipe names gets the prompt on standard input and the model among its arguments."""
    stub = tmp_path / "bin" / command[0]
    stub.parent.mkdir()
    printed = json.dumps({"type": "result", "result": ANSWER}) if "--output-format" in command else ANSWER
    lines = ["#!/bin/sh", "grep -q '^The record' || exit 1", f'echo "$@" > {tmp_path}/arguments', f"echo '{printed}'"]
    stub.write_text("\n".join(lines) + "\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}:{os.environ['PATH']}")

    assert asked(command, stdin, tmp_path / "calls", "some-model").memories == []
    assert "some-model" in (tmp_path / "arguments").read_text()


def test_the_program_that_waits_for_an_answer_in_a_folder(tmp_path: Path) -> None:
    """The program of the page writes the prompt to a file, waits for the answer, and has it at once the next time."""
    script = re.search(r"```sh\n(#!/bin/sh\n# ask-folder.*?)```", DOCS.read_text(), re.DOTALL)
    assert script is not None
    program, folder = tmp_path / "ask-folder", tmp_path / "asked"
    program.write_text(script[1])
    program.chmod(0o755)

    def answer_by_hand() -> None:
        wait_until(lambda: any(folder.glob("*.prompt")))
        (prompt,) = folder.glob("*.prompt")
        assert prompt.stat().st_mode & 0o077 == 0
        (folder / "written").write_text(ANSWER)
        (folder / "written").rename(prompt.with_suffix(".answer"))

    with ThreadPoolExecutor() as pool:
        person = pool.submit(answer_by_hand)
        assert asked([str(program), str(folder)], "text", tmp_path / "calls", "").memories == []
        person.result()
    assert asked([str(program), str(folder)], "text", tmp_path / "calls", "").memories == []
    (prompt,) = folder.glob("*.prompt")
    assert "The record:" in prompt.read_text()


@pytest.mark.skipif(not os.environ.get("REVERIE_SOAK"), reason="asks real models, which may cost: make soak")
@pytest.mark.parametrize(("command", "stdin"), RECIPES, ids=PROGRAMS)
def test_a_recipe_with_the_real_program(command: list[str], stdin: str, tmp_path: Path) -> None:
    """The installed program answers; its model is named by REVERIE_TEST_MODEL_<PROGRAM>."""
    model = os.environ.get(f"REVERIE_TEST_MODEL_{command[0].upper()}", "")
    if shutil.which(command[0]) is None or not model:
        pytest.skip(f"{command[0]} is not installed, or no model is named for it")

    assert asked(command, stdin, tmp_path, model).memories == []
