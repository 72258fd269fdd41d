"""Candidate memories by rule, from three sources: what a thread says, its working memory, files that an agent wrote."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases, preferences
from reverie.distill.extractive.candidate_builder import (
    build_candidate,
    file_tag,
    tags_of,
    with_absolute_dates,
    without_duplicates,
)
from reverie.distill.extractive.classify_and_translate_tools import EDITS
from reverie.distill.extractive.episodes_of_finished_work import episodes
from reverie.distill.extractive.language_cues import language_of, words_of
from reverie.distill.extractive.mistakes_from_corrections_and_failures import corrections, mended_failures
from reverie.distill.extractive.own_words import own_sentences, quoted_sentences
from reverie.distill.extractive.procedures_and_skills import procedures, skills
from reverie.distill.extractive.sentences_and_specific_names import clip, one_line, sentences, word_count
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.distill.extractive.thread_facts import AnsweredQuestion, ThreadFacts
    from reverie.models import CommandUse

__all__ = ["candidates", "quoted_wishes"]

# The person about themselves in English: "I'm a backend engineer", "call me Sam".
_ABOUT_ME = re.compile(
    r"^(?:(?i:hi|hello|hey)[,!\s]+)?(?:I'?m [A-Z][\w-]+|I am [A-Z][\w-]+|(?i:my name is \w+|call me \w+|i live in\b"
    r"|i work (?:on|at|as|for|with)\b|my (?:role|job|team|time ?zone|native language) is\b"
    r"|i(?:'?m| am) an? [\w -]*(?:developer|engineer|designer|manager|scientist|student|writer|teacher|analyst)\b))"
)
_ABOUT_ME_MAX = 200  # characters
# What the person says of the project for good, in their words: "the old commands were removed on purpose", "we don't
# use mocks". Not of what points elsewhere, or holds only for now.
_OF_PROJECT = re.compile(
    r"^(?:(?:and|so|but|also|fyi|btw|note that|no|nope)\b[,.:]? *)*(?P<what>(?!(?:i|you|it|this|that|these|those"
    r"|they|is|are|was|did|if|when|looks?|seems?|maybe|perhaps)\b)"
    r"(?:\S.{8,160}\b(?:on purpose|deliberately|intentionally|by design)\b.{0,60}"
    r"|we (?:currently )?(?:do not|don't|no longer|never) (?:use|support|allow|ship) (?!it\b|this\b|that\b|them\b"
    r"|these\b|those\b|any\w*$)\S.{3,120}))$",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|today|at the moment|this (?:time|branch|pr|test|session)|i (?:think|guess|believe)"
    r"|not sure|do we|should we)\b|\.\.\.",
    re.IGNORECASE,
)
# Something to remember that is no knowledge: "remember that time in Rome", "remember that I love you".
_NO_KNOWLEDGE = re.compile(
    r"^(?:how|what|when|who|you|we(?:'re| are| had| were| went| will| all| love)|i (?:love|am here|'m here)"
    r"|it'?s (?:ok|okay|never|all)|life|love|la vi(?:da|e)|das leben|every(?:one|body|thing)?|there'?s always)\b",
    re.IGNORECASE,
)
_REMEMBER_WORDS_MIN = 3
# A mark that agents put behind an option: "Postgres (recommended)" gives "Postgres".
_RECOMMENDED = re.compile(r"\s*\((?:recommended|default)\)", re.IGNORECASE)
# A question about the next step, not about a way of doing things: "Shall I push this branch?"
_STEP = re.compile(
    r"\b(?:ready|proceed|continue|go ahead|shall i|should i|do you want|would you like|push|prs?|pull requests?"
    r"|this (?:work|time|commit|branch|change|task|session|plan|split)|now|next|first|more to discuss)\b",
    re.IGNORECASE,
)
# An answer that chooses nothing: "yes", "skip", "not now".
_NO_CHOICE = re.compile(
    r"^(?:yes|yep|no|nope|nah|include|both|either|neither|skip|later|not (?:now|sure))\b", re.IGNORECASE
)
# Words of an answer; a longer one explains rather than chooses.
_CHOICE_WORDS = 10
# A rule for agents; what somebody else likes is no wish of the person.
_IS_RULE = re.compile(r"Wants agents|The user wants: “")
_QUOTED_MAX = 5  # quoted wishes of one thread that wait for the person
# Preferences taken from one thread, newest first; more are one task's instructions.
_PREFERENCES_MAX = 15

# Memories from one file, in its own order.
_MAX_OF_FILE = 12
_HEADING = re.compile(r"^(#{1,3})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_PROSE = (".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".org")
_PROSE_NAMES = frozenset({"readme", "notes", "guide"})  # of files without a suffix
# Documented definitions in Python, Go, Rust and JavaScript.
_DOCUMENTED = (
    re.compile(r'^\s*(?:async )?(?:def|class) (?P<name>\w+)[^\n]*:\s*\n\s*[rRuU]?"""(?P<text>[^\n"]+)', re.MULTILINE),
    re.compile(r"^(?P<text>// (?P<name>\w+) [^\n]+)\n(?://[^\n]*\n)*(?:func|type|var|const)\b", re.MULTILINE),
    re.compile(
        r"^\s*///? ?(?P<text>[^\n]+)\n(?:\s*///?[^\n]*\n)*\s*(?:pub )?(?:fn|struct|enum|trait) (?P<name>\w+)",
        re.MULTILINE,
    ),
    re.compile(
        r"/\*\*\s*\n?\s*\*?\s*(?P<text>[^\n*]+)[^/]*?\*/\s*\n\s*(?:export )?(?:async )?"
        r"(?:function|class|const|interface) (?P<name>\w+)"
    ),
)
_ADVICE = re.compile(r"^(?:avoid|never|do not|don'?t|beware)\b|\b(?:pitfall|gotcha|mistake)\b", re.IGNORECASE)
_STEPS = re.compile(r"^\s*1[.)]\s+\S", re.MULTILINE)


def candidates(
    facts: ThreadFacts,
    files: Mapping[str, str],
    working_memory: Mapping[str, str],
    at: str | None,
    uses: Sequence[CommandUse],
) -> tuple[Candidate, ...]:
    """Return mistakes, preferences, procedures, skills, facts and episodes, in this order.

    Each rests on what holds after the thread: words of the person to the agent, commands that passed (`uses`: in
    all threads of the project), commits, and plans that were carried out. What agents say of code on the way is not
    taken: half of it is wrong by the end of the same thread. Small talk gives none.
    """
    learnt = list(_file_memories(files, at))
    known = [
        *_about_user(facts, at),
        *_to_remember(facts, at),
        *_of_project(facts, at),
        *_from_working_memory(working_memory, at),
    ]
    corrected = list(corrections(facts, at))
    mistakes = [*corrected, *mended_failures(facts, at), *_of(learnt, MemoryType.MISTAKE)]
    return (
        *without_duplicates(mistakes),
        *islice(_preferences(facts, at, corrected), _PREFERENCES_MAX),
        *without_duplicates([*procedures(facts, at, uses), *_of(learnt, MemoryType.PROCEDURE)]),
        *without_duplicates(skills(facts, at, uses)),
        *without_duplicates(known),
        *without_duplicates(_choices(facts, at)),
        *without_duplicates(_of(learnt, MemoryType.FACT), limit=60),
        *episodes(facts, at),
    )


def quoted_wishes(facts: ThreadFacts, at: str | None) -> tuple[Candidate, ...]:
    """Return the standing wishes in text that the person quoted or pasted, newest first.

    They may be somebody else's, so each has `quoted` in its provenance and waits for the person. What the person says
    in their own words as well is left out.
    """
    chat = not facts.trace.calls
    own = {
        preferences.preference_sentence(sentence, chat=chat)
        for said in facts.requests
        for sentence in own_sentences(said.text)
    }
    found: dict[str, Candidate] = {}
    for said in reversed(facts.requests):
        for sentence in quoted_sentences(said.text):
            wish = preferences.preference_sentence(sentence, chat=chat)
            if wish and wish not in own and wish not in found and _IS_RULE.match(wish):
                text = wish if wish.endswith("”") else f"{wish}."
                one = build_candidate(MemoryType.PREFERENCE, text, said.at or at, [said.seq], about_user=True)
                found[wish] = replace(one, provenance={**one.provenance, "quoted": True})
    return tuple(islice(found.values(), _QUOTED_MAX))


def _of(found: Iterable[Candidate], kind: MemoryType) -> list[Candidate]:
    return [candidate for candidate in found if candidate.type is kind]


def _preferences(facts: ThreadFacts, at: str | None, mistakes: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the person's standing preferences, without a date so that repetitions are equal.

    `mistakes` are what the person corrected. A sentence that corrects the agent is one of them already, and is not said
    twice; another one of its message may be the rule behind it: "No, don't add pytz. Never add a dependency, the
    machine has no network."
    """
    corrected = [mistake.content.split(":", 1)[0].lower() for mistake in mistakes]
    for wish in preferences.standing_preferences(facts.requests, chat=not facts.trace.calls):
        if not any(order in wish.said.lower() for order in corrected):
            text = wish.text if wish.text.endswith("”") else f"{wish.text}."
            yield build_candidate(MemoryType.PREFERENCE, text, wish.at or at, [wish.seq], about_user=True)


def _choices(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the person's choices between alternatives that the agent offered: decisions, with what was rejected."""
    for answer in reversed(facts.answers):
        if _is_choice(answer) and not _was_only_planned(answer.seq, facts):
            picked = _RECOMMENDED.sub("", answer.answer).strip()
            choice = f"Asked “{clip(answer.question, 160)}”, the user chose “{picked}”"
            yield build_candidate(
                MemoryType.FACT,
                with_absolute_dates(choice, answer.at or at),
                answer.at or at,
                [answer.seq],
                "decision",
            )


def _is_choice(answer: AnsweredQuestion) -> bool:
    """True if one of several alternatives was chosen, rather than a step permitted, postponed or questioned."""
    return (
        " or " in f" {answer.question.lower()} "
        and len(answer.answer.split()) <= _CHOICE_WORDS
        and not cue_phrases.is_question(answer.answer)
        and not cue_phrases.is_approval(answer.answer)
        and not _STEP.search(answer.question)
        and not _NO_CHOICE.match(answer.answer)
    )


def _was_only_planned(seq: int, facts: ThreadFacts) -> bool:
    """Return True where a plan or other documents were written after an entry and no code: a design that may change."""
    edits = [call for call in facts.trace.calls if call.tool in EDITS and call.seq > seq and call.path]
    is_planned = bool(edits) and all(_is_prose(call.path) for call in edits)
    return is_planned and not any(commit.seq > seq for commit in facts.commits)


def _about_user(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for said in facts.requests:
        for sentence in own_sentences(said.text)[:3]:
            language = language_of(sentence)
            pattern = _ABOUT_ME if language is None or language.name == "en" else language.about_me
            if language is not None and pattern.match(sentence) and len(sentence) <= _ABOUT_ME_MAX:
                fact = with_absolute_dates(f"The user said: “{one_line(sentence)}”", said.at or at)
                yield build_candidate(MemoryType.FACT, fact, said.at or at, [said.seq], about_user=True)


def _of_project(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield what the person says of the project for good, newest first; nothing in a chat."""
    for said in reversed(facts.requests) if facts.trace.calls else ():
        for sentence in own_sentences(said.text):
            line = one_line(sentence).replace("\u2019", "'")
            language = language_of(line)
            match = _OF_PROJECT.match(line) if language is not None and language.name == "en" else None
            if match is None or cue_phrases.is_question(line) or _FOR_NOW.search(line):
                continue
            if not preferences.preference_sentence(sentence):
                fact = with_absolute_dates(f"The user said: “{match['what'].rstrip('.!')}”", said.at or at)
                yield build_candidate(MemoryType.FACT, fact, said.at or at, [said.seq])


def _to_remember(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield what the person asked to remember, in their words; an order ("remember to ...") is a preference instead."""
    for said in reversed(facts.requests):
        for sentence in own_sentences(said.text):
            language = language_of(sentence)
            match = language.remember.search(one_line(sentence)) if language is not None else None
            if match is None or cue_phrases.is_question(sentence) or preferences.is_reported(sentence):
                continue
            what = match["what"].strip(" .!。！")
            if words_of(what) < _REMEMBER_WORDS_MIN or _NO_KNOWLEDGE.match(what):
                continue
            if not facts.trace.calls and preferences.OF_FEELINGS.search(what):
                continue
            if preferences.preference_sentence(what) or len(what) > preferences.LONGEST:
                continue
            content = with_absolute_dates(f"The user asked to remember: “{what}”", said.at or at)
            yield build_candidate(MemoryType.FACT, content, said.at or at, [said.seq], about_user=not facts.trace.calls)


def _from_working_memory(working_memory: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    for key in sorted(working_memory):
        value = one_line(working_memory[key])
        if len(value.split()) >= 3:  # a flag or a counter is of no use later
            content = with_absolute_dates(f"{key}: {clip(value, 400)}", at)
            yield Candidate(
                MemoryType.FACT, content, tags_of(value, key.lower()), at=at, provenance={"workingMemory": key}
            )


def _file_memories(files: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    """Yield memories from `files` (path to whole content), ordered by path."""
    for path in sorted(files):
        found = _from_prose(path, files[path], at) if _is_prose(path) else _from_code(path, files[path], at)
        for _, candidate in zip(range(_MAX_OF_FILE), found, strict=False):
            yield candidate


def _is_prose(path: str) -> bool:
    return path.lower().endswith(_PROSE) or path.lower().rpartition("/")[2] in _PROSE_NAMES


def _from_prose(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    for trail, body in _sections(text, file_tag(path)):
        if _STEPS.search(body):
            steps = [clip(step, 120) for step in re.findall(r"^\s*\d+[.)]\s+(.+)$", body, re.MULTILINE)]
            yield _made(MemoryType.PROCEDURE, f"{trail}: {' → '.join(steps[:8])} (from {path})", path, at)
            continue
        first = next((sentence for sentence in sentences(body) if word_count(sentence) >= 4), "")
        if len(first) < 30:
            continue
        kind = MemoryType.MISTAKE if _ADVICE.search(first) else MemoryType.FACT
        yield _made(kind, f"{trail}: {clip(first, 300)} (from {path})", path, at)


def _sections(text: str, title: str) -> list[tuple[str, str]]:
    """Yield each heading with its parent headings and the text below it; `title` if there is no heading."""
    trail: list[str] = []
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        head = None if fenced else _HEADING.match(line)
        if head is None:
            if found:
                found[-1][1].append(line)
            continue
        level = len(head[1])
        trail = [*trail[: level - 1], head[2]]
        found.append((" — ".join(dict.fromkeys(trail)), []))
    if not found:
        return [(title, text)] if text.strip() else []
    return [(name, "\n".join(body)) for name, body in found]


def _from_code(path: str, text: str, at: str | None) -> Iterator[Candidate]:
    for pattern in _DOCUMENTED:
        for match in pattern.finditer(text):
            said = match["text"].strip().removeprefix("// ").strip()
            if word_count(said) >= 4:
                yield _made(MemoryType.FACT, f"`{match['name']}` in {path}: {clip(said, 240)}", path, at)


def _made(kind: MemoryType, content: str, path: str, at: str | None) -> Candidate:
    tag = file_tag(path)
    return Candidate(type=kind, content=content, tags=(tag,) if tag else (), at=at, provenance={"path": path})
