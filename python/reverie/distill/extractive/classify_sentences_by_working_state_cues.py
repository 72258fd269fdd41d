"""Cue phrases of the working state: choices, finished steps, enumerated plans, and requests that are none."""

from __future__ import annotations

import re

from reverie.distill import cues as cue_phrases
from reverie.distill.extractive.messages_that_open_a_task import is_for_good, opens_task
from reverie.distill.sentences import clip, sentences
from reverie.lazy_regex import lazy_regex

__all__ = [
    "asks_for_nothing",
    "asks_for_work",
    "asks_in_words",
    "begins_with_verb",
    "enumerated_steps",
    "is_agreement",
    "is_choice_of_agent",
    "is_choice_of_person",
    "is_finished_review",
    "is_finished_step",
    "is_go_ahead",
    "is_mere_remark",
    "is_new_task",
    "is_numbered_step",
    "is_only_for_good",
    "is_weighed_choice",
    "publishes",
    "without_label",
]

# Verbs of orders to an agent. Before anything else "always" and "never" are talk: "never too late".
_VERB = (
    r"(?:add|answer|ask|assume|avoid|be (?:brief|careful|concise|explicit|honest|polite|strict)|build|bump|call"
    r"|change|check|cite|clean|close|comment|commit|compile|configure|confirm|copy|create|debug|define|delete|deploy"
    r"|disable|do|document|edit|embed|enable|ensure|escape|explain|export|feed|fetch|fix|follow|force|format|generate"
    r"|give|handle|hard-?code|ignore|import|include|indent|inline|install|introduce|invent|keep|leave|limit|link|lint"
    r"|list|log|make|mention|merge"
    r"|migrate|mix|mock|modify|move|name|omit|open|override|overwrite|pass|pin|place|prefer|prefix|print|propose|publish"
    r"|pull|push|put|quote|raise|read|rebase|refactor|refer|reformat|regenerate|release|remove|rename|replace|reply"
    r"|report|respond"
    r"|restart|return|reuse|revert|review|rewrite|run|save|search|send|set|shed|show|sign|skip|sort|speak|split|squash"
    r"|stage|start|stick|store|suggest|summari[sz]e|swallow|tag|talk|tell|test|touch|translate|trust|type|update"
    r"|upgrade|use"
    r"|validate|verify|wait|wrap|write)"
)

_STEPS_MIN = 2  # of a list: "The plan:" with "1. Review #30" alone has no order of steps, with "2. Merge" it has one
_STEP_CHARS = 160  # characters of one step, set by hand: six of this length are about half of a state's 500 tokens


