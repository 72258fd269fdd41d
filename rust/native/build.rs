//! Compiles the hook program, whose bytes the module carries: a wheel then has it, and of the right platform.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The program's only source, which needs the standard library alone.
const SOURCE: &str = "../hook/src/main.rs";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SOURCE}");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let folder = variable("OUT_DIR");
    let program = Path::new(&folder).join("reverie-hook");
    let compiled = Path::new(SOURCE).is_file()
        && Command::new(variable("RUSTC"))
            .args(["--edition=2024", "--crate-name=reverie_hook", "-Copt-level=s", "-Cpanic=abort", "-Cstrip=symbols"])
            .args(["--target", &variable("TARGET"), SOURCE, "-o"])
            .arg(&program)
            .status()
            .is_ok_and(|status| status.success());
    // Where no linker for the platform is at hand, the module has none, and a script does its work.
    if !compiled {
        println!("cargo::warning=the hook program was not compiled; hooks will run a Python script");
        fs::write(&program, b"").unwrap_or_default();
    }
}
