//! A guess at the number of tokens, for providers that give no figure. Every use is marked as an estimate.

/// About one token for four characters of Latin text and one for each other character: high rather than low for Chinese,
/// so that a cap on tokens is not overrun.
pub(crate) fn estimated(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|character| !character.is_ascii()).count();
    u64::try_from(ascii.div_ceil(4) + other).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::estimated;

    #[test]
    fn chinese_counts_by_character() {
        assert_eq!(estimated("发票汇总"), 4, "one for each character");
        assert_eq!(estimated("invoices"), 2, "one for four letters");
        assert_eq!(estimated(""), 0, "nothing is nothing");
    }
}
