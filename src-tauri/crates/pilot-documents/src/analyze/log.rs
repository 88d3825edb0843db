//! What an analysis says beside its figures: rows not read, contradictions, remarks. Bounded, and the bound is said.

use crate::model::{NumberConflict, RowSource, UnreadRow};
use pilot_types::ErrorCode;

/// Entries of one kind that are kept.
const KEPT: usize = 2_000;
/// Remarks that are kept.
const NOTES: usize = 400;

/// Remarks and contradictions.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) unread: Vec<UnreadRow>,
    pub(super) conflicts: Vec<NumberConflict>,
    pub(super) notes: Vec<String>,
    unread_more: u64,
    conflicts_more: u64,
    notes_more: u64,
}

impl Log {
    pub(super) fn unread(&mut self, source: RowSource, code: ErrorCode, reason: impl Into<String>) {
        if self.unread.len() < KEPT {
            self.unread.push(UnreadRow { source, code, reason: reason.into() });
        } else {
            self.unread_more += 1;
        }
    }

    pub(super) fn conflict(
        &mut self,
        key: impl Into<String>,
        detail: impl Into<String>,
        sources: Vec<RowSource>,
    ) {
        if self.conflicts.len() < KEPT {
            self.conflicts.push(NumberConflict { key: key.into(), detail: detail.into(), sources });
        } else {
            self.conflicts_more += 1;
        }
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        if self.notes.len() < NOTES {
            self.notes.push(text.into());
        } else {
            self.notes_more += 1;
        }
    }

    /// Says what was left out of the lists.
    pub(super) fn close(&mut self) {
        let more = [
            (self.unread_more, "rows that could not be read"),
            (self.conflicts_more, "contradictions"),
            (self.notes_more, "remarks"),
        ];
        for (count, what) in more {
            if count > 0 {
                self.notes.push(format!("{count} more {what} are not listed"));
            }
        }
    }
}
