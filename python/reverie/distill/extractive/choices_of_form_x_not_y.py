"""Choices between two tools or styles of one kind without a verb, in six languages: "pnpm, not npm", "pnpm, nicht npm".

Two words beside "not" are a choice for good only where a project uses one of a kind. So both must be of one group, and
where several of a group are used side by side (databases, languages) the choice must say what it is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reverie.lazy_regex import lazy_regex

__all__ = ["NamedChoice", "named_choice"]

# Of each a project uses one.
_EXCLUSIVE: Final = (
    "npm pnpm yarn bun",
    "pip uv poetry pipenv pdm conda",
    "pytest unittest nose",
    "jest vitest mocha jasmine",
    "black ruff yapf autopep8",
    "eslint biome tslint oxlint",
    "webpack vite rollup esbuild parcel turbopack",
    "docker podman",
    "make just task",
    "tabs spaces",
    "lf crlf",
    "camelcase snake_case kebab-case pascalcase",
    "maven gradle bazel",
)
# Of each several may be in use, for different things.
_SIDE_BY_SIDE: Final = (
    "postgres postgresql mysql mariadb sqlite mongodb mongo redis duckdb dynamodb lmdb oracle",
    "python rust go typescript javascript java kotlin ruby c c++ c# swift bash",
    "requests httpx aiohttp axios fetch curl",
    "react vue svelte angular solid",
    "flask fastapi django starlette",
    "json yaml toml xml csv protobuf msgpack parquet",
    "rest graphql grpc",
    "tailwind bootstrap sass css",
    "unittest.mock pytest-mock monkeypatch mocks fakes stubs",
    "playwright cypress selenium",
    "kubernetes nomad swarm",
    "terraform pulumi ansible",
    "aws gcp azure",
    "squash rebase merge",
    "uuid ulid nanoid",
    "utc localtime",
    "polars pandas numpy",
)
_PLAIN: Final = frozenset({"tabs", "spaces"})  # no names: written small
_NAME = r"`?[A-Za-z][\w.+#-]*`?"
_LATIN: Final = lazy_regex(
    rf"^(?:(?:no|nope|nein|non|please|bitte|por favor)[,.]? )?(?:(?:we "
    rf"|you should )?use )?(?:only )?(?P<what>{_NAME}),? (?:and |und |y |et )?"
    rf"(?P<no>not|never|nicht|no|pas) (?P<other>{_NAME})"
    r"(?P<scope>,? (?:for|in|with|on|für|bei|para|en|pour|dans) (?!now\b|this\b|that\b|these\b|it\b)[\w`/.-]+"
    r"(?: [\w`/.-]+){0,3})?(?:,? please)?[.!]*$",
    re.IGNORECASE,
)
_CHINESE: Final = lazy_regex(
    rf"^(?P<scope>[^，,。\sA-Za-z`]{{0,8}})(?:都)?用? ?(?P<what>{_NAME}) ?[，,] ?"
    rf"(?:不是|而不是|不要用?|不用|别用) ?(?P<other>{_NAME})[。！!]?$"
)
_JAPANESE: Final = lazy_regex(
    rf"^(?P<scope>[^、。\sA-Za-z`]{{0,8}}は)?、? ?(?P<other>{_NAME}) ?(?:ではなく|じゃなく)て?、? ?"
    rf"(?P<what>{_NAME})(?:です|で)?[。！!]?$"
)


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A choice: the wanted and the rejected alternative, and the purpose with its preposition, or an empty text."""

    what: str
    other: str
    scope: str
    english: bool


def named_choice(sentence: str) -> NamedChoice | None:
    """Return the choice that a sentence consists of, or None.

    Example: "Postgres, not SQLite, for tests" wants Postgres and rejects SQLite for tests.
    """
    line = sentence.strip()
    match = _LATIN.match(line) or _CHINESE.match(line) or _JAPANESE.match(line)
    if match is None:
        return None
    names = {match[part].strip("`").rstrip(".").lower() for part in ("what", "other")}
    scope = (match["scope"] or "").strip(" ,.!")
    if len(names) == 1 or not any(names <= set(group.split()) for group in _groups(scope)):
        return None
    what = match["what"].lower() if match["what"].lower() in _PLAIN else match["what"]
    english = match.groupdict().get("no", "").lower() in {"not", "never"}
    return NamedChoice(what, match["other"].rstrip("."), scope, english)


def _groups(scope: str) -> tuple[str, ...]:
    return (*_EXCLUSIVE, *_SIDE_BY_SIDE) if scope else _EXCLUSIVE
