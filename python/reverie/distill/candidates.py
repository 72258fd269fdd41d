"""Candidate memories by rule, from three sources: a thread's messages, its working memory, files by an agent."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from reverie.distill import wishes as standing_preferences
from reverie.distill.episodes import episodes
from reverie.distill.extractive import cue_phrases
from reverie.distill.extractive.build_candidates_with_dates_and_tags import (
    build_candidate,
    tags_of,
    with_absolute_dates,
    without_duplicates,
)
from reverie.distill.extractive.detect_talk_that_sets_no_rule import OF_FEELINGS, is_joke, is_reported, sincere_messages
from reverie.distill.extractive.labelled_lines_of_files import statement_of
from reverie.distill.extractive.mistakes_from_corrections_and_failures import corrections, mended_failures
from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences, quoted_sentences
from reverie.distill.extractive.stated_conventions import decision_in, stated_fact
from reverie.distill.extractive.wish_and_correction_cues_by_language import language_of, words_of
from reverie.distill.files import file_candidates, is_prose
from reverie.distill.procedures import procedures, skills
from reverie.distill.sentences import (
    clip,
    one_line,
    specific_names,
)
from reverie.distill.steps import Utterance
from reverie.distill.tools import EDITS
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.distill.answers import AnsweredQuestion
    from reverie.distill.facts import ThreadFacts
    from reverie.models import CommandUse

__all__ = ["candidates", "quoted_wishes"]

# The person about themselves in English: "I'm a backend engineer", "call me Sam".
_ABOUT_ME = lazy_regex(
    r"^(?:(?i:hi|hello|hey)[,!\s]+)?(?:I'?m [A-Z][\w-]+|I am [A-Z][\w-]+|(?i:my name is \w+|call me \w+|i live in\b"
    r"|my (?:github|gitlab|bitbucket|codeberg|slack|linear|jira|npm|pypi|docker hub) (?:user(?: ?name)?|handle|login"
    r"|account|id) is \S+"
    r"|i work (?:on|at|as|for|with)\b|my (?:role|job|team|time ?zone|native language) is\b"
    r"|i(?:'?m| am) an? [\w -]*(?:developer|engineer|designer|manager|scientist|student|writer|teacher|analyst)\b))"
)
_ABOUT_ME_MAX = 200  # characters
# What the person says of the project for good, in their words: "the old commands were removed on purpose", "we don't
# use mocks". Not of what points elsewhere, or holds only for now.
_OF_PROJECT = lazy_regex(
    r"^(?:(?:and|so|but|also|fyi|btw|note that|no|nope)\b[,.:]? *)*(?P<what>(?!(?:i|you|it|this|that|these|those"
    r"|they|is|are|was|did|if|when|looks?|seems?|maybe|perhaps)\b)"
    r"(?:\S.{8,160}\b(?:on purpose|deliberately|intentionally|by design)\b.{0,60}"
    r"|we (?:currently )?(?:do not|don't|no longer|never) (?:use|support|allow|ship) (?!it\b|this\b|that\b|them\b"
    r"|these\b|those\b|any\w*$)\S.{3,120})"
    # Where the agent works: "you're in a VM so you have no access to docker"
    r"|you(?:'re| are) (?:running |working )?(?:in|on|inside) (?:a|an|my|the) (?:\w+ ){0,2}(?:vm|virtual machine"
    r"|container|dev ?container|sandbox|remote (?:machine|host|server)|raspberry pi|wsl|codespace)\b.*"
    r"|you (?:can only|can|can't|cannot) (?:access|reach|connect to) (?!it\b|this\b|that\b|them\b|these\b|those\b)"
    r"\S.{5,120} (?:on|at|through|via|under) (?:the )?(?:(?:port|host)\b|\S*[\d/`]).*"
    r"|we(?:'re| are) in (?-i:[Pp]roject:? [A-Z]\w*(?: [A-Z]\w*)*))(?: \([^()]*\))?$",
    re.IGNORECASE,
)
# "Just so you know, the staging database is wiped every night": only with a word of what holds for good.
_FOR_INFORMATION = lazy_regex(
    r"^(?:just so you know|fyi|for your information|heads[- ]up|btw|by the way"
    r"|note)\b[,:]? *(?:that )?(?P<what>(?=[\w`])(?!(?:i|you|it"
    r"|this|that|these|those|they|he|she|there|we(?!(?: never| always)\b))\b)"
    r"(?!.*\bneeds? (?:an? |some |more )?(?:restart|review|fix\w*|look|change|update|rebase|bump|clean\w*|work|tests?"
    r"|to be)\b)"
    r"(?=.*\b(?:always|never|(?:every|each) (?:night|day|week|hour|morning|commit|release|push)|nightly|weekly|daily"
    r"|only|must|needs?|requires?|lives? in|comes? from|runs? on|uses? port|listens? on|belongs? to|is called|(?:is"
    r"|are) (?:read-only|wiped"
    r"|reset|generated|mirrored|deprecated|shared|managed|owned|pinned|vendored|frozen|reserved))\b)\S.{8,200})$",
    re.IGNORECASE,
)
# "It's called `fetch_user`, not `get_user`": the two names say enough.
_CALLED = lazy_regex(
    r"^(?:(?:no|nope|nein|non)[,.]? )?(?P<what>(?:it'?s|it is|the \w+(?: \w+)? is|es heißt|das heißt|die \w+ heißt"
    r"|der \w+ heißt|se llama|ça s'appelle) (?:called |named |spelled )?(?P<one>\S+), (?:not|nicht|no|pas) "
    r"(?P<other>\S+))$",
    re.IGNORECASE,
)
_FOR_NOW = lazy_regex(
    r"\b(?:yet|for now|right now|today|at the moment|this (?:time|branch|pr|test|session)|i (?:think|guess|believe)"
    r"|not sure|do we|should we)\b|\.\.\.",
    re.IGNORECASE,
)
# Something to remember that is no knowledge: "remember that time in Rome", "remember that I love you".
_NO_KNOWLEDGE = lazy_regex(
    r"^(?:how|what|when|who|you|we(?:'re| are| had| were| went| will| all| love)|i (?:love|am here|'m here)"
    r"|it'?s (?:ok|okay|never|all)|life|love|la vi(?:da|e)|das leben|every(?:one|body|thing)?|there'?s always)\b",
    re.IGNORECASE,
)
_REMEMBER_WORDS_MIN = 3
# A mark that agents put behind an option: "Postgres (recommended)" gives "Postgres".
_RECOMMENDED = lazy_regex(r"\s*\((?:recommended|default)\)", re.IGNORECASE)
# A question about the next step, not about a way of doing things: "Shall I push this branch?"
_STEP = lazy_regex(
    r"\b(?:ready|proceed|continue|go ahead|shall i|should i|do you want|would you like|push|prs?|pull requests?"
    r"|this (?:work|time|commit|branch|change|task|session|plan|split)|now|next|first|more to discuss)\b",
    re.IGNORECASE,
)
# An answer that chooses nothing: "yes", "skip", "not now".
_NO_CHOICE = lazy_regex(
    r"^(?:yes|yep|no|nope|nah|include|both|either|neither|skip|later|not (?:now|sure))\b", re.IGNORECASE
)
# Words of an answer; a longer one explains rather than chooses.
_CHOICE_WORDS = 10
# A rule for agents; what somebody else likes is no wish of the person.
_IS_RULE = lazy_regex(r"Wants agents|The user wants: “")
_QUOTED_MAX = 5  # quoted wishes of one thread that wait for the person
# Preferences taken from one thread, newest first; more are one task's instructions.
_PREFERENCES_MAX = 15


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
    learnt = list(file_candidates(files, at))
    candidates_of_thread = [
        *_about_user(facts, at),
        *_to_remember(facts, at),
        *_of_project(facts, at),
        *_stated(facts, at),
        *_from_working_memory(working_memory, at),
    ]
    corrected = list(corrections(facts, at))
    mistakes = [*corrected, *mended_failures(facts, at), *_of(learnt, MemoryType.MISTAKE)]
    return (
        *without_duplicates(mistakes),
        *islice(_preferences(facts, at, corrected), _PREFERENCES_MAX),
        *without_duplicates([*procedures(facts, at, uses), *_of(learnt, MemoryType.PROCEDURE)]),
        *without_duplicates(skills(facts, at, uses)),
        *without_duplicates(candidates_of_thread),
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
        standing_preferences.preference_sentence(sentence, chat=chat)
        for said in facts.requests
        for sentence in own_sentences(said.text)
    }
    quotes: dict[str, Candidate] = {}
    for said in reversed(facts.requests):
        for sentence in quoted_sentences(said.text):
            wish = standing_preferences.preference_sentence(sentence, chat=chat)
            if wish and wish not in own and wish not in quotes and _IS_RULE.match(wish):
                text = wish if wish.endswith("”") else f"{wish}."
                one = build_candidate(MemoryType.PREFERENCE, text, said.at or at, [said.seq], about_user=True)
                quotes[wish] = replace(one, provenance={**one.provenance, "quoted": True})
    return tuple(islice(quotes.values(), _QUOTED_MAX))


def _of(found: Iterable[Candidate], kind: MemoryType) -> list[Candidate]:
    return [candidate for candidate in found if candidate.type is kind]


def _preferences(facts: ThreadFacts, at: str | None, mistakes: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the person's standing preferences, without a date so that repetitions are equal.

    `mistakes` are what the person corrected. A sentence that corrects the agent is one of them already, and is not said
    twice; another one of its message may be the rule behind it: "No, don't add pytz. Never add a dependency, the
    machine has no network."
    """
    corrected = [mistake.content.split(": the user", 1)[0].strip("“”").lower() for mistake in mistakes]
    for wish in standing_preferences.standing_preferences(_said_by_user(facts), chat=not facts.trace.calls):
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
    """Return True if after entry `seq` only documents were edited and nothing committed: a design that may change."""
    edits = [call for call in facts.trace.calls if call.tool in EDITS and call.seq > seq and call.path]
    is_planned = bool(edits) and all(is_prose(call.path) for call in edits)
    return is_planned and not any(commit.seq > seq for commit in facts.commits)


