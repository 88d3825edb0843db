//! A stream of bytes as UTF-8, decoded on the way; nothing is held but two buffers.

use encoding_rs::{CoderResult, Decoder, Encoding};
use std::io::{self, Read};

/// Reads an encoding and gives UTF-8.
pub(super) struct Utf8<R> {
    inner: R,
    decoder: Decoder,
    raw: Vec<u8>,
    /// Bytes of `raw` that are not decoded yet.
    left: std::ops::Range<usize>,
    out: Vec<u8>,
    ready: std::ops::Range<usize>,
    ended: bool,
    finished: bool,
}

const BUFFER: usize = 64 << 10;

impl<R: Read> Utf8<R> {
    pub(super) fn new(inner: R, encoding: &'static Encoding) -> Self {
        Self {
            inner,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: vec![0; BUFFER],
            left: 0..0,
            out: vec![0; BUFFER * 2],
            ready: 0..0,
            ended: false,
            finished: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        while self.ready.is_empty() && !self.finished {
            if self.left.is_empty() && !self.ended {
                let count = self.inner.read(&mut self.raw)?;
                self.ended = count == 0;
                self.left = 0..count;
            }
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(&self.raw[self.left.clone()], &mut self.out, self.ended);
            self.left.start += read;
            self.ready = 0..written;
            self.finished = self.ended && result == CoderResult::InputEmpty;
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let count = into.len().min(self.ready.len());
        into[..count].copy_from_slice(&self.out[self.ready.start..self.ready.start + count]);
        self.ready.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GB18030, UTF_8};

    /// Gives its bytes one at a time, so that every character is cut.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            into[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn characters_cut_between_reads_are_whole() {
        let text = "供应商,金额\n青禾,1,200.00\n";
        let bytes = GB18030.encode(text).0.into_owned();
        let mut out = String::new();
        Utf8::new(Drip(&bytes), GB18030).read_to_string(&mut out).unwrap();
        assert_eq!(out, text, "GB18030 by single bytes");
        let mut out = String::new();
        Utf8::new(Drip(&[0xE9, 0x87]), UTF_8).read_to_string(&mut out).unwrap();
        assert_eq!(out, "\u{fffd}", "a character that never ends is said to be lost");
    }
}
