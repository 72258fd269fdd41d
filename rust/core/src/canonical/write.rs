//! Writes a value as RFC 8785 says.

use std::borrow::Cow;

use crate::canonical::{INTEGER_MAX, Value, utf16_order};
use crate::error::{Error, JsonReason, Position, Step};

/// The canonical bytes. Recursion is bounded by the depth that a [`Value`] was built with.
pub(crate) fn write(value: &Value<'_>) -> Result<Vec<u8>, Error> {
    let mut writer = Writer { out: Vec::with_capacity(256), numbers: ryu_js::Buffer::new() };
    writer.value(value).map_err(|refused| {
        let at = Position::path(refused.steps.iter().rev());
        Error::Json { reason: refused.reason, what: refused.what, at }
    })?;
    Ok(writer.out)
}

/// A refusal on its way out of the value, gathering the steps of its path from the innermost.
struct Refused {
    reason: JsonReason,
    what: &'static str,
    steps: Vec<Step>,
}

impl Refused {
    fn new(reason: JsonReason, what: &'static str) -> Self {
        Self { reason, what, steps: Vec::new() }
    }

    fn inside(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

struct Writer {
    out: Vec<u8>,
    numbers: ryu_js::Buffer,
}

impl Writer {
    fn value(&mut self, value: &Value<'_>) -> Result<(), Refused> {
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Integer(integer) => self.integer(*integer)?,
            Value::Double(double) => self.double(*double)?,
            Value::Text(text) => write_text(&mut self.out, text),
            Value::List(items) => self.list(items)?,
            Value::Object(members) => self.object(members)?,
        }
        Ok(())
    }

    fn integer(&mut self, integer: i64) -> Result<(), Refused> {
        if !(-INTEGER_MAX..=INTEGER_MAX).contains(&integer) {
            return Err(Refused::new(JsonReason::NumberOutOfRange, "an integer beyond 2^53-1"));
        }
        self.out.extend_from_slice(integer.to_string().as_bytes());
        Ok(())
    }

    fn double(&mut self, double: f64) -> Result<(), Refused> {
        if !double.is_finite() {
            return Err(Refused::new(JsonReason::NumberOutOfRange, "a number that is not finite"));
        }
        self.out.extend_from_slice(self.numbers.format_finite(double).as_bytes());
        Ok(())
    }

    fn list(&mut self, items: &[Value<'_>]) -> Result<(), Refused> {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.value(item).map_err(|refused| refused.inside(Step::Index(index)))?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, members: &[(Cow<'_, str>, Value<'_>)]) -> Result<(), Refused> {
        let mut sorted: Vec<&(Cow<'_, str>, Value<'_>)> = members.iter().collect();
        sorted.sort_by(|a, b| utf16_order(&a.0, &b.0));
        self.out.push(b'{');
        for (index, (key, value)) in sorted.iter().enumerate() {
            let inside = |refused: Refused| refused.inside(Step::Key(key.clone().into_owned()));
            if index > 0 {
                if sorted[index - 1].0 == *key {
                    return Err(inside(Refused::new(JsonReason::DuplicateKey, "the same key twice")));
                }
                self.out.push(b',');
            }
            write_text(&mut self.out, key);
            self.out.push(b':');
            self.value(value).map_err(inside)?;
        }
        self.out.push(b'}');
        Ok(())
    }
}

/// A string with the escapes of ECMAScript: the two-letter ones where they exist, `\u00xx` for other controls.
fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[copied..at]);
        copied = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0A => out.extend_from_slice(b"\\n"),
            0x0C => out.extend_from_slice(b"\\f"),
            0x0D => out.extend_from_slice(b"\\r"),
            control => {
                out.extend_from_slice(b"\\u00");
                out.push(b'0' + (control >> 4));
                out.push(b"0123456789abcdef"[usize::from(control & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}
