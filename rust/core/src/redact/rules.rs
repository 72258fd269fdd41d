//! What a secret looks like: one table of published token formats, and the words that announce a value.
//!
//! Formats are facts that the issuers publish; the lengths are kept below the published ones, so that a truncated
//! secret is still covered.

/// Which bytes a token's body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// `0-9 a-z A-Z`
    Alnum,
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// `0-9 a-z A-Z _ -`
    Word,
    /// [`Body::Word`] and `.`
    Dotted,
    /// [`Body::Word`] and `/`
    Path,
    /// [`Body::Word`] and `+ / = . % ~`
    Wide,
}

impl Body {
    pub(crate) fn holds(self, byte: u8) -> bool {
        let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => word,
            Self::Dotted => word || byte == b'.',
            Self::Path => word || byte == b'/',
            Self::Wide => word || b"+/=.%~".contains(&byte),
        }
    }
}

/// Where a token may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// Anywhere: the prefix is distinctive by itself.
    Anywhere,
    /// Only where no word goes on, because the prefix also ends ordinary words.
    AtWord,
}

/// A published format: after `prefix` come at least `at_least` bytes of `body`, and all that follow belong to it.
pub(crate) struct Token {
    pub(crate) kind: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) body: Body,
    pub(crate) at_least: usize,
    pub(crate) begins: Begins,
}

const fn token(kind: &'static str, prefix: &'static str, body: Body, at_least: usize, begins: Begins) -> Token {
    Token { kind, prefix, body, at_least, begins }
}

use Begins::{Anywhere, AtWord};
use Body::{Alnum, Dotted, Hex, Path, Upper, Wide, Word};

