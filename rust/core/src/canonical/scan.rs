//! Reads JSON text once, strictly and without recursion, and tells a sink what it met.

use crate::canonical::DEPTH_MAX;
use crate::canonical::keys::{Key, arrange, repeated};
use crate::canonical::strings::{Text, hexadecimal, plain_until};
use crate::error::{Error, JsonReason, Position};

/// A number as it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number<'a> {
    /// Without fraction and exponent, within 64 bits.
    Integer {
        /// The digits.
        token: &'a str,
        /// Where they begin.
        offset: usize,
    },
    /// With either, and finite.
    Double {
        /// The nearest double.
        value: f64,
        /// Where its digits begin.
        offset: usize,
    },
}

/// Receives what the scanner meets, in the order of the text.
pub(crate) trait Sink<'a> {
    /// Whether the keys of an object must be in their canonical order when it closes.
    const ORDERS: bool = false;
    fn null(&mut self) {}
    fn bool(&mut self, _value: bool) {}
    /// May refuse a number that this sink cannot keep.
    fn number(&mut self, _number: Number<'a>) -> Result<(), Error> {
        Ok(())
    }
    fn text(&mut self, _text: Text<'a>) {}
    fn open_list(&mut self) {}
    fn open_object(&mut self) {}
    fn key(&mut self, _text: Text<'a>) {}
    fn close_list(&mut self) {}
    /// With all keys of the object, whose members have been told.
    fn close_object(&mut self, _keys: &[Key<'a>]) {}
}

/// The sink of a mere check.
pub(crate) struct Nothing;

impl Sink<'_> for Nothing {}

/// Bytes as text: UTF-8 without a byte order mark, as RFC 8259 demands between systems.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, Error> {
    let refuse = |what, offset| Error::Json { reason: JsonReason::Encoding, what, at: Position::Offset(offset) };
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => return Err(refuse("a byte order mark", 0)),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..] => {
            return Err(refuse("UTF-16 or UTF-32, where UTF-8 is meant,", 0));
        }
        _ => {}
    }
    std::str::from_utf8(bytes).map_err(|error| refuse("bytes that are not UTF-8", error.valid_up_to()))
}

/// Scans one JSON value with nothing but white space round it.
pub(crate) fn scan<'a, S: Sink<'a>>(text: &'a str, sink: &mut S) -> Result<(), Error> {
    Scanner { text, bytes: text.as_bytes(), at: 0, frames: Vec::new(), keys: Vec::new() }.run(sink)
}

/// An open list, or an open object and where its keys begin on the shared stack of keys.
enum Frame {
    List,
    Object { keys_from: usize },
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    keys: Vec<Key<'a>>,
}

