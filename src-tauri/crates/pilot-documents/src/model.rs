//! What comes out of a document and of an analysis. Amounts are exact decimals, written as strings.

use pilot_types::ErrorCode;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// What kind of file it is, by content first and name second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Plain text, Markdown, JSON, XML that is nothing else.
    Text,
    /// Comma-, semicolon- or tab-separated values.
    Csv,
    /// PDF.
    Pdf,
    /// Word.
    Docx,
    /// Word, binary (`.doc`).
    Doc,
    /// Excel, zipped XML (also `.xlsm`).
    Xlsx,
    /// Excel, binary.
    Xls,
    /// Excel, zipped binary.
    Xlsb,
    /// OpenDocument spreadsheet.
    Ods,
    /// OFD page format.
    Ofd,
    /// An invoice as XML.
    InvoiceXml,
    /// A picture.
    Image,
    /// Something else.
    Unknown,
}

/// How much of the document was read. Never silently less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DocumentStatus {
    /// All of it.
    Complete,
    /// Some of it; the notes say what is missing.
    Partial,
    /// None of it; `code` says why.
    Refused,
}

/// How a part was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A text layer or plain text.
    Text,
    /// Cells.
    Sheet,
    /// Structured data (XML).
    Structured,
    /// A page with a picture and no text.
    Scanned,
}

/// A page, sheet or section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Part {
    /// How it was read.
    pub kind: PartKind,
    /// Page number from 1, for paged documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Sheet name, for workbooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// True for a hidden sheet.
    #[serde(default)]
    pub hidden: bool,
    /// Text in reading order.
    pub text: String,
    /// Tables found.
    #[serde(default)]
    pub tables: Vec<Table>,
}

/// A table: rows of cells as text, as a person would read them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Table {
    /// Row number in the file of the first row, from 1.
    pub first_row: u32,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

/// Fields of a recognised invoice. `None` is "not printed", never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct InvoiceFields {
    /// `invoice`, `credit_note`, `quote`, `proforma`, `receipt`, `other`.
    pub kind: String,
    /// Invoice number, as text with its leading zeros.
    pub number: Option<String>,
    /// Invoice code (发票代码), as text.
    pub code: Option<String>,
    /// Date of issue, ISO.
    pub date: Option<String>,
    /// Due date, ISO.
    pub due_date: Option<String>,
    /// Seller.
    pub seller: Option<String>,
    /// Seller's tax id.
    pub seller_tax_id: Option<String>,
    /// Buyer.
    pub buyer: Option<String>,
    /// Buyer's tax id.
    pub buyer_tax_id: Option<String>,
    /// ISO 4217.
    pub currency: Option<String>,
    /// Without tax.
    #[ts(type = "string | null")]
    pub net: Option<Decimal>,
    /// Tax.
    #[ts(type = "string | null")]
    pub tax: Option<Decimal>,
    /// With tax.
    #[ts(type = "string | null")]
    pub gross: Option<Decimal>,
    /// Still to pay.
    #[ts(type = "string | null")]
    pub due: Option<Decimal>,
    /// Number of the invoice that a credit note refers to.
    pub refers_to: Option<String>,
    /// What was checked and does not hold, such as `net + tax = gross` with both sides.
    pub conflicts: Vec<String>,
}

/// A document as read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Document {
    /// Kind.
    pub kind: DocumentKind,
    /// How much was read.
    pub status: DocumentStatus,
    /// Why it was refused, or what kept it partial.
    pub code: Option<ErrorCode>,
    /// In words: encoding and how sure, what is missing, hidden sheets, scanned pages.
    pub notes: Vec<String>,
    /// All text in reading order, at most the limit asked for.
    pub text: String,
    /// Parts.
    pub parts: Vec<Part>,
    /// Recognised invoice, if it is one.
    pub invoice: Option<InvoiceFields>,
}

/// What to read of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractOptions {
    /// Pages from 1, inclusive; `None` for all.
    pub pages: Option<(u32, u32)>,
    /// One sheet only.
    pub sheet: Option<String>,
    /// Prefer Chinese when an encoding must be guessed.
    pub chinese: bool,
}

