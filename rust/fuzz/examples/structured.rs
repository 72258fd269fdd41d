//! `structured NUMBER [SEED] [NAME]`: runs the laws of structured inputs (`limits-…`, or those that begin with NAME)
//! over NUMBER generated inputs in all, and prints how many each had and every input that was one too many.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::panic;
use std::time::Instant;

use reverie_fuzz::LAWS;

/// Decisions of one input, in bytes.
const BYTES: usize = 160;

fn main() {
    let mut words = std::env::args().skip(1);
    let inputs: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(70_000);
    let mut state: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let name = words.next().unwrap_or_else(|| "limits-".to_owned());
    let laws: Vec<_> = LAWS.iter().filter(|(law, _)| law.starts_with(&name)).collect();
    let mut found = 0;
    for (name, law) in &laws {
        let began = Instant::now();
        let each = inputs / laws.len().max(1) as u64;
        for _ in 0..each {
            let mut input = [0; BYTES];
            for byte in &mut input {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = u8::try_from(state >> 56).unwrap_or(0);
            }
            if panic::catch_unwind(|| law(&input)).is_err() {
                found += 1;
                println!("{name} does not return for {}", input.escape_ascii());
            }
        }
        println!("{name:<32} {each:>9} inputs in {:.1} s", began.elapsed().as_secs_f64());
    }
    println!("{found} findings");
    std::process::exit(i32::from(found > 0));
}
