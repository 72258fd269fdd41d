"""Detection of pasted text by its form: terminals, tracebacks, comments of a forge, diffs, addresses, signatures.

Each function reads the lines of one message. In doubt a line counts as pasted: what it asks for waits for the person
and is not lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "asks_for_opinion",
    "enclosed_lines",
    "end_of_blocks_below",
    "heads_text_to_its_end",
    "lines_above_a_signature",
    "lines_below_an_address",
    "lines_of_blocks",
    "lines_of_speakers",
]

_CHARS_MAX: Final = 400  # of a line that is searched: a head or a signature is short

# Text between marks

_FENCE: Final = lazy_regex(r"^\s*(?:```|~~~)")
_OPENS_TAG: Final = lazy_regex(r"^\s*<(?P<tag>\w[\w-]*)(?:\s[^>]*)?(?<!/)>(?P<rest>.*)$")
# "[quote=Bob]", as forums write it.
_OPENS_BRACKET: Final = lazy_regex(
    r"\[(?P<tag>quote|cite|spoiler|code|blockquote)(?:[ =][^\]]{0,80})?\]", re.IGNORECASE
)
_COMMENT: Final = ("<!--", "-->")
_EMPTY_TAGS: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})  # of HTML, which have no end


def enclosed_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is in a fence, an element, a comment or a bracketed quotation, with its marks.

    An element ends with the last end tag of its name, since the text in it may have one too: "<issue>", "</issue>",
    "From now on …", "</issue>". A begin tag alone on its line, a comment or a `[quote]` without an end goes to the end.
    """
    inside = [False] * len(lines)
    ends = _last_ends(lines)
    fenced = False
    until = -1
    for number, line in enumerate(lines):
        if number <= until:
            inside[number] = True
            continue
        fence = _FENCE.match(line) is not None
        if fence or fenced:
            inside[number] = True
            fenced ^= fence
            continue
        end = _end_of_element(lines, number, ends)
        if end >= number:
            inside[number] = True
            until = end
    return inside


def _last_ends(lines: Sequence[str]) -> dict[str, int]:
    """Return the last line with an end mark, by mark: `</page>`, `[/quote]`, `-->`."""
    ends: dict[str, int] = {}
    for number, line in enumerate(lines):
        for mark in re.findall(r"</\w[\w-]*>|\[/\w+\]|-->", line):
            ends[mark.lower()] = number
    return ends


def _end_of_element(lines: Sequence[str], number: int, ends: dict[str, int]) -> int:
    """Return the last line of the element, comment or bracketed quotation that opens in a line; -1 without one."""
    line = lines[number]
    last = len(lines) - 1
    opened = _OPENS_TAG.match(line)
    if opened is not None:
        end = ends.get(f"</{opened['tag'].lower()}>", -1)
        if end >= number:
            return end
        if not opened["rest"].strip() and opened["tag"].lower() not in _EMPTY_TAGS:
            return last
    if _COMMENT[0] in line:
        closes = _COMMENT[1] in line[line.index(_COMMENT[0]) :]
        return number if closes else max(ends.get(_COMMENT[1], last), number)
    bracket = _OPENS_BRACKET.search(line)
    if bracket is not None:
        end = ends.get(f"[/{bracket['tag'].lower()}]", -1)
        return end if end >= number else last if line.strip() == bracket[0] else -1
    return -1


def end_of_blocks_below(lines: Sequence[str], inside: Sequence[bool], number: int) -> int:
    """Return the last enclosed line anywhere below a line, if the next line with text is enclosed; else -1.

    "Here is the log:", a fence with the log, and then the person's own words. What is between two blocks may be a part
    of a text that has fences of its own, so the last of them counts. A block without an end goes to the last line.
    """
    first = next((below for below in range(number + 1, len(lines)) if lines[below].strip()), None)
    if first is None or not inside[first]:
        return -1
    return max(below for below in range(first, len(lines)) if inside[below])


# Lines that begin another's text, which goes on to the end of the message

