//! Bytes in; text, tables, invoice fields and statistics out; and the bytes of md, csv and xlsx.
//!
//! **What this crate must not know:** paths, handles, the guard, tools, models. A document has a *name* here, used only
//! for its ending and for provenance. Parsers of hostile files run in a child process (see [`worker`]); nothing in this
//! crate trusts a length, a count or an offset of its input.

mod model;

pub use model::{
    Amounts, Analysis, AnalyzeOptions, ColumnChoice, Document, DocumentKind, DocumentStatus, DuplicateGroup, ExtractOptions, GroupTotal,
    InvoiceFields, NumberConflict, Outlier, Part, PartKind, RowSource, Statistic, Table, UnreadRow,
};
