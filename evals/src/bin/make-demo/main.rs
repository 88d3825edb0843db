//! Writes the demo folder and the truth about it: `make-demo OUT_DIR` makes `OUT_DIR/demo-workspace/` and
//! `OUT_DIR/evals/demo-truth.json`. The bytes depend on nothing but this program: no clock, no random ids.
#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool that makes a folder; it never sees a workspace"
)]
#![expect(clippy::print_stdout, reason = "a command line tool")]

mod fapiao;
mod folder;
mod model;
mod papers;
mod pdf;
mod scan;
mod sheets;
mod western;
mod xls;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: make-demo OUT_DIR")?;
    let out = Path::new(&out);
    let (files, ledger) = folder::build()?;
    let root = out.join("demo-workspace");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for (name, bytes) in &files {
        let path = root.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    fs::create_dir_all(out.join("evals"))?;
    let truth = serde_json::to_string_pretty(&ledger.truth(files.len()))?;
    fs::write(out.join("evals/demo-truth.json"), truth + "\n")?;
    println!("{} files below {}", files.len(), root.display());
    Ok(())
}