_PROMPT: Final = lazy_regex(
    r"^\s*(?:[$\u276f] +\S|% [a-z]|PS [A-Z]:\\[^>]*> ?\S|[A-Z]:\\[^>]*>\s?\S"
    r"|\(?[\w.-]+\)? ?[\w.-]+@[\w.-]+[: ][^$#%]{0,80}[$#%] +\S)"
)
_TRACEBACK: Final = lazy_regex(
    r"^\s*(?:Traceback \(most recent call last\)|Exception in thread \"|thread '[^']*' panicked at|goroutine \d+ \["
    r"|Unhandled (?:exception|rejection)\b|File \"[^\"]+\", line \d+|at [\w.$<> ]+\(.*:\d+(?::\d+)?\)\s*$"
    r"|at (?:/|file:|node:)\S+:\d+:\d+\s*$|from \S+:\d+:in [`'])"
)
_SAYS: Final = (
    r"(?:commented|wrote|said|replied|posted|reviewed|opened|edited|asked|answered|approved|requested changes|left a"
    r" comment|added a comment|started a (?:discussion|conversation)|kommentierte?|schrieb|antwortete|hat [^.]{0,30}"
    r"(?:kommentiert|geschrieben|geantwortet)|a (?:commenté|écrit|répondu)|coment(?:ó|ou)|escribió|escreveu"
    r"|respond(?:ió|eu)|ha (?:commentato|scritto|risposto)|прокомментировал\w*|написал\w*|ответил\w*|评论|写道|回复"
    r"|コメント|書きました|댓글|작성|yorum yaptı|yazdı)"
)
_WHEN: Final = (
    r"(?:\b(?:\d+|an?|one|two|last|few) ?(?:s|m|min|h|d|w|mo|y|sec(?:ond)?s?|minutes?|hours?|days?|weeks?|months?"
    r"|years?)"
    r"(?: ago|\b\W*$)|\byesterday\b|\bjust now\b|\bon [A-Z][a-z]{2,8} \d|\bvor \w+ [A-Z]\w+|\bil y a \w+ \w+"
    r"|\bhace \w+ \w+"
    r"|\bhá \w+ \w+|\b\w+ \w+ fa\b|\bназад\b|\d+ ?(?:秒|分|分钟|小时|时间|時間|天|日|周|週間|个月|か月|年)前"
    r"|\d+ ?\w{1,2} 전|\bönce\b"
    r"|\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4})"
)
# "bob commented 2 days ago", "Ann Lee hat vor 3 Tagen kommentiert": who, that they wrote, and when, in one short line.
_COMMENT_HEAD: Final = lazy_regex(
    rf"^\W*[\w.@-]+(?: [\w.@-]+){{0,2}}\W+(?:.{{0,20}}{_SAYS}.{{0,30}}{_WHEN}"
    rf"|.{{0,10}}{_WHEN}.{{0,30}}{_SAYS})[^.!?]{{0,20}}$",
    re.IGNORECASE,
)
# "bob · 2d", "Ann Lee • 3 days ago".
_POST_HEAD: Final = lazy_regex(rf"^\s*@?[\w.-]+(?: [\w.-]+){{0,2}} ?[·•|] ?{_WHEN}", re.IGNORECASE)
_TEXT_FILE: Final = r"(?:md|mdx|mdc|markdown|txt|rst|adoc|org|html?|pdf|docx?)"
# "CLAUDE.md", "docs/rules.md:", "=== NOTES.txt": the name of a file of text alone, above what is in it.
_FILE_NAME: Final = lazy_regex(
    rf"^\W*(?:[\w.~@-]+[/\\])*[\w.@-]*\.{_TEXT_FILE}\W*$|^\W*(?:[\w.-]+/)*(?:README|CHANGELOG)\W*$"
)
_TEXT_NOUN: Final = (
    r"(?:texts?|description|template|body|files?|contents?|readme|guide(?:line)?s?|policy|policies|letters?|e-?mails?"
    r"|messages?|comments?|posts?|pages?|docs?|documents?|notes?|wiki|changelog|specs?|issue|ticket|review|thread"
    r"|answers?"
    r"|repl(?:y|ies)|rules?|instructions?|memo|draft|snippet|prompt|conventions?|feedback)"
)
# "Bob's rules file:", "The PR text", "their guidelines:": the name of a text, and no sentence.
_NAMES_TEXT: Final = lazy_regex(
    rf"^\W*(?:the|this|that|their|his|her|its|old|current|existing|upstream) (?:[\w'-]+ ){{0,4}}(?!rules?\b"
    rf"|instructions?\b"
    rf"|conventions?\b){_TEXT_NOUN}\W*$|^\W*(?:their|his|her|its|the \w+'s"
    rf"|upstream'?s?) (?:[\w-]+ ){{0,4}}{_TEXT_NOUN}\W*:\W*$",
    re.IGNORECASE,
)
_OF_SOMEBODY: Final = lazy_regex(
    rf"^\W*(?!(?:Let|It|Here|That|What|There|He|She|Who|Where|How|When|Today|Claude|Agent)['\u2019]s)"
    rf"(?:[A-Z][\w-]+ )?[A-Z][\w-]+['\u2019]s?\s(?:[\w-]+ ){{0,4}}(?:(?i:{_TEXT_NOUN})\W*$|[\w -]{{0,30}}:\W*$)"
    r"|^\W*(?:[A-Z]\w*|\w+) (?:\w+ )?(?:von|by|de|di|da|od|van"
    r"|от) [A-Z\u00c0-\u00de\u0410-\u042f][\w-]+(?: [A-Z][\w-]+)?\s?:\W*$"
)
_HEADING: Final = lazy_regex(r"^#{1,4}\s+(?P<name>\S.*)$")
# A heading that a person puts above rules of their own in a request: "# Rules".
_OWN_HEADING: Final = lazy_regex(
    r"^(?:(?:the|my|our|important|additional|general) )?(?:rules?|notes?|context|tasks?|goals?|requirements?"
    r"|constraints?"
    r"|instructions?|todos?|style|preferences?|conventions?|guidelines?|steps?|background|summary|problem|question"
    r"|request"
    r"|regeln|aufgabe|hinweise?|reglas|tarea|règles|tâche|regole|regras|правила|задача|规则|任务|ルール|タスク"
    r"|규칙)\W*$",
    re.IGNORECASE,
)


