//! Server-sent events, from bytes that are cut anywhere, in bounded memory.

/// A line was longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineTooLong;

/// Cuts a stream into the data of its events.
///
/// Each `data:` line is given as soon as it is one JSON value, because the servers in question never spread a value over
/// lines and some leave out the empty line; otherwise the lines of an event are joined, as the standard says, and
/// given at its end.
#[derive(Debug)]
pub(crate) struct EventReader {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    begun: bool,
}

impl EventReader {
    /// A reader that keeps at most `limit` bytes of one line and of one event.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), data: Vec::new(), begun: false }
    }

    /// Takes the next bytes and calls `event` with the data of each event that is complete.
    ///
    /// # Errors
    /// A line or event beyond the limit, or what `event` answers.
    pub(crate) fn feed<E: From<LineTooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            let result = self.end_line(&line, &mut event);
            // The buffer is used again for the next line.
            self.line = line;
            self.line.clear();
            result?;
        }
        self.keep(bytes)?;
        Ok(())
    }

    /// Takes the end of the stream: a last line without its end still counts.
    ///
    /// # Errors
    /// As for [`Self::feed`].
    pub(crate) fn finish<E: From<LineTooLong>>(
        &mut self,
        mut event: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.end_line(&line, &mut event)?;
        self.end_line(b"", &mut event)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), LineTooLong> {
        if self.line.len() + bytes.len() > self.limit {
            return Err(LineTooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line<E: From<LineTooLong>>(
        &mut self,
        line: &[u8],
        event: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.begun {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            self.begun = true;
        }
        if line.is_empty() {
            if self.data.is_empty() {
                return Ok(());
            }
            let data = std::mem::take(&mut self.data);
            return event(&data);
        }
        let Some(data) = line.strip_prefix(b"data:") else { return Ok(()) };
        let data = data.strip_prefix(b" ").unwrap_or(data);
        if self.data.is_empty()
            && (data == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok())
        {
            return event(data);
        }
        if self.data.len() + data.len() >= self.limit {
            return Err(LineTooLong.into());
        }
        if !self.data.is_empty() {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]], limit: usize) -> Result<Vec<String>, LineTooLong> {
        let mut reader = EventReader::new(limit);
        let mut found = Vec::new();
        for piece in pieces {
            reader.feed(piece, |data| {
                found.push(String::from_utf8_lossy(data).into_owned());
                Ok::<(), LineTooLong>(())
            })?;
        }
        reader.finish(|data| {
            found.push(String::from_utf8_lossy(data).into_owned());
            Ok::<(), LineTooLong>(())
        })?;
        Ok(found)
    }

    #[test]
    fn the_forms_that_servers_send_are_read() {
        let table: [(&str, &[&str]); 9] = [
            ("data: {\"a\":1}\n\ndata: [DONE]\n\n", &["{\"a\":1}", "[DONE]"]),
            ("data:{\"a\":1}\r\n\r\ndata:[DONE]\r\n\r\n", &["{\"a\":1}", "[DONE]"]),
            ("\u{feff}data: 1\n\n", &["1"]),
            (": keep-alive\n\nevent: x\nid: 7\nretry: 3\ndata: 1\n\n", &["1"]),
            ("data: {\"a\":1}\ndata: {\"a\":2}\n", &["{\"a\":1}", "{\"a\":2}"]),
            ("data: {\"a\":\ndata: 1}\n\n", &["{\"a\":\n1}"]),
            ("data: {broken\n\n", &["{broken"]),
            ("data: 1", &["1"]),
            ("<html>\nnothing\n", &[]),
        ];
        for (stream, expected) in table {
            assert_eq!(events(&[stream.as_bytes()], 1_000).unwrap(), expected, "{stream:?}");
        }
    }

    #[test]
    fn a_line_or_event_beyond_the_limit_is_refused_before_it_is_kept() {
        assert_eq!(events(&[&[b'x'; 101]], 100), Err(LineTooLong), "a line that never ends");
        assert_eq!(
            events(&[&[b'x'; 60], &[b'x'; 60]], 100),
            Err(LineTooLong),
            "also when it comes in pieces"
        );
        let many = "data: [\n".repeat(100);
        assert_eq!(events(&[many.as_bytes()], 100), Err(LineTooLong), "an event of too many lines");
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_makes_no_difference(cuts in prop::collection::vec(1_usize..9, 0..40)) {
            let stream = "data: {\"text\":\"发票汇总 ✓\"}\r\n\r\n: ping\n\ndata: {\"b\":\ndata: 2}\n\ndata: [DONE]\n\n".as_bytes();
            let mut rest = stream;
            let mut pieces = Vec::new();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(head);
                rest = tail;
            }
            pieces.push(rest);
            prop_assert_eq!(events(&pieces, 1_000).unwrap(), events(&[stream], 1_000).unwrap(), "pieces {:?}", pieces);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = events(&[&bytes], 64);
        }
    }
}
