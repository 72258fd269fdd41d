"""Candidate memories of a thread, its files and its working memory."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases, preferences
from reverie.distill.extractive.candidate_builder import (
    build_candidate,
    tags_of,
    with_absolute_dates,
    without_duplicates,
)
from reverie.distill.extractive.commands import Purpose
from reverie.distill.extractive.episodes import episodes
from reverie.distill.extractive.file_knowledge import file_memories
from reverie.distill.extractive.procedures import procedures, skills
from reverie.distill.extractive.prose import clip, one_line, sentences, specific_names, word_count
from reverie.distill.extractive.trace import Interrupted, ToolCall, Utterance
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.distill.extractive.thread_facts import AnsweredQuestion, FixedFailure, KeySentence, ThreadFacts

__all__ = ["candidates"]

# Refers to what was said before, so it means nothing alone: "This is why the cache was stale."
_DANGLING = re.compile(
    r"^(?:this|that|these|those|it|they|he|she|so|but|and|or|then|also|now|here|there|which|because|however|let me"
    r"|ah|i'?ll|i'?m|i|we|let'?s|ok|okay|yes|no|good|great|hmm|looking|wait|actually|since|same|both|either"
    r"|the (?:issue|problem|bug|fix) is)\b",
    re.IGNORECASE,
)
# A rule of the project or a tool: "`migrate` must run before the server starts."
_CONSTRAINT = re.compile(
    r"\b(?:requires?|must|only (?:works?|runs?|applies|when)|needs?|cannot|can'?t|always|never|by default"
    r"|(?:does|do)(?:n'?t| not) (?:support|handle|work|exist|include)|returns?|expects?"
    r"|is (?:stored|defined|called|used|set|created))\b",
    re.IGNORECASE,
)
# An explanation: "The import fails because the lock is taken twice."
_CAUSE = re.compile(
    r"\b(?:because|root cause|caused by|due to|turns out|was (?:designed|introduced)|which means)\b", re.IGNORECASE
)
# A guess, which may be wrong: "It is probably the cache."
_HEDGED = re.compile(r"\b(?:likely|probably|maybe|perhaps|might|seems?|i think|not sure|should be)\b", re.IGNORECASE)
# The part of a correction that can be followed: "No, use the staging database" gives "use the staging database".
_ADVICE = re.compile(r"^(?:please )?(?:don'?t|do not|never|avoid|stop|always|use|keep|make sure|only)\b", re.IGNORECASE)
# The opening of a correction, removed before its advice is read: "No, wait - use pnpm" gives "use pnpm".
_NEGATION = re.compile(r"^(?:no|nope|wait|hmm|actually|stop)\b[,.!:\s-]*", re.IGNORECASE)
# The person about themselves: "I'm a backend engineer", "call me Sam".
_ABOUT_ME = re.compile(
    r"^(?:(?i:hi|hello|hey)[,!\s]+)?(?:I'?m [A-Z][\w-]+|I am [A-Z][\w-]+|(?i:my name is \w+|call me \w+|i live in\b"
    r"|i work (?:on|at|as|for|with)\b|my (?:role|job|team|time ?zone|native language) is\b"
    r"|i(?:'?m| am) an? [\w -]*(?:developer|engineer|designer|manager|scientist|student|writer|teacher|analyst)\b))"
)
# An opening without content, removed: "Ah, I see the problem: the path is relative" gives "the path is relative".
_LEAD_IN = re.compile(
    r"^(?:(?:wait|ah|oh|ok(?:ay)?|good|great|yeah|right|hmm+|now i (?:see|understand)"
    r"|i (?:see|found) the (?:issue|problem))\b[\s,.:!\u2013\u2014-]*)+",
    re.IGNORECASE,
)
# A cause that needs the sentence before it: "This is because the test changed it."
_POINTS_BACK = re.compile(
    r"^(?:this|that|these|those|it|it's|they|so|but|and|both|same|all|there"
    r"|the (?:test|edit|fix|change|output|log)s? (?:shows?|from|above|below|is (?:now|that|wrong|in)))\b",
    re.IGNORECASE,
)
# The agent about its own work, not about the project: "I'll copy the file."
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'?m|i'?ve|i'?ll|let'?s|me|my|is wrong|needs? more|not in the|copy)\b", re.IGNORECASE
)
# True only during the task: "we just added it above", "in this branch".
_PASSING = re.compile(
    r"\b(?:i|i'?m|i'?ve|i'?ll|we|we'?re|we'?ll|let'?s|me|my|our|ours|you|your|this (?:pr|commit|branch|session|change)"
    r"|just (?:added|fixed|made|changed)|at that point|the old|(?:step|change|phase|option) (?:\d|[A-Z]\b)"
    r"|line \d+|above|below|the test shows|currently|needs? more)\b",
    re.IGNORECASE,
)
# A plan's bullet, not a fact: "Add a retry", "Consider a cache".
_PLANNED = re.compile(
    r"^(?:add|remove|consider|update|plan|action|step|pros?|cons?|better|simplified|requires?|needs?|checks?|comment"
    r"|missing|only|user commands|important|one note|note: this|fix|root cause documented|the (?:bug|fix) was)\b",
    re.IGNORECASE,
)
# A commit hash: a sentence about one commit is of no use later.
_COMMIT_HASH = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
# Inline code, left out when a sentence is searched for `_PASSING` words: "`my_app` requires Redis" is no talk about
# "my".
_CODE = re.compile(r"`[^`]*`")
# An error line that many failures share, so no later reader recognises it: "exit code 1", "SyntaxError".
_VAGUE = re.compile(
    r"^(?:\[[\w:.-]+\] )?(?:error:? )?(?:task|command|build|tests?|lint\w*) failed\b"
    r"|\bexit (?:code|status) \d+$|no such file"
    r"|\bCONFLICT\b|^\S+ \S+$|^\S+:$|, got:$|^(?:panic: )?runtime error|nil pointer dereference|SyntaxError",
    re.IGNORECASE,
)
# The client's text where the person stopped or refused a tool call.
_REFUSED = re.compile(r"\[Request interrupted|doesn't want to proceed")
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
# Preferences taken from one thread, newest first; more are one task's instructions.
_PREFERENCES_MAX = 15
_BROKEN = {Purpose.TEST: "the tests fail", Purpose.BUILD: "the build fails", Purpose.LINT: "the linter complains"}


def candidates(
    facts: ThreadFacts, files: Mapping[str, str], working_memory: Mapping[str, str], at: str | None
) -> tuple[Candidate, ...]:
    """Return mistakes, preferences, procedures, skills, facts, observations and episodes, in this order.

    Every one stands by itself, carries a date where time matters, and says what was learnt. Small talk gives none.
    """
    known = [*_about_user(facts, at), *_from_working_memory(working_memory, at), *_facts(facts, at)]
    learnt = list(file_memories(files, at))
    return (
        *without_duplicates([*_mistakes(facts, at), *_of(learnt, MemoryType.MISTAKE)]),
        *islice(_preferences(facts, at), _PREFERENCES_MAX),
        *without_duplicates(_agent_choices(facts, at)),
        *without_duplicates([*procedures(facts, at), *_of(learnt, MemoryType.PROCEDURE)]),
        *without_duplicates(skills(facts, at)),
        *without_duplicates(known),
        *without_duplicates(_of(learnt, MemoryType.FACT), limit=60),
        *without_duplicates(_observations(facts, at)),
        *episodes(facts, at),
    )


def _of(found: Iterable[Candidate], kind: MemoryType) -> list[Candidate]:
    return [candidate for candidate in found if candidate.type is kind]


def _mistakes(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the person's corrections, then failures with their fix, each phrased as advice."""
    for mark in reversed(facts.corrections):
        text = _correction(mark, facts)
        if text:
            advice = f"{text[0].upper()}{text[1:].rstrip('.!')}: the user had to correct this"
            yield build_candidate(
                MemoryType.MISTAKE, with_absolute_dates(advice, mark.at or at), mark.at or at, [mark.seq]
            )
    for fix in reversed(facts.fixes):
        advice = _advice_from_fix(fix)
        if advice:
            when = fix.passed.at or at
            seqs = [fix.failed.seq, fix.passed.seq]
            yield build_candidate(
                MemoryType.MISTAKE, with_absolute_dates(advice, when), when, seqs, fix.failed.purpose.value
            )


