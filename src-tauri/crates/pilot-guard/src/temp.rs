//! Names of temporary files: never one that a person could have given.

use crate::error::GuardError;

const TEMP_HEAD: &str = ".pocketpilot-";
const TEMP_TAIL: &str = ".tmp";

/// Name of the temporary file of an operation. Only letters, digits, `-` and `_` of the id are used.
#[must_use]
pub fn temp_name(operation: &str) -> String {
    let id: String = operation.chars().filter(|c| is_temp_char(*c)).take(64).collect();
    format!("{TEMP_HEAD}{}{TEMP_TAIL}", if id.is_empty() { "0" } else { &id })
}

fn is_temp_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// True for a name that [`temp_name`] makes: a write under way, gone in a moment.
pub(crate) fn is_temp_file(name: Option<&std::ffi::OsStr>) -> bool {
    name.and_then(std::ffi::OsStr::to_str).is_some_and(|name| check_temp(name).is_ok())
}

/// Only names that [`temp_name`] makes, so that sweeping can never remove a file of the person.
pub(crate) fn check_temp(name: &str) -> Result<(), GuardError> {
    let id = name.strip_prefix(TEMP_HEAD).and_then(|rest| rest.strip_suffix(TEMP_TAIL));
    match id {
        Some(id) if !id.is_empty() && id.len() <= 64 && id.chars().all(is_temp_char) => Ok(()),
        Some(_) | None => Err(GuardError::Invalid {
            path: crate::ShownPath::of(name),
            reason: "not a name of a temporary file",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_is_always_one_of_ours() {
        for id in ["0190-ab_CD", "../../x", "", "名字", &"a".repeat(500)] {
            let name = temp_name(id);
            assert!(check_temp(&name).is_ok(), "{name} is made by us");
            assert!(name.len() <= 100, "a temporary name must fit beside any target");
        }
        for name in [
            "report.md",
            ".tmp",
            ".pocketpilot-.tmp",
            ".pocketpilot-a/b.tmp",
            ".pocketpilot-..tmp",
            "x/.pocketpilot-a.tmp",
        ] {
            assert!(check_temp(name).is_err(), "{name} could be a file of the person");
        }
    }
}
