//! Messages directly before and behind each other in their threads, by slot.
//!
//! The id of a message ends with its number in its thread (`thread/17`), and segments have their documents in the order
//! of their ids as texts, in which 17 comes behind 169. A look-up of an id waits for memory several times, and a search
//! with surroundings needs about a thousand neighbours.

use super::documents::Documents;

/// No message.
const NONE: u32 = u32::MAX;

/// The direction in which a neighbour is looked for: one number before, or one number behind.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Before,
    Behind,
}

/// For each slot of a segment, the slots of the messages one number before and one number behind.
pub(super) struct AdjacentMessages {
    before: Vec<u32>,
    behind: Vec<u32>,
}

impl AdjacentMessages {
    /// Compare the ids of all documents, whose slots must be in the order of their ids.
    pub(super) fn of(documents: &Documents) -> Self {
        let slots = documents.slots();
        let mut adjacent = Self { before: vec![NONE; slots], behind: vec![NONE; slots] };
        let mut numbers: Vec<(u64, u32)> = Vec::new(); // of the messages of one thread
        let mut current = "";
        for slot in 0..u32::try_from(slots).unwrap_or(NONE) {
            let Some((thread, number)) = numbered(documents.id(slot)) else { continue };
            if thread != current {
                adjacent.link(&mut numbers);
                current = thread;
            }
            numbers.push((number, slot));
        }
        adjacent.link(&mut numbers);
        adjacent
    }

    /// Return the slot of the message beside one, removed ones included; None where it is not in this segment.
    pub(super) fn beside(&self, slot: u32, side: Side) -> Option<u32> {
        let slots = match side {
            Side::Before => &self.before,
            Side::Behind => &self.behind,
        };
        slots.get(slot as usize).copied().filter(|&found| found != NONE)
    }

    /// Note which of these messages of one thread are adjacent, and clear the list.
    fn link(&mut self, numbers: &mut Vec<(u64, u32)>) {
        numbers.sort_unstable();
        for pair in numbers.windows(2) {
            let ((number, slot), (following, behind)) = (pair[0], pair[1]);
            if number.checked_add(1) == Some(following) {
                self.behind[slot as usize] = behind;
                self.before[behind as usize] = slot;
            }
        }
        numbers.clear();
    }
}

/// Split an id into the thread and the number of the message; None where the number is not written as numbers are.
pub(super) fn numbered(id: &str) -> Option<(&str, u64)> {
    let (thread, digits) = id.rsplit_once('/')?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    Some((thread, digits.parse().ok().filter(|_| is_plain)?))
}

#[cfg(test)]
mod tests {
    use super::super::documents::Documents;
    use super::{AdjacentMessages, Side, numbered};

    /// Every message of every thread knows the two beside it, and none of another thread.
    #[test]
    fn threads_are_linked_by_number() {
        let mut ids: Vec<String> =
            (0..120).filter(|number| number % 10 != 3).map(|number| format!("a/{number}")).collect();
        ids.extend((7..31).map(|number| format!("a-b/{number}")));
        ids.extend(["a/04", "a/+5", "no number", "a/x", "/a/1", "/a/2"].map(str::to_owned));
        ids.sort_unstable();
        let mut documents = Documents::default();
        for id in &ids {
            documents.push(id, 1, None, []);
        }
        let adjacent = AdjacentMessages::of(&documents);
        for (slot, id) in (0..).zip(&ids) {
            let beside = |step: i64| {
                let (thread, number) = numbered(id)?;
                documents.find(&format!("{thread}/{}", number.checked_add_signed(step)?))
            };
            let found = [Side::Before, Side::Behind].map(|side| adjacent.beside(slot, side));
            assert_eq!(found, [beside(-1), beside(1)], "{id}");
        }
    }
}
