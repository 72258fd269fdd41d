"""Standing preferences: what a person wants always, never or rather.

English is phrased in the third person, other languages are quoted. In a thread without any tool call, a chat, people
speak of everything: there a wish must be an order to the agent about how it answers ("always reply in German").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.distill.extractive import cue_phrases, messages_that_open_a_task
from reverie.distill.extractive.choices_of_form_x_not_y import named_choice
from reverie.distill.extractive.detect_talk_that_sets_no_rule import (
    ABOUT_WORK,
    OF_FEELINGS,
    TO_AGENT,
    asks_for_text,
    is_for_a_while,
    is_joke,
    is_reported,
    is_shown_by_program,
    names_given_up,
    takes_back,
)
from reverie.distill.extractive.order_verbs_and_general_rules import VERB, holds_from_now_on, is_general_rule
from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences
from reverie.distill.extractive.reword_wish_in_third_person import reworded
from reverie.distill.extractive.standing_wishes_in_everyday_words import (
    asks_for_more,
    confirmed_statement,
    is_only_alone,
    order_in_complaint,
    ordinary_wish,
)
from reverie.distill.extractive.stated_conventions import is_per_piece, stated_wish
from reverie.distill.extractive.wish_and_correction_cues_by_language import is_quoted_wish, language_of
from reverie.distill.sentences import clip, first_sentence, one_line
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.distill.steps import Utterance

__all__ = [
    "LONGEST",
    "StandingPreference",
    "preference_sentence",
    "standing_preferences",
]

LONGEST = 240
"""Most characters of a sentence that is read as a rule; longer ones are descriptions."""
# Characters of the stored sentence, about 45 tokens, set by hand.
_SHOWN = 180
# Share of the words of both from which two wishes are one, of which the newer is kept: "answer in short German
# sentences" and "answer in short English sentences" (4 of 6, 0.67); but not "run the unit tests before a commit" and
# "run the unit tests before each push" (4 of 7, 0.57).
_SAME = 0.6

# Openings without content: "And by the way, always sign commits" gives "always sign commits".
_OPENING = lazy_regex(
    r"^(?:(?:and|but|so|also|oh|hey|ok(?:ay)?|yes|yep|no|nope|nah|hmm+|wait|actually|btw|by the way|one more thing"
    r"|for the record|fyi|(?:please )?(?:note|remember(?! to\b))(?: that)?|important|reminder|again)\b"
    r"[\s,.:;!\u2013\u2014-]*)+",
    re.IGNORECASE,
)
_FROM_NOW = r"(?:from now on|from here on|going forward|in future (?:sessions|threads|work)|in (?:the )?future)"
# Where a wish begins inside a sentence: "Looks good, but never push to main" is split before "never".
_CLAUSE = lazy_regex(
    r"(?:[,;:\u2013\u2014(]|\s-|\b(?:and|but|so)\b)\s+(?:and |but |so |also |please )*"
    rf"(?=(?:(?:let'?s|then) [^,;]+ {_FROM_NOW}$|from now on|going forward|(?:please )?(?:always|never|do not ever"
    rf"|don'?t ever)\s"
    r"|(?:i|we) (?:always|never|usually|prefer|generally prefer|(?:really )?(?:hate|dislike|don'?t like))\s))",
    re.IGNORECASE,
)
_IS_ORDER = lazy_regex(rf"^(?:also |first |only |just |explicitly )?{VERB}\b", re.IGNORECASE)
_WITHIN = "|".join(
    (
        rf"{_FROM_NOW}[,:]?\s+i(?:'d| would)? (?:want|like) (?:you|us) to ",
        rf"{_FROM_NOW}[,:]?\s+(?:please |you (?:should|must) |let'?s )*",
        r"(?:i|we)(?:'d| would)? (?:want|like|need) (?:you|agents|everyone) to (?=always|never)",
        r"you (?:should|must) (?=always|never)",
        r"(?:please )?(?:make sure|be sure)(?: that you| you| to)? (?=always|never)",
        r"please (?:just )?",
        rf"(?:let'?s|then) (?=.*\b{_FROM_NOW}$)",
    )
)
# Frames around a wish: "from now on please use tabs" gives "use tabs", and says that it is lasting.
_FRAME = lazy_regex(rf"^(?:{_WITHIN})", re.IGNORECASE)
# "I prefer short answers" becomes "Prefers short answers".
_PREFER = lazy_regex(
    r"^(?:(?:i|we)(?:'d| would)?(?: (?:really|generally|usually|always|strongly|much))? prefer"
    r"|my preference is(?: for)?|prefer(?=.* (?:over|to|rather than) ))\s+(?P<what>.+)$",
    re.IGNORECASE,
)
# "I hate long lines" becomes "Dislikes long lines".
_DISLIKE = lazy_regex(
    r"^(?:i|we) (?:really )?(?:hate|dislike|don'?t like|do not like|can'?t stand)\s+(?P<what>.+)$", re.IGNORECASE
)
# "We never squash merges" becomes "Wants agents never to squash merges".
_HABIT = lazy_regex(rf"^(?:i|we) (?P<how>always|never|usually) (?:want to )?(?P<what>{VERB}\b.+)$", re.IGNORECASE)
# "Never force-push"
_NEVER = lazy_regex(r"^(?:never(?:,? ever,?)?|(?:don'?t|do not) ever)\s+(?P<what>.+)$", re.IGNORECASE)
# "Don't delete the fixtures again"
_NOT_AGAIN = lazy_regex(r"^(?:don'?t|do not)\s+(?P<what>.+?)\s+(?:ever )?again$", re.IGNORECASE)
# "Always run the linter first"
_ALWAYS = lazy_regex(r"^always\s+(?P<what>.+)$", re.IGNORECASE)
# "Remember to update the changelog"
_REMEMBER = lazy_regex(r"^(?:always )?remember to\s+(?:always )?(?P<what>.+)$", re.IGNORECASE)
# "Don't use mocks": a wish only inside a lasting frame ("from now on don't use mocks").
_NOT = lazy_regex(r"^(?:don'?t|do not)\s+(?P<what>.+)$", re.IGNORECASE)
# "Stop adding comments": a wish only inside a lasting frame.
_STOP = lazy_regex(r"^(?P<what>stop \w+ing\b.+)$", re.IGNORECASE)
# "Use tabs": a wish only inside a lasting frame, else an order for the task at hand.
_ORDER = lazy_regex(rf"^(?P<what>{VERB}\b.+)$", re.IGNORECASE)
# "Only pnpm": a thing alone, also a wish only inside a lasting frame; "spaces, not tabs" needs none.
_BARE = lazy_regex(
    r"^(?:only )?(?P<what>tabs|spaces|(?:\d|two|four) spaces|(?:single|double) quotes|npm|pnpm|yarn|bun|uv|poetry|pip"
    r"|pytest|vitest|jest|(?:british|american) (?:english|spelling)|camelCase|snake_case)"
    r"(?: only| everywhere)?(?:,? (?:and )?(?:not|instead of|rather than) (?P<other>[\w-]+(?: [\w-]+)?))?"
    r"(?:,? please)?$",
    re.IGNORECASE,
)
# A lasting frame at the end: "run the tests every time".
_ENDING = lazy_regex(rf",?\s+(?:{_FROM_NOW}|every time|each time|at all times|always)$", re.IGNORECASE)
# "Run the linter before every commit", and "before every commit, run the linter", which gives the same sentence.
_OCCASION = r"(?:before|after) (?:each|every|any) (?:commit|push|merge|release|deploy(?:ment)?|pull request|pr)"
_AT_OCCASION = lazy_regex(
    rf"^(?:please |always )*(?:(?P<first>{_OCCASION})s?,? (?:please |always )*"
    rf"(?P<do>(?!\w+ (?:fails?|failed|hangs?|breaks?|takes?|is|was|are)\b){VERB} [^,;:]+)"
    rf"|(?P<what>{VERB} [^,;:]+) (?P<last>{_OCCASION})s?)(?: please)?$",
    re.IGNORECASE,
)

# "We must never log tokens because they end up in the backups": a rule with its reason.
_MUST = lazy_regex(
    rf"^(?:we|you|agents|everyone) (?:must|should|may|can) (?P<how>always|never) (?P<what>{VERB}\b.+)$", re.IGNORECASE
)
# "We use uv here, not pip": here is the project, and not the place that is spoken of.
_OF_PROJECT = lazy_regex(r"^(?P<what>(?:we )?use \S+(?: \S+)?) here(?=,? (?:and )?not )", re.IGNORECASE)
# What a wish holds for, in front of it: "when you add a route, always document it" is quoted whole.
_CONDITION = lazy_regex(
    r"^(?:when(?:ever)?|if|unless|until|once|while|before|after|on|in|for|to \w+|every time|each time)\b[^,;:]{3,}$",
    re.IGNORECASE,
)
# Lasting by what they are about: the language and the spelling of all texts, emojis.
_STYLE = lazy_regex(
    r"^(?:please )?(?:(?P<do>(?:use|write in|stick to) (?:british|american) (?:english|spelling)"
    r"|(?:reply|answer|respond|talk to me|speak) in (?:english|german|french|spanish|italian|portuguese|dutch|chinese"
    r"|japanese))"
    r"|(?:no|don't use|do not use|avoid|stop using) (?:any )?(?:more )?(?P<avoid>emojis?|em[- ]dash(?:es)?))"
    r"(?: please)?$",
    re.IGNORECASE,
)
# "We use pnpm, not npm"
_NOT_OTHER = lazy_regex(
    r"^(?:(?:we|you should) )?use (?P<what>[^\s,;]+(?: [^\s,;]+){0,3}),? (?:and )?(?:not"
    r"|never) (?P<other>[^\s,;]+(?: [^\s,;]+){0,3}?)(?P<scope>,? (?:for|in|with) [^,;]{3,40})?$",
    re.IGNORECASE,
)
# Broken off, or markup: "always → exit with", "never use {name}".
_BROKEN = lazy_regex(r"[→⇒{}|…]|\.\.\.|=>|->|“…”")

# What follows dots or a "but I think" is an afterthought: "the rule is to warn...not sure about the others".
_AFTERTHOUGHT = lazy_regex(
    r"\.{3}|…|,? but (?:maybe|perhaps|(?:i|we) (?:think|guess|could|might|can|will|should))\b", re.IGNORECASE
)
# Limited to one occasion, so no standing wish: "never mind this file for now".
_PASSING = lazy_regex(
    r"\b(?:here|for now|right now|today|tonight|tomorrow|just once|this (?:time|once|one|pr|mr|commit|branch|session"
    r"|task|file|change|case|plan|issue|bug|step|function|line|test)|these (?:changes|tests|files|comments|commits))\b",
    re.IGNORECASE,
)
# Names nothing by itself: "always do that", "prefer the second option".
_POINTING = lazy_regex(
    r"^(?:(?:to )?(?:do|use|keep|have|go with|take|make|see|be|say) )?(?:that|this|it|these|those|them|so|the (?:first"
    r"|second|third|last|latter|former|other|new|old) (?:one|option|approach|way)?"
    r"|the \w+ (?:one|option|approach|way|version)|(?:option|approach) \w+|[a-d\d]\))"
    r"(?:\W|$)",
    re.IGNORECASE,
)
# Names nothing at its end: "never touch it again".
_POINTED_AT = lazy_regex(
    r"^\w+(?: \w+)? (?:this|that|it|these|those|them)(?: (?:again|here|there|now))?$", re.IGNORECASE
)
_FRAME_WORDS = {"wants", "prefers", "dislikes", "agents", "to", "a", "an", "the", "always", "never", "ever", "please"}
_PLEASE = lazy_regex(r"^(?:please |always )+", re.IGNORECASE)
_SHORTEST = 6  # characters; "do so" and the like say nothing by themselves
_WORD = lazy_regex(r"[\w./@+-]*\w")


@dataclass(frozen=True, slots=True)
class StandingPreference:
    """One standing preference as a sentence about the person, with its source entry."""

    text: str
    seq: int
    at: str | None
    said: str  # the sentence, to be recognized by


def standing_preferences(requests: Iterable[Utterance], *, chat: bool = False) -> Iterator[StandingPreference]:
    """Yield a StandingPreference for each lasting wish, newest first: in the third person, or (not English) quoted.

    Those that a later message takes back are left out. `chat`: the messages are of a thread without tool calls.
    """
    kept: list[tuple[set[str], bool]] = []
    given_up: set[str] = set()
    is_taken_back = False
    for said in reversed(list(requests)):
        if is_taken_back:
            is_taken_back = False
            continue
        own = own_sentences(said.text)
        for sentence, after in zip(own, [*own[1:], ""], strict=False):
            text = preference_sentence(sentence, chat=chat)
            confirmed = "" if text or chat else confirmed_statement(sentence, after)
            text = f"The user wants: “{confirmed}”" if confirmed else text
            words = _core(text)
            denies = text.startswith(("Wants agents never", "Dislikes"))
            is_over = not text or _is_of_task(text, sentence, said.text, chat=chat)
            is_over = is_over or any(_wants(text, name) for name in given_up)
            if not is_over and not any(denies is other and _same(words, before) for before, other in kept):
                kept.append((words, denies))
                yield StandingPreference(text, said.seq, said.at, one_line(sentence))
        is_taken_back = takes_back(said.text)
        given_up |= names_given_up(said.text)


def _is_of_task(text: str, sentence: str, message: str, *, chat: bool) -> bool:
    """Return True for a wish after the order of a task that it may be about alone.

    So is "use X, not Y", and in a chat each wish beside something to be written, but one "from now on".
    """
    if chat and asks_for_text(first_sentence(message)) and not re.search(_FROM_NOW, sentence, re.IGNORECASE):
        return True
    language = language_of(sentence)
    is_alone = language is not None and is_only_alone(_quoted(text), language.name)
    if is_alone and asks_for_more(message, sentence, lambda one: bool(preference_sentence(one, chat=chat))):
        return True
    if not (text.startswith("Wants agents to use ") or is_per_piece(text)) or named_choice(sentence) is not None:
        return False
    return messages_that_open_a_task.opens_task(first_sentence(message)) and first_sentence(message) != sentence


def _quoted(text: str) -> str:
    """Return the person's words in a preference that quotes them, or the empty string."""
    return text.removeprefix("The user wants: “").removesuffix("”") if text.endswith("”") else ""