_OPENING = r"(?:(?:ok(?:ay)?|so|and|now|yes|yeah|alright|cool|great|good|nice)\b[,!. ]*)*"
_ALTERNATIVE = r"(?:option|approach|variant|number)? ?#?(?:[1-9]|[a-d]\)?)"
# "Squash merge, not regular merge", "let's keep the old table", "it should be one file", "option 2 is fine"
_PERSON_CHOOSES = cue_phrases.phrases(
    r"\blet'?s (?:not (?!worry)|go (?:with|for)\b|use\b|keep|stick|skip|drop|stay|leave|avoid|put|call|name"
    r"|make (?:it|this|that))\b",
    r"\blet'?s (?:do|add|write|move|have) (?:it|this|that|these|them)? ?\b.{0,40}\b(?:as|in|to|with|instead)\b",
    r"^[^,;:?]{3,60}, (?:and |but )?not (?!only\b|sure\b|just\b|yet\b|that\b|because\b|really\b|to mention\b)[`\w]",
    r"^(?:\S+ ){0,12}(?:instead of|rather than)\b",
    # "Squash, don't rebase", "no flags, just an environment variable"
    r"^(?:add|call|copy|delete|drop|fix|keep|leave|make|merge|move|name|pin|put|rebase|release|rename|replace|reuse|run"
    r"|skip|split|squash|store|tag|use|write)\b[^,;:?]{0,60}, (?:don't|do not) (?!worry|forget|bother|mind)\w+",
    r"^no (?!problem|worries|worry|need|idea|rush|hurry|doubt|one|matter|luck|thanks|wait)\w[\w -]{2,40}, "
    r"(?:just|only) (?!go|do|continue|proceed|wait|guess|try|leave|let|the usual)\w+",
    r"\b(?:i|we)(?:'ve| have)? (?:agreed|decided|settled|chose|chosen|opted)\b",
    r"\b(?:i|we)(?:'ll| will| should| want to|'d (?:rather|prefer to)) (?:go with|use|keep|stick (?:to|with))\b",
    r"\b(?:i'?d|i would) (?:prefer|rather)\b|^i prefer\b|\bgo(?:ing)? (?:with|for)\b",
    r"^(?:no[,.]? |and |but )*(?:it|this|that|they|these) should(?:n'?t| not)? (?:be|stay|go|use|have|live|only)\b",
    rf"^(?:yes,? |ok(?:ay)?,? |so,? )*{_ALTERNATIVE}(?: and {_ALTERNATIVE})?(?: (?:is|are|sounds?|looks?|works?)\b"
    r"|[ ,]+(?:please|then|it is)|[.!]?$)",
    r"\blet'?s try (?:the|option|approach|\d)",
    rf"\b(?:choose|pick|take|do|like|prefer) (?:option|approach|variant) {_ALTERNATIVE}",
    r"\bmust (?:not|never|stay|remain|be kept)\b",
)
_AGREES = lazy_regex(
    rf"^{_OPENING}(?:let'?s|please|just) (?:do|try|implement\w*|build|go (?:with|for)"
    r"|try (?:implementing|doing)) (?:it|this|that|both|all)\b",
    re.IGNORECASE,
)
# "Let's fix it", "let's start with #89": work to be done, and no choice between ways of doing it.
_WORK = cue_phrases.phrases(
    rf"^{_OPENING}let'?s (?:start|begin|fix|look|check|see|review|respond|continue|commit|push|run|test|discuss"
    r"|try(?! (?:the|option|approach|\d))|brainstorm|work on|move (?:on|to)|keep going|go (?:on|ahead)"
    r"|do (?:it|this|that|both)[.!]?$)"
)
# "I'll go with SQLite", "the simplest fix is to merge both tests"
_AGENT_CHOOSES = cue_phrases.phrases(
    r"\b(?:we|i)(?:'ve| have)? (?:agreed|decided|settled|chose|chosen|opted)\b",
    r"\b(?:i|we)(?:'ll|'m| will| am|'re| are) (?:going with|go with|keep(?:ing)?|stick(?:ing)?|leav(?:e|ing) (?!for)"
    r"|skip(?:ping)?)\b",
    r"^(?:going|went) with\b|^(?:decision|decided|chosen)\b[: ]",
    r"\byou(?:'ve| have)? (?:decided|chose|chosen|agreed)\b",
    r"^(?:(?:i|we|this|it|now|also|so) ){0,2}"
    r"(?:us|prefer|keep|kept|left|leav|switch|replac|stor|read|mov|return|mak|writ|call|pass|check|reus)\w*"
    r"\b.{3,160}\b(?:instead of|rather than)\b",
    r"^(?:i |we )?(?:kept|left|chose|used|skipped)\b.{3,160}\b(?:because|since|so that|to avoid)\b",
)
# "The simplest fix is to merge both tests": decided once the person agrees, or once the agent acts on it
_WEIGHED = cue_phrases.phrases(
    r"\bthe (?:best|right|better|simplest|cleanest|safest) (?:approach|fix|option|solution|way|choice)\b.{0,40}?"
    r"\b(?:is|was|would be)\b",
    r"\bwe should (?:go with|use|keep|stick)\b",
)
_NO_CHOICE = lazy_regex(
    r"^(?:option|approach|alternative|variant|plan|step|case|pros?|cons?)\b|^if\b|^let'?s\b"
    r"|\b(?:let me|could|might|maybe|would you)\b",
    re.IGNORECASE,
)
# One of these words is in every choice: a plain search that spares most sentences the long patterns.
_MAY_CHOOSE = lazy_regex(r"ecide|ecision|hose|instead|rather|agreed|ettled|opted|eep|kept|eav|left|kip|tick|with|sed")
_MAY_WEIGH = lazy_regex(r"est |etter |ight |should ")
# Marks in front of what is done: "✅ Reviewed #30".
_TICK = r"^(?:[✅✓✔☑️]+\s*|\[x\]\s+)?"
# "#30 reviewed: clean", "PR #30 is merged", "finished reviewing #30"
_NUMBERED = (
    r"(?:(?:pr|mr|pull request|issue) )?[#!]\d+:? (?:is |was |has been )?(?:now )?"
    r"(?:reviewed|tested|verified|checked|merged)\b"
    r"|(?:done with|merged|reviewed|verified|checked) (?:(?:pr|mr|pull request|issue) )?[#!]\d+\b"
    r"|(?:(?:i|we)(?:'ve| have)? )?(?:finished|done) (?:reviewing|testing|verifying|checking|merging)\b"
)
_NUMBERED_STEP = lazy_regex(rf"{_TICK}(?:{_NUMBERED})", re.IGNORECASE)
_FINISHED = lazy_regex(
    rf"{_TICK}(?:{_NUMBERED}|(?:(?:i|we)(?:'ve| have) (?:now |also |successfully |already )*)?"
    r"(?:reviewed|fixed|implemented|completed|committed|pushed|merged|created|added|removed|refactored|updated|renamed|moved"
    r"|replaced|verified|tested|deployed|released|published|migrated|installed|configured|documented|rebased|reverted"
    r"|deleted|enabled|disabled|extracted|split|converted|ported|wired|wrote|written|built|replied|resolved|addressed"
    r"|simplified|cleaned)\b(?![\w ]{0,40}:(?:\s|$)))",
    re.IGNORECASE,
)
_REVIEWED = lazy_regex(
    rf"{_TICK}(?:{_NUMBERED}|(?:(?:i|we)(?:'ve| have)? (?:now |also )?)?"
    r"(?:reviewed|tested|verified|checked|merged|ran)\b)",
    re.IGNORECASE,
)
# Commands and names of tools that send something to others: `gh pr comment`, `mcp__linear__create_issue`, `git push`.
_PUBLISHES = lazy_regex(
    r"\bgit push\b|\b(?:gh|glab) (?:pr|mr|issue|release) (?:create|comment|edit|close|merge|review|note)\b"
    r"|\bgh api\b.*(?:--method (?:POST|PUT|PATCH)|-X ?(?:POST|PUT|PATCH)| -[fF] )"
    r"|^mcp__.*(?:^|_)(?:create|update|save|send|post|add|close|reply|comment)_",
    re.DOTALL,
)
_REMARK = lazy_regex(
    r"^(?:(?:um+|uh+|oh|ah|hm+|well|so|and|but|ok(?:ay)?|ugh|wow|right)\b[,.! ]*)*"
    r"(?:there(?:'s| is| are| were)|it(?:'s| is| was)|that(?:'s| is| was)|this is"
    r"|i(?:'m| am)? (?:think|thinking|don'?t|do not|see|get|guess|was|just|considering|wonder\w*)|another"
    r"|we have|we had|you(?:'re| are| have)?|the \w+ (?:is|are|was|were)|they|[a-d]\)|that was)\b",
    re.IGNORECASE,
)
# Sentences of a mere remark: "oh I see, it's in the config. Nice." has two and is one; "ah ok, I don't need the token.
# It is in the file. The file is fine." has three and says more.
_REMARK_SENTENCES = 2
# "Ah ok, ", "oh I see", "never mind, ", "ach so, ", "ah d'accord": not "right now", nor "interesting cases"
_TAKES_NOTE = lazy_regex(
    r"^(?:(?:(?:a+h+|o+h+|aha|i see|ok(?:ay)?)\b(?=[,.! ]|$)|(?:got it|makes sense|fair enough|never ?mind|nvm"
    r"|interesting|right|ach so|ah so|verstehe|alles klar|d'accord|je vois|ya veo|vale)(?=[,.!]|$)"
    r"|なるほど|原来如此|알겠)[,.! 、。]*)+",
    re.IGNORECASE,
)
# One of these comes first; "ok" alone may begin an order.
_INTERJECTION = lazy_regex(
    r"(?:ok(?:ay)?[,. ]+)?(?:a+h+|o+h+|aha|i see|got it|makes sense|fair enough|never ?mind|nvm|interesting|right"
    r"|ach so|ah so|verstehe|alles klar|d'accord|je vois|ya veo|vale|なるほど|原来如此|알겠)",
    re.IGNORECASE,
)
_SHOULD = lazy_regex(r"\b(?:should|must|sollte\w*|muss|debe\w*|doit)\b", re.IGNORECASE)
_GO_AHEAD = lazy_regex(
    r"(?:(?:ok(?:ay)?|yes|yeah|great|cool|alright|sure|good|nice|perfect|thanks?|looks good|lgtm)\b[,.! ]*)*"
    r"(?:let'?s |please |you can |just |so )*"
    r"(?:keep (?:going|at it|it up)|go (?:on|ahead)|continue|carry on|proceed|move on|resume|weiter|mach weiter|sigue"
    r"|contin[uú]a|continuez?|続けて(?:ください)?|继续|계속)(?: (?:please|then|now|with it|with that))?[.! ]*",
    re.IGNORECASE,
)
_PROBLEM = cue_phrases.phrases(
    r"\b(?:fail|error|crash|broke|wrong|bug|issue|problem|missing|stuck|still|again|but)\w*",
    r"\b(?:does|do|did|is|was|are|will|can)(?:n'?t| not) (?!need|have to|matter)",
    r"\bfehl|\bnicht\b|\bkaputt|\bpas\b|\bno (?:funciona|va)\b|エラー|失敗|不行|报错|错误",
)
_ASKS = cue_phrases.phrases(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\blet'?s\b|\bi(?:'d| would) (?:like|love)\b|\bi want\b",
    r"\bwe need\b|\b(?:you|we) should\b|\bhelp me\b|\bmake sure\b|\bhave a look\b|\btake a look\b|\bneeds? to be\b",
)
_STEP = lazy_regex(
    r"^[ \t]*(?:#{1,5} +|[-*] +)?\**(?P<kind>(?:step|phase|part|task|commit) +)?#?(?P<number>\d{1,2})"
    r"(?:[.):]|\**:| [-\u2013\u2014])\**[ \t]+(?P<text>\S.*)$",
    re.IGNORECASE,
)
_FIRST = lazy_regex(r"(?:^|[ #*])0?1\**[.):\u2013\u2014 -]", re.MULTILINE)
_PLANNED = cue_phrases.phrases(
    r"\bplan\b|^\W*(?:\w+ )?steps?\b|\bto-?dos?\b|\bin this order\b",
    r"\b(?:i'?ll|i will|i'm going to|we(?:'ll| will| need to)|let me)\b.*:$",
)
# "Changes made", "Steps to reproduce": lists of something else.
_NO_PLAN = cue_phrases.phrases(
    r"\b(?:changes?|what|summary|found|findings?|issues?|options?|questions?|problems?|reasons?|because|happens|currently"
    r"|flow|works|reproduce|resolved|done|made|updated|added|completed|covered|includes?|has|was|were|exists?)\b"
)
_IMPERATIVE = lazy_regex(
    r"\W*(?:add|adjust|apply|ask|build|bump|change|check|clean|commit|configure|consolidate|convert|create|delete|deploy"
    r"|describe|design|document|draft|drop|eliminate|enable|export|extend|extract|find|finish|fix|generate|handle|implement"
    r"|improve|inline|install|introduce|investigate|make|measure|merge|migrate|move|open|optimi[sz]e|port|prepare|publish"
    r"|push|read|rebase|redesign|refactor|release|remove|rename|replace|reply|respond|review|rewrite|run|send|set|simplify"
    r"|split|squash|store|switch|tag|test|track|try|tune|update|upgrade|use|validate|verify|wire|write)\b",
    re.IGNORECASE,
)
# Further verbs of orders, which begin no step of a plan
_MORE_VERBS = lazy_regex(
    rf"\W*(?:{_VERB}|address|assign|bring|continue|figure|get|go|investigate|look|mark|proceed|resolve|ship|tackle|take"
    r"|work)\b(?!-)",
    re.IGNORECASE,
)
_LABEL = lazy_regex(
    r"^(?:(?:next(?: up| steps?)?|then|remaining|still to do|to-?do|now)\b\s*[:,\u2013\u2014-]\s*"
    r"|what(?:'s| is) (?:still )?left(?: to do)?(?: now)? (?:is|are)(?: only| just)? |then (?=i\b|we\b))",
    re.IGNORECASE,
)


