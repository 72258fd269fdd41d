//! Streaming redaction: a text that arrives in pieces is redacted as if it were whole.

use std::borrow::Borrow;

use crate::redact::{ROUNDS_MAX, Redactor, Scope, replace};

/// A redactor of a stream: returns the output that no later input can change.
///
/// It buffers no more than four times the redactor's lookaround in each pass, plus the length of one secret.
pub struct Stream<R> {
    redactor: R,
    passes: [Pass; ROUNDS_MAX],
}

/// A piece of text on its way through the passes.
struct Piece {
    text: String,
    /// True if the previous pass replaced something in it; always true for the first pass.
    changed: bool,
}

/// One pass over a text in pieces; emitted text is kept as far as rules look back.
#[derive(Default)]
struct Pass {
    text: String,
    emitted: usize,
    /// The end of the last piece that the previous pass changed; if nothing changed, there is nothing to find.
    changed: usize,
}

impl<R: Borrow<Redactor>> Stream<R> {
    /// A stream without input.
    #[must_use]
    pub fn new(redactor: R) -> Self {
        Self { redactor, passes: Default::default() }
    }

    /// Process the next piece; return the next part of the redacted text, which may be empty.
    pub fn feed(&mut self, piece: &str) -> String {
        self.run_passes(piece.to_owned(), false)
    }

    /// Return the rest of the redacted text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.run_passes(String::new(), true)
    }

    /// Run a piece through all passes.
    fn run_passes(&mut self, text: String, last: bool) -> String {
        let mut piece = Piece { text, changed: true };
        for pass in &mut self.passes {
            piece = pass.feed(self.redactor.borrow(), &piece, last);
        }
        piece.text
    }
}

impl Pass {
    /// Process a piece; return what is final.
    fn feed(&mut self, redactor: &Redactor, piece: &Piece, last: bool) -> Piece {
        self.text.push_str(&piece.text);
        if piece.changed {
            self.changed = self.text.len();
        }
        let lookaround = redactor.lookaround();
        // Wait until there is enough text, so that many small pieces cost no more than a few large ones.
        if !last && self.text.len() - self.emitted < 4 * lookaround {
            return Piece { text: String::new(), changed: false };
        }
        let mut spans = if self.changed > 0 { redactor.spans(&self.text, Scope::Content) } else { Vec::new() };
        let mut until = self.text.len();
        if !last {
            until = self.text.floor_char_boundary(until - 2 * lookaround);
            // Spans do not overlap: at most one crosses the boundary, and one that only touches it is final.
            let crossing = spans[..spans.partition_point(|span| span.start < until)].last();
            until = crossing.filter(|span| span.end > until).map_or(until, |span| span.start);
        }
        let emitted = self.emitted;
        spans.retain(|span| span.start >= emitted && span.end <= until);
        let mut text = String::new();
        replace(&self.text[..until.max(emitted)], emitted, &spans, &mut text);
        self.discard_before(until.max(emitted), lookaround);
        Piece { text, changed: !spans.is_empty() }
    }

    /// Drop the text that rules will not look back at, once everything before `emitted` is emitted.
    fn discard_before(&mut self, emitted: usize, lookaround: usize) {
        let discarded = self.text.floor_char_boundary(emitted.saturating_sub(2 * lookaround));
        self.text.drain(..discarded);
        self.emitted = emitted - discarded;
        self.changed = self.changed.saturating_sub(discarded);
    }
}