def _wants(text: str, name: str) -> bool:
    """Return True if a preference's text wants the thing called `name` used, as "use pytest" wants `pytest`."""
    wanted = re.search(rf"\b(?:use|prefers|stick to|with) (?:the )?`?{re.escape(name)}\b", text, re.IGNORECASE)
    return wanted is not None and not text.startswith("Wants agents never")


def preference_sentence(sentence: str, *, chat: bool = False) -> str:
    """Rephrase `sentence` as a standing preference in the third person, or return the empty string."""
    if len(sentence) > LONGEST or cue_phrases.is_question(sentence) or is_reported(sentence) or is_joke(sentence):
        return ""
    if chat and OF_FEELINGS.search(sentence):
        return ""
    choice = named_choice(sentence)
    if choice is not None and not _PASSING.search(choice.scope):
        scope = f"{',' if choice.scope else ''} {choice.scope}".rstrip()
        wish = one_line(sentence).rstrip(" .!。！")
        rule = f"Wants agents to use {choice.what}, not {choice.other}{scope}"
        return rule if choice.english else f"The user wants: “{wish}”"
    language = language_of(sentence)
    if language is None:
        return ""
    if language.name != "en":
        wish = one_line(sentence)
        to_agent = not chat or language.to_agent.search(wish) or ABOUT_WORK.search(wish)
        if not (to_agent and is_quoted_wish(wish, language)):
            stated = stated_wish(wish, language.name, to_reader=chat) if to_agent else ""
            wish = stated or ordinary_wish(wish, language.name, chat=chat)
        return f"The user wants: “{wish}”" if wish else ""
    line = _OPENING.sub("", one_line(sentence)).replace("\u2019", "'")
    rule = _AFTERTHOUGHT.split(line, maxsplit=1)[0].rstrip(" .!,;")
    if not chat and holds_from_now_on(rule) and not (_PASSING.search(rule) or _BROKEN.search(rule)):
        return f"The user wants: “{rule}”"
    clauses = _CLAUSE.split(line)
    if len(clauses) > 1 and (is_for_a_while(clauses[0]) or asks_for_text(clauses[0])):
        return ""
    for clause in (line, *clauses[1:], one_line(sentence)):  # whole for "no emojis"
        text = _sentence_of(clause.strip(" .!;,)"), chat=chat)
        if text and text.count("`") % 2 == 0 and text.count("(") == text.count(")"):
            is_limited = clause in clauses[1:2] and _CONDITION.match(clauses[0]) is not None
            is_limited = is_limited or (clause in clauses[1:] and ordinary_wish(line, "en", chat=chat) == rule)
            return f"The user wants: “{rule}”" if is_limited else clip(reworded(text, clause.strip(" .!;,)")), _SHOWN)
    if not chat and is_general_rule(rule) and not (_PASSING.search(rule) or _BROKEN.search(rule)):
        return f"The user wants: “{rule}”"
    forgotten = "" if chat else order_in_complaint(sentence)
    if forgotten:
        return f"Wants agents to always {forgotten}"
    stated = ("" if chat else stated_wish(rule, "en")) or ordinary_wish(sentence, "en", chat=chat)
    return f"The user wants: “{stated}”" if stated else ""


