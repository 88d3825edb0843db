//! What a card shows, worked out from the exact bytes that would be written and from the task's tool results.
//!
//! Everything here is pure: bytes and results in, a [`Card`] out. Differences are read back from the final bytes, not
//! from the arguments that made them, so a card cannot show anything else than what an approval would write.
//!
//! **What this crate must not know:** files, the guard, the database, the service, who asks. It never decides whether
//! anything is written.

mod accounts;
mod align;
mod card;
mod content;
mod figures;
mod flags;
mod grid;
mod lines;
mod losses;
mod phrases;
mod review;
mod row_match;
mod rows;
mod scripts;
mod shown;
mod tables;
mod workbook;

pub use card::{
    Card, CellChange, ColumnPlace, DiffLine, Difference, Figure, FigureVerdict, FileFacts, Flag, FlagKind,
    LineKind, Loss, LossKind, NumberCheck, RowChange, Span, SpanMark, TableDifference, Verb, Weight,
};
pub use figures::{Proposed, ToolEvidence, number_check};
pub use review::{CardInput, card, difference};
pub use shown::{hidden_count, shown, shown_line, shown_text};
