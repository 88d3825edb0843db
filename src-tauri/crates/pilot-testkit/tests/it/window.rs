//! What the window may do: exactly the commands of one list, and nothing from outside.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[expect(clippy::disallowed_methods, reason = "the test reads its own repository")]
fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let begin = text.find(from).unwrap() + from.len();
    &text[begin..begin + text[begin..].find(to).unwrap()]
}

fn built() -> BTreeSet<String> {
    let source = read("src-tauri/build.rs");
    between(&source, "const COMMANDS: &[&str] = &[", "];")
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn handled() -> BTreeSet<String> {
    let source = read("src-tauri/src/commands/mod.rs");
    between(&source, "generate_handler![", "]")
        .split(',')
        .filter_map(|path| path.trim().rsplit("::").next().filter(|name| !name.is_empty()).map(str::to_owned))
        .collect()
}

fn allowed() -> Vec<String> {
    let capability = json("src-tauri/capabilities/main.json");
    capability["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

fn typed() -> BTreeSet<String> {
    let source = read("ui/src/lib/api/client.ts");
    between(&source, "interface Commands {", "\n}")
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('/') && !line.starts_with('*'))
        .filter_map(|line| line.split_once(": [").map(|(name, _)| name.to_owned()))
        .collect()
}

#[test]
fn build_list_handlers_capability_and_page_name_the_same_commands() {
    let built = built();
    assert!(built.len() > 30, "the list was found: {built:?}");
    assert_eq!(handled(), built, "a command that is listed is handled, and the other way round");
    assert_eq!(typed(), built, "the page knows exactly the commands that there are");
    let (events, commands): (Vec<_>, Vec<_>) =
        allowed().into_iter().partition(|name| name.starts_with("core:"));
    assert_eq!(
        events,
        ["core:event:allow-listen", "core:event:allow-unlisten"],
        "of the framework only events, to listen"
    );
    let commands: BTreeSet<String> =
        commands.iter().map(|name| name.trim_start_matches("allow-").replace('-', "_")).collect();
    assert_eq!(commands, built, "the capability file is the auditable list, so it is exactly this list");
}

#[test]
fn the_page_has_no_way_out() {
    let configuration = json("tauri.conf.json");
    let app = &configuration["app"];
    assert_eq!(app["withGlobalTauri"], false, "no script reaches the core without importing it");
    assert_eq!(
        app["windows"],
        serde_json::json!([]),
        "windows are made in code, where the navigation guard is set"
    );
    let policy = app["security"]["csp"].as_str().unwrap();
    for forbidden in ["unsafe-inline", "unsafe-eval", "https:", "http:", "*", "ws:"] {
        let left = policy.replace("http://ipc.localhost", "");
        assert!(!left.contains(forbidden), "the content policy names {forbidden}: {policy}");
    }
    for wanted in [
        "default-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        "object-src 'none'",
        "frame-src 'none'",
    ] {
        assert!(policy.contains(wanted), "the content policy says {wanted}: {policy}");
    }
    let capability = json("src-tauri/capabilities/main.json");
    assert!(capability.get("remote").is_none(), "no page from elsewhere has a capability");
    let manifest = read("Cargo.toml");
    for plugin in ["tauri-plugin-fs", "tauri-plugin-shell", "tauri-plugin-http"] {
        assert!(!manifest.contains(plugin), "{plugin} would be a second door");
    }
}