_IN_CHAT = (TO_AGENT, _PREFER, _BARE, _STYLE)


def _sentence_of(clause: str, *, chat: bool) -> str:
    clause = _OF_PROJECT.sub(r"\g<what>", clause)
    framed = _FRAME.sub("", clause)
    lasting = framed != clause and not clause.lower().startswith(("please", "you"))
    if (
        _PASSING.search(clause)
        or _BROKEN.search(clause)
        or (chat and not (ABOUT_WORK.search(framed) or any(cue.match(framed) for cue in _IN_CHAT)))
    ):
        return ""
    for pattern, words in ((_PREFER, "Prefers"), (_DISLIKE, "Dislikes")):
        match = pattern.match(framed)
        if match:
            return "" if _POINTING.match(match["what"]) else f"{words} {match['what']}"
    match = _HABIT.match(framed)
    if match:
        how = {"always": "Wants agents to always", "never": "Wants agents never to", "usually": "Prefers to"}
        return f"{how[match['how'].lower()]} {match['what']}"
    match = _AT_OCCASION.match(framed)
    if match:
        done, when = match["do"] or match["what"], match["first"] or match["last"]
        pointing = _POINTING.match(done) or _POINTED_AT.match(done)
        return "" if pointing else f"Wants agents to always {done[0].lower()}{done[1:]} {when.lower()}"
    match = _MUST.match(framed)
    if match:
        order = "never to" if match["how"].lower() == "never" else "to always"
        return "" if _POINTING.match(match["what"]) else f"Wants agents {order} {match['what']}"
    style = _STYLE.match(framed)
    if style:
        return (
            f"Wants agents never to use {style['avoid']}" if style["avoid"] else f"Wants agents to always {style['do']}"
        )
    match = _NOT_OTHER.match(framed)
    if match and not _POINTING.match(match["what"]):
        return f"Wants agents to use {match['what']}, not {match['other']}{match['scope'] or ''}"
    return _ordered(framed, lasting=lasting)