def is_choice_of_person(sentence: str) -> bool:
    """True if a person decides how something is to be done, as in "Squash merge, not regular merge"."""
    return (
        not cue_phrases.is_question(sentence)
        and _PERSON_CHOOSES.search(sentence) is not None
        and _WORK.search(sentence) is None
    )


def is_agreement(text: str) -> bool:
    """True if a person agrees to a proposal in more than one word, as in "let's try this, with a flag"."""
    return _AGREES.match(text) is not None


def is_choice_of_agent(sentence: str) -> bool:
    """True if an agent reports a decision, as in "I went with X", and does not only list alternatives."""
    if not _MAY_CHOOSE.search(sentence) or _AGENT_CHOOSES.search(sentence) is None:
        return False
    return not (cue_phrases.is_question(sentence) or _NO_CHOICE.search(sentence))


def is_weighed_choice(sentence: str) -> bool:
    """True if an agent names the best of several ways, which is not decided yet."""
    if not _MAY_WEIGH.search(sentence) or _WEIGHED.search(sentence) is None:
        return False
    return not (cue_phrases.is_question(sentence) or _NO_CHOICE.search(sentence))


def is_finished_step(sentence: str) -> bool:
    """True if a sentence reports a finished step, as in "Reviewed #30 — clean"; a label ("Added files:") does not."""
    return _FINISHED.match(sentence) is not None and not cue_phrases.is_question(sentence)


