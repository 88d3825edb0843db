//! Names that may be written. They must look like what they are, and mean the same on every system.

use crate::access::Access;
use crate::error::{GuardError, NameProblem};
use crate::hidden::is_hidden;
use crate::path::RelativePath;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, ScriptExtension, UnicodeScript};

/// Extensions that `write_file` may write.
pub const EXTENSIONS: &[&str] = &["md", "csv", "xlsx"];
/// Components that a written path may have.
pub const MAX_DEPTH: usize = 32;
/// The folder that only a memory write or the person changes.
pub const MEMORY: &str = "memory";
/// The folder that only the person changes.
pub const SKILLS: &str = "skills";
/// Marks on one letter; no language needs more.
const MAX_MARKS: usize = 4;

/// What a name could be taken for: compatibility forms and case folded, invisible characters dropped, blanks and dots
/// at the end cut, a stream suffix cut.
pub(crate) fn folded(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_hidden(*c)).nfkc().collect();
    // Folding again after lower-casing: some capitals have no compatibility form of their own.
    let lower: String = seen.to_lowercase().nfkc().filter(|c| !is_hidden(*c) && *c != '\u{307}').collect();
    let plain = lower.split(':').next().unwrap_or("");
    plain.trim_matches(|c: char| c == '.' || c.is_whitespace()).to_owned()
}

/// True when a system could take `name` for `protected` in the workspace root.
pub(crate) fn means(name: &str, protected: &str) -> bool {
    let folded = folded(name);
    // `MEMORY~1`: what Windows may call a folder of almost the same name.
    let long = match folded.rsplit_once('~') {
        Some((head, number)) if number.bytes().all(|b| b.is_ascii_digit()) => head,
        Some(_) | None => &folded,
    };
    long == protected
}

/// Checks the names of a path for an access that writes.
pub(crate) fn check(path: &RelativePath, access: Access) -> Result<(), GuardError> {
    if path.is_root() {
        return Err(GuardError::NotAFile { path: path.shown() });
    }
    check_place(path, access)?;
    if path.components().count() > MAX_DEPTH {
        return Err(GuardError::TooLong { path: path.shown() });
    }
    let count = path.components().count();
    for (index, component) in path.components().enumerate() {
        let leaf = index + 1 == count;
        // `..x` is an odd name but no dot name of any program: an existing folder may be called so, a new one not.
        if component.starts_with('.') && (leaf || !component.starts_with("..")) {
            return Err(GuardError::Protected {
                path: path.shown(),
                reason: "names with a leading dot are not written",
            });
        }
        let body = component.strip_prefix("..").unwrap_or(component);
        check_name(body, leaf, access).map_err(|problem| GuardError::Name { path: path.shown(), problem })?;
    }
    check_extension(path, access)
}

/// True when a folder of this name may be made and not only used.
pub(crate) fn may_be_made(component: &str) -> bool {
    !component.starts_with('.')
}

fn check_place(path: &RelativePath, access: Access) -> Result<(), GuardError> {
    let first = path.components().next().unwrap_or("");
    match access {
        Access::Read | Access::Operator => Ok(()),
        Access::Write | Access::Outside if means(first, MEMORY) => Err(GuardError::Protected {
            path: path.shown(),
            reason: "memory/ is changed by memory_write only",
        }),
        Access::Write | Access::Outside if means(first, SKILLS) => {
            Err(GuardError::Protected { path: path.shown(), reason: "skills/ is changed by the person only" })
        }
        Access::Write | Access::Outside => Ok(()),
        Access::Memory if first == MEMORY && path.components().nth(1).is_some() => Ok(()),
        Access::Memory => Err(GuardError::Protected {
            path: path.shown(),
            reason: "memory_write writes below memory/ only",
        }),
    }
}

fn check_extension(path: &RelativePath, access: Access) -> Result<(), GuardError> {
    let (allowed, words): (&[&str], _) = match access {
        Access::Read | Access::Outside | Access::Operator => return Ok(()),
        Access::Write => (EXTENSIONS, ".md, .csv and .xlsx"),
        Access::Memory => (&["md"], ".md"),
    };
    match path.extension() {
        Some(extension) if allowed.contains(&extension.as_str()) => Ok(()),
        Some(_) | None => Err(GuardError::Extension { path: path.shown(), allowed: words }),
    }
}

