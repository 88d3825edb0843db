//! Tokens: made here, shown once, kept as a digest.

use pilot_types::Digest;
use std::fmt::Write as _;
use subtle::ConstantTimeEq as _;

/// Bytes of chance in a token; far more than anybody can try.
const BYTES: usize = 32;

/// A token in clear text, between being made and being shown. It has no `Debug`, so that it gets into no log.
pub struct Token(String);

impl Token {
    /// A new token.
    #[must_use]
    pub fn make() -> Self {
        let mut text = "ppt_".to_owned();
        for byte in rand::random::<[u8; BYTES]>() {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The text, to be shown to the person once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

/// Compares a given token with a kept digest, in a time that does not depend on how much of it fits. Without a channel
/// the same work is done, so that the time does not tell whether there is one.
pub(super) fn fits(given: &str, kept: Option<&Digest>) -> bool {
    let nobody = Digest::of(b"");
    let given = Digest::of(given.as_bytes());
    let same = given.as_str().as_bytes().ct_eq(kept.unwrap_or(&nobody).as_str().as_bytes());
    bool::from(same) && kept.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_fits_and_nothing_fits_nobody() {
        let (token, other) = (Token::make(), Token::make());
        assert_eq!(token.reveal().len(), 4 + 2 * BYTES, "the whole chance is in the text");
        assert!(fits(token.reveal(), Some(&token.digest())), "the token fits its digest");
        assert!(!fits(token.reveal(), Some(&other.digest())), "but not another one's");
        assert!(!fits(token.digest().as_str(), Some(&token.digest())), "the digest is not the token");
        assert!(!fits("", None), "an empty token does not open a channel that is not there");
    }
}
