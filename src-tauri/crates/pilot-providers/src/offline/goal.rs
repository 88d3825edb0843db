//! What the person wants, as far as fixed steps can tell.

use serde_json::Value;

/// The language to answer in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Chinese,
    English,
}

/// What is summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The whole workspace.
    Everything,
    /// One folder or file.
    Only(String),
}

impl Scope {
    /// The path as `analyze_table` takes it.
    pub(super) fn path(&self) -> &str {
        match self {
            Scope::Everything => ".",
            Scope::Only(path) => path,
        }
    }
}

/// A goal.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) language: Language,
    lower: String,
    named: Vec<Named>,
}

/// A text that the person put in quotation marks or ended with a slash.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    text: String,
    /// Certainly meant as a folder.
    is_folder: bool,
}

const QUOTES: &[(char, char)] =
    &[('「', '」'), ('『', '』'), ('“', '”'), ('‘', '’'), ('《', '》'), ('"', '"'), ('`', '`'), ('\'', '\'')];

/// What stands between earlier turns, which are quoted for a model, and the request of this one.
const REQUEST_MARK: &str = "---";

impl Goal {
    pub(super) fn read(goal: &str) -> Self {
        let request = request_of(goal);
        Self { language: language_of(request), lower: request.to_lowercase(), named: named_in(request) }
    }

    /// True when the goal names this word: anywhere in Chinese, at the beginning of a word otherwise.
    pub(super) fn names(&self, word: &str) -> bool {
        self.lower.match_indices(word).any(|(place, _)| {
            let before = self.lower[..place].chars().next_back();
            !word.is_ascii() || before.is_none_or(|before| !before.is_ascii_alphanumeric())
        })
    }

    /// What to sum up, by the listing of the workspace.
    ///
    /// # Errors
    /// The name of a folder that the person asked for and that the listing does not show.
    pub(super) fn scope(&self, listing: &str) -> Result<Scope, String> {
        let paths = paths_of(listing);
        for named in &self.named {
            let wanted = named.text.trim_start_matches("./").trim_end_matches('/');
            let whole = paths.iter().find(|path| *path == wanted);
            let last = || {
                let mut ends = paths.iter().filter(|path| path.rsplit('/').next() == Some(wanted));
                ends.next().filter(|_| ends.next().is_none())
            };
            match whole.or_else(last) {
                Some(path) => return Ok(Scope::Only(path.clone())),
                None if named.is_folder => return Err(named.text.clone()),
                None => {}
            }
        }
        Ok(Scope::Everything)
    }
}

/// The request of this turn: what follows the last line that is nothing but the mark.
fn request_of(goal: &str) -> &str {
    let mut request = goal;
    let mut rest = goal;
    while let Some((line, after)) = rest.split_once('\n') {
        if line.trim() == REQUEST_MARK && !after.trim().is_empty() {
            request = after;
        }
        rest = after;
    }
    request.trim()
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Chinese when there are at least as many Chinese characters as Latin words outside quotation marks: an English goal
/// may name a Chinese folder.
fn language_of(request: &str) -> Language {
    let mut plain = request.to_owned();
    for named in named_in(request) {
        plain = plain.replace(&named.text, " ");
    }
    let han = plain.chars().filter(|character| is_han(*character)).count();
    let words =
        plain.split(|character: char| !character.is_ascii_alphabetic()).filter(|word| word.len() > 1).count();
    if han > 0 && han >= words { Language::Chinese } else { Language::English }
}

fn named_in(request: &str) -> Vec<Named> {
    let mut named = Vec::new();
    let mut rest = request;
    while let Some((place, open)) =
        rest.char_indices().find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c))
    {
        let inside = &rest[place + open.len_utf8()..];
        let close = QUOTES.iter().find(|(begin, _)| *begin == open).map_or(open, |(_, end)| *end);
        // An apostrophe inside a word opens nothing.
        let in_word = open == '\'' && rest[..place].chars().next_back().is_some_and(char::is_alphanumeric);
        let Some(end) = inside.find(close).filter(|_| !in_word) else {
            rest = inside;
            continue;
        };
        let text = inside[..end].trim();
        let after = inside[end + close.len_utf8()..].trim_start();
        if !text.is_empty() && text.chars().count() <= 200 {
            let told = ["文件夹", "目录", "folder", "directory"].iter().any(|word| after.starts_with(word));
            named.push(Named { text: text.to_owned(), is_folder: told || text.ends_with('/') });
        }
        rest = &inside[end + close.len_utf8()..];
    }
    let blank = |c: char| c.is_whitespace() || matches!(c, '，' | '。' | ',' | ';' | '；');
    let slashed =
        request.split(blank).filter(|word| word.len() > 1 && word.ends_with('/') && !word.contains("//"));
    named.extend(slashed.map(|word| Named { text: word.to_owned(), is_folder: true }));
    named
}

