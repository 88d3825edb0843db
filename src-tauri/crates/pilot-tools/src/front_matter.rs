//! The two keys of a `SKILL.md` header. A small strict reader instead of YAML: anchors, tags and nested documents of a
//! file that anybody may have put into the folder are never interpreted.

use crate::skills::SkillProblem;

/// Name, description and the text below the header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FrontMatter<'a> {
    /// Value of `name`.
    pub(crate) name: String,
    /// Value of `description`, on one line.
    pub(crate) description: String,
    /// What follows the header.
    pub(crate) body: &'a str,
}

/// Reads the header. Keys other than `name` and `description` are passed over.
pub(crate) fn parse(text: &str) -> Result<FrontMatter<'_>, SkillProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, mut rest) = next_line(text);
    if first.trim_end() != "---" {
        return Err(SkillProblem::NoFrontMatter);
    }
    let mut header: Vec<&str> = Vec::new();
    let body = loop {
        if rest.is_empty() {
            return Err(SkillProblem::NoFrontMatter);
        }
        let (line, after) = next_line(rest);
        rest = after;
        if matches!(line.trim_end(), "---" | "...") {
            break rest;
        }
        header.push(line);
    };
    let name = value_of(&header, "name")?.ok_or(SkillProblem::MissingKey("name"))?;
    let description = value_of(&header, "description")?.ok_or(SkillProblem::MissingKey("description"))?;
    Ok(FrontMatter { name, description, body })
}

fn next_line(text: &str) -> (&str, &str) {
    match text.split_once('\n') {
        Some((line, rest)) => (line.strip_suffix('\r').unwrap_or(line), rest),
        None => (text, ""),
    }
}

/// The value of a key at the left margin, its continuation lines folded into one line.
fn value_of(header: &[&str], key: &'static str) -> Result<Option<String>, SkillProblem> {
    let mut found = None;
    for (index, line) in header.iter().enumerate() {
        let Some(value) = line.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix(':')) else {
            continue;
        };
        if !value.is_empty() && !value.starts_with([' ', '\t']) {
            continue;
        }
        if found.is_some() {
            return Err(SkillProblem::RepeatedKey(key));
        }
        let indented = header[index + 1..]
            .iter()
            .take_while(|next| next.trim().is_empty() || next.starts_with([' ', '\t']));
        found = Some(scalar(value.trim(), &indented.map(|next| next.trim()).collect::<Vec<_>>(), key)?);
    }
    Ok(found)
}

fn scalar(first: &str, more: &[&str], key: &'static str) -> Result<String, SkillProblem> {
    let is_block = first.starts_with(['>', '|']);
    let mut words: Vec<&str> = if is_block { Vec::new() } else { vec![first] };
    words.extend(more);
    let folded = words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    if is_block {
        return Ok(folded);
    }
    match folded.chars().next() {
        Some('"') => double_quoted(&folded).ok_or(SkillProblem::BadValue(key)),
        Some('\'') => single_quoted(&folded).ok_or(SkillProblem::BadValue(key)),
        // What would be an anchor, a tag, a list or a map is no text.
        Some('&' | '*' | '!' | '[' | '{' | '%' | '@' | '`') => Err(SkillProblem::BadValue(key)),
        Some(_) | None => Ok(folded.split(" #").next().unwrap_or("").trim().to_owned()),
    }
}

fn single_quoted(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('\'')?.chars();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        if c != '\'' {
            out.push(c);
        } else if let Some(after) = chars.as_str().strip_prefix('\'') {
            chars = after.chars();
            out.push('\'');
        } else {
            return is_comment(chars.as_str()).then_some(out);
        }
    }
    None
}

fn double_quoted(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('"')?.chars();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => return is_comment(chars.as_str()).then_some(out),
            '\\' => match chars.next()? {
                'n' | 't' | 'r' => out.push(' '),
                escaped @ ('"' | '\\' | '/') => out.push(escaped),
                'u' => {
                    let hex: String = chars.by_ref().take(4).collect();
                    out.push(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32)?);
                }
                _ => return None,
            },
            c => out.push(c),
        }
    }
    None
}

fn is_comment(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(header: &str, name: &str, description: &str) {
        let text = format!("---\n{header}\n---\nBody\n");
        let read = parse(&text).unwrap();
        assert_eq!((read.name.as_str(), read.description.as_str()), (name, description), "header: {header}");
        assert_eq!(read.body, "Body\n", "the body begins after the closing line");
    }

    #[test]
    fn the_usual_ways_of_writing_a_value_are_read() {
        check("name: a\ndescription: b c", "a", "b c");
        check("description: 'it''s: fine' # note\nname: \"a\"", "a", "it's: fine");
        check("name: a\ndescription: >-\n  one\n  two\n\n  three", "a", "one two three");
        check("name: a\ndescription: |\n  one\n  two\nlicense: MIT", "a", "one two");
        check("name: a\ndescription: one\n  two # not this", "a", "one two");
        check("name: a\nmetadata:\n  name: other\ndescription: \"x \\u4e2d \\\"y\\\"\"", "a", "x 中 \"y\"");
        check("name : a\nnamed: no\ndescription: 汇总发票", "a", "汇总发票");
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_are_no_obstacle() {
        let read = parse("\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nBody\r\n").unwrap();
        assert_eq!(
            (read.name.as_str(), read.body),
            ("a", "Body\r\n"),
            "CRLF files come from Windows editors"
        );
    }

    #[test]
    fn what_is_no_header_is_said() {
        assert_eq!(parse("name: a"), Err(SkillProblem::NoFrontMatter), "no opening line");
        assert_eq!(parse("---\nname: a\n"), Err(SkillProblem::NoFrontMatter), "no closing line");
        assert_eq!(
            parse("---\nname: a\n---\n"),
            Err(SkillProblem::MissingKey("description")),
            "half a header"
        );
        assert_eq!(
            parse("---\nname: a\nname: b\ndescription: c\n---\n"),
            Err(SkillProblem::RepeatedKey("name")),
            "two names would let the list and the loader disagree"
        );
        assert_eq!(
            parse("---\nname: *a\ndescription: c\n---\n"),
            Err(SkillProblem::BadValue("name")),
            "an alias is not text"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "(---\n)?[a-z:\"'\\\\ \n>|#]{0,80}(\n---\n)?.{0,20}") {
            let _ = parse(&text);
        }

        #[test]
        fn a_quoted_value_comes_back(value in "[a-zA-Z0-9 中文'#:]{1,40}") {
            let folded = value.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assume!(!folded.is_empty());
            let text = format!("---\nname: a\ndescription: '{}'\n---\n", folded.replace('\'', "''"));
            prop_assert_eq!(parse(&text).unwrap().description, folded, "what was quoted is what is read");
        }
    }
}
