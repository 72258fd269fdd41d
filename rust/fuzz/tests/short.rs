//! Every law over inputs made of the pieces that mean something to it, and of what chance does to them.

#![expect(clippy::print_stdout, reason = "says how much was tried")]

use std::time::{Duration, Instant};

use reverie_fuzz::{LAWS, SEPARATOR, WORDS, named};

/// Inputs per law; `REVERIE_SOAK=1` runs many more. A law that reads long texts ends when its time is over.
const INPUTS: u64 = 3_000;
const SOAK_INPUTS: u64 = 300_000;
const INPUTS_MIN: u64 = 20;
const TIME: Duration = Duration::from_secs(5);
const SOAK_TIME: Duration = Duration::from_mins(10);

#[test]
fn laws_hold() {
    let soak = std::env::var_os("REVERIE_SOAK").is_some();
    let (inputs, time) = if soak { (SOAK_INPUTS, SOAK_TIME) } else { (INPUTS, TIME) };
    for (name, law) in LAWS {
        let began = Instant::now();
        let mut tried = 0;
        for number in (0..inputs).take_while(|&number| number < INPUTS_MIN || began.elapsed() < time) {
            tried = number + 1;
            let input = made(&mut Chance(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
            let held = std::panic::catch_unwind(|| law(&input));
            assert!(held.is_ok(), "{name} does not hold for {:?}", input.escape_ascii().to_string());
        }
        println!("{name:<32} {tried:>8} inputs in {:.1} s", began.elapsed().as_secs_f64());
    }
}

/// Every name is one law's, and tells libFuzzer which.
#[test]
fn names_are_different() {
    let mut names: Vec<_> = LAWS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| named(name).is_some()));
}

/// A small generator of numbers: xorshift, the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

fn made(chance: &mut Chance) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..chance.below(24) {
        match chance.below(12) {
            0 => input.push(SEPARATOR),
            1 => input.push(u8::try_from(chance.below(256)).unwrap_or(0)),
            2 => repeat(&mut input, chance),
            3 => cut(&mut input, chance),
            _ => input.extend_from_slice(WORDS[chance.below(WORDS.len())].as_bytes()),
        }
    }
    input
}

/// Something that stood before, once more.
fn repeat(input: &mut Vec<u8>, chance: &mut Chance) {
    let begin = chance.below(input.len());
    let end = begin + chance.below(input.len() - begin + 1);
    input.extend_from_within(begin..end);
}

/// The end is gone, perhaps in the middle of a character.
fn cut(input: &mut Vec<u8>, chance: &mut Chance) {
    input.truncate(chance.below(input.len() + 1));
}