/// Columns that the caller names instead of having them found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnChoice {
    /// Header of the supplier column.
    pub supplier: Option<String>,
    /// Header of the amount column.
    pub amount: Option<String>,
    /// Header of the date column.
    pub date: Option<String>,
}

/// How to analyse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnalyzeOptions {
    /// An amount above `median × this` of its currency is an outlier.
    pub outlier_multiplier: Decimal,
    /// Columns.
    pub columns: ColumnChoice,
    /// Prefer Chinese when an encoding must be guessed.
    pub chinese: bool,
}

impl Default for AnalyzeOptions {
    fn default() -> Self {
        Self { outlier_multiplier: Decimal::from(3), columns: ColumnChoice::default(), chinese: false }
    }
}

/// Amounts by currency, as decimal strings in JSON.
pub type Amounts = BTreeMap<String, Decimal>;

/// Where a row came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RowSource {
    /// File name or relative path as given.
    pub file: String,
    /// Sheet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sheet: Option<String>,
    /// Page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<u32>,
    /// Row from 1; 0 for a whole document.
    pub row: u32,
}

/// Totals of one supplier, month or currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct GroupTotal {
    /// Supplier name, `YYYY-MM`, or currency.
    pub key: String,
    /// Rows counted.
    pub count: u32,
    /// By currency.
    #[ts(type = "Record<string, string>")]
    pub totals: Amounts,
}

/// An amount above the limit of its currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Outlier {
    /// Where.
    pub source: RowSource,
    /// Supplier.
    pub supplier: Option<String>,
    /// Number.
    pub number: Option<String>,
    /// Amount.
    #[ts(type = "string")]
    pub amount: Decimal,
    /// Currency.
    pub currency: String,
    /// Amount divided by the median, to two places.
    #[ts(type = "string")]
    pub times_median: Decimal,
}

/// The same invoice more than once; counted once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct DuplicateGroup {
    /// Number, or what else made them the same.
    pub key: String,
    /// Amount.
    #[ts(type = "string")]
    pub amount: Decimal,
    /// Currency.
    pub currency: String,
    /// The one that was counted first, then the others.
    pub sources: Vec<RowSource>,
}

/// The same number with different contents, or a document whose own figures do not fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct NumberConflict {
    /// Number or file.
    pub key: String,
    /// In words, with both values.
    pub detail: String,
    /// Where.
    pub sources: Vec<RowSource>,
}

/// A row or file that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct UnreadRow {
    /// Where.
    pub source: RowSource,
    /// Code.
    pub code: ErrorCode,
    /// In words.
    pub reason: String,
}

/// A row that was counted, kept for provenance and charts (at most the first 2,000).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Statistic {
    /// Where.
    pub source: RowSource,
    /// Supplier.
    pub supplier: Option<String>,
    /// Number.
    pub number: Option<String>,
    /// Date, ISO.
    pub date: Option<String>,
    /// Amount, negative for a credit note.
    #[ts(type = "string")]
    pub amount: Decimal,
    /// Currency.
    pub currency: String,
}

/// The answer of `analyze_table`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Analysis {
    /// Rows counted, after duplicates.
    pub rows: u32,
    /// Files read.
    pub files: u32,
    /// Totals by currency.
    #[ts(type = "Record<string, string>")]
    pub totals: Amounts,
    /// By supplier, largest first.
    pub by_supplier: Vec<GroupTotal>,
    /// By month, in order.
    pub by_month: Vec<GroupTotal>,
    /// Median of single amounts by currency.
    #[ts(type = "Record<string, string>")]
    pub median: Amounts,
    /// Median × multiplier by currency.
    #[ts(type = "Record<string, string>")]
    pub outlier_limit: Amounts,
    /// Amounts above the limit.
    pub outliers: Vec<Outlier>,
    /// Counted once.
    pub duplicates: Vec<DuplicateGroup>,
    /// To be looked at.
    pub conflicts: Vec<NumberConflict>,
    /// Not counted.
    pub unread_rows: Vec<UnreadRow>,
    /// Rows counted, for provenance.
    pub items: Vec<Statistic>,
    /// Which columns were taken, per file, and other remarks.
    pub notes: Vec<String>,
}
