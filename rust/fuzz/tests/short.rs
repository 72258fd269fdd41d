//! Runs every law over generated inputs: dictionary pieces, with random repetition and truncation.

#![expect(clippy::print_stdout, reason = "says how much was tried")]

use std::time::{Duration, Instant};

use reverie_fuzz::{LAWS, SEPARATOR, WORDS};

/// Inputs per law (`REVERIE_SOAK=1` runs many more), and the time after which a slow law stops, after the minimum.
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
            let input = generate(&mut Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
            let result = std::panic::catch_unwind(|| law(&input));
            assert!(result.is_ok(), "{name} does not hold for {:?}", input.escape_ascii().to_string());
        }
        println!("{name:<32} {tried:>8} inputs in {:.1} s", began.elapsed().as_secs_f64());
    }
}

/// The names of the laws are unique, and each one is found by name.
#[test]
fn names_are_different() {
    let mut names: Vec<_> = LAWS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| reverie_fuzz::law(name).is_some()));
}

/// A small pseudorandom generator (xorshift), the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

/// Generate an input of up to 24 steps.
fn generate(random: &mut Random) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..random.below(24) {
        match random.below(12) {
            0 => input.push(SEPARATOR),
            1 => input.push(u8::try_from(random.below(256)).unwrap_or(0)),
            2 => repeat(&mut input, random),
            3 => cut(&mut input, random),
            _ => input.extend_from_slice(WORDS[random.below(WORDS.len())].as_bytes()),
        }
    }
    input
}

/// Append a copy of an earlier part.
fn repeat(input: &mut Vec<u8>, random: &mut Random) {
    let begin = random.below(input.len());
    let end = begin + random.below(input.len() - begin + 1);
    input.extend_from_within(begin..end);
}

/// Truncate the input, perhaps in the middle of a character.
fn cut(input: &mut Vec<u8>, random: &mut Random) {
    input.truncate(random.below(input.len() + 1));
}