def heads_text_to_its_end(lines: Sequence[str], number: int) -> bool:
    """Return True for a line with which another's text begins: a prompt, a traceback, a comment's head, a file's name.

    Where such a text ends is not in its form: a program's output and a page have blank lines too.
    """
    line = lines[number]
    if len(line) > _CHARS_MAX:
        return False
    if _PROMPT.match(line) or _TRACEBACK.match(line):
        return True
    below = number + 1 < len(lines)
    if not below:
        return False
    if _COMMENT_HEAD.match(line) or _POST_HEAD.match(line) or _FILE_NAME.match(line):
        return True
    if _NAMES_TEXT.match(line) or _OF_SOMEBODY.match(line):
        return True
    heading = _HEADING.match(line)
    if heading is None or _OWN_HEADING.match(heading["name"]):
        return False
    return any(one.strip() for one in lines[:number])


# Lines that are pasted for themselves, or up to a blank line

_ADDRESS: Final = lazy_regex(r"^\W*(?:https?|file|ftp)://\S+\W*$|^\W*www\.\S+\W*$")
_CHECKBOX: Final = lazy_regex(r"^\s*[-*+] \[[ xX]\]\s")
_INDENTED: Final = lazy_regex(r"^(?: {4,}|\t)\s*\S")
_BULLET: Final = lazy_regex(r"^\s*(?:[-*\u2022]|\d+[.)])\s")
_ADDED: Final = lazy_regex(r"^\+(?!\+)\s*\S")
_REMOVED: Final = lazy_regex(r"^-(?!-)\s*\S")
_HUNK: Final = lazy_regex(r"^@@ |^diff --git |^index [0-9a-f]{4,}\.\.")


def lines_below_an_address(lines: Sequence[str]) -> set[int]:
    """Return the lines below a line that is an address alone, up to the next blank line.

    "https://docs.example/rules", and below it the words of that page.
    """
    numbers: set[int] = set()
    below = False
    for number, line in enumerate(lines):
        below = bool(line.strip()) and (below or _ADDRESS.match(line) is not None)
        if below:
            numbers.add(number)
    return numbers