impl<'a> Scanner<'a> {
    fn run<S: Sink<'a>>(mut self, sink: &mut S) -> Result<(), Error> {
        loop {
            let opened = self.value(sink)?;
            if opened {
                continue;
            }
            if !self.after_value(sink)? {
                return Ok(());
            }
        }
    }

    /// Reads one scalar, or opens a container; true if the next thing must be a value again.
    fn value<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<bool, Error> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => {
                let text = self.string()?;
                sink.text(text);
            }
            Some(b'{') => return self.open_object(sink),
            Some(b'[') => return self.open_list(sink),
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                sink.number(number)?;
            }
            Some(b't') => {
                self.word("true")?;
                sink.bool(true);
            }
            Some(b'f') => {
                self.word("false")?;
                sink.bool(false);
            }
            Some(b'n') => {
                self.word("null")?;
                sink.null();
            }
            Some(_) => return Err(self.malformed("something that is not a JSON value")),
            None => return Err(self.malformed("the text ends where a value is expected,")),
        }
        Ok(false)
    }

    /// Goes on after a complete value; false at the end of the text.
    fn after_value<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<bool, Error> {
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
                        self.key(sink)?;
                    }
                    return Ok(true);
                }
                Some(b']') if !in_object => self.close(sink)?,
                Some(b'}') if in_object => self.close(sink)?,
                Some(_) => return Err(self.malformed("something where a comma or the closing bracket is expected,")),
                None => return Err(self.malformed("the text ends inside a list or object")),
            }
        }
    }

    fn open_object<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<bool, Error> {
        self.enter(Frame::Object { keys_from: self.keys.len() })?;
        sink.open_object();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.close(sink)?;
            return Ok(false);
        }
        self.key(sink)?;
        Ok(true)
    }

    fn open_list<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<bool, Error> {
        self.enter(Frame::List)?;
        sink.open_list();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.close(sink)?;
            return Ok(false);
        }
        Ok(true)
    }

    fn enter(&mut self, frame: Frame) -> Result<(), Error> {
        if self.frames.len() == DEPTH_MAX {
            return Err(self.refuse(JsonReason::TooDeep, "nesting deeper than 128", self.at));
        }
        self.frames.push(frame);
        self.at += 1;
        Ok(())
    }

    fn close<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<(), Error> {
        match self.frames.pop() {
            Some(Frame::Object { keys_from }) => {
                let keys = &mut self.keys[keys_from..];
                if let Some(offset) = if S::ORDERS { arrange(keys) } else { repeated(keys) } {
                    return Err(self.refuse(JsonReason::DuplicateKey, "the same key twice", offset));
                }
                sink.close_object(keys);
                self.keys.truncate(keys_from);
            }
            Some(Frame::List) | None => sink.close_list(),
        }
        self.at += 1;
        Ok(())
    }

    fn key<S: Sink<'a>>(&mut self, sink: &mut S) -> Result<(), Error> {
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
        self.keys.push(Key::new(text.decoded(), offset, index));
        sink.key(text);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.malformed("something where a colon is expected,"));
        }
        self.at += 1;
        Ok(())
    }

    /// A string from its opening to after its closing quote.
    fn string(&mut self) -> Result<Text<'a>, Error> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            self.at = plain_until(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    let raw = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Text::new(raw, escaped));
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
                    _ => Err(self.refuse(JsonReason::LoneSurrogate, "half of a surrogate pair", offset)),
                },
                0xDC00..=0xDFFF => Err(self.refuse(JsonReason::LoneSurrogate, "half of a surrogate pair", offset)),
                _ => Ok(()),
            },
            _ => Err(self.malformed("an escape that JSON does not have")),
        }
    }

    /// The code unit of a `\u` and its four digits at `offset`; moves behind it.
    fn unit(&mut self, offset: usize) -> Result<u16, Error> {
        let unit = self.unit_if_escaped(offset);
        self.at = offset + 6;
        unit.ok_or_else(|| self.refuse(JsonReason::Malformed, "an escape without four hexadecimal digits", offset))
    }

    fn unit_if_escaped(&self, offset: usize) -> Option<u16> {
        let digits = self.bytes.get(offset..offset + 6)?.strip_prefix(b"\\u")?;
        hexadecimal(digits)
    }

    fn number(&mut self) -> Result<Number<'a>, Error> {
        let offset = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading = self.at;
        let digits = self.digits()?;
        if digits > 1 && self.bytes[leading] == b'0' {
            return Err(self.refuse(JsonReason::Malformed, "a number with a leading zero", offset));
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

    fn integer(&self, token: &'a str, offset: usize, digits: usize) -> Result<Number<'a>, Error> {
        let fits = digits < 19 || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
        if !fits {
            return Err(self.refuse(JsonReason::NumberOutOfRange, "an integer beyond 64 bits", offset));
        }
        Ok(Number::Integer { token, offset })
    }

    fn double(&self, token: &'a str, offset: usize) -> Result<Number<'a>, Error> {
        match token.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Number::Double { value, offset }),
            _ => Err(self.refuse(JsonReason::NumberOutOfRange, "a number beyond a double", offset)),
        }
    }

    /// Moves behind one or more digits and says how many.
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

    fn word(&mut self, word: &'static str) -> Result<(), Error> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.malformed("something that is not a JSON value"));
        }
        self.at += word.len();
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn malformed(&self, what: &'static str) -> Error {
        self.refuse(JsonReason::Malformed, what, self.at)
    }

    #[expect(clippy::unused_self, reason = "a method reads as the other refusals do")]
    fn refuse(&self, reason: JsonReason, what: &'static str, offset: usize) -> Error {
        Error::Json { reason, what, at: Position::Offset(offset) }
    }
}