def is_numbered_step(sentence: str) -> bool:
    """True if a finished step names its pull request or issue ("Merged #31"), so that few words are enough."""
    return _NUMBERED_STEP.match(sentence) is not None


def is_finished_review(sentence: str) -> bool:
    """True if a finished step needs no change of a file, as in "Reviewed #30 — clean"."""
    return _REVIEWED.match(sentence) is not None


def publishes(call: str) -> bool:
    """Return True if a shell command, or the name of a tool, sends something out: a push, an issue, a comment."""
    return _PUBLISHES.search(call) is not None


def is_new_task(text: str) -> bool:
    """True if a person's message opens a task; an observation that asks for nothing in any sentence does not."""
    return opens_task(text) and not _is_remark(text) and not is_only_for_good(text)


def is_only_for_good(text: str) -> bool:
    """Return True if a message has only wishes that hold beyond the task, besides a yes, thanks and housekeeping.

    Example: "Never push to main. Open a PR as a draft." is about how the work is handed in, not what it is.
    """
    said = [part for sentence in sentences(text) for part in sentence.split("; ")]  # "we use tabs; reformat this"
    lasting = [is_for_good(sentence) for sentence in said]
    return any(lasting) and all(
        lasts or cue_phrases.is_acknowledgement(sentence) or cue_phrases.is_housekeeping(sentence)
        for sentence, lasts in zip(said, lasting, strict=True)
    )


