//! Where the pieces of ASCII text begin, for 64 bytes at once: the split rules as operations on sets of bytes.
//!
//! A window begins where a piece begins. What a rule asks about the bytes before a byte is a shift to the left, so
//! that all bytes are asked at once. Only three things look ahead: white space (it matters where it ends), the letters
//! after an apostrophe, and slashes that the newlines after other characters take along; where these reach the end of
//! what is known, or are rare, the starts after them are left out, and the window is tried again from the last one.

use crate::tokens::ascii::WIDTH;
use crate::tokens::masks::Masks;
use crate::tokens::split::Pattern;

/// The places in the window, one bit each, at which pieces are known to begin; place 0 is always among them.
///
/// Only bytes before the first one beyond ASCII and before `known` are looked at; there is at least one.
#[inline]
pub(crate) fn starts(bytes: &[u8; WIDTH], known: usize, pattern: Pattern) -> u64 {
    let masks = Masks::of(bytes);
    let known = known.min(masks.beyond.trailing_zeros() as usize);
    if known == 0 {
        return 1;
    }
    let window = Window::new(&masks, known);
    let mut starts = 1 | window.letters() | window.numbers() | window.others() | window.white_space();
    starts &= window.certain();
    if pattern == Pattern::O200k {
        starts |= window.cases() & window.certain();
        window.contractions_of_words(&mut starts, masks.apostrophe, bytes);
        starts &= window.before_slashes(masks.slash);
    } else {
        window.contractions_alone(&mut starts, masks.apostrophe, bytes);
    }
    starts
}

/// Disjoint sets of the bytes that are known.
struct Window {
    known: usize,
    letter: u64,
    lower: u64,
    digit: u64,
    /// White space but newlines.
    space: u64,
    newline: u64,
    /// The space itself, of all white space.
    blank: u64,
    other: u64,
    /// Newlines that belong to the other characters before them.
    taken: u64,
}

impl Window {
    #[inline]
    fn new(masks: &Masks, known: usize) -> Self {
        let all = below(known);
        let newline = masks.newline & all;
        let other = all & !(masks.letter | masks.digit | masks.white);
        // Adding its first bit to a run of bits clears the run.
        let taken = newline & !newline.wrapping_add(newline & other << 1);
        Self {
            known,
            letter: masks.letter & all,
            lower: masks.letter & masks.lower & all,
            digit: masks.digit & all,
            space: masks.white & !masks.newline & all,
            newline,
            blank: masks.blank & all,
            other,
            taken,
        }
    }

    /// Letters begin a piece after digits and newlines, and after other characters unless that is a single one
    /// without a space before it, which goes with them as white space does.
    #[inline]
    fn letters(&self) -> u64 {
        let after_others = self.other << 1 & (self.other | self.blank) << 2;
        self.letter & ((self.digit | self.newline) << 1 | after_others)
    }

    /// Upper case after lower case begins a word.
    #[inline]
    fn cases(&self) -> u64 {
        self.letter & !self.lower & self.lower << 1
    }

    /// Every third digit of a run begins a piece.
    #[inline]
    fn numbers(&self) -> u64 {
        let mut firsts = self.digit & !(self.digit << 1);
        let mut starts = firsts;
        let fourths = self.digit & self.digit << 1 & self.digit << 2 & self.digit << 3;
        if fourths != 0 {
            while firsts != 0 {
                firsts = firsts << 3 & fourths;
                starts |= firsts;
            }
        }
        starts
    }

    /// A run of other characters is one piece, with one space before it.
    #[inline]
    fn others(&self) -> u64 {
        self.other & !((self.other | self.blank) << 1)
    }

    /// A run of white space is a piece up to its last newline; then one that leaves out its last character, which
    /// begins a piece in any case.
    #[inline]
    fn white_space(&self) -> u64 {
        let white = self.space | self.newline;
        let free = white & !self.taken;
        let mut after_newline = self.space & self.newline << 1;
        let mut newline_again = self.space.wrapping_add(after_newline) & self.newline;
        while newline_again != 0 {
            let behind = after_newline & (newline_again & newline_again.wrapping_neg()).wrapping_sub(1);
            let nearest = 63 - behind.leading_zeros().min(63);
            after_newline &= !(1 << nearest);
            newline_again &= newline_again - 1;
        }
        free & !(free << 1) | self.space & !(white >> 1) | after_newline
    }

    /// All places, but where the known bytes end in white space those up to its beginning.
    #[inline]
    fn certain(&self) -> u64 {
        let white = (self.space | self.newline) << (WIDTH - self.known);
        let trailing = white.leading_ones() as usize;
        if trailing == 0 { u64::MAX } else { below((self.known - trailing + 1).min(WIDTH)) }
    }

    /// The places before the first slash that newlines take along with other characters.
    #[inline]
    fn before_slashes(&self, slash: u64) -> u64 {
        let taken = slash & self.taken << 1 & self.other;
        if taken == 0 { u64::MAX } else { ((taken & taken.wrapping_neg()) - 1) | 1 }
    }

    /// `'s` and its like go with the word before them.
    #[inline]
    fn contractions_of_words(&self, starts: &mut u64, apostrophe: u64, bytes: &[u8; WIDTH]) {
        let mut left = apostrophe & self.letter << 1 & self.other;
        let mut after_last = 0;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(length) = self.contraction(at, bytes) else {
                *starts &= below(at);
                return;
            };
            // After a contraction, another one is a word of its own.
            if length == 0 || at == after_last {
                continue;
            }
            after_last = at + length;
            *starts &= !(below(after_last) & !below(at));
            *starts |= self.letter & below(after_last + 1) & !below(after_last);
        }
    }

    /// `'s` and its like are pieces where they begin one.
    #[inline]
    fn contractions_alone(&self, starts: &mut u64, apostrophe: u64, bytes: &[u8; WIDTH]) {
        let mut left = apostrophe & *starts & below(self.known);
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(length) = self.contraction(at, bytes) else {
                *starts &= below(at + 1);
                return;
            };
            if length > 0 {
                *starts |= self.letter & below(at + length + 1) & !below(at + length);
            }
        }
    }

    /// Length of the contraction that begins with an apostrophe, 0 for none, nothing if the known bytes end there.
    #[inline]
    fn contraction(&self, at: usize, bytes: &[u8; WIDTH]) -> Option<usize> {
        if at + 2 >= self.known {
            return None;
        }
        let lower = |at: usize| bytes.get(at).map_or(0, |byte| byte | 0x20);
        Some(match (lower(at + 1), lower(at + 2)) {
            (b's' | b't' | b'm' | b'd', _) => 2,
            (b'r' | b'v', b'e') | (b'l', b'l') => 3,
            _ => 0,
        })
    }
}

/// The first `count` places, of which there are 64.
#[inline]
fn below(count: usize) -> u64 {
    if count >= WIDTH { u64::MAX } else { (1 << count) - 1 }
}
