//! Rebuilds the crate when a migration is added: the migrations are compiled in.

#[expect(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
