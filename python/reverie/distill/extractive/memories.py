"""Candidate memories: what of a thread, its files and its working memory is worth knowing in another thread."""

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

_DANGLING = re.compile(
    r"^(?:this|that|these|those|it|they|he|she|so|but|and|or|then|also|now|here|there|which|because|however|let me"
    r"|ah|i'?ll|i'?m|i|we|let'?s|ok|okay|yes|no|good|great|hmm|looking|wait|actually|since|same|both|either"
    r"|the (?:issue|problem|bug|fix) is)\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:requires?|must|only (?:works?|runs?|applies|when)|needs?|cannot|can'?t|always|never|by default"
    r"|(?:does|do)(?:n'?t| not) (?:support|handle|work|exist|include)|returns?|expects?"
    r"|is (?:stored|defined|called|used|set|created))\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|root cause|caused by|due to|turns out|was (?:designed|introduced)|which means)\b", re.IGNORECASE
)
_HEDGED = re.compile(r"\b(?:likely|probably|maybe|perhaps|might|seems?|i think|not sure|should be)\b", re.IGNORECASE)
_ADVICE = re.compile(r"^(?:please )?(?:don'?t|do not|never|avoid|stop|always|use|keep|make sure|only)\b", re.IGNORECASE)
_NEGATION = re.compile(r"^(?:no|nope|wait|hmm|actually|stop)\b[,.!:\s-]*", re.IGNORECASE)
_ABOUT_ME = re.compile(
    r"^(?:(?i:hi|hello|hey)[,!\s]+)?(?:I'?m [A-Z][\w-]+|I am [A-Z][\w-]+|(?i:my name is \w+|call me \w+|i live in\b"
    r"|i work (?:on|at|as|for|with)\b|my (?:role|job|team|time ?zone|native language) is\b"
    r"|i(?:'?m| am) an? [\w -]*(?:developer|engineer|designer|manager|scientist|student|writer|teacher|analyst)\b))"
)
_LED_IN = re.compile(
    r"^(?:(?:wait|ah|oh|ok(?:ay)?|good|great|yeah|right|hmm+|now i (?:see|understand)"
    r"|i (?:see|found) the (?:issue|problem))\b[\s,.:!\u2013\u2014-]*)+",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"^(?:this|that|these|those|it|it's|they|so|but|and|both|same|all|there"
    r"|the (?:test|edit|fix|change|output|log)s? (?:shows?|from|above|below|is (?:now|that|wrong|in)))\b",
    re.IGNORECASE,
)
_TOLD = re.compile(r"\b(?:i|i'?m|i'?ve|i'?ll|let'?s|me|my|is wrong|needs? more|not in the|copy)\b", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:i|i'?m|i'?ve|i'?ll|we|we'?re|we'?ll|let'?s|me|my|our|ours|you|your|this (?:pr|commit|branch|session|change)"
    r"|just (?:added|fixed|made|changed)|at that point|the old|(?:step|change|phase|option) (?:\d|[A-Z]\b)"
    r"|line \d+|above|below|the test shows|currently|needs? more)\b",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"^(?:add|remove|consider|update|plan|action|step|pros?|cons?|better|simplified|requires?|needs?|checks?|comment"
    r"|missing|only|user commands|important|one note|note: this|fix|root cause documented|the (?:bug|fix) was)\b",
    re.IGNORECASE,
)
_ONCE = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_CODE = re.compile(r"`[^`]*`")
_VAGUE = re.compile(
    r"^(?:\[[\w:.-]+\] )?(?:error:? )?(?:task|command|build|tests?|lint\w*) failed\b"
    r"|\bexit (?:code|status) \d+$|no such file"
    r"|\bCONFLICT\b|^\S+ \S+$|^\S+:$|, got:$|^(?:panic: )?runtime error|nil pointer dereference|SyntaxError",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"\[Request interrupted|doesn't want to proceed")
