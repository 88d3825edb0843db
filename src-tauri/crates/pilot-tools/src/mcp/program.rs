//! Which program a declaration names, and what it needs to be read besides the workspace.
#![expect(
    clippy::disallowed_methods,
    reason = "looks at the declared program, which lies outside the workspace"
)]

use super::declaration::ServerDeclaration;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files that make a folder a package.
const PACKAGES: &[&str] =
    &["package.json", "pyproject.toml", "setup.py", "Cargo.toml", "deno.json", "go.mod"];
/// Folders that hold packages which need one another.
const COLLECTIONS: &[&str] = &["node_modules", "site-packages", "dist-packages"];
/// Endings of files that an interpreter would run.
const SCRIPTS: &[&str] =
    &["js", "mjs", "cjs", "ts", "py", "pyz", "rb", "pl", "php", "lua", "sh", "bash", "ps1", "jar", "wasm"];

/// A program that can be started.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    /// As it is started; the last component may be a link, which some programs go by.
    pub(super) path: PathBuf,
    /// What must be run: itself and its interpreter.
    pub(super) run: Vec<PathBuf>,
    /// What must be read: packages.
    pub(super) read: Vec<PathBuf>,
    /// Identity, size and time of the program and of the files among its arguments.
    pub(super) stamp: Value,
}

/// Finds the program of a declaration, looking up bare names in `search` (`PATH`).
///
/// # Errors
/// In plain words: nothing of that name, or a program that lies in the workspace.
pub(super) fn locate(
    server: &ServerDeclaration,
    root: &Path,
    off_limits: &[PathBuf],
    search: &OsStr,
) -> Result<Program, String> {
    let path = find(&server.command, search)
        .ok_or_else(|| format!("there is no program {:?} on this computer", server.command))?;
    let real =
        path.canonicalize().map_err(|error| format!("{:?} cannot be used: {error}", server.command))?;
    if real.starts_with(root) {
        return Err("the program lies in the workspace; what a task can change is never started".to_owned());
    }
    let mut program =
        Program { run: vec![real.clone()], read: Vec::new(), stamp: json!([stamp(&real)]), path };
    let home = Closed { root, off_limits };
    if let Some(words) = first_line(&real).as_deref().and_then(|line| line.strip_prefix("#!")) {
        program.run.extend(interpreter(words, search));
        program.read.push(home.package_of(&real));
    }
    if let Some(environment) = python_environment(&program.path) {
        program.read.push(environment);
    }
    for arg in &server.args {
        let file = if Path::new(arg).is_absolute() { PathBuf::from(arg) } else { root.join(arg) };
        let Ok(real) = file.canonicalize() else { continue };
        if !real.is_file() {
            continue;
        }
        if real.starts_with(root) {
            if is_script(&real) {
                return Err(format!(
                    "{arg:?} is a program in the workspace; what a task can change is never started"
                ));
            }
            continue;
        }
        program.read.push(home.package_of(&real));
        if let Some(stamps) = program.stamp.as_array_mut() {
            stamps.push(stamp(&real));
        }
    }
    Ok(program)
}

fn find(command: &str, search: &OsStr) -> Option<PathBuf> {
    if command.starts_with('/') {
        return Some(PathBuf::from(command)).filter(|path| path.is_file());
    }
    std::env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|path| path.metadata().is_ok_and(|facts| facts.is_file() && facts.mode() & 0o111 != 0))
}

fn first_line(path: &Path) -> Option<String> {
    let mut start = [0_u8; 256];
    let count = std::fs::File::open(path).ok()?.read(&mut start).ok()?;
    let line = start[..count].split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok().map(str::to_owned)
}

/// The programs of a `#!` line: the interpreter, and what `env` would find.
fn interpreter(words: &str, search: &OsStr) -> Vec<PathBuf> {
    let mut words = words.split_whitespace();
    let Some(first) = words.next() else { return Vec::new() };
    let mut found: Vec<PathBuf> = Path::new(first).canonicalize().into_iter().collect();
    if Path::new(first).file_name() == Some(OsStr::new("env"))
        && let Some(named) = words.find(|word| !word.starts_with('-') && !word.contains('='))
        && let Some(path) = find(named, search)
    {
        found.extend(path.canonicalize());
    }
    found
}

/// The folder of a Python environment whose interpreter this is.
fn python_environment(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?.parent()?;
    folder.join("pyvenv.cfg").is_file().then(|| folder.to_path_buf())
}

fn is_script(path: &Path) -> bool {
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|ending| SCRIPTS.contains(&ending.to_ascii_lowercase().as_str()))
}

