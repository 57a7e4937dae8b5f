//! Gives the program the release of the library that it is built with, which Cargo.lock pins.

use std::fs;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let package = lock.split("[[package]]").find(|one| one.contains("\nname = \"iceberg\"\n")).expect("iceberg");
    let version = package.split('"').nth(3).expect("a version");
    println!("cargo:rustc-env=ICEBERG_VERSION={version}");
}
