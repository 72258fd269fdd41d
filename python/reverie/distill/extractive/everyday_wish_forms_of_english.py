"""Forms of standing wishes in everyday English."""

from __future__ import annotations

from typing import Final

from reverie.distill.extractive.compile_everyday_wish_forms import ordinary_forms

__all__ = ["ENGLISH"]

_TOOL: Final = (
    r"(?:`[^`]+`|(?:pytest|make|just|tox|nox|npm|pnpm|yarn|bun|uv|poetry|cargo|go test|gradle|maven|bazel|docker|ruff"
    r"|black|eslint|biome|prettier|jest|vitest)\b)"
)
# Two or more words with capitals, as products and conventions have: "Conventional Commits", "React Query".
_TITLE: Final = r"(?-i:[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*){1,3})"
_POINTED: Final = (
    r"(?:the|this|that|these|those|it|its|them|a|an|my|your|his|her|their|one|both|another|any of|all of|some|so)\b"
)
# A thing in general: "real objects", "`any`", "panic"; not "the parser", "this one".
_GENERIC: Final = rf"(?!{_POINTED})[\w`./*()+#%-]+(?: (?!{_POINTED})[\w`./*()+#%-]+){{0,3}}?"
_EN_PLACE: Final = (
    r"(?:this|our|all (?:of )?our) (?:[\w-]+ )?(?:repo(?:sitor(?:y|ies))?|repos|projects?|code ?bases?|monorepo"
    r"|workspace|team|company|org)"
)
_EN_HERE: Final = rf"(?:here|in {_EN_PLACE})"
_EN_DO: Final = (
    r"(?:run|build|format|lint|deploy|log|test|name|keep|put|store|commit|squash|rebase|merge|release|tag|document"
    r"|sign|pin|write|return|handle|wrap|prefix|branch|install|start|mock|publish|ship|install|generate|version)"
)
_EN_NOT: Final = r"(?:,? (?:and )?(?:never|not|instead of|rather than) [^,;:]{2,60})"
_EN_CRAFT: Final = (
    r"(?:[\w-]+ )?(?:tests?|code|docs|documentation|comments|commits?|commit messages|components?|handlers?|modules?"
    r"|migrations?|scripts?|templates?|production|packages?|services?|controllers?|models?|apis?|libraries"
    r"|typescript|javascript|python|go|rust|java|kotlin|swift|ruby|php|c\+\+|c#|sql|css|html|react|vue|svelte)"
)
# What projects rule in or out as a matter of style, whatever the task is.
_EN_STYLE: Final = (
    r"(?:(?:trailing )?semicolons?|emojis?|abbreviations|acronyms|globals|global (?:state|variables)"
    r"|magic (?:numbers|strings)|default exports?|barrel files|inline (?:styles|css)|print statements|console\.logs?"
    r"|(?:one|single)[- ]letter (?:names|variables)|force[- ]push(?:es|ing)|merge commits|(?:nested )?ternar(?:y|ies)"
    r"|(?:wildcard|star|relative|circular) imports|(?:type|non-null) assertions|sleeps|unwraps?|panics|singletons"
    r"|mocks|mocking|any[- ]types?|hungarian notation|em[- ]dashes|exclamation marks|passive voice|trailing whitespace"
    r"|todo comments|commented-out code|dead code|monkey[- ]?patching|getters(?: (?:and|or) setters)?|setters)"
)
_EN_THING: Final = (
    r"(?:[\w-]+ )?(?:function|method|class|module|file|component|endpoint|handler|migration|test|commit|pull request|pr"
    r"|branch|package|struct|interface|script|log line|bug ?fix|fix|feature|release)"
)
_EN_WITH: Final = (
    r"(?:ha(?:s|ve)|gets?|comes? with|carr(?:y|ies)|returns?|takes?|starts? with|ends? with|includes?|contains?"
    r"|mentions?|logs?|uses?|is (?:documented|covered|typed|tested|signed|logged)|are (?:documented|covered|typed"
    r"|tested|signed|logged))"
)
_EN_LABEL: Final = (
    r"(?:commit messages?|commits|branch names?|branches|pr titles?|pr descriptions?|pull requests?|naming(?: style)?"
    r"|cod(?:e|ing) style|doc comments|docstrings|test names?|error messages|log messages|variable names"
    r"|function names|file names|changelog entries|indentation|imports)"
)
# What an item of such a list is made of; "commits: 3, no errors" is a report.
_EN_ITEM_MARK: Final = (
    r"(?!.*\b(?:is|are|was|were|has|have|shown|merged|resolved|found|done|two|three|four|main|errors?|issues?"
    r"|warnings?|problems?|conflicts?|changes?|new|left|missing|todo|failing|open)\b)"
    r"(?=.*(?:\b(?:no|never|always|only|not|at most|max(?:imum)?|under|mood|imperative|tense|case|lower ?case"
    r"|english|prefix(?:ed)?|suffix|without|tabs|spaces|plural|singular|short|one line|sorted|absolute|relative)\b"
    r"|-case\b|_case\b))"
)
_EN_SHORT: Final = (
    r"(?:(?:more |very |as )*(?:short(?:er)?|brief(?:er)?|concise|terse|crisp|succinct|simple|simpler|to the point"
    r"|small|minimal|factual|direct|technical|polite|formal|informal|friendly)(?: as possible)?"
    r"(?:(?:,| and) (?:short|brief|concise|precise|simple|clear|direct|to the point))?"
    r"|(?:under|below|within|to) (?:[\w-]+ ){1,3}(?:words|sentences|lines|paragraphs))"
)
_EN_ANSWERS: Final = r"(?:answers|replies|responses|explanations|messages|summaries|outputs)"
_EN_PLEASE: Final = r"(?:,? please|,? thanks| from you)?"

