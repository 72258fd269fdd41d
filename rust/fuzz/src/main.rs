//! The libFuzzer target: runs the law named by `REVERIE_LAW` over libFuzzer's inputs.
#![no_main]
#![expect(clippy::print_stdout, reason = "it is a command")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reverie_fuzz::{LAWS, Law, WORDS};

static LAW: LazyLock<Law> = LazyLock::new(selected_law);

/// Return the law named by `REVERIE_LAW`; if there is none, print all laws and the dictionary for libFuzzer, and exit.
fn selected_law() -> Law {
    let selected = std::env::var("REVERIE_LAW").unwrap_or_default();
    if let Some((_, law)) = LAWS.iter().find(|(name, _)| *name == selected) {
        return *law;
    }
    for (name, _) in LAWS {
        println!("law {name}");
    }
    for word in WORDS {
        println!("word \"{}\"", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>());
    }
    std::process::exit(0);
}

// The law is selected before the first input: libFuzzer takes a process that ends at one for a finding.
fuzz_target!(init: LazyLock::force(&LAW), |data: &[u8]| LAW(data));
