"""Labelled lines of a text that an agent wrote ("Lesson: set a timeout"), and its lines that are to do or done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.distill.extractive.wish_and_correction_cues_by_language import words_of
from reverie.distill.sentences import clip, one_line
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LabelledLine", "is_of_work", "labelled_lines", "statement_of", "without_tasks"]

_WORDS_MIN: Final = 3  # of a statement behind a label: "Lesson: never use npm", and not "Lesson: flaky"
_MISTAKES: Final = r"mistakes?|pitfalls?|gotchas?|irrtum|irrtümer|fallstricke?|errores cometidos|pièges?|陷阱|落とし穴"
_FACTS: Final = (
    r"lessons?(?: learn(?:ed|t))?|decisions?|findings?|facts?|rules?|conventions?|root causes?"
    r"|lektion(?:en)?|lehren?|erkenntnis(?:se)?|entscheidung(?:en)?|fakt(?:en)?|regeln?"
    r"|lecci(?:ón|ones)|decisi(?:ón|ones)|hallazgos?|hechos?|reglas?"
    r"|leçons?|décisions?|constats?|faits?|règles?"
    r"|教训|决定|结论|事实|规则|教訓|決定|事実|ルール"
)
_LINE: Final = lazy_regex(
    rf"^(?P<label>(?P<mistake>{_MISTAKES})|{_FACTS}) ?(?:#?\d+ ?)?[:\uff1a][*_]*\s*(?P<text>\S.*)$", re.IGNORECASE
)
_LABEL_HEADING: Final = lazy_regex(
    rf"(?:(?:key|my|our|the|main) )?(?:(?P<mistake>{_MISTAKES})|{_FACTS})", re.IGNORECASE
)
_BULLET: Final = lazy_regex(r"^(?:[-*+•]|\d{1,3}[.)])\s+(?P<text>\S.*)$")
_MARKS: Final = lazy_regex(r"^\s*(?:>\s+|[-*+•]\s+|\d{1,3}[.)]\s+)*[*_]{0,2}(?=\w)")
_FENCE: Final = lazy_regex(r"^\s*(?:```|~~~)")
# Headings that say what kind of text it is, and not what it is about.
_GENERAL: Final = lazy_regex(
    r"(?:(?:final |my |research |test |run )?reports?|(?:key |main )?findings?|notes?|summary|results?|overview"
    r"|research|log|bericht|ergebnisse?|notizen|zusammenfassung|informe|resumen|notas|rapport|résumé|报告|总结|笔记|報告|まとめ|メモ)",
    re.IGNORECASE,
)
# Headings over what is to be done, or was: a plan is no way of doing things for good.
_OF_WORK: Final = lazy_regex(
    r"\b(?:to-?dos?|to do|next(?: steps?)?|plans?|planned|open (?:questions?|points?|items?|tasks?)|backlog|remaining"
    r"|pending|done|progress|status|tasks?|milestones?|roadmap|timeline|schedule|agenda|change ?log|history"
    r"|checklist|what (?:i|we) did|steps taken|offene? (?:punkte|fragen|aufgaben)|offen|aufgaben|erledigt"
    r"|nächste schritte|fortschritt|pendientes?|tareas|próximos pasos|hecho|à faire|tâches|prochaines étapes|fait)\b"
    r"|待办|任务|计划|下一步|已完成|やること|タスク|計画|次のステップ|完了",
    re.IGNORECASE,
)
# Lines of a task, open or done.
_TASK: Final = lazy_regex(
    r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s+|#{1,6}\s+)*"
    r"(?:[*_]{0,2}(?:TO-?DO|FIX-?ME|WIP|(?i:to[- ]do(?=\s*:)))\b|\[[ xX~-]\]|[✅✔☑☐✓❌]|~~)"
)
_NONE: Final = lazy_regex(
    r"(?:none|nothing|n/a|nobody|no \w+ (?:was|were|is|are|has been|have been|found|yet|so far)|keine? \w+ gefunden"
    r"|nichts|ningun[ao] \w+ encontrad[ao]|nada|aucune? \w+ trouvée?|rien)\b|没有|暂无|なし|特になし",
    re.IGNORECASE,
)
_STEP: Final = lazy_regex(r"^[^\S\n]*\d+[.)]\s+(?P<text>.+)$", re.MULTILINE)
_DONE_STEP: Final = lazy_regex(
    r"\[[ xX~-]\]|^[✅✔☑☐✓❌]|^~~|\b(?:done|finished|complete[d]?|erledigt|fertig|hecho|terminado|fait|terminé)\W*$"
    r"|[✅✔☑✓]\s*$|^(?:[A-Z]\w+ed|Wrote|Made|Built|Ran|Found|Split|Put|Set up) (?!to\b)|已完成$|完了$",
    re.IGNORECASE,
)


class LabelledLine(NamedTuple):
    """A statement from a file: its memory type, and its text after the heading or key it is about and one label."""

    type: MemoryType
    text: str


def labelled_lines(trail: list[str], body: str) -> Iterator[LabelledLine]:
    """Yield the labelled lines below a heading; `trail` are the heading and those above it, outermost first.

    Below a heading that is a label itself ("Lessons learned") every bullet is such a line.
    """
    over = _LABEL_HEADING.fullmatch(trail[-1].strip(" :")) if trail else None
    fenced = False
    for line in body.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or _TASK.match(line):
            continue
        match = _LINE.match(_MARKS.sub("", line))
        bullet = _BULLET.match(line) if over is not None and match is None else None
        if match is not None and _says_something(match["text"]):
            yield _labelled(trail, match["label"], match["text"], is_mistake=match["mistake"] is not None)
        elif over is not None and bullet is not None and _says_something(bullet["text"]):
            yield _labelled(trail, trail[-1].strip(" :"), bullet["text"], is_mistake=over["mistake"] is not None)


def statement_of(key: str, value: str) -> str | None:
    """Return `key: value` of working memory as a statement with one label; None for a task or plan."""
    if _OF_WORK.fullmatch(key.replace("_", " ").replace("-", " ")) or _TASK.match(value):
        return None
    match = _LINE.match(value)
    if match is None:
        return f"{key}: {value}"
    return _labelled([key], match["label"], match["text"], is_mistake=False).text


def without_tasks(body: str) -> str:
    """Return the lines of a section that are neither labelled nor tasks."""
    return "\n".join(
        line for line in body.split("\n") if not _TASK.match(line) and not _LINE.match(_MARKS.sub("", line))
    )


def is_of_work(trail: list[str], body: str) -> bool:
    """Return True if the steps of a section are a plan or a report of what was done."""
    steps = [match["text"] for match in _STEP.finditer(body)]
    done = sum(_DONE_STEP.search(step) is not None for step in steps)
    return 2 * done > len(steps) or any(_OF_WORK.search(heading) for heading in trail)


def _says_something(text: str) -> bool:
    """Return True for a statement: no question, no "none were found"."""
    is_question = text.rstrip("*_ ").endswith(("?", "\uff1f"))
    return words_of(text) >= _WORDS_MIN and not is_question and not _NONE.match(text)


def _labelled(trail: list[str], label: str, text: str, *, is_mistake: bool) -> LabelledLine:
    about = [
        part.strip(" :")
        for part in trail
        if not (_GENERAL.fullmatch(part.strip(" :")) or _LABEL_HEADING.fullmatch(part.strip(" :")))
    ]
    subject = f"{' — '.join(about)} — " if about else ""
    said = clip(one_line(text).replace("**", ""), 300)
    kind = MemoryType.MISTAKE if is_mistake else MemoryType.FACT
    return LabelledLine(kind, f"{subject}{label[:1].upper()}{label[1:]}: {said}")