def asks_for_nothing(text: str) -> bool:
    """Return True for a yes, thanks or a single word, unless it is an order, as "push" and "/review" are."""
    is_order = text.startswith("/") or (cue_phrases.is_housekeeping(text) and not cue_phrases.is_approval(text))
    return cue_phrases.is_acknowledgement(text) and not is_order


def asks_for_work(text: str) -> bool:
    """Return True if a person's message asks for something, as "can you check?" and "/review" do, "it's loaded" not."""
    return asks_in_words(text) or is_new_task(text)


def asks_in_words(text: str) -> bool:
    """Return True if a message has a question, an order or a word such as "please"; a report of a fault has none."""
    asks = text.startswith("/") or cue_phrases.is_question(text) or _ASKS.search(text) is not None
    return asks or cue_phrases.is_housekeeping(text) or any(map(begins_with_verb, sentences(text)))


def is_go_ahead(text: str) -> bool:
    """Return True for a message that only tells the agent to go on with what it is doing: "ok let's keep going"."""
    return _GO_AHEAD.fullmatch(text.strip()) is not None


def is_mere_remark(text: str) -> bool:
    """Return True if a person only takes note of something: "ah ok, looks like I don't need the token".

    News of a problem ("hm, it still fails") are no mere remark: they ask for work.
    """
    noted = _TAKES_NOTE.match(text)
    if noted is None or not _INTERJECTION.match(text) or cue_phrases.is_question(text):
        return False
    if any(pattern.search(text) for pattern in (_ASKS, _PROBLEM, _SHOULD)):
        return False
    said = [_TAKES_NOTE.sub("", sentence) for sentence in sentences(text)]
    return len(said) <= _REMARK_SENTENCES and not any(
        begins_with_verb(part.strip()) for sentence in said for part in sentence.split(",")
    )


