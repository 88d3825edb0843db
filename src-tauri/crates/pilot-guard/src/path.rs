//! Relative paths: what can be refused by looking at the text alone.

use crate::error::{GuardError, ShownPath};
use std::fmt;

/// Longest path, in bytes.
pub const MAX_PATH: usize = 4096;
/// Longest component, in bytes.
pub const MAX_COMPONENT: usize = 255;

/// A path relative to the workspace root, in one spelling: components joined by `/`, no empty ones, no `.`, no `..`.
/// The root itself is `.`. It is a name, not a permission: only an open handle is one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelativePath(String);

impl RelativePath {
    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component; `.` for the root.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The extension in lower case, without the dot.
    #[must_use]
    pub fn extension(&self) -> Option<String> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty()).then(|| extension.to_lowercase())
    }

    /// True for the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The components; none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|component| *component != ".")
    }

    /// The path of an entry of this folder.
    pub(crate) fn join(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    pub(crate) fn root() -> Self {
        Self(".".to_owned())
    }

    pub(crate) fn shown(&self) -> ShownPath {
        ShownPath::of(&self.0)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path as it was written.
pub(crate) struct Parsed {
    /// In one spelling.
    pub(crate) path: RelativePath,
    /// It was written so that only a folder can be meant (`a/`, `a/.`).
    pub(crate) folder: bool,
}

/// Looks at the text of a path by the rules that hold for every access.
pub(crate) fn parse(raw: &str) -> Result<Parsed, GuardError> {
    if raw.is_empty() {
        return Err(GuardError::Invalid { path: ShownPath::of(raw), reason: "an empty path" });
    }
    if is_absolute(raw) {
        return Err(GuardError::Absolute);
    }
    if raw.len() > MAX_PATH {
        return Err(GuardError::TooLong { path: ShownPath::of(raw) });
    }
    // A control character or line separator in a name forges logs and cards; no honest tool makes one.
    if raw.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(GuardError::Invalid {
            path: ShownPath::of(raw),
            reason: "a control character in the path",
        });
    }
    let mut text = String::with_capacity(raw.len());
    let mut last = "";
    for component in raw.split('/') {
        last = component;
        if component.is_empty() || component == "." {
            continue;
        }
        check_component(raw, component)?;
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(component);
    }
    let path = if text.is_empty() { RelativePath::root() } else { RelativePath(text) };
    Ok(Parsed { path, folder: last.is_empty() || last == "." })
}

/// Absolute on any system: `/`, `\`, `C:`, `\\server`, and `scheme:/...`, which some callers would resolve.
fn is_absolute(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    let scheme = raw.split('/').next().is_some_and(|first| first.len() < raw.len() && first.ends_with(':'));
    raw.starts_with(['/', '\\']) || drive || scheme
}

fn check_component(raw: &str, component: &str) -> Result<(), GuardError> {
    if component.len() > MAX_COMPONENT {
        return Err(GuardError::TooLong { path: ShownPath::of(raw) });
    }
    // `..` by any spelling that some system takes for it: between backslashes, with blanks or more dots behind.
    for part in component.split('\\') {
        let only_dots = part.chars().all(|c| c == '.' || c.is_whitespace());
        if only_dots && part.contains("..") {
            return Err(GuardError::Parent { path: ShownPath::of(raw) });
        }
        if only_dots && component == part {
            return Err(GuardError::Invalid { path: ShownPath::of(raw), reason: "a name of blanks" });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::ErrorCode;

    #[test]
    fn spellings_of_one_path_become_one() {
        for raw in ["a/b.md", "./a/b.md", "a//b.md", "a/./b.md", "./././a/.//b.md"] {
            let parsed = parse(raw).unwrap();
            assert_eq!(parsed.path.as_str(), "a/b.md", "{raw} names the same file");
            assert!(!parsed.folder, "{raw} may be a file");
        }
        for raw in [".", "./", "./."] {
            assert!(parse(raw).unwrap().path.is_root(), "{raw} is the root");
        }
        for raw in ["a/", "a/.", "a//"] {
            assert!(parse(raw).unwrap().folder, "{raw} can only be a folder");
        }
    }

    #[test]
    fn what_is_not_relative_or_goes_up_is_refused_with_its_code() {
        let cases = [
            ("", ErrorCode::PathInvalid),
            ("   ", ErrorCode::PathInvalid),
            ("/etc", ErrorCode::PathAbsolute),
            ("//x", ErrorCode::PathAbsolute),
            ("C:x", ErrorCode::PathAbsolute),
            ("c:\\x", ErrorCode::PathAbsolute),
            ("\\\\server\\share", ErrorCode::PathAbsolute),
            ("file:///etc", ErrorCode::PathAbsolute),
            ("..", ErrorCode::PathParent),
            ("a/../b", ErrorCode::PathParent),
            ("a\\..\\b", ErrorCode::PathParent),
            ("a/.. /b", ErrorCode::PathParent),
            ("a/.../b", ErrorCode::PathParent),
            ("a\0b", ErrorCode::PathInvalid),
            ("a\u{1b}b", ErrorCode::PathInvalid),
            ("a\u{2028}b", ErrorCode::PathInvalid),
        ];
        for (raw, code) in cases {
            assert_eq!(parse(raw).err().map(|error| error.code()), Some(code), "{raw:?}");
        }
        let long = "d/".repeat(2100);
        assert_eq!(parse(&long).err().map(|e| e.code()), Some(ErrorCode::PathTooLong), "4,200 bytes");
        assert_eq!(
            parse(&"汉".repeat(86)).err().map(|e| e.code()),
            Some(ErrorCode::PathTooLong),
            "258 bytes"
        );
        assert!(parse(&"a".repeat(255)).is_ok(), "255 bytes are a name");
    }

    #[test]
    fn names_that_merely_hold_dots_are_names() {
        for raw in ["a..b/..c/d..md", "..c", "v1.2.3/x", "ab:c.md"] {
            assert!(parse(raw).is_ok(), "{raw} holds no '..' component");
        }
    }
}