def _correction(mark: KeySentence, facts: ThreadFacts) -> str:
    """Return the advice in a correction, or the empty string if it has none or gives no reason."""
    text = _NEGATION.sub("", mark.text)
    if not _ADVICE.match(text) or cue_phrases.is_question(text) or len(text.split()) < 4:
        return ""
    if preferences.preference_sentence(mark.text) and text == mark.text and mark.seq not in _interruptions(facts):
        return ""
    return text


def _interruptions(facts: ThreadFacts) -> set[int]:
    """Return what the person said after stopping the agent."""
    found: set[int] = set()
    for before, step in pairwise(facts.trace.steps):
        if isinstance(step, Utterance) and step.role == "user":
            refused = isinstance(before, ToolCall) and before.failed and _REFUSED.search(before.result) is not None
            if refused or isinstance(before, Interrupted):
                found.add(step.seq)
    return found


def _advice_from_fix(fix: FixedFailure) -> str:
    """Return advice for a fixed failure, or the empty string if its cause or symptom is unknown."""
    error, why = fix.failed.error, _LEAD_IN.sub("", fix.why)
    where = ", ".join([path for path in fix.files if not path.startswith("/")][:2])
    if fix.failed.purpose not in _BROKEN or not where or not error or _VAGUE.search(error) or not _is_explanation(why):
        return ""
    return f"If {_BROKEN[fix.failed.purpose]} with “{clip(error, 140)}”, look at {where}: {clip(why, 240)}"


