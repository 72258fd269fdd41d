//! Word lists for the context of a value: words that announce a secret, an identifier, a digest or a placeholder.

/// A word in a name that announces a secret as that name's value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Keyword {
    pub(crate) word: &'static str,
    pub(crate) kind: &'static str,
    /// True if people choose the value, as for passwords; tokens and keys are always generated.
    pub(crate) worded: bool,
}

/// Build a keyword, for short table rows.
const fn keyword(word: &'static str, kind: &'static str, worded: bool) -> Keyword {
    Keyword { word, kind, worded }
}

/// The keywords, in lower case; they also match in upper case and capitalized.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[Keyword] = &[
    keyword("password",    "password", true),
    keyword("passwd",      "password", true),
    keyword("passphrase",  "password", true),
    keyword("pwd",         "password", true),
    keyword("pass",        "password", true),
    keyword("pw",          "password", true),
    keyword("pswd",        "password", true),
    keyword("psswd",       "password", true),
    keyword("pasword",     "password", true),
    keyword("passwort",    "password", true),
    keyword("kennwort",    "password", true),
    keyword("contraseña",  "password", true),
    keyword("senha",       "password", true),
    keyword("пароль",      "password", true),
    keyword("密码",         "password", true),
    keyword("密碼",         "password", true),
    keyword("パスワード",    "password", true),
    keyword("비밀번호",      "password", true),
    keyword("암호",         "password", true),
    keyword("secret",      "secret",   false),
    keyword("token",       "token",    false),
    keyword("contribsys__com", "secret", false),
    keyword("accessid",    "key",      false),
    keyword("access_id",   "key",      false),
    keyword("key",         "key",      false),
    keyword("credential",  "secret",   false),
    keyword("credentials", "secret",   false),
];

/// Names ending in `key` that are secret (most are not), in lower case without `_` and `-`.
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

/// Words, besides [`KEYWORDS`], near which a random value is a secret.
#[rustfmt::skip]
pub(crate) const CREDENTIAL_WORDS: &[&str] = &[
    "access", "accesskey", "api", "apikey", "apitoken", "auth", "authentication", "authkey", "authorization", "bearer", "client", "cookie", "cred", "credential", "credentials", "creds", "dsn", "jwt", "key", "keys", "kty", "license", "login", "nonce", "oauth", "oauth2", "otp", "pass", "passcode", "passphrase", "passwd", "password", "pat", "pin", "private", "psk", "pwd", "salt", "sas", "secret", "secrets", "session", "sig", "signature", "signing", "token", "tokens", "webhook",
];

/// Those of them near which even a UUID or a hexadecimal number is a secret.
#[rustfmt::skip]
pub(crate) const STRONG_CREDENTIALS: &[&str] = &[
    "apikey", "apitoken", "auth", "authkey", "authorization", "bearer", "cred", "credential", "credentials", "creds",
    "jwt", "pass", "passphrase", "passwd", "password", "pat", "psk", "pwd", "secret", "secrets", "token", "tokens",
];

/// Words before `key` where the key is used for look-up (`primary key`, `cache key`).
#[rustfmt::skip]
pub(crate) const LOOKUP_KEYS: &[&str] = &[
    "cache", "composite", "dedup", "dedupe", "foreign", "group", "hash", "host", "idempotency", "index", "lookup",
    "map", "memory", "merge", "object", "partition", "primary", "public", "query", "range", "routing", "row", "shard",
    "sort", "storage", "store", "surrogate", "unique",
];

/// Words which say that the value is an identifier: it is no secret, whatever words are farther away.
#[rustfmt::skip]
pub(crate) const IDENTIFIER_WORDS: &[&str] = &[
    "agent", "arn", "base", "blob", "boundary", "branch", "build", "cache", "cachekey", "checkpoint", "checksum", "chunk",
    "commit", "commits", "container", "content", "crc", "crc32", "diff", "digest", "etag", "event", "file",
    "fingerprint", "guid", "h1", "hash", "hashes", "head", "html", "image", "index", "integrity", "issue", "job",
    "layer", "md5", "merge", "message", "narhash", "object", "oid", "parent", "path", "process", "pub", "public",
    "ref", "refs", "release", "repo", "repository", "resolved", "rev", "revision", "run", "sha", "sha1", "sha224",
    "sha256", "sha384", "sha512", "snapshot", "span", "src", "tag", "task", "thread", "timestamp", "tool", "toolu",
    "trace", "tree", "url", "uuid", "version",
];

/// Words before `key` that do not say whose key it is.
#[rustfmt::skip]
pub(crate) const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "as", "by", "each", "every", "first", "for", "has", "have", "if", "in", "is", "its", "json",
    "last", "my", "new", "no", "of", "old", "on", "one", "or", "other", "our", "per", "same", "string", "that", "the",
    "their", "this", "to", "under", "use", "var", "when", "where", "which", "with", "your",
];

/// Words that name a digest or a revision, for all values behind them on their line.
#[rustfmt::skip]
pub(crate) const DIGEST_WORDS: &[&str] = &[
    "checksum", "commit", "digest", "etag", "fingerprint", "hash", "integrity", "md5", "narhash", "rev", "revision",
    "sha", "sha1", "sha224", "sha256", "sha384", "sha512", "uuid",
];

/// Words that, behind a keyword in a name, say that the value only describes the secret (`password_length`).
#[rustfmt::skip]
pub(crate) const DESCRIPTION_WORDS: &[&str] = &[
    "algorithm", "at", "attribute", "budget", "cache", "class", "column", "count", "counter", "created", "date",
    "dir", "directory", "enabled", "endpoint", "env", "error", "exp", "expires", "expiry", "exception", "factory",
    "field", "file", "filename", "fingerprint", "format", "generator", "handler", "hash", "header", "hint", "id",
    "index", "input", "key", "kind", "label", "len", "length", "length", "lifetime", "limit", "list", "location",
    "manager", "map", "max", "message", "method", "min", "mode", "name", "names", "number", "parser", "path",
    "pattern", "permission", "placeholder", "policy", "position", "prefix", "prompt", "provider", "ref", "regex",
    "required", "rotation", "rule", "scope", "service", "set", "size", "source", "status", "store", "storage",
    "strategy", "suffix", "template", "time", "timeout", "title", "ttl", "type", "types", "updated", "uri", "url",
    "usage", "validator", "version",
];

/// Prefixes of the identifiers that services give to messages, calls and objects.
#[rustfmt::skip]
pub(crate) const IDENTIFIER_PREFIXES: &[&str] = &[
    "toolu_", "srvtoolu_", "msg_", "req_", "call_", "chatcmpl-", "resp_", "run_", "thread_", "asst_", "file-",
    "session_", "item_", "evt_", "cus_", "price_", "prod_", "sha1-", "sha256-", "sha384-", "sha512-", "agent-",
];

/// Values that are placeholders for a secret.
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
    "pass",
    "passwd",
    "example",
    "changeme",
    "fail",
    "failed",
    "failure",
    "passed",
    "error",
    "skip",
    "skipped",
    "success",
];

/// Keys of JSON objects whose strings are identifiers, never content: only published formats are searched in them.
pub(crate) const IDENTIFIER_KEYS: &[&str] = &[
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
