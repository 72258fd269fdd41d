"""Parts of the settings: the base of a section, bounds with descriptions, and the sections about models."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

DAY_MAX = 36_500
TOKENS_MAX = 10_000_000
TEXT_MAX = 4096  # characters: the longest path that Linux takes
LIST_MAX = 10_000

Texts = tuple[Annotated[str, Meta(min_length=1, max_length=TEXT_MAX)], ...]

DistillerKind = Literal["extractive", "command", "anthropic"]


def number(least: float, most: float, description: str) -> Meta:
    """Return the schema of a number setting: its bounds, which are both allowed values, and its description."""
    return Meta(ge=least, le=most, description=description)


def share(description: str) -> Meta:
    """Return the bounds of a fraction: above 0 and up to 1."""
    return Meta(gt=0, le=1, description=description)


def text(description: str) -> Meta:
    """Return the schema of a setting that is a path, list or choice: its description."""
    return Meta(description=description)


def model_name(description: str) -> Meta:
    """Return the description of a model's name, which may be empty."""
    return Meta(
        pattern=r"\A[A-Za-z0-9._:/@+-]{0,200}\Z",
        description=f"{description} Empty: the transport's own choice.",
        extra={"expected": "the name of a model, without spaces"},
    )


class Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A table of the settings file."""


class Reflection(Section, frozen=True):
    """`[reflection]`: bounds of a model that changes the memory files itself, by calls of tools."""

    max_steps: Annotated[int, number(1, 100, "Most turns of the model in one reflection.")] = 12
    max_tokens: Annotated[int, number(1000, 100 * TOKENS_MAX, "Most tokens, read and written, of one reflection.")] = (
        400_000
    )
    max_seconds: Annotated[float, number(0.05, 86_400, "Time limit of one reflection, all turns together.")] = 600.0


class Distiller(Section, frozen=True, kw_only=True):
    """`[distiller]`: who reads threads and memories. Everything but `extractive` sends redacted text to a model."""

    kind: Annotated[
        DistillerKind,
        text(
            "Who decides what is kept: extractive (rules, nothing leaves the machine), command (a program) or "
            "anthropic (an API)."
        ),
    ] = "extractive"
    learning: Annotated[
        Literal["extraction", "reflection"],
        text(
            "What a model does with a thread: extraction (it proposes memories, which are consolidated) or reflection "
            "(it changes the memory files by calls of tools)."
        ),
    ] = "extraction"
    command: Annotated[
        Texts,
        Meta(
            max_length=100,
            description="The program and its arguments for kind command; {model} in them is the role's model.",
        ),
    ] = ()
    command_input: Annotated[
        Literal["json", "text"],
        text(
            "The standard input of the program: json (the request) or text (one prompt, for programs that take that)."
        ),
    ] = "json"
    cheap_model: Annotated[str, model_name("The model that is asked for working states.")] = ""
    strong_model: Annotated[str, model_name("The model that is asked for memories and summaries.")] = ""
    base_url: Annotated[
        str,
        Meta(
            pattern=r"\A(?:https?://[A-Za-z0-9._~:\[\]-]+(?:/[A-Za-z0-9._~/-]*)?)?\Z",
            description="The server of kind anthropic; any that speaks the Messages API. Empty: Anthropic's own.",
            extra={"expected": 'empty, or an address such as "http://127.0.0.1:11434", without a user or query'},
        ),
    ] = ""
    key_file: Annotated[
        Path | None,
        text("A file of mode 0600 with the key of kind anthropic; empty: ANTHROPIC_API_KEY of the daemon."),
    ] = None
    deadline_seconds: Annotated[
        float, number(0.05, 86_400, "Time limit of one request to a model, retries included.")
    ] = 300.0
    wait_seconds: Annotated[
        float,
        number(0, 86_400, "Longest pause before a request is tried again, also where the provider asks for more."),
    ] = 60.0
    state_seconds: Annotated[float, number(0.05, 60, "Time limit of a request for a working state.")] = 1.0
    daily_tokens: Annotated[
        int, number(0, 100 * TOKENS_MAX, "Most tokens, read and written, of one UTC day; 0: nothing is asked.")
    ] = 2_000_000
    daily_calls: Annotated[int, number(0, 1_000_000, "Most requests of one UTC day; 0: nothing is asked.")] = 1_000
