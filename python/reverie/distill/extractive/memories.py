"""Candidate memories: what of a thread, its files and its working memory is worth knowing in another thread."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING

from reverie.distill.extractive import signals
from reverie.distill.extractive.commands import Purpose
from reverie.distill.extractive.episodes import episodes
from reverie.distill.extractive.knowledge import knowledge
from reverie.distill.extractive.names import names, word_count
from reverie.distill.extractive.prose import clip, one_line
from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.distill.extractive.commands import Run
    from reverie.distill.extractive.story import Mark, Story

__all__ = ["candidates", "distinct", "tags_of"]

_MAX_OF_TYPE = 15
_SAME = 0.7  # share of common words from which two memories say the same
_DANGLING = re.compile(
    r"^(?:this|that|these|those|it|they|he|she|so|but|and|or|then|also|now|here|there|which|because|however|let me"
    r"|i'?ll|i'?m|i|we|let'?s|ok|okay|yes|no|good|great|hmm|looking|wait|actually|since|the (?:issue|problem|bug|fix) is)\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:requires?|must|only (?:works?|runs?|applies|when)|needs?|cannot|can'?t|(?:does|do)(?:n'?t| not) (?:support|handle|work|exist|include)"
    r"|always|never|by default|is (?:stored|defined|called|used|set|created)|returns?|expects?)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\b(?:because|root cause|caused by|due to|turns out|was (?:designed|introduced)|which means)\b", re.IGNORECASE)
_ADVICE = re.compile(r"^(?:please )?(?:don'?t|do not|never|avoid|stop|always|use|keep|make sure|only)\b", re.IGNORECASE)
_NEGATION = re.compile(r"^(?:no|nope|wait|hmm|actually|stop)\b[,.!:\s-]*", re.IGNORECASE)
_ABOUT_ME = re.compile(
    r"^(?:hi|hello|hey)?[,!\s]*(?:i'?m (?:called )?(?:a |an |the )?[A-Z][\w-]+|i am (?:a |an |the )?[A-Z][\w-]+|my name is \w+|i work (?:on|at|as|for|with)\b"
    r"|call me \w+|i live in\b|my (?:role|job|team|timezone|native language) is\b)",
)
_RELATIVE = re.compile(r"\b(today|yesterday|tomorrow)\b", re.IGNORECASE)
_SHIFT = {"today": 0, "yesterday": -1, "tomorrow": 1}
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_PIPE = re.compile(r"\s*(?:2>&1|\|\s*(?:head|tail|grep|cat)\b.*|>\s*\S+)")
_PLACEHOLDER = re.compile(r"^(?:cd|echo|ls|cat|sed|grep|rg|find|head|tail|sleep|pwd|which|rm|cp|mv|mkdir|export|true|wc|touch|chmod|python3? -c|for|if|while)\b")


def candidates(
    story: Story, files: Mapping[str, str], working_memory: Mapping[str, str], at: str | None
) -> tuple[Candidate, ...]:
    """Memories in the order mistakes, preferences, procedures, skills, facts, observations, episodes.

    Every one stands by itself, carries a date where time matters, and says what was learnt. Small talk gives none.
    """
    found = [
        *distinct(_mistakes(story, at)),
        *distinct(_preferences(story, at)),
        *distinct(_procedures(story, at)),
        *distinct(_skills(story, at)),
        *distinct([*_facts(story, at), *knowledge(files, at), *_noted(working_memory, at)]),
        *distinct(_observations(story, at)),
        *episodes(story, at),
    ]
    return tuple(found)


def distinct(found: Iterable[Candidate], limit: int = _MAX_OF_TYPE) -> list[Candidate]:
    """The first of those that say the same, at most `limit`."""
    kept: list[tuple[Candidate, set[str]]] = []
    for candidate in found:
        words = _words(candidate.content)
        if all(len(words & other) < _SAME * min(len(words), len(other)) for _, other in kept):
            kept.append((candidate, words))
        if len(kept) == limit:
            break
    return [candidate for candidate, _ in kept]


def tags_of(text: str, *more: str) -> tuple[str, ...]:
    """Lowercase tags: `more` first, then the stems of the names in `text`, at most five."""
    stems = [re.sub(r"[^a-z0-9]+", "-", name.lower().rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip("-") for name in names(text)]
    return tuple(tag for tag in dict.fromkeys([*more, *stems]) if 2 < len(tag) <= 30)[:5]  # noqa: PLR2004


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9_]{3,}", text.lower()))


def _candidate(kind: MemoryType, content: str, mark_at: str | None, seqs: Sequence[int], *tags: str, user: bool = False) -> Candidate:
    return Candidate(
        type=kind,
        content=one_line(content),
        tags=tags_of(content, *tags),
        subject="user" if user else "project",
        at=mark_at,
        provenance={"seqs": sorted(set(seqs))},
    )


def dated(text: str, at: str | None) -> str:
    """`text` with words such as yesterday replaced by the date they meant, and the date it was said at its end."""
    day = _day(at)
    if day is None:
        return text
    fixed = _RELATIVE.sub(lambda found: (day + timedelta(days=_SHIFT[found[1].lower()])).isoformat(), text)
    return fixed if day.isoformat() in fixed else f"{fixed.rstrip('.')} ({day.isoformat()})."


def _day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None


def _stands_alone(text: str) -> bool:
    """Whether a sentence can be understood without the ones around it."""
    return 40 <= len(text) <= 300 and not _DANGLING.match(text) and not text.endswith(":") and word_count(text) >= 5  # noqa: PLR2004


def _mistakes(story: Story, at: str | None) -> Iterator[Candidate]:
    """Corrections first, then failures with what mended them, each as advice."""
    for mark in reversed(story.corrections):
        text = _NEGATION.sub("", mark.text)
        if _ADVICE.match(text) and not signals.is_question(text) and len(text.split()) >= 4:  # noqa: PLR2004
            advice = text[0].upper() + text[1:]
            yield _candidate(MemoryType.MISTAKE, dated(f"{advice.rstrip('.')}: the user had to correct this", mark.at or at), mark.at or at, [mark.seq])
    for fix in reversed(story.fixes):
        if not fix.failed.error or not fix.why:
            continue
        where = ", ".join(fix.files[:2])
        content = f"When {fix.failed.purpose.value} fails with “{clip(fix.failed.error, 140)}”, look at {where}: {clip(fix.why, 200)}"
        yield _candidate(
            MemoryType.MISTAKE, dated(content, fix.passed.at or at), fix.passed.at or at, [fix.failed.seq, fix.passed.seq], fix.failed.purpose.value
        )


def _preferences(story: Story, at: str | None) -> Iterator[Candidate]:
    for mark in reversed(story.preferences):
        if signals.is_lasting(mark.text) and 4 <= len(mark.text.split()) <= 50:  # noqa: PLR2004
            yield _candidate(MemoryType.PREFERENCE, dated(f"The user said: “{mark.text}”", mark.at or at), mark.at or at, [mark.seq], user=True)
    for answer in reversed(story.answers):
        yield _candidate(
            MemoryType.PREFERENCE,
            dated(f"Asked “{clip(answer.question, 160)}”, the user chose “{answer.answer}”", answer.at or at),
            answer.at or at,
            [answer.seq],
            "decision",
        )


def _procedures(story: Story, at: str | None) -> Iterator[Candidate]:
    """How this project is tested, built and linted, from the commands that kept working."""
    for purpose in (Purpose.TEST, Purpose.LINT, Purpose.BUILD):
        passed = [run for run in story.runs if run.purpose is purpose and not run.failed]
        usual = _usual(passed)
        if usual is None:
            continue
        command, used = usual
        if len(used) >= 2:  # noqa: PLR2004 - once may be chance
            last = used[-1]
            yield _candidate(
                MemoryType.PROCEDURE,
                dated(f"To run the {purpose.value} of this project: `{command}`; it passed {len(used)} times, last", last.at or at),
                last.at or at,
                [run.seq for run in used[-3:]],
                purpose.value,
            )
    before = _before_commits(story)
    if before:
        yield _candidate(
            MemoryType.PROCEDURE,
            f"Before each commit the work here is checked in this order: {', then '.join(f'`{command}`' for command in before)}, then `git commit`.",
            story.trace.last_at or at,
            [commit.seq for commit in story.commits[-3:]],
            "commit",
        )


def _usual(found: Sequence[Run]) -> tuple[str, list[Run]] | None:
    """The command used most, the latest of equals, as it was typed but for folders and filters."""
    by: dict[str, list[Run]] = {}
    for run in found:
        for part in _SEPARATOR.split(run.command):
            command = _PIPE.sub("", part).strip()
            if command and not _PLACEHOLDER.match(command) and len(command) <= 120:  # noqa: PLR2004
                by.setdefault(command, []).append(run)
    fitting = {command: used for command, used in by.items() if used[0].purpose in {Purpose.TEST, Purpose.LINT, Purpose.BUILD}}
    if not fitting:
        return None
    command = max(fitting, key=lambda one: (len(fitting[one]), fitting[one][-1].seq, one))
    return command, fitting[command]


def _before_commits(story: Story) -> list[str]:
    """The checks that preceded at least half of the commits, and more than one, in their usual order."""
    orders: Counter[tuple[str, ...]] = Counter()
    recent: list[str] = []
    total = 0
    for run in story.runs:
        if run.purpose is Purpose.COMMIT and not run.failed:
            total += 1
            orders[tuple(dict.fromkeys(recent))] += 1
            recent = []
        elif run.purpose in {Purpose.TEST, Purpose.LINT, Purpose.BUILD} and not run.failed:
            usual = _usual([run])
            if usual is not None:
                recent.append(usual[0])
    order, count = max(orders.items(), key=lambda pair: (pair[1], len(pair[0]), pair[0]), default=((), 0))
    return list(order) if order and count >= 2 and 2 * count >= total else []  # noqa: PLR2004


def _skills(story: Story, at: str | None) -> Iterator[Candidate]:
    """Ways of doing something that worked more than once and are not plain shell: by program and verb."""
    by: dict[str, list[Run]] = {}
    for run in story.runs:
        if run.failed or run.purpose is not Purpose.OTHER or not run.description:
            continue
        first = _SEPARATOR.split(run.command.strip())[0]
        words = first.split()
        if len(words) >= 3 and not _PLACEHOLDER.match(first) and words[0] != "git" and len(first) <= 200:  # noqa: PLR2004
            by.setdefault(" ".join(words[:3]), []).append(run)
    for used in sorted(by.values(), key=lambda runs: (-len(runs), runs[0].seq)):
        if len(used) >= 2:  # noqa: PLR2004 - once may be chance
            last = used[-1]
            command = _SEPARATOR.split(last.command.strip())[0]
            purpose = last.description[0].lower() + last.description[1:]
            yield _candidate(MemoryType.SKILL, f"To {purpose}: `{clip(command, 200)}`", last.at or at, [run.seq for run in used[-3:]], words_tag(command))


def words_tag(command: str) -> str:
    """The program of a command, as a tag."""
    return re.sub(r"[^a-z0-9]+", "-", command.split()[0].rsplit("/", 1)[-1].lower()).strip("-")


def _facts(story: Story, at: str | None) -> Iterator[Candidate]:
    for said in story.requests:
        for sentence in signals.sentences(said.text)[:3]:
            if _ABOUT_ME.match(sentence) and len(sentence) <= 200:  # noqa: PLR2004
                yield _candidate(MemoryType.FACT, dated(f"The user said: “{sentence}”", said.at or at), said.at or at, [said.seq], "user", user=True)
    for mark in _best(story.findings):
        if _CONSTRAINT.search(mark.text) and not _CAUSE.search(mark.text):
            yield _candidate(MemoryType.FACT, dated(mark.text, mark.at or at), mark.at or at, [mark.seq])


def _observations(story: Story, at: str | None) -> Iterator[Candidate]:
    for mark in _best(story.findings):
        if _CAUSE.search(mark.text):
            yield _candidate(MemoryType.OBSERVATION, dated(mark.text, mark.at or at), mark.at or at, [mark.seq])


def _best(marks: Iterable[Mark]) -> list[Mark]:
    """Sentences that stand alone and name what they are about, newest first."""
    return [mark for mark in reversed(list(marks)) if _stands_alone(mark.text) and names(mark.text)]


def _noted(working_memory: Mapping[str, str], at: str | None) -> Iterator[Candidate]:
    for key in sorted(working_memory):
        value = one_line(working_memory[key])
        if len(value.split()) >= 3:  # noqa: PLR2004 - a flag or a counter is of no use later
            yield Candidate(MemoryType.FACT, dated(f"{key}: {clip(value, 400)}", at), tags_of(value, key.lower()), at=at, provenance={"key": key})
