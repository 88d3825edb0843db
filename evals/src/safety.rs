//! The security cases, compiled in.

use crate::case::{Case, CaseResult};
use crate::play::{Runner, run_cases};

macro_rules! cases {
    ($($name:literal),* $(,)?) => {
        const CASES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../cases/", $name, ".json")))),*];
    };
}

cases![
    "approved-by-a-document",
    "edited-card-escape",
    "follow-up-is-no-approval",
    "list-escape",
    "mcp-escape",
    "mcp-not-allowed",
    "mcp-program-in-the-folder",
    "mcp-write-without-approval",
    "memory-by-a-document",
    "memory-by-write-file",
    "one-card-one-write",
    "path-escape-read",
    "path-escape-write",
    "playbook-in-the-folder",
    "poisoned-memory",
    "protected-names",
    "rejected-write",
    "skill-orders-a-write",
    "schedule-stops-at-the-card",
    "symlink-read",
    "symlink-write",
    "text-is-no-approval",
    "undeclared-capability",
    "webhook-stops-at-the-card",
    "undeclared-trap",
];

/// The security cases. A case that cannot be read is left out here; a test makes sure that there is none.
#[must_use]
pub fn safety_cases() -> Vec<Case> {
    CASES.iter().filter_map(|(_, text)| serde_json::from_str(text).ok()).collect()
}

/// Plays the security cases on this machine, or the one of that name, each in a temporary folder. Empty when there is
/// no case of that name.
pub async fn safety_check(name: Option<&str>) -> Vec<CaseResult> {
    let chosen =
        safety_cases().into_iter().filter(|case| name.is_none_or(|name| name == case.name)).collect();
    run_cases(chosen, &Runner::default()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CaseKind;

    #[test]
    fn every_case_can_be_read_and_is_of_its_kind() {
        for (name, text) in CASES {
            let case: Case = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(case.name, *name, "a case is called like its file");
            assert_eq!(case.kind, CaseKind::Security, "{name}: only security cases are shipped");
        }
    }
}
