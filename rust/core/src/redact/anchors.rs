//! Anchors: literal strings that begin or announce a secret, all found in one pass, and the rule that each triggers.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redact::findings::{Confidence, Findings};
use crate::redact::rules::{INFIXES, Infix, KEYWORDS, Keyword, Token, tokens};
use crate::redact::{Scope, Span, automaton};

/// The rule that an anchor triggers.
enum Anchor {
    Token(&'static Token),
    Infix(&'static Infix),
    Keyword(&'static Keyword),
    Jwt,
    Pem,
    Scheme,
    Bearer,
    Sql,
    User,
    Escape,
    OwnMarker,
    ForeignMarker { kind: &'static str, close: u8 },
}

/// The anchors and their automaton, compiled on first use.
static ANCHORS: LazyLock<(Vec<Anchor>, Option<AhoCorasick>)> = LazyLock::new(|| {
    let (anchors, patterns): (Vec<_>, Vec<_>) = anchors().into_iter().unzip();
    (anchors, automaton(&patterns, MatchKind::Standard))
});

/// Return every anchor with the string that triggers it.
fn anchors() -> Vec<(Anchor, String)> {
    let mut anchors: Vec<(Anchor, String)> =
        tokens().map(|token| (Anchor::Token(token), token.prefix.to_owned())).collect();
    anchors.extend(INFIXES.iter().map(|infix| (Anchor::Infix(infix), infix.middle.to_owned())));
    for keyword in KEYWORDS {
        if !keyword.word.is_ascii() {
            anchors.push((Anchor::Keyword(keyword), keyword.word.to_owned()));
            continue;
        }
        let (first, rest) = keyword.word.split_at(1);
        let capitalised = format!("{}{rest}", first.to_uppercase());
        for form in [keyword.word.to_owned(), keyword.word.to_uppercase(), capitalised] {
            anchors.push((Anchor::Keyword(keyword), form));
        }
    }
    for form in ["Bearer ", "bearer ", "BEARER "] {
        anchors.push((Anchor::Bearer, form.to_owned()));
    }
    for between in [": ", ":", "\": \"", "\":\"", "': '", "\\\": \\\"", "\\\":\\\"", "=", " = \""] {
        for scheme in ["Basic ", "basic ", "token ", "Token ", "NTLM ", "ApiKey ", "Key ", " ", ""] {
            anchors.push((Anchor::Bearer, format!("uthorization{between}{scheme}")));
        }
    }
    for form in ["IDENTIFIED BY ", "identified by ", "PASSWORD ", "password ", " BY ", " by "] {
        anchors.push((Anchor::Sql, form.to_owned()));
    }
    for form in [" -u ", " --user ", " --user=", " --proxy-user ", " -U "] {
        anchors.push((Anchor::User, form.to_owned()));
    }
    for form in ["%2", "%3", "%4", "%5", "%6", "%7", "\\u00", "\\x", "&#", "\u{200b}", "\u{200c}", "\u{200d}"] {
        anchors.push((Anchor::Escape, form.to_owned()));
    }
    for form in ["\u{200e}", "\u{200f}", "\u{2060}", "\u{2061}", "\u{2062}", "\u{2063}", "\u{feff}", "\u{ad}"] {
        anchors.push((Anchor::Escape, form.to_owned()));
    }
    anchors.push((Anchor::Jwt, "eyJ".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY-----".to_owned()));
    anchors.push((Anchor::Pem, "PRIVATE KEY BLOCK-----".to_owned()));
    anchors.push((Anchor::Scheme, "://".to_owned()));
    anchors.push((Anchor::OwnMarker, "[REDACTED:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "byok", close: b']' }, "[BYOK:".to_owned()));
    anchors.push((Anchor::ForeignMarker { kind: "foreign", close: b'>' }, "<REDACTED:".to_owned()));
    anchors
}

impl Findings<'_> {
    /// Find every anchor in the text and apply its rule, as far as the scope allows.
    pub(crate) fn scan_anchors(&mut self, scope: Scope) {
        let (anchors, automaton) = &*ANCHORS;
        let Some(automaton) = automaton else { return };
        for hit in automaton.find_overlapping_iter(self.text) {
            self.match_anchor(&anchors[hit.pattern().as_usize()], hit.start(), hit.end(), scope);
        }
    }

    /// Apply the rule of one anchor found at `start..end`.
    fn match_anchor(&mut self, anchor: &Anchor, start: usize, end: usize, scope: Scope) {
        let (span, confidence) = match anchor {
            Anchor::Token(token) => {
                (self.prefixed_token(token, start, end), Confidence::PublishedFormat(token.prefix.len()))
            }
            Anchor::Infix(infix) => {
                (self.infixed_token(infix, start, end), Confidence::PublishedFormat(infix.middle.len()))
            }
            Anchor::Jwt => (self.jwt(start), Confidence::KnownShape),
            Anchor::Pem => (self.pem(start, end), Confidence::PublishedFormat(end - start)),
            Anchor::Escape => {
                self.escapes.push(start);
                return;
            }
            Anchor::OwnMarker => {
                self.add_own_marker(start, end);
                return;
            }
            _ if scope == Scope::Identifier => return,
            Anchor::Keyword(keyword) => {
                self.find_compared_value(keyword, start, end);
                (self.assigned_value(keyword, start, end), Confidence::NamedValue)
            }
            Anchor::Bearer => (self.authorization(end), Confidence::NamedValue),
            Anchor::Sql => (self.sql_password(end), Confidence::NamedValue),
            Anchor::User => (self.user_password(end), Confidence::NamedValue),
            Anchor::Scheme => (self.connection_password(end), Confidence::NamedValue),
            Anchor::ForeignMarker { kind, close } => (
                self.marker_end(end, *close).map(|end| Span { start, end, kind }),
                Confidence::PublishedFormat(end - start),
            ),
        };
        self.add(span, confidence);
    }
}