_MARKED = re.compile(r"\s*\((?:recommended|default)\)", re.IGNORECASE)
_STEP = re.compile(
    r"\b(?:ready|proceed|continue|go ahead|shall i|should i|do you want|would you like|push|prs?|pull requests?"
    r"|this (?:work|time|commit|branch|change|task|session|plan|split)|now|next|first|more to discuss)\b",
    re.IGNORECASE,
)
_NO_CHOICE = re.compile(
    r"^(?:yes|yep|no|nope|nah|include|both|either|neither|skip|later|not (?:now|sure))\b", re.IGNORECASE
)
_CHOICE_WORDS = 10
_MOST_WISHES = 15
_BROKEN = {Purpose.TEST: "the tests fail", Purpose.BUILD: "the build fails", Purpose.LINT: "the linter complains"}


def candidates(
    story: ThreadFacts, files: Mapping[str, str], working_memory: Mapping[str, str], at: str | None
) -> tuple[Candidate, ...]:
    """Memories in the order mistakes, preferences, procedures, skills, facts, observations, episodes.

    Every one stands by itself, carries a date where time matters, and says what was learnt. Small talk gives none.
    """
    facts = [*_about_user(story, at), *_noted(working_memory, at), *_facts(story, at)]
    learnt = list(file_memories(files, at))
    return (
        *without_duplicates([*_mistakes(story, at), *_of(learnt, MemoryType.MISTAKE)]),
        *islice(_wishes(story, at), _MOST_WISHES),
        *without_duplicates(_choices(story, at)),
        *without_duplicates([*procedures(story, at), *_of(learnt, MemoryType.PROCEDURE)]),
        *without_duplicates(skills(story, at)),
        *without_duplicates(facts),
        *without_duplicates(_of(learnt, MemoryType.FACT), limit=60),
        *without_duplicates(_observations(story, at)),
        *episodes(story, at),
    )


def _of(found: Iterable[Candidate], kind: MemoryType) -> list[Candidate]:
    return [candidate for candidate in found if candidate.type is kind]