/// The published formats. Where one prefix begins with another, both may match; the longer span wins.
#[rustfmt::skip]
pub(crate) const TOKENS: &[Token] = &[
    // Models and their platforms
    token("anthropic-key",    "sk-ant-",            Word,   12, Anywhere),
    token("openai-key",       "sk-proj-",           Word,   16, Anywhere),
    token("openai-key",       "sk-svcacct-",        Word,   16, Anywhere),
    token("openai-key",       "sk-admin-",          Word,   16, Anywhere),
    token("openrouter-key",   "sk-or-v1-",          Word,   16, Anywhere),
    token("openai-key",       "sk-",                Word,   16, AtWord),
    token("huggingface-token", "hf_",               Alnum,  28, AtWord),
    token("huggingface-token", "api_org_",          Alnum,  28, AtWord),
    token("groq-key",         "gsk_",               Alnum,  32, AtWord),
    token("xai-key",          "xai-",               Alnum,  40, AtWord),
    token("perplexity-key",   "pplx-",              Alnum,  32, AtWord),
    token("replicate-token",  "r8_",                Alnum,  32, AtWord),
    token("tavily-key",       "tvly-",              Word,   24, AtWord),
    token("langsmith-key",    "lsv2_pt_",           Word,   24, Anywhere),
    token("langsmith-key",    "lsv2_sk_",           Word,   24, Anywhere),
    token("nvidia-key",       "nvapi-",             Word,   40, Anywhere),
    // Code hosts
    token("github-token",     "ghp_",               Alnum,  20, Anywhere),
    token("github-token",     "gho_",               Alnum,  20, Anywhere),
    token("github-token",     "ghu_",               Alnum,  20, Anywhere),
    token("github-token",     "ghs_",               Alnum,  20, Anywhere),
    token("github-token",     "ghr_",               Alnum,  20, Anywhere),
    token("github-token",     "github_pat_",        Word,   20, Anywhere),
    token("gitlab-token",     "glpat-",             Dotted, 16, Anywhere),
    token("gitlab-token",     "gldt-",              Word,   16, Anywhere),
    token("gitlab-token",     "glrt-",              Word,   16, Anywhere),
    token("gitlab-token",     "glptt-",             Word,   16, Anywhere),
    token("gitlab-token",     "glcbt-",             Word,   16, Anywhere),
    token("gitlab-token",     "glsoat-",            Word,   16, Anywhere),
    token("gitlab-token",     "glimt-",             Word,   16, Anywhere),
    token("gitlab-token",     "glft-",              Word,   16, Anywhere),
    token("gitlab-token",     "glagent-",           Word,   16, Anywhere),
    token("gitlab-token",     "gloas-",             Word,   16, Anywhere),
    token("bitbucket-token",  "ATBB",               Alnum,  28, AtWord),
    token("atlassian-token",  "ATATT3",             Wide,   40, Anywhere),
    // Clouds
    token("aws-key-id",       "AKIA",               Upper,  16, Anywhere),
    token("aws-key-id",       "ASIA",               Upper,  16, Anywhere),
    token("aws-key-id",       "ABIA",               Upper,  16, Anywhere),
    token("aws-key-id",       "ACCA",               Upper,  16, Anywhere),
    token("aws-bedrock-key",  "ABSK",               Wide,   60, AtWord),
    token("google-key",       "AIza",               Word,   30, Anywhere),
    token("google-token",     "ya29.",              Word,   20, Anywhere),
    token("google-secret",    "GOCSPX-",            Word,   20, Anywhere),
    token("digitalocean-token", "dop_v1_",          Hex,    32, Anywhere),
    token("digitalocean-token", "doo_v1_",          Hex,    32, Anywhere),
    token("digitalocean-token", "dor_v1_",          Hex,    32, Anywhere),
    token("alibaba-key-id",   "LTAI",               Alnum,  16, AtWord),
    token("heroku-key",       "HRKU-",              Word,   24, Anywhere),
    token("fly-token",        "fm2_",               Wide,   60, AtWord),
    token("fly-token",        "fo1_",               Word,   40, AtWord),
    token("supabase-token",   "sbp_",               Hex,    40, AtWord),
    token("planetscale-token", "pscale_tkn_",       Dotted, 24, Anywhere),
    token("planetscale-password", "pscale_pw_",     Dotted, 24, Anywhere),
    token("databricks-token", "dapi",               Hex,    32, AtWord),
    // Keepers of secrets, infrastructure, monitoring
    token("vault-token",      "hvs.",               Word,   24, AtWord),
    token("vault-token",      "hvb.",               Word,   24, AtWord),
    token("doppler-token",    "dp.pt.",             Alnum,  32, AtWord),
    token("doppler-token",    "dp.st.",             Dotted, 32, AtWord),
    token("1password-token",  "ops_eyJ",            Wide,   40, Anywhere),
    token("age-secret-key",   "AGE-SECRET-KEY-1",   Upper,  40, Anywhere),
    token("pulumi-token",     "pul-",               Hex,    40, AtWord),
    token("tailscale-key",    "tskey-",             Word,   20, Anywhere),
    token("docker-token",     "dckr_pat_",          Word,   20, Anywhere),
    token("grafana-token",    "glc_eyJ",            Wide,   32, Anywhere),
    token("grafana-token",    "glsa_",              Word,   32, Anywhere),
    token("newrelic-key",     "NRAK-",              Alnum,  24, Anywhere),
    token("newrelic-key",     "NRII-",              Word,   24, Anywhere),
    token("sentry-token",     "sntrys_",            Wide,   32, Anywhere),
    token("sentry-token",     "sntryu_",            Hex,    40, Anywhere),
    token("dynatrace-token",  "dt0c01.",            Dotted, 40, Anywhere),
    token("postman-key",      "PMAK-",              Word,   40, Anywhere),
    token("prefect-key",      "pnu_",               Alnum,  32, AtWord),
    // Packages
    token("npm-token",        "npm_",               Alnum,  30, AtWord),
    token("pypi-token",       "pypi-AgE",           Word,   16, Anywhere),
    token("rubygems-key",     "rubygems_",          Hex,    40, Anywhere),
    token("clojars-token",    "CLOJARS_",           Alnum,  50, Anywhere),
    // Speech, mail, payment, work
    token("slack-token",      "xoxb-",              Word,   10, Anywhere),
    token("slack-token",      "xoxp-",              Word,   10, Anywhere),
    token("slack-token",      "xoxa-",              Word,   10, Anywhere),
    token("slack-token",      "xoxr-",              Word,   10, Anywhere),
    token("slack-token",      "xoxs-",              Word,   10, Anywhere),
    token("slack-token",      "xoxo-",              Word,   10, Anywhere),
    token("slack-token",      "xoxc-",              Word,   10, Anywhere),
    token("slack-token",      "xoxd-",              Wide,   10, Anywhere),
    token("slack-token",      "xoxe-",              Word,   10, Anywhere),
    token("slack-token",      "xoxe.xox",           Word,   10, Anywhere),
    token("slack-token",      "xapp-",              Word,   20, Anywhere),
    token("slack-webhook",    "hooks.slack.com/services/", Path, 20, Anywhere),
    token("discord-webhook",  "discord.com/api/webhooks/", Path, 30, Anywhere),
    token("stripe-key",       "sk_live_",           Alnum,  10, Anywhere),
    token("stripe-key",       "sk_test_",           Alnum,  10, Anywhere),
    token("stripe-key",       "rk_live_",           Alnum,  10, Anywhere),
    token("stripe-key",       "rk_test_",           Alnum,  10, Anywhere),
    token("stripe-webhook-secret", "whsec_",        Wide,   24, Anywhere),
    token("square-token",     "sq0atp-",            Word,   20, Anywhere),
    token("square-secret",    "sq0csp-",            Word,   20, Anywhere),
    token("shopify-token",    "shpat_",             Hex,    28, Anywhere),
    token("shopify-token",    "shpca_",             Hex,    28, Anywhere),
    token("shopify-token",    "shppa_",             Hex,    28, Anywhere),
    token("shopify-secret",   "shpss_",             Hex,    28, Anywhere),
    token("easypost-key",     "EZAK",               Alnum,  50, AtWord),
    token("sendgrid-key",     "SG.",                Dotted, 40, AtWord),
    token("sendinblue-key",   "xkeysib-",           Word,   40, Anywhere),
    token("mailgun-key",      "key-",               Hex,    32, AtWord),
    token("twilio-key",       "SK",                 Hex,    32, AtWord),
    token("linear-key",       "lin_api_",           Alnum,  24, Anywhere),
    token("linear-key",       "lin_oauth_",         Alnum,  24, Anywhere),
    token("notion-token",     "ntn_",               Alnum,  40, AtWord),
    token("notion-token",     "secret_",            Alnum,  40, AtWord),
    token("figma-token",      "figd_",              Word,   32, Anywhere),
    token("typeform-token",   "tfp_",               Wide,   40, AtWord),
    token("readme-key",       "rdme_",              Alnum,  50, AtWord),
    token("contentful-token", "CFPAT-",             Word,   32, Anywhere),
    token("adafruit-key",     "aio_",               Alnum,  24, AtWord),
    token("shippo-token",     "shippo_live_",       Hex,    32, Anywhere),
];

