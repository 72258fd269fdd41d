//! A strict, non-recursive JSON scanner that reports events to a handler (as SAX does).

use crate::canonical::DEPTH_MAX;
use crate::canonical::object_keys::{ObjectKey, find_duplicate, sort_keys};
use crate::canonical::strings::{RawString, hexadecimal, plain_until};
use crate::error::{Error, JsonReason, Position};

/// A number in JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number<'a> {
    /// Without fraction and exponent, within 64 bits.
    Integer {
        /// The digits, with their sign.
        token: &'a str,
        /// The byte offset of the number.
        offset: usize,
    },
    /// With fraction or exponent, and finite.
    Double {
        /// The nearest double.
        value: f64,
        /// The byte offset of the number.
        offset: usize,
    },
}

/// Receives the scanner's events in the order of the text.
pub(crate) trait Handler<'a> {
    /// True if the keys of an object must be in canonical order when it closes.
    const NEEDS_SORTED_KEYS: bool = false;
    /// `null`
    fn null(&mut self) {}
    /// `true` or `false`
    fn bool(&mut self, _value: bool) {}
    /// A number; the handler may reject one that it cannot represent.
    fn number(&mut self, _number: Number<'a>) -> Result<(), Error> {
        Ok(())
    }
    /// A string.
    fn text(&mut self, _text: RawString<'a>) {}
    /// The beginning of a list.
    fn open_list(&mut self) {}
    /// The beginning of an object.
    fn open_object(&mut self) {}
    /// A key of the innermost object.
    fn key(&mut self, _text: RawString<'a>) {}
    /// The end of a list.
    fn close_list(&mut self) {}
    /// The end of an object, with all its keys; its members have been reported.
    fn close_object(&mut self, _keys: &[ObjectKey<'a>]) {}
}

/// The handler that ignores all events: for validation only.
pub(crate) struct Validator;

impl Handler<'_> for Validator {}

/// Decode bytes as UTF-8 without a byte order mark, as RFC 8259 requires between systems.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, Error> {
    let encoding_error =
        |what, offset| Error::Json { reason: JsonReason::Encoding, what, at: Position::Offset(offset) };
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => return Err(encoding_error("a byte order mark", 0)),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..] => {
            return Err(encoding_error("UTF-16 or UTF-32, where UTF-8 is meant,", 0));
        }
        _ => {}
    }
    std::str::from_utf8(bytes).map_err(|error| encoding_error("bytes that are not UTF-8", error.valid_up_to()))
}

/// Scan one JSON value with nothing but white space around it.
pub(crate) fn scan<'a, S: Handler<'a>>(text: &'a str, handler: &mut S) -> Result<(), Error> {
    Scanner { text, bytes: text.as_bytes(), at: 0, frames: Vec::new(), keys: Vec::new() }.run(handler)
}

/// An open list, or an open object and the index of its first key on the shared key stack.
enum Frame {
    List,
    Object { keys_from: usize },
}

/// The scanner's position and stacks.
struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    keys: Vec<ObjectKey<'a>>,
}

