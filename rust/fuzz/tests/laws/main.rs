//! The laws that the fuzz targets run, on inputs of proptest.

use proptest::prelude::ProptestConfig;

mod blocks;
mod canonical;
mod merge;
mod rank;
mod redaction;
mod tokens;

/// The count of a campaign: small by default, full under `REVERIE_SOAK`.
fn config(cases: u32, soak: u32) -> ProptestConfig {
    let cases = if std::env::var_os("REVERIE_SOAK").is_some() { soak } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