def _is_explanation(why: str) -> bool:
    """True if a sentence states a cause that helps a later reader: no guess, no back reference, no plan."""
    return (
        word_count(why) >= 4
        and not _HEDGED.search(why)
        and not _POINTS_BACK.match(why)
        and not _FIRST_PERSON.search(_CODE.sub("", why))
        and _is_balanced(why)
    )


def _preferences(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the person's standing preferences, without a date so that repetitions are equal."""
    corrected = {(mark.seq, mark.text) for mark in facts.corrections if _correction(mark, facts)}
    for wish in preferences.standing_preferences(facts.requests):
        if (wish.seq, wish.said) not in corrected:
            yield build_candidate(MemoryType.PREFERENCE, f"{wish.text}.", wish.at or at, [wish.seq], about_user=True)


def _agent_choices(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Yield the agent's stated choices between alternatives."""
    for answer in reversed(facts.answers):
        if _is_choice(answer):
            picked = _RECOMMENDED.sub("", answer.answer).strip()
            choice = f"Asked “{clip(answer.question, 160)}”, the user chose “{picked}”"
            yield build_candidate(
                MemoryType.PREFERENCE,
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


def _about_user(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for said in facts.requests:
        for sentence in sentences(said.text)[:3]:
            if _ABOUT_ME.match(sentence) and len(sentence) <= 200:
                fact = f"The user said: “{sentence}”"
                yield build_candidate(
                    MemoryType.FACT,
                    with_absolute_dates(fact, said.at or at),
                    said.at or at,
                    [said.seq],
                    about_user=True,
                )


def _facts(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for mark in _self_contained(facts.findings):
        if _CONSTRAINT.search(mark.text) and not _CAUSE.search(mark.text):
            yield build_candidate(
                MemoryType.FACT, with_absolute_dates(mark.text, mark.at or at), mark.at or at, [mark.seq]
            )


def _observations(facts: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for mark in _self_contained(facts.findings):
        if _CAUSE.search(mark.text):
            yield build_candidate(
                MemoryType.OBSERVATION, with_absolute_dates(mark.text, mark.at or at), mark.at or at, [mark.seq]
            )


def _from_working_memory(working_memory: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    for key in sorted(working_memory):
        value = one_line(working_memory[key])
        if len(value.split()) >= 3:  # a flag or a counter is of no use later
            content = with_absolute_dates(f"{key}: {clip(value, 400)}", at)
            yield Candidate(
                MemoryType.FACT, content, tags_of(value, key.lower()), at=at, provenance={"workingMemory": key}
            )


def _self_contained(marks: Iterable[KeySentence]) -> list[KeySentence]:
    """Return sentences that are self-contained, specific and certain, newest first."""
    return [
        mark
        for mark in reversed(list(marks))
        if _is_self_contained(mark.text) and ("`" in mark.text or specific_names(mark.text))
    ]


def _is_self_contained(text: str) -> bool:
    """True if a sentence can be understood without its context and after the task is over."""
    return (
        40 <= len(text) <= 320
        and not _DANGLING.match(text)
        and not _HEDGED.search(text)
        and not text.endswith(":")
        and word_count(text) >= 5
        and not _PLANNED.match(text)
        and not _PASSING.search(_CODE.sub("", text))
        and not _COMMIT_HASH.search(text)
        and _is_balanced(text)
    )


def _is_balanced(text: str) -> bool:
    """True if quotes, emphasis marks and brackets in a sentence are balanced."""
    return text.count('"') % 2 == text.count("`") % 2 == text.count("*") % 2 == 0 and text.count("(") == text.count(")")