ENGLISH: Final = ordinary_forms(
    (
        r"\b(?:for now|right now|now|today|tonight|tomorrow|yesterday|currently|at the moment|yet|just once|first"
        r"|this (?:time|once|one|pr|mr|commit|branch|session|task|file|change|case|plan|issue|bug|step|function|line"
        r"|test|answer|question|reply|message|class|module|endpoint|page|week|sprint|part|ticket|script|text|email"
        r"|conversation|chat|call)|(?:second|third|last|next|other|same|above|below|latter|former)"
        r"|maybe|perhaps|probably|might|could|i (?:think|guess|believe|thought|wonder)|not sure|if|unless|until|while"
        r"|was|were|had|used to|did|wrong|broken?|fail(?:s|ed|ing|ures?)?|pass(?:es|ed|ing)?|stuck|slow|still|weird"
        r"|already|option|line \d+|step \d+|he|she|deadline|before (?:we|you|i) (?:merge|push|ship|release|commit))\b"
    ),
    standing=(
        # "In this repo we run the tests with `just test`, never with `go test`"
        (
            rf"(?:in|for|on|at|within|across) {_EN_PLACE},? (?:we|you (?:should|must)|please|always|never) "
            rf"(?!.*[,;] (?:please |so |but |can |could )(?!never\b|don't\b|always\b))"
            rf"(?:(?:always |never |only |please )*{_EN_DO} (?!to\b|into\b|out\b|from\b|on\b|at\b|about\b"
            rf"|through\b).{{2,60}}"
            rf"\b(?:with|via|through|using|by|as|never|not|only|in (?:utc|english|`))\b.{{2,120}}"
            rf"|(?:always|never|please always|please never) {_EN_DO} .{{4,140}}"
            rf"|(?:always |never |only )*(?:use|follow|prefer|avoid|stick (?:to|with)) (?!{_POINTED}).{{2,140}})"
        ),
        # "In harbor-api please always tag release 1 with the prefix har1-"
        (
            r"(?:in|for|on) (?:our |all )?[\w`./-]+(?: (?!we\b)[\w`./-]+)?,? (?:please |you should |we |you must )*"
            rf"(?:always|never) (?:{_EN_DO}|use|add|ask|follow|create|call|set|open|make|import|throw)"
            rf" .{{4,140}}"
        ),
        # "We use Conventional Commits here", "we squash PRs here, never merge commits"
        (
            rf"we (?:only |always )?(?:use|follow|write|stick (?:to|with)) (?:{_TITLE}|{_TOOL}|(?:[\w-]+"
            rf" )?(?:semantic"
            rf" versioning|versioning|commits|tabs|spaces|spelling|naming|trunk-based development|tdd|git ?flow))"
            rf"(?: for [\w -]{{3,30}})? {_EN_HERE}{_EN_NOT}?{_EN_PLEASE}"
        ),
        # "We use pnpm and not npm, please never run npm install"
        (
            rf"(?:in here |here )?we (?:only )?use {_GENERIC}(?: for {_GENERIC})?{_EN_NOT},? (?:so )?(?:please )?"
            r"(?:never|don't|do not|always) .{4,80}"
        ),
        # "we log with slog everywhere, structured"
        (
            rf"we (?:always |only )?(?:{_EN_DO}|use|follow) (?!{_POINTED})[^,;:]{{2,60}} (?:everywhere|throughout"
            r"|in all (?:of )?our [\w-]+|across (?:the|all|our) [\w-]+|in every [\w-]+)"
            rf"(?:, (?!so\b|and\b|but\b|or\b|which\b)[\w-]+(?: [\w-]+)?)?{_EN_NOT}?{_EN_PLEASE}"
        ),
        # "From now on we deploy on Mondays"
        (
            rf"from now on,? we (?:always |only |never )?(?:{_EN_DO}|use|follow) (?!it\b|this\b|that\b"
            rf"|them\b|the new\b|to\b)[^,;:]{{3,100}}{_EN_NOT}?"
        ),
        # A list behind a label, as of commit messages: imperative mood, no emoji
        (
            rf"(?:for |our |the |my )?{_EN_LABEL}(?: in [\w`/-]+)?: ?(?!(?:fix|add|remove|update|rename|refactor"
            rf"|move"
            rf"|bump|drop|done|ok|\d)\b){_EN_ITEM_MARK}[^:;?]{{6,160}}"
        ),
        # A preference behind its label, as of tabs, not spaces
        (
            r"(?:my|our) (?:general |coding |house |own )?(?:preferences?|rules?|conventions?|style)(?: here)?"
            rf"(?: in [\w`/-]+)?: ?{_EN_ITEM_MARK}(?!it\b|{_POINTED}|yes\b|no\b(?= *$)|both\b|neither\b|either\b)(?=.*"
            rf" )[^:;?]{{6,160}}"
        ),
        # "time.Sleep in tests is not allowed here", "console.log is forbidden in production code"
        (
            rf"(?!(?:this|that|it|he|she|they|there|you|i|we|what|which)\b)[\w`./*()+#%-]+(?:"
            rf" [\w`./*()+#%-]+){{0,5}} "
            rf"(?:is|are) (?:not allowed|forbidden|banned|prohibited|off[- ]limits|not welcome|disallowed)(?! to\b)"
            rf" (?:{_EN_HERE}|in {_EN_CRAFT}){_EN_NOT}?"
        ),
        # "Tests should use testify/require and not assert"
        (
            r"(?:all |our |new |unit |integration )*(?:tests|commits|commit messages|branches|prs|pull requests"
            r"|components|functions|modules|handlers|migrations|comments|docs|names|imports|classes|files"
            r"|endpoints)"
            rf" (?:should|must|have to|need to) (?:always |only )?(?:use|live in|start with|end with|go in"
            rf"|go"
            rf" through|return|follow) {_GENERIC},? (?:and )?(?:not|never|instead of|rather than) {_GENERIC}"
        ),
        # "You forgot to run the linter again, please run `just lint` after each change"
        (
            r"you (?:forgot|keep forgetting|didn't remember) (?:to )?(?!it\b|this\b|that\b)[^,;:]{4,80}(?: again)"
            r"[,;:] ?(?:so |and )?(?:please )?(?:always )?(?:run|update|add|check|write|use|format|lint|test|ask"
            r"|commit)"
            r" .{4,100}\b(?:each|every|any|always|whenever)\b.{2,60}"
        ),
    ),
    alone=(
        # "No semicolons, please"
        (
            rf"(?:please[,:]? )?(?:(?:absolutely |really )?no|don't use|do not use|avoid)(?: any| more)*"
            rf" {_EN_STYLE}"
            rf"(?: (?:in|for) (?:our |the )?{_EN_CRAFT}| ever| anywhere| at all)?(?: ever| anywhere| please|,"
            rf" please)?"
        ),
        # "Please don't use mocks in tests, use real objects"
        (
            rf"(?:please )?(?:(?:don't|do not|never)(?: ever)? (?:use|write|call|add|put|throw|mock|return|catch"
            rf"|import|create|make)|avoid(?: using| writing| adding)?|no) (?:any )?(?:{_GENERIC} (?:in|from"
            rf"|inside) "
            rf"(?:our |the )?{_EN_CRAFT}|{_EN_STYLE}) ?[,;:\u2013\u2014-] ?(?:but |and |rather |just |always "
            rf"|please )*"
            rf"(?:use|prefer|write|return|throw|wrap|call|log|pass|inject|go with|stick (?:to|with)|make)"
            rf" {_GENERIC}"
            r"(?: instead)?(?: please|, please)?"
        ),
        # "Don't write comments that repeat the code"
        (
            r"(?:please )?(?:don't|do not|avoid) (?:write|writing|add|adding|leave|leaving|create|creating|make"
            r"|making"
            r"|open|opening) (?:[\w-]+ )?(?:comments|docstrings|commits|commit messages|functions|classes|prs"
            r"|pull requests|branches|abstractions|helpers|log lines|error messages|todos|names) (?:that|which|with"
            r"|without|longer than|bigger than|over|larger than) (?!(?:this|these|those)\b)[^,;:]{4,80}"
        ),
        # "Make sure that every public function has a doc comment", "each endpoint needs an integration test"
        (
            rf"(?:please )?(?:make sure|ensure|see to it|be sure|check)(?: that)? (?:(?:every|each) {_EN_THING}"
            rf"|all {_EN_THING}(?:s|es)) {_EN_WITH} (?!{_POINTED.replace('a|an|', '')}|been\b|to\b|no \w+ anymore)"
            r"[^,;:]{3,80}"
        ),
        (
            rf"(?:every|each) {_EN_THING} (?:must|should|needs?(?: to)?|has to) (?:have |get |come with |return "
            rf"|start with |end with |include |carry |be (?:documented|covered|typed|tested|signed) )?"
            rf"(?!{_POINTED.replace('a|an|', '')})[^,;:]{{3,80}}"
        ),
        # "I'd rather have small PRs than a big one"
        (
            r"(?:i|we)(?:'d| would)(?: much)? rather (?:have|see|get|read|use|write|review)"
            r" (?=.*\b(?:prs?|pull requests?|commits?|tests?|code|functions?|methods?|loops?|class(?:es)?|types?"
            r"|comments?"
            r"|files?|sql|queries|branches|errors?|names|modules?|librar(?:y|ies)|dependenc(?:y|ies)|docs|answers?"
            r"|mocks?"
            r"|imports|components?|abstractions?|comprehensions|migrations?|packages?)\b)"
            r"(?!(?:the|this|that|these|those|it|them|my|your|one|both)\b)[^,;:]{3,70} than (?!the\b|that\b|this\b"
            r"|to\b)"
            r"[^,;:]{3,70}"
        ),
        # "Use British English in docs"
        rf"(?:please )?use (?:british|american) (?:english|spelling) (?:in|for) (?:our |the |all )*{_EN_CRAFT}",
        # "Please run `just lint` after each change"
        (
            r"(?:please )?(?:run|update|format|lint|test|check) (?!(?:this|that|it|them)\b)[^,;:]{3,60} (?:before"
            r"|after)"
            r" (?:each|every|any) (?:change|edit|feature|fix|refactor(?:ing)?|session|task|migration)"
            rf"{_EN_PLEASE}"
        ),
    ),
    talk=(
        # "Keep your answers short"
        (
            rf"(?:please )?(?:(?:keep|make) (?:(?:all )?your {_EN_ANSWERS}|(?:the )?(?:answers|replies|responses"
            rf"|explanations)) {_EN_SHORT}|give me {_EN_SHORT} {_EN_ANSWERS}){_EN_PLEASE}"
        ),
        # "Stop apologizing", "stop explaining every line to me, keep your answers short"
        (
            r"(?:please )?(?:stop|quit) (?:apologi[sz]ing|saying (?:you(?:'re| are) )?sorry|thanking me|praising me"
            r"|flattering me|complimenting me|being (?:so |that |overly )?(?:verbose|chatty|wordy|polite"
            r"|sycophantic"
            r"|apologetic)|using emojis|(?:explaining|summari[sz]ing|repeating|describing|narrating|commenting)"
            r" (?:every"
            r"|each|all|everything|the obvious|yourself|what you)\b(?![^,;:]* and (?:do|just|fix|go|start|get|run"
            r"|write)\b)"
            r"[^,;:]{0,50})(?: (?:to me|all the time|every"
            r" time"
            rf"|so much|constantly))*{_EN_PLEASE}(?:[,;] (?:and )?(?:keep|be|just|only|make) [^;:]{{3,60}})?"
        ),
        # "No more apologies please", "you don't have to explain everything to me"
        rf"(?:please )?no more (?:apologies|emojis|summaries|flattery|praise|small talk|pleasantries){_EN_PLEASE}",
        (
            r"(?:you (?:don't|do not) (?:have|need) to|(?:there's |there is )?no need to|(?:please )?(?:don't|do"
            r" not))"
            r" (?:apologi[sz]e(?: to me)?(?: all the time| every time| so much| for everything)?|thank me|flatter"
            r" me"
            r"|praise me|explain (?:every|each|everything)\b[^,;:]{0,40}|summari[sz]e (?:every|each|everything)\b"
            rf"[^,;:]{{0,40}}|repeat (?:yourself|my (?:questions?|words))){_EN_PLEASE}"
        ),
    ),
    talk_alone=(
        # "Please be brief", "try to be concise", "answer in at most three sentences"
        r"(?:please |try to |could you please )*(?:be|stay) (?:(?:more|very|as) )?(?:brief|concise|terse|succinct"
        r"|to the point|less (?:verbose|wordy|chatty)|short and (?:clear|precise|simple))(?: as possible)?"
        rf"(?: (?:in|with) your {_EN_ANSWERS})?{_EN_PLEASE}"
        r"|(?:please )?(?:answer|reply|respond)(?: to me)? (?:in|with) (?:at most|max(?:imum)?|no more than|fewer"
        r" than"
        r"|less than|under|up to) (?:[\w-]+ ){1,2}(?:sentences?|words|lines|paragraphs?|bullet points)"
        rf"{_EN_PLEASE}|(?:please )?(?:short|brief|shorter|concise) (?:answers|replies|responses){_EN_PLEASE}"
    ),
)
"""Wishes in English."""
