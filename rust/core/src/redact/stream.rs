//! A text that arrives in pieces, redacted as if it were whole.

use std::borrow::Borrow;

use crate::redact::{ROUNDS_MAX, Reach, Redactor, replace};

/// Redacts what is fed to it, and gives back what nothing to come can change.
///
/// It holds back no more than the redactor's reach in each round, and what one secret is longer.
pub struct Stream<R> {
    redactor: R,
    rounds: [Round; ROUNDS_MAX],
}

/// One round over a text in pieces: what has been given on is kept as far as rules look back.
#[derive(Default)]
struct Round {
    text: String,
    given: usize,
}

impl<R: Borrow<Redactor>> Stream<R> {
    /// A stream that nothing has been fed to.
    #[must_use]
    pub fn new(redactor: R) -> Self {
        Self { redactor, rounds: Default::default() }
    }

    /// Takes the next piece; returns the next part of the redacted text, which may be empty.
    pub fn feed(&mut self, piece: &str) -> String {
        let mut piece = piece.to_owned();
        for round in &mut self.rounds {
            piece = round.feed(self.redactor.borrow(), &piece, false);
        }
        piece
    }

    /// The rest of the redacted text.
    #[must_use]
    pub fn finish(mut self) -> String {
        let mut piece = String::new();
        for round in &mut self.rounds {
            piece = round.feed(self.redactor.borrow(), &piece, true);
        }
        piece
    }
}

impl Round {
    fn feed(&mut self, redactor: &Redactor, piece: &str, last: bool) -> String {
        self.text.push_str(piece);
        let reach = redactor.reach();
        // Work is put off until there is enough of it, so that small pieces cost no more than large ones.
        if !last && self.text.len() - self.given < 4 * reach {
            return String::new();
        }
        let mut spans = redactor.spans(&self.text, Reach::Content);
        let mut until = self.text.len();
        if !last {
            until = self.text.floor_char_boundary(until - 2 * reach);
            while let Some(span) = spans.iter().rev().find(|span| span.start < until && span.end >= until) {
                until = span.start;
            }
        }
        let given = self.given;
        spans.retain(|span| span.start >= given && span.end <= until);
        let mut out = String::new();
        replace(&self.text[..until.max(given)], given, &spans, &mut out);
        self.given = until.max(given);
        let kept = self.text.floor_char_boundary(self.given.saturating_sub(2 * reach));
        self.text.drain(..kept);
        self.given -= kept;
        out
    }
}
