//! A JSON value that remembers what JSON cannot lose: the order and the repetition of its keys.

use std::borrow::Cow;
use std::iter::Map;
use std::slice::Iter;

use crate::canonical::INTEGER_MAX;
use crate::canonical::keys::Key;
use crate::canonical::scan::{Number, Sink};
use crate::canonical::source::{Shape, Source, Unfit};
use crate::canonical::strings::Text;
use crate::error::{Error, Position};

/// One JSON value; strings are borrowed from where they were read if they stood there unescaped.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number written without fraction and exponent.
    Integer(i64),
    /// Every other number.
    Double(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// `[…]`
    List(Vec<Value<'a>>),
    /// `{…}` in the order it was given.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

type Member<'a> = (Cow<'a, str>, Value<'a>);

impl<'v> Source<'v> for &'v Value<'v> {
    type Items = Iter<'v, Value<'v>>;
    type Members = Map<Iter<'v, Member<'v>>, fn(&'v Member<'v>) -> Result<(&'v str, Self), Unfit>>;

    fn shape(self) -> Result<Shape<'v, Self>, Unfit> {
        let borrowed: fn(&'v Member<'v>) -> _ = |(key, value)| Ok((key.as_ref(), value));
        Ok(match self {
            Value::Null => Shape::Null,
            Value::Bool(value) => Shape::Bool(*value),
            Value::Integer(integer) => Shape::Integer(*integer),
            Value::Double(double) => Shape::Double(*double),
            Value::Text(text) => Shape::Text(text),
            Value::List(items) => Shape::List(items.iter()),
            Value::Object(members) => Shape::Object(members.iter().map(borrowed)),
        })
    }
}

enum Open<'a> {
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>, Option<Cow<'a, str>>),
}

/// Builds a [`Value`] from what the scanner meets.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    open: Vec<Open<'a>>,
    root: Option<Value<'a>>,
}

impl<'a> Builder<'a> {
    /// The value; `null` before anything was scanned, which the scanner does not allow.
    pub(crate) fn finish(self) -> Value<'a> {
        self.root.unwrap_or(Value::Null)
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::List(items)) => self.place(Value::List(items)),
            Some(Open::Object(members, _)) => self.place(Value::Object(members)),
            None => {}
        }
    }

    fn place(&mut self, value: Value<'a>) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Object(members, key)) => members.push((key.take().unwrap_or_default(), value)),
        }
    }
}

impl<'a> Sink<'a> for Builder<'a> {
    fn null(&mut self) {
        self.place(Value::Null);
    }

    fn bool(&mut self, value: bool) {
        self.place(Value::Bool(value));
    }

    fn number(&mut self, number: Number<'a>) -> Result<(), Error> {
        let value = match number {
            Number::Integer { token, offset } => match token.parse::<i64>() {
                Ok(integer) if (-INTEGER_MAX..=INTEGER_MAX).contains(&integer) => Value::Integer(integer),
                _ => return Err(Unfit::BeyondInteger.at(Position::Offset(offset))),
            },
            Number::Double { value, .. } => Value::Double(value),
        };
        self.place(value);
        Ok(())
    }

    fn text(&mut self, text: Text<'a>) {
        self.place(Value::Text(text.decoded()));
    }

    fn open_list(&mut self) {
        self.open.push(Open::List(Vec::new()));
    }

    fn open_object(&mut self) {
        self.open.push(Open::Object(Vec::new(), None));
    }

    fn key(&mut self, text: Text<'a>) {
        if let Some(Open::Object(_, key)) = self.open.last_mut() {
            *key = Some(text.decoded());
        }
    }

    fn close_list(&mut self) {
        self.close();
    }

    fn close_object(&mut self, _keys: &[Key<'a>]) {
        self.close();
    }
}