fn stamp(path: &Path) -> Value {
    let facts = path.metadata().ok();
    let of = |value: fn(&std::fs::Metadata) -> i64| facts.as_ref().map(value);
    json!({
        "path": path.to_string_lossy(),
        "size": facts.as_ref().map(std::fs::Metadata::len),
        "inode": facts.as_ref().map(std::os::unix::fs::MetadataExt::ino),
        "seconds": of(std::os::unix::fs::MetadataExt::mtime),
        "nanoseconds": of(std::os::unix::fs::MetadataExt::mtime_nsec),
    })
}

/// Folders that are never opened for a program as a whole.
struct Closed<'a> {
    root: &'a Path,
    off_limits: &'a [PathBuf],
}

impl Closed<'_> {
    /// The folder of the package that a file belongs to; the file alone when there is none, or when that folder would
    /// hold the person's home, the workspace or the application's data.
    fn package_of(&self, file: &Path) -> PathBuf {
        let named = |folder: &&Path| {
            folder.file_name().and_then(OsStr::to_str).is_some_and(|name| COLLECTIONS.contains(&name))
        };
        let folders: Vec<&Path> =
            file.ancestors().skip(1).take_while(|folder| self.is_open(folder)).collect();
        let collection = folders.iter().copied().rfind(named);
        let package =
            || folders.iter().copied().find(|folder| PACKAGES.iter().any(|name| folder.join(name).is_file()));
        collection.or_else(package).unwrap_or(file).to_path_buf()
    }

    fn is_open(&self, folder: &Path) -> bool {
        folder.parent().is_some()
            && !self.root.starts_with(folder)
            && !self.off_limits.iter().any(|closed| closed.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str, text: &str) -> PathBuf {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn a_file_opens_its_package_and_never_a_home() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, root) = (base.join("home"), base.join("home/ws"));
        std::fs::create_dir_all(&root).unwrap();
        let off_limits = vec![home.clone()];
        let closed = Closed { root: &root, off_limits: &off_limits };
        put(&base, "home/proj/package.json", "{}");
        let inner = put(&base, "home/proj/dist/index.js", "");
        assert_eq!(closed.package_of(&inner), home.join("proj"), "the nearest package");
        put(&base, "home/proj/node_modules/a/package.json", "{}");
        let nested = put(&base, "home/proj/node_modules/a/node_modules/b/x.js", "");
        assert_eq!(
            closed.package_of(&nested),
            home.join("proj/node_modules"),
            "packages that need one another"
        );
        put(&base, "home/package.json", "{}");
        let loose = put(&base, "home/server.py", "");
        assert_eq!(closed.package_of(&loose), loose, "a home is never a package, whatever lies in it");
    }

    #[test]
    fn programs_are_found_by_path_and_never_in_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(&root).unwrap();
        let locate = |command: &str, args: &[&str], search: &str| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let server = ServerDeclaration { command: command.into(), args, ..ServerDeclaration::default() };
            super::locate(&server, &root, &[], OsStr::new(search))
        };
        assert!(locate("sh", &[], "/bin:/usr/bin").is_ok(), "the control: an ordinary program");
        assert!(
            locate("no-such-program", &[], "/bin").unwrap_err().contains("no program"),
            "a missing one is said"
        );
        assert!(locate("sh", &[], ".:bin").is_err(), "relative entries of PATH are not looked at");
        let inside = put(&root, "evil.sh", "#!/bin/sh\n");
        let said = locate(inside.to_str().unwrap(), &[], "").unwrap_err();
        assert!(said.contains("lies in the workspace"), "a program of the workspace is refused: {said}");
        let said = locate("sh", &["evil.sh"], "/bin").unwrap_err();
        assert!(said.contains("in the workspace"), "so is one that an interpreter would run: {said}");
        put(&root, "data.csv", "a\n");
        assert!(
            locate("sh", &["data.csv", "."], "/bin").is_ok(),
            "data and folders of the workspace are arguments"
        );
        let script = put(&base, "bin/tool", "#!/usr/bin/env sh\n");
        let program = locate(script.to_str().unwrap(), &[], "/bin:/usr/bin").unwrap();
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert!(program.run.contains(&shell), "the interpreter of a script may be run: {program:?}");
        let before = program.stamp.clone();
        std::fs::write(&script, "#!/usr/bin/env sh\necho changed\n").unwrap();
        assert_ne!(
            locate(script.to_str().unwrap(), &[], "/bin").unwrap().stamp,
            before,
            "a change of it is seen"
        );
    }
}
