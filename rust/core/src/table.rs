//! Numbers found by the hash of what they stand for; the spellings are kept by whoever asks.

/// No number: an empty place.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    number: u32,
}

const EMPTY: Place = Place { hash: 0, number: NONE };

/// An open-addressed table, at most three quarters full, probed place by place.
#[derive(Default)]
pub(crate) struct Table {
    places: Vec<Place>,
    len: usize,
}

impl Table {
    /// One that need not grow for so many numbers.
    pub(crate) fn with_capacity(numbers: usize) -> Self {
        Self { places: vec![EMPTY; (numbers / 3 * 4 + 4).next_power_of_two()], len: 0 }
    }

    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number under this hash for which `same` holds.
    pub(crate) fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            if place.number == NONE {
                return None;
            }
            if place.hash == hash && same(place.number) {
                return Some(place.number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a number that is not in it.
    pub(crate) fn insert(&mut self, hash: u32, number: u32) {
        if self.len >= self.places.len() / 4 * 3 {
            self.grow();
        }
        self.put(Place { hash, number });
        self.len += 1;
    }

    /// Removes a number; one that is not there is no error.
    pub(crate) fn remove(&mut self, hash: u32, number: u32) {
        let Some(mask) = self.places.len().checked_sub(1) else { return };
        let mut gap = hash as usize & mask;
        while self.places[gap].number != number {
            if self.places[gap].number == NONE {
                return;
            }
            gap = (gap + 1) & mask;
        }
        self.len -= 1;
        // Whatever was pushed past the gap moves back into it, so that no probe ends too early.
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let place = self.places[at];
            if place.number == NONE {
                break;
            }
            let home = place.hash as usize & mask;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.places[gap] = place;
                gap = at;
            }
        }
        self.places[gap] = EMPTY;
    }

    fn grow(&mut self) {
        let wider = vec![EMPTY; (self.places.len() * 2).max(16)];
        for place in std::mem::replace(&mut self.places, wider) {
            if place.number != NONE {
                self.put(place);
            }
        }
    }

    fn put(&mut self, place: Place) {
        let mask = self.places.len() - 1;
        let mut at = place.hash as usize & mask;
        while self.places[at].number != NONE {
            at = (at + 1) & mask;
        }
        self.places[at] = place;
    }
}
