//! The bytes that may begin a secret, all looked for at once, and what is asked where they stand.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::redact::found::{Found, Sure};
use crate::redact::rules::{INFIXES, Infix, KEYWORDS, Keyword, Token, tokens};
use crate::redact::{Reach, Span, automaton};

/// What a hit of the automaton announces.
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

static ANCHORS: LazyLock<(Vec<Anchor>, Option<AhoCorasick>)> = LazyLock::new(|| {
    let (anchors, patterns): (Vec<_>, Vec<_>) = anchors().into_iter().unzip();
    (anchors, automaton(&patterns, MatchKind::Standard))
});

/// Every anchor with the bytes that raise it.
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

impl Found<'_> {
    /// Everything that an anchor raises.
    pub(crate) fn anchored(&mut self, reach: Reach) {
        let (anchors, automaton) = &*ANCHORS;
        let Some(automaton) = automaton else { return };
        for hit in automaton.find_overlapping_iter(self.text) {
            self.anchor(&anchors[hit.pattern().as_usize()], hit.start(), hit.end(), reach);
        }
    }

    fn anchor(&mut self, anchor: &Anchor, start: usize, end: usize, reach: Reach) {
        let (span, sure) = match anchor {
            Anchor::Token(token) => (self.token(token, start, end), Sure::Published(token.prefix.len())),
            Anchor::Infix(infix) => (self.infixed(infix, start, end), Sure::Published(infix.middle.len())),
            Anchor::Jwt => (self.jwt(start), Sure::Shaped),
            Anchor::Pem => (self.pem(start, end), Sure::Published(end - start)),
            Anchor::Escape => {
                self.escapes.push(start);
                return;
            }
            Anchor::OwnMarker => {
                self.own_marker(start, end);
                return;
            }
            _ if reach == Reach::Name => return,
            Anchor::Keyword(keyword) => {
                self.compared(keyword, start, end);
                (self.announced(keyword, start, end), Sure::Announced)
            }
            Anchor::Bearer => (self.bearer(end), Sure::Announced),
            Anchor::Sql => (self.sql(end), Sure::Announced),
            Anchor::User => (self.user(end), Sure::Announced),
            Anchor::Scheme => (self.connection(end), Sure::Announced),
            Anchor::ForeignMarker { kind, close } => {
                (self.marker(end, *close).map(|end| Span { start, end, kind }), Sure::Published(end - start))
            }
        };
        self.add(span, sure);
    }
}