fn check_name(name: &str, leaf: bool, access: Access) -> Result<(), NameProblem> {
    if let Some(c) = name.chars().find(|c| is_hidden(*c)) {
        return Err(NameProblem::Hidden(c));
    }
    if let Some(c) = name.chars().find(|c| matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\\')) {
        return Err(NameProblem::Character(c));
    }
    let edge = |c: char| c.is_whitespace();
    let dots_only = name.nfkc().all(|c| c == '.');
    if name.starts_with(edge) || name.ends_with(edge) || name.ends_with('.') || dots_only {
        return Err(NameProblem::Edge);
    }
    if is_reserved(name) {
        return Err(NameProblem::Reserved);
    }
    if is_short_name(name) {
        return Err(NameProblem::ShortName);
    }
    if has_too_many_marks(name) {
        return Err(NameProblem::Marks);
    }
    // An extension is Latin whatever the name is written in.
    let stem = if leaf { name.rsplit_once('.').map_or(name, |(stem, _)| stem) } else { name };
    // The person picked the name of their own file; it may be as mixed as they like.
    if access != Access::Operator && !is_one_script(stem) {
        return Err(NameProblem::MixedScripts);
    }
    Ok(())
}

/// Device names of Windows: with any extension, with blanks before it, with superscript digits.
fn is_reserved(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or("");
    let base: String = base.nfkc().collect::<String>().trim_end().to_ascii_uppercase();
    if matches!(base.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let port = base.strip_prefix("COM").or_else(|| base.strip_prefix("LPT"));
    port.is_some_and(|number| number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// `PROGRA~1`, `MEMORY~1.MD`: at most eight characters before the dot, a tilde and digits at their end.
fn is_short_name(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or("");
    let Some((head, number)) = base.rsplit_once('~') else { return false };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    !head.is_empty() && base.chars().count() <= 8 && digits
}

fn has_too_many_marks(name: &str) -> bool {
    let mut marks = 0;
    for c in name.nfd() {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        if marks > MAX_MARKS {
            return true;
        }
    }
    name.chars().next().is_some_and(is_combining_mark)
}

/// One script plus Han, or one of the sets that Chinese, Japanese and Korean are written in beside Latin
/// ("highly restrictive" of UTS 39). Digits, punctuation and symbols belong to every script.
fn is_one_script(text: &str) -> bool {
    let used: Vec<ScriptExtension> = text
        .chars()
        .map(|c| c.script_extension())
        .filter(|set| !set.is_common() && !set.is_inherited() && !set.contains_script(Script::Han))
        .collect();
    let Some(first) = used.first() else { return true };
    let all_in =
        |scripts: &[Script]| used.iter().all(|set| scripts.iter().any(|script| set.contains_script(*script)));
    all_in(&[Script::Latin, Script::Hiragana, Script::Katakana])
        || all_in(&[Script::Latin, Script::Bopomofo])
        || all_in(&[Script::Latin, Script::Hangul])
        || first.iter().any(|script| all_in(&[script]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::parse;
    use pilot_types::ErrorCode;

    fn code(raw: &str, access: Access) -> Option<ErrorCode> {
        check(&parse(raw).unwrap().path, access).err().map(|error| error.code())
    }

    #[test]
    fn ordinary_names_can_be_written() {
        let names = [
            "report.md",
            "Report 2025-03.MD",
            "a/b/c.csv",
            "发票/2025年 汇总.md",
            "résumé.md",
            "a..b/..c/d..md",
            "memory-notes/x.md",
            "sub/memory/x.md",
            "memory.md",
            "报告（一）.md",
            "Отчёт.md",
            "Отчёт 2025.xlsx",
            "Rechnung_Müller & Söhne.csv",
            "発注書リスト.xlsx",
            "ABC社レポート.md",
            "청구서 A-12.md",
            "ăâîșț.md",
            "รายงาน.md",
            "रिपोर्ट.md",
            "تقرير.md",
            "דוח.md",
            "Ελλάδα.md",
            "x+y=z (v2) [final] {a} #1 @b 100%.md",
            "'quoted' ~draft.md",
            "a,b;c!.md",
            "第1季度——总结…….md",
            "收入／支出.md",
            "¥100€200$300.md",
            "№5.md",
            "COMMENT.md",
            "console.md",
            "LPT10.md",
            "aux-data.md",
            "nul-werte.csv",
            "AGENTS.md",
            "skills.md",
            "file~.md",
            "ㄅㄆㄇ注音 abc.md",
            "汉Отчёт.md",
            "Tiếng Việt.md",
            "e\u{301}te\u{301}.md",
            "report.exe.md",
        ];
        for name in names {
            assert_eq!(code(name, Access::Write), None, "{name} is an ordinary name");
        }
    }

    #[test]
    fn odd_names_are_refused_with_their_code() {
        let cases = [
            ("run.sh", ErrorCode::PathExtension),
            ("report.md.exe", ErrorCode::PathExtension),
            ("report", ErrorCode::PathExtension),
            ("report.xlsm", ErrorCode::PathExtension),
            (".md", ErrorCode::PathProtected),
            (".git/hooks/x.md", ErrorCode::PathProtected),
            ("a/.b/c.md", ErrorCode::PathProtected),
            ("skills/x/SKILL.md", ErrorCode::PathProtected),
            ("SKILLS/x.md", ErrorCode::PathProtected),
            ("memory/x.md", ErrorCode::PathProtected),
            ("MeMoRy/x.md", ErrorCode::PathProtected),
            ("memory\u{200b}/x.md", ErrorCode::PathProtected),
            ("mem\u{ad}ory/x.md", ErrorCode::PathProtected),
            ("ｍｅｍｏｒｙ/x.md", ErrorCode::PathProtected),
            ("memory./x.md", ErrorCode::PathProtected),
            ("memory /x.md", ErrorCode::PathProtected),
            (" memory/x.md", ErrorCode::PathProtected),
            ("MEMORY~1/x.md", ErrorCode::PathProtected),
            ("memory:s/x.md", ErrorCode::PathProtected),
            ("ſkills/x.md", ErrorCode::PathProtected),
            ("skİlls/x.md", ErrorCode::PathProtected),
            ("mem\u{34f}ory/x.md", ErrorCode::PathProtected),
            ("mеmory/x.md", ErrorCode::PathName),
            ("rеport.md", ErrorCode::PathName),
            ("report.md ", ErrorCode::PathName),
            ("report.md.", ErrorCode::PathName),
            (" report.md", ErrorCode::PathName),
            ("a/ b/c.md", ErrorCode::PathName),
            ("a /c.md", ErrorCode::PathName),
            ("a./c.md", ErrorCode::PathName),
            ("CON.md", ErrorCode::PathName),
            ("con .md", ErrorCode::PathName),
            ("sub/PRN.md", ErrorCode::PathName),
            ("COM¹.csv", ErrorCode::PathName),
            ("LPT³/x.md", ErrorCode::PathName),
            ("CONIN$.md", ErrorCode::PathName),
            ("a<b>.md", ErrorCode::PathName),
            ("a|b.md", ErrorCode::PathName),
            ("a*b.md", ErrorCode::PathName),
            ("a\"b.md", ErrorCode::PathName),
            ("report.md:x.md", ErrorCode::PathName),
            ("sub\\report.md", ErrorCode::PathName),
            ("PROGRA~1/x.md", ErrorCode::PathName),
            ("report\u{202e}fdp.md", ErrorCode::PathName),
            ("report\u{3164}.md", ErrorCode::PathName),
            ("report.md\u{a0}", ErrorCode::PathName),
            ("．．/x.md", ErrorCode::PathName),
            ("a\u{300}\u{300}\u{300}\u{300}\u{300}.md", ErrorCode::PathName),
            ("Δelta.md", ErrorCode::PathName),
            ("ひらがな한글.md", ErrorCode::PathName),
            (".", ErrorCode::NotAFile),
        ];
        for (name, expected) in cases {
            assert_eq!(code(name, Access::Write), Some(expected), "{name:?}");
        }
        let deep = format!("{}x.md", "d/".repeat(32));
        assert_eq!(code(&deep, Access::Write), Some(ErrorCode::PathTooLong), "33 components");
        assert_eq!(code(&deep[2..], Access::Write), None, "32 components");
    }

    #[test]
    fn a_memory_write_reaches_memory_and_nothing_else() {
        assert_eq!(code("memory/MEMORY.md", Access::Memory), None, "its own folder");
        assert_eq!(code("memory/2025-03-01.md", Access::Memory), None, "a diary page");
        for name in ["report.md", "memory", "memory.md", "Memory/MEMORY.md", "sub/memory/x.md", "skills/x.md"]
        {
            assert_eq!(
                code(name, Access::Memory),
                Some(ErrorCode::PathProtected),
                "{name} is not below memory/"
            );
        }
        assert_eq!(code("memory/x.csv", Access::Memory), Some(ErrorCode::PathExtension), "md only");
    }

    #[test]
    fn the_person_may_write_any_kind_of_file_anywhere_but_no_name_that_lies() {
        for name in ["scan.pdf", "memory/MEMORY.md", "skills/x/SKILL.md", "Отчёт Q1.docx", "noextension"]
        {
            assert_eq!(code(name, Access::Operator), None, "{name} is the person's own file");
        }
        for name in ["a\u{202e}b.pdf", "CON.pdf", "ab:c.pdf", "x.pdf ", "PROGRA~1.pdf"] {
            assert_eq!(code(name, Access::Operator), Some(ErrorCode::PathName), "{name:?} is not portable");
        }
        assert_eq!(code(".git/config", Access::Operator), Some(ErrorCode::PathProtected), "no dot names");
    }
}
