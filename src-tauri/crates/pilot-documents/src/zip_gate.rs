//! The gate before every zip: how many entries, how much they say and how much they really inflate to.

use crate::error::DocumentError;
use crate::limits;
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// An archive that passed the gate.
pub(crate) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Most that deflate can inflate one byte to, rounded up.
const DEFLATE_MAX: u64 = 1_032;

/// Opens a zip after looking at its directory and, where an entry could hide a bomb, at what it really inflates to.
pub(crate) fn check(bytes: &[u8]) -> Result<Archive<'_>, DocumentError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| DocumentError::Broken(format!("the zip cannot be read: {error}")))?;
    if archive.len() > limits::ZIP_ENTRIES {
        return Err(DocumentError::Limit(format!("the zip holds {} entries", archive.len())));
    }
    let (mut packed, mut said) = (0u64, 0u64);
    let mut suspects = Vec::new();
    for index in 0..archive.len() {
        let entry = archive
            .by_index_raw(index)
            .map_err(|error| DocumentError::Broken(format!("the zip cannot be read: {error}")))?;
        if entry.encrypted() {
            return Err(DocumentError::Encrypted("the zip needs a password".to_owned()));
        }
        let (small, large) = (entry.compressed_size(), entry.size());
        if large > limits::ZIP_ENTRY_BYTES {
            return Err(bomb(small, large));
        }
        packed = packed.saturating_add(small);
        said = said.saturating_add(large);
        // What an entry says of its size is its own word. One that could inflate to much more is measured.
        if small.saturating_mul(DEFLATE_MAX) > limits::ZIP_RATIO_FLOOR.max(large.saturating_mul(8)) {
            suspects.push((index, large));
        }
    }
    limit(packed, said)?;
    let mut real = said;
    for (index, large) in suspects {
        let found = measure(&mut archive, index)?;
        real = real.saturating_add(found.saturating_sub(large));
        limit(packed, real)?;
    }
    refuse_entities(&mut archive)?;
    Ok(archive)
}

fn limit(packed: u64, real: u64) -> Result<(), DocumentError> {
    let ratio = real > limits::ZIP_RATIO_FLOOR && real / packed.max(1) > limits::ZIP_RATIO;
    if real > limits::ZIP_TOTAL_BYTES || ratio { Err(bomb(packed, real)) } else { Ok(()) }
}

fn bomb(packed: u64, real: u64) -> DocumentError {
    DocumentError::Limit(format!("{packed} bytes of zip inflate to {real} or more"))
}

fn measure(archive: &mut Archive<'_>, index: usize) -> Result<u64, DocumentError> {
    let Ok(entry) = archive.by_index(index) else { return Ok(0) };
    let mut entry = entry.take(limits::ZIP_ENTRY_BYTES + 1);
    let mut buffer = [0u8; 64 << 10];
    let mut total = 0u64;
    loop {
        match entry.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => total += count as u64,
            // Damage is the reader's to report; the gate only measures.
            Err(_) => return Ok(total),
        }
        if total > limits::ZIP_ENTRY_BYTES {
            return Err(bomb(0, total));
        }
    }
}

/// Office files never define entities; a part that does is a bomb.
fn refuse_entities(archive: &mut Archive<'_>) -> Result<(), DocumentError> {
    let parts: Vec<usize> = (0..archive.len())
        .filter(|index| {
            name_at(archive, *index).is_some_and(|name| name.ends_with(".xml") || name.ends_with(".rels"))
        })
        .collect();
    for index in parts {
        let Ok(mut entry) = archive.by_index(index) else { continue };
        let mut head = [0u8; 1_024];
        let mut filled = 0;
        while filled < head.len() {
            match entry.read(&mut head[filled..]) {
                Ok(0) | Err(_) => break,
                Ok(count) => filled += count,
            }
        }
        // Readers reserve room for as many strings as a part says it holds; each takes at least five bytes.
        let strings = number_after(&head[..filled], b"uniqueCount=\"").unwrap_or(0);
        if strings > entry.size() {
            return Err(DocumentError::Limit(format!(
                "a part of {} bytes says it holds {strings} strings",
                entry.size()
            )));
        }
        if head[..filled].windows(8).any(|window| window == b"<!ENTITY") {
            return Err(DocumentError::Limit(
                "a part of the document defines entities of its own".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The number behind a word, such as an attribute's value.
fn number_after(bytes: &[u8], word: &[u8]) -> Option<u64> {
    let at = bytes.windows(word.len()).position(|window| window == word)? + word.len();
    let digits: Vec<u8> = bytes[at..].iter().copied().take_while(u8::is_ascii_digit).take(19).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// The largest number behind a word in the entries of a folder.
pub(crate) fn largest_number(bytes: &[u8], folder: &str, word: &[u8]) -> u64 {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return 0 };
    let names: Vec<usize> = (0..archive.len())
        .filter(|index| {
            name_at(&archive, *index).is_some_and(|name| name.to_ascii_lowercase().starts_with(folder))
        })
        .collect();
    let mut largest = 0;
    for index in names {
        let Ok(entry) = archive.by_index(index) else { continue };
        let mut text = Vec::new();
        if entry.take(limits::ZIP_ENTRY_BYTES).read_to_end(&mut text).is_err() {
            continue;
        }
        let mut rest = text.as_slice();
        while let Some(at) = find(rest, word) {
            rest = &rest[at..];
            largest = largest.max(number_after(&rest[..rest.len().min(word.len() + 20)], word).unwrap_or(0));
            rest = &rest[word.len()..];
        }
    }
    largest
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| *byte == first) {
        at += offset;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The name of an entry, with forward slashes and none in front.
pub(crate) fn name_at(archive: &Archive<'_>, index: usize) -> Option<String> {
    let name = archive.name_for_index(index)?.ok()?;
    Some(name.replace('\\', "/").trim_start_matches('/').to_owned())
}

/// The bytes of an entry by name, upper and lower case alike; `None` when it is not there.
pub(crate) fn entry(archive: &mut Archive<'_>, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
    let found = (0..archive.len())
        .find(|index| name_at(archive, *index).is_some_and(|other| other.eq_ignore_ascii_case(name)));
    let Some(index) = found else { return Ok(None) };
    let broken =
        |error: &dyn std::fmt::Display| DocumentError::Broken(format!("{name} cannot be read: {error}"));
    let entry = archive.by_index(index).map_err(|error| broken(&error))?;
    let mut out = Vec::with_capacity(usize::try_from(entry.size().min(1 << 20)).unwrap_or(0));
    entry.take(limits::ZIP_ENTRY_BYTES + 1).read_to_end(&mut out).map_err(|error| broken(&error))?;
    if out.len() as u64 > limits::ZIP_ENTRY_BYTES {
        return Err(bomb(0, out.len() as u64));
    }
    Ok(Some(out))
}
