//! A JSON value that preserves the order and repetition of keys.

use std::borrow::Cow;
use std::iter::Map;
use std::slice::Iter;

use crate::canonical::INTEGER_MAX;
use crate::canonical::object_keys::ObjectKey;
use crate::canonical::scanner::{Handler, Number};
use crate::canonical::source::{Node, Source, Unrepresentable};
use crate::canonical::strings::RawString;
use crate::error::{Error, Position};

/// A JSON value; strings are borrowed from the parsed text if they have no escapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number written without fraction and exponent.
    Integer(i64),
    /// Any other number.
    Double(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// `[…]`
    List(Vec<Value<'a>>),
    /// `{…}` in the order of the text.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

type Member<'a> = (Cow<'a, str>, Value<'a>);

impl<'v> Source<'v> for &'v Value<'v> {
    type Items = Iter<'v, Value<'v>>;
    type Members = Map<Iter<'v, Member<'v>>, fn(&'v Member<'v>) -> Result<(&'v str, Self), Unrepresentable>>;

    fn node(self) -> Result<Node<'v, Self>, Unrepresentable> {
        let borrowed: fn(&'v Member<'v>) -> _ = |(key, value)| Ok((key.as_ref(), value));
        Ok(match self {
            Value::Null => Node::Null,
            Value::Bool(value) => Node::Bool(*value),
            Value::Integer(integer) => Node::Integer(*integer),
            Value::Double(double) => Node::Double(*double),
            Value::Text(text) => Node::Text(text),
            Value::List(items) => Node::List(items.iter()),
            Value::Object(members) => Node::Object(members.iter().map(borrowed)),
        })
    }
}

/// A container that is being built, with the pending key of an object.
enum Open<'a> {
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>, Option<Cow<'a, str>>),
}

/// The scanner's handler that builds a [`Value`].
#[derive(Default)]
pub(crate) struct Builder<'a> {
    open: Vec<Open<'a>>,
    root: Option<Value<'a>>,
}

impl<'a> Builder<'a> {
    /// Return the value; `null` before anything was scanned, which the scanner does not allow.
    pub(crate) fn finish(self) -> Value<'a> {
        self.root.unwrap_or(Value::Null)
    }

    /// Complete the innermost container.
    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::List(items)) => self.push(Value::List(items)),
            Some(Open::Object(members, _)) => self.push(Value::Object(members)),
            None => {}
        }
    }

    /// Add a value to the innermost container, or make it the root.
    fn push(&mut self, value: Value<'a>) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Object(members, key)) => members.push((key.take().unwrap_or_default(), value)),
        }
    }
}

impl<'a> Handler<'a> for Builder<'a> {
    fn null(&mut self) {
        self.push(Value::Null);
    }

    fn bool(&mut self, value: bool) {
        self.push(Value::Bool(value));
    }

    fn number(&mut self, number: Number<'a>) -> Result<(), Error> {
        let value = match number {
            Number::Integer { token, offset } => match token.parse::<i64>() {
                Ok(integer) if (-INTEGER_MAX..=INTEGER_MAX).contains(&integer) => Value::Integer(integer),
                _ => return Err(Unrepresentable::BeyondInteger.at(Position::Offset(offset))),
            },
            Number::Double { value, .. } => Value::Double(value),
        };
        self.push(value);
        Ok(())
    }

    fn text(&mut self, text: RawString<'a>) {
        self.push(Value::Text(text.decode()));
    }

    fn open_list(&mut self) {
        self.open.push(Open::List(Vec::new()));
    }

    fn open_object(&mut self) {
        self.open.push(Open::Object(Vec::new(), None));
    }

    fn key(&mut self, text: RawString<'a>) {
        if let Some(Open::Object(_, key)) = self.open.last_mut() {
            *key = Some(text.decode());
        }
    }

    fn close_list(&mut self) {
        self.close();
    }

    fn close_object(&mut self, _keys: &[ObjectKey<'a>]) {
        self.close();
    }
}
