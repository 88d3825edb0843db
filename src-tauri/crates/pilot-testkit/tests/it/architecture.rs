//! Who may depend on whom. ARCHITECTURE.md draws the arrows; this test keeps them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every package of the workspace and the packages of the workspace that it may depend on. Development dependencies
/// are free: a test may put rooms together that never meet in the product.
///
/// Every program (window, command line, evals) names `pilot-documents` for one reason: reading documents happens in a
/// child of the same program, so its `main` must hand over to the reader before anything else.
const ARROWS: &[(&str, &[&str])] = &[
    ("pilot-types", &[]),
    ("pilot-policy", &["pilot-types"]),
    ("pilot-guard", &["pilot-types"]),
    ("pilot-documents", &["pilot-types"]),
    ("pilot-review", &["pilot-documents", "pilot-types"]),
    ("pilot-agent", &["pilot-types"]),
    ("pilot-store", &["pilot-types"]),
    ("pilot-triggers", &["pilot-types"]),
    ("pilot-providers", &["pilot-agent", "pilot-types"]),
    ("pilot-tools", &["pilot-agent", "pilot-guard", "pilot-documents", "pilot-types"]),
    (
        "pilot-service",
        &[
            "pilot-agent",
            "pilot-tools",
            "pilot-providers",
            "pilot-store",
            "pilot-policy",
            "pilot-guard",
            "pilot-documents",
            "pilot-review",
            "pilot-triggers",
            "pilot-types",
        ],
    ),
    ("pilot-evals", &["pilot-service", "pilot-types", "pilot-documents"]),
    ("pilot-cli", &["pilot-service", "pilot-types", "pilot-documents", "pilot-review", "pilot-evals"]),
    ("pocketpilot", &["pilot-service", "pilot-types", "pilot-documents", "pilot-evals"]),
    ("pilot-testkit", &["pilot-agent", "pilot-types"]),
];

/// Packages from outside that reach the window, the database, the network, the keyring or other programs, and the only
/// room that may name them. A name that ends with `*` stands for all that begin so.
const DOORS: &[(&str, &str)] = &[
    ("tauri*", "pocketpilot"),
    ("sqlx*", "pilot-store"),
    ("libsqlite3-sys", "pilot-store"),
    ("rusqlite", "pilot-store"),
    ("reqwest*", "pilot-providers"),
    ("keyring*", "pilot-service"),
    ("*-keyring-store", "pilot-service"),
    ("notify", "pilot-guard"),
    ("rmcp*", "pilot-tools"),
    ("axum*", "pilot-triggers"),
    ("cron", "pilot-triggers"),
];

/// Rooms that are pure: no runtime, no files by another name, no clock of the system.
const PURE: &[&str] = &["pilot-types", "pilot-policy", "pilot-documents", "pilot-review"];

/// Package → its normal and build dependencies by name.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../Cargo.toml");
    #[expect(clippy::disallowed_methods, reason = "the test asks cargo for the graph")]
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let shipped = |dependency: &&Value| dependency["kind"].as_str() != Some("dev");
            let names = package["dependencies"].as_array().unwrap().iter().filter(shipped);
            (
                text(package, "name").unwrap(),
                names.filter_map(|dependency| text(dependency, "name")).collect(),
            )
        })
        .collect()
}

fn named_by(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(begin)) => name.starts_with(begin),
        (None, None) => name == pattern,
    }
}

/// Edges that the table does not allow, and rooms that it does not know.
fn wrong_arrows(found: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (room, needs) in found {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == room) else {
            wrong.push(format!("{room} has no row in the table"));
            continue;
        };
        let inside = needs.iter().filter(|need| found.contains_key(*need));
        wrong.extend(
            inside.filter(|need| !allowed.contains(&need.as_str())).map(|need| format!("{room} → {need}")),
        );
    }
    wrong
}

/// Rooms that name a package which belongs to another.
fn wrong_doors(found: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (room, needs) in found {
        for need in needs {
            let door = DOORS.iter().find(|(pattern, _)| named_by(pattern, need));
            if let Some((_, owner)) = door.filter(|(_, owner)| owner != room) {
                wrong.push(format!("{room} → {need}, which belongs to {owner}"));
            }
        }
    }
    wrong
}

#[test]
fn every_arrow_stands_in_the_table() {
    assert_eq!(
        wrong_arrows(&dependencies()),
        Vec::<String>::new(),
        "see ARCHITECTURE.md; an arrow is the rarest kind of change"
    );
}

#[test]
fn only_the_named_room_opens_a_door() {
    assert_eq!(
        wrong_doors(&dependencies()),
        Vec::<String>::new(),
        "one room owns each way out of the process"
    );
}

#[test]
fn pure_rooms_have_no_runtime() {
    let found = dependencies();
    for room in PURE {
        let Some(needs) = found.get(*room) else { panic!("{room} is not in the workspace") };
        let impure: Vec<&String> =
            needs.iter().filter(|need| need.starts_with("tokio") || *need == "async-trait").collect();
        assert!(impure.is_empty(), "{room} must stay pure, it depends on {impure:?}");
    }
}

#[test]
fn the_checks_find_what_they_look_for() {
    let mut found = dependencies();
    found.entry("pilot-agent".to_owned()).or_default().insert("pilot-store".to_owned());
    found.entry("pilot-tools".to_owned()).or_default().insert("reqwest".to_owned());
    found.entry("pilot-cli".to_owned()).or_default().insert("tauri-plugin-opener".to_owned());
    found.insert("pilot-stranger".to_owned(), BTreeSet::new());
    let arrows = wrong_arrows(&found);
    assert!(
        arrows.contains(&"pilot-agent → pilot-store".to_owned()),
        "a forbidden arrow is found: {arrows:?}"
    );
    assert!(
        arrows.contains(&"pilot-stranger has no row in the table".to_owned()),
        "a new room is found: {arrows:?}"
    );
    let doors = wrong_doors(&found);
    assert!(
        doors.iter().any(|line| line.starts_with("pilot-tools → reqwest")),
        "a second way out is found: {doors:?}"
    );
    assert!(
        doors.iter().any(|line| line.starts_with("pilot-cli → tauri-plugin-opener")),
        "so is a plugin: {doors:?}"
    );
}
