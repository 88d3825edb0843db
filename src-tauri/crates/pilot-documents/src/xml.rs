//! Walking through XML of unknown origin: bounded depth, no entities but the five, no DTD.

use crate::error::DocumentError;
use crate::limits;
use quick_xml::Reader;
use quick_xml::events::{BytesEnd, BytesStart, Event};

/// Events of an XML text.
pub(crate) struct Walk<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_dangling_amp = true;
        config.allow_unmatched_ends = true;
        Self { reader, depth: 0 }
    }

    /// The next event, `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Event<'a>>, DocumentError> {
        let event = self
            .reader
            .read_event()
            .map_err(|error| DocumentError::Broken(format!("damaged XML: {error}")))?;
        match &event {
            Event::Eof => return Ok(None),
            Event::Start(_) => {
                self.depth += 1;
                if self.depth > limits::DEPTH {
                    return Err(DocumentError::Limit(format!(
                        "elements are nested deeper than {}",
                        limits::DEPTH
                    )));
                }
            }
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::DocType(text) if text.as_ref().contains("ENTITY") => {
                return Err(DocumentError::Limit("the XML defines entities of its own".to_owned()));
            }
            _ => {}
        }
        Ok(Some(event))
    }
}

/// Local name of a tag.
pub(crate) fn local<'t>(tag: &'t BytesStart<'_>) -> &'t str {
    let name = tag.name().into_inner();
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Local name of an end tag.
pub(crate) fn local_end<'t>(tag: &'t BytesEnd<'_>) -> &'t str {
    let name = tag.name().into_inner();
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// An attribute by local name, entities resolved.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    tag.attributes().with_checks(false).flatten().find_map(|attribute| {
        let key = attribute.key.into_inner();
        let local = key.rsplit_once(':').map_or(key, |(_, local)| local);
        (local == name).then(|| unescape(&attribute.value))
    })
}

/// Adds the text of an event.
pub(crate) fn push_text(event: &Event<'_>, out: &mut String) {
    match event {
        Event::Text(text) => out.push_str(text.as_ref()),
        Event::CData(text) => out.push_str(text.as_ref()),
        Event::GeneralRef(name) => push_entity(name.as_ref(), out),
        _ => {}
    }
}

/// The five entities and character references; others stand as they are written.
fn push_entity(name: &str, out: &mut String) {
    let code = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    match (name, code.and_then(char::from_u32)) {
        (_, Some(c)) => out.push(c),
        ("amp", _) => out.push('&'),
        ("lt", _) => out.push('<'),
        ("gt", _) => out.push('>'),
        ("quot", _) => out.push('"'),
        ("apos", _) => out.push('\''),
        _ => {
            out.push('&');
            out.push_str(name);
            out.push(';');
        }
    }
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('&') {
        out.push_str(head);
        match tail.split_once(';') {
            Some((name, after)) if name.len() <= 10 => {
                push_entity(name, &mut out);
                rest = after;
            }
            _ => {
                out.push('&');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_of_the_document_are_refused_and_depth_is_bounded() {
        let bomb = "<!DOCTYPE a [<!ENTITY x \"yyyy\">]><a>&x;</a>";
        let mut walk = Walk::new(bomb);
        let mut error = None;
        loop {
            match walk.next() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
        }
        assert!(
            matches!(error, Some(DocumentError::Limit(_))),
            "a document may not define entities: {error:?}"
        );
        let deep = "<a>".repeat(10_000);
        let mut walk = Walk::new(&deep);
        let found = std::iter::from_fn(|| walk.next().transpose()).find_map(Result::err);
        assert!(matches!(found, Some(DocumentError::Limit(_))), "ten thousand levels are refused");
    }

    #[test]
    fn references_are_resolved() {
        assert_eq!(unescape("a &amp; b &#x4E2D; &unknown; &"), "a & b 中 &unknown; &", "known ones only");
    }
}
