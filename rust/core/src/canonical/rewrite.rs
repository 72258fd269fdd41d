//! Writes JSON text as RFC 8785 says while it is read, without making a value of it.

use crate::canonical::keys::Key;
use crate::canonical::output::Output;
use crate::canonical::scan::{Number, Sink, decode, scan};
use crate::canonical::source::Unfit;
use crate::canonical::strings::Text;
use crate::error::{Error, Position};

/// The canonical bytes of JSON text.
///
/// Members are written as they come and put in order when their object closes: an object in order costs nothing
/// more, any other one copy of its bytes. Depth is bounded, so that time is linear.
pub(crate) fn rewrite(text: &[u8]) -> Result<Vec<u8>, Error> {
    let text = decode(text)?;
    let mut rewriter = Rewriter { out: Output::with_room(text.len()), starts: Vec::new(), arranged: Vec::new() };
    scan(text, &mut rewriter)?;
    Ok(rewriter.out.bytes)
}

struct Rewriter {
    out: Output,
    /// Where each member of the open objects begins in what is written, those of the innermost last.
    starts: Vec<usize>,
    /// The members of an object in their order, while it is closed.
    arranged: Vec<u8>,
}

impl Rewriter {
    /// Writes a comma unless a list, an object or a member has just been begun: no value ends as those begin.
    fn separate(&mut self) {
        if !matches!(self.out.bytes.last(), None | Some(b'[' | b'{' | b':')) {
            self.out.byte(b',');
        }
    }

    /// Where the member that begins at `starts[at]` ends: before the comma of the next one, if there is a next.
    fn end(&self, at: usize) -> usize {
        self.starts.get(at + 1).map_or(self.out.bytes.len(), |next| next - 1)
    }

    fn arrange(&mut self, from: usize, keys: &[Key<'_>]) {
        self.arranged.clear();
        for key in keys {
            let at = from + key.index;
            self.arranged.extend_from_slice(&self.out.bytes[self.starts[at]..self.end(at)]);
            self.arranged.push(b',');
        }
        self.arranged.pop();
        self.out.bytes.truncate(self.starts[from]);
        self.out.bytes.extend_from_slice(&self.arranged);
    }
}

impl<'a> Sink<'a> for Rewriter {
    const ORDERS: bool = true;

    fn null(&mut self) {
        self.separate();
        self.out.raw(b"null");
    }

    fn bool(&mut self, value: bool) {
        self.separate();
        self.out.bool(value);
    }

    fn number(&mut self, number: Number<'a>) -> Result<(), Error> {
        self.separate();
        let (written, offset) = match number {
            Number::Integer { token, offset } => {
                let integer = token.parse().map_err(|_| Unfit::BeyondInteger);
                (integer.and_then(|integer| self.out.integer(integer)), offset)
            }
            Number::Double { value, offset } => (self.out.double(value), offset),
        };
        written.map_err(|unfit| unfit.at(Position::Offset(offset)))
    }

    fn text(&mut self, text: Text<'a>) {
        self.separate();
        self.out.rewritten(text);
    }

    fn open_list(&mut self) {
        self.separate();
        self.out.byte(b'[');
    }

    fn open_object(&mut self) {
        self.separate();
        self.out.byte(b'{');
    }

    fn key(&mut self, text: Text<'a>) {
        self.separate();
        self.starts.push(self.out.bytes.len());
        self.out.rewritten(text);
        self.out.byte(b':');
    }

    fn close_list(&mut self) {
        self.out.byte(b']');
    }

    fn close_object(&mut self, keys: &[Key<'a>]) {
        let from = self.starts.len() - keys.len();
        if !keys.is_sorted_by_key(|key| key.index) {
            self.arrange(from, keys);
        }
        self.starts.truncate(from);
        self.out.byte(b'}');
    }
}