def lines_of_blocks(lines: Sequence[str]) -> set[int]:
    """Return the lines of diffs, of lists with check boxes, and of indented blocks below a blank line or a colon."""
    numbers = {number for number, line in enumerate(lines) if _CHECKBOX.match(line)}
    for begin, end in _paragraphs(lines):
        block = range(begin, end)
        added = [number for number in block if _ADDED.match(lines[number])]
        if added or any(_HUNK.match(lines[number]) for number in block):
            numbers.update(added)
            numbers.update(number for number in block if _REMOVED.match(lines[number]) or _HUNK.match(lines[number]))
    indented = False
    before = ""
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        opens = number > 0 and (not lines[number - 1].strip() or before.rstrip().endswith((":", "\uff1a")))
        indented = _INDENTED.match(line) is not None and (indented or (opens and not _BULLET.match(before)))
        if indented:
            numbers.add(number)
        before = line
    return numbers


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return begin and end of each run of lines that are not blank."""
    paragraphs: list[tuple[int, int]] = []
    begin: int | None = None
    for number in range(len(lines) + 1):
        is_text = number < len(lines) and bool(lines[number].strip())
        if is_text and begin is None:
            begin = number
        elif not is_text and begin is not None:
            paragraphs.append((begin, number))
            begin = None
    return paragraphs


# Who said it

_SIGNED: Final = lazy_regex(
    r"^\s*(?:(?:\u2014|\u2013|\u2015|--|~)\s*@?(?-i:[A-Z\u00c0-\u00de\u0410-\u042f])[\w.'@-]*(?:[ ,(/][^.!?]{0,60})?"
    r"|\((?:from|by|via|source|von|quelle|de|fuente|da|fonte)\b:? [^)]{2,60}\)"
    r"|(?:source|quelle|fuente|fonte|источник|via)\s?: \S.{0,120}|(?:来源|出处|出典)[：:].{1,80})\s*$",
    re.IGNORECASE,
)
_SPEAKER: Final = lazy_regex(
    r"^(?:\[[^\]]{3,30}\]\s*)?(?P<who>[A-Z\u00c0-\u00de\u0410-\u042f@][\w.'-]{0,20}(?:"
    r" [A-Z\u00c0-\u00de\u0410-\u042f][\w.'-]{0,20})?)"
    r"(?:\s*[\[(][^\])]{2,30}[\])])?\s?:\s+\S"
)
# A mark that a programmer leaves in code with their name: "todo(bob): …", "x = 1  # fixme(ann): …".
_MARK: Final = lazy_regex(
    r"(?:^\W*|(?://|#|--|/\*|;|%|<!--)\s*)(?:todo|fixme|xxx|hack|note|bug|review|optimi[sz]e|warning)"
    r"\s?(?:[(\[]\s?(?P<who>@?[^\W\d_][\w.'@ -]{0,30})\s?[)\]]|(?P<at>@[\w.-]{1,30}))\s?:",
    re.IGNORECASE,
)
# What `@` names besides people: a file, and an agent of Claude Code.
_MENTION: Final = lazy_regex(
    rf"@(?:agent-|\S+\.(?:{_TEXT_FILE}|[cm]?[jt]sx?|py|rs|go|java|rb|c|h|cpp|json|toml|ya?ml|sh|sql|css)$)"
)
_LABELS_TEXT: Final = (
    "task goal rule rules note notes context step steps todo input output expected actual constraint "
    "constraints style problem fix solution important also question answer bug bugs issue issues example "
    "examples reminder wichtig aufgabe regel regeln fyi ps nb update updates format formats test tests doc docs "
    "code project projects q a tldr title summary description background requirement requirements request "
    "requests warning caution attention hint tip tips info information remember preference preferences "
    "convention conventions naming general then next first second third finally last now later today tomorrow "
    "always never please ok okay yes no nope well so and but or because plus minus pro con pros cons option "
    "options choice decision decisions idea ideas plan plans reason result results error errors log logs status "
    "version versions release releases branch branches commit commits message messages merge merges review "
    "reviews comment comments file files folder folders path paths name names type types language languages "
    "tone length layout design api apis cli ui ux db database backend frontend server client clients deploy "
    "deployment deployments build builds ci cd lint linter formatter dependency dependencies package packages "
    "import imports function functions class classes method methods variable variables module modules config "
    "configuration settings setting environment env security performance logging documentation refactor feature "
    "features scope workflow process git github gitlab docker linux windows macos mac python typescript "
    "javascript rust go java kotlin swift ruby php sql html css bash shell react vue django rails node npm pnpm "
    "yarn make makefile claude codex agent agents assistant ai bot model you me i we us mine ours beispiel "
    "hinweis achtung ziel frage antwort lösung fehler kontext stil außerdem bitte immer nie zusätzlich regla "
    "reglas nota notas importante tarea objetivo pregunta respuesta ejemplo contexto estilo además siempre "
    "nunca règle règles remarque tâche objectif réponse exemple contexte toujours jamais aussi regola regole "
    "compito obiettivo domanda risposta esempio sempre mai regra regras tarefa pergunta resposta exemplo "
    "правило правила важно примечание задача цель вопрос ответ пример контекст стиль всегда никогда "
)
_LABELS: Final = frozenset(_LABELS_TEXT.split())
# Words of these endings are subjects and not names: "Testing:", "Documentation:", "Formatierung:".
_SUBJECT: Final = lazy_regex(
    r"(?:ing|tion|ions|ment|ments|ness|ity|ung|keit|heit|ción|ciones|ção|zione|ость)$", re.IGNORECASE
)
_CAMEL: Final = lazy_regex(r"[a-z][A-Z]")  # of a name in code: "ValueError:"


def lines_above_a_signature(lines: Sequence[str]) -> set[int]:
    """Return the lines of a text with the name of who said it below: "— Bob, in the channel", "Source: the wiki"."""
    numbers: set[int] = set()
    for number, line in enumerate(lines):
        if number and len(line) <= _CHARS_MAX and _SIGNED.match(line):
            begin = number
            if not lines[begin - 1].strip():
                begin -= 1
            while begin and lines[begin - 1].strip():
                begin -= 1
            numbers.update(range(begin, number + 1))
    return numbers


def lines_of_speakers(lines: Sequence[str]) -> set[int]:
    """Return the lines from a speaker's name, "Bob: from now on …", up to a blank line, without those after a label.

    "Note: always …" and "Commits: never …" are the person's own. A single line is what they type, whatever is before
    its colon: nobody pastes a name and a sentence without a word about it. Not so with "@bob: …", which is to or of
    another, and with "todo(bob): …", a comment of code.
    """
    numbers: set[int] = set()
    is_single = sum(bool(line.strip()) for line in lines) < 2
    said = False
    for number, line in enumerate(lines):
        said = bool(line.strip()) and (said or _names_speaker(line, is_single=is_single))
        if said:
            numbers.add(number)
    return numbers


def _names_speaker(line: str, *, is_single: bool) -> bool:
    """Return True for a line that begins with the name of who says it, or has a mark of code with a name."""
    mark = _MARK.search(line[:_CHARS_MAX])
    if mark is not None and _is_author(mark["who"] or mark["at"]):
        return True
    speaker = _SPEAKER.match(line)
    if speaker is None or (is_single and not speaker["who"].startswith("@")):
        return False
    return _MENTION.match(speaker["who"]) is None and _is_name(speaker["who"])


def _is_author(who: str) -> bool:
    """Return True for a name in a mark, which may be in capitals: "todo(BN)"; False for a label, "note(security)"."""
    return not any(word.casefold() in _LABELS or _SUBJECT.search(word) for word in who.strip(" @").split())


def _is_name(who: str) -> bool:
    words = who.removeprefix("@").split()
    return not any(
        word.casefold() in _LABELS or _SUBJECT.search(word) or word.isupper() or _CAMEL.search(word) for word in words
    )


# Questions about what somebody else wrote, as the last line below it

_OPINION: Final = lazy_regex(
    r"^(?:and |so |but |hm+,? )?(?:is|was) (?:he|she|bob|this guy|that (?:guy|person)) (?:still |really )?(?:right"
    r"|correct|serious)\b"
    r"|^is (?:this|that|it) (?:still |really |actually )?(?:up[- ]to[- ]date|outdated|accurate|true|correct"
    r"|right)\W*$"
    r"|^what (?:shall|should|do|can) (?:i|we) (?:reply|answer|respond|say|write back)\b"
    r"|^do you agree(?: with (?:him|her|them|this|that))?\W*$"
    r"|^(?:please |can you |could you )*(?:answer|reply to|respond to) (?:him|her|them)\b"
    r"|^(?:should|shall|can|could) we (?:merge|accept|approve|follow|adopt|sign) (?:it|this|that|them)\b"
    r"|^(?:hat (?:er|sie) recht|stimmt das(?: noch)?|was soll ich (?:ihm|ihr|ihnen )?\w*antworten"
    r"|ist das noch aktuell)\b"
    r"|^(?:a-t-(?:il|elle) raison|est-ce (?:vrai|exact|correct|à jour)|que (?:dois-je )?répond)"
    r"|^¿?(?:tiene razón|es (?:eso |esto )?(?:cierto|correcto|verdad)|qué (?:le )?(?:respondo|contesto))"
    r"|^(?:ha ragione|è (?:vero|corretto)|cosa (?:gli |le )?rispondo)|^(?:ele|ela) tem razão|^isso está certo"
    r"|^(?:он|она) прав|^это (?:правда|верно|правильно)\W*$|^(?:他|她)(?:说得?)?对吗|^(?:这|那)(?:样)?(?:对|正确)吗"
    r"|怎么回复|^(?:これは)?(?:正しい|合ってい(?:る|ます))(?:です)?か|どう返信",
    re.IGNORECASE,
)


def asks_for_opinion(line: str) -> bool:
    """Return True for a question about what another said in the lines above: "Is he right?", "What shall I reply?"."""
    return len(line) <= _CHARS_MAX and _OPINION.search(line.strip()) is not None