def _said_by_user(facts: ThreadFacts) -> list[Utterance]:
    """Return what the person says in earnest: messages, and answers in their own words to questions asked by a tool."""
    answers = [Utterance("user", one.answer, one.seq, one.at) for one in facts.answers if one.own_words]
    said = sorted([*facts.requests, *answers], key=lambda one: one.seq)
    return sincere_messages(said, chat=not facts.trace.calls)


def _about_user(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for said in _said_by_user(facts):
        for sentence in own_sentences(said.text)[:3]:
            language = language_of(sentence)
            pattern = _ABOUT_ME if language is None or language.name == "en" else language.about_me
            if language is not None and pattern.match(sentence) and len(sentence) <= _ABOUT_ME_MAX:
                fact = with_absolute_dates(f"The user said: “{one_line(sentence)}”", said.at or at)
                yield build_candidate(MemoryType.FACT, fact, said.at or at, [said.seq], about_user=True)


def _of_project(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield what the person says of the project for good, newest first; nothing in a chat."""
    for said in reversed(_said_by_user(facts)) if facts.trace.calls else ():
        for sentence in own_sentences(said.text):
            line = one_line(sentence).replace("\u2019", "'")
            language = language_of(line)
            match = _OF_PROJECT.match(line) if language is not None and language.name == "en" else None
            match = match or _for_information(line) or _names_two(line)
            if match is None or cue_phrases.is_question(line) or _FOR_NOW.search(line):
                continue
            if not standing_preferences.preference_sentence(sentence):
                fact = with_absolute_dates(f"The user said: “{match['what'].rstrip('.!')}”", said.at or at)
                yield build_candidate(MemoryType.FACT, fact, said.at or at, [said.seq])


def _stated(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield conventions and decisions that the person states, newest first; nothing in a chat."""
    for said in reversed(_said_by_user(facts)) if facts.trace.calls else ():
        for sentence in own_sentences(said.text):
            language = language_of(sentence)
            if (
                language is None
                or len(sentence) > standing_preferences.LONGEST
                or is_reported(sentence)
                or is_joke(sentence)
            ):
                continue
            line = one_line(sentence)
            decided = decision_in(line, language.name)
            statement = decided or stated_fact(line, language.name)
            if statement and not standing_preferences.preference_sentence(sentence):
                fact = with_absolute_dates(f"The user said: “{statement}”", said.at or at)
                yield build_candidate(
                    MemoryType.FACT, fact, said.at or at, [said.seq], *(["decision"] if decided else [])
                )


def _for_information(line: str) -> re.Match[str] | None:
    """Return the match of a remark that states a lasting fact; None for other lines and for reports of failures."""
    match = _FOR_INFORMATION.match(line)
    return None if match is None or cue_phrases.is_failure(line) else match


def _names_two(line: str) -> re.Match[str] | None:
    """Return the match of a sentence that corrects a name ("it is called `a`, not `b`"), else None."""
    match = _CALLED.match(line.rstrip(".!"))
    names = [match[part] for part in ("one", "other")] if match else []
    are_names = all(name.count("`") == len("``") or specific_names(name) for name in names)
    return match if are_names and len(set(names)) > 1 else None


def _to_remember(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield what the person asked to remember, in their words; an order ("remember to ...") is a preference instead."""
    for said in reversed(_said_by_user(facts)):
        for sentence in own_sentences(said.text):
            language = language_of(sentence)
            match = language.remember.search(one_line(sentence)) if language is not None else None
            if match is None or cue_phrases.is_question(sentence) or is_reported(sentence) or is_joke(sentence):
                continue
            groups = match.groupdict()
            what = (match["what"] or groups.get("later") or groups["after"]).strip(" .!。！")
            if words_of(what) < _REMEMBER_WORDS_MIN or _NO_KNOWLEDGE.match(what):
                continue
            if not facts.trace.calls and OF_FEELINGS.search(what):
                continue
            if standing_preferences.preference_sentence(what) or len(what) > standing_preferences.LONGEST:
                continue
            content = with_absolute_dates(f"The user asked to remember: “{what}”", said.at or at)
            yield build_candidate(MemoryType.FACT, content, said.at or at, [said.seq], about_user=not facts.trace.calls)


def _from_working_memory(working_memory: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    for key in sorted(working_memory):
        value = one_line(working_memory[key])
        statement = statement_of(key, clip(value, 400))
        if statement is not None and len(value.split()) >= 3:  # a flag or a counter is of no use later
            content = with_absolute_dates(statement, at)
            yield Candidate(
                MemoryType.FACT, content, tags_of(value, key.lower()), at=at, provenance={"workingMemory": key}
            )
