//! Identity of data: canonical JSON and SHA-256.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Digest as _;
use std::fmt;
use ts_rs::TS;

/// A SHA-256 in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub struct Digest(String);

impl Digest {
    /// Digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(&sha2::Sha256::digest(bytes))
    }

    /// Digest of the canonical form of a JSON value.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
    }

    /// Takes a digest that was stored earlier.
    #[must_use]
    pub fn from_hex(hex: impl Into<String>) -> Self {
        Self(hex.into())
    }

    /// Takes the 32 bytes of a finished SHA-256.
    #[must_use]
    pub fn from_hash(hash: &[u8]) -> Self {
        use fmt::Write as _;
        let mut hex = String::with_capacity(64);
        for byte in hash {
            let _ = write!(hex, "{byte:02x}");
        }
        Self(hex)
    }

    /// The hexadecimal text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The canonical text of a JSON value: object keys sorted by bytes, no white space, numbers as `serde_json` prints
/// them. Two values with the same canonical text are the same call. In the spirit of RFC 8785; it is used only
/// against itself, so number formatting need not match other languages.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                if let Some(inner) = map.get(key) {
                    write_canonical(inner, out);
                }
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_does_not_change_the_digest() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"y":2,"x":1}],"a":"ü"}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":"ü","b":[1,{"x":1,"y":2}]}"#).unwrap();
        assert_eq!(
            canonical_json(&one),
            r#"{"a":"ü","b":[1,{"x":1,"y":2}]}"#,
            "keys are sorted at every depth"
        );
        assert_eq!(Digest::of_json(&one), Digest::of_json(&two), "an approval must not depend on key order");
        assert_ne!(
            Digest::of_json(&json!([1, 2])),
            Digest::of_json(&json!([2, 1])),
            "order of a list is content"
        );
    }
}
