//! The text of a call's arguments.

use serde_json::{Map, Value};

/// The arguments as an object, or `None` when they are none or nested deeper than `depth`. No arguments at all are an empty
/// object; an object inside a text is unpacked once.
pub(crate) fn read(text: &str, depth: usize) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    if nesting(text) > depth {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::Object(arguments) => Some(arguments),
        Value::String(inner) if nesting(&inner) <= depth => match serde_json::from_str(&inner).ok()? {
            Value::Object(arguments) => Some(arguments),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// How deep a JSON text is nested, without reading it.
fn nesting(text: &str) -> usize {
    let (mut now, mut deepest, mut in_text, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in text.bytes() {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_counts_brackets_outside_texts_only() {
        for (text, depth) in
            [("{}", 1), ("{\"a\":[{}]}", 3), ("\"[[[[\"", 0), ("{\"a\":\"\\\"[[\"}", 1), ("]]]{", 1)]
        {
            assert_eq!(nesting(text), depth, "{text}");
        }
    }
}