impl<'a> Scanner<'a> {
    /// Scan values until the outermost one is complete.
    fn run<S: Handler<'a>>(mut self, handler: &mut S) -> Result<(), Error> {
        loop {
            let opened = self.value(handler)?;
            if opened {
                continue;
            }
            if !self.after_value(handler)? {
                return Ok(());
            }
        }
    }

    /// Read one scalar, or open a container; return true if a value must follow.
    fn value<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<bool, Error> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => {
                let text = self.string()?;
                handler.text(text);
            }
            Some(b'{') => return self.open_object(handler),
            Some(b'[') => return self.open_list(handler),
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                handler.number(number)?;
            }
            Some(b't') => {
                self.literal("true")?;
                handler.bool(true);
            }
            Some(b'f') => {
                self.literal("false")?;
                handler.bool(false);
            }
            Some(b'n') => {
                self.literal("null")?;
                handler.null();
            }
            Some(_) => return Err(self.malformed("something that is not a JSON value")),
            None => return Err(self.malformed("the text ends where a value is expected,")),
        }
        Ok(false)
    }

    /// Continue after a complete value; return false at the end of the text.
    fn after_value<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<bool, Error> {
        loop {
            self.skip_space();
            let in_object = match self.frames.last() {
                None if self.at == self.bytes.len() => return Ok(false),
                None => return Err(self.malformed("text after the JSON value")),
                Some(Frame::List) => false,
                Some(Frame::Object { .. }) => true,
            };
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if in_object {
                        self.skip_space();
                        self.key(handler)?;
                    }
                    return Ok(true);
                }
                Some(b']') if !in_object => self.close(handler)?,
                Some(b'}') if in_object => self.close(handler)?,
                Some(_) => return Err(self.malformed("something where a comma or the closing bracket is expected,")),
                None => return Err(self.malformed("the text ends inside a list or object")),
            }
        }
    }

    /// Open an object and read its first key; return false if it is empty.
    fn open_object<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<bool, Error> {
        self.enter(Frame::Object { keys_from: self.keys.len() })?;
        handler.open_object();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.close(handler)?;
            return Ok(false);
        }
        self.key(handler)?;
        Ok(true)
    }

    /// Open a list; return false if it is empty.
    fn open_list<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<bool, Error> {
        self.enter(Frame::List)?;
        handler.open_list();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.close(handler)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Push a container, within the depth limit.
    fn enter(&mut self, frame: Frame) -> Result<(), Error> {
        if self.frames.len() == DEPTH_MAX {
            return Err(self.error(JsonReason::TooDeep, "nesting deeper than 128", self.at));
        }
        self.frames.push(frame);
        self.at += 1;
        Ok(())
    }

    /// Close the innermost container, checking an object for duplicate keys.
    fn close<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<(), Error> {
        match self.frames.pop() {
            Some(Frame::Object { keys_from }) => {
                let keys = &mut self.keys[keys_from..];
                if let Some(offset) = if S::NEEDS_SORTED_KEYS { sort_keys(keys) } else { find_duplicate(keys) } {
                    return Err(self.error(JsonReason::DuplicateKey, "the same key twice", offset));
                }
                handler.close_object(keys);
                self.keys.truncate(keys_from);
            }
            Some(Frame::List) | None => handler.close_list(),
        }
        self.at += 1;
        Ok(())
    }

    /// Read a key and its colon.
    fn key<S: Handler<'a>>(&mut self, handler: &mut S) -> Result<(), Error> {
        if self.peek() != Some(b'"') {
            return Err(self.malformed("something where a key is expected,"));
        }
        let offset = self.at;
        let text = self.string()?;
        let first = match self.frames.last() {
            Some(Frame::Object { keys_from }) => *keys_from,
            _ => 0,
        };
        let index = self.keys.len() - first;
        self.keys.push(ObjectKey::new(text.decode(), offset, index));
        handler.key(text);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.malformed("something where a colon is expected,"));
        }
        self.at += 1;
        Ok(())
    }

    /// Read a string, from its opening quote to after its closing quote.
    fn string(&mut self) -> Result<RawString<'a>, Error> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            self.at = plain_until(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    let raw = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(RawString::new(raw, escaped));
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.malformed("a control character in a string")),
                None => return Err(self.malformed("the text ends inside a string")),
            }
        }
    }

    /// Validate an escape sequence.
    fn escape(&mut self) -> Result<(), Error> {
        let offset = self.at;
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => match self.unit(offset)? {
                0xD800..=0xDBFF => match self.unit_if_escaped(self.at) {
                    Some(0xDC00..=0xDFFF) => {
                        self.at += 6;
                        Ok(())
                    }
                    _ => Err(self.error(JsonReason::LoneSurrogate, "half of a surrogate pair", offset)),
                },
                0xDC00..=0xDFFF => Err(self.error(JsonReason::LoneSurrogate, "half of a surrogate pair", offset)),
                _ => Ok(()),
            },
            _ => Err(self.malformed("an escape that JSON does not have")),
        }
    }

    /// Return the code unit of `\u` and four digits at `offset`, and move after it.
    fn unit(&mut self, offset: usize) -> Result<u16, Error> {
        let unit = self.unit_if_escaped(offset);
        self.at = offset + 6;
        unit.ok_or_else(|| self.error(JsonReason::Malformed, "an escape without four hexadecimal digits", offset))
    }

    /// Return the code unit of `\u` and four digits at `offset`, or None.
    fn unit_if_escaped(&self, offset: usize) -> Option<u16> {
        let digits = self.bytes.get(offset..offset + 6)?.strip_prefix(b"\\u")?;
        hexadecimal(digits)
    }

    /// Read a number.
    fn number(&mut self) -> Result<Number<'a>, Error> {
        let offset = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading = self.at;
        let digits = self.digits()?;
        if digits > 1 && self.bytes[leading] == b'0' {
            return Err(self.error(JsonReason::Malformed, "a number with a leading zero", offset));
        }
        let integer_end = self.at;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let token = &self.text[offset..self.at];
        if self.at == integer_end {
            return self.integer(token, offset, digits);
        }
        self.double(token, offset)
    }

    /// Check that an integer fits 64 bits, signed or unsigned.
    fn integer(&self, token: &'a str, offset: usize, digits: usize) -> Result<Number<'a>, Error> {
        let fits = digits < 19 || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
        if !fits {
            return Err(self.error(JsonReason::NumberOutOfRange, "an integer beyond 64 bits", offset));
        }
        Ok(Number::Integer { token, offset })
    }

    /// Parse a number with fraction or exponent.
    fn double(&self, token: &'a str, offset: usize) -> Result<Number<'a>, Error> {
        match token.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Number::Double { value, offset }),
            _ => Err(self.error(JsonReason::NumberOutOfRange, "a number beyond a double", offset)),
        }
    }

    /// Skip one or more digits; return how many.
    fn digits(&mut self) -> Result<usize, Error> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.malformed("something where a digit is expected,"));
        }
        Ok(self.at - start)
    }

    /// Read `true`, `false` or `null`.
    fn literal(&mut self, literal: &'static str) -> Result<(), Error> {
        if !self.bytes[self.at..].starts_with(literal.as_bytes()) {
            return Err(self.malformed("something that is not a JSON value"));
        }
        self.at += literal.len();
        Ok(())
    }

    /// Skip white space.
    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The byte at the current position.
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// A syntax error at the current position.
    fn malformed(&self, what: &'static str) -> Error {
        self.error(JsonReason::Malformed, what, self.at)
    }

    /// An error at an offset.
    #[expect(clippy::unused_self, reason = "a method reads as the other refusals do")]
    fn error(&self, reason: JsonReason, what: &'static str, offset: usize) -> Error {
        Error::Json { reason, what, at: Position::Offset(offset) }
    }
}
