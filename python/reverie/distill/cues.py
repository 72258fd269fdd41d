"""Cue phrases that mark decisions, corrections, preferences, findings and outcomes in speech."""

from __future__ import annotations

import re

from reverie.distill.sentences import words_of
from reverie.lazy_regex import lazy_regex

__all__ = [
    "CAUSE",
    "CHAT_WISH",
    "EXPLAINS",
    "GUESSES",
    "LASTING",
    "PASSING",
    "WISH",
    "is_acknowledgement",
    "is_approval",
    "is_brief",
    "is_correction",
    "is_decision",
    "is_failure",
    "is_finding",
    "is_housekeeping",
    "is_imminent",
    "is_informative",
    "is_intent",
    "is_lasting",
    "is_next_step",
    "is_offer",
    "is_outcome",
    "is_preference",
    "is_question",
    "is_statement",
    "is_uninformative",
    "phrases",
]


def phrases(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of some phrases in either case; it is compiled at its first use."""
    return lazy_regex("|".join(alternatives), re.IGNORECASE)


# "No, that's not what I asked", "you forgot the tests"
_CORRECTION = phrases(
    r"^no\b(?! problem| worries| need)",
    r"^(?:nope|wait|hmm|stop|hold on|actually)\b",
    r"^(?:please )?(?:don'?t|do not|never|revert|undo)\b",
    r"\b(?:that'?s|this is|it'?s) (?:wrong|not (?:right|correct|what|how|the|true))",
    r"\bnot what i\b",
    r"\byou (?:should(?:n'?t| not)|forgot|missed|broke|misunderstood|didn'?t|removed|ignored)\b",
    r"\bwhy (?:did|are|do|would) you\b",
    r"\binstead of\b",
    r"\bi (?:didn'?t|never) (?:ask|say|said|mean|want)",
    r"\b(?:still|doesn'?t|does not|isn'?t|not) (?:work|working|fail|failing|broken|happening)\b",
)
# "I prefer small commits", "please keep the names short"
_PREFERENCE = phrases(
    r"\b(?:i|we) (?:always|never|usually|prefer|like to|want to always|don'?t like|hate)\b",
    r"^(?:please )?(?:always|never)\b",
    r"\bfrom now on\b|\bin (?:the )?future\b|\bgoing forward\b|\bevery time\b|\bby default\b",
    r"^(?:please )?(?:use|prefer|keep|avoid|stick (?:to|with)) \w+.{0,60}"
    r"\b(?:instead|over|rather than|everywhere|always)\b",
    r"\bplease (?:use|keep|avoid|write|make sure|remember)\b",
    r"\bi'?d (?:prefer|rather)\b",
    r"\bremember (?:to|that)\b",
)
# "Always run the linter": reaches beyond the task, unlike "use the other file".
_LASTING = phrases(
    r"\b(?:always|never|prefer|usually|from now on|in (?:the )?future|going forward|every time|remember (?:to|that))\b",
    r"\bi'?d rather\b|\bdon'?t like\b|\bhate\b",
    r"\b(?:we|i) (?:use|run|write|deploy|name|keep)\b",
)
# "Let's go with SQLite", "we agreed to keep both"
_DECISION = phrases(
    r"\blet'?s (?:go with|do|use|keep|make|not|stick|implement|add|remove|rename|move|skip|drop|start|create"
    r"|fix|split)\b",
    r"\bwe (?:agreed|decided|settled|chose|should go)\b",
    r"\b(?:i|we)(?:'ll| will) (?:go with|use|keep|stick|skip|leave)\b",
    r"\b(?:decided|decision|chose|opted|going|went) (?:to|with|for|is)\b",
    r"\b(?:go(?:ing)? with|instead of|rather than)\b",
    r"\bthe (?:right|best|better|simplest|cleanest|safest) (?:approach|fix|option|solution|way|place)\b",
    r"\b(?:option|approach) [0-9a-d]\b",
)
# "The root cause is a stale lock", "it turns out that the flag is ignored"
_FINDING = phrases(
    r"\bthe (?:real |actual |main |key |core |underlying )?(?:issue|problem|bug|cause|culprit|reason|root cause"
    r"|key (?:insight|point))\b.{0,40}?\b(?:is|was|:)",
    r"\b(?:root cause|turns out|it turns out|because|found (?:it|the|that|a)|this means|that means|which means)\b",
    r"\b(?:note|important|key insight|insight)\b ?:",
    r"\b(?:was|were|is|are) (?:caused by|due to)\b",
    r"\b(?:requires?|must|only (?:works?|runs?|when)|does(?:n'?t| not) (?:support|handle|work|exist))\b",
)
# "The build failed", "that didn't work", "my bad"
_FAILURE = phrases(
    r"\b(?:didn'?t|did not|doesn'?t|does not|won'?t) (?:work|help|compile|pass|fix|match|exist)\b",
    r"\b(?:fail(?:s|ed|ing|ure)?|broken?|broke|regress(?:ed|ion)|crash(?:ed|es)?|panics?|conflicts?)\b",
    r"\b(?:mistake|my bad|i was wrong|you'?re right|good catch|oops|incorrect(?:ly)?|misread|misunderstood)\b",
    r"\b(?:missed|overlooked|forgot)\b",
)
# "All tests pass", "I've pushed the branch"
_OUTCOME = phrases(
    r"^(?:done|all (?:tests?|checks?|set|done|green)|fixed|implemented|completed?|committed|pushed|merged|created|added"
    r"|removed|refactored|updated|renamed|moved|replaced|verified)\b",
    r"\b(?:all|the) tests? (?:now )?pass(?:es|ed)?\b",
    r"\b(?:has|have|is|are|been|i'?ve) (?:now )?(?:fixed|implemented|completed|pushed|merged|committed|added|removed"
    r"|updated|resolved|created|refactored|done)\b",
    r"\bsuccessfully\b",
)
# "Next, add the migration", "still need to update the docs"
_NEXT = phrases(
    r"^(?:next(?: up| steps?)?(?:[,:]| (?:is|are|i|we|add|fix|write|update)\b)|remaining(?: \w+)?:"
    r"|still to do|to-?do:)",
    r"^(?:then|after that),? (?:i|we)(?:'ll| will| can| should| need| (?:merge|push|tag|release|deploy|commit|rebase"
    r"|squash|publish))\b",
    r"^what(?:'s| is) (?:still )?left(?: to do)?(?: now)? (?:is|are)(?: only| just)? (?!an? |null|nil|none|empty"
    r"|nothing|zero|\d|the (?:empty|same|rest)\b)\w",
    r"\bnext step|\bnext in (?:the )?(?:stack|line|queue|list)\b",
    r"\bstill (?:need|left|open|missing|to (?:be|do)|ha(?:ve|s) to)\b|\bremains? (?:to|open|undone|unsolved|unfixed)\b",
    r"\b(?:do|fix|add|handle|address|for|until|this|it|that) later\b|\b(?:is|are|was|be) deferred\b",
    r"\b(?:follow[- ]?up|separate (?:pr|issue|change)|out of scope|for now|not (?:done |been done )?yet)\b",
)
# Of each of these patterns: every text that it matches has one of the marks.
_FINDING_MARKS = (
    *("cause", "turns out", "found ", " means", "issue", "problem", "bug", "reason", "culprit", "key "),
    *("note", "important", "insight", "due to", "require", "must", "only ", "does"),
)
_FAILURE_MARKS = (
    *("n't ", "nt ", "not ", "fail", "brok", "regress", "crash", "panic", "conflict", "mistake", "my bad", "was wrong"),
    *("re right", "good catch", "oops", "incorrect", "misread", "misunderstood", "missed", "overlooked", "forgot"),
)
_OUTCOME_MARKS = (
    *("done", "all ", "test", "fixed", "implemented", "complete", "committed", "pushed", "merged", "created", "added"),
    *("moved", "refactored", "updated", "renamed", "replaced", "verified", "resolved", "successfully"),
)
_NEXT_MARKS = (
    *(
        "next",
        "remain",
        "left",
        "still ",
        "to-do",
        "todo",
        "then",
        "after that",
        "later",
        "deferred",
        "follow",
        "separate ",
    ),
    *("out of scope", "for now", " yet"),
)
# "Yes", "sounds good", "go ahead"
_APPROVAL = lazy_regex(
    r"^(?:y|yes|yep|yeah|yup|ok|okay|k|sure|right|great|good|nice|perfect|cool|thanks?|thank you|awesome|lgtm|done"
    r"|exactly|correct|agreed|sounds good|looks good|go ahead|do it|continue|proceed|go on|please(?: do)?(?=\W*$)"
    r"|ship it|makes sense|let'?s do (?:it|this|that)|(?:please )?(?:continue|proceed|keep going|carry on)|go for it"
    r"|(?:that|it) works|works for me|(?:that'?s|all) (?:fine|good|right)|of course|absolutely"
    r"|ja|jawohl|genau|passt|danke|gerne|weiter so|mach weiter|sí|vale|de acuerdo|claro|gracias|perfecto|oui|d'accord"
    r"|merci|parfait|好|好的|可以|行|对|是的|是|没问题|谢谢|继续|はい|うん|了解(?:です|しました)?|お願いします|いいです(?:ね)?"
    r"|ありがとう(?:ございます)?|続けて(?:ください)?)\b",
    re.IGNORECASE,
)
# Yes and nothing else in Chinese and Japanese: "はい、お願いします".
_CJK_YES = lazy_regex(
    r"(?:(?:好|好的|可以|行|对|是的|是|没问题|谢谢|继续|请|吧|はい|うん|了解(?:です|しました)?|お願いします|いいです(?:ね)?|進めて"
    r"|ください|ありがとう(?:ございます)?|続けて)\W*)+"
)
_NOTHING_ELSE = lazy_regex(
    r"(?:\W|\b(?:please|thanks|thank|you|the|plan|step|steps|with|to|me|us|all|it|that|this|then|now|so|just|and|as|is"
    r"|go|going|on|ahead|do|keep|carry|continue|proceed|where|we|you|left|off|yes|yep|yeah|ok|okay|sure|right|good"
    r"|great"
    r"|fine|nice|perfect|cool|sounds|looks|works|for|thing|exactly)\b)*",
    re.IGNORECASE,
)
"""Words that add nothing to a yes."""

# "Thanks, that's it for today", "Danke, das war's": the end of a session, and no remark about its task.
_CLOSING = lazy_regex(
    r"(?:(?:thanks(?: a lot| so much| again)?|thank you(?: very much| so much)?|(?:vielen )?dank"
    r"|danke(?: dir| schön| sehr)?|merci(?: beaucoup)?|(?:muchas )?gracias"
    r"|(?:(?:and|so|ok(?:ay)?|und|also),? )?"
    r"(?:that(?:'s| is| was)?|we(?:'re| are)|i(?:'m| am)) (?:it|all|done|finished)"
    r"|(?:und )?das (?:war(?:'?s| alles)|ist alles|reicht)|c'est (?:tout|fini)|(?:eso|esto) es todo|es todo"
    r"|for (?:today|now)|für heute|fürs erste|pour (?:aujourd'hui|le moment)|por (?:hoy|ahora)"
    r"|(?:see you|bye|good ?night|goodbye)(?: (?:tomorrow|later|soon|then|on \w+day))?|bis (?:morgen|später|dann|bald)"
    r"|tschüss?|à (?:demain|bientôt)|au revoir|hasta (?:mañana|luego)|adiós"
    r"|(?:have a )?(?:nice|great|good) (?:day|evening|weekend|work|job)|schönen? (?:tag|abend|feierabend)|gute arbeit"
    r"|great|perfect|perfekt|parfait|perfecto|super)(?:\W+|$))+",
    re.IGNORECASE,
)

# A specific name in a short answer makes it more than a yes: "use --force", "the Parser".
_NAME = lazy_regex(r"[\d`/_.@#=]\w|--\w|\w[A-Z]|(?<=\s)[A-Z]")
# "Let me check the logs": says nothing about what was found.
_ANNOUNCEMENT = lazy_regex(
    r"^(?:(?:ok|okay|great|good|perfect|excellent|now|next|first|let me|let's|i'?ll|i will|i need to|i'?m going to"
    r"|i can see|looking|checking|running|here'?s|sure)\b)",
    re.IGNORECASE,
)
# "Commit and push": belongs to the task before it.
_HOUSEKEEPING = lazy_regex(
    r"^(?:please |now |ok(?:ay)?,? |and |then |let'?s |can you )*"
    r"(?:commit|push|amend|merge|rebase|stash|pull|run|lint|format|fmt|open|create a pr|make a pr|check (?:the )?(?:ci"
    r"|pr|status)|address|update the pr|squash|continue|go on|retry|try again)\b",
    re.IGNORECASE,
)

# "Now let me look at the tests"
_INTENT = lazy_regex(
    r"^(?:(?:ok(?:ay)?|great|good|perfect|excellent|now|next|first|then|so|but)\b[!,.:]? *)*let me\b", re.IGNORECASE
)
# "I'd suggest a cache", "let me know"
_OFFER = lazy_regex(
    r"\b(?:i(?:'d| would)|i (?:suggest|propose|recommend|could|can)|we (?:could|should|can)|let me know|my suggestion"
    r"|the plan)\b",
    re.IGNORECASE,
)
# A message that leans on the one before: "do the same again".
_POINTS_BACK = lazy_regex(
    r"^(?:\.{2,}|…)|\b(?:it|this|that|them|these|those|both|all|more|again|same|everything)\b", re.IGNORECASE
)
# "and the rest": has no meaning without the list before it.
_LEANS = lazy_regex(r"\bthe (?:rest|others)\b|\b(?:it|them|these|those) (?:all|again|both)\b", re.IGNORECASE)
# Words of five letters or more carry the meaning of a short message.
_TELLING = lazy_regex(r"[^\W\d_]{5,}")
# "Next, the tests": to be done now, unlike "the docs can be done later".
_IMMINENT = lazy_regex(r"^(?:next|then|after that)\b|\bnext (?:step|in|up)\b", re.IGNORECASE)
# Words of a message that can open a task; "fix it" has too few.
_MIN_WORDS = 4
# Words of an answer in any language that can only be a yes or no.
_BRIEF_WORDS = 2


def _has(pattern: re.Pattern[str], marks: tuple[str, ...], sentence: str) -> bool:
    """True if a pattern is in a sentence; the pattern is only tried if one of its `marks` is in the sentence.

    Letters that are no ASCII may be another case of one that is, so such a sentence is always searched.
    """
    if sentence.isascii() and not any(map(sentence.lower().__contains__, marks)):
        return False
    return pattern.search(sentence) is not None


def is_correction(sentence: str) -> bool:
    """True if a person takes back or corrects what the agent did."""
    return _CORRECTION.search(sentence) is not None


def is_preference(sentence: str) -> bool:
    """True if a person states how they want things done."""
    return _PREFERENCE.search(sentence) is not None and not is_question(sentence)


def is_lasting(sentence: str) -> bool:
    """True if a preference applies beyond the current task."""
    return _LASTING.search(sentence) is not None


def is_decision(sentence: str) -> bool:
    """True if a sentence chooses between ways of doing something."""
    return _DECISION.search(sentence) is not None and not is_question(sentence)


def is_finding(sentence: str) -> bool:
    """True if a sentence states a cause, a constraint or how something works."""
    return _has(_FINDING, _FINDING_MARKS, sentence) and not is_question(sentence)


def is_failure(sentence: str) -> bool:
    """True if a sentence reports that something went wrong."""
    return _has(_FAILURE, _FAILURE_MARKS, sentence) and not is_question(sentence)


def is_outcome(sentence: str) -> bool:
    """True if a sentence reports that something is finished."""
    return _has(_OUTCOME, _OUTCOME_MARKS, sentence) and not is_question(sentence)


def is_next_step(sentence: str) -> bool:
    """True if a sentence names something left to do."""
    return _has(_NEXT, _NEXT_MARKS, sentence)


def is_statement(sentence: str) -> bool:
    """True if a sentence states something, rather than announces or asks."""
    return _ANNOUNCEMENT.match(sentence) is None and len(sentence.split()) > _MIN_WORDS and not is_question(sentence)


def is_informative(sentence: str) -> bool:
    """True if a sentence reports an outcome, a finding, a decision or a failure."""
    return any(test(sentence) for test in (is_outcome, is_failure, is_finding, is_decision))


def is_intent(sentence: str) -> bool:
    """True if an agent only announces what it will look at."""
    return _INTENT.match(sentence) is not None


def is_offer(sentence: str) -> bool:
    """True if a sentence is a proposal that a person can accept."""
    return is_question(sentence) or _OFFER.search(sentence) is not None


def is_imminent(sentence: str) -> bool:
    """True if a next step is meant for right now, rather than for later."""
    return _IMMINENT.search(sentence) is not None or is_question(sentence)


def is_question(sentence: str) -> bool:
    """True if a text asks for an answer."""
    return sentence.rstrip("\"')`* ").endswith(("?", "？", "吗", "吗。", "ですか。", "ますか。", "ですか", "ますか"))


def is_approval(text: str) -> bool:
    """True if a person accepts, in a few words, what the agent proposed."""
    return _APPROVAL.match(text) is not None and words_of(text) <= 2 * _MIN_WORDS


def is_acknowledgement(text: str) -> bool:
    """True if a person's message starts no task: a yes, thanks, or a single word."""
    words = words_of(text)
    if _CJK_YES.fullmatch(text) or _CLOSING.fullmatch(text.strip().replace("\u2019", "'")):
        return True
    if words == 1 or _APPROVAL.match(text) is None:
        return words == 1
    return words < _MIN_WORDS or (words <= 2 * _MIN_WORDS and _NOTHING_ELSE.fullmatch(text) is not None)


def is_brief(text: str) -> bool:
    """True if a text, in any language, is too short to be more than a yes or no."""
    if _CJK_YES.fullmatch(text):
        return True
    return words_of(text) <= _BRIEF_WORDS and not is_question(text) and _NAME.search(text) is None


def is_housekeeping(text: str) -> bool:
    """True if a text is about handing in or checking the work in hand, as in "Open a PR as a draft"."""
    return _HOUSEKEEPING.match(text) is not None


def is_uninformative(text: str) -> bool:
    """True if a person's message means nothing by itself: housekeeping, or a few words that refer back."""
    words = words_of(text)
    if words <= _MIN_WORDS and (_POINTS_BACK.search(text) or not _TELLING.search(text)):
        return True
    leans = words <= 3 * _MIN_WORDS and _LEANS.search(text) is not None
    return leans or is_housekeeping(text)


# What memories are taken by, in one table: standing wishes, lasting words, words of what passes, causes.
_LEAD = (
    r"(?:^|, )(?P<lead>(?:(?:and|also|but|so|please|ok(?:ay)?|no|btw|stop|then|you should|make sure to"
    r"|remember)\b[,.:!]? +)*)"
)
# An order, and no remark: "always run the tests", but not "always happy to help" or "never been there".
_RULE = (
    r"(?:always|never)\b(?! ?(?:mind|again|been|here|there|happy|good|an?|the|on|in|at|saw|felt|heard|thought|would|had"
    r"|got|did|was|were|ha(?:s|ve)|\w+(?:ed|ing))\b)"
)
# Not of what points at something on the screen: "prefer that", "use the first one, not the second one".
_POINTS = r"(?!.*\b(?:this|that|it|ones?|first|second|other|option)\b)"
_USE = rf"prefer {_POINTS}(?!the\b|\w\b)|use {_POINTS}(?:the |an? )?\S+(?: \S+)?,? not \S"
CHAT_WISH = lazy_regex(rf"{_LEAD}(?:{_RULE}|from now on\b|going forward\b|(?:i )?{_USE})", re.IGNORECASE)
"""A standing wish where a sentence begins, also where people may talk to each other."""
WISH = lazy_regex(
    rf"{_LEAD}(?:{_RULE}|from now on\b|going forward\b|in (?:the )?future,|do(?: not|n['\u2019]?t) ever\b"
    rf"|(?:i|we) {_RULE}|we do(?: not|n['\u2019]?t) (?:use|want) (?!this\b|that\b|it\b|to\b)|(?:(?:i|we) )?{_USE})"
    r"|\S, always$",
    re.IGNORECASE,
)
"""A standing wish where a sentence begins: always, never, from now on, prefer, use X not Y."""
LASTING = lazy_regex(
    r"\b(?:(?:should|must|please) (?:always|never)|prefer(?! (?:that|this|it)\b)|from now on|going forward|on purpose"
    r"|wherever|whenever|every time|remember to|in (?:the )?future)\b",
    re.IGNORECASE,
)
"""A word of what holds for longer, anywhere in a sentence."""
PASSING = lazy_regex(
    r"\b(?:for now|this time|just once|today|this (?:pr|commit|branch|task|session|file)|never ?mind)\b", re.IGNORECASE
)
"""Words of what holds for one task."""
CAUSE = lazy_regex(
    r"\b(?:because|since|so|root cause|caused by|due to|turns out|instead of|rather than|otherwise|to avoid"
    r"|to prevent|previously|no longer|which (?:means|meant|broke|made|caused)|(?:issue|problem|bug) (?:is|was))\b",
    re.IGNORECASE,
)
"""Words of a reason."""
EXPLAINS = lazy_regex(
    r"\b(?:root cause|turns out|because|caused by|due to|the (?:real |actual )?(?:issue|problem|bug|cause|culprit)"
    r" (?:is|was))\b",
    re.IGNORECASE,
)
"""Words of a sentence that says why something was so."""
GUESSES = lazy_regex(
    r"\b(?:likely|probably|maybe|perhaps|might|seems?|i think|not sure|should be|could be|let me|i'll|i need)\b"
    r"|^(?:this|that|these|it|both|so|but|no|yes|ah|oh)\b|[?:]$",
    re.IGNORECASE,
)
"""Words of a guess or a plan, and openings that point back to the sentence before."""
