//! The list of limits that structured inputs are made at is that of the core's constants.

use std::fs;
use std::path::{Path, PathBuf};

use reverie_fuzz::limits::{LIMITS, LONG_LIMITS};

/// Constants that are no number of bytes, words or items: seeds, bits, what stands for none.
const NO_LIMIT_BITS: [&str; 2] = ["BITS", "COST"];

#[test]
fn every_limit_of_the_core_is_tried() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let mut seen = 0;
    for file in sources(&core) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for line in text.lines().map(str::trim) {
            let Some((name, value)) = constant(line) else { continue };
            if value < 2 || NO_LIMIT_BITS.iter().any(|part| name.contains(part)) {
                continue;
            }
            seen += 1;
            let is_tried = LIMITS.contains(&value) || LONG_LIMITS.contains(&value) || value > LONG_LIMITS[3];
            assert!(is_tried, "{name} = {value} of {} is no limit of rust/fuzz/src/limits.rs", file.display());
        }
    }
    assert!(seen > 100, "only {seen} constants were found");
}

/// Return name and value of `const NAME: usize = 64;`, also `32 * 1024` and `1 << 16`.
fn constant(line: &str) -> Option<(&str, usize)> {
    let (_, rest) = line.split_once("const ")?;
    let (name, rest) = rest.split_once(": usize = ")?;
    let value = rest.split(';').next()?;
    let number = |text: &str| text.trim().replace('_', "").parse::<usize>().ok();
    let value = match (value.split_once('*'), value.split_once("<<")) {
        (Some((left, right)), _) => number(left)? * number(right)?,
        (_, Some((left, right))) => number(left)? << number(right)?,
        _ => number(value)?,
    };
    Some((name, value))
}

/// Return every source file below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