/// Every path that a listing shows, and the folders above them.
fn paths_of(listing: &str) -> Vec<String> {
    let Ok(listing) = serde_json::from_str::<Value>(listing) else { return Vec::new() };
    let entries = listing.get("entries").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut paths: Vec<String> = Vec::new();
    for path in entries.iter().filter_map(|entry| entry.get("path").and_then(Value::as_str)) {
        let path = path.trim_end_matches('/');
        let above = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
        for path in above.chain([path.to_owned()]) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = r#"{"path":".","entries":[{"path":"进项发票","kind":"folder"},{"path":"进项发票/a.pdf","kind":"file"},{"path":"2026/invoices/b.csv","kind":"file"},{"path":"ledger.csv","kind":"file"},{"path":"x/same","kind":"folder"},{"path":"y/same","kind":"folder"}],"total":6,"cut":false}"#;

    #[test]
    fn the_language_is_that_of_the_request() {
        let table = [
            ("汇总发票", Language::Chinese),
            ("用 Excel 汇总 Q3 的发票", Language::Chinese),
            ("Summarise the invoices", Language::English),
            ("Summarise the invoices in \"进项发票文件夹里的东西\"", Language::English),
            ("", Language::English),
            ("2026", Language::English),
        ];
        for (goal, language) in table {
            assert_eq!(Goal::read(goal).language, language, "{goal}");
        }
    }

    #[test]
    fn a_folder_in_quotation_marks_narrows_the_work() {
        let only = |path: &str| Ok(Scope::Only(path.to_owned()));
        let table = [
            ("汇总「进项发票」里的发票", only("进项发票")),
            ("汇总“进项发票/”", only("进项发票")),
            ("汇总 ./进项发票/ 的发票", only("进项发票")),
            ("Summarise \"invoices\" please", only("2026/invoices")),
            ("Summarise '2026/invoices'", only("2026/invoices")),
            ("Summarise `ledger.csv`", only("ledger.csv")),
            ("Don't forget: it's the invoices' total", Ok(Scope::Everything)),
            ("汇总发票，写一份“报告”", Ok(Scope::Everything)),
            ("汇总「same」", Ok(Scope::Everything)),
            ("汇总「没有的」文件夹", Err("没有的".to_owned())),
            ("Summarise \"nothing/\"", Err("nothing/".to_owned())),
            ("Summarise the \"nothing\" folder", Err("nothing".to_owned())),
            ("汇总发票", Ok(Scope::Everything)),
        ];
        for (goal, scope) in table {
            assert_eq!(Goal::read(goal).scope(LISTING), scope, "{goal}");
        }
        assert_eq!(
            Goal::read("汇总「进项发票」").scope("garbage"),
            Ok(Scope::Everything),
            "no listing, no narrowing"
        );
    }

    #[test]
    fn earlier_turns_are_not_the_request() {
        let goal = Goal::read("earlier (untrusted)\n汇总发票\n---\nWhat is the time?");
        assert!(!goal.names("汇总"), "only what follows the mark counts");
        assert_eq!(goal.language, Language::English, "also for the language");
        assert!(Goal::read("汇总发票\n---\n").names("汇总"), "a mark with nothing behind it is none");
    }
}
