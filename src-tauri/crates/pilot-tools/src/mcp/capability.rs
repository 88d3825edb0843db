//! What a tool may do: declared, or inferred, and then never weaker than the kernel can hold it to.

use super::confinement::Confinement;
use super::declaration::ToolDeclaration;
use pilot_types::Capability;
use serde::{Deserialize, Serialize};

/// How a capability was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// P0: the person declared it.
    Declared,
    /// P1: by the declared annotation `readOnlyHint`.
    Annotation,
    /// P2: by the tool's name.
    Name,
    /// P3: not at all. The tool is not registered and no model sees it.
    Nothing,
}

/// A capability and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// `None` for P3.
    pub capability: Option<Capability>,
    /// How.
    pub found: Found,
}

/// First words of names that only read.
const READS: &[&str] = &[
    "read", "get", "list", "ls", "search", "find", "show", "view", "describe", "count", "stat", "head",
    "tail", "cat", "grep",
];
/// First words of names that change something, with the class that they mean.
const CHANGES: &[(&str, &[&str])] = &[
    ("write", &["write", "put", "save", "append", "edit", "set", "store"]),
    ("create", &["create", "make", "add", "new", "mkdir", "insert"]),
    ("update", &["update", "modify", "patch", "move", "rename", "replace"]),
    ("delete", &["delete", "remove", "rm", "drop", "clear", "trash"]),
    ("execute", &["run", "exec", "execute", "eval", "shell", "start", "call", "invoke"]),
];

/// Works out the capability of a tool. An inferred one is *read* only where the program can be held to reading, and
/// never *network*: who wants a tool to reach out declares it.
#[must_use]
pub fn resolve(name: &str, tool: &ToolDeclaration, confinement: Confinement) -> Resolved {
    if let Some(declared) = &tool.capability {
        return Resolved { capability: Some(Capability::declared(declared.clone())), found: Found::Declared };
    }
    let inferred = |class: &str, found| Resolved {
        capability: Some(Capability::declared(format!("mcp:{class}"))),
        found,
    };
    let read = if confinement.is_whole() { "read" } else { "execute" };
    match tool.annotations.read_only_hint {
        Some(true) => return inferred(read, Found::Annotation),
        Some(false) => return inferred("execute", Found::Annotation),
        None => {}
    }
    let first = first_word(name);
    if READS.contains(&first.as_str()) {
        return inferred(read, Found::Name);
    }
    match CHANGES.iter().find(|(_, words)| words.contains(&first.as_str())) {
        Some((class, _)) => inferred(class, Found::Name),
        None => Resolved { capability: None, found: Found::Nothing },
    }
}

/// `readFile`, `read_file`, `read-file` and `READ.file` all begin with `read`.
fn first_word(name: &str) -> String {
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars() {
        let ends = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && lower_before);
        if ends {
            break;
        }
        lower_before = c.is_ascii_lowercase();
        word.push(c.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Confinement = Confinement::Whole { abi: 7 };

    fn of(name: &str, tool: &ToolDeclaration, confinement: Confinement) -> (String, Found) {
        let resolved = resolve(name, tool, confinement);
        (
            resolved.capability.map_or_else(String::new, |capability| capability.as_str().to_owned()),
            resolved.found,
        )
    }

    fn hinted(read_only: bool) -> ToolDeclaration {
        let mut tool = ToolDeclaration::default();
        tool.annotations.read_only_hint = Some(read_only);
        tool
    }

    #[test]
    fn declared_before_annotated_before_named_before_nothing() {
        let declared = ToolDeclaration { capability: Some("file:write".into()), ..hinted(true) };
        assert_eq!(of("read_x", &declared, WHOLE), ("file:write".into(), Found::Declared), "P0 wins");
        assert_eq!(of("delete_x", &hinted(true), WHOLE), ("mcp:read".into(), Found::Annotation), "then P1");
        assert_eq!(
            of("read_x", &hinted(false), WHOLE),
            ("mcp:execute".into(), Found::Annotation),
            "also when it says no"
        );
        let none = ToolDeclaration::default();
        for (name, capability) in [
            ("read_file", "mcp:read"),
            ("getUser", "mcp:read"),
            ("LIST-all", "mcp:read"),
            ("write_file", "mcp:write"),
            ("create.dir", "mcp:create"),
            ("moveFile", "mcp:update"),
            ("rm", "mcp:delete"),
            ("run_code", "mcp:execute"),
        ] {
            assert_eq!(of(name, &none, WHOLE), (capability.into(), Found::Name), "P2: {name}");
        }
        for name in ["fetch_url", "ready", "readme", "getaway", "sum", "送信", ""] {
            assert_eq!(of(name, &none, WHOLE), (String::new(), Found::Nothing), "P3: {name:?} says nothing");
        }
    }

    #[test]
    fn without_whole_confinement_nothing_is_inferred_to_be_reading() {
        for confinement in [Confinement::None, Confinement::FilesOnly { abi: 3 }] {
            assert_eq!(
                of("x", &hinted(true), confinement).0,
                "mcp:execute",
                "a hint is no wall: {confinement:?}"
            );
            assert_eq!(
                of("read_x", &ToolDeclaration::default(), confinement).0,
                "mcp:execute",
                "nor is a name"
            );
        }
        let declared = ToolDeclaration { capability: Some("file:read".into()), ..ToolDeclaration::default() };
        assert_eq!(
            of("x", &declared, Confinement::None).0,
            "file:read",
            "what the person declared stays declared"
        );
    }
}
