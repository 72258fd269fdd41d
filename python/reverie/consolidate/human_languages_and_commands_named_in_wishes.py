"""Names of languages, tools and commands in a statement, which distinguish two wishes in like words.

"Always answer in French" is another wish than "Always answer in German", and "run make fmt before a commit" another
than "run make lint before a commit", though three of four words are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Named", "are_about_others", "named_in"]

# Each language by its names in the languages with tables of cues (English, German, Spanish, French, Chinese, Japanese).
# Only Latin names have forms: "auf Deutsch", "in deutscher Sprache", "una respuesta alemana". "Chinese" is one more.
_LANGUAGES: Final = {
    "english": "english|englisch(?:e[mnrs]?)?|ingl[eé]s|inglesa|anglaise?|英文|英语|英語",
    "german": "german|deutsch(?:e[mnrs]?)?|alem[aá]n|alemana|allemande?|德文|德语|ドイツ語|独語",
    "french": "french|französisch(?:e[mnrs]?)?|franc[eé]s|francesa|fran[cç]aise?|法文|法语|フランス語|仏語",
    "spanish": "spanish|spanisch(?:e[mnrs]?)?|español|española|castellano|espagnole?|西班牙文|西班牙语|スペイン語",
    "italian": "italian|italienisch(?:e[mnrs]?)?|italiano|italiana|italien|italienne|意大利文|意大利语|イタリア語",
    "portuguese": "portuguese|portugiesisch(?:e[mnrs]?)?|portugu[eé]s|portuguesa|portugaise?|葡萄牙文|葡萄牙语"
    "|ポルトガル語",
    "dutch": "dutch|niederländisch(?:e[mnrs]?)?|neerland[eé]s|holand[eé]s|néerlandaise?|荷兰语|オランダ語",
    "polish": "polish|polnisch(?:e[mnrs]?)?|polaco|polaca|polonaise?|波兰语|ポーランド語",
    "russian": "russian|russisch(?:e[mnrs]?)?|ruso|rusa|russe|俄文|俄语|ロシア語",
    "ukrainian": "ukrainian|ukrainisch(?:e[mnrs]?)?|ucraniano|ucraniana|ukrainien|ukrainienne|乌克兰语|ウクライナ語",
    "turkish": "turkish|türkisch(?:e[mnrs]?)?|turco|turca|turc|turque|土耳其语|トルコ語",
    "swedish": "swedish|schwedisch(?:e[mnrs]?)?|sueco|sueca|suédoise?|瑞典语|スウェーデン語",
    "chinese": "chinese|mandarin|chinesisch(?:e[mnrs]?)?|chino|china|mandar[ií]n|chinoise?|中文|汉语|普通话|中国語",
    "japanese": "japanese|japanisch(?:e[mnrs]?)?|japon[eé]s|japonesa|japonaise?|日文|日语|日本語",
    "korean": "korean|koreanisch(?:e[mnrs]?)?|coreano|coreana|coréen|coréenne|韩文|韩语|韓国語",
    "arabic": "arabic|arabisch(?:e[mnrs]?)?|árabe|arabe|阿拉伯语|アラビア語",
    "hindi": "hindi|印地语|ヒンディー語",
}
_LANGUAGE: Final = lazy_regex(
    "|".join(
        f"(?P<{name}>"
        + "|".join(one if one[0] >= "\u3000" else rf"(?<![^\W\d_]){one}(?![^\W\d_])" for one in forms.split("|"))
        + ")"
        for name, forms in _LANGUAGES.items()
    )
)

_CODE: Final = lazy_regex(r"`([^`]+)`")
_NUMBERED_NAME: Final = lazy_regex(r"(?<![\w`])(?=[a-z_-]*\d)(?=[\d_-]*[a-z])[a-z\d_-]{2,40}(?![\w`])")
# A tool with the task that it is to do: "npm run lint" is another command than "npm test". Of git there is none, since
# what it does has a plain name, and "push" is as much as "git push".
_COMMAND: Final = lazy_regex(
    r"(?<![\w`./-])(?:(?:npm|pnpm|yarn|bun|uv|poetry|hatch|pdm|tox|nox|cargo|gradle|mvn|bazel|mise|rake|deno|nx)"
    r"(?: (?:run|task))? [a-z][a-z\d:_-]*|(?:pytest|jest|vitest|mocha|rspec|mypy|pyright|ruff|pylint|flake8|eslint"
    r"|prettier|biome|clippy|rustfmt|gofmt|tsc|npm|pnpm|yarn|bun|poetry|pipenv|cargo|gradle|maven|bazel))(?![\w`])"
)
# "make" and "just" are words of English: they are tools behind a verb of running ("run make lint"), or in another
# language ("vor jedem Commit make lint ausführen").
_WORD_COMMAND: Final = lazy_regex(r"(?<![\w`./-])(?P<runs>\w+ )?(?P<command>(?:make|just) [a-z][a-z\d:_-]*)(?![\w`])")
_RUNS: Final = frozenset("run runs running ran execute executing call calling invoke invoking use using".split())  # noqa: SIM905
_NOT_ENGLISH: Final = lazy_regex(
    r"\b(?:immer|bitte|vor|nach|jede[mnrs]?|nie|niemals|siempre|nunca|antes|después|cada|toujours|jamais|avant|après"
    r"|chaque)\b|[\u3040-\u30ff\u3400-\u9fff]"
)
_WORD_CHAR: Final = lazy_regex(r"[^\W\u3000-\uffff]|-")  # Chinese and Japanese have no blanks beside a name
# Small words that a command in other words does not end with: "cargo before each commit" has no task.
_NO_TASK: Final = frozenset(
    "and or not before after when for in on at with if unless to from is are over instead rather only as the a vor nach"  # noqa: SIM905
    " und oder nicht statt antes y o no en avant et ou pas au".split()
)


class Named(NamedTuple):
    """The names in a statement: languages by their English name, and code, tools and names with digits, case-folded."""

    text: str
    languages: frozenset[str]
    codes: frozenset[str]


def named_in(text: str) -> Named:
    """Return what a statement, which has no frame, names."""
    text = " ".join(text.casefold().split())
    languages = frozenset(match.lastgroup for match in _LANGUAGE.finditer(text) if match.lastgroup is not None)
    codes = {*_CODE.findall(text), *(match[0] for match in _NUMBERED_NAME.finditer(text)), *_commands(text)}
    return Named(text, languages, frozenset(codes))


def are_about_others(one: Named, other: Named) -> bool:
    """Return True if both name languages, or both name code, and none of one is in the other."""
    if one.languages and other.languages and one.languages.isdisjoint(other.languages):
        return True
    return bool(one.codes and other.codes) and not (
        any(_is_in(code, other) for code in one.codes) or any(_is_in(code, one) for code in other.codes)
    )


def _is_in(code: str, other: Named) -> bool:
    """Return True if a statement has a code, in code or as words, or only its beginning: `npm` of `npm install`."""
    return _has(other.text, code) or any(_begins(code, theirs) or _begins(theirs, code) for theirs in other.codes)


def _has(text: str, code: str) -> bool:
    """Return True if a text has a code as words of its own: "lint", and not "eslint" or "lint-all"."""
    at = text.find(code)
    while at >= 0:
        beside = (text[:at][-1:], text[at + len(code) :][:1])
        if not any(_WORD_CHAR.match(char) for char in beside):
            return True
        at = text.find(code, at + 1)
    return False


def _begins(code: str, longer: str) -> bool:
    return f"{longer} ".startswith(f"{code} ")


def _commands(text: str) -> Iterable[str]:
    """Yield the tools and commands that are written without backquotes."""
    if "`" in text:
        text = _CODE.sub(" ` ", text)
    for match in _COMMAND.finditer(text):
        *tool, task = match[0].split()
        yield " ".join(tool) if tool and task in _NO_TASK else match[0]
    for match in _WORD_COMMAND.finditer(text):
        if (match["runs"] or "").strip() in _RUNS or _NOT_ENGLISH.search(text):
            yield match["command"]