def begins_with_verb(text: str) -> bool:
    """Return True if a text begins with an English verb that asks for work, as in "add a test"."""
    return _IMPERATIVE.match(text) is not None or _MORE_VERBS.match(text) is not None


def _is_remark(text: str) -> bool:
    said = sentences(text)
    return bool(said) and _REMARK.match(said[0]) is not None and not any(_ASKS.search(sentence) for sentence in said)


def enumerated_steps(text: str, *, by_person: bool = False) -> list[str]:
    """Return the steps of the first numbered list of a text that is a plan, or its numbered headings, in order.

    A list is a plan where the line above it says so ("Plan:", "I'll do this:") and half of it begins with a verb, or
    where a person asks for something in that line. Headings count if they are called steps, phases or tasks.
    Example: "The plan:", "1. Review #30", "2. Merge" (three lines) give "Review #30" and "Merge".
    """
    if _FIRST.search(text) is None:
        return []
    headed = [match for line in text.split("\n") if line.startswith("#") and (match := _STEP.match(line))]
    if len(headed) >= _STEPS_MIN and all(match["kind"] for match in headed):
        return [_step_name(match["text"]) for match in headed]
    steps: list[str] = []
    is_plan, is_asked = by_person, False
    for line in text.split("\n"):
        match = _STEP.match(line)
        if match is not None and is_plan and int(match["number"]) == len(steps) + 1:
            steps.append(_step_name(match["text"]))
        elif match is None and line.strip() and not line.startswith((" ", "\t", "-", "*", "`")):
            if len(steps) >= _STEPS_MIN:
                break
            steps = []
            is_asked = by_person and _ASKS.search(line) is not None
            is_plan = is_asked or (_PLANNED.search(line) is not None and _NO_PLAN.search(line) is None)
    to_do = sum(_IMPERATIVE.match(step) is not None for step in steps)
    return steps if len(steps) >= _STEPS_MIN and (is_asked or 2 * to_do >= len(steps)) else []


def _step_name(text: str) -> str:
    return clip(text.replace("**", "").strip("*: "), _STEP_CHARS)


def without_label(sentence: str) -> str:
    """Return a next step without its label: "Next: merge all three" gives "merge all three"."""
    return _LABEL.sub("", sentence)
