//! Bytes in; text, tables, invoice fields and statistics out; and the bytes of md, csv and xlsx.
//!
//! **What this crate must not know:** paths, handles, the guard, tools, models. A document has a *name* here, used only
//! for its ending and for provenance. Parsers of hostile files run in a child process (see [`worker`]); nothing in this
//! crate trusts a length, a count or an offset of its input.

mod analyze;
mod csv_table;
mod date;
mod docx;
mod error;
mod extract;
mod fold;
mod header;
mod invoice;
mod kind;
mod layout;
pub mod limits;
mod model;
mod money;
mod pdf;
mod read_table;
mod sheet;
pub mod text;
pub mod worker;
pub mod write;
mod xml;
mod zip_gate;

pub use analyze::Analyzer;
pub use error::DocumentError;
pub use extract::extract;
pub use model::{
    Amounts, Analysis, AnalyzeOptions, ColumnChoice, Document, DocumentKind, DocumentStatus, DuplicateGroup,
    ExtractOptions, GroupTotal, InvoiceFields, NumberConflict, Outlier, Part, PartKind, RowSource, Statistic,
    Table, UnreadRow,
};
pub use read_table::read_table;