/// A word that, ending a name, announces a secret as that name's value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keyword {
    pub(crate) word: &'static str,
    pub(crate) kind: &'static str,
    /// People write passwords as words; tokens and keys are always made by machines.
    pub(crate) worded: bool,
}

const fn keyword(word: &'static str, kind: &'static str, worded: bool) -> Keyword {
    Keyword { word, kind, worded }
}

/// The words, in lower case; they are also met in upper case and capitalised.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[Keyword] = &[
    keyword("password",    "password", true),
    keyword("passwd",      "password", true),
    keyword("passphrase",  "password", true),
    keyword("pwd",         "password", true),
    keyword("pass",        "password", true),
    keyword("secret",      "secret",   false),
    keyword("token",       "token",    false),
    keyword("key",         "key",      false),
    keyword("credentials", "secret",   false),
];

/// Names that end in `key` are mostly not secret; these are. Compared in lower case without `_` and `-`.
pub(crate) const SECRET_KEYS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "sharedkey",
    "masterkey",
    "servicekey",
    "apisecretkey",
    "sessionkey",
    "licensekey",
];

/// Values that stand for a secret and are none.
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "string",
    "number",
    "integer",
    "boolean",
    "required",
    "optional",
    "redacted",
    "hidden",
    "secret",
    "password",
    "token",
    "default",
    "unknown",
    "unset",
    "disabled",
    "enabled",
    "bearer",
    "basic",
];

/// Keys of JSON objects whose strings are names of things, never content. Only the published formats are looked for
/// in them.
pub(crate) const NAMES: &[&str] = &[
    "id",
    "uuid",
    "parentUuid",
    "leafUuid",
    "logicalParentUuid",
    "sourceToolAssistantUUID",
    "tool_use_id",
    "toolUseID",
    "toolUseId",
    "parentToolUseID",
    "parent_tool_use_id",
    "sessionId",
    "session_id",
    "requestId",
    "request_id",
    "messageId",
    "agentId",
    "promptId",
    "type",
    "role",
    "model",
    "timestamp",
];
