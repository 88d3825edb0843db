//! Markdown.

/// The bytes of a Markdown text: UTF-8, no byte order mark, one line end at the end.
#[must_use]
pub fn markdown(text: &str) -> Vec<u8> {
    let text = text.trim_start_matches('\u{feff}');
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_a_line_end() {
        assert_eq!(markdown("# a"), b"# a\n", "added");
        assert_eq!(markdown("# a\n"), b"# a\n", "not twice");
        assert_eq!(markdown(""), b"", "nothing stays nothing");
    }
}
