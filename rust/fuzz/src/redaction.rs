//! Properties of redaction, over texts made of pieces of secrets and their surroundings.

use std::borrow::Cow;

use reverie_core::redact::{Fingerprints, Redactor, Scope, kinds};

/// Pieces of secrets and of the text around them, so that a few input bytes make a difficult text.
pub const PIECES: [&str; 82] = [
    "ghp_A1b2C3d4E5f6G7h8I9j0K1l2", "sk-canary-do-not-leak-qrs456", "SK0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", "-----BEGIN RSA PRIVATE KEY-----", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
    "-----END RSA PRIVATE KEY-----", "0123456789abcdef0123456789abcdef", "550e8400-e29b-41d4-a716-446655440000",
    "k3j5h2g8f1d9s7a4", "Z2hwX0ExYjJDM2Q0RTVmNkc3aDhJOWowSzFsMg==", "6768705f413162324333643445356636473768384939",
    "%67%68%70_A1b2C3d4E5f6G7h8I9j0K1l2", "\\u0067hp_A1b2C3d4E5f6G7h8I9j0K1l2", "&#103;hp_A1b2C3d4E5f6G7h8I9j0K1l2",
    "password", "token", "api_key", "Secret", "PASS", "pw", "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}", "slack",
    "commit", "key", "_id", "_", "=", ":", " = ", ": ", ",", "==", "\"", "'", "`", "\\\"", "{", "}", "[", "]", "<",
    ">", "(", "://", "@", "user:hunter2", " -u ", "Authorization: Bearer ", "IDENTIFIED BY ", "[REDACTED:",
    "[REDACTED:github-token]", "[REDACTED:jwt", "[BYOK:x]", "<REDACTED:y>", "\n", " ", "\u{200b}", "\u{e9}", "a", "1",
    ".", "/", "-", " is ", "the password", "Cookie: sid=", "mysql ", " -p", "\u{5bc6}\u{7801}", "\u{662f}",
    "Basic dXNlcjpwYXNz", " to ", "hunter22", "Sommer2031!", "kX9m!Pq2Lw ", "sudo ", "\"lumo taka resi vuna\"",
    "user,password\n", "token:\n\n", "\t", "\u{30c8}\u{30fc}\u{30af}\u{30f3}",
];

/// Build a text of one piece per byte.
#[must_use]
pub fn text(data: &[u8]) -> String {
    data.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect()
}

/// A redactor with one of the pieces as known secret, or none.
fn redactor(data: &[u8]) -> Redactor {
    match data.first() {
        Some(byte) if *byte >= 192 => Redactor::new(&[PIECES[usize::from(*byte) % PIECES.len()]]),
        _ => Redactor::new::<&str>(&[]),
    }
}

/// Spans are in order, do not overlap, begin and end at characters, and have a known kind.
pub fn spans_do_not_overlap(data: &[u8]) {
    check_spans(&redactor(data), &text(data));
}

/// Check the spans of one text.
pub fn check_spans(redactor: &Redactor, text: &str) {
    let mut at = 0;
    for span in redactor.spans(text, Scope::Content) {
        assert!(span.start >= at && span.end > span.start, "{text:?}");
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{text:?}");
        assert!(kinds().contains(&span.kind), "{text:?}");
        at = span.end;
    }
}

/// Redacting a redacted text changes nothing.
pub fn redaction_is_idempotent(data: &[u8]) {
    check_idempotent(&redactor(data), &text(data));
}

/// Check one text with both scopes.
pub fn check_idempotent(redactor: &Redactor, text: &str) {
    for scope in [Scope::Content, Scope::Identifier] {
        let (once, _) = redactor.redact(text, scope);
        let (twice, again) = redactor.redact(&once, scope);
        assert_eq!((&once, 0), (&twice, again), "{text:?}");
    }
}

/// Redacting a text again changes nothing, also when its secrets are remembered; and each of them is gone everywhere.
pub fn remembering_is_idempotent(data: &[u8]) {
    let (text, redactor) = (text(data), redactor(data));
    let none = Fingerprints::default();
    let mut fingerprints = Cow::Borrowed(&none);
    let (once, _) = redactor.redact_remembering(&text, Scope::Content, &mut fingerprints);
    let (twice, again) = redactor.redact_remembering(&once, Scope::Content, &mut fingerprints);
    assert_eq!((&once, 0), (&twice, again.len()), "{text:?}");
    let packed = Fingerprints::from_bytes(&fingerprints.to_bytes()).expect("what was packed can be read");
    assert_eq!(packed.after(0), fingerprints.after(0), "{text:?}");
}

/// A token of a published format is removed, wherever it is in the text.
pub fn published_formats_are_removed(data: &[u8]) {
    let text = text(data);
    let (redacted, _) = redactor(data).redact(&text, Scope::Content);
    assert!(!redacted.contains(PIECES[0]), "{text:?}");
}
