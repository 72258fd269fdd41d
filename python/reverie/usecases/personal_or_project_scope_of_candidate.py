"""Scope of a candidate: the person, who has it in every project, or the project of its session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType

if TYPE_CHECKING:
    from reverie.models import Candidate

__all__ = ["concerns_person"]

# What a wish names of a project: quoted code, a path, a file, an option, an identifier, the project, its product.
_NAMED: Final = lazy_regex(
    r"`|\w/\w|\w\.[a-z]{1,5}\b|(?<!\w)-{1,2}[a-z]|\w_\w|(?-i:[a-z][A-Z]|\b[A-Z]{2,10}-\d)"
    r"|\b(?:this|the|our|in (?:diesem|unserem)|en (?:este|nuestro)|dans (?:ce|notre)) (?:project|repo|repository"
    r"|codebase"
    r"|code base|monorepo|module|package|service|app|application|product|api|backend|frontend|website|database|schema"
    r"|staging|projekt|team|proyecto|equipo|projet|dépôt|équipe)\b"
    r"|\b(?:bei uns|unsere?[nrms]? (?:api|app|server|daten\w*)|nuestra api|notre api)\b"
    r"|项目|仓库|我们的|プロジェクト|リポジトリ",
    re.IGNORECASE,
)
_NUMBER: Final = lazy_regex(r"\d")
# How the agent talks to the person and works with them, whatever the project is.
_TALK: Final = lazy_regex(
    r"\b(?:answers?|answering|repl(?:y|ies)|respond|responses?|explain\w*|explanations?|apologi\w+|summari[sz]e\w*"
    r"|summar(?:y|ies)|brief|concise|terse|to the point|tone|(?:ask|tell|warn|call|address|remind|thank) the user"
    r"|(?:speak|talk|write) (?:to the user |in )?(?:english|german|french|spanish)|antworten?|antworte\w*"
    r"|entschuldig\w+"
    r"|fasse? dich|erklär\w*|duz\w*|siez\w*|respuestas?|responde\w*|disculp\w+|explica\w*|réponses?|réponds|excuse\w*"
    r"|explique\w*)\b|回答|回复|道歉|解释|返事|返信|謝|説明",
    re.IGNORECASE,
)
# What conventions of code are about, and what a project has chosen: another project has others.
_OF_CODE: Final = lazy_regex(
    r"\b(?:semicolons?|tabs|spaces|indent\w*|functions?|methods?|class(?:es)?|variables?|imports?|exports?|modules?"
    r"|components?|endpoints?|routes?|handlers?|schemas?|migrations?|table-driven|mocks?|fakes?|stubs?|snapshots?"
    r"|fixtures?|assert\w*|docstrings?|doc comments?|type hints?|types?|typed|strings?|null|nil|undefined|any|panics?"
    r"|exceptions?|errors? wrapped|async|decorators?|inheritance|singletons?|globals?|ternar\w+|comprehensions?"
    r"|logg?(?:ing"
    r"|ed)?|slog|sql|orms?|css|cache|server|staging|production|library code|local storage|pii|deploy\w*|releases?"
    r"|commit messages?|conventional commits|branch names?|naming|(?:jira|linear|gsd|github|gitlab) (?:todos?|tickets?"
    r"|issues?)|npm|pnpm|yarn|bun|uv|pip|poetry|pytest|jest|vitest|cargo|gradle|maven|docker|redis|kafka|postgres\w*"
    r"|sqlite|mysql|typescript|javascript|python|rust|golang|kotlin|java|react|vue|semikolons?|funktion(?:en)?|klassen?"
    r"|typen|any-typen|migrationen|kommentare?|doc-kommentar|commit-nachrichten|funcion(?:es)?|clases?|comentarios?"
    r"|tipos?"
    r"|mensajes de commit|fonctions?|commentaires?|messages de commit)\b"
    r"|代码|函数|注释|类型|提交信息|分支|コード|関数|コメント|コミットメッセージ|ブランチ",
    re.IGNORECASE,
)


def concerns_person(candidate: Candidate, project: str) -> bool:
    """Return True for a candidate that is the person's in every project: a fact about them, or a general wish.

    Examples: "Wants agents to always answer in German" is the person's, as it is about how agents talk. "Wants agents
    to always run `make lint`" and "… read docs/style.md" are the project's, as each names something that is there; so
    is "Prefers table-driven tests", a convention of its code.
    """
    if "prompt" in candidate.provenance:  # a model read the scope from the words around
        return candidate.subject == "user" and candidate.type is not MemoryType.EPISODE
    if candidate.type is not MemoryType.PREFERENCE:
        return candidate.type is MemoryType.FACT and candidate.subject == "user"
    text = f"{candidate.content} {' '.join(candidate.tags)}"
    if _NAMED.search(text) or project in text.casefold():
        return False
    return _TALK.search(text) is not None or not (_OF_CODE.search(text) or _NUMBER.search(text))
