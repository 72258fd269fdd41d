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

/// A piece of text on its way through the rounds.
struct Piece {
    text: String,
    /// Whether the round before it replaced something in it; the first round reads everything.
    changed: bool,
}

/// One round over a text in pieces: what has been given on is kept as far as rules look back.
#[derive(Default)]
struct Round {
    text: String,
    given: usize,
    /// Where the last piece ends that the round before changed. What is read as it was then has no spans.
    changed: usize,
}

impl<R: Borrow<Redactor>> Stream<R> {
    /// A stream that nothing has been fed to.
    #[must_use]
    pub fn new(redactor: R) -> Self {
        Self { redactor, rounds: Default::default() }
    }

    /// Takes the next piece; returns the next part of the redacted text, which may be empty.
    pub fn feed(&mut self, piece: &str) -> String {
        self.through(piece.to_owned(), false)
    }

    /// The rest of the redacted text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.through(String::new(), true)
    }

    fn through(&mut self, text: String, last: bool) -> String {
        let mut piece = Piece { text, changed: true };
        for round in &mut self.rounds {
            piece = round.feed(self.redactor.borrow(), &piece, last);
        }
        piece.text
    }
}

impl Round {
    fn feed(&mut self, redactor: &Redactor, piece: &Piece, last: bool) -> Piece {
        self.text.push_str(&piece.text);
        if piece.changed {
            self.changed = self.text.len();
        }
        let reach = redactor.reach();
        // Work is put off until there is enough of it, so that small pieces cost no more than large ones.
        if !last && self.text.len() - self.given < 4 * reach {
            return Piece { text: String::new(), changed: false };
        }
        let mut spans = if self.changed > 0 { redactor.spans(&self.text, Reach::Content) } else { Vec::new() };
        let mut until = self.text.len();
        if !last {
            until = self.text.floor_char_boundary(until - 2 * reach);
            // Spans are apart: one at most goes beyond, and what only touches is settled.
            let crossing = spans[..spans.partition_point(|span| span.start < until)].last();
            until = crossing.filter(|span| span.end > until).map_or(until, |span| span.start);
        }
        let given = self.given;
        spans.retain(|span| span.start >= given && span.end <= until);
        let mut text = String::new();
        replace(&self.text[..until.max(given)], given, &spans, &mut text);
        self.keep_from(until.max(given), reach);
        Piece { text, changed: !spans.is_empty() }
    }

    /// Forgets what rules will not look back at once all before `given` is given on.
    fn keep_from(&mut self, given: usize, reach: usize) {
        let kept = self.text.floor_char_boundary(given.saturating_sub(2 * reach));
        self.text.drain(..kept);
        self.given = given - kept;
        self.changed = self.changed.saturating_sub(kept);
    }
}
