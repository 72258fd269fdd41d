//! The words round a value: which announce a secret, which a name of a thing, and which stand for a value.

/// A word that, in a name, announces a secret as that name's value.
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

/// Words of names, beside [`KEYWORDS`], near which a value that a machine made is a secret.
#[rustfmt::skip]
pub(crate) const CREDENTIALS: &[&str] = &[
    "access", "accesskey", "api", "apikey", "apitoken", "auth", "authentication", "authkey", "authorization", "bearer", "client", "cookie", "cred", "credential", "credentials", "creds", "dsn", "jwt", "key", "keys", "kty", "license", "login", "nonce", "oauth", "oauth2", "otp", "pass", "passcode", "passphrase", "passwd", "password", "pat", "pin", "private", "psk", "pwd", "salt", "sas", "secret", "secrets", "session", "sig", "signature", "signing", "token", "tokens", "webhook",
];

/// Those of them beside which even a UUID or a hexadecimal number is a secret.
#[rustfmt::skip]
pub(crate) const STRONG: &[&str] = &[
    "apikey", "apitoken", "auth", "authkey", "authorization", "bearer", "cred", "credential", "credentials", "creds",
    "jwt", "pass", "passphrase", "passwd", "password", "pat", "psk", "pwd", "secret", "secrets", "token", "tokens",
];

/// What stands before `key` where the key only finds something.
#[rustfmt::skip]
pub(crate) const BENIGN_KEYS: &[&str] = &[
    "cache", "composite", "dedup", "dedupe", "foreign", "group", "hash", "host", "idempotency", "index", "lookup",
    "map", "memory", "merge", "object", "partition", "primary", "public", "query", "range", "routing", "row", "shard",
    "sort", "storage", "store", "surrogate", "unique",
];

/// Words that say that a value names something: it is no secret, whatever stands farther away.
#[rustfmt::skip]
pub(crate) const BENIGN: &[&str] = &[
    "agent", "arn", "base", "blob", "branch", "build", "cache", "cachekey", "checkpoint", "checksum", "chunk",
    "commit", "commits", "container", "content", "crc", "crc32", "diff", "digest", "etag", "event", "file",
    "fingerprint", "guid", "h1", "hash", "hashes", "head", "html", "image", "index", "integrity", "issue", "job",
    "layer", "md5", "merge", "message", "narhash", "object", "oid", "parent", "path", "process", "pub", "public",
    "ref", "refs", "release", "repo", "repository", "resolved", "rev", "revision", "run", "sha", "sha1", "sha224",
    "sha256", "sha384", "sha512", "snapshot", "span", "src", "tag", "task", "thread", "timestamp", "tool", "toolu",
    "trace", "tree", "url", "uuid", "version",
];

/// Words before `key` that do not tell whose key it is.
#[rustfmt::skip]
pub(crate) const COMMON: &[&str] = &[
    "a", "an", "and", "as", "by", "each", "every", "first", "for", "has", "have", "if", "in", "is", "its", "json",
    "last", "my", "new", "no", "of", "old", "on", "one", "or", "other", "our", "per", "same", "string", "that", "the",
    "their", "this", "to", "under", "use", "var", "when", "where", "which", "with", "your",
];

/// Words that name a digest or a revision, for everything behind them on their line.
#[rustfmt::skip]
pub(crate) const DIGESTS: &[&str] = &[
    "checksum", "commit", "digest", "etag", "fingerprint", "hash", "integrity", "md5", "narhash", "rev", "revision",
    "sha", "sha1", "sha224", "sha256", "sha384", "sha512", "uuid",
];

/// Words that, behind a keyword in a name, say that the value is something about the secret and not the secret.
#[rustfmt::skip]
pub(crate) const NOT_THE_VALUE: &[&str] = &[
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

/// Prefixes of identifiers that services give to messages, calls and objects.
#[rustfmt::skip]
pub(crate) const IDENTIFIERS: &[&str] = &[
    "toolu_", "srvtoolu_", "msg_", "req_", "call_", "chatcmpl-", "resp_", "run_", "thread_", "asst_", "file-",
    "session_", "item_", "evt_", "cus_", "price_", "prod_", "sha1-", "sha256-", "sha384-", "sha512-", "agent-",
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
    "pass",
    "passwd",
    "example",
    "changeme",
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
