//! Serializes any [`Source`] as canonical JSON.

use crate::canonical::DEPTH_MAX;
use crate::canonical::object_keys::{sort_prefix, utf16_order};
use crate::canonical::output::Output;
use crate::canonical::source::{Node, Source, Unrepresentable};
use crate::error::{Error, Position, Step};

/// Return the canonical form of a value. Recursion is limited by [`DEPTH_MAX`].
pub(crate) fn serialize<'s, S: Source<'s>>(value: S) -> Result<Vec<u8>, Error> {
    let mut serializer = Serializer { out: Output::new(), members: Vec::with_capacity(32), depth: 0 };
    serializer.value(value).map_err(|error| {
        let (reason, steps) = *error.0;
        reason.at(Position::path(steps.iter().rev()))
    })?;
    Ok(serializer.out.bytes)
}

/// An error on its way out of nested values, which collects the steps of its path from the innermost outwards.
struct PathError(Box<(Unrepresentable, Vec<Step>)>);

impl From<Unrepresentable> for PathError {
    #[cold]
    fn from(reason: Unrepresentable) -> Self {
        Self(Box::new((reason, Vec::new())))
    }
}

impl PathError {
    /// Add the step in which the error is.
    #[cold]
    fn with_step(mut self, step: Step) -> Self {
        self.0.1.push(step);
        self
    }
}

/// A member of an open object, with its sort key.
#[derive(Clone, Copy)]
struct Member<'s, S> {
    sort_prefix: u64,
    key: &'s str,
    value: S,
}

/// The output and the stack of open objects.
struct Serializer<'s, S> {
    out: Output,
    /// The members of all open objects, those of the innermost last.
    members: Vec<Member<'s, S>>,
    depth: usize,
}

impl<'s, S: Source<'s>> Serializer<'s, S> {
    /// Write a value.
    fn value(&mut self, value: S) -> Result<(), PathError> {
        match value.node()? {
            Node::Text(text) => self.out.text(text),
            Node::Integer(integer) => self.out.integer(integer)?,
            Node::Double(double) => self.out.double(double)?,
            Node::Bool(value) => self.out.bool(value),
            Node::Null => self.out.raw(b"null"),
            Node::List(items) => {
                self.enter()?;
                self.list(items)?;
                self.depth -= 1;
            }
            Node::Object(members) => {
                self.enter()?;
                self.object(members)?;
                self.depth -= 1;
            }
        }
        Ok(())
    }

    /// Enter a container, within the depth limit; this also ends the traversal of a value that contains itself.
    fn enter(&mut self) -> Result<(), Unrepresentable> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(Unrepresentable::TooDeep) } else { Ok(()) }
    }

    /// Write a list.
    fn list(&mut self, items: S::Items) -> Result<(), PathError> {
        self.out.byte(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.byte(b',');
            }
            self.value(item).map_err(|error| error.with_step(Step::Index(index)))?;
        }
        self.out.byte(b']');
        Ok(())
    }

    /// Write an object, its members sorted by key.
    fn object(&mut self, members: S::Members) -> Result<(), PathError> {
        let from = self.members.len();
        for member in members {
            let (key, value) = member?;
            self.members.push(Member { sort_prefix: sort_prefix(key), key, value });
        }
        self.sort_members(from)?;
        self.out.byte(b'{');
        for at in from..self.members.len() {
            if at > from {
                self.out.byte(b',');
            }
            let Member { key, value, .. } = self.members[at];
            self.out.text(key);
            self.out.byte(b':');
            self.value(value).map_err(|error| error.with_step(Step::Key(key.to_owned())))?;
        }
        self.members.truncate(from);
        self.out.byte(b'}');
        Ok(())
    }

    /// Sort the members of the innermost object and check for duplicate keys.
    fn sort_members(&mut self, from: usize) -> Result<(), PathError> {
        let members = &mut self.members[from..];
        members.sort_unstable_by(|a, b| a.sort_prefix.cmp(&b.sort_prefix).then_with(|| utf16_order(a.key, b.key)));
        match members.windows(2).find(|pair| pair[0].sort_prefix == pair[1].sort_prefix && pair[0].key == pair[1].key) {
            Some(pair) => {
                Err(PathError::from(Unrepresentable::RepeatedKey).with_step(Step::Key(pair[0].key.to_owned())))
            }
            None => Ok(()),
        }
    }
}
