//! Canonicalizes JSON text while it is scanned, without building a value.

use crate::canonical::object_keys::ObjectKey;
use crate::canonical::output::Output;
use crate::canonical::scanner::{Handler, Number, decode, scan};
use crate::canonical::source::Unrepresentable;
use crate::canonical::strings::RawString;
use crate::error::{Error, Position};

/// Return the canonical form of JSON text.
///
/// Members are written as they come and sorted when their object closes: an object in order costs nothing more, any
/// other one a copy of its bytes. Depth is bounded, so that time is linear.
pub(crate) fn rewrite(text: &[u8]) -> Result<Vec<u8>, Error> {
    let text = decode(text)?;
    let mut rewriter =
        Rewriter { out: Output::with_capacity(text.len()), member_starts: Vec::new(), sorted_members: Vec::new() };
    scan(text, &mut rewriter)?;
    Ok(rewriter.out.bytes)
}

/// The scanner's handler that writes canonical JSON.
struct Rewriter {
    out: Output,
    /// The output offset of each member of the open objects, those of the innermost last.
    member_starts: Vec<usize>,
    /// Scratch buffer for the sorted members of an object that closes.
    sorted_members: Vec<u8>,
}

impl Rewriter {
    /// Write a comma unless a list, an object or a member has just begun: no value ends with `[`, `{` or `:`.
    fn separate(&mut self) {
        if !matches!(self.out.bytes.last(), None | Some(b'[' | b'{' | b':')) {
            self.out.byte(b',');
        }
    }

    /// Return the output offset at which a member ends: before the comma of the next one, if there is one.
    fn end(&self, at: usize) -> usize {
        self.member_starts.get(at + 1).map_or(self.out.bytes.len(), |next| next - 1)
    }

    /// Reorder the members of the innermost object, which begin at `member_starts[from]`.
    fn sort_members(&mut self, from: usize, keys: &[ObjectKey<'_>]) {
        self.sorted_members.clear();
        for key in keys {
            let at = from + key.index;
            self.sorted_members.extend_from_slice(&self.out.bytes[self.member_starts[at]..self.end(at)]);
            self.sorted_members.push(b',');
        }
        self.sorted_members.pop();
        self.out.bytes.truncate(self.member_starts[from]);
        self.out.bytes.extend_from_slice(&self.sorted_members);
    }
}

impl<'a> Handler<'a> for Rewriter {
    const NEEDS_SORTED_KEYS: bool = true;

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
                let integer = token.parse().map_err(|_| Unrepresentable::BeyondInteger);
                (integer.and_then(|integer| self.out.integer(integer)), offset)
            }
            Number::Double { value, offset } => (self.out.double(value), offset),
        };
        written.map_err(|reason| reason.at(Position::Offset(offset)))
    }

    fn text(&mut self, text: RawString<'a>) {
        self.separate();
        self.out.json_string(text);
    }

    fn open_list(&mut self) {
        self.separate();
        self.out.byte(b'[');
    }

    fn open_object(&mut self) {
        self.separate();
        self.out.byte(b'{');
    }

    fn key(&mut self, text: RawString<'a>) {
        self.separate();
        self.member_starts.push(self.out.bytes.len());
        self.out.json_string(text);
        self.out.byte(b':');
    }

    fn close_list(&mut self) {
        self.out.byte(b']');
    }

    fn close_object(&mut self, keys: &[ObjectKey<'a>]) {
        let from = self.member_starts.len() - keys.len();
        if !keys.is_sorted_by_key(|key| key.index) {
            self.sort_members(from, keys);
        }
        self.member_starts.truncate(from);
        self.out.byte(b'}');
    }
}
