//! The libFuzzer target: the law that `REVERIE_LAW` names, over whatever libFuzzer comes up with.
#![no_main]
#![expect(clippy::print_stdout, reason = "it is a command")]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use reverie_fuzz::{LAWS, Law, WORDS, named};

static LAW: OnceLock<Law> = OnceLock::new();

/// The law that is asked for; where none is, says which there are, and which words libFuzzer may use.
fn chosen() -> Law {
    let name = std::env::var("REVERIE_LAW").unwrap_or_default();
    named(&name).unwrap_or_else(|| {
        for (name, _) in LAWS {
            println!("law {name}");
        }
        for word in WORDS {
            println!("word \"{}\"", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>());
        }
        std::process::exit(2);
    })
}

fuzz_target!(|data: &[u8]| LAW.get_or_init(chosen)(data));
