//! Writes a value as RFC 8785 says, from wherever it is.

use crate::canonical::DEPTH_MAX;
use crate::canonical::order::{head, utf16_order};
use crate::canonical::output::Output;
use crate::canonical::source::{Shape, Source, Unfit};
use crate::error::{Error, Position, Step};

/// The canonical bytes. Recursion ends at [`DEPTH_MAX`].
pub(crate) fn write<'s, S: Source<'s>>(value: S) -> Result<Vec<u8>, Error> {
    let mut writer = Writer { out: Output::new(), members: Vec::with_capacity(32), depth: 0 };
    writer.value(value).map_err(|refused| {
        let (unfit, steps) = *refused.0;
        unfit.at(Position::path(steps.iter().rev()))
    })?;
    Ok(writer.out.bytes)
}

/// A refusal on its way out of the value, gathering the steps of its path from the innermost.
struct Refused(Box<(Unfit, Vec<Step>)>);

impl From<Unfit> for Refused {
    #[cold]
    fn from(unfit: Unfit) -> Self {
        Self(Box::new((unfit, Vec::new())))
    }
}

impl Refused {
    #[cold]
    fn inside(mut self, step: Step) -> Self {
        self.0.1.push(step);
        self
    }
}

/// A member of an open object, with what decides its place.
#[derive(Clone, Copy)]
struct Member<'s, S> {
    head: u64,
    key: &'s str,
    value: S,
}

struct Writer<'s, S> {
    out: Output,
    /// The members of all open objects, those of the innermost last.
    members: Vec<Member<'s, S>>,
    depth: usize,
}

impl<'s, S: Source<'s>> Writer<'s, S> {
    fn value(&mut self, value: S) -> Result<(), Refused> {
        match value.shape()? {
            Shape::Text(text) => self.out.text(text),
            Shape::Integer(integer) => self.out.integer(integer)?,
            Shape::Double(double) => self.out.double(double)?,
            Shape::Bool(value) => self.out.bool(value),
            Shape::Null => self.out.raw(b"null"),
            Shape::List(items) => {
                self.enter()?;
                self.list(items)?;
                self.depth -= 1;
            }
            Shape::Object(members) => {
                self.enter()?;
                self.object(members)?;
                self.depth -= 1;
            }
        }
        Ok(())
    }

    /// One container deeper; also what ends a value that contains itself.
    fn enter(&mut self) -> Result<(), Unfit> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(Unfit::TooDeep) } else { Ok(()) }
    }

    fn list(&mut self, items: S::Items) -> Result<(), Refused> {
        self.out.byte(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.byte(b',');
            }
            self.value(item).map_err(|refused| refused.inside(Step::Index(index)))?;
        }
        self.out.byte(b']');
        Ok(())
    }

    fn object(&mut self, members: S::Members) -> Result<(), Refused> {
        let from = self.members.len();
        for member in members {
            let (key, value) = member?;
            self.members.push(Member { head: head(key), key, value });
        }
        self.arrange(from)?;
        self.out.byte(b'{');
        for at in from..self.members.len() {
            if at > from {
                self.out.byte(b',');
            }
            let Member { key, value, .. } = self.members[at];
            self.out.text(key);
            self.out.byte(b':');
            self.value(value).map_err(|refused| refused.inside(Step::Key(key.to_owned())))?;
        }
        self.members.truncate(from);
        self.out.byte(b'}');
        Ok(())
    }

    /// Puts the members of the innermost object into the order of their keys.
    fn arrange(&mut self, from: usize) -> Result<(), Refused> {
        let members = &mut self.members[from..];
        members.sort_unstable_by(|a, b| a.head.cmp(&b.head).then_with(|| utf16_order(a.key, b.key)));
        match members.windows(2).find(|pair| pair[0].head == pair[1].head && pair[0].key == pair[1].key) {
            Some(pair) => Err(Refused::from(Unfit::RepeatedKey).inside(Step::Key(pair[0].key.to_owned()))),
            None => Ok(()),
        }
    }
}