def _mistakes(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Corrections first, then failures with what mended them, each as advice."""
    for mark in reversed(story.corrections):
        text = _correction(mark, story)
        if text:
            advice = f"{text[0].upper()}{text[1:].rstrip('.!')}: the user had to correct this"
            yield build_candidate(
                MemoryType.MISTAKE, with_absolute_dates(advice, mark.at or at), mark.at or at, [mark.seq]
            )
    for fix in reversed(story.fixes):
        advice = _mended(fix)
        if advice:
            when = fix.passed.at or at
            seqs = [fix.failed.seq, fix.passed.seq]
            yield build_candidate(
                MemoryType.MISTAKE, with_absolute_dates(advice, when), when, seqs, fix.failed.purpose.value
            )


def _correction(mark: KeySentence, story: ThreadFacts) -> str:
    """The advice in a correction; empty where there is none, or where a rule is stated without a reason to mend."""
    text = _NEGATION.sub("", mark.text)
    if not _ADVICE.match(text) or cue_phrases.is_question(text) or len(text.split()) < 4:
        return ""
    if preferences.preference_sentence(mark.text) and text == mark.text and mark.seq not in _interruptions(story):
        return ""
    return text


def _interruptions(story: ThreadFacts) -> set[int]:
    """Where the person spoke after stopping the agent."""
    found: set[int] = set()
    for before, step in pairwise(story.trace.steps):
        if isinstance(step, Utterance) and step.role == "user":
            refused = isinstance(before, ToolCall) and before.failed and _REFUSED.search(before.result) is not None
            if refused or isinstance(before, Interrupted):
                found.add(step.seq)
    return found


def _mended(fix: FixedFailure) -> str:
    """What to look at when this failure comes again; empty where nobody said why it happened, or what it looks like."""
    error, why = fix.failed.error, _LED_IN.sub("", fix.why)
    where = ", ".join([path for path in fix.files if not path.startswith("/")][:2])
    if fix.failed.purpose not in _BROKEN or not where or not error or _VAGUE.search(error) or not _explains(why):
        return ""
    return f"If {_BROKEN[fix.failed.purpose]} with “{clip(error, 140)}”, look at {where}: {clip(why, 240)}"


def _explains(why: str) -> bool:
    """Whether a cause is told so that it helps who was not there: no guess, no pointing back, no plan of the moment."""
    return (
        word_count(why) >= 4
        and not _HEDGED.search(why)
        and not _POINTS_BACK.match(why)
        and not _TOLD.search(_CODE.sub("", why))
        and _is_whole(why)
    )


def _wishes(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """What the person wants for good, without a date, so that it is the same when they say it again."""
    corrected = {(mark.seq, mark.text) for mark in story.corrections if _correction(mark, story)}
    for wish in preferences.standing_preferences(story.requests):
        if (wish.seq, wish.said) not in corrected:
            yield build_candidate(MemoryType.PREFERENCE, f"{wish.text}.", wish.at or at, [wish.seq], about_user=True)


def _choices(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    """Between ways of doing things, as the agent put them."""
    for answer in reversed(story.answers):
        if _is_choice(answer):
            picked = _MARKED.sub("", answer.answer).strip()
            choice = f"Asked “{clip(answer.question, 160)}”, the user chose “{picked}”"
            yield build_candidate(
                MemoryType.PREFERENCE,
                with_absolute_dates(choice, answer.at or at),
                answer.at or at,
                [answer.seq],
                "decision",
            )


def _is_choice(answer: AnsweredQuestion) -> bool:
    """Whether one of several ways was chosen, rather than a step allowed, put off, or asked back about."""
    return (
        " or " in f" {answer.question.lower()} "
        and len(answer.answer.split()) <= _CHOICE_WORDS
        and not cue_phrases.is_question(answer.answer)
        and not cue_phrases.is_approval(answer.answer)
        and not _STEP.search(answer.question)
        and not _NO_CHOICE.match(answer.answer)
    )


def _about_user(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for said in story.requests:
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


def _facts(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for mark in _best(story.findings):
        if _CONSTRAINT.search(mark.text) and not _CAUSE.search(mark.text):
            yield build_candidate(
                MemoryType.FACT, with_absolute_dates(mark.text, mark.at or at), mark.at or at, [mark.seq]
            )


def _observations(story: ThreadFacts, at: str | None) -> Iterator[Candidate]:
    for mark in _best(story.findings):
        if _CAUSE.search(mark.text):
            yield build_candidate(
                MemoryType.OBSERVATION, with_absolute_dates(mark.text, mark.at or at), mark.at or at, [mark.seq]
            )


def _noted(working_memory: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    for key in sorted(working_memory):
        value = one_line(working_memory[key])
        if len(value.split()) >= 3:  # a flag or a counter is of no use later
            content = with_absolute_dates(f"{key}: {clip(value, 400)}", at)
            yield Candidate(
                MemoryType.FACT, content, tags_of(value, key.lower()), at=at, provenance={"workingMemory": key}
            )


def _best(marks: Iterable[KeySentence]) -> list[KeySentence]:
    """Sentences that stand alone, name what they are about and do not guess, newest first."""
    return [
        mark
        for mark in reversed(list(marks))
        if _stands_alone(mark.text) and ("`" in mark.text or specific_names(mark.text))
    ]


def _stands_alone(text: str) -> bool:
    """Whether a sentence can be understood without the ones around it, and after the work it was said in."""
    return (
        40 <= len(text) <= 320
        and not _DANGLING.match(text)
        and not _HEDGED.search(text)
        and not text.endswith(":")
        and word_count(text) >= 5
        and not _PLANNED.match(text)
        and not _PASSING.search(_CODE.sub("", text))
        and not _ONCE.search(text)
        and _is_whole(text)
    )


def _is_whole(text: str) -> bool:
    """Whether every quote, mark and bracket that opens is closed."""
    return text.count('"') % 2 == text.count("`") % 2 == text.count("*") % 2 == 0 and text.count("(") == text.count(")")
