"""Detection of orders that a later call carried out: "commit this, push" with a commit since leaves "push"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill import cues as cue_phrases
from reverie.distill.commands import without_here_documents
from reverie.distill.extractive.classify_sentences_by_working_state_cues import begins_with_verb
from reverie.distill.extractive.done_but_unticked_todo_items import have_checks_run, runs_checks
from reverie.distill.sentences import sentences, words_of
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.distill.commands import Run
    from reverie.distill.steps import ToolCall

__all__ = ["actions_done", "unfinished_part"]

# What ends a piece of work; a commit may stand in the middle of it.
_HANDS_IN = frozenset({"push", "pull request", "merge", "tag"})
_FEW_WORDS = 5  # of an order that is recognised by a word alone, in any language: "bitte alles committen"
_DETAIL_WORDS = 4  # of a part that only says how: "medium priority" behind "file an issue"

# Where one of several commands begins, and `git`, also with options before its command: "git -C /srv/ships commit"
_BEGINS = r"^\s*(?:\w+=\S* +)*(?:(?:sudo|time|command) +)?"
_GIT = _BEGINS + r"git(?: +-(?:[cC] +[^\s-]\S*|-?[a-zA-Z][\w-]*(?:=\S+)?))* +"
_HUB = _BEGINS + r"(?:gh|glab|tea|hub) +"
# By action: the shell command that does it, or the end of a tool's name ("mcp__linear-server__create_issue").
_CALLS = {
    "commit": rf"{_GIT}commit(?![\w-])",
    "stage": rf"{_GIT}(?:add|stage|commit)(?![\w-])",
    "push": rf"{_GIT}push(?![\w-])",
    "branch": rf"{_GIT}(?:checkout +(?:\S+ +)*-[bB]|switch +(?:\S+ +)*(?:-[cC]|--create)|branch +(?!-)\w"
    r"|worktree +add)\b",
    "pull request": rf"{_HUB}(?:pr|mr) +(?:create|new)\b|^\w*(?:create|open)_(?:pull|merge)_?request",
    "issue": rf"{_HUB}issue +(?:create|new)\b|^\w*(?:create|save|file|open)_(?:issue|ticket)",
    "merge": rf"{_GIT}(?:merge|pull)(?![\w-])|{_HUB}(?:pr|mr) +merge\b|^\w*merge_(?:pull|merge)_?request",
    "rebase": rf"{_GIT}(?:rebase(?![\w-])|pull +(?:\S+ +)*--rebase)",
    "fetch": rf"{_GIT}(?:fetch|pull)(?![\w-])",
    "tag": rf"{_GIT}tag +(?:-[asmf]+ +)*[^\s-]|{_HUB}release +create\b",
    "stash": rf"{_GIT}stash(?: +(?:push|save|-\S+)|\s*$)",
    "revert": rf"{_GIT}(?:revert|restore|reset +--hard|checkout +(?:\S+ +)?--(?= |$))(?![\w-])",
}
_DOES = {action: lazy_regex(pattern) for action, pattern in _CALLS.items()}
# Most commands have none of these programs: one search spares them the others.
_PROGRAM = lazy_regex(r"\b(?:git|gh|glab|tea|hub) ")
_QUOTED = lazy_regex(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
# Commands of one line, and options with which they do nothing or take something back
_BETWEEN_COMMANDS = lazy_regex(r"[;&|\n]+")
_WITHOUT_EFFECT = lazy_regex(
    r"\s(?:--(?:abort|dry-run|help|list|quit)|-[hln])(?:\s|$)|\bstash +(?:list|show|pop|drop)\b"
)
# "create a new branch", "open the draft PR": between the verb and what is made only an article or a quality. No word
# fits two of the alternatives, so that none is tried in several ways.
_MAKE = (
    r"(?:create|open|make|start|file|raise|log|submit|add|cut|put up|new|check ?out|erstelle?n?|öffnen?|lege?n?"
    r"|crea[a-z]*|abr[eia][a-z]*|cré[a-zé]+|ouvr[a-z]+|fais|haz)"
    r"(?: (?:me|us|up|out|to))?(?: (?:an?|the|this|that|your|my|our|new|draft|separate|another|small|feature"
    r"|github|gitlab|linear|jira|gh|git|local|ein[a-z]*|neue[a-z]*|un[ae]?|nuev[ao]|nouve[a-z]+|[^\s/_-]*[/_-]\S*))*"
)
_IT = r"(?:it|this|that|these|those|them|all|everything)"
_OF_WORK = r"(?:the |your |my |our |all |these |those )*(?:\w+ )?(?:changes?|commits?|files?|work|fix(?:es)?|branch)"
_WHEN = r"(?:as|again|and|first|in|now|once|please|separately|so far|to|too|when|with)"
# How a part goes on behind what is made: "a PR against main", not "a PR template"
_AND_ON = (
    r"(?=$| (?:about|against|and|as|called|describing|for|from|in|named|off|on|that|titled|with|now|please|again)\b)"
)
# By action: how an order for it begins. Behind a verb stands what git does it with: "push the button" is none.
_ORDERS = {
    "commit": rf"(?:git )?commit(?=$| (?:{_IT}|{_OF_WORK}|{_WHEN}|the|what|your)\b)"
    r"(?! the (?:message|hook|history)s?\b)",
    "stage": rf"(?:git )?(?:stage|add)(?: (?:{_IT}|{_OF_WORK}))\b|stage$",
    "push": rf"(?:git )?push(?=$| (?:{_IT}|{_OF_WORK}|{_WHEN}|up|origin\S*|main|master)(?: |$))(?! (?:back|down)\b)",
    "branch": rf"{_MAKE} (?:\S+ )?branch{_AND_ON}",
    "pull request": rf"{_MAKE} (?:pull request|merge request|pr|mr)s?{_AND_ON}"
    r"|(?:an? )?(?:draft )?(?:pull request|merge request|pr|mr)$",
    "issue": rf"{_MAKE} (?:issue|ticket)s?{_AND_ON}",
    "merge": rf"(?:git )?merge(?=$| (?:{_IT}|the (?:pr|mr|branch|pull request)|main|master|dev\w*|origin\S*|#?\d+)"
    rf"(?:$| (?:{_WHEN}|back|into|after)\b))",
    "rebase": r"(?:git )?rebase(?=$| (?:it|this|that|on|onto|against|main|master|the branch|again|now|first)\b)",
    "fetch": r"(?:git )?(?:fetch|pull)(?: (?:it|the (?:latest|changes)|latest|main|master|origin\S*|from \S+|again))?$",
    "tag": r"(?:git )?tag (?:it|this|that|the (?:release|commit))(?=$| as\b| v?\d)|(?:git )?tag v?\d\S*$",
    "stash": rf"(?:git )?stash(?=$| (?:{_IT}|{_OF_WORK})(?:$| (?:{_WHEN})\b))",
    "revert": r"(?:git )?revert (?:it|this|that|the (?:last )?(?:commit|change)s?)(?=$| (?:and|please|now|again)\b)",
}
_ASKS_FOR = {action: lazy_regex(pattern, re.IGNORECASE) for action, pattern in _ORDERS.items()}
# "Never push to main", "don't commit yet": says what is not to be done
_DENIES = lazy_regex(
    r"\b(?:don'?t|do not|never|no|not|without|nicht|kein\w*|nie|niemals|ne|n'|pas|jamais|sin|nunca)\b"
    r"|不要|别|しない|ないで",
    re.IGNORECASE,
)
# Loanwords and words of other languages by which a short order is recognised.
_WORDS = {
    "commit": r"\bcommit\w*|コミット|提交|커밋|коммит\w*|закоммит\w*",
    "push": r"\bpush\w*|プッシュ|推送|푸시|пуш\w*|запуш\w*",
    "branch": r"ブランチ.*(?:作|切)|(?:创建|新建).*分支",
    "pull request": r"(?:プルリク|プルリクエスト|PR).*(?:作|出)|(?:创建|提).*(?:PR|拉取请求)",
}
_NAMES = {action: lazy_regex(pattern, re.IGNORECASE) for action, pattern in _WORDS.items()}
# What stands before an order and says nothing of what is to be done
_POLITE = lazy_regex(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|cool|great|good|nice|perfect|thanks?(?: you)?|so|now|then|also|first|just|please"
    r"|pls|and|let'?s|let us|let me|can you|could you|can we|could we|will you|i want you to|you can|we can"
    r"|go ahead(?: and)?"
    r"|i'?ll|i will|next|finally|bitte|dann|jetzt|ja|por favor|ahora|luego|s'il (?:te|vous) pla[iî]t|maintenant|puis"
    r"|make sure to|time to|it'?s time to|ready to)\b[,:! ]*)+",
    re.IGNORECASE,
)
# "And", which is followed by another thing to do, and other marks, which may be followed by how it is done
_PARTS = lazy_regex(
    r"(?P<next>&|\+|\b(?:and then|and|then|und dann|und|dann|y luego|y|et puis|et|luego|puis)\b)"
    r"|[,;:\n()、\uff0c\uff1b]|\s[-\u2013\u2014>]{1,3}\s",
    re.IGNORECASE,
)


def actions_done(calls: Iterable[ToolCall]) -> dict[str, int]:
    """Return the actions that succeeded ("commit", "pull request"), each with the entry of its last call."""
    seqs: dict[str, int] = {}
    for call in calls:
        if not call.answered or call.failed:
            continue
        for command in _commands(call):
            seqs |= {action: call.seq for action, does in _DOES.items() if does.match(command)}
    return seqs


def _commands(call: ToolCall) -> list[str]:
    """Return the commands of a shell call that have an effect, without here-documents; of another call its name."""
    if call.tool != "Bash":
        return [call.tool.rpartition("__")[2]] if "_" in call.tool else []
    if not _PROGRAM.search(call.word("command")):
        return []
    commands = _BETWEEN_COMMANDS.split(_QUOTED.sub("''", without_here_documents(call.word("command"))))
    return [command for command in commands if not _WITHOUT_EFFECT.search(command)]


def unfinished_part(text: str, since: int, done: Mapping[str, int], runs: Sequence[Run]) -> str:
    """Return the part of an order given at entry `since` that no later call has carried out; empty if all is done.

    Sentences that ask for something else stay as they are, unless the order ends in handing in the work, and that
    was done. Example: "Commit this. Why is it slow?" is "Why is it slow?" once there is a commit, "commit and push" is
    "push", and "Fix the typo, then push" is over with the push.
    """
    said = sentences(text) or [text]
    left = [_left_of(sentence, since, done, runs) for sentence in said]
    if all(rest == sentence for rest, sentence in zip(left, said, strict=True)):
        return text
    if not left[-1] and _asked_action(list(_parts(said[-1]))[-1][2], is_question=False) in _HANDS_IN:
        return ""
    return " ".join(
        rest
        for rest, sentence in zip(left, said, strict=True)
        if rest and not (rest == sentence and cue_phrases.is_acknowledgement(rest))
    )


def _left_of(sentence: str, since: int, done: Mapping[str, int], runs: Sequence[Run]) -> str:
    """Return the end of an ordering sentence that is still to be done; all of it if no later call did a part of it.

    The parts are done in their order: with an action, all before it are over.
    """
    is_question = cue_phrases.is_question(sentence)
    is_over = is_check = False
    left: int | None = None  # where the first part begins that is not over
    for start, is_next, part in _parts(sentence):
        action = _asked_action(part, is_question=is_question)
        if action is not None and done.get(action, 0) > since:
            is_over, is_check, left = True, False, None
            continue
        if action is None and runs_checks(part) and have_checks_run(part, since, runs):
            is_over = is_check = True
            continue
        is_detail = action is None and not is_next and words_of(part) <= _DETAIL_WORDS and not begins_with_verb(part)
        if left is None and not is_detail:  # a detail says how it is done: "medium priority"
            left = start
        if is_check and action is None and not begins_with_verb(part):
            return sentence  # "run the linter and tests to verify the change": the verb stands before both
    if not is_over:
        return sentence
    return "" if left is None else sentence[left:]


def _parts(sentence: str) -> Iterator[tuple[int, bool, str]]:
    """Yield each part of a sentence: its offset, whether "and" or "then" precedes it, and its text without "please"."""
    start, is_next = 0, False
    for mark in (*_PARTS.finditer(sentence), None):
        words = sentence[start : mark.start() if mark else None]
        part = _POLITE.sub("", words.strip(" .!?。"))
        if part:
            yield start + words.index(part), is_next, part
        if mark:
            start, is_next = mark.end(), mark["next"] is not None or (is_next and not part)


def _asked_action(part: str, *, is_question: bool) -> str | None:
    """Return the action that one part of an order asks for, or None.

    "Never push to main" and "why did the commit fail?" ask for none.
    """
    if _DENIES.search(part):
        return None
    asked = next((action for action, asks in _ASKS_FOR.items() if asks.match(part)), None)
    if asked is None and words_of(part) <= _FEW_WORDS and not is_question and not begins_with_verb(part):
        asked = next((action for action, name in _NAMES.items() if name.search(part)), None)
    return asked