def _ordered(text: str, *, lasting: bool) -> str:
    """Rephrase an imperative as a rule for the agent, or return the empty string."""
    ended = _ENDING.sub("", text)
    lasting = lasting or ended != text
    orders = [(_NEVER, "never to"), (_NOT_AGAIN, "never to"), (_ALWAYS, "to always"), (_REMEMBER, "to always")]
    bare = _BARE.match(ended)
    if bare is not None and (lasting or bare["other"]):
        what = bare["what"].lower() if bare["what"].istitle() else bare["what"]
        return f"Wants agents to use {what}" + (f", not {bare['other']}" if bare["other"] else "")
    if lasting:
        orders += [(_NOT, "never to"), (_STOP, "to"), (_ORDER, "to always")]
    for pattern, words in orders:
        match = pattern.match(ended)
        if match:
            what = _PLEASE.sub("", match["what"])
            what = what[0].lower() + what[1:] if what[1:2].islower() else what
            pointing = _POINTING.match(what) or _POINTED_AT.match(what) or is_shown_by_program(what)
            refused = len(what) < _SHORTEST or not (_IS_ORDER.match(what) or pattern is _STOP) or pointing
            return "" if refused else f"Wants agents {words} {what}"
    return ""


def _core(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _FRAME_WORDS}


def _same(words: set[str], other: set[str]) -> bool:
    """True if two preferences share most words or one contains the other."""
    common = len(words & other)
    return common >= _SAME * len(words | other) or (common > 1 and common == min(len(words), len(other)))
