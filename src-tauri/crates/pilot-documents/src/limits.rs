//! Every bound of this crate in one place. They are generous for office work and tight for bombs.

/// Largest document that is read at once, in bytes.
pub const DOCUMENT_BYTES: u64 = 64 << 20;
/// Largest text or CSV that is streamed, in bytes.
pub const STREAM_BYTES: u64 = 512 << 20;
/// Most text that one document may give, in bytes.
pub const TEXT_BYTES: usize = 16 << 20;
/// Most cells that one workbook or table may give, empty ones between others included.
pub const CELLS: usize = 4_000_000;
/// Most pages that are read.
pub const PAGES: usize = 2_000;
/// Most objects that a PDF may hold.
pub const PDF_OBJECTS: usize = 1_000_000;
/// Most bytes that one stream of a PDF may inflate to.
pub const PDF_STREAM_BYTES: usize = 128 << 20;
/// Most entries of a zip.
pub const ZIP_ENTRIES: usize = 20_000;
/// Most bytes that one entry of a zip may inflate to.
pub const ZIP_ENTRY_BYTES: u64 = 384 << 20;
/// Most bytes that all entries of a zip may inflate to.
pub const ZIP_TOTAL_BYTES: u64 = 768 << 20;
/// A zip that inflates to more than [`ZIP_RATIO_FLOOR`] may not do so by more than this factor.
pub const ZIP_RATIO: u64 = 250;
/// Bytes below which the factor is not looked at.
pub const ZIP_RATIO_FLOOR: u64 = 64 << 20;
/// Deepest nesting of elements in XML, of brackets in PDF.
pub const DEPTH: usize = 256;
/// Rows of a sheet that stand empty before a new table begins.
pub const ROW_GAP: u32 = 20;
/// Columns of a row that are kept.
pub const COLUMNS: u32 = 16_384;
/// Rows of a CSV that are given as a table; the text is complete.
pub const CSV_TABLE_ROWS: usize = 50_000;
